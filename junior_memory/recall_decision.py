"""The decision of one recall: candidates by words and meaning, what may stop them, the block.

`recall` acts on it and `explain_recall` shows it; nothing is decided anywhere else.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from django.db import Error

from junior_memory import clock, consent, embedding_models
from junior_memory.access import Viewer
from junior_memory.closer import look_closer
from junior_memory.conf import conf
from junior_memory.deadlines import Deadline, DeadlinePassed, held_to
from junior_memory.gates import Candidate, Found, Gate, judge
from junior_memory.legs import Leg, LegAnswer, may_part, run_legs
from junior_memory.lexical import query_terms
from junior_memory.models import EmbeddingModel, Memory, Visibility
from junior_memory.prompt_block import Note, pack
from junior_memory.providers import ChatModel
from junior_memory.querysets import MemoryQuerySet
from junior_memory.ranking import SCORE_DIGITS, preset
from junior_memory.recall_record import RecallRecord
from junior_memory.recall_request import RecallRequest, seconds_for_others, turn_of
from junior_memory.search import (
    LEXICAL,
    Gathered,
    Hit,
    find_by_words,
    fuse_lists,
    read_again,
    read_hits,
)
from junior_memory.secrets import contains_secret
from junior_memory.selection import Selected, select
from junior_memory.text import collapse
from junior_memory.vector import VECTOR, Query, vector_leg

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

OWN = "own"
"""The part of the rows that are one person's (`parts.parts_of`)."""

SELECTION = "selection"
"""The name of the model's part among what may be degraded."""


@dataclass(frozen=True, slots=True)
class Decided:
    """Every candidate with its gate, and the block that they make; or why there is nothing.

    `reason` is why the chat model gave no selection; `cutoff` the distance up to which meaning
    counted.
    """

    candidates: tuple[Candidate, ...] = ()
    prompt: str | None = None
    degraded: tuple[str, ...] = ()
    late: bool = False
    reason: str = ""
    cutoff: float | None = None


@dataclass(frozen=True, slots=True)
class Looking:
    """How one recall looks: inside what time, who selects, who pays, on whose connections."""

    deadline: Deadline
    now: datetime
    model: ChatModel | None
    record: RecallRecord
    apart: bool
    explains: bool = False
    without: frozenset[uuid.UUID] = frozenset()


def look_for(
    request: RecallRequest,
    deadline: Deadline,
    *,
    model: ChatModel | None,
    now: datetime | None,
    explains: bool = False,
    without: frozenset[uuid.UUID] = frozenset(),
) -> Looking:
    """Return how to look for a request: `model` selects, None for the gates' word alone.

    `explains`: somebody wants to know which words matched.
    """
    moment = now or clock.now()
    record = RecallRecord(
        uuid.uuid4(), request.agent, request.conversation_id, request.viewer.user, moment
    )
    return Looking(deadline, moment, model, record, may_part(), explains, without)


def rows_of(viewer: Viewer, looking: Looking) -> MemoryQuerySet:
    """Return what may be recalled for a viewer at all."""
    rows = Memory.objects.visible_to(viewer).about_viewer_or_nobody(viewer).active(looking.now)
    return rows.exclude(pk__in=looking.without) if looking.without else rows


def decide_in_time(request: RecallRequest, looking: Looking) -> Decided:
    """Decide, or say that it was late or failed."""
    try:
        decided = _decide(request, looking)
        if not decided.reason:
            looking.deadline.check()
    except DeadlinePassed:
        return Decided(late=True)
    except Error as error:
        logger.warning("recall failed (%s)", type(error).__name__)
        return Decided(degraded=(LEXICAL,))
    return decided


def _decide(request: RecallRequest, looking: Looking) -> Decided:
    """Find candidates, pass them through the gates, let the model select, pack what is left.

    One leg that fails is named and the other one's candidates count; with none there is nothing.
    """
    rows = cache(lambda: rows_of(request.viewer, looking))
    hits, found = look(request, request.viewer, rows, looking)
    answer = found.gathered.answer
    if answer.is_empty_handed:
        return Decided(degraded=answer.degraded, late=bool(answer.late))
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
            asking=looking.record.asking,
        )
        candidates = _selected(candidates, selected, rows(), looking)
        if selected.reason:
            degraded = (*answer.degraded, SELECTION)
            return Decided(
                tuple(candidates),
                degraded=degraded,
                late=selected.is_late,
                reason=selected.reason,
                cutoff=found.own_cutoff,
            )
    packed, prompt = _packed(candidates, limit=lines_of(request))
    used = [candidate.hit.memory for candidate in packed if not candidate.gate]
    written = consent.formatted(
        used, turn_of(request), timeout_seconds=seconds_for_others(looking.deadline)
    )
    if written is not None:
        ids = [memory.pk for memory in used]
        with held_to(looking.deadline):
            seen = set(rows().filter(pk__in=ids).values_list("pk", flat=True))
        if len(seen) == len(ids):
            prompt = written
        else:
            # Forgotten while the operator's code wrote: its block may hold what is gone.
            left = [one for one in packed if one.gate or one.hit.memory.pk in seen]
            packed, prompt = _packed(left, limit=lines_of(request))
    return Decided(tuple(packed), prompt, answer.degraded, cutoff=found.own_cutoff)


