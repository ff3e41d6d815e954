"""How many of the viewer's rows hold what a query asks for.

What holds any of it is read once: every row says which of the units it holds, and what holds the
same counts together, with its latest rows. Their ranking follows from that without a second look,
because a row's score is a matter of what it holds. Public rows are found by the index over their
terms, but not by terms that are common among them, whose count stops at COMMON_AT; a person's many
rows by the index over owners and terms, fewer ones all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from junior_memory.lexical.common_terms import common_terms, many_rows
from junior_memory.lexical.queries import Unit
from junior_memory.parts import FALSE, NOTHING, Fragment, Part, fetch_all, fetch_prepared

COMMON_AT = 1_000
"""Public rows from which a term is common; counting stops there."""

LARGE_AT = 2_000
"""Public rows, or one person's, from which they are read by the words they hold alone."""

MAX_READ = 4_000
"""Public rows that are read for what they hold; beyond, units are counted one by one."""

MAX_COMBINED = 8
"""Units up to which rows are counted by what they hold together: there are 255 combinations."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One row's place in one list, with what ties are decided by."""

    id: UUID
    score: float
    visibility: str
    observed_at: datetime
    part: str


@dataclass(slots=True)
class Combination:
    """The rows of a part that hold the same units: how many, and the latest observed of them.

    The latest with id, visibility and the seconds of their time.
    """

    count: int = 0
    latest: list[tuple[UUID, str, float]] = field(default_factory=list)


@dataclass(slots=True)
class Counted:
    """How many rows a part has, and how many of them hold each unit.

    `combinations`, where rows were read, by the bits of the units held, each with up to `depth`
    rows: all rows that hold one of the units of `read`.
    """

    part: Part
    size: int
    held: list[int]
    combinations: dict[int, Combination] | None = None
    read: int = 0
    depth: int = 0

    def covers(self, part: Part, bits: int, *, depth: int) -> bool:
        """True when the combinations hold what ranks first of the rows that hold one of `bits`."""
        return (
            self.combinations is not None
            and depth <= self.depth
            and not bits & ~self.read
            and part.is_same_as(self.part)
        )


def holds(tsquery: str) -> Fragment:
    """Return the condition that a row holds something."""
    return Fragment("search_vector @@ %s::tsquery", (tsquery,))


def any_of(units: Sequence[Unit]) -> str:
    """Return the tsquery for rows that hold one of the units."""
    return " | ".join(unit.tsquery() for unit in units)


def take(parts: Sequence[Part], units: Sequence[Unit], *, depth: int) -> dict[str, Counted]:
    """Count each part by name; `depth` rows of each combination come along.

    One statement, and another one when too many public rows hold the rarer units together.
    """
    plans = [_plan(part, units, depth) for part in parts]
    found = _fetched(plans, units)
    over = [
        Counted(each.part, 0, [0] * len(units))
        for each in found.values()
        if each.part.is_shared and _rows_read(each) > MAX_READ
    ]
    if over:
        found |= _fetched(over, units)
    for counted in found.values():
        if counted.part.is_shared:
            _note_common(units, counted.held)
        elif counted.size >= LARGE_AT and _is_of_one_owner(counted.part):
            many_rows.add(_owner_of(counted.part), LARGE_AT)
    return found


def _is_of_one_owner(part: Part) -> bool:
    return part.name == "own" and len(part.within.values) == 1


def _owner_of(part: Part) -> str:
    return " ".join(map(str, part.within.values))


def _plan(part: Part, units: Sequence[Unit], depth: int) -> Counted:
    """Say how a part will be counted."""
    counted = Counted(part, 0, [0] * len(units))
    if len(units) > MAX_COMBINED:
        return counted
    counted.combinations, counted.depth = {}, depth
    for place, unit in enumerate(units):
        if not (part.is_shared and common_terms.holds(unit.tsquery(), COMMON_AT)):
            counted.read |= 1 << place
    return counted


def _fetched(plans: Sequence[Counted], units: Sequence[Unit]) -> dict[str, Counted]:
    found = {counted.part.name: counted for counted in plans}
    for name, size, held, bits, count, memory_id, visibility, observed in fetch_all(
        [_statement(counted, units) for counted in plans], run=fetch_prepared
    ):
        counted = found[name]
        if bits is None:
            counted.size, counted.held = size or 0, held or counted.held
        elif counted.combinations is not None:
            combination = counted.combinations.setdefault(bits, Combination())
            if memory_id is None:
                combination.count = count
            else:
                combination.latest.append((memory_id, visibility, observed))
    for counted in plans:
        _add_up(counted)
    return found


def _rows_read(counted: Counted) -> int:
    return sum(each.count for each in (counted.combinations or {}).values())


def _statement(counted: Counted, units: Sequence[Unit]) -> Fragment:
    if counted.combinations is not None:
        return _read_once(counted, units)
    if counted.part.is_shared:
        return _count_shared(counted.part, units)
    return _count_exactly(counted.part, units)


def _add_up(counted: Counted) -> None:
    """Count units by the combinations that hold them; those not read by are common."""
    if counted.combinations is None:
        return
    counted.size = max(counted.size, _rows_read(counted))
    for place in range(len(counted.held)):
        count = sum(each.count for bits, each in counted.combinations.items() if bits >> place & 1)
        if counted.part.is_shared:
            count = min(count, COMMON_AT) if counted.read >> place & 1 else COMMON_AT
        counted.held[place] = count


