"""Search that somebody asked for: people, tools and REST. Ranked, paged, no cutoff.

Every leg starts from `visible_to(...).active(...)`, and the ids that won are read once more through
it before they leave. Recall composes the same steps (`recall.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import islice
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS

from junior_memory import clock, embedding_models, lexical
from junior_memory.access import Viewer
from junior_memory.closer import Closer, look_closer
from junior_memory.compiled import active_rows
from junior_memory.conf import conf
from junior_memory.counting import FilterCounts, Total, count_by_filter, count_parts
from junior_memory.deadlines import statement_limit
from junior_memory.errors import InvalidInput
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.legs import Leg, LegAnswer, LegsAnswer, run_legs
from junior_memory.lexical.census import Scored
from junior_memory.lexical.highlight import highlight_spans, matched_spans
from junior_memory.lexical.leg import Plan, make_plan
from junior_memory.listed import read_listed
from junior_memory.model_calls import OnBehalf
from junior_memory.models import Memory
from junior_memory.parts import Fragment, Part, among, fetch_prepared, parts_of
from junior_memory.querysets import MemoryQuerySet
from junior_memory.ranking import Fused, Fusion, RankList, TieFacts, fuse, order, preset
from junior_memory.vector import PRIVATE_VECTOR, VECTOR, Query, vector_leg

__all__ = [
    "FilterCounts",
    "Filters",
    "Hit",
    "Match",
    "SearchResult",
    "Total",
    "count_by_filter",
    "highlight_spans",
    "search_memories",
]

LEXICAL = "lexical"
PRIVATE_PROBE = "private lexical"
CHARACTERS = "characters"

MAX_RANKED = 200
"""How deep a ranked list goes (DESIGN 4)."""

DEEP_LIMIT = 20
"""Above this limit every list has its full length."""

LEG_LIMIT_MS = 3_000
"""What one statement of one leg may take in an explicit search."""


@dataclass(frozen=True, slots=True)
class Match:
    """Why a memory was found: words as they stand in it, distance, or characters alone."""

    words: tuple[str, ...]
    meaning: float | None
    characters: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found, with what found it."""

    memory: Memory
    match: Match
    legs: tuple[str, ...]
    ranks: Mapping[str, int] = field(default_factory=dict)
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page of hits in order; `total` counts word and character hits, where that was asked.

    `plan` says what was asked of words, for whoever counts by it (`count_by_filter`).
    """

    hits: tuple[Hit, ...]
    relation: str
    total: int
    degraded: tuple[str, ...]
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """Ids in fused order with all that explains them."""

    fused: tuple[Fused, ...]
    scored: Mapping[str, Mapping[UUID, Scored]]
    plan: Plan | None
    answer: LegsAnswer
    marked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Contents whose matching words are known already."""


def search_memories(
    viewer: Viewer,
    query: str,
    *,
    limit: int = 10,
    offset: int = 0,
    filters: Filters = NO_FILTERS,
    state: str = "active",
    now: datetime | None = None,
    on_behalf: OnBehalf | None = None,
    with_total: bool = True,
) -> SearchResult:
    """Find what a viewer may see, best first; in other states than active, their own rows by words.

    `on_behalf` says who pays for the query's vector.

    `offset + limit` reaches to 200. Raises InvalidInput for an empty query or a page out of range,
    Unavailable when there is no database; a leg that fails alone is named in `degraded`.
    """
    if not query.strip():
        raise InvalidInput("There is nothing to search for.", fields={"q": "empty"})
    if limit < 1 or offset < 0 or offset + limit > MAX_RANKED:
        raise InvalidInput(f"A search reaches to {MAX_RANKED}.", fields={"limit": "out of range"})
    moment = now or clock.now()

    @cache
    def rows() -> MemoryQuerySet:
        if state == "active":
            return active_rows(viewer, moment)
        return Memory.objects.visible_to(viewer).own(viewer).in_state(state, moment)

    total = Total("exact", 0)
    first, size = list_sizes(limit, offset)

    def find() -> LegAnswer:
        nonlocal total
        answer = find_by_words(
            viewer, rows(), query, size=size, filters=filters, by_characters=True
        )
        if answer.plan is not None and with_total:
            total = _count_matching(viewer, answer.plan, answer.parts)
        return answer

    legs = [Leg(LEXICAL, find)]
    # Only active memories have vectors.
    model = embedding_models.in_use() if state == "active" else None
    if model is not None:
        legs.append(
            vector_leg(
                Query(
                    model,
                    query,
                    timeout_seconds=LEG_LIMIT_MS / 1000,
                    on_behalf=on_behalf or OnBehalf(),
                ),
                viewer,
                rows,
                size=size,
                filters=filters,
            )
        )
    gathered = gather(
        legs,
        fusion=preset(
            conf().fusion, "search", vector_weight=embedding_models.list_weight_of(model)
        ),
        limit_ms=LEG_LIMIT_MS,
        now=moment,
        closer=cache(lambda: look_closer(rows(), query, model)),
        first=first,
        shown=offset + limit,
    )
    page = gathered.fused[offset : offset + limit]
    hits = read_hits(rows(), page, gathered)
    return SearchResult(
        hits=tuple(hits),
        relation=total.relation,
        total=total.value,
        degraded=gathered.answer.degraded,
        plan=gathered.plan,
    )


