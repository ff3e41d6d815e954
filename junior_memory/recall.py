"""Automatic recall for a prompt: bounded, inside its deadline, and silent when nothing fits.

Words and meaning find candidates, an absolute gate keeps what fits, the block is packed into its
budget, the ids are read once more through `visible_to`, and an event says what was used. Nothing
here raises for a failing search; only a database that is gone is Unavailable.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from django.db import Error, connections

from junior_memory import clock, embedding_models, events
from junior_memory.access import Source, Viewer
from junior_memory.closer import look_closer
from junior_memory.conf import conf
from junior_memory.deadlines import Deadline, DeadlinePassed, held_to, statement_limit
from junior_memory.legs import Leg, may_part
from junior_memory.lexical import query_terms
from junior_memory.model_calls import OnBehalf
from junior_memory.models import Agent, Memory, MemoryUse, PublicUse
from junior_memory.prompt_block import Note, pack
from junior_memory.querysets import MemoryQuerySet
from junior_memory.ranking import preset
from junior_memory.search import (
    LEXICAL,
    PRIVATE_PROBE,
    Gathered,
    Hit,
    find_by_words,
    gather,
    read_hits,
)
from junior_memory.secrets import contains_secret
from junior_memory.text import collapse
from junior_memory.vector import VECTOR, Query, vector_leg

logger = logging.getLogger(__name__)

SEARCHED_CHARACTERS = 1_500
"""The last characters of a message that are searched for (DESIGN 4)."""

CANDIDATES = 20
LEG_SIZE = 2 * CANDIDATES
MAX_LINES = 20

FITS_AT = 0.25
"""Without vectors: the best candidate's strength by words below which nothing fits."""

SPEAKS_FOR_ITSELF = 0.7
"""Beside vectors: the strength by words at which a memory fits though none is near in meaning.

Measured on LoCoMo for development, facts / turns, local embedder: recall@10 falls by .025 / .019;
of questions asked of a wrong owner .90 / .86 get nothing, with the speakers' names taken out .56 /
.46, of category 5 .14 / .06 (`tests/benchmarks/retrieval.py` prints the curve).
"""

NEAR_BEST = 0.4
"""The share of the best candidate's strength that the others need."""

EVENT_MS = 60
"""What writing the event may add to an answer; beyond it the event is written beside the answer."""

LATER_MS = 10_000
"""How long an event that was put off may wait for its tables."""

LEG_SHARE = 0.8
"""What of the remaining time the legs may use; the rest is for reading once more and the event."""


class Gate(StrEnum):
    """What stopped a candidate; the empty gate let it through."""

    NONE = ""
    NOT_RELEVANT = "not_relevant"
    BELOW_MIN_SCORE = "below_min_score"
    WEAKER_THAN_BEST = "weaker_than_best"
    SECRET = "secret"  # noqa: S105 - a gate, not a password
    NO_ROOM = "no_room"
    OVER_LIMIT = "over_limit"
    ABOUT_SOMEBODY_ELSE = "about_somebody_else"
    PRIVATE_HERE = "private_in_public"


