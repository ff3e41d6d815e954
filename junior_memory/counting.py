"""How many memories a list or a search holds, and how many each filter would leave.

A person's own rows are counted exactly, organization rows they wrote among them; what others share,
by their teams and with everybody, up to COUNTED together: more is "at least" (DESIGN 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from junior_memory import clock, lexical
from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.lexical.leg import Plan, make_plan
from junior_memory.models import Memory, MemoryKind, Origin, Visibility
from junior_memory.parts import Fragment, Part, bounded_counts, fetch_all, parts_of

COUNTED = 1_000
"""Shared rows up to which counts are exact (DESIGN 6)."""

SAMPLED = 4_000
"""Shared rows found by words of which each is looked at; of more these are."""

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

    def choices(self, filters: Filters) -> list[tuple[str, str]]:
        """Return the choices of filters that leave these rows, the others staying as they are."""
        missed = [
            name for name in FACETS if getattr(filters, name) not in {"", getattr(self, name)}
        ]
        if len(missed) > 1:
            return []
        found = [(name, getattr(self, name)) for name in missed or FACETS]
        found += [] if missed else [TOTAL]
        return found + ([EVERYTHING] if missed in ([], ["visibility"]) else [])


FACETS = _Sort._fields
TOTAL, EVERYTHING = ("", "total"), ("", "everything")


def apart(parts: Iterable[Part], viewer: Viewer) -> tuple[list[Part], list[Part]]:
    """Tell a person's own rows from what others share; organization rows are some of both."""
    own: list[Part] = []
    shared: list[Part] = []
    for part in parts:
        if part.name == "org" and viewer.user is not None:
            for kept, rule in ((own, "owner_id = %s"), (shared, "owner_id IS DISTINCT FROM %s")):
                kept.append(part.smaller(Fragment(rule, (viewer.user.pk,))))
        else:
            (shared if part.is_shared else own).append(part)
    return own, shared


def count_parts(
    parts: Sequence[Part], viewer: Viewer, *, known: Iterable[tuple[int, bool]] = ()
) -> Total:
    """Count rows: exactly, but shared ones up to COUNTED. One statement.

    `known` is what was counted before: how many, and whether they are shared.
    """
    return total_of((*known, *fetch_all(total_statements(parts, viewer))))


def total_of(counts: Iterable[tuple[int, bool]]) -> Total:
    """Add counts of rows up, each with whether they are shared."""
    sums = {True: 0, False: 0}
    for count, is_shared in counts:
        sums[is_shared] += count
    return Total.of(sums[False], sums[True])


def total_statements(parts: Sequence[Part], viewer: Viewer) -> list[Fragment]:
    """Return what counts parts: how many rows, and whether they are shared."""
    mine, theirs = apart(parts, viewer)
    counts = [part.select(Fragment("count(*) AS rows, FALSE AS shared")) for part in mine]
    for part in theirs:
        limited = part.count_up_to(COUNTED + 1)
        counts.append(Fragment(f"SELECT {limited.sql} AS rows, TRUE AS shared", limited.values))
    return counts


def count_by_filter(
    viewer: Viewer,
    *,
    query: str = "",
    filters: Filters = NO_FILTERS,
    state: str = "active",
    now: datetime | None = None,
    plan: Plan | None = None,
) -> FilterCounts:
    """Count what each choice of each filter would leave of a list or a search.

    `plan` is that of the same search, where it has been made.

    In any state but active these are the viewer's own rows (for held ones: those they may decide).
    """
    moment = now or clock.now()
    seen = Memory.objects.visible_to(viewer)
    if state != "active":
        seen = seen.decidable_by(viewer) if state == "held" else seen.own(viewer)
    parts = list(parts_of(seen.in_state(state, moment), viewer))
    if state not in {"active", "held"}:
        # One's own rows are never public ones, which no index knows.
        parts = [part for part in parts if not part.is_shared]
    if query.strip():
        plan = plan or make_plan(lexical.query_terms(query), parts, by_characters=True)
        parts = [part.having(plan.matching(part)) for part in parts]
    own, shared = apart(parts, viewer)
    if state == "active" and not query.strip():
        return facets_of(Sorts.read(fetch_all(sort_statements(own, shared))), filters)
    return _count_facets(own, shared, filters)


def _count_facets(own: Sequence[Part], shared: Sequence[Part], filters: Filters) -> FilterCounts:
    rows = fetch_all([_AGENTS, *map(_grouped, own), *map(_sampled, shared)])
    read: Counter[str] = Counter()
    for about, visibility, *_, count in rows:
        read[visibility] += count if about == SHARED else 0
    large = [part for part in shared if read[part.name] >= SAMPLED]
    return facets_of(Sorts.read(rows), filters, large=large)


