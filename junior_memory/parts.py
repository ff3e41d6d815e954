"""The rows a viewer may see, in parts that each have an index of their own.

The ORM writes who may see what (`visible_to`, filters); what is asked of those rows is spelled out
around it, with every value a parameter: a hidden selectivity costs the planner its index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakKeyDictionary

from django.core.exceptions import EmptyResultSet
from django.db import connection

from junior_memory.access import Viewer
from junior_memory.models import Memory
from junior_memory.querysets import MemoryQuerySet

COLUMNS = (
    "id",
    "visibility",
    "kind",
    "origin",
    "agent_id",
    "owner_id",
    "org_id",
    "observed_at",
    "created_at",
    "content",
    "search_vector",
)
"""What a statement may ask of a row; the planner drops what it does not."""


class Fragment(NamedTuple):
    """A piece of SQL with its parameters."""

    sql: str
    values: tuple[Any, ...] = ()

    @classmethod
    def join(cls, separator: str, pieces: Sequence[Fragment]) -> Fragment:
        """Return pieces with a separator between them."""
        return cls(
            separator.join(piece.sql for piece in pieces),
            tuple(value for piece in pieces for value in piece.values),
        )


NOTHING = Fragment("")
TRUE = Fragment("TRUE")
FALSE = Fragment("FALSE")


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows a viewer may see: `own` and `org` are read exactly, `public` is shared.

    `base` is the ORM's statement for `rows`, compiled once for all parts; `within` says which of
    them are this part, `also` what narrows it as if it were smaller, `where` is asked of their
    columns. Of organization rows `present` selects the teams that they are of.
    """

    name: str
    rows: MemoryQuerySet
    base: Fragment
    within: Fragment = TRUE
    where: Fragment = TRUE
    also: Fragment = TRUE
    present: Fragment = NOTHING

    @classmethod
    def of(cls, name: str, rows: MemoryQuerySet) -> Part:
        """Compile rows that are all of one part; the same queryset once, which takes a while."""
        base = _compiled.get(rows)
        if base is None:
            base = _compiled[rows] = _compile(rows)
        return cls(name, rows, base)

    @property
    def is_shared(self) -> bool:
        """True for rows that everyone sees, which may be very many."""
        return self.name == "public"

    def is_same_as(self, other: Part) -> bool:
        """True when both are the same rows, asked for in the same words."""
        mine, theirs = (
            (part.name, part.base, part.within, part.where, part.also) for part in (self, other)
        )
        return mine == theirs

    def having(self, where: Fragment) -> Part:
        """Return the rows of this part that meet a condition as well."""
        asked = where if self.where is TRUE else Fragment.join(" AND ", [self.where, where])
        return replace(self, where=asked)

    def smaller(self, rule: Fragment) -> Part:
        """Return the rows of this part that a condition leaves, as if there were no others."""
        also = rule if self.also is TRUE else Fragment.join(" AND ", [self.also, rule])
        return replace(self, also=also)

    def narrowed(self, narrow: Callable[[MemoryQuerySet], MemoryQuerySet]) -> Part:
        """Return the rows of this part that a filter of the ORM leaves."""
        narrowed = Part.of(self.name, narrow(self.rows))
        return replace(self, rows=narrowed.rows, base=narrowed.base)

    def select(self, wanted: Fragment, tail: Fragment = NOTHING) -> Fragment:
        """Return a SELECT over the part; `tail` is what follows its condition."""
        # Organization rows are read by organization, whatever is asked of them: without the fence
        # the planner reads public rows by their words and throws them away. Own rows have an index
        # by owner and words.
        within = self.within
        if self.also is not TRUE:
            within = Fragment.join(" AND ", [within, self.also])
        fence = " OFFSET 0" if self.name == "org" and self.where is not TRUE else ""
        sql = (
            f"(SELECT * FROM ({self.base.sql}) AS seen"  # noqa: S608 - values are bound
            f" WHERE {within.sql}{fence}) AS memory"
        )
        rows = Fragment(sql, (*self.base.values, *within.values))
        pieces = (Fragment("SELECT"), wanted, Fragment("FROM"), rows, Fragment("WHERE"), self.where)
        return Fragment.join(" ", (*pieces, tail))

    def each_team(self, wanted: Fragment, tail: Fragment = NOTHING) -> Fragment:
        """As `select`, but of each present team for itself: an index holds one team's in order."""
        if not self.present.values:
            return self.select(wanted, tail)
        within = Fragment("visibility = 'org' AND org_id = present.organization_id")
        each = replace(self, within=within).select(wanted, tail)
        sql = f"SELECT team.* FROM ({self.present.sql}) AS present, LATERAL ({each.sql}) AS team"  # noqa: S608
        return Fragment(sql, (*self.present.values, *each.values))

    def count_up_to(self, limit: int) -> Fragment:
        """Return a scalar sub-select that counts rows, none beyond `limit`."""
        counted = self.select(Fragment("1"), Fragment("LIMIT %s", (limit,)))
        sql = f"(SELECT count(*) FROM ({counted.sql}) AS counted)"  # noqa: S608 - values are bound
        return Fragment(sql, counted.values)