class Silence(StrEnum):
    """Why a recall gave nothing before it looked; the empty one means it looked."""

    NONE = ""
    BLANK = "blank"
    MODE = "memory_mode"
    DEPLOYMENT = "recall_disabled"
    AGENT = "agent_does_not_inject"
    PERSON = "person_turned_recall_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """What a host asks before a run. Authority is in `viewer` alone; `text` is only searched for.

    `started_at` (monotonic seconds) lets the edge count its own time into the deadline.
    """

    viewer: Viewer
    agent: Agent
    conversation_id: str
    source: Source
    text: str
    limit: int = 6
    deadline_ms: int = 1500
    memory_mode: str = "on"
    started_at: float | None = None


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
class Candidate:
    """One memory that was considered, with what found it and the gate that stopped it, if any."""

    hit: Hit
    strength: float
    gate: Gate = Gate.NONE


@dataclass(frozen=True, slots=True)
class RecallExplanation:
    """What would be recalled for a message, and what stopped the rest. Wrote nothing."""

    prompt: str | None
    candidates: tuple[Candidate, ...]
    silence: Silence
    memory_mode: str
    degraded: tuple[str, ...] = ()
    timed_out: bool = False

    @property
    def recalled(self) -> tuple[Candidate, ...]:
        """The candidates that passed every gate, in the order of the prompt."""
        return tuple(candidate for candidate in self.candidates if not candidate.gate)

    @property
    def stopped(self) -> tuple[Candidate, ...]:
        """The others, best first."""
        return tuple(candidate for candidate in self.candidates if candidate.gate)


@dataclass(frozen=True, slots=True)
class _Decided:
    """Every candidate with its gate, and the block that they make."""

    candidates: tuple[Candidate, ...] = ()
    prompt: str | None = None
    degraded: tuple[str, ...] = ()
    late: bool = False


@dataclass(frozen=True, slots=True)
class _Looking:
    """How one recall looks: inside what time, on whose connections, and what it pays for."""

    deadline: Deadline
    now: datetime
    apart: bool
    payer: OnBehalf


@dataclass(frozen=True, slots=True)
class _Found:
    """What the legs found, and the distance up to which meaning counts."""

    gathered: Gathered
    cutoff: float | None


def recall(request: RecallRequest, *, now: datetime | None = None) -> Recall:
    """Return what fits a message, inside the deadline, and record that it was used.

    Late or failing: nothing, with `timed_out` or `degraded`. Raises Unavailable when the database
    is gone.
    """
    deadline = Deadline.after(request.deadline_ms, started_at=request.started_at)
    moment = now or clock.now()
    recall_id = uuid.uuid4()
    silence, honoured = _silence(request)
    if silence:
        return Recall(None, (), recall_id, honoured, cost_usd=Decimal(0))
    decided = _Decided(late=True)
    looking = _Looking(deadline, moment, may_part(), OnBehalf(request.agent, recall_id))
    try:
        with held_to(deadline):
            decided = _decide(request, looking)
            deadline.check()
            if not decided.late:
                _record(request, decided, recall_id, looking)
    except DeadlinePassed:
        decided = decided if not decided.late and deadline.remaining_ms > 0 else _Decided(late=True)
    except Error as error:
        logger.warning("recall failed (%s)", type(error).__name__)
        decided = _Decided(degraded=(LEXICAL,))
    return Recall(
        prompt=decided.prompt,
        memories=tuple(_recalled(c.hit.memory) for c in decided.candidates if not c.gate),
        recall_id=recall_id,
        memory_mode=honoured,
        degraded=decided.degraded,
        timed_out=decided.late,
        cost_usd=events.sum_costs([call.cost_usd for call in looking.payer.calls]),
    )


def explain_recall(request: RecallRequest, *, now: datetime | None = None) -> RecallExplanation:
    """Say what `recall` would give and what stopped the rest, by the same code; writes nothing.

    Beside the candidates stand memories that a rule kept from being any: facts about somebody else,
    and private ones that the person keeps out of public conversations.
    """
    deadline = Deadline.after(request.deadline_ms, started_at=request.started_at)
    moment = now or clock.now()
    silence, honoured = _silence(request)
    if silence:
        return RecallExplanation(None, (), silence, honoured)
    decided = _Decided(late=True)
    ruled_out: tuple[Candidate, ...] = ()
    looking = _Looking(deadline, moment, may_part(), OnBehalf(request.agent))
    try:
        with held_to(deadline):
            decided = _decide(request, looking)
            ruled_out = tuple(_ruled_out(request, decided, looking))
    except DeadlinePassed:
        pass
    except Error as error:
        logger.warning("recall failed (%s)", type(error).__name__)
        decided = _Decided(degraded=(LEXICAL,))
    return RecallExplanation(
        prompt=decided.prompt,
        candidates=(*decided.candidates, *ruled_out),
        silence=Silence.NONE,
        memory_mode=honoured,
        degraded=decided.degraded,
        timed_out=decided.late,
    )


def _silence(request: RecallRequest) -> tuple[Silence, str]:
    """Why nothing may be recalled, if so, and the memory mode that is honoured."""
    mode = request.memory_mode
    user = request.viewer.user
    if mode in {"off", "writeOnly"}:
        return Silence.MODE, mode
    without_reading = "off" if mode == "readOnly" else "writeOnly"
    if not conf().recall_enabled:
        return Silence.DEPLOYMENT, without_reading
    if not request.agent.inject:
        return Silence.AGENT, without_reading
    if user is not None and user.recall_off_at is not None:
        return Silence.PERSON, without_reading
    if not request.text.strip():
        return Silence.BLANK, mode
    return Silence.NONE, mode


def _rows(viewer: Viewer, now: datetime) -> MemoryQuerySet:
    return Memory.objects.visible_to(viewer).about_viewer_or_nobody(viewer).active(now)


def _decide(request: RecallRequest, looking: _Looking) -> _Decided:
    """Find candidates, pass them through the gates, pack what is left.

    One leg that fails is named and the other one's candidates count; with none there is nothing.
    """
    rows = _rows(request.viewer, looking.now)
    found = _find(request, request.viewer, rows, looking)
    answer = found.gathered.answer
    if answer.is_empty_handed:
        return _Decided(degraded=answer.degraded, late=bool(answer.late))
    hits = read_hits(rows, found.gathered.fused[:CANDIDATES], found.gathered)
    candidates = _gated(hits, found, request)
    block = pack(
        (
            Note(
                c.hit.memory.pk,
                c.hit.memory.content,
                c.hit.memory.visibility,
                c.hit.memory.observed_at,
            )
            for c in candidates
            if not c.gate
        ),
        limit=max(0, min(request.limit, MAX_LINES)),
    )
    packed = set(block.packed)
    no_room = set(block.no_room)
    candidates = [
        candidate
        if candidate.gate or candidate.hit.memory.pk in packed
        else replace(
            candidate,
            gate=Gate.NO_ROOM if candidate.hit.memory.pk in no_room else Gate.OVER_LIMIT,
        )
        for candidate in candidates
    ]
    return _Decided(tuple(candidates), block.text, answer.degraded)


def _find(
    request: RecallRequest, viewer: Viewer, rows: MemoryQuerySet, looking: _Looking
) -> _Found:
    text = collapse(request.text[-SEARCHED_CHARACTERS:])
    limit_ms = max(1, int(looking.deadline.statement_ms() * LEG_SHARE))
    legs = [
        Leg(
            LEXICAL,
            lambda: find_by_words(
                viewer, rows, text, size=LEG_SIZE, by_characters=False, probe_private=True
            ),
        )
    ]
    model = embedding_models.in_use()
    named = bool(query_terms(text).names)
    cutoff = embedding_models.cutoff_of(model, names_somebody=named) if model else None
    if model is not None:
        query = Query(model, text, timeout_seconds=limit_ms / 1000, on_behalf=looking.payer)
        legs.append(
            vector_leg(query, viewer, rows, size=LEG_SIZE, cutoff=cutoff, probe_private=True)
        )
    gathered = gather(
        legs,
        fusion=preset(conf().fusion, "recall"),
        limit_ms=limit_ms,
        now=looking.now,
        apart=looking.apart,
        closer=look_closer(rows, text, model, probe_private=True),
    )
    return _Found(gathered, cutoff)


def _by_words(hit: Hit, found: _Found) -> float:
    """Return how well a hit's words fit, 0-1."""
    plan = found.gathered.plan
    scores = [
        rows[hit.memory.pk].score
        for name, rows in found.gathered.scored.items()
        if name in {LEXICAL, PRIVATE_PROBE} and hit.memory.pk in rows
    ]
    return plan.strength(max(scores, default=0.0)) if plan else 0.0


