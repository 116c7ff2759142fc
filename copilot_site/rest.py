"""Settings of the REST framework and of the API's description."""

from typing import Any

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_PARSER_CLASSES": [
        "copilot_site.json_parser.BoundedJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_AUTHENTICATION_CLASSES": ["copilot_site.authentication.Authentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "copilot_site.negotiation.HtmlOnRequest",
    "DEFAULT_RENDERER_CLASSES": [
        "rest_framework.renderers.JSONRenderer",
        "copilot_site.negotiation.PageRenderer",
    ],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "copilot_site.api_errors.exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    # `format` is a parameter of the export.
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Copilot",
    "DESCRIPTION": "A copilot for network labs: conversations, runs and projects.",
    "VERSION": "3",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATIONS": False,
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "chat.models.run.Status",
        "ApprovalStatus": "chat.models.approval.Approval.Status",
        "CollectionScope": "chat.knowledge.models.Collection.Scope",
        "DocumentKind": "chat.documents.kinds.Kind",
        "DocumentState": "chat.documents.jobs.Job.State",
        "ModelMode": "llmconfig.kinds.Mode",
        "ModelType": "llmconfig.kinds.ModelType",
        "ProjectStatus": "projects.models.Project.Status",
    },
    "PREPROCESSING_HOOKS": ["copilot_site.description.add_async_views"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "copilot_site.description.add_what_all_have",
    ],
    "TAGS": [
        {"name": "Chat", "description": "Conversations in a project."},
        {"name": "Knowledge", "description": "Documents that answers may cite."},
        {"name": "Projects", "description": "Projects of GNS3 servers."},
        {"name": "Models", "description": "Which language models answer whom."},
        {"name": "Access", "description": "Logins and personal API tokens."},
        {"name": "Directory", "description": "Structured records, by kind."},
        {"name": "Memory", "description": "What you asked the copilot to keep."},
        {"name": "Site", "description": "Who I am, and what this is."},
    ],
}
