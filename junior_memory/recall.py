"""Automatic recall for a prompt: bounded, inside its deadline, and silent when nothing fits.

Words and meaning find candidates; a chat model selects among them, where one is configured, else an
absolute gate keeps what fits. The block is packed into its budget from what is read through
`visible_to` last, and an event says what was used. Nothing here raises for a failing search or
model; only a database that is gone is Unavailable.
"""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.db import Error

from junior_memory import clock, consent, embedding_models
from junior_memory.access import Viewer
from junior_memory.closer import look_closer
from junior_memory.conf import conf
from junior_memory.deadlines import Deadline, DeadlinePassed, held_to
from junior_memory.gates import Candidate, Found, Gate, judge
from junior_memory.legs import Leg, may_part, run_legs
from junior_memory.lexical import query_terms
from junior_memory.models import Memory, PublicUse
from junior_memory.prompt_block import Note, pack
from junior_memory.providers import ChatModel
from junior_memory.providers.base import TIMEOUT
from junior_memory.querysets import MemoryQuerySet
from junior_memory.ranking import preset
from junior_memory.recall_record import Outcome, RecallRecord
from junior_memory.recall_request import (
    RecallRequest,
    Silence,
    seconds_for_others,
    silence_of,
    turn_of,
)
from junior_memory.search import LEXICAL, Gathered, Hit, find_by_words, fuse_lists, read_hits
from junior_memory.selection import Selected, model_in_use, select
from junior_memory.text import collapse
from junior_memory.vector import Query, vector_leg

__all__ = [
    "Recall",
    "RecallExplanation",
    "RecallRequest",
    "Recalled",
    "Silence",
    "explain_recall",
    "recall",
]

logger = logging.getLogger(__name__)

SEARCHED_CHARACTERS = 1_500
"""The last characters of a message that are searched for (DESIGN 4)."""

CANDIDATES = 20
LEG_SIZE = 2 * CANDIDATES
MAX_LINES = 20

LEG_SHARE = 0.8
"""What of the remaining time the legs may use; the rest is for reading once more and the event."""

LEG_SHARE_BESIDE_MODEL = 0.5
"""The same where a chat model selects afterwards: the other half is mostly its own."""

SELECTION = "selection"
"""The name of the model's part among what may be degraded."""


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
    """Every candidate with its gate, and the block that they make; or why there is nothing.

    `reason` is why the chat model gave no selection.
    """

    candidates: tuple[Candidate, ...] = ()
    prompt: str | None = None
    degraded: tuple[str, ...] = ()
    late: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Looking:
    """How one recall looks: inside what time, who selects, who pays, on whose connections."""

    deadline: Deadline
    now: datetime
    model: ChatModel | None
    record: RecallRecord
    apart: bool


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
    looking = _look_for(request, deadline, model=model or model_in_use(), now=now)
    record = looking.record
    decided = _decide_in_time(request, looking)
    outcome = Outcome(
        candidates=decided.candidates, degraded=decided.degraded, reason=decided.reason
    )
    if decided.reason or not decided.late:
        record.write(outcome, looking.deadline)
    elif record.payer.calls:
        record.write_later(replace(outcome, reason=TIMEOUT))
    if looking.deadline.remaining_ms <= 0 and not decided.late:
        decided = _Decided(late=True)
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
    now: datetime | None = None,
) -> RecallExplanation:
    """Say what `recall` would give and what stopped the rest, by the same code; writes nothing.

    A chat model is asked, and paid, with `ask_model` alone; else rank and the gates decide. Beside
    the candidates stand memories that a rule kept from being any: facts about somebody else, and
    private ones that the person keeps out of public conversations.
    """
    deadline = Deadline.after(request.deadline_ms, started_at=request.started_at)
    silence, honoured = silence_of(request, deadline)
    if silence:
        return RecallExplanation(None, (), silence, honoured)
    asked = model or model_in_use() if ask_model else None
    looking = _look_for(request, deadline, model=asked, now=now)
    decided = _decide_in_time(request, looking)
    ruled_out: tuple[Candidate, ...] = ()
    # A database that is slow or gone by now leaves the explanation without them.
    with contextlib.suppress(DeadlinePassed, Error):
        ruled_out = tuple(_ruled_out(request, decided, looking))
    return RecallExplanation(
        prompt=decided.prompt,
        candidates=(*decided.candidates, *ruled_out),
        silence=Silence.NONE,
        memory_mode=honoured,
        degraded=decided.degraded,
        timed_out=decided.late,
        reason=decided.reason,
    )


def _look_for(
    request: RecallRequest, deadline: Deadline, *, model: ChatModel | None, now: datetime | None
) -> _Looking:
    moment = now or clock.now()
    record = RecallRecord(
        uuid.uuid4(), request.agent, request.conversation_id, request.viewer.user, moment
    )
    return _Looking(deadline, moment, model, record, may_part())


def _rows(viewer: Viewer, now: datetime) -> MemoryQuerySet:
    return Memory.objects.visible_to(viewer).about_viewer_or_nobody(viewer).active(now)


def _decide_in_time(request: RecallRequest, looking: _Looking) -> _Decided:
    """Decide, or say that it was late or failed."""
    try:
        decided = _decide(request, looking)
        if not decided.reason:
            looking.deadline.check()
    except DeadlinePassed:
        return _Decided(late=True)
    except Error as error:
        logger.warning("recall failed (%s)", type(error).__name__)
        return _Decided(degraded=(LEXICAL,))
    return decided


