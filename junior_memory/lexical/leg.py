"""The full-text leg: which rows hold what a query asks for, ranked by idf coverage.

Own and organization rows are ranked exactly, all of them. Over a large public set a row must hold
one of the query's rarer terms. Never a window of the newest matches.

Coverage is the share of the query's idf mass that a row holds, idf counted over what the viewer may
see. Beside it stands a list by characters: for short queries, scripts without spaces, and chunks
that no row holds as a word.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import (
    BooleanField,
    Case,
    Count,
    F,
    FloatField,
    Func,
    Q,
    TextField,
    Value,
    When,
)

from junior_memory.access import Viewer
from junior_memory.lexical.folding import fold
from junior_memory.lexical.queries import Chunk, QueryTerms, Unit, quote_lexeme
from junior_memory.models import Membership
from junior_memory.querysets import MemoryQuerySet

COMMON_AT = 2_000
"""Public rows from which a term is common; counting stops there."""

RARE_ROWS = 8_000
"""Public rows that the chosen rarer terms may select together."""

BACKGROUND_ROWS = 100
"""Rows added to everybody's count, so that a word is no less telling to who has few memories."""

NEEDED_UNITS = 3
"""The evidence that a long text can ask for: that many words that nobody has."""

NAME_WEIGHT = 2
"""A name that no row holds speaks against every row, this many words' worth."""

MAX_LOOKED_FOR = 8
"""Chunks that one query looks for by characters."""


class _Holds(Func):
    """`search_vector @@ tsquery`; the tsquery is a parameter, which the planner sees."""

    template = "(%(expressions)s::tsquery)"
    arg_joiner = " @@ "
    output_field = BooleanField()


class _Contains(Func):
    """Whether one text contains another; case, accents and width aside, and no wildcards."""

    template = (
        "(strpos(unaccent(lower(normalize(%(content)s, NFKC))),"
        " unaccent(lower(normalize(%(wanted)s::text, NFKC)))) > 0)"
    )
    output_field = BooleanField()

    def as_sql(  # type: ignore[override]
        self, compiler: Any, _connection: Any, **_: Any
    ) -> tuple[str, list[Any]]:
        """Compile both sides in place."""
        content, first = compiler.compile(self.source_expressions[0])
        wanted, second = compiler.compile(self.source_expressions[1])
        sql = self.template % {"content": content, "wanted": wanted}
        return sql, [*first, *second]


def _holds(tsquery: str) -> _Holds:
    return _Holds(F("search_vector"), Value(tsquery, output_field=TextField()))


def _contains(text: str) -> _Contains:
    return _Contains(F("content"), Value(text, output_field=TextField()))


def _any_of(units: Sequence[Unit]) -> str:
    return " | ".join(unit.tsquery() for unit in units)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows a viewer may see: `own` and `org` are ranked exactly, `public` is shared."""

    name: str
    rows: MemoryQuerySet

    @property
    def is_shared(self) -> bool:
        """True for rows that everyone sees, which may be very many."""
        return self.name == "public"


@dataclass(frozen=True, slots=True)
class Scored:
    """One row's place in one list, with what ties are decided by."""

    id: UUID
    score: float
    visibility: str
    observed_at: datetime
    part: str


def parts_of(rows: MemoryQuerySet, viewer: Viewer) -> Iterator[Part]:
    """Split rows that `visible_to` admitted so that each part has an index of its own.

    A narrowing only: nothing is added to what `rows` admits.
    """
    if viewer.sees_nothing:
        return
    if viewer.user is not None:
        own = rows.filter(owner=viewer.user, visibility__in=["private", "session"])
        yield Part("own", own)
        present = Membership.objects.filter(user=viewer.user).values("organization_id")
        yield Part("org", rows.filter(visibility="org", org__in=present))
    yield Part("public", rows.filter(visibility="public"))


