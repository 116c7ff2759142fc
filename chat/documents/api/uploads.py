"""What uploads and downloads share, of collections and of conversations."""

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from chat.documents.errors import DocumentTooLarge
from chat.documents.kinds import Kind
from chat.documents.models import File
from chat.documents.store import content_of


@extend_schema_field({"type": "string", "format": "binary"})
class _AnyFile(serializers.FileField):
    pass


class UploadSerializer(serializers.Serializer[object]):
    """One file, as a form sends it."""

    # Emptiness is told as what it is, not as a missing field.
    file = _AnyFile(allow_empty_file=True, max_length=None)


class ProgressShape(serializers.Serializer[object]):
    done = serializers.IntegerField(min_value=0)
    total = serializers.IntegerField(
        min_value=0, help_text="Pages while it is read, then passages."
    )


def uploaded(request: Request) -> tuple[str, bytes]:
    """Name and content. Raises ValidationError, DocumentTooLarge."""
    form = UploadSerializer(data=request.data)
    form.is_valid(raise_exception=True)
    file: UploadedFile[bytes] = form.validated_data["file"]
    limit = settings.DOCUMENT_BYTES
    if file.size is not None and file.size > limit:
        raise DocumentTooLarge(
            gettext("A document has at most %(size)d MB.") % {"size": limit // 2**20}
        )
    return file.name or "", file.read()


def download(file: File, name: str) -> HttpResponse:
    """As a file to keep: nothing that a browser would show or run on this site."""
    response = HttpResponse(content_of(file), content_type=Kind(file.kind).media_type)
    response["Content-Disposition"] = str(content_disposition_header(True, name))
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Cache-Control"] = "private, no-store"
    return response
