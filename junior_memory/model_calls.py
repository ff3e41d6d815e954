"""Every call of a model on the record: also failed, retried, late and empty ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import Error

from junior_memory import clock
from junior_memory.models import Agent, ModelCall
from junior_memory.pricing import price_of
from junior_memory.providers import Attempt, ModelName

logger = logging.getLogger(__name__)

EMBED = "embed"

FREE_OUTCOMES = ("http_", "rate_limited")
"""Refused before any work was done: costs nothing. Anything else that failed costs unknown."""


@dataclass(frozen=True, slots=True)
class OnBehalf:
    """For whom a model is called, for the record; `calls` collects what that cost."""

    agent: Agent | None = None
    recall_id: UUID | None = None
    calls: list[ModelCall] = field(default_factory=list)


def record_attempts(
    name: ModelName,
    attempts: Sequence[Attempt],
    on_behalf: OnBehalf | None = None,
    *,
    operation: str = EMBED,
) -> None:
    """Write what was paid for; a record that cannot be written fails nobody."""
    if not attempts:
        return
    payer = on_behalf or OnBehalf()
    now = clock.now()
    calls = [
        ModelCall(
            operation=operation,
            provider=name.provider,
            model=name.model,
            input_tokens=attempt.input_tokens or 0,
            cost_usd=0
            if attempt.outcome.startswith(FREE_OUTCOMES)
            else price_of(name.provider, name.model, input_tokens=attempt.input_tokens),
            outcome=attempt.outcome,
            duration_ms=attempt.duration_ms,
            agent=payer.agent,
            recall_id=payer.recall_id,
            created_at=now,
        )
        for attempt in attempts
    ]
    try:
        payer.calls.extend(ModelCall.objects.bulk_create(calls))
    except Error as error:
        logger.warning("a model call was not recorded (%s)", type(error).__name__)
