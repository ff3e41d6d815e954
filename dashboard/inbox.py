"""What waits for a person's word: facts that disagree, held memories, and for staff public ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dashboard import words
from dashboard.query import ACTIVE
from dashboard.rows import Row, read_rows
from junior_memory import conflicts, moderation
from junior_memory.access import Viewer
from junior_memory.errors import NotFound
from junior_memory.list_counts import held_rows
from junior_memory.models import Memory, Visibility
from junior_memory.records import After, Rows

PAGE_SIZE = 25
HELD = "held"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One held memory, why it waits, and for staff what was said against it."""

    row: Row
    reports: tuple[str, ...] = ()

    @property
    def is_public(self) -> bool:
        """True for what everyone would see: staff decide."""
        return self.row.memory.visibility == Visibility.PUBLIC


@dataclass(frozen=True, slots=True)
class Side:
    """One of two memories that disagree, and what choosing it is called."""

    keep: str
    row: Row
    is_newer: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories that cannot both be true, as adjudication thinks."""

    id: UUID
    first: Side
    second: Side
    apart: str

    @property
    def sides(self) -> tuple[Side, Side]:
        """The later one on the right, where the eye ends."""
        return (self.second, self.first) if self.first.is_newer else (self.first, self.second)


@dataclass(frozen=True, slots=True)
class Inbox:
    """One page of what waits: pairs on the first one, held memories newest first."""

    pairs: tuple[Pair, ...]
    held: tuple[Waiting, ...]
    after: After | None
    is_first: bool

    @property
    def own(self) -> list[Waiting]:
        """What waits for this person alone."""
        return [one for one in self.held if not one.is_public]

    @property
    def public(self) -> list[Waiting]:
        """What waits for staff."""
        return [one for one in self.held if one.is_public]

    @property
    def is_empty(self) -> bool:
        """True when nothing waits."""
        return not self.pairs and not self.held

    @property
    def rows(self) -> Rows[Waiting]:
        """The held memories as a stretch of a list, for the address of its next page."""
        return Rows(self.held, self.after)


def read_inbox(viewer: Viewer, *, now: datetime, after: After | None = None) -> Inbox:
    """Return one page of what waits, in a fixed number of queries."""
    found = held_rows(viewer, now)
    if after is not None:
        found = found.after(after.at, after.id)
    page = list(found.newest_first().for_list()[: PAGE_SIZE + 1])
    shown = page[:PAGE_SIZE]
    last = shown[-1] if len(page) > PAGE_SIZE else None
    return Inbox(
        pairs=read_pairs(viewer, now=now) if after is None else (),
        held=_waiting(viewer, shown, now=now),
        after=After(last.created_at, last.pk) if last else None,
        is_first=after is None,
    )


def read_waiting(viewer: Viewer, memory_id: UUID, *, now: datetime) -> Waiting:
    """Return one held memory. Raises NotFound."""
    found = _waiting(viewer, list(held_rows(viewer, now).filter(pk=memory_id).for_list()), now=now)
    if not found:
        raise NotFound
    return found[0]


def read_pairs(viewer: Viewer, *, now: datetime) -> tuple[Pair, ...]:
    """Return the open conflicts, oldest first."""
    found = conflicts.open_conflicts(viewer, now=now)
    memories = [memory for one in found for memory in (one.first, one.second)]
    rows = read_rows(viewer, memories, state=ACTIVE, now=now)
    by_id = {row.memory.pk: row for row in rows}
    return tuple(_pair(one.id, by_id[one.first.pk], by_id[one.second.pk]) for one in found)


def read_pair(viewer: Viewer, conflict_id: UUID, *, now: datetime) -> Pair:
    """Return one open conflict. Raises NotFound."""
    for pair in read_pairs(viewer, now=now):
        if pair.id == conflict_id:
            return pair
    raise NotFound


def _pair(conflict_id: UUID, first: Row, second: Row) -> Pair:
    when = first.memory.observed_at, second.memory.observed_at
    return Pair(
        id=conflict_id,
        first=Side("first", first, when[0] > when[1]),
        second=Side("second", second, when[0] <= when[1]),
        apart=words.apart(*when),
    )


def _waiting(viewer: Viewer, memories: Sequence[Memory], *, now: datetime) -> tuple[Waiting, ...]:
    rows = read_rows(viewer, memories, state=HELD, now=now)
    reports = moderation.reports_of(viewer, [memory.pk for memory in memories])
    return tuple(
        Waiting(row, tuple(report.reason for report in reports.get(row.memory.pk, ())))
        for row in rows
    )