def _fits(hits: Sequence[Hit], found: _Found) -> bool:
    """The absolute gate: whether any hit is near in meaning, or its words speak for themselves."""
    if any(hit.match.meaning is not None for hit in hits):
        return True
    has_meaning = VECTOR in found.gathered.answer.answers
    least = SPEAKS_FOR_ITSELF if has_meaning else FITS_AT
    return any(_by_words(hit, found) >= least for hit in hits)


def _strength(hit: Hit, found: _Found) -> float:
    """Return how well a hit fits: the best single list's normalised score, 0-1.

    A memory at the model's own cutoff just fits; one that says the same has strength 1.
    """
    by_words = _by_words(hit, found)
    if hit.match.meaning is None or not found.cutoff:
        return by_words
    closeness = max(0.0, 1 - hit.match.meaning / found.cutoff)
    return max(by_words, FITS_AT + (1 - FITS_AT) * closeness)


def _gated(hits: Sequence[Hit], found: _Found, request: RecallRequest) -> list[Candidate]:
    """Put every hit through the gates that need no packing, in the order they act."""
    strengths = [_strength(hit, found) for hit in hits]
    best = max(strengths, default=0.0)
    something_fits = _fits(hits, found)
    candidates: list[Candidate] = []
    for hit, strength in zip(hits, strengths, strict=True):
        gate = Gate.NONE
        if not something_fits:
            gate = Gate.NOT_RELEVANT
        elif strength < request.agent.min_score:
            gate = Gate.BELOW_MIN_SCORE
        elif strength < NEAR_BEST * best:
            gate = Gate.WEAKER_THAN_BEST
        elif contains_secret(hit.memory.content):
            gate = Gate.SECRET
        candidates.append(Candidate(hit, strength, gate))
    return candidates