def facets_of(sorts: Sorts, filters: Filters, *, large: Sequence[Part] = ()) -> FilterCounts:
    """Add sorts up to what each choice leaves.

    Of large sets the sorts are those of some rows: choices that these leave more than COUNTED of
    are known, the others are counted each for itself.
    """
    names = {part.name for part in large}
    mine, theirs = _by_choice(sorts.own, filters), _by_choice(sorts.shared, filters)
    offered = {TOTAL, EVERYTHING, *mine, *theirs}
    if large:
        offered |= _possible(sorts.agents.values(), filters)
        asked = {TOTAL: filters, EVERYTHING: replace(filters, visibility="")}
        asked |= {each: replace(filters, **{each[0]: each[1]}) for each in offered if each[0]}
        asked = {each: chosen for each, chosen in asked.items() if theirs[each] <= COUNTED}
        whole = Counter(
            {s: count for s, count in sorts.shared.items() if s.visibility not in names}
        )
        exact, found = _by_choice(whole, filters), _found(large, asked, sorts.agents)
        theirs.update({each: exact[each] + found[each] - theirs[each] for each in asked})
    totals = {choice: Total.of(mine[choice], theirs[choice]) for choice in offered}
    facets: dict[str, dict[str, Total]] = {name: {} for name in FACETS}
    for name, value in sorted(offered - {TOTAL, EVERYTHING}):
        if totals[name, value].value:
            facets[name][value] = totals[name, value]
    return FilterCounts(totals[TOTAL], totals[EVERYTHING], **facets)


def _by_choice(sorts: Counter[_Sort], filters: Filters) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for sort, count in sorts.items():
        for choice in sort.choices(filters):
            found[choice] += count
    return found


OWN, SHARED, AGENT = "own", "shared", "agent"
"""What a row of counts is about: rows of one's own, rows that others share, the name of an agent.

A row is what it is about, three words, an id and a count.
"""

_AGENTS = Fragment("SELECT 'agent', name, '', '', id, 0::bigint FROM junior_memory_agent")
_SORT = "visibility, kind, origin, agent_id"


@dataclass(frozen=True, slots=True)
class Sorts:
    """How many rows there are of each sort, one's own and shared ones, and the agents' names."""

    own: Counter[_Sort]
    shared: Counter[_Sort]
    agents: dict[Any, str]

    @property
    def total(self) -> Total:
        """All of them."""
        return Total.of(self.own.total(), self.shared.total())

    @classmethod
    def read(cls, rows: Sequence[tuple[Any, ...]]) -> Sorts:
        """Read rows of counts; what is about anything else is left out."""
        agents = {row[4]: row[1] for row in rows if row[0] == AGENT}
        found: dict[str, Counter[_Sort]] = {OWN: Counter(), SHARED: Counter()}
        for about, visibility, kind, origin, agent, count in rows:
            if about in found and count:
                found[about][_Sort(visibility, kind, origin, agents[agent])] += count
        return cls(found[OWN], found[SHARED], agents)


def sort_statements(own: Sequence[Part], shared: Sequence[Part]) -> list[Fragment]:
    """Return what counts rows by what they may be filtered by, each by an index in that order."""
    each = [(part, about) for parts, about in ((own, OWN), (shared, SHARED)) for part in parts]
    return [
        _AGENTS,
        *(
            _sorted_by_index(part) if part.is_shared else _by_sort(part, about)
            for part, about in each
        ),
    ]


def _by_sort(part: Part, about: str) -> Fragment:
    """Count all of a part by sort, of its teams each for itself (`memory_org_sorts`)."""
    wanted = Fragment(f"{_SORT}, count(*) AS rows")
    found = part.each_team(wanted, Fragment("GROUP BY agent_id, visibility, kind, origin"))
    sql = f"SELECT '{about}', {_SORT}, rows FROM ({found.sql}) AS sorts"  # noqa: S608 - bound
    return Fragment(sql, found.values)


def _grouped(part: Part) -> Fragment:
    """Count rows of one's own that were found by words, by sort."""
    return part.select(Fragment(f"'{OWN}', {_SORT}, count(*)"), Fragment(f"GROUP BY {_SORT}"))


def _sampled(part: Part) -> Fragment:
    """Count shared rows that were found by words, by sort: all of them up to SAMPLED."""
    some = part.select(Fragment(_SORT), Fragment("LIMIT %s", (SAMPLED,)))
    sql = f"SELECT '{SHARED}', {_SORT}, count(*) FROM ({some.sql}) AS sampled GROUP BY {_SORT}"  # noqa: S608
    return Fragment(sql, some.values)


_EVERY_SORT = Fragment(
    "unnest(%s::text[]) AS kind, unnest(%s::text[]) AS origin, junior_memory_agent AS agent",
    (MemoryKind.values, Origin.values),
)


def _sorted_by_index(part: Part) -> Fragment:
    """Count public rows by what they may be filtered by: each sort to just beyond COUNTED.

    What a sum of such counts says is exact up to COUNTED, and beyond it is beyond it. An index of
    public rows begins with these columns (`memory_public_sorts`).
    """
    same = Fragment("kind = sort.kind AND origin = sort.origin AND agent_id = sort.agent_id")
    counted = part.smaller(same).count_up_to(COUNTED + 1)
    sql = (
        f"SELECT '{SHARED}', '{part.name}', sort.kind, sort.origin, sort.agent_id, {counted.sql}"  # noqa: S608
        f" FROM (SELECT kind, origin, agent.id AS agent_id FROM {_EVERY_SORT.sql}) AS sort"
    )
    return Fragment(sql, (*counted.values, *_EVERY_SORT.values))


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
