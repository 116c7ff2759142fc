"""LLM configs of people and groups, at GNS3's addresses."""

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from copilot_site.lib.errors import NotFound
from llmconfig.api.serializers import (
    ConfigSerializer,
    ConfigUpdateSerializer,
    config_json,
)
from llmconfig.api.shapes import (
    ConfigShape,
    InheritedShape,
    ListShape,
    SourcedShape,
    VersionSeenShape,
)
from llmconfig.changes import (
    change_config,
    create_config,
    delete_config,
    make_default,
)
from llmconfig.models import LLMConfig, LLMConfigQuerySet
from llmconfig.owners import Owner, owner_of_group, owner_of_user
from llmconfig.selection import LLMNotConfigured, ModelChoice, choose, nearness

_DELETED = OpenApiResponse(description="Deleted; no body.")


class OwnerView(APIView):
    """Finds the owner before anything else; a stranger's is 404."""

    owner: Owner

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        asking = cast(User, request.user)
        if "user_id" in kwargs:
            self.owner = owner_of_user(asking, kwargs["user_id"])
        else:
            self.owner = owner_of_group(asking, kwargs["group_id"])

    def created(self, request: Request) -> Response:
        form = ConfigSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        config = create_config(self.owner, form.validated_data)
        return Response(config_json(config), status=201)

    def changed(self, request: Request, config_id: str) -> Response:
        config = self.owner.config(config_id)
        form = ConfigUpdateSerializer(config, data=request.data, partial=True)
        form.is_valid(raise_exception=True)
        expected = form.validated_data.pop("expected_version", None)
        changed = change_config(self.owner, config, form.validated_data, expected)
        return Response(config_json(changed))

    def deleted(self, config_id: str) -> Response:
        delete_config(self.owner, self.owner.config(config_id))
        return Response(status=204)

    def made_default(self, request: Request, config_id: str) -> Response:
        form = VersionSeenShape(data=request.data)
        form.is_valid(raise_exception=True)
        config = make_default(
            self.owner,
            self.owner.config(config_id),
            form.validated_data.get("expected_version"),
        )
        return Response(config_json(config))

    def listed(self) -> Response:
        configs = list(_shown(self.owner.configs()))
        default = next((one for one in configs if one.is_default), None)
        return Response(
            {
                "configs": [config_json(one) for one in configs],
                "default_config": config_json(default) if default else None,
                "total": len(configs),
            }
        )


class UserConfigs(OwnerView):
    @extend_schema(responses=InheritedShape)
    def get(self, request: Request, user_id: str) -> Response:
        """Own and inherited ones, and which of them answers."""
        assert self.owner.user is not None
        user = self.owner.user
        configs = sorted(_shown(LLMConfig.objects.seen_by(user)), key=nearness)
        choice = _choice(user)
        chosen = choice.config.pk if choice and choice.config else None
        by_key = {one.pk: config_json(one, with_source=True) for one in configs}
        return Response(
            {
                "configs": list(by_key.values()),
                "default_config": by_key.get(chosen) if chosen else None,
                "total": len(configs),
                "answering": _answering(choice) if choice else None,
            }
        )

    @extend_schema(request=ConfigSerializer, responses={201: ConfigShape})
    def post(self, request: Request, user_id: str) -> Response:
        """A new one; other keys of the body are kept and given back."""
        return self.created(request)


class UserOwnConfigs(OwnerView):
    @extend_schema(responses=ListShape)
    def get(self, request: Request, user_id: str) -> Response:
        """Without inherited ones."""
        return self.listed()


class UserDefault(OwnerView):
    @extend_schema(responses=SourcedShape)
    def get(self, request: Request, user_id: str) -> Response:
        """The one that answers, own or inherited; 404 if there is none."""
        assert self.owner.user is not None
        choice = _choice(self.owner.user)
        if choice is None or choice.config is None:
            raise NotFound("No LLM config is there for this user.")
        return Response(config_json(choice.config, with_source=True))


class UserConfig(OwnerView):
    @extend_schema(request=ConfigUpdateSerializer, responses=ConfigShape)
    def put(self, request: Request, user_id: str, config_id: str) -> Response:
        """Change what is given; 409 where `expected_version` is another."""
        return self.changed(request, config_id)

    @extend_schema(responses={204: _DELETED})
    def delete(self, request: Request, user_id: str, config_id: str) -> Response:
        """Delete it, with its key."""
        return self.deleted(config_id)


class UserMakeDefault(OwnerView):
    @extend_schema(request=VersionSeenShape, responses=ConfigShape)
    def put(self, request: Request, user_id: str, config_id: str) -> Response:
        """Take this one before the others of the same owner."""
        return self.made_default(request, config_id)


class GroupConfigs(OwnerView):
    @extend_schema(responses=ListShape)
    def get(self, request: Request, group_id: str) -> Response:
        """Those of the group; members may read them."""
        return self.listed()

    @extend_schema(request=ConfigSerializer, responses={201: ConfigShape})
    def post(self, request: Request, group_id: str) -> Response:
        """A new one; operators only."""
        return self.created(request)


class GroupDefault(OwnerView):
    @extend_schema(responses=ConfigShape)
    def get(self, request: Request, group_id: str) -> Response:
        """The group's default; 404 if there is none."""
        config = _shown(self.owner.configs().filter(is_default=True)).first()
        if config is None:
            raise NotFound("This group has no default LLM config.")
        return Response(config_json(config))


class GroupConfig(OwnerView):
    @extend_schema(request=ConfigUpdateSerializer, responses=ConfigShape)
    def put(self, request: Request, group_id: str, config_id: str) -> Response:
        """Change what is given; operators only."""
        return self.changed(request, config_id)

    @extend_schema(responses={204: _DELETED})
    def delete(self, request: Request, group_id: str, config_id: str) -> Response:
        """Delete it, with its key; operators only."""
        return self.deleted(config_id)


class GroupMakeDefault(OwnerView):
    @extend_schema(request=VersionSeenShape, responses=ConfigShape)
    def put(self, request: Request, group_id: str, config_id: str) -> Response:
        """Take this one before the group's others; operators only."""
        return self.made_default(request, config_id)


def _shown(configs: LLMConfigQuerySet) -> LLMConfigQuerySet:
    ordered = configs.order_by("-is_default", "priority", "pk")
    return ordered.select_related("group").prefetch_related("allowed_groups")


def _choice(user: User) -> ModelChoice | None:
    try:
        return choose(user=user)
    except LLMNotConfigured:
        return None


def _answering(choice: ModelChoice) -> dict[str, Any]:
    return {
        "config_id": str(choice.config.pk) if choice.config else None,
        "model": choice.model,
        "is_offline": choice.is_offline,
        "reason": choice.reason,
        "fallbacks": [str(one.config.pk) for one in choice.rest if one.config],
    }
