"""A profile's definition: checked once, when it is stored."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from chat.profiles.placeholders import faults_of
from chat.profiles.schema import known_tools, schema
from copilot_site.lib.errors import UserFacingError

# Texts that must exist in every language that a profile names.
TEXTS = ("title", "description", "greeting", "questions")
_FAULTS = 10
_VALUE_LENGTH = 80


class ProfileInvalid(UserFacingError):
    """One line a fault, each beginning with its place."""

    code = "profile_invalid"
    status = 422

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def parse(text: str) -> dict[str, Any]:
    """From a file or a form. Raises ProfileInvalid."""
    try:
        data = json.loads(text, object_pairs_hook=_no_key_twice)
    except ValueError as error:
        raise ProfileInvalid([f"This is not JSON: {error}"]) from None
    except RecursionError:
        raise ProfileInvalid(["This is nested too deeply."]) from None
    return checked(data)


def checked(data: Any) -> dict[str, Any]:
    """The definition, if nothing is wrong with it. Raises ProfileInvalid."""
    errors = Draft202012Validator(schema()).iter_errors(data)
    faults = [line for error in errors for line in _told(error)]
    if not faults:
        faults = [*_prompt_faults(data), *_language_faults(data)]
    if faults:
        rest = len(faults) - _FAULTS
        more = [f"… and {rest} more faults."] if rest > 0 else []
        raise ProfileInvalid([*faults[:_FAULTS], *more])
    definition: dict[str, Any] = data
    return definition


def prompt_of(definition: dict[str, Any]) -> str:
    """As one text: files may hold it as a list of lines."""
    prompt = definition["prompt"]
    return prompt if isinstance(prompt, str) else "\n".join(prompt)


def as_text(definition: dict[str, Any]) -> str:
    """As people read and edit it: databases do not keep the order of keys."""
    ordered = _in_order(definition, schema()["properties"])
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"


def _in_order(data: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, rules in known.items():
        if key in data:
            value, inner = data[key], rules.get("properties", {})
            found[key] = _in_order(value, inner) if inner else value
    return found


def _prompt_faults(data: dict[str, Any]) -> Iterator[str]:
    prompt = data["prompt"]
    if isinstance(prompt, str):
        yield from (f"prompt: {fault}" for fault in faults_of(prompt))
        return
    for number, line in enumerate(prompt):
        yield from (f"prompt[{number}]: {fault}" for fault in faults_of(line))


def _language_faults(data: dict[str, Any]) -> Iterator[str]:
    for language in data.get("languages", ["en"]):
        for name in TEXTS:
            if name in data and language not in data[name]:
                yield f"{name}: the text for “{language}” is missing."


def _told(error: ValidationError) -> Iterator[str]:
    place = _place(error)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        for key in error.instance.keys() - known.keys():
            yield f"{place}: {_unknown(place, key, list(known))}"
    elif error.validator in ("anyOf", "oneOf"):
        inner = [one for one in error.context or () if one.validator != "type"]
        for one in inner:
            yield from _told(one)
        if not inner:
            yield f"{place}: {_short(error.instance)} is of the wrong type."
    elif error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        yield f"{place}: “{missing[0]}” is missing."
    else:
        yield f"{place}: {error.message[:300]}"


def _unknown(place: str, key: str, known: list[str]) -> str:
    if place == "tools":
        return f"“{key}” is no tool. Known: {', '.join(known_tools())}."
    if not known:
        return f"“{key}” is no setting; there are none here."
    return f"“{key}” is no key. Known: {', '.join(known)}."


def _place(error: ValidationError) -> str:
    place = ""
    for part in error.absolute_path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    return place.lstrip(".") or "profile"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _VALUE_LENGTH else text[:_VALUE_LENGTH] + "…"


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value] # set.add is None
        raise ValueError(f"the key “{twice}” stands twice")
    return found
