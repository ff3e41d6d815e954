"""System checks: a half-configured deployment says so before it serves."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import Error as DatabaseError
from django.utils.module_loading import import_string
from pydantic import ValidationError

from junior_memory import embedder_health
from junior_memory.conf import conf
from junior_memory.providers import configured
from junior_memory.providers.registry import chat_model_fault

MIN_KEY_LENGTH = 32
ISSUER_SETTINGS = ("name", "issuer", "client_id", "client_secret")


@register(Tags.security)
def check_fingerprint_key(**_: Any) -> list[CheckMessage]:
    """Without a good fingerprint key, forgetting would not hold."""
    keys: dict[str, str] = dict(settings.JUNIOR_MEMORY).get("fingerprint_keys", {})  # type: ignore[assignment]
    if keys and all(len(key) >= MIN_KEY_LENGTH for key in keys.values()):
        return []
    return [
        Error(
            "MEMORY_FINGERPRINT_KEY is missing or shorter than 32 characters.",
            hint="Set MEMORY_FINGERPRINT_KEY=k1:<a random text>; keep it with the backups.",
            id="junior_memory.E001",
        )
    ]


@register(Tags.security)
def check_secret_key(**_: Any) -> list[CheckMessage]:
    """Sessions cannot be signed without a secret."""
    try:
        missing = not settings.SECRET_KEY
    except ImproperlyConfigured:
        missing = True
    if not missing:
        return []
    return [
        Error(
            "DJANGO_SECRET_KEY is not set.",
            hint="Set DJANGO_SECRET_KEY to a long random text.",
            id="junior_memory.E002",
        )
    ]


@register(Tags.security, deploy=True)
def check_base_url(**_: Any) -> list[CheckMessage]:
    """In production mails lead to an address that others reach, and in secret."""
    url = str(dict(settings.JUNIOR_MEMORY).get("base_url", ""))
    if not settings.PRODUCTION or url.startswith("https://"):
        return []
    return [
        Warning(
            "Links in mails and invitations do not begin with https://.",
            hint="Set MEMORY_BASE_URL to the address at which people reach this server.",
            id="junior_memory.W024",
        )
    ]


@register()
def check_knobs(**_: Any) -> list[CheckMessage]:
    """Every knob within its limits."""
    try:
        conf()
    except ValidationError as error:
        names = ", ".join(str(problem["loc"][0]) for problem in error.errors())
        return [
            Error(
                f"These settings are outside their limits: {names}.",
                hint="See .env.example for units and limits.",
                id="junior_memory.E003",
            )
        ]
    return []


@register()
def check_embedder(**_: Any) -> list[CheckMessage]:
    """The configured embedder can work here."""
    try:
        fault = embedder_health.settings_fault()
    except ValidationError:
        return []  # check_knobs says so.
    return [Error(fault.text, hint=fault.hint, id=fault.id)] if fault else []


@register()
def check_chat_model(**_: Any) -> list[CheckMessage]:
    """The configured chat model can be asked at all."""
    try:
        fault = chat_model_fault()
    except ValidationError:
        return []  # check_knobs says so.
    if not fault:
        return []
    return [
        Error(
            fault,
            hint="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
            id="junior_memory.E031",
        )
    ]


@register()
def check_operators_code(**_: Any) -> list[CheckMessage]:
    """The dotted paths of the consent gate and the prompt format lead to something to call."""
    try:
        knobs = conf()
    except ValidationError:
        return []  # check_knobs says so.
    paths = {
        "MEMORY_CONSENT_GATE": knobs.consent_gate,
        "MEMORY_PROMPT_FORMAT": knobs.prompt_format,
    }
    return [
        Error(
            f"{name} leads to nothing that can be called.",
            hint="Give the dotted path of a function, package.module.name; see .env.example.",
            id="junior_memory.E030",
        )
        for name, path in paths.items()
        if path and not _is_callable(path)
    ]


@register()
def check_issuer(**_: Any) -> list[CheckMessage]:
    """Sign-in by OpenID Connect is configured whole or not at all, and not in the clear."""
    names = {key: bool(settings.OIDC[key]) for key in ISSUER_SETTINGS}
    if any(names.values()) and not all(names.values()):
        missing = ", ".join(
            f"MEMORY_OIDC_{key.upper()}" for key, is_set in names.items() if not is_set
        )
        return [
            Error(
                f"Sign-in by OpenID Connect is off: {missing} is not set.",
                hint="Set MEMORY_OIDC_NAME, _ISSUER, _CLIENT_ID and _CLIENT_SECRET, or none.",
                id="junior_memory.E032",
            )
        ]
    issuer = str(settings.OIDC["issuer"])
    if issuer and not issuer.startswith("https://") and settings.PRODUCTION:
        return [
            Error(
                "MEMORY_OIDC_ISSUER is not an https:// address.",
                hint="Whoever sits between could sign in as anybody.",
                id="junior_memory.E033",
            )
        ]
    return []


def _is_callable(path: str) -> bool:
    try:
        return callable(import_string(path))
    except ImportError:
        return False


@register(Tags.database)
def check_vectors(databases: Any = None, **_: Any) -> list[CheckMessage]:
    """The stored vectors are of the configured model, and the model has their dimensions."""
    if not databases:
        return []
    try:
        if embedder_health.settings_fault():
            return []  # check_embedder says so.
        fault = embedder_health.fault()
        name = configured()
        if fault is None and name and embedder_health.is_left_on_purpose(name):
            return [
                Warning(
                    f"Search was switched to another model; the settings still name {name}.",
                    hint="Set MEMORY_EMBEDDER and MEMORY_EMBEDDING_MODEL to the one in use.",
                    id="junior_memory.W023",
                )
            ]
    except (DatabaseError, ValidationError):
        return []  # No tables yet, or no database: others say so.
    return [Error(fault.text, hint=fault.hint, id=fault.id)] if fault else []
