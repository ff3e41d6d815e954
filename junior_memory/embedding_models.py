"""Which model's vectors are in use, being prepared, or kept to go back to.

A row of the database decides, not the settings: a change of model takes effect in every process at
once, and a deployment that was configured for another model goes on searching the vectors it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import IntegrityError, transaction

from junior_memory import clock
from junior_memory.model_calls import EMBED, OnBehalf, drop_call, open_call, record_attempts
from junior_memory.models import EmbeddingModel
from junior_memory.providers import (
    Embedder,
    EmbeddingFailed,
    ModelName,
    UnusableEmbedder,
    Vector,
    configured,
    embedder_for,
)

State = EmbeddingModel.State

PROBE = "How long is a vector?"
"""What is sent to learn a model's dimensions."""

PROBE_SECONDS = 10.0

LOCAL = "local"
"""The provider whose models are computed on this machine: nobody is asked, and nothing paid."""

MEASURED_AMONG = 256
"""Memories of one person among which the cutoffs were measured; they hold for more as well."""


def in_use() -> EmbeddingModel | None:
    """Return the model that search reads; None without an embedder, or before the first vector."""
    if configured() is None:
        return None
    return EmbeddingModel.objects.filter(state=State.IN_USE).first()


def kept_up() -> list[EmbeddingModel]:
    """Return the models whose vectors follow every write: in use, and being prepared."""
    if configured() is None:
        return []
    wanted = (State.IN_USE, State.PREPARING)
    return list(EmbeddingModel.objects.filter(state__in=wanted).order_by("id"))


def name_of(model: EmbeddingModel) -> ModelName:
    """Name a model as people do."""
    return ModelName(model.provider, model.model)


def embedder_of(model: EmbeddingModel) -> Embedder:
    """Return what makes a model's vectors; raises UnusableEmbedder."""
    return embedder_for(name_of(model), dimensions=model.dimensions)


def is_remote(model: EmbeddingModel) -> bool:
    """True when its vectors are waited for; False when the embedder is local or cannot work."""
    try:
        return not embedder_of(model).is_local
    except UnusableEmbedder:
        return False


def list_weight_of(model: EmbeddingModel | None) -> float:
    """Return what a model's rank lists count beside the others."""
    try:
        return embedder_of(model).list_weight if model else 1.0
    except UnusableEmbedder:
        return 1.0


def knows_unrelated(model: EmbeddingModel) -> bool:
    """True when it is known how far apart a model puts texts that have nothing in common."""
    try:
        return embedder_of(model).unrelated is not None
    except UnusableEmbedder:
        return False


def cutoff_of(
    model: EmbeddingModel, *, names_somebody: bool, among: int | None = None
) -> float | None:
    """Return the distance up to which a memory is close; None when the embedder cannot work.

    A name in a text brings memories with that name near, so that without one less is asked. The
    fewer memories there are (`among`), the less it takes to be nearer than chance brings any.
    """
    try:
        embedder = embedder_of(model)
    except UnusableEmbedder:
        return None
    cutoff = embedder.cutoff if names_somebody else embedder.nameless_cutoff
    if among is None or among >= MEASURED_AMONG or embedder.unrelated is None:
        return cutoff
    # The nearest of n unrelated texts lies about sqrt(2 ln n) deviations from their mean.
    share = math.sqrt(math.log(among + 2) / math.log(MEASURED_AMONG + 2))
    return embedder.unrelated - share * max(0.0, embedder.unrelated - cutoff)


def adopt(*, now: datetime | None = None) -> EmbeddingModel | None:
    """Return the model in use; when there is none yet, the configured one becomes it.

    May ask a model that we do not know how long its vectors are. Raises UnusableEmbedder,
    EmbeddingFailed.
    """
    name = configured()
    model = in_use()
    if name is None or model is not None:
        return model
    return register(name, state=State.IN_USE, now=now or clock.now())


def register(
    name: ModelName, *, state: str, now: datetime, dimensions: int | None = None
) -> EmbeddingModel:
    """Return the row of a model, made in `state` when it is new."""
    embedder = embedder_for(name, dimensions=dimensions)
    size = embedder.dimensions or dimensions_of(embedder)
    try:
        with transaction.atomic():
            model, _ = EmbeddingModel.objects.get_or_create(
                provider=name.provider,
                model=name.model,
                dimensions=size,
                defaults={"state": state, "created_at": now},
            )
    except IntegrityError:
        # Another process was first to put a model in use.
        return EmbeddingModel.objects.get(state=State.IN_USE)
    return model


def ask_embedder(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    timeout_seconds: float,
    attempts: int = 1,
    on_behalf: OnBehalf | None = None,
    is_awaited: bool = False,
    put_down: Callable[[Callable[[], object]], object] = lambda record: record(),
) -> tuple[Vector, ...]:
    """Return a vector for each text; every request is on the record, whatever comes of it.

    `put_down` runs the record of what succeeded, and may do so beside what comes next. Raises
    EmbeddingFailed.
    """
    name = ModelName(embedder.provider, embedder.model)
    is_asked = not embedder.is_local and embedder.provider != LOCAL
    opened = None
    if is_asked:
        opened = open_call(name, on_behalf, operation=EMBED, is_awaited=is_awaited)
    try:
        found = embedder.embed(texts, timeout_seconds=timeout_seconds, attempts=attempts)
    except EmbeddingFailed as failure:
        record_attempts(name, failure.attempts, on_behalf, opened=opened)
        if opened is not None and not failure.attempts:
            drop_call(opened)
        raise
    put_down(lambda: record_attempts(name, found.attempts, on_behalf, opened=opened))
    return found.vectors


def dimensions_of(embedder: Embedder) -> int:
    """Ask a model how long its vectors are; raises EmbeddingFailed."""
    return len(ask_embedder(embedder, [PROBE], timeout_seconds=PROBE_SECONDS)[0])


def prepare(name: ModelName, *, now: datetime, dimensions: int | None = None) -> EmbeddingModel:
    """Return a model whose vectors follow every write from now on, beside those in use.

    Raises UnusableEmbedder, EmbeddingFailed.
    """
    model = register(name, state=State.PREPARING, now=now, dimensions=dimensions)
    if model.state == State.PREVIOUS:
        model.state = State.PREPARING
        model.save(update_fields=["state"])
    return model


def previous() -> EmbeddingModel | None:
    """Return the model to go back to."""
    rows = EmbeddingModel.objects.filter(state=State.PREVIOUS)
    return rows.order_by("-switched_at").first()


def switch(model: EmbeddingModel, *, now: datetime) -> list[EmbeddingModel]:
    """Put a model in use; the one before is kept to go back to.

    Searches under way finish with the vectors that they began with. Returns the older models that
    nobody goes back to any more, for `vector_index.discard`.
    """
    with transaction.atomic():
        rows = EmbeddingModel.objects.select_for_update().order_by("pk")
        before = [one for one in rows if one.state == State.IN_USE and one.pk != model.pk]
        outdated = [one for one in rows if one.state == State.PREVIOUS and one.pk != model.pk]
        for one in before:
            EmbeddingModel.objects.filter(pk=one.pk).update(state=State.PREVIOUS, switched_at=now)
        EmbeddingModel.objects.filter(pk=model.pk).update(state=State.IN_USE, switched_at=now)
    return outdated if before else []
