"""What logins and API tokens take and answer, for the API's description."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class CredentialsShape(serializers.Serializer[Any]):
    username = serializers.CharField()
    password = serializers.CharField()


class TokensShape(serializers.Serializer[Any]):
    access_token = serializers.CharField()
    token_type = serializers.ChoiceField(choices=["bearer"])
    refresh_token = serializers.CharField(required=False)


class RefreshShape(serializers.Serializer[Any]):
    refresh_token = serializers.CharField()


class LogOutShape(serializers.Serializer[Any]):
    refresh_token = serializers.CharField(required=False)


class PersonShape(serializers.Serializer[Any]):
    user_id = serializers.CharField()
    username = serializers.CharField()
    full_name = serializers.CharField(allow_null=True)
    email = serializers.CharField(allow_null=True)
    is_active = serializers.BooleanField()
    is_superadmin = serializers.BooleanField()
    last_login = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class Authenticate(APIView):
    @extend_schema(auth=[], request=CredentialsShape, responses=TokensShape)
    def post(self, request: Request) -> Response:
        """A bearer token for name and password, as GNS3 gives it."""
        raise NotImplementedError


class Refresh(APIView):
    @extend_schema(auth=[], request=RefreshShape, responses=TokensShape)
    def post(self, request: Request) -> Response:
        """A new access token."""
        raise NotImplementedError


class LogOut(APIView):
    @extend_schema(
        request=LogOutShape,
        responses={204: OpenApiResponse(description="Both tokens are worthless now.")},
    )
    def post(self, request: Request) -> Response:
        """End a login, by its refresh token or by the bearer token itself."""
        raise NotImplementedError


class WhoAmI(APIView):
    @extend_schema(responses=PersonShape)
    def get(self, request: Request) -> Response:
        """Who I am, in GNS3's shape."""
        raise NotImplementedError


class NewTokenShape(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    expires_at = serializers.DateTimeField(required=False, allow_null=True)


class TokenShape(serializers.Serializer[Any]):
    """A personal API token; of its text only the beginning is known."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    beginning = serializers.CharField()
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)


class CreatedTokenShape(TokenShape):
    api_key = serializers.CharField(help_text="Shown this once.")


class TokenList(APIView):
    @extend_schema(responses=TokenShape(many=True))
    def get(self, request: Request) -> Response:
        """My API tokens."""
        raise NotImplementedError

    @extend_schema(request=NewTokenShape, responses={201: CreatedTokenShape})
    def post(self, request: Request) -> Response:
        """A new one: `api_key` is shown this once."""
        raise NotImplementedError


class TokenDetail(APIView):
    @extend_schema(responses={204: OpenApiResponse(description="Revoked.")})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke it: it opens nothing from now on."""
        raise NotImplementedError


class LanguageShape(serializers.Serializer[Any]):
    code = serializers.CharField()
    name = serializers.CharField()


class PreferencesShape(serializers.Serializer[Any]):
    language = serializers.CharField(
        allow_blank=True, help_text="Of the interface, of titles and answers."
    )
    languages = LanguageShape(many=True)


class NewPreferencesShape(serializers.Serializer[Any]):
    language = serializers.CharField(
        allow_blank=True, help_text="Empty: as the browser asks."
    )


class MyPreferences(APIView):
    @extend_schema(responses=PreferencesShape)
    def get(self, request: Request) -> Response:
        """What I chose for all my devices."""
        raise NotImplementedError

    @extend_schema(request=NewPreferencesShape, responses=PreferencesShape)
    def patch(self, request: Request) -> Response:
        """Choose; the answer's cookie brings it to this browser at once."""
        raise NotImplementedError


# By the name of the address.
OPERATIONS: dict[str, type[APIView]] = {
    "authenticate": Authenticate,
    "login-form": Authenticate,
    "refresh": Refresh,
    "api-logout": LogOut,
    "who-am-i": WhoAmI,
    "api-token-list": TokenList,
    "api-token-detail": TokenDetail,
    "preferences": MyPreferences,
}
