"""How many memories a list or a search holds, and how many each filter would leave.

Own and organization rows are counted exactly; of public rows up to COUNTED, more is "at least".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from junior_memory import clock, lexical
from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.lexical.leg import make_plan
from junior_memory.models import Agent, Memory, MemoryKind, Origin
from junior_memory.parts import Fragment, Part, bounded_counts, fetch_all, parts_of

COUNTED = 1_000
"""Public rows up to which counts are exact (DESIGN 6)."""

MAX_AGENTS = 50
"""Agents that a filter offers over a large public set."""


@dataclass(frozen=True, slots=True)
class Total:
    """How many there are: `exact`, or `atLeast` that many."""

    relation: str
    value: int


@dataclass(frozen=True, slots=True)
class FilterCounts:
    """How many memories each choice of a filter leaves, the other filters staying as they are."""

    total: Total
    visibility: dict[str, int] = field(default_factory=dict)
    kind: dict[str, int] = field(default_factory=dict)
    origin: dict[str, int] = field(default_factory=dict)
    agent: dict[str, int] = field(default_factory=dict)


class _Sort(NamedTuple):
    """The filtered columns of some rows."""

    visibility: str
    kind: str
    origin: str
    agent: str

    def fits(self, filters: Filters, *, but: str = "") -> bool:
        """True when these rows pass every filter, one aside."""
        return all(
            name == but or getattr(filters, name) in {"", getattr(self, name)}
            for name in self._fields
        )


FACETS = _Sort._fields


def count_parts(parts: Sequence[Part], *, known: Iterable[tuple[int, bool]] = ()) -> Total:
    """Count rows: exactly, but public ones up to COUNTED. One statement.

    `known` is what was counted before: how many, and whether they are shared.
    """
    value, relation = 0, "exact"
    counts = [
        Fragment(f"SELECT {limited.sql} AS rows, TRUE AS shared", limited.values)
        if part.is_shared
        else part.select(Fragment("count(*) AS rows, FALSE AS shared"))
        for part in parts
        for limited in [part.count_up_to(COUNTED + 1)]
    ]
    for count, shared in (*known, *fetch_all(counts)):
        if shared and count > COUNTED:
            relation = "atLeast"
        value += min(count, COUNTED) if shared else count
    return Total(relation, value)


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
    return _count_facets(parts, filters)


def _count_facets(parts: Sequence[Part], filters: Filters) -> FilterCounts:
    shared = [part for part in parts if part.is_shared]
    counts = bounded_counts(shared, limit=COUNTED + 1)
    large = [part for part, count in zip(shared, counts, strict=True) if count > COUNTED]
    found = _summed(_grouped([part for part in parts if part not in large]), filters)
    return _with_large(found, large[0], filters) if large else found


def _grouped(parts: Sequence[Part]) -> Counter[_Sort]:
    """Count rows by what they may be filtered by."""
    wanted = Fragment("visibility, kind, origin, agent_id, count(*)")
    tail = Fragment("GROUP BY visibility, kind, origin, agent_id")
    groups = fetch_all([part.select(wanted, tail) for part in parts])
    names = dict(Agent.objects.filter(pk__in={row[3] for row in groups}).values_list("pk", "name"))
    found: Counter[_Sort] = Counter()
    for visibility, kind, origin, agent, count in groups:
        found[_Sort(visibility, kind, origin, names[agent])] += count
    return found


def _summed(found: Counter[_Sort], filters: Filters) -> FilterCounts:
    facets: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    total = 0
    for sort, count in found.items():
        total += count if sort.fits(filters) else 0
        for name in FACETS:
            if sort.fits(filters, but=name):
                facets[name][getattr(sort, name)] += count
    return FilterCounts(
        Total("exact", total), **{name: dict(counts) for name, counts in facets.items()}
    )


def _with_large(counts: FilterCounts, part: Part, filters: Filters) -> FilterCounts:
    """Add a public set too large to group: every choice is counted for itself, up to COUNTED."""
    choices = [("", ""), *_choices(filters)]
    asked = [
        part.narrowed((replace(filters, **{name: value}) if name else filters).narrow)
        for name, value in choices
    ]
    public = dict(zip(choices, bounded_counts(asked, limit=COUNTED + 1), strict=True))
    more = public.pop(("", ""))
    facets = {name: Counter(getattr(counts, name)) for name in FACETS}
    for (name, value), count in public.items():
        if count:
            facets[name][value] += count
    return FilterCounts(
        Total("atLeast" if more > COUNTED else "exact", counts.total.value + min(more, COUNTED)),
        **{name: dict(facet) for name, facet in facets.items()},
    )


def _choices(filters: Filters) -> Iterator[tuple[str, str]]:
    yield ("visibility", "public")
    for value in MemoryKind.values:
        yield ("kind", value)
    for value in Origin.values:
        yield ("origin", value)
    agents = Agent.objects.order_by("name").values_list("name", flat=True)
    yield from (("agent", name) for name in agents[:MAX_AGENTS])
    if filters.agent and filters.agent not in agents:
        yield ("agent", filters.agent)
