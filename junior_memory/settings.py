"""Django settings: the only file that reads the environment.

Loads with an empty environment (safe development values) and starts nothing; what production must
set is a system check. `MEMORY_ENV=production` turns the development conveniences off.
"""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from pathlib import Path

from csp.constants import NONCE, NONE, SELF

from junior_memory import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent
env.load_dotenv(BASE_DIR / ".env")

PRODUCTION = env.choice("MEMORY_ENV", "development", among=("development", "production")) == (
    "production"
)
DATA_DIR = Path(env.text("MEMORY_DATA_DIR") or BASE_DIR / ".data")
DEBUG = False


def _development_secret(name: str) -> str:
    """Return a secret kept in the data directory, made on first use, for its owner alone."""
    path = DATA_DIR / name
    if path.is_file():
        return path.read_text(encoding="utf-8").strip()
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    value = secrets.token_urlsafe(48)
    draft = path.with_name(f"{name}.{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(value + "\n", encoding="utf-8")
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return path.read_text(encoding="utf-8").strip()
    finally:
        draft.unlink()
    return value


SECRET_KEY = env.text("DJANGO_SECRET_KEY") or (
    "" if PRODUCTION else _development_secret("secret-key")
)

ALLOWED_HOSTS = env.words(
    "MEMORY_ALLOWED_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1],testserver"
)
CSRF_TRUSTED_ORIGINS = env.words("MEMORY_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "ninja",
    "csp",
    # Always, so that every deployment has the same tables; OpenID Connect is on when configured.
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "procrastinate.contrib.django",
    "junior_memory",
    "dashboard",
    "api",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "dashboard.other_sites.OtherSites",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.tries.KnownBrowsers",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dashboard.languages.ForgetZone",
    "dashboard.middleware.FailureMiddleware",
]

ROOT_URLCONF = "junior_memory.urls"
WSGI_APPLICATION = "junior_memory.wsgi.application"
ASGI_APPLICATION = "junior_memory.asgi.application"

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
                "csp.context_processors.nonce",
                "dashboard.context.shell",
            ],
        },
    },
]

DATABASE_URL = env.text("DATABASE_URL")
DATABASES = {
    "default": {
        "ENGINE": "junior_memory.database",
        "NAME": "junior_memory",
        "CONN_MAX_AGE": env.integer("MEMORY_CONN_MAX_AGE_SECONDS", 60, low=0, high=3600),
        "CONN_HEALTH_CHECKS": True,
        **(
            env.database(DATABASE_URL)
            if DATABASE_URL
            else {"EMBEDDED_DIR": str(DATA_DIR / "postgres")}
        ),
    }
}
DATABASES["default"]["OPTIONS"] = {
    "connect_timeout": 5,
    **DATABASES["default"].get("OPTIONS", {}),  # type: ignore[dict-item]
    "server_side_binding": True,
}
# Used by asgi.py: connections that one web process keeps, and seconds to wait for a free one.
WEB_CONNECTION_POOL = {
    "min_size": 1,
    "max_size": env.integer("MEMORY_WEB_CONNECTIONS", 20, low=1, high=500),
    "timeout": 5,
}
# Used by asgi.py: how long a call waits for a lock that somebody else holds before it answers 503.
WEB_LOCK_TIMEOUT_MS = 10_000
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CSRF_FAILURE_VIEW = "dashboard.views.errors.csrf_failure"
AUTH_USER_MODEL = "junior_memory.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "memories"
LOGOUT_REDIRECT_URL = "sign_in"
PASSWORD_RESET_TIMEOUT = 24 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Sign-in by OpenID Connect: all of the first four, or none.
OIDC = {
    "name": env.text("MEMORY_OIDC_NAME"),
    "issuer": env.text("MEMORY_OIDC_ISSUER").rstrip("/"),
    "client_id": env.text("MEMORY_OIDC_CLIENT_ID"),
    "client_secret": env.text("MEMORY_OIDC_CLIENT_SECRET"),
    "sign_up": env.flag("MEMORY_OIDC_SIGN_UP"),
}
# allauth speaks the protocol and no more: who is who is decided here, its pages have no address.
SOCIALACCOUNT_ADAPTER = "dashboard.oidc.Issuers"
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 5
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*"]
ACCOUNT_EMAIL_VERIFICATION = "none"

EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if env.text("EMAIL_HOST")
    else "django.core.mail.backends.console.EmailBackend"
)
EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_PORT = env.integer("EMAIL_PORT", 587, low=1, high=65_535)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", default=True)
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "junior-memory@localhost")

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
# First, so that no word of another app stands for one of ours.
LOCALE_PATHS = [BASE_DIR / "dashboard" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"


def _plotly_dir() -> Path:
    """Return the folder of the installed plotly package that holds plotly.min.js."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("plotly is not installed")
    return Path(spec.submodule_search_locations[0]) / "package_data"


STATIC_URL = "/static/"
# Development serves from the finders; a missing folder would only make a warning.
STATIC_ROOT = DATA_DIR / "static" if PRODUCTION else None
STATICFILES_DIRS = [BASE_DIR / "static", ("plotly", _plotly_dir())]
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# A page runs only its own scripts and styles. Plotly makes one empty <style> element and fills it
# through the object model; the hash is that of the empty string.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
SECURE_SSL_REDIRECT = PRODUCTION and env.flag("MEMORY_HTTPS_REDIRECT", default=True)
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = PRODUCTION
SECURE_HSTS_PRELOAD = PRODUCTION
SESSION_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_SECURE = PRODUCTION
if env.flag("MEMORY_BEHIND_PROXY"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# Ids, counts, sizes and classes only: the formatter drops tracebacks, whose last line can carry a
# row, and the libraries that print statements or bodies at DEBUG are capped.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": "junior_memory.logs.ContentFreeFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {
        "handlers": ["stderr"],
        "level": env.text("MEMORY_LOG_LEVEL", "WARNING").upper(),
    },
    "loggers": {
        "junior_memory": {"level": env.text("MEMORY_LOG_LEVEL", "INFO").upper()},
        "django": {"level": "WARNING", "propagate": True, "handlers": []},
        # The web server prints tracebacks of its own, unless its lines go the same way.
        "uvicorn": {"level": "WARNING", "propagate": False, "handlers": ["stderr"]},
        **{
            name: {"level": "WARNING"}
            for name in (
                "django.db.backends",
                "django.template",
                "procrastinate",
                "psycopg",
                "psycopg.pool",
                "openai",
                "httpx",
                "httpx2",
                "httpcore",
                "httpcore2",
                "asyncio",
            )
        },
    },
}

PROCRASTINATE_IMPORT_PATHS = ["junior_memory.tasks"]
PROCRASTINATE_ON_APP_READY = "junior_memory.queue.configure"


def _fingerprint_keys() -> dict[str, str]:
    """Read `id:key[,old-id:old-key…]`; development keeps one of its own in the data directory."""
    keys: dict[str, str] = {}
    for pair in env.words("MEMORY_FINGERPRINT_KEY"):
        name, _, key = pair.rpartition(":")
        keys[name or "k1"] = key
    return keys or {"dev": "" if PRODUCTION else _development_secret("fingerprint-key")}


JUNIOR_MEMORY = {
    "fingerprint_keys": _fingerprint_keys(),
    "embedder": env.choice("MEMORY_EMBEDDER", "none", among=("none", "local", "openai")),
    "embedding_model": env.text("MEMORY_EMBEDDING_MODEL"),
    "embedding_dimensions": env.integer("MEMORY_EMBEDDING_DIMENSIONS", 0, low=0, high=2000) or None,
    "vector_index_mb": env.integer("MEMORY_VECTOR_INDEX_MB", 512, low=0, high=1_000_000),
    "embedding_cutoff": env.number("MEMORY_EMBEDDING_CUTOFF", low=0.01, high=2),
    "ai_model": env.text("AI_MEMORY_MODEL"),
    "model_timeout_ms": env.integer("MEMORY_MODEL_TIMEOUT_MS", 60_000, low=1_000, high=600_000),
    "model_context_tokens": env.integer(
        "MEMORY_MODEL_CONTEXT_TOKENS", 16_000, low=2_000, high=2_000_000
    ),
    "over_budget": env.choice("MEMORY_OVER_BUDGET", "heuristic", among=("heuristic", "queue")),
    "consent_gate": env.text("MEMORY_CONSENT_GATE"),
    "prompt_format": env.text("MEMORY_PROMPT_FORMAT"),
    "openai_api_key": env.text("OPENAI_API_KEY"),
    "openai_base_url": env.text("OPENAI_BASE_URL"),
    "fusion": env.choice("MEMORY_FUSION", "measured", among=("measured", "original")),
    "recall_enabled": not env.flag("MEMORY_DISABLE_RECALL"),
    "extraction_enabled": not env.flag("MEMORY_DISABLE_EXTRACTION"),
    "retrieve_timeout_ms": env.integer("MEMORY_RETRIEVE_TIMEOUT_MS", 1500, low=50, high=10_000),
    "purge_after_days": env.integer("MEMORY_PURGE_AFTER_DAYS", 30, low=0, high=3650),
    "invitation_days": env.integer("MEMORY_INVITATION_DAYS", 7, low=1, high=90),
    "active_quota": env.integer("MEMORY_ACTIVE_QUOTA", 5000, low=1, high=1_000_000),
    "public_from_unlinked": env.choice(
        "MEMORY_PUBLIC_FROM_UNLINKED", "hold", among=("hold", "store")
    ),
    "token_writes_per_minute": env.integer(
        "MEMORY_TOKEN_WRITES_PER_MINUTE", 600, low=1, high=1_000_000
    ),
    "token_reads_per_minute": env.integer(
        "MEMORY_TOKEN_READS_PER_MINUTE", 6000, low=1, high=1_000_000
    ),
    "daily_budget_usd": env.money("MEMORY_DAILY_BUDGET_USD"),
    "monthly_budget_usd": env.money("MEMORY_MONTHLY_BUDGET_USD"),
    "demo": env.flag("MEMORY_DEMO") or (DATA_DIR / "demo").exists(),
    "base_url": env.text("MEMORY_BASE_URL", "http://127.0.0.1:8000").rstrip("/"),
}

# Who may read /metrics; without it there are none.
METRICS_TOKEN = env.text("METRICS_TOKEN")

# What `manage.py mcp` speaks for; a host passes them to the process that it starts.
MEMORY_TOKEN = env.text("MEMORY_TOKEN")
MEMORY_ACTOR = env.text("MEMORY_ACTOR")
MEMORY_SOURCE = env.text("MEMORY_SOURCE")
MEMORY_CONVERSATION = env.text("MEMORY_CONVERSATION")