@dataclass(frozen=True, slots=True)
class Plan:
    """A query against what one viewer may see: what is asked for, and how rare each of it is."""

    weights: tuple[tuple[Unit, float], ...]
    mass: float
    needed: float
    rarer: tuple[Unit, ...]
    looked_for: tuple[Chunk, ...]
    shared_is_large: bool

    @property
    def units(self) -> tuple[Unit, ...]:
        """What rows may hold."""
        return tuple(unit for unit, _ in self.weights)

    @property
    def finds_nothing(self) -> bool:
        """True when the query asks for nothing that a row could hold."""
        return not self.weights and not self.looked_for

    def strength(self, coverage: float) -> float:
        """Return how well a row fits, 0-1, comparable between queries of any length.

        Coverage of at most NEEDED_UNITS unheard-of words, and less when the query names somebody
        whom no row names.
        """
        return min(1.0, coverage * self.mass / self.needed)

    def by_words(self) -> Q:
        """Rows that hold any of what is asked for."""
        return Q(_holds(_any_of(self.units))) if self.weights else Q(pk__in=[])

    def by_characters(self, part: Part) -> Q:
        """Rows that contain one of the chunks; in a large shared set, that have a word so begun."""
        condition = Q(pk__in=[])
        for chunk in self.looked_for:
            condition |= Q(self._has_chunk(chunk, part))
        return condition

    def _has_chunk(self, chunk: Chunk, part: Part) -> Func:
        if part.is_shared and self.shared_is_large:
            begun = quote_lexeme(fold(chunk.text)) + ":*"
            return _holds(" | ".join([begun, *(unit.tsquery() for unit in chunk.units)]))
        return _contains(chunk.text)

    def matching(self, part: Part) -> Q:
        """Rows found by words or characters: what `total` and the filters count."""
        return self.by_words() | self.by_characters(part) if self.looked_for else self.by_words()

    def rank_words(self, part: Part, *, size: int) -> list[Scored]:
        """Return the rows of a part with the most coverage, 0-1; on ties the newest observed."""
        if not self.weights:
            return []
        rows = part.rows.filter(self.by_words())
        if part.is_shared and self.shared_is_large:
            if not self.rarer:
                return []
            rows = part.rows.filter(_holds(_any_of(self.rarer)))
        held = [
            Case(When(_holds(unit.tsquery()), then=Value(weight / self.mass)), default=Value(0.0))
            for unit, weight in self.weights
        ]
        return _top(rows, held, part, size)

    def rank_characters(self, part: Part, *, size: int) -> list[Scored]:
        """Return the rows of a part that contain most of the looked-for characters, 0-1."""
        if not self.looked_for:
            return []
        length = sum(len(chunk.text) for chunk in self.looked_for)
        held = [
            Case(
                When(self._has_chunk(chunk, part), then=Value(len(chunk.text) / length)),
                default=Value(0.0),
            )
            for chunk in self.looked_for
        ]
        return _top(part.rows.filter(self.by_characters(part)), held, part, size)


def _top(rows: MemoryQuerySet, held: Sequence[Case], part: Part, size: int) -> list[Scored]:
    score: Any = held[0]
    for more in held[1:]:
        score = score + more
    found = (
        rows.annotate(coverage=Func(score, template="(%(expressions)s)", output_field=FloatField()))
        .order_by("-coverage", "-observed_at", "id")
        .values_list("pk", "coverage", "visibility", "observed_at")[:size]
    )
    return [Scored(*row, part.name) for row in found]


def make_plan(query: QueryTerms, parts: Sequence[Part], *, by_characters: bool) -> Plan:
    """Count how many of the viewer's rows hold each thing asked for, and weigh it by that.

    One statement a part: exact over own and organization rows, up to COMMON_AT over public ones.
    """
    units = _with_parts(query.units)
    visible = 0
    counts = [0] * len(units)
    shared = _Shared(size=0, counts=[0] * len(units))
    for part in parts:
        if part.is_shared:
            shared = _count_shared(part, units)
            size, held = shared.size, shared.counts
        else:
            size, held = _count_exactly(part, units)
        visible += size
        counts = [a + b for a, b in zip(counts, held, strict=True)]
    rows_holding = {unit.any_of: count for unit, count in zip(units, counts, strict=True)}
    weights: dict[Unit, float] = {}
    mass = 0.0
    unheard = _idf(0, visible)
    unheard_names = 0
    for unit in query.units:
        for wanted in _standing_for(unit, rows_holding):
            count = rows_holding[wanted.any_of]
            weight = _idf(count, visible)
            mass += weight
            if count:
                weights[wanted] = weight
            elif unit in query.names:
                unheard_names += 1
    needed = min(mass, NEEDED_UNITS * unheard) + NAME_WEIGHT * unheard_names * unheard
    shared_counts = dict(zip((unit.any_of for unit in units), shared.counts, strict=True))
    return Plan(
        weights=tuple(weights.items()),
        mass=mass or 1.0,
        needed=needed or 1.0,
        rarer=_rarer(list(weights), shared_counts),
        looked_for=_looked_for(query, rows_holding) if by_characters else (),
        shared_is_large=shared.is_large,
    )


