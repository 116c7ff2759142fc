"""All settings, read from the environment; docs/operations.md lists them."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from copilot_site.admin_theme import UNFOLD as UNFOLD
from copilot_site.lib.log_settings import logging_of
from copilot_site.lib.redis_urls import for_celery, with_database
from copilot_site.lib.secret_files import read_or_make, secret_of
from copilot_site.lib.secret_values import remember
from copilot_site.rest import REST_FRAMEWORK as REST_FRAMEWORK
from copilot_site.rest import SPECTACULAR_SETTINGS as SPECTACULAR_SETTINGS

env = environ.Env()
# Read when LangGraph is first imported: a crafted checkpoint must run no code.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
# Prompts and keys leave for no tracing service, whatever the environment says.
os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"
BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / "data"))).resolve()

# --- Keys -----------------------------------------------------------------
SECRET_KEY = env.str("SECRET_KEY", default="") or read_or_make(
    Path(env.str("SECRET_KEY_FILE", default=str(DATA_DIR / "secret_key")))
)
# Keys of secrets at rest: the first encrypts, all decrypt.
ENCRYPTION_KEYS: list[str] = env.list("ENCRYPTION_KEYS", default=[]) or [
    read_or_make(
        Path(env.str("ENCRYPTION_KEY_FILE", default=str(DATA_DIR / "encryption_key")))
    )
]

# --- Web ------------------------------------------------------------------
DEBUG = env.bool("DEBUG", default=False)
HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8000)
ALLOWED_HOSTS: list[str] = env.list("ALLOWED_HOSTS", default=[]) or [
    "localhost",
    "127.0.0.1",
    "[::1]",
    *([HOST] if HOST not in ("0.0.0.0", "::") else []),
]
# A wildcard here would let any site open sockets in a user's name.
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", default=[])
TRUSTED_PROXY = env.bool("TRUSTED_PROXY", default=False)
if TRUSTED_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    USE_X_FORWARDED_HOST = True
BEHIND_TLS = env.bool("BEHIND_TLS", default=TRUSTED_PROXY)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
FORCE_SCRIPT_NAME = env.str("SUB_PATH", default="") or None
ROOT_URLCONF = "copilot_site.urls"
ASGI_APPLICATION = "copilot_site.asgi.application"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "chat:page"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
CONTENT_SECURITY_POLICY: dict[str, Any] = {
    # The admin's look needs inline styles and evaluated expressions of its own.
    "EXCLUDE_URL_PREFIXES": ["/admin/"],
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    },
}

INSTALLED_APPS = [
    "daphne",
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "csp",
    "accounts",
    "llmconfig",
    "projects",
    "chat",
    "chat.datasources",
    "chat.directory",
    "chat.documents",
    "chat.knowledge",
    "chat.memory",
    "chat.profiles",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATIC_URL = f"{FORCE_SCRIPT_NAME or ''}/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served from their sources: a fresh clone needs no collecting step.
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = DEBUG

# --- Database ---------------------------------------------------------------
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url("DATABASE_URL")
    if env.str("DATABASE_URL", default="")
    # Not as an address: a folder's name may hold what addresses give a meaning.
    else {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(DATA_DIR / "copilot.sqlite3"),
    }
}
IS_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if IS_SQLITE:
    DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["OPTIONS"] = {
        # Without IMMEDIATE one in five read-then-write transactions fails as locked.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL",
    }
else:
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 0,
        "max_size": env.int("DATABASE_POOL", default=20),
        "timeout": 10,
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis: event log, live feed, tasks ------------------------------------------
REDIS_URL = env.str("REDIS_URL", default="redis://127.0.0.1:6379/0")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "max_connections": 1000}],
            "prefix": "copilot",
        },
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "copilot",
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    },
    # Of one process: what it may forget, and what other processes must not see.
    "local": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 5000},
    },
}
CELERY_BROKER_URL = for_celery(with_database(REDIS_URL, 1))
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A run is owned by its lease in the database, never by the broker's redelivery.
    "visibility_timeout": 24 * 3600,
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
    "retry_on_timeout": True,
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TASK_DEFAULT_QUEUE = "runs"

# --- Runs and events -----------------------------------------------------------
LEASE_SECONDS = env.float("LEASE_SECONDS", default=4.0)
MAX_ATTEMPTS = env.int("MAX_ATTEMPTS", default=3)
RUN_TIME_LIMIT = env.float("RUN_TIME_LIMIT", default=1800.0)
STEP_LIMIT = env.int("STEP_LIMIT", default=25)
# ask: a person decides on changes; never_change; trust: nobody is asked.
APPROVAL_POLICY = env.str("APPROVAL_POLICY", default="ask")
APPROVAL_HOURS = env.float("APPROVAL_HOURS", default=24.0)
HEARTBEAT_SECONDS = env.float("HEARTBEAT_SECONDS", default=15.0)
EVENT_LOG_LENGTH = env.int("EVENT_LOG_LENGTH", default=20_000)
EVENT_LOG_GRACE = env.int("EVENT_LOG_GRACE", default=3600)
CONNECTION_BYTES = env.int("CONNECTION_BYTES", default=8 * 1024 * 1024)
MESSAGE_LENGTH = env.int("MESSAGE_LENGTH", default=100_000)
TOOL_OUTPUT_LENGTH = env.int("TOOL_OUTPUT_LENGTH", default=20_000)
HISTORY_MESSAGES = env.int("HISTORY_MESSAGES", default=200)

# --- GNS3 and models ------------------------------------------------------------
GNS3_URL = env.str("GNS3_URL", default="")
GNS3_USERNAME = env.str("GNS3_USERNAME", default="admin")
GNS3_PASSWORD = env.str("GNS3_PASSWORD", default="")
DEMOLAB_URL = env.str("DEMOLAB_URL", default="")
# An invented campus to ask about; whoever brings a lab brings their own documents.
DEMO_CAMPUS = env.bool("DEMO_CAMPUS", default=not GNS3_URL)
DEMOLAB_USERNAME = env.str("DEMOLAB_USERNAME", default="demolab")
DEMOLAB_PASSWORD = env.str("DEMOLAB_PASSWORD", default="")
LLM_BASE_URL = env.str("LLM_BASE_URL", default="")
LLM_MODEL = env.str("LLM_MODEL", default="")
LLM_API_KEY = env.str("LLM_API_KEY", default="")
# host:port pairs, private or of this machine, that operators' configs may use.
LLM_PRIVATE_HOSTS: list[str] = env.list("LLM_PRIVATE_HOSTS", default=[])
OFFLINE_MODEL = env.bool("OFFLINE_MODEL", default=True)
OFFLINE_PACE = env.float("OFFLINE_PACE", default=0.01)

# --- Assistant profiles ---------------------------------------------------------
# How grounded answers are planned where the profile does not say: keyword or llm.
PLANNER = env.str("PLANNER", default="keyword")
PLANNER_SECONDS = env.float("PLANNER_SECONDS", default=20.0)
DEFAULT_PROFILE = env.str("DEFAULT_PROFILE", default="lab")
PROFILES_DIR = env.str("PROFILES_DIR", default="")

# --- Documents ------------------------------------------------------------------
DOCUMENT_BYTES = env.int("DOCUMENT_BYTES", default=20 * 2**20)
DOCUMENT_PAGES = env.int("DOCUMENT_PAGES", default=2000)
DOCUMENT_TEXT_LENGTH = env.int("DOCUMENT_TEXT_LENGTH", default=5_000_000)
DOCUMENT_UNPACKED_BYTES = env.int("DOCUMENT_UNPACKED_BYTES", default=200 * 2**20)
DOCUMENT_SECONDS = env.float("DOCUMENT_SECONDS", default=120.0)
COLLECTION_DOCUMENTS = env.int("COLLECTION_DOCUMENTS", default=2000)
SESSION_DOCUMENTS = env.int("SESSION_DOCUMENTS", default=20)
INGESTS_AT_ONCE = env.int("INGESTS_AT_ONCE", default=2)
EMBEDDINGS = env.str("EMBEDDINGS", default="local")  # or endpoint, or off

# --- Web search -------------------------------------------------------------------
# Off without a key; "" switches it off with one.
WEB_SEARCH_PROVIDER = env.str("WEB_SEARCH_PROVIDER", default="tavily")
if WEB_SEARCH_PROVIDER not in ("", "tavily"):
    raise ImproperlyConfigured("WEB_SEARCH_PROVIDER is tavily, or empty.")
TAVILY_URL = env.str("TAVILY_URL", default="https://api.tavily.com")
TAVILY_API_KEY = remember(
    secret_of(
        env.str("TAVILY_API_KEY", default=""),
        env.str("TAVILY_API_KEY_FILE", default=""),
    )
)
# Domains with their subdomains; no allowed ones: all but the denied.
WEB_SEARCH_ALLOW: list[str] = env.list("WEB_SEARCH_ALLOW", default=[])
WEB_SEARCH_DENY: list[str] = env.list("WEB_SEARCH_DENY", default=[])
WEB_SEARCH_SECONDS = env.float("WEB_SEARCH_SECONDS", default=20.0)
WEB_SEARCH_RESULTS = env.int("WEB_SEARCH_RESULTS", default=10)
WEB_SEARCH_LENGTH = env.int("WEB_SEARCH_LENGTH", default=3000)

PROJECT_RETENTION_DAYS = env.float("PROJECT_RETENTION_DAYS", default=7.0)

# --- Who may ------------------------------------------------------------------
AUTHENTICATION_BACKENDS = ["accounts.throttle.ThrottledBackend"]
LOGIN_FAILURES = env.int("LOGIN_FAILURES", default=10)
LOGIN_FAILURE_SECONDS = env.int("LOGIN_FAILURE_SECONDS", default=300)
# Each knows one kind of bearer token, or says None.
BEARER_CHECKS = [
    "accounts.keys.identity_of",
    "accounts.logins.identity_of",
    "projects.identity.identity_of",
]

# --- API ------------------------------------------------------------------------
SIMPLE_JWT: dict[str, Any] = {
    "ACCESS_TOKEN_LIFETIME": timedelta(
        minutes=env.int("ACCESS_TOKEN_MINUTES", default=1440)
    ),
    "REFRESH_TOKEN_LIFETIME": timedelta(days=env.int("REFRESH_TOKEN_DAYS", default=30)),
    "USER_ID_CLAIM": "sub",
    # A changed password makes all earlier tokens worthless.
    "CHECK_REVOKE_TOKEN": True,
}

# --- Language, time, logs ----------------------------------------------------------
LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "copilot_site" / "locale"]
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("zh-hans", "简体中文")]
USE_I18N = USE_TZ = True
TIME_ZONE = "UTC"
LOGGING = logging_of(env.str("LOG_LEVEL", default="INFO"))
