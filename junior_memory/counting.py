"""How many memories a list or a search holds, and how many each filter would leave.

A person's own rows are counted exactly, organization rows they wrote among them; what others share,
by their teams and with everybody, up to COUNTED together: more is "at least" (DESIGN 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from junior_memory import clock, lexical
from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.lexical.leg import make_plan
from junior_memory.models import Agent, Memory, MemoryKind, Origin, Visibility
from junior_memory.parts import Fragment, Part, bounded_counts, fetch_all, parts_of
from junior_memory.querysets import MemoryQuerySet

COUNTED = 1_000
"""Shared rows up to which counts are exact (DESIGN 6)."""

MAX_AGENTS = 50
"""Agents that a filter offers over a large shared set."""


@dataclass(frozen=True, slots=True)
class Total:
    """How many there are: `exact`, or `atLeast` that many."""

    relation: str
    value: int

    @classmethod
    def of(cls, own: int, shared: int) -> Total:
        """Add own rows and shared ones, which were counted to just beyond COUNTED."""
        if shared > COUNTED:
            return cls("atLeast", own + COUNTED)
        return cls("exact", own + shared)


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """How many memories each choice of a filter leaves, the other filters staying as they are.

    `everything` is what the list holds without its filter by visibility.
    """

    total: Total
    everything: Total
    visibility: dict[str, Total] = field(default_factory=dict)
    kind: dict[str, Total] = field(default_factory=dict)
    origin: dict[str, Total] = field(default_factory=dict)
    agent: dict[str, Total] = field(default_factory=dict)


class _Sort(NamedTuple):
    """The filtered columns of some rows."""

    visibility: str
    kind: str
    origin: str
    agent: str

    def fits(self, filters: Filters) -> bool:
        """True when these rows pass every filter."""
        return all(getattr(filters, name) in {"", getattr(self, name)} for name in self._fields)


FACETS = _Sort._fields


def _apart(parts: Iterable[Part], viewer: Viewer) -> tuple[list[Part], list[Part]]:
    """Tell a person's own rows from what others share; organization rows are some of both."""
    own: list[Part] = []
    shared: list[Part] = []
    for part in parts:
        if part.name == "org" and viewer.user is not None:
            for kept, rule in ((own, "owner_id = %s"), (shared, "owner_id IS DISTINCT FROM %s")):
                written = Fragment(rule, (viewer.user.pk,))
                within = Fragment.join(" AND ", [part.within, written])
                kept.append(replace(part, within=within))
        else:
            (shared if part.is_shared else own).append(part)
    return own, shared


def count_parts(
    parts: Sequence[Part], viewer: Viewer, *, known: Iterable[tuple[int, bool]] = ()
) -> Total:
    """Count rows: exactly, but shared ones up to COUNTED. One statement.

    `known` is what was counted before: how many, and whether they are shared.
    """
    mine, theirs = _apart(parts, viewer)
    counts = [part.select(Fragment("count(*) AS rows, FALSE AS shared")) for part in mine]
    for part in theirs:
        limited = part.count_up_to(COUNTED + 1)
        counts.append(Fragment(f"SELECT {limited.sql} AS rows, TRUE AS shared", limited.values))
    sums = {True: 0, False: 0}
    for count, is_shared in (*known, *fetch_all(counts)):
        sums[is_shared] += count
    return Total.of(sums[False], sums[True])


def count_by_filter(
    viewer: Viewer,
    *,
    query: str = "",
    filters: Filters = NO_FILTERS,
    state: str = "active",
    now: datetime | None = None,
) -> FilterCounts:
    """Count what each choice of each filter would leave of a list or a search.

    In any state but active these are the viewer's own rows (for held ones: those they may decide).
    """
    moment = now or clock.now()
    seen = Memory.objects.visible_to(viewer)
    if state != "active":
        seen = seen.decidable_by(viewer) if state == "held" else seen.own(viewer)
    parts = list(parts_of(seen.in_state(state, moment), viewer))
    if query.strip():
        plan = make_plan(lexical.query_terms(query), parts, by_characters=True)
        parts = [part.having(plan.matching(part)) for part in parts]
    return _count_facets(*_apart(parts, viewer), filters)


