"""Which model's vectors are in use, being prepared, or kept to go back to.

A row of the database decides, not the settings: a change of model takes effect in every process at
once, and a deployment that was configured for another model goes on searching the vectors it has.
"""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction

from junior_memory import clock
from junior_memory.models import EmbeddingModel
from junior_memory.providers import Embedder, ModelName, configured, embedder_for

State = EmbeddingModel.State

PROBE = "How long is a vector?"
"""What is sent to learn a model's dimensions."""

PROBE_SECONDS = 10.0


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


def dimensions_of(embedder: Embedder) -> int:
    """Ask a model how long its vectors are; raises EmbeddingFailed."""
    return len(embedder.embed([PROBE], timeout_seconds=PROBE_SECONDS).vectors[0])


def switch(model: EmbeddingModel, *, now: datetime) -> None:
    """Put a model in use; the one before is kept to go back to, any older one is not."""
    with transaction.atomic():
        rows = EmbeddingModel.objects.select_for_update()
        before = rows.filter(state=State.IN_USE).exclude(pk=model.pk).first()
        if before is not None:
            rows.filter(state=State.PREVIOUS).exclude(pk=model.pk).delete()
            rows.filter(pk=before.pk).update(state=State.PREVIOUS, switched_at=now)
        rows.filter(pk=model.pk).update(state=State.IN_USE, switched_at=now)
