"""Everything that a page of the list counts beside its rows, in one statement.

What each filter leaves, a person's own rows in each state, what waits for their word, and what is
new to them. Each is said by the one place that owns it; here they travel together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, Q, QuerySet, Value, When

from junior_memory import conflicts
from junior_memory.access import Viewer
from junior_memory.compiled import Build, compiled
from junior_memory.counting import (
    COUNTED,
    FilterCounts,
    Sorts,
    Total,
    apart,
    facets_of,
    sort_statements,
    total_of,
    total_statements,
)
from junior_memory.filters import Filters
from junior_memory.models import Memory, Origin
from junior_memory.parts import Fragment, Part, fetch, fetch_all
from junior_memory.querysets import in_state

COUNTED_STATES = ("superseded", "expired", "forgotten")
"""States other than active in which a list shows a person's own rows."""

STATE, HELD, DISAGREE, SEEN = "state", "held", "disagree", "seen"
NEW, NEW_SHARED = "new", "new shared"


@dataclass(frozen=True, slots=True)
class ListCounts:
    """What a page of the list counts; `seen` are all active memories that the person sees.

    `filters` say what each choice leaves of these, where it was asked.
    """

    states: dict[str, int]
    waiting: int
    new: Total
    seen: Total
    filters: FilterCounts | None = None


def count_list(
    viewer: Viewer,
    *,
    now: datetime,
    parts: Sequence[Part],
    filters: Filters | None = None,
    since: datetime | None = None,
) -> ListCounts:
    """Count for a list of a person whose active rows have these parts. One statement.

    With `filters`, what each choice leaves; with `since`, what came after it without the person's
    doing.
    """
    statements = [*_by_state(viewer, now), *waiting_statements(viewer, now)]
    if filters is not None:
        statements += sort_statements(*apart(parts, viewer))
    else:
        statements += [_named(one) for one in total_statements(parts, viewer)]
    if since is not None:
        statements += _new(viewer, parts, since)
    rows = fetch_all(statements)
    states = dict.fromkeys(COUNTED_STATES, 0)
    states |= {row[1]: row[5] for row in rows if row[0] == STATE}
    sorts = Sorts.read(rows)
    seen = total_of((row[5], row[1] == "shared") for row in rows if row[0] == SEEN)
    return ListCounts(
        states=states,
        waiting=sum(row[5] for row in rows if row[0] in {HELD, DISAGREE}),
        new=total_of((row[5], row[0] == NEW_SHARED) for row in rows if row[0] in {NEW, NEW_SHARED}),
        seen=sorts.total if filters is not None else seen,
        filters=facets_of(sorts, filters) if filters is not None else None,
    )


def _named(total: Fragment) -> Fragment:
    """Turn a total into a row of counts."""
    sql = (
        f"SELECT '{SEEN}', CASE WHEN shared THEN 'shared' ELSE '' END, '', '', NULL::uuid, rows"  # noqa: S608
        f" FROM ({total.sql}) AS total"
    )
    return Fragment(sql, total.values)


def agent_names(limit: int) -> list[str]:
    """Return the agents there are, the oldest first."""
    sql = "SELECT name FROM junior_memory_agent ORDER BY created_at, name LIMIT %s"
    return [row[0] for row in fetch(Fragment(sql, (limit,)))]


def count_waiting(viewer: Viewer, *, now: datetime) -> int:
    """Count what waits for a person's word: held memories and facts that disagree."""
    return sum(row[5] for row in fetch_all(waiting_statements(viewer, now)))


def waiting_statements(viewer: Viewer, now: datetime) -> list[Fragment]:
    """Return what counts what waits, as rows of counts; nothing for who may decide nothing."""
    return [
        *_counted(_held, HELD, viewer, now),
        *_counted(conflicts.open_ids, DISAGREE, viewer, now),
    ]


def _counted(build: Build, about: str, viewer: Viewer, now: datetime) -> list[Fragment]:
    found = compiled(build, viewer, now)
    if found is None:
        return []
    sql = f"SELECT '{about}', '', '', '', NULL::uuid, count(*) FROM ({found.sql}) AS counted"  # noqa: S608
    return [Fragment(sql, found.values)]


def held_rows(viewer: Viewer, now: datetime) -> Any:
    """Select the held memories that wait for a viewer's word."""
    return Memory.objects.decidable_by(viewer).in_state("held", now).unpurged()


def _held(viewer: Viewer, now: datetime) -> QuerySet[Any, Any]:
    rows: QuerySet[Any, Any] = held_rows(viewer, now)
    return rows.order_by().values("pk")


def _states(viewer: Viewer, now: datetime) -> QuerySet[Any, Any]:
    rules = {state: in_state(state, now) for state in COUNTED_STATES}
    anything = Q()
    for rule in rules.values():
        anything |= rule
    named = Case(*(When(rule, then=Value(state)) for state, rule in rules.items()))
    rows: QuerySet[Any, Any] = Memory.objects.own(viewer).filter(anything).annotate(state=named)
    return rows.order_by().values("state")


def _by_state(viewer: Viewer, now: datetime) -> list[Fragment]:
    found = compiled(_states, viewer, now)
    if found is None:
        return []
    sql = (
        f"SELECT '{STATE}', state, '', '', NULL::uuid, count(*)"  # noqa: S608 - values are bound
        f" FROM ({found.sql}) AS counted GROUP BY state"
    )
    return [Fragment(sql, found.values)]


def _new(viewer: Viewer, parts: Sequence[Part], since: datetime) -> list[Fragment]:
    """Count what came since, other than what the person asked to remember."""
    rules = [Fragment("created_at > %s", (since,))]
    if viewer.user is not None:
        rule = "(owner_id IS DISTINCT FROM %s OR origin <> %s)"
        rules.append(Fragment(rule, (viewer.user.pk, Origin.EXPLICIT.value)))
    came = [part.smaller(Fragment.join(" AND ", rules)) for part in parts]
    statements = []
    for group, about in zip(apart(came, viewer), (NEW, NEW_SHARED), strict=True):
        for part in group:
            # In the order of an index, so that it ends where counting does.
            limit = Fragment("ORDER BY created_at DESC LIMIT %s", (COUNTED + 1,))
            found = part.select(Fragment("1"), limit if part.is_shared else Fragment(""))
            sql = f"SELECT '{about}', '', '', '', NULL::uuid, count(*) FROM ({found.sql}) AS came"  # noqa: S608
            statements.append(Fragment(sql, found.values))
    return statements