def _ruled_out(request: RecallRequest, decided: _Decided, looking: _Looking) -> Iterable[Candidate]:
    """Find what the rules of sight kept from being candidates, as far as the viewer may see it."""
    known = {candidate.hit.memory.pk for candidate in decided.candidates}
    viewer = request.viewer
    wider = replace(viewer, private_use=PublicUse.ALL)
    seen = Memory.objects.visible_to(wider).active(looking.now)
    allowed = Memory.objects.visible_to(viewer).values("pk")
    about_others = Memory.objects.about_viewer_or_nobody(viewer).values("pk")
    for gate, rows in (
        (Gate.PRIVATE_HERE, seen.exclude(pk__in=allowed)),
        (Gate.ABOUT_SOMEBODY_ELSE, seen.filter(pk__in=allowed).exclude(pk__in=about_others)),
    ):
        found = _find(request, wider, rows, looking)
        for hit in read_hits(rows, found.gathered.fused[:CANDIDATES], found.gathered):
            strength = _strength(hit, found)
            if _fits([hit], found) and hit.memory.pk not in known:
                yield Candidate(hit, strength, gate)


def _recalled(memory: Memory) -> Recalled:
    return Recalled(memory.pk, memory.content, memory.kind, memory.visibility, memory.observed_at)


def _record(
    request: RecallRequest,
    decided: _Decided,
    recall_id: uuid.UUID,
    looking: _Looking,
) -> None:
    """Write the event and the uses, without delaying or failing the answer."""
    used = [candidate for candidate in decided.candidates if not candidate.gate]
    payload = events.MemoriesRecalled(
        recall_id=recall_id,
        memories=[
            events.RecalledMemory(id=c.hit.memory.pk, rank=rank, legs=list(c.hit.legs))
            for rank, c in enumerate(used, start=1)
        ],
        candidates=len(decided.candidates),
        withheld_secrets=sum(c.gate is Gate.SECRET for c in decided.candidates),
        degraded=list(decided.degraded),
    )

    def write() -> None:
        event = events.record_event(
            events.MEMORIES_RECALLED,
            payload,
            conversation_id=request.conversation_id,
            agent=request.agent,
            owner=request.viewer.user,
            now=looking.now,
            calls=list(looking.payer.calls),
        )
        MemoryUse.objects.bulk_create(
            MemoryUse(
                memory_id=c.hit.memory.pk,
                event=event,
                viewer=request.viewer.user,
                conversation_id=request.conversation_id,
                rank=rank,
                leg=c.hit.legs[0] if c.hit.legs else LEXICAL,
                used_at=looking.now,
            )
            for rank, c in enumerate(used, start=1)
        )

    try:
        with statement_limit(min(EVENT_MS, looking.deadline.statement_ms())):
            write()
    except (DeadlinePassed, Error):
        # The answer does not wait for its record; the record is tried again beside it.
        threading.Thread(target=_write_later, args=[write], name="event", daemon=True).start()


def _write_later(write: Callable[[], None]) -> None:
    try:
        with statement_limit(LATER_MS):
            write()
    except Error as error:
        logger.warning("a recall was not recorded (%s)", type(error).__name__)
    finally:
        connections.close_all()
