"""How many memories a list or a search holds, and how many each filter would leave.

Own and organization rows are counted exactly; of public rows up to COUNTED, more is "at least".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count

from junior_memory import clock, lexical
from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.lexical.leg import Part, bounded_counts, make_plan, parts_of
from junior_memory.models import Agent, Memory, MemoryKind, Origin
from junior_memory.querysets import MemoryQuerySet

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


def count_parts(parts: Iterable[Part]) -> Total:
    """Count rows: exactly, but public ones up to COUNTED."""
    value, relation = 0, "exact"
    for part in parts:
        if part.is_shared:
            (count,) = bounded_counts([part.rows], limit=COUNTED + 1)
            if count > COUNTED:
                count, relation = COUNTED, "atLeast"
        else:
            count = part.rows.count()
        value += count
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
    if state == "held":
        return _summed(_grouped(seen.decidable_by(viewer).in_state(state, moment)), filters)
    if state != "active":
        return _summed(_grouped(seen.own(viewer).in_state(state, moment)), filters)
    rows = seen.active(moment)
    parts = list(parts_of(rows, viewer))
    if query.strip():
        plan = make_plan(lexical.query_terms(query), parts, by_characters=True)
        parts = [Part(part.name, part.rows.filter(plan.matching(part))) for part in parts]
    return _count_facets(parts, filters)


def _count_facets(parts: Sequence[Part], filters: Filters) -> FilterCounts:
    found: Counter[_Sort] = Counter()
    large: Part | None = None
    for part in parts:
        if part.is_shared and bounded_counts([part.rows], limit=COUNTED + 1)[0] > COUNTED:
            large = part
        else:
            found.update(_grouped(part.rows))
    counts = _summed(found, filters)
    return counts if large is None else _with_large(counts, large.rows, filters)


def _grouped(rows: MemoryQuerySet) -> Counter[_Sort]:
    groups = rows.order_by().values_list("visibility", "kind", "origin", "agent__name")
    return Counter({_Sort(*sort): count for *sort, count in groups.annotate(rows=Count("pk"))})


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


def _with_large(counts: FilterCounts, rows: MemoryQuerySet, filters: Filters) -> FilterCounts:
    """Add a public set too large to group: every choice is counted for itself, up to COUNTED."""
    choices = [("", ""), *_choices(filters)]
    asked = [
        (replace(filters, **{name: value}) if name else filters).narrow(rows)
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