def _idf(count: int, visible: int) -> float:
    return math.log((visible + BACKGROUND_ROWS + 1) / (count + 0.5))


def _with_parts(units: Sequence[Unit]) -> list[Unit]:
    every: dict[tuple[tuple[str, ...], ...], Unit] = {}
    for unit in units:
        for each in (unit, *unit.parts):
            every.setdefault(each.any_of, each)
    return list(every.values())


def _standing_for(unit: Unit, rows_holding: dict[Any, int]) -> tuple[Unit, ...]:
    """The unit itself, or its parts when no row holds the whole and some row holds a part."""
    if rows_holding[unit.any_of] or not any(rows_holding[part.any_of] for part in unit.parts):
        return (unit,)
    return unit.parts


def _looked_for(query: QueryTerms, rows_holding: dict[Any, int]) -> tuple[Chunk, ...]:
    """Chunks to find by characters, besides or instead of words."""
    chosen = [
        chunk
        for chunk in query.chunks
        if query.is_short
        or chunk.has_characters
        or (
            not any(
                rows_holding[unit.any_of] for unit in chunk.units if unit.any_of in rows_holding
            )
            if chunk.units
            else not query.units
        )
    ]
    return tuple(chosen[:MAX_LOOKED_FOR])


def _rarer(units: Sequence[Unit], counts: dict[Any, int]) -> tuple[Unit, ...]:
    """The units that select few public rows; when all are common, the rarest of them."""
    held = sorted(
        (unit for unit in units if counts[unit.any_of]), key=lambda unit: counts[unit.any_of]
    )
    chosen: list[Unit] = []
    selected = 0
    for unit in held:
        selected += counts[unit.any_of]
        if counts[unit.any_of] >= COMMON_AT or (chosen and selected > RARE_ROWS):
            break
        chosen.append(unit)
    return tuple(chosen or held[:1])


def _count_exactly(part: Part, units: Sequence[Unit]) -> tuple[int, list[int]]:
    held = {
        f"held{place}": Count("pk", filter=Q(_holds(unit.tsquery())))
        for place, unit in enumerate(units)
    }
    found = part.rows.aggregate(size=Count("pk"), **held)
    return found["size"], [found[name] for name in held]


@dataclass(frozen=True, slots=True)
class _Shared:
    """How many public rows there are, and how many hold each unit (up to COMMON_AT)."""

    size: int
    counts: list[int]

    @property
    def is_large(self) -> bool:
        return self.size >= COMMON_AT


# Each count stops at COMMON_AT rows of `memory_public_terms` (gin over public, active rows); the
# size is the planner's own count of `memory_public_newest` once there are that many.
_SIZE_ESTIMATE = (
    "SELECT coalesce(max(reltuples), 0)::bigint FROM pg_class"
    " WHERE oid = to_regclass('memory_public_newest')"
)


def _count_shared(part: Part, units: Sequence[Unit]) -> _Shared:
    asked = [part.rows, *(part.rows.filter(_holds(unit.tsquery())) for unit in units)]
    size, *counts = bounded_counts(asked, limit=COMMON_AT)
    if size >= COMMON_AT:
        with connection.cursor() as cursor:
            cursor.execute(_SIZE_ESTIMATE)
            size = max(size, cursor.fetchone()[0])
    return _Shared(size=size, counts=counts)


def bounded_counts(asked: Sequence[MemoryQuerySet], *, limit: int) -> list[int]:
    """Count rows of several querysets in one statement, none beyond `limit`."""
    selects: list[str] = []
    parameters: list[Any] = []
    for rows in asked:
        sql, values = rows.order_by().values("visibility")[:limit].query.sql_with_params()
        selects.append(f"(SELECT count(*) FROM ({sql}) AS counted)")
        parameters.extend(values)
    statement = "SELECT " + ", ".join(selects)  # noqa: S608 - written by the ORM, values bound
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchone())