def _decide(request: RecallRequest, looking: _Looking) -> _Decided:
    """Find candidates, pass them through the gates, let the model select, pack what is left.

    One leg that fails is named and the other one's candidates count; with none there is nothing.
    """
    rows = _rows(request.viewer, looking.now)
    hits, found = _look(request, request.viewer, rows, looking)
    answer = found.gathered.answer
    if answer.is_empty_handed:
        return _Decided(degraded=answer.degraded, late=bool(answer.late))
    candidates = judge(
        hits, found, min_score=request.agent.min_score, by_model=looking.model is not None
    )
    offered = [candidate for candidate in candidates if not candidate.gate]
    if looking.model is not None and offered:
        selected = select(
            request.text,
            offered,
            looking.model,
            deadline=looking.deadline,
            payer=looking.record.payer,
            apart=looking.apart,
            settle=looking.record.settle,
        )
        candidates = _selected(candidates, selected, rows, looking)
        if selected.reason:
            degraded = (*answer.degraded, SELECTION)
            return _Decided(
                tuple(candidates), None, degraded, late=selected.is_late, reason=selected.reason
            )
    packed, prompt = _packed(candidates, limit=request.limit)
    used = [candidate.hit.memory for candidate in packed if not candidate.gate]
    written = consent.formatted(
        used, turn_of(request), timeout_seconds=seconds_for_others(looking.deadline)
    )
    if written is not None:
        ids = [memory.pk for memory in used]
        with held_to(looking.deadline):
            seen = set(rows.filter(pk__in=ids).values_list("pk", flat=True))
        if len(seen) == len(ids):
            prompt = written
        else:
            # Forgotten while the operator's code wrote: its block may hold what is gone.
            left = [one for one in packed if one.gate or one.hit.memory.pk in seen]
            packed, prompt = _packed(left, limit=request.limit)
    return _Decided(tuple(packed), prompt, answer.degraded)


def _selected(
    candidates: Sequence[Candidate], selected: Selected, rows: MemoryQuerySet, looking: _Looking
) -> list[Candidate]:
    """Put the candidates in the model's order, read once more; the others did not pass.

    One that may not be seen any more, forgotten while the model thought, is no candidate.
    """
    seen: dict[uuid.UUID, Memory] = {}
    if selected.ids:
        with held_to(looking.deadline):
            seen = {one.pk: one for one in rows.filter(pk__in=selected.ids).for_list()}
    by_id = {candidate.hit.memory.pk: candidate for candidate in candidates}
    chosen = [
        replace(by_id[each], hit=replace(by_id[each].hit, memory=seen[each]))
        for each in selected.ids
        if each in seen
    ]
    left = [one for one in candidates if one.hit.memory.pk not in selected.ids]
    return chosen + [one if one.gate else replace(one, gate=Gate.NOT_SELECTED) for one in left]


def _packed(candidates: Sequence[Candidate], *, limit: int) -> tuple[list[Candidate], str | None]:
    """Pack what passed into the block, and name the gate of what found no place in it."""
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
        limit=max(0, min(limit, MAX_LINES)),
    )
    packed = set(block.packed)
    no_room = set(block.no_room)
    placed = [
        candidate
        if candidate.gate or candidate.hit.memory.pk in packed
        else replace(
            candidate,
            gate=Gate.NO_ROOM if candidate.hit.memory.pk in no_room else Gate.OVER_LIMIT,
        )
        for candidate in candidates
    ]
    return placed, block.text


def _look(
    request: RecallRequest, viewer: Viewer, rows: MemoryQuerySet, looking: _Looking
) -> tuple[list[Hit], Found]:
    """Run the legs, with no transaction around them, then fuse and read what they found."""
    deadline = looking.deadline
    text = collapse(request.text[-SEARCHED_CHARACTERS:])
    with held_to(deadline):
        model = embedding_models.in_use()
    share = LEG_SHARE if looking.model is None else LEG_SHARE_BESIDE_MODEL
    limit_ms = max(1, int(deadline.statement_ms() * share))
    legs = [
        Leg(
            LEXICAL,
            lambda: find_by_words(
                viewer, rows, text, size=LEG_SIZE, by_characters=False, probe_private=True
            ),
        )
    ]
    cutoff: float | None = None
    if model is not None:
        named = bool(query_terms(text).names)
        cutoff = embedding_models.cutoff_of(model, names_somebody=named)
        payer = looking.record.payer
        query = Query(model, text, timeout_seconds=limit_ms / 1000, on_behalf=payer)
        leg = vector_leg(query, viewer, rows, size=LEG_SIZE, cutoff=cutoff, probe_private=True)
        legs.append(replace(leg, prepare=_settling(query.embed, looking.record)))
    answer = run_legs(legs, limit_ms=limit_ms, apart=looking.apart, deadline=deadline)
    if answer.is_empty_handed:
        return [], Found(Gathered((), {}, None, answer), cutoff)
    with held_to(deadline):
        gathered = fuse_lists(
            answer,
            fusion=preset(conf().fusion, "recall"),
            now=looking.now,
            closer=look_closer(rows, text, model, probe_private=True),
        )
        hits = read_hits(rows, gathered.fused[:CANDIDATES], gathered)
    return hits, Found(gathered, cutoff)


def _settling(prepare: Callable[[], None], record: RecallRecord) -> Callable[[], None]:
    """Hand what a late embedding cost to the event that did not wait for it."""

    def prepared() -> None:
        try:
            prepare()
        finally:
            record.settle()

    return prepared


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
        hits, found = _look(request, wider, rows, looking)
        for hit in hits:
            if found.fits([hit]) and hit.memory.pk not in known:
                yield Candidate(hit, found.strength(hit), gate)


def _recalled(memory: Memory) -> Recalled:
    return Recalled(memory.pk, memory.content, memory.kind, memory.visibility, memory.observed_at)
