"""Automatic recall for a prompt: bounded, inside its deadline, and silent when nothing fits.

Words and meaning find candidates; a chat model selects among them, where one is configured, else an
absolute gate keeps what fits. The block is packed into its budget from what is read through
`visible_to` last, and an event says what was used. Nothing here raises for a failing search or
model; only a database that is gone is Unavailable.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cache

from django.db import Error

from junior_memory.deadlines import Deadline, DeadlinePassed
from junior_memory.gates import Candidate, Gate
from junior_memory.models import Memory, PublicUse
from junior_memory.providers import ChatModel, chat_model_in_use
from junior_memory.providers.base import TIMEOUT
from junior_memory.recall_decision import (
    Decided,
    Looking,
    decide_in_time,
    lines_of,
    look,
    look_by_meaning,
    look_for,
    rows_of,
)
from junior_memory.recall_record import Outcome
from junior_memory.recall_request import (
    RecallRequest,
    Silence,
    silence_of,
)

__all__ = [
    "Recall",
    "RecallExplanation",
    "RecallRequest",
    "Recalled",
    "Silence",
    "explain_recall",
    "recall",
]

SHOWN_TOO_FAR = 5
"""Memories beyond the cutoff that an explanation shows."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory in the prompt."""

    id: uuid.UUID
    content: str
    kind: str
    visibility: str
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer: a block for the prompt, or nothing, and what was honoured, missing or late."""

    prompt: str | None
    memories: tuple[Recalled, ...]
    recall_id: uuid.UUID
    memory_mode: str
    degraded: tuple[str, ...] = ()
    timed_out: bool = False
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class RecallExplanation:
    """What would be recalled for a message, and what stopped the rest. Wrote nothing."""

    prompt: str | None
    candidates: tuple[Candidate, ...]
    silence: Silence
    memory_mode: str
    degraded: tuple[str, ...] = ()
    timed_out: bool = False
    reason: str = ""
    """Why the chat model gave no selection, when it was asked."""
    asked_model: bool = False
    cost_usd: Decimal | None = None
    cutoff: float | None = None
    """The distance up to which meaning counted."""
    limit: int = 0

    @property
    def recalled(self) -> tuple[Candidate, ...]:
        """The candidates that passed every gate, in the order of the prompt."""
        return tuple(candidate for candidate in self.candidates if not candidate.gate)

    @property
    def stopped(self) -> tuple[Candidate, ...]:
        """The others, best first."""
        return tuple(candidate for candidate in self.candidates if candidate.gate)


def recall(
    request: RecallRequest, *, model: ChatModel | None = None, now: datetime | None = None
) -> Recall:
    """Return what fits a message, inside the deadline, and record that it was used.

    `model` selects instead of the configured one. Late or failing: nothing, with `timed_out` or
    `degraded`. Raises Unavailable when the database is gone.
    """
    deadline = Deadline.after(request.deadline_ms, started_at=request.started_at)
    silence, honoured = silence_of(request, deadline)
    if silence:
        return Recall(None, (), uuid.uuid4(), honoured, cost_usd=Decimal(0))
    looking = look_for(request, deadline, model=model or chat_model_in_use(), now=now)
    record = looking.record
    decided = decide_in_time(request, looking)
    outcome = Outcome(
        candidates=decided.candidates, degraded=decided.degraded, reason=decided.reason
    )
    if decided.reason or not decided.late:
        record.write(outcome, looking.deadline)
    elif record.payer.calls:
        record.write_later(replace(outcome, reason=TIMEOUT))
    if looking.deadline.remaining_ms <= 0 and not decided.late:
        decided = Decided(late=True)
    return Recall(
        prompt=decided.prompt,
        memories=tuple(_recalled(c.hit.memory) for c in decided.candidates if not c.gate),
        recall_id=record.recall_id,
        memory_mode=honoured,
        degraded=decided.degraded,
        timed_out=decided.late,
        cost_usd=record.cost_usd,
    )


def explain_recall(
    request: RecallRequest,
    *,
    ask_model: bool = False,
    model: ChatModel | None = None,
    without: frozenset[uuid.UUID] = frozenset(),
    now: datetime | None = None,
) -> RecallExplanation:
    """Say what `recall` would give and what stopped the rest, by the same code; writes nothing.

    A chat model is asked, and paid, with `ask_model` alone; else rank and the gates decide.
    `without` takes memories away before anything is looked for. Beside the candidates stand
    memories that were none: what is near in meaning but beyond the cutoff, facts about somebody
    else, and private ones that the person keeps out of public conversations.
    """
    deadline = Deadline.after(request.deadline_ms, started_at=request.started_at)
    silence, honoured = silence_of(request, deadline)
    if silence:
        return RecallExplanation(None, (), silence, honoured)
    asked = model or chat_model_in_use() if ask_model else None
    looking = look_for(request, deadline, model=asked, now=now, explains=True, without=without)
    decided = decide_in_time(request, looking)
    ruled_out: tuple[Candidate, ...] = ()
    # A database that is slow or gone by now leaves the explanation without them.
    with contextlib.suppress(DeadlinePassed, Error):
        ruled_out = (*_too_far(request, decided, looking), *_ruled_out(request, decided, looking))
    return RecallExplanation(
        prompt=decided.prompt,
        candidates=(*decided.candidates, *ruled_out),
        silence=Silence.NONE,
        memory_mode=honoured,
        degraded=decided.degraded,
        timed_out=decided.late,
        reason=decided.reason,
        asked_model=asked is not None,
        cost_usd=looking.record.cost_usd,
        cutoff=decided.cutoff,
        limit=lines_of(request),
    )


def _too_far(request: RecallRequest, decided: Decided, looking: Looking) -> Iterable[Candidate]:
    """Find what is nearest in meaning beyond the distance up to which meaning counts."""
    if decided.cutoff is None:
        return
    rows = rows_of(request.viewer, looking)
    known = [candidate.hit.memory.pk for candidate in decided.candidates]
    for hit in look_by_meaning(request, rows.exclude(pk__in=known), looking, size=SHOWN_TOO_FAR):
        if hit.match.meaning is not None and hit.match.meaning > decided.cutoff:
            yield Candidate(hit, 0.0, Gate.TOO_FAR)


def _ruled_out(request: RecallRequest, decided: Decided, looking: Looking) -> Iterable[Candidate]:
    """Find what the rules of sight kept from being candidates, as far as the viewer may see it."""
    known = {candidate.hit.memory.pk for candidate in decided.candidates}
    viewer = request.viewer
    wider = replace(viewer, private_use=PublicUse.ALL)
    ruled_out = [
        (Gate.ABOUT_SOMEBODY_ELSE, Memory.objects.visible_to(viewer).about_others(viewer)),
    ]
    if wider != viewer:
        # One's own rows are all that the wider preference adds: no others are looked through.
        allowed = Memory.objects.private_to(viewer).values("pk")
        ruled_out.insert(
            0, (Gate.PRIVATE_HERE, Memory.objects.private_to(wider).exclude(pk__in=allowed))
        )
    for gate, seen in ruled_out:
        rows = seen.active(looking.now)
        rows = rows.exclude(pk__in=looking.without)
        hits, found = look(request, wider, cache(rows.all), looking)
        for hit in hits:
            if found.fits([hit]) and hit.memory.pk not in known:
                yield Candidate(hit, found.strength(hit), gate)


def _recalled(memory: Memory) -> Recalled:
    return Recalled(memory.pk, memory.content, memory.kind, memory.visibility, memory.observed_at)