_compiled: WeakKeyDictionary[MemoryQuerySet, Fragment] = WeakKeyDictionary()


def remember(rows: MemoryQuerySet, statement: Fragment) -> None:
    """Take a statement of `COLUMNS` for what the ORM would say of these rows."""
    _compiled[rows] = statement


def _compile(rows: MemoryQuerySet) -> Fragment:
    try:
        return Fragment(*rows.order_by().values(*COLUMNS).query.sql_with_params())
    except EmptyResultSet:
        none = Memory.objects.filter(pk=UUID(int=0))
        return Fragment(*none.values(*COLUMNS).query.sql_with_params())


def among(ids: Iterable[UUID]) -> Fragment:
    """Return the condition that a row is one of these."""
    return Fragment("id = ANY(%s)", (list(ids),))


PRESENT = "SELECT organization_id FROM junior_memory_membership WHERE user_id = %s"
IS_MEMBER = f"{PRESENT} LIMIT 1"


def parts_of(rows: MemoryQuerySet, viewer: Viewer) -> Iterator[Part]:
    """Split rows that `visible_to` admitted.

    A narrowing only: nothing is added to what `rows` admits.
    """
    if viewer.sees_nothing:
        return
    every = Part.of("", rows)
    if viewer.user is not None:
        user = viewer.user.pk
        own = Fragment("owner_id = %s AND visibility IN ('private', 'session')", (user,))
        yield replace(every, name="own", within=own)
        if (viewer.agent is None or viewer.org is not None) and fetch_prepared(
            Fragment(IS_MEMBER, (user,))
        ):
            present = Fragment(PRESENT, (user,))
            org = Fragment(f"visibility = 'org' AND org_id IN ({PRESENT})", (user,))
            yield replace(every, name="org", within=org, present=present)
    yield replace(every, name="public", within=Fragment("visibility = 'public'"))


def fetch(statement: Fragment) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement.sql, statement.values)
        return list(cursor.fetchall())


MAX_PREPARED = 32
"""Prepared statements that a connection keeps; one takes some 100 kB of the server's memory."""


def fetch_prepared(
    statement: Fragment, *, meanwhile: Callable[[], object] | None = None
) -> list[tuple[Any, ...]]:
    """Run a statement that is asked again and again with other values, and return its rows.

    Each connection has it read and planned once, which takes a millisecond: for statements whose
    best plan is the same whatever the values. `meanwhile` is done while the server is at it.
    """
    with connection.cursor() as cursor:
        raw = connection.connection
        raw.prepare_threshold, raw.prepared_max = 0, MAX_PREPARED
        try:
            if meanwhile is None:
                cursor.execute(statement.sql, statement.values)
            else:
                # What fails, fails at the pipeline's end, past the cursor.
                with connection.wrap_database_errors, raw.pipeline():
                    cursor.execute(statement.sql, statement.values)
                    meanwhile()
        finally:
            raw.prepare_threshold = None
        return list(cursor.fetchall())


def fetch_all(
    statements: Sequence[Fragment],
    *,
    run: Callable[[Fragment], list[tuple[Any, ...]]] = fetch,
) -> list[tuple[Any, ...]]:
    """Run several SELECTs of the same columns in one round trip."""
    if not statements:
        return []
    return run(Fragment.join(" UNION ALL ", [Fragment(f"({s.sql})", s.values) for s in statements]))


def bounded_counts(parts: Sequence[Part], *, limit: int) -> list[int]:
    """Count the rows of several parts in one statement, none beyond `limit`."""
    counts = Fragment.join(", ", [part.count_up_to(limit) for part in parts])
    return list(fetch(Fragment(f"SELECT {counts.sql}", counts.values))[0]) if parts else []