def list_sizes(limit: int, offset: int) -> tuple[int, int]:
    """Return how long each list is for the order of the first page, and for this one.

    Four times the limit, at most 200 (DESIGN 4). A page beyond what those lists are sure to hold
    asks for longer ones and puts what they add after what the first page's hold, so that every page
    is cut from the same order.
    """
    first = MAX_RANKED if limit > DEEP_LIMIT else 4 * limit
    return first, first if offset + limit <= first else MAX_RANKED


def find_by_words(
    viewer: Viewer,
    rows: MemoryQuerySet,
    query: str,
    *,
    size: int,
    filters: Filters = NO_FILTERS,
    by_characters: bool,
    probe_private: bool = False,
) -> LegAnswer:
    """Run the lexical leg: a list by idf coverage, one by characters, one of private rows alone.

    How rare a word is, is counted over everything that `rows` admits, whatever the filters.
    """
    parts = list(parts_of(rows, viewer))
    plan = make_plan(lexical.query_terms(query), parts, by_characters=by_characters, depth=size)
    if plan.finds_nothing:
        return LegAnswer({}, plan)
    narrowed = filters.narrow_parts(parts)
    lists: dict[str, Sequence[Scored]] = {LEXICAL: plan.rank_words(narrowed, size=size)}
    if probe_private:
        own = [part for part in narrowed if part.name == "own"]
        lists[PRIVATE_PROBE] = plan.rank_words(own, size=size)
    if plan.looked_for:
        lists[CHARACTERS] = plan.rank_characters(narrowed, size=size)
    return LegAnswer(lists, plan, narrowed)


def gather(
    legs: Sequence[Leg],
    *,
    fusion: Fusion,
    limit_ms: int,
    now: datetime,
    apart: bool | None = None,
    closer: Callable[[], Closer],
    first: int = MAX_RANKED,
    shown: int = 0,
) -> Gathered:
    """Run legs, fuse their lists by rank and put them in order; `apart` as `run_legs` takes it.

    The slow leg sets out before anything else is made; while it is waited for, the `shown` rows
    that are first so far are marked.
    """
    marked: dict[str, tuple[str, ...]] = {}

    def meanwhile(answer: LegAnswer) -> None:
        if not fusion.top:
            return
        with statement_limit(limit_ms):
            closer().read_ahead(answer)
        if answer.plan is not None:
            for content in closer().contents[:shown]:
                marked[content] = _words_in(content, answer.plan)

    answer = run_legs(legs, limit_ms=limit_ms, apart=apart, meanwhile=meanwhile)
    gathered = fuse_lists(answer, fusion=fusion, now=now, closer=closer(), first=first)
    return replace(gathered, marked=dict.fromkeys(closer().wordless, ()) | marked)


