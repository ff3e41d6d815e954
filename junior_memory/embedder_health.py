"""Do the settings, the model behind them and the stored vectors fit together?

Asked at start-up (system checks) and by `/readyz`, so that nobody finds out at the first search. A
model that does not answer just now is no fault of the configuration: search goes on by words.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from junior_memory import embedding_models
from junior_memory.models import EmbeddingModel
from junior_memory.providers import (
    Embedder,
    EmbeddingFailed,
    ModelName,
    UnusableEmbedder,
    configured,
    embedder_for,
)
from junior_memory.providers.base import MAX_DIMENSIONS

ASKED_EVERY_SECONDS = 600.0
ASKED_AGAIN_SECONDS = 30.0
"""How long an answer, or none, of the model itself counts; asking it costs."""

ASK_SECONDS = 5.0

WRONG_DIMENSIONS = "junior_memory.E020"
OTHER_MODEL = "junior_memory.E021"
UNUSABLE = "junior_memory.E022"


@dataclass(frozen=True, slots=True)
class Fault:
    """What does not fit, and what to do about it."""

    id: str
    text: str
    hint: str


def settings_fault() -> Fault | None:
    """Return what is wrong with the settings alone; asks neither the database nor the model."""
    name = configured()
    if name is None:
        return None
    try:
        embedder = embedder_for(name)
    except UnusableEmbedder as error:
        return Fault(UNUSABLE, f"The embedder {name} cannot work: {error}.", "See .env.example.")
    if embedder.dimensions and embedder.dimensions > MAX_DIMENSIONS:
        return _too_long(name, embedder.dimensions)
    return None


def fault() -> Fault | None:
    """Return the first thing that is wrong, asking the model and the stored vectors as well."""
    name = configured()
    found = settings_fault()
    if name is None or found:
        return found
    embedder = embedder_for(name)
    answer = _model_answer(embedder)
    if answer.refused:
        return Fault(
            UNUSABLE,
            f"The embedder {name} refuses ({answer.refused}).",
            "Check OPENAI_API_KEY, OPENAI_BASE_URL and MEMORY_EMBEDDING_MODEL.",
        )
    size = answer.dimensions or embedder.dimensions
    if size and size > MAX_DIMENSIONS:
        return _too_long(name, size)
    if answer.dimensions and embedder.dimensions not in {None, answer.dimensions}:
        return Fault(
            WRONG_DIMENSIONS,
            f"{name} answers with {answer.dimensions} dimensions, not {embedder.dimensions}.",
            "Correct MEMORY_EMBEDDING_DIMENSIONS.",
        )
    model = embedding_models.in_use()
    return _stored_fault(name, size, model) if model else None


def _stored_fault(name: ModelName, size: int | None, model: EmbeddingModel) -> Fault | None:
    """Compare the settings with the vectors in use."""
    used = embedding_models.name_of(model)
    switch = f"Run manage.py reembed --to {name} --switch, or set the embedder back to {used}."
    if used == name:
        if size is None or size == model.dimensions:
            return None
        text = f"{name} has {size} dimensions, its vectors in use have {model.dimensions}."
        again = (
            f"Run manage.py reembed --to {name} --switch, or set MEMORY_EMBEDDING_DIMENSIONS back."
        )
        return Fault(WRONG_DIMENSIONS, text, again)
    try:
        embedding_models.embedder_of(model)
    except UnusableEmbedder as error:
        return Fault(
            UNUSABLE, f"The vectors in use are of {used}, which cannot work: {error}.", switch
        )
    if is_left_on_purpose(name):
        return None
    return Fault(OTHER_MODEL, f"The embedder is {name}, the vectors in use are of {used}.", switch)


def is_left_on_purpose(name: ModelName) -> bool:
    """True when search was switched from the configured model to another one, which goes on."""
    return EmbeddingModel.objects.filter(
        provider=name.provider, model=name.model, state=EmbeddingModel.State.PREVIOUS
    ).exists()


def _too_long(name: ModelName, size: int) -> Fault:
    text = f"{name} has {size} dimensions; more than {MAX_DIMENSIONS} cannot be stored."
    return Fault(WRONG_DIMENSIONS, text, "Set MEMORY_EMBEDDING_DIMENSIONS, or another model.")


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the model itself said, and until when that counts."""

    dimensions: int | None
    refused: str
    until: float


_asking = threading.Lock()
_answers: dict[int, _Answer] = {}


def forget_answers() -> None:
    """Ask again next time."""
    with _asking:
        _answers.clear()


def _model_answer(embedder: Embedder) -> _Answer:
    """Ask a remote model once in a while how long its vectors are."""
    if embedder.is_local:
        return _Answer(embedder.dimensions, "", 0)
    with _asking:
        known = _answers.get(id(embedder))
        if known is None or known.until < time.monotonic():
            known = _answers[id(embedder)] = _ask(embedder)
        return known


def _ask(embedder: Embedder) -> _Answer:
    now = time.monotonic()
    try:
        vectors = embedding_models.ask_embedder(
            embedder, [embedding_models.PROBE], timeout_seconds=ASK_SECONDS
        )
    except EmbeddingFailed as failure:
        refused = failure.reason if failure.is_permanent else ""
        return _Answer(None, refused, now + ASKED_AGAIN_SECONDS)
    return _Answer(len(vectors[0]), "", now + ASKED_EVERY_SECONDS)
