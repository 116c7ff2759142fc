"""Forms with a secret: written here, never shown again."""

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldBooleanSwitchWidget

from copilot_site.lib.fields import Unreadable

if TYPE_CHECKING:
    _Base = forms.ModelForm[Any]
else:
    _Base = forms.ModelForm

_TAIL = 4
# Of a shorter secret, four characters would be too much of a hint.
_LONG_ENOUGH = 12


class SecretForm(_Base):
    """Left empty, the stored secret stays; what no key of ours opens stays as well."""

    secret: ClassVar[str]
    secret_label: ClassVar[str]

    new_secret = forms.CharField(
        required=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
    )
    forget_secret = forms.BooleanField(required=False, widget=UnfoldBooleanSwitchWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field, forget = self.fields["new_secret"], self.fields["forget_secret"]
        field.label = self.secret_label[0].upper() + self.secret_label[1:]
        field.help_text = told_of(getattr(self.instance, self.secret))
        forget.label = f"Forget the stored {self.secret_label}"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        new, forget = cleaned.get("new_secret"), cleaned.get("forget_secret")
        stored = getattr(self.instance, self.secret)
        if new and isinstance(stored, Unreadable) and not forget:
            self.add_error(
                "new_secret",
                "The stored value cannot be read with today's encryption keys and is "
                "not overwritten. Put the missing key back into ENCRYPTION_KEYS, or "
                "choose to forget it.",
            )
        elif new or forget:
            setattr(self.instance, self.secret, new or "")
        return cleaned


def told_of(stored: str) -> str:
    """What may be said of a secret: whether there is one, and how it ends."""
    if isinstance(stored, Unreadable):
        return (
            "Stored, but none of the encryption keys opens it. It is kept as it is "
            "until the right key is back in ENCRYPTION_KEYS."
        )
    if not stored:
        return "None is stored."
    tail = stored[-_TAIL:] if len(stored) >= _LONG_ENOUGH else ""
    return f"Stored: …{tail}. Leave this empty to keep it."


def check_address(text: str) -> str:
    """An http(s) address without credentials, which belong into fields of their own."""
    text = text.strip()
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
        has_login = parts.username is not None or parts.password is not None
        _ = parts.port
        # Each program reads these in a way of its own.
        has_odd_signs = not text.isprintable() or bool(set(text) & set(" \\?#"))
    except ValueError:
        is_good = has_login = has_odd_signs = False
    if not is_good:
        raise ValidationError("An address looks like http://host:port/path.")
    if has_odd_signs:
        raise ValidationError("An address has no spaces, question marks and the like.")
    if has_login:
        raise ValidationError("Write user name and password into their own fields.")
    return text
