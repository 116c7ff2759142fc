"""Whose configs a person may see and change: one's own; operators, everybody's."""

from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.utils.translation import gettext

from copilot_site.lib.errors import NotFound, UserFacingError
from llmconfig.models import LLMConfig, LLMConfigQuerySet


class NotYours(UserFacingError):
    code = "forbidden"
    status = 403


@dataclass(frozen=True, slots=True)
class Owner:
    """A user or a group, and who asks."""

    asking: User
    user: User | None = None
    group: Group | None = None
    may_write: bool = True

    def configs(self) -> LLMConfigQuerySet:
        return LLMConfig.objects.filter(user=self.user, group=self.group)

    def config(self, config_id: str) -> LLMConfig:
        """Raises NotFound for what is another's."""
        rows = self.configs().filter(pk=config_id) if is_row_key(config_id) else None
        config = rows.first() if rows is not None else None
        if config is None:
            raise NotFound(gettext("There is no such LLM config."))
        return config

    def check_write(self) -> None:
        """Raises NotYours."""
        if not self.may_write:
            raise NotYours(gettext("Only operators change the LLM configs of a group."))


def owner_of_user(asking: User, user_id: str) -> Owner:
    """Raises NotFound for a stranger; `me` is whoever asks."""
    if user_id in ("me", str(asking.pk)):
        return Owner(asking, user=asking)
    rows = User.objects.filter(pk=user_id) if is_row_key(user_id) else None
    user = rows.first() if rows is not None else None
    if user is None or not _is_operator(asking, "view"):
        raise NotFound("There is no such user.")
    return Owner(asking, user=user, may_write=_is_operator(asking, "change"))


def owner_of_group(asking: User, group_id: str) -> Owner:
    """Members read. Raises NotFound for others."""
    rows = Group.objects.filter(pk=group_id) if is_row_key(group_id) else None
    group = rows.first() if rows is not None else None
    is_member = group is not None and group in asking.groups.all()
    if group is None or not (is_member or _is_operator(asking, "view")):
        raise NotFound("There is no such group.")
    return Owner(asking, group=group, may_write=_is_operator(asking, "change"))


def is_row_key(text: str) -> bool:
    """Large numbers are no keys of any database."""
    return text.isascii() and text.isdecimal() and len(text) < 19


def _is_operator(user: User, right: str) -> bool:
    return user.is_staff and user.has_perm(f"llmconfig.{right}_llmconfig")
