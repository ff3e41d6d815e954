"""The settings, the disk, and the models behind the settings."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.checks import ERROR, run_checks

from junior_memory import embedder_health, embedding_models
from junior_memory.doctor.finding import Finding, fail, ok, warn
from junior_memory.model_health import check_chat_model
from junior_memory.providers import (
    EmbeddingFailed,
    UnusableEmbedder,
    configured,
    embedder_for,
)
from junior_memory.providers.registry import chat_model_fault, chat_model_in_use

GIB = 1024**3
FEW_BYTES, TOO_FEW_BYTES = 2 * GIB, GIB // 4
"""Free disk below which an operator should look, and below which PostgreSQL may stop any moment."""


def settings_are_sound(_now: datetime) -> Finding:
    """Django's system checks; in production those for deployments as well."""
    is_production = bool(settings.PRODUCTION)
    kind = "production" if is_production else "development"
    found = run_checks(include_deployment_checks=is_production)
    if not found:
        return ok("settings", f"{kind}; every system check passes")
    seen = "; ".join(f"{message.id} {message.msg}" for message in found)
    remedy = " ".join(str(message.hint) for message in found if message.hint)
    serious = any(message.level >= ERROR for message in found)
    return (fail if serious else warn)(
        "settings", f"{kind}; {seen}", remedy or "Correct the settings; see .env.example."
    )


def disk_has_room(_now: datetime) -> Finding:
    """Room where the embedded database, the development keys and the static files lie."""
    place = Path(settings.DATA_DIR)
    while not place.exists() and place != place.parent:
        place = place.parent
    usage = shutil.disk_usage(place)
    seen = f"{usage.free / GIB:.1f} GiB of {usage.total / GIB:.1f} GiB free"
    remedy = "Give the disk of MEMORY_DATA_DIR more room; a full one stops every write."
    if usage.free < TOO_FEW_BYTES:
        return fail("disk", seen, remedy)
    return warn("disk", seen, remedy) if usage.free < FEW_BYTES else ok("disk", seen)


def embedder_fits(_now: datetime) -> Finding:
    """The embedder, its dimensions and the stored vectors fit together."""
    name = configured()
    if name is None:
        return ok("embedder", "none configured; search goes by words")
    fault = embedder_health.fault()
    if fault:
        return fail("embedder", f"{fault.id} {fault.text}", fault.hint)
    if embedder_health.is_left_on_purpose(name):
        return warn(
            "embedder",
            f"search was switched to another model; the settings still name {name}",
            "Set MEMORY_EMBEDDER and MEMORY_EMBEDDING_MODEL to the one in use.",
        )
    model = embedding_models.in_use()
    return ok("embedder", f"{name}, {model.dimensions} dimensions" if model else f"{name}, unused")


def embedder_answers(_now: datetime) -> Finding:
    """The embedder makes a vector when it is asked."""
    name = configured()
    if name is None:
        return ok("embedder answers", "none configured")
    try:
        size = embedding_models.dimensions_of(embedder_for(name))
    except (EmbeddingFailed, UnusableEmbedder) as error:
        reason = error.reason if isinstance(error, EmbeddingFailed) else "unusable"
        return fail(
            "embedder answers",
            f"{name} does not ({reason}); search goes by words meanwhile",
            "Check OPENAI_API_KEY, OPENAI_BASE_URL and MEMORY_EMBEDDING_MODEL.",
        )
    return ok("embedder answers", f"{name} does, with {size} dimensions")


def chat_model_fits(*, ask: bool) -> Callable[[datetime], Finding]:
    """The chat model can be asked; with `ask` it is, and that is paid for."""

    def check(_now: datetime) -> Finding:
        fault = chat_model_fault()
        if fault:
            return fail(
                "chat model",
                fault,
                "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
            )
        model = chat_model_in_use()
        if model is None:
            return ok("chat model", "none configured; learning goes by rules")
        name = f"{model.provider}:{model.model}"
        answer = check_chat_model() if ask else None
        if answer is None:
            return ok("chat model", f"{name} is configured (--ask-model asks it)")
        if answer.is_ok:
            return ok("chat model", f"{name} answered in {answer.duration_ms} ms")
        return fail(
            "chat model",
            f"{name} did not answer as asked ({answer.reason})",
            "Check OPENAI_API_KEY, OPENAI_BASE_URL and AI_MEMORY_MODEL; /costs shows the calls.",
        )

    return check