def _note_common(units: Sequence[Unit], held: Sequence[int]) -> None:
    for unit, count in zip(units, held, strict=True):
        if count >= COMMON_AT and not common_terms.holds(unit.tsquery(), COMMON_AT):
            common_terms.add(unit.tsquery(), COMMON_AT)


def _counts_alone(name: str, size: Fragment, counts: Sequence[Fragment]) -> Fragment:
    held = Fragment.join(", ", counts)
    sql = (
        f"'{name}', {size.sql}, ARRAY[{held.sql}]::bigint[], NULL::bigint, NULL::bigint,"
        " NULL::uuid, NULL::varchar, NULL::float8"
    )
    return Fragment(sql, (*size.values, *held.values))


def _read_once(counted: Counted, units: Sequence[Unit]) -> Fragment:
    """What holds one of the units, by what it holds; of few rows everything is read."""
    part = counted.part
    by = [unit for place, unit in enumerate(units) if counted.read >> place & 1]
    if part.is_shared:
        read = part.having(holds(any_of(by)) if by else FALSE)
        size, tail = _size_of_shared(part), Fragment("LIMIT %s", (MAX_READ + 1,))
    elif by and _is_of_one_owner(part) and many_rows.holds(_owner_of(part), LARGE_AT):
        read, size, tail = part.having(holds(any_of(by))), _size_of_own(part), NOTHING
    else:
        read, size, tail = part, Fragment("NULL::bigint"), NOTHING
    rows = read.select(Fragment.join(", ", [_ROW, _bits(units)]), tail)
    empty = f"SELECT '{part.name}', NULL::bigint, NULL::bigint[], bits"
    sql = f"""
        WITH held AS MATERIALIZED ({rows.sql})
        SELECT '{part.name}', {size.sql}, NULL::bigint[], NULL::bigint, NULL::bigint,
        NULL::uuid, NULL::varchar, NULL::float8
        UNION ALL
        {empty}, count(*), NULL::uuid, NULL::varchar, NULL::float8 FROM held GROUP BY bits
        UNION ALL
        {empty}, NULL::bigint, id, visibility, extract(epoch FROM observed_at)::float8
        FROM (
            SELECT *, row_number() OVER (PARTITION BY bits ORDER BY observed_at DESC, id) AS place
            FROM held WHERE bits > 0
        ) AS latest WHERE place <= %s
    """  # noqa: S608 - values are bound
    return Fragment(sql, (*rows.values, *size.values, counted.depth))


def _size_of_own(part: Part) -> Fragment:
    """By an index alone: with what has expired since the last clean-up, whatever the agent."""
    sql = """
        (SELECT count(*) FROM junior_memory_memory WHERE owner_id = %s
        AND held_at IS NULL AND archived_at IS NULL AND superseded_at IS NULL)
    """
    return Fragment(sql, part.within.values)


_ROW = Fragment("id, visibility, observed_at")


def _bits(units: Sequence[Unit]) -> Fragment:
    """Return which units a row holds; what holds none is told by a single look."""
    if not units:
        return Fragment("0::bigint AS bits")
    one = holds(any_of(units))
    each = [holds(unit.tsquery()) for unit in units]
    terms = Fragment.join(
        " + ",
        [
            Fragment(f"CASE WHEN {condition.sql} THEN {1 << place} ELSE 0 END", condition.values)
            for place, condition in enumerate(each)
        ],
    )
    sql = f"CASE WHEN {one.sql} THEN {terms.sql} ELSE 0 END::bigint AS bits"
    return Fragment(sql, (*one.values, *terms.values))


def _count_exactly(part: Part, units: Sequence[Unit]) -> Fragment:
    counts = [
        Fragment(f"count(*) FILTER (WHERE {condition.sql})", condition.values)
        for condition in (holds(unit.tsquery()) for unit in units)
    ]
    return part.select(_counts_alone(part.name, Fragment("count(*)"), counts))


# The planner's own count of public rows, from the index that serves the newest-first list: to count
# a large set up to LARGE_AT, the index would be read from end to end.
_SIZE_ESTIMATE = (
    "(SELECT coalesce(max(reltuples), 0)::bigint FROM pg_class"
    " WHERE oid = to_regclass('memory_public_newest'))"
)


def _size_of_shared(part: Part) -> Fragment:
    few = part.count_up_to(LARGE_AT)
    sql = f"CASE WHEN {_SIZE_ESTIMATE} >= %s THEN {_SIZE_ESTIMATE} ELSE {few.sql} END"
    return Fragment(sql, (LARGE_AT, *few.values))


def _count_shared(part: Part, units: Sequence[Unit]) -> Fragment:
    """Each count stops at COMMON_AT rows of `memory_public_terms` (gin over active public rows).

    Terms that were common lately are not counted again.
    """
    counts = [
        Fragment("%s::bigint", (COMMON_AT,))
        if common_terms.holds(unit.tsquery(), COMMON_AT)
        else part.having(holds(unit.tsquery())).count_up_to(COMMON_AT)
        for unit in units
    ]
    wanted = _counts_alone(part.name, _size_of_shared(part), counts)
    return Fragment(f"SELECT {wanted.sql}", wanted.values)
