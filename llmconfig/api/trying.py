"""“Test connection” and “List models”: keys come in the body and go nowhere else."""

from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext

from copilot_site.admin_forms import check_address
from copilot_site.api import BadRequest, api_view, json_body
from copilot_site.authentication import Identity
from copilot_site.lib.errors import NotFound
from copilot_site.lib.fields import Unreadable
from copilot_site.lib.orm import in_orm_thread
from copilot_site.lib.outbound import Reach, reach
from llmconfig.changes import is_same_server
from llmconfig.entered import check_key
from llmconfig.errors import ModelKeyUnreadable
from llmconfig.models import LLMConfig
from llmconfig.owners import (
    NotYours,
    Owner,
    is_row_key,
    owner_of_group,
    owner_of_user,
)
from llmconfig.probe import list_models, probe


@dataclass(frozen=True, slots=True)
class Tried:
    """What is called, and with what."""

    base_url: str
    model: str
    reach: Reach
    api_key: str = field(repr=False)


@api_view("POST")
async def test_connection(
    request: HttpRequest, identity: Identity, **owner: str
) -> HttpResponse:
    """Try a config out: one tiny question, and one more that wants a tool."""
    tried = await in_orm_thread(_tried)(identity, json_body(request), owner)
    if not tried.model:
        raise BadRequest(gettext("Say which model: model."))
    report = await probe(
        base_url=tried.base_url,
        model=tried.model,
        api_key=tried.api_key,
        reach=tried.reach,
    )
    return JsonResponse(report.as_json())


@api_view("POST")
async def models(
    request: HttpRequest, identity: Identity, **owner: str
) -> HttpResponse:
    """The names of the models that the provider offers."""
    tried = await in_orm_thread(_tried)(identity, json_body(request), owner)
    names = await list_models(
        base_url=tried.base_url, api_key=tried.api_key, reach=tried.reach
    )
    return JsonResponse({"models": names})


def _tried(identity: Identity, body: dict[str, Any], owner: dict[str, str]) -> Tried:
    """Reads the database. Raises NotFound, NotYours, BadRequest."""
    if "user_id" in owner:
        found = owner_of_user(identity.user, owner["user_id"])
    else:
        found = owner_of_group(identity.user, owner["group_id"])
    given = {name: _text(body, name) for name in ("base_url", "model", "api_key")}
    try:
        check_key(given["api_key"])
        if given["base_url"]:
            check_address(given["base_url"])
    except ValidationError as error:
        raise BadRequest(" ".join(error.messages)) from None
    stored = _stored(found, _text(body, "config_id"))
    if stored is None:
        if not given["base_url"]:
            raise BadRequest(gettext("Say what to call: base_url, or config_id."))
        found.check_write()
        outside = reach(is_trusted=identity.user.is_staff)
        return Tried(given["base_url"], given["model"], outside, given["api_key"])
    if stored.user_id != (found.user and found.user.pk) or not found.may_write:
        # Inherited: its key goes where its owner sends it, and nowhere else.
        given = dict.fromkeys(given, "")
    base_url = given["base_url"] or stored.base_url
    is_as_stored = base_url == stored.base_url
    is_trusted = stored.is_trusted if is_as_stored else identity.user.is_staff
    return Tried(
        base_url,
        given["model"] or stored.model,
        reach(is_trusted=is_trusted),
        given["api_key"] or _key(stored, base_url),
    )


def _stored(owner: Owner, config_id: str) -> LLMConfig | None:
    """The owner's own or one that the owner inherits. Raises NotFound."""
    if not config_id:
        return None
    try:
        return owner.config(config_id)
    except NotFound:
        if owner.user is None:
            raise
    seen = LLMConfig.objects.seen_by(owner.user)
    config = seen.filter(pk=config_id).first() if is_row_key(config_id) else None
    if config is None:
        raise NotFound("There is no such LLM config.")
    return config


def _key(stored: LLMConfig, base_url: str) -> str:
    if isinstance(stored.api_key, Unreadable):
        raise ModelKeyUnreadable
    if stored.api_key and not is_same_server(stored.base_url, base_url):
        raise NotYours(gettext("Enter the key again: it would go to another server."))
    return str(stored.api_key)


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    return value.strip() if isinstance(value, str) else ""