def _count_facets(own: Sequence[Part], shared: Sequence[Part], filters: Filters) -> FilterCounts:
    counts = bounded_counts(shared, limit=COUNTED + 1)
    pairs = list(zip(shared, counts, strict=True))
    large = [part for part, count in pairs if count > COUNTED]
    small = [part for part, count in pairs if 0 < count <= COUNTED]
    sorts = _grouped(own, small)
    choices = sorted(_choices(sorts, filters, is_large=bool(large)))
    wanted = {(name, value): _chosen(filters, name, value) for name, value in choices}
    wanted |= {("", ""): filters, ("everything", ""): replace(filters, visibility="")}
    more = _beyond(large, wanted)
    totals = {
        choice: Total.of(
            _sum(sorts[False], chosen), _sum(sorts[True], chosen) + more.get(choice, 0)
        )
        for choice, chosen in wanted.items()
    }
    facets: dict[str, dict[str, Total]] = {name: {} for name in FACETS}
    for name, value in choices:
        if totals[name, value].value:
            facets[name][value] = totals[name, value]
    return FilterCounts(totals["", ""], totals["everything", ""], **facets)


def _sum(sorts: Counter[_Sort], filters: Filters) -> int:
    return sum(count for sort, count in sorts.items() if sort.fits(filters))


def _grouped(own: Sequence[Part], shared: Sequence[Part]) -> dict[bool, Counter[_Sort]]:
    """Count rows by what they may be filtered by: own ones, and those that others share."""
    tail = Fragment("GROUP BY visibility, kind, origin, agent_id")
    groups = fetch_all(
        [
            part.select(
                Fragment(f"visibility, kind, origin, agent_id, count(*), {is_shared}"), tail
            )
            for parts, is_shared in ((own, False), (shared, True))
            for part in parts
        ]
    )
    names = dict(Agent.objects.filter(pk__in={row[3] for row in groups}).values_list("pk", "name"))
    found: dict[bool, Counter[_Sort]] = {False: Counter(), True: Counter()}
    for visibility, kind, origin, agent, count, is_shared in groups:
        found[is_shared][_Sort(visibility, kind, origin, names[agent])] += count
    return found


def _beyond(
    large: Sequence[Part], wanted: dict[tuple[str, str], Filters]
) -> Counter[tuple[str, str]]:
    """Count sets too large to group: every choice for itself, to just beyond COUNTED."""
    if not large:
        return Counter()
    named = {filters.agent for filters in wanted.values()}
    agents = dict(Agent.objects.filter(name__in=named).values_list("name", "pk"))

    def narrow(rows: MemoryQuerySet, filters: Filters) -> MemoryQuerySet:
        narrowed = replace(filters, agent="").narrow(rows)
        return narrowed.filter(agent=agents.get(filters.agent)) if filters.agent else narrowed

    asked = [
        (choice, part.narrowed(partial(narrow, filters=filters)))
        for part in large
        for choice, filters in wanted.items()
        if filters.admits_part(part.name)
    ]
    counts = bounded_counts([part for _, part in asked], limit=COUNTED + 1)
    found: Counter[tuple[str, str]] = Counter()
    for (choice, _), count in zip(asked, counts, strict=True):
        found[choice] += count
    return found


def _chosen(filters: Filters, name: str, value: str) -> Filters:
    return replace(filters, **{name: value})


def _choices(
    sorts: dict[bool, Counter[_Sort]], filters: Filters, *, is_large: bool
) -> set[tuple[str, str]]:
    """Return what each filter may be set to: what occurs, or in a large set may occur."""
    found = {
        (name, getattr(sort, name)) for each in sorts.values() for sort in each for name in FACETS
    }
    if not is_large:
        return found
    agents = Agent.objects.order_by("name").values_list("name", flat=True)
    found |= {("visibility", value) for value in (Visibility.PUBLIC.value, Visibility.ORG.value)}
    found |= {("kind", value) for value in MemoryKind.values}
    found |= {("origin", value) for value in Origin.values}
    found |= {("agent", name) for name in agents[:MAX_AGENTS]}
    return found | ({("agent", filters.agent)} if filters.agent else set())
