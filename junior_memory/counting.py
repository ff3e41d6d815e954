"""How many memories a list or a search holds, and how many each filter would leave.

A person's own rows are counted exactly, organization rows they wrote among them; what others share,
by their teams and with everybody, up to COUNTED together: more is "at least" (DESIGN 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from typing import Any, NamedTuple

from junior_memory import clock, lexical
from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.lexical.leg import make_plan
from junior_memory.models import Agent, Memory, MemoryKind, Origin, Visibility
from junior_memory.parts import TRUE, Fragment, Part, bounded_counts, fetch_all, parts_of

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
TOTAL, EVERYTHING = ("", "total"), ("", "everything")


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
    searched = [part for part in large if part.where is not TRUE]
    indexed = [part for part in large if part.where is TRUE and part.is_shared]
    few = [part for part, count in pairs if count and part not in searched + indexed]
    agents = dict(Agent.objects.values_list("pk", "name"))
    mine, theirs = _grouped(own, few, agents)
    theirs += _sorted_by_index(indexed, agents)
    choices = {(name, getattr(sort, name)) for sort in {*mine, *theirs} for name in FACETS}
    if searched:
        choices |= _possible(agents.values(), filters)
    wanted = {(name, value): replace(filters, **{name: value}) for name, value in choices}
    wanted |= {TOTAL: filters, EVERYTHING: replace(filters, visibility="")}
    found = _found(searched, wanted, agents)
    totals = {
        choice: Total.of(_sum(mine, chosen), _sum(theirs, chosen) + found[choice])
        for choice, chosen in wanted.items()
    }
    facets: dict[str, dict[str, Total]] = {name: {} for name in FACETS}
    for name, value in sorted(choices):
        if totals[name, value].value:
            facets[name][value] = totals[name, value]
    return FilterCounts(totals[TOTAL], totals[EVERYTHING], **facets)


def _sum(sorts: Counter[_Sort], filters: Filters) -> int:
    return sum(count for sort, count in sorts.items() if sort.fits(filters))


def _grouped(
    own: Sequence[Part], shared: Sequence[Part], agents: Mapping[Any, str]
) -> tuple[Counter[_Sort], Counter[_Sort]]:
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
    found: dict[bool, Counter[_Sort]] = {False: Counter(), True: Counter()}
    for visibility, kind, origin, agent, count, is_shared in groups:
        found[is_shared][_Sort(visibility, kind, origin, agents[agent])] += count
    return found[False], found[True]


def _sorted_by_index(parts: Sequence[Part], agents: Mapping[Any, str]) -> Counter[_Sort]:
    """Count large sets by what they may be filtered by: each sort to just beyond COUNTED.

    What a sum of such counts says is exact up to COUNTED, and beyond it is beyond it. An index of
    public rows begins with these columns (`memory_public_sorts`).
    """
    sorts = product(MemoryKind.values, Origin.values, agents)
    rows = [Fragment("(%s, %s, %s::uuid)", sort) for sort in sorts]
    statements = []
    for part in parts:
        same = "kind = sort.kind AND origin = sort.origin AND agent_id = sort.agent_id"
        within = Fragment(f"{part.within.sql} AND {same}", part.within.values)
        counted = replace(part, within=within).count_up_to(COUNTED + 1)
        visibility = Fragment("%s", (part.name,))
        pieces = [
            Fragment("SELECT"),
            visibility,
            Fragment(", sort.*,"),
            counted,
            Fragment("FROM (VALUES"),
            Fragment.join(", ", rows),
            Fragment(") AS sort (kind, origin, agent_id)"),
        ]
        statements.append(Fragment.join(" ", pieces))
    found: Counter[_Sort] = Counter()
    for visible, kind, origin, agent, count in fetch_all(statements):
        if count:
            found[_Sort(visible, kind, origin, agents[agent])] += count
    return found


def _possible(agents: Iterable[str], filters: Filters) -> set[tuple[str, str]]:
    """Return what each filter may be set to in a set that is too large to look through."""
    found = {("visibility", value) for value in (Visibility.PUBLIC.value, Visibility.ORG.value)}
    found |= {("kind", value) for value in MemoryKind.values}
    found |= {("origin", value) for value in Origin.values}
    found |= {("agent", name) for name in sorted(agents)[:MAX_AGENTS]}
    return found | ({("agent", filters.agent)} if filters.agent else set())


def _found(
    parts: Sequence[Part], wanted: Mapping[tuple[str, str], Filters], agents: Mapping[Any, str]
) -> Counter[tuple[str, str]]:
    """Count large sets that were found by words: each choice for itself, to beyond COUNTED."""
    ids = {name: key for key, name in agents.items()}

    def narrowed(part: Part, filters: Filters) -> Part:
        for column in ("kind", "origin"):
            if value := getattr(filters, column):
                part = part.having(Fragment(f"{column} = %s", (value,)))
        if filters.agent:
            part = part.having(Fragment("agent_id = %s", (ids.get(filters.agent),)))
        return part

    asked = [
        (choice, narrowed(part, filters))
        for part in parts
        for choice, filters in wanted.items()
        if filters.admits_part(part.name)
    ]
    counts = bounded_counts([part for _, part in asked], limit=COUNTED + 1)
    found: Counter[tuple[str, str]] = Counter()
    for (choice, _), count in zip(asked, counts, strict=True):
        found[choice] += count
    return found