def fuse_lists(
    answer: LegsAnswer,
    *,
    fusion: Fusion,
    now: datetime,
    closer: Closer | None = None,
    first: int = MAX_RANKED,
) -> Gathered:
    """Fuse what legs found by rank and put it in order.

    `closer` looks at the fused top once more and answers with further lists. What is among the
    `first` rows of some list comes before what is not, in the order of those rows alone.
    """
    lists: dict[str, Mapping[UUID, Scored]] = {}
    plan: Plan | None = None
    for found in answer.answers.values():
        plan = plan or found.plan
        for name, rows in found.lists.items():
            lists[name] = {row.id: row for row in rows}
    known = {row.id: row for rows in lists.values() for row in rows.values()}

    def facts(memory_id: UUID) -> TieFacts:
        row = known[memory_id]
        return TieFacts(row.visibility in {"private", "session"}, row.observed_at)

    def ranked_to(depth: int) -> list[RankList]:
        return [
            RankList(name, {row.id: row.score for row in islice(rows.values(), depth)})
            for name, rows in lists.items()
        ]

    ranked = ranked_to(first)
    fused = order(fuse(ranked, fusion), facts=facts, now=now)
    if closer is not None and plan is not None and fusion.top and fused:
        ranked += closer(plan, [each.id for each in fused[: fusion.top]])
        fused = order(fuse(ranked, fusion), facts=facts, now=now)
    if len(fused) < len(known):
        before = {each.id for each in fused}
        every = order(fuse(ranked_to(MAX_RANKED), fusion), facts=facts, now=now)
        fused += [each for each in every if each.id not in before]
    return Gathered(tuple(fused), lists, plan, answer)


def read_hits(
    rows: MemoryQuerySet, page: Sequence[Fused], gathered: Gathered, *, with_words: bool = True
) -> list[Hit]:
    """Read ids once more through `rows`, which is what the viewer may see; keep their order.

    Without `with_words` no hit says which of its words matched, which nobody may want to know, and
    memories hold what `read_again` reads.
    """
    ids = [fused.id for fused in page]
    found = read_listed(rows, ids) if with_words else read_again(rows, ids)
    return [
        explained(found[fused.id], fused, gathered, with_words=with_words)
        for fused in page
        if fused.id in found
    ]


READ_AGAIN = ("id", "content", "kind", "visibility", "observed_at")


def read_again(rows: MemoryQuerySet, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """Read what a prompt says of these rows, once more and as fast as may be.

    By the statement that is compiled for `rows` already; other columns are read when asked for.
    """
    if not ids:
        return {}
    left = Part.of("again", rows).having(among(ids))
    found = fetch_prepared(left.select(Fragment(", ".join(READ_AGAIN))))
    return {row[0]: Memory.from_db(DEFAULT_DB_ALIAS, READ_AGAIN, row) for row in found}


def explained(memory: Memory, fused: Fused, gathered: Gathered, *, with_words: bool = True) -> Hit:
    """Say why a memory was found."""
    words: tuple[str, ...] = ()
    if gathered.plan and with_words:
        known = gathered.marked.get(memory.content)
        words = _words_in(memory.content, gathered.plan) if known is None else known
    return Hit(
        memory=memory,
        match=Match(words, distance_of(fused.id, gathered), CHARACTERS in fused.ranks),
        legs=tuple(name for name in fused.ranks if name in gathered.scored),
        ranks=fused.ranks,
        score=fused.score,
    )


def _words_in(content: str, plan: Plan) -> tuple[str, ...]:
    """Return the words of a content that a query matched, as they stand there."""
    spans = matched_spans(content, plan.units)
    return tuple(dict.fromkeys(content[start:end] for start, end in spans))


def distance_of(memory_id: UUID, gathered: Gathered) -> float | None:
    """Return the cosine distance of a memory that the vector leg found."""
    near = gathered.scored.get(VECTOR, {}).get(memory_id)
    near = near or gathered.scored.get(PRIVATE_VECTOR, {}).get(memory_id)
    return None if near is None else round(1 - near.score, 6)


def _count_matching(viewer: Viewer, plan: Plan, parts: Sequence[Part]) -> Total:
    """Count the rows that words or characters find, where the plan does not know already.

    Of a team's rows it does not know which the viewer wrote.
    """
    counts = [(part, None if part.name == "org" else plan.count_known(part)) for part in parts]
    asked = [part.having(plan.matching(part)) for part, count in counts if count is None]
    known = [(count, part.is_shared) for part, count in counts if count is not None]
    return count_parts(asked, viewer, known=known)