def _selected(
    candidates: Sequence[Candidate], selected: Selected, rows: MemoryQuerySet, looking: Looking
) -> list[Candidate]:
    """Put the candidates in the model's order, read once more; the others did not pass.

    One that may not be seen any more, forgotten while the model thought, is no candidate.
    """
    seen: dict[uuid.UUID, Memory] = {}
    if selected.ids:
        with held_to(looking.deadline):
            seen = read_again(rows, selected.ids)
    by_id = {candidate.hit.memory.pk: candidate for candidate in candidates}
    chosen = [
        replace(by_id[each], hit=replace(by_id[each].hit, memory=seen[each]))
        for each in selected.ids
        if each in seen
    ]
    left = [one for one in candidates if one.hit.memory.pk not in selected.ids]
    return chosen + [one if one.gate else replace(one, gate=Gate.NOT_SELECTED) for one in left]


def lines_of(request: RecallRequest) -> int:
    """Return how many lines the block may have."""
    return max(0, min(request.limit, MAX_LINES))


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
        limit=limit,
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


def look(
    request: RecallRequest, viewer: Viewer, rows: Callable[[], MemoryQuerySet], looking: Looking
) -> tuple[list[Hit], Found]:
    """Run the legs, with no transaction around them, then fuse and read what they found.

    The vector of the message is asked for first: everything else is made while it is waited for.
    """
    deadline = looking.deadline
    text = _searched(request)
    with held_to(deadline):
        model = embedding_models.in_use()
    share = LEG_SHARE if looking.model is None else LEG_SHARE_BESIDE_MODEL
    limit_ms = max(1, int(deadline.statement_ms() * share))
    legs = [
        Leg(
            LEXICAL,
            lambda: find_by_words(
                viewer, rows(), text, size=LEG_SIZE, by_characters=False, probe_private=True
            ),
        )
    ]
    closer = cache(lambda: look_closer(rows(), text, model, probe_private=True))
    weight = embedding_models.list_weight_of(model)
    fusion = preset(conf().fusion, "recall", vector_weight=weight)

    @cache
    def cutoffs() -> tuple[float | None, float | None]:
        return _cutoffs(model, viewer, rows(), named=bool(query_terms(text).names))

    def meanwhile(first: LegAnswer) -> None:
        with held_to(deadline):
            cutoffs()
            if fusion.top:
                closer().read_ahead(first)
        # The gate asks the same of each candidate, while somebody waits.
        for content in closer().contents[:LEG_SIZE]:
            contains_secret(content)

    if model is not None:
        payer = looking.record.payer
        query = Query(
            model,
            text,
            timeout_seconds=limit_ms / 1000,
            on_behalf=payer,
            asking=looking.record.asking,
        )

        leg = vector_leg(
            query, viewer, rows, size=LEG_SIZE, cutoff=lambda: cutoffs()[1], probe_private=True
        )
        legs.append(replace(leg, find=lambda: _within(leg.find(), cutoffs()[0])))
    answer = run_legs(
        legs, limit_ms=limit_ms, apart=looking.apart, deadline=deadline, meanwhile=meanwhile
    )
    if answer.is_empty_handed:
        return [], Found(Gathered((), {}, None, answer), None, None)
    with held_to(deadline):
        cutoff, own_cutoff = cutoffs()
        gathered = fuse_lists(answer, fusion=fusion, now=looking.now, closer=closer())
        hits = read_hits(rows(), gathered.fused[:CANDIDATES], gathered, with_words=looking.explains)
    return hits, Found(gathered, cutoff, own_cutoff)


def _cutoffs(
    model: EmbeddingModel | None, viewer: Viewer, rows: MemoryQuerySet, *, named: bool
) -> tuple[float | None, float | None]:
    """Return the distances up to which meaning counts: for everybody's rows, for one's own."""
    if model is None:
        return None, None
    cutoff = embedding_models.cutoff_of(model, names_somebody=named)
    if viewer.user is None or not embedding_models.knows_unrelated(model):
        return cutoff, cutoff
    own = rows.filter(owner=viewer.user, visibility__in=[Visibility.PRIVATE, Visibility.SESSION])
    among = own[: embedding_models.MEASURED_AMONG].count()
    return cutoff, embedding_models.cutoff_of(model, names_somebody=named, among=among)


def _within(answer: LegAnswer, cutoff: float | None) -> LegAnswer:
    """Leave out of the list over everything what is not one's own and beyond its cutoff."""
    if cutoff is None:
        return answer
    near = [
        row
        for row in answer.lists[VECTOR]
        if row.part == OWN or round(1 - row.score, SCORE_DIGITS) <= cutoff
    ]
    return replace(answer, lists={**answer.lists, VECTOR: near})


def look_by_meaning(
    request: RecallRequest, rows: MemoryQuerySet, looking: Looking, *, size: int
) -> list[Hit]:
    """Return the nearest rows whatever their distance, for an explanation."""
    deadline = looking.deadline
    with held_to(deadline):
        model = embedding_models.in_use()
    if model is None:
        return []
    limit_ms = deadline.statement_ms()
    query = Query(
        model,
        _searched(request),
        timeout_seconds=limit_ms / 1000,
        on_behalf=looking.record.payer,
    )
    leg = vector_leg(query, request.viewer, lambda: rows, size=size)
    answer = run_legs([leg], limit_ms=limit_ms, apart=looking.apart, deadline=deadline)
    with held_to(deadline):
        gathered = fuse_lists(answer, fusion=preset(conf().fusion, "recall"), now=looking.now)
        return read_hits(rows, gathered.fused[:size], gathered)


def _searched(request: RecallRequest) -> str:
    return collapse(request.text[-SEARCHED_CHARACTERS:])
