"""What the ORM says of the rows a person may see, compiled once for everyone who asks alike.

Between two people only values differ: who asks, and when. So a statement is compiled for two
made-up people at two moments; where they differ by nothing but who and when, what was compiled
serves everybody, with their own values bound. Whatever differs by more is compiled each time, and
so is what an agent asks for, whose namespace decides the shape of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet

from junior_memory.access import Viewer
from junior_memory.models import Memory, User
from junior_memory.parts import COLUMNS, Fragment, among, fetch, remember
from junior_memory.querysets import MemoryQuerySet

Build = Callable[[Viewer, datetime], QuerySet[Any, Any]]
"""Says what is read for a viewer at a moment; a function of a module, by which it is known."""


Rows = Callable[[Viewer, datetime], MemoryQuerySet]


class _Slot(Enum):
    """A place in a statement that each asking fills."""

    WHO = "who"
    WHO_AS_TEXT = "who as text"
    WHEN = "when"


class _Made(NamedTuple):
    """A made-up asker, with the values that tell them from the other one."""

    who: UUID
    when: datetime

    def viewer(self, *, is_staff: bool) -> Viewer:
        """Return a viewer who differs from the other one in all but being staff."""
        name, other = str(self.who)[-4:], self.when + timedelta(days=1)
        user = User(
            id=self.who,
            email=f"{name}@made.example",
            display_name=name,
            is_staff=is_staff,
            language=name,
            time_zone=name,
            public_use=name,
            never_learn_topics=[name],
            created_at=other,
            email_verified_at=other,
            learning_off_at=other,
            recall_off_at=other,
            last_visit_at=other,
        )
        return Viewer(user=user)

    @property
    def slots(self) -> dict[Any, _Slot]:
        return {self.who: _Slot.WHO, str(self.who): _Slot.WHO_AS_TEXT, self.when: _Slot.WHEN}


_FIRST = _Made(UUID("5eed0000-0000-4000-8000-000000000001"), datetime(1970, 1, 1, 1, tzinfo=UTC))
_SECOND = _Made(UUID("5eed0000-0000-4000-8000-000000000002"), datetime(1970, 1, 2, 2, tzinfo=UTC))

_known: dict[tuple[Build, bool], Fragment | None] = {}


def compiled(build: Build, viewer: Viewer, now: datetime) -> Fragment | None:
    """Return what `build` says as SQL with its values, or None where it says that nothing fits."""
    if viewer.user is None or replace(viewer, user=None, token=None) != Viewer():
        return _compile(build(viewer, now))
    key = (build, viewer.user.is_staff)
    if key not in _known:
        _known[key] = _shape(build, is_staff=viewer.user.is_staff)
    shape = _known[key]
    if shape is None:
        return _compile(build(viewer, now))
    own = {_Slot.WHO: viewer.user.pk, _Slot.WHO_AS_TEXT: str(viewer.user.pk), _Slot.WHEN: now}
    return Fragment(
        shape.sql,
        tuple(own[value] if isinstance(value, _Slot) else value for value in shape.values),
    )


def active_rows(viewer: Viewer, now: datetime) -> MemoryQuerySet:
    """Return the active rows that a viewer may see, whose parts need no compiling."""
    rows = _active(viewer, now)
    statement = compiled(_columns_of(_active), viewer, now)
    if statement is not None:
        remember(rows, statement)
    return rows


def forgettable_among(viewer: Viewer, ids: Iterable[UUID], now: datetime) -> set[UUID]:
    """Return which of these active rows a viewer may forget; one statement."""
    statement = compiled(_columns_of(_forgettable), viewer, now)
    if statement is None:
        return set()
    wanted = among(ids)
    sql = f"SELECT id FROM ({statement.sql}) AS mine WHERE {wanted.sql}"  # noqa: S608 - values are bound
    return {row[0] for row in fetch(Fragment(sql, (*statement.values, *wanted.values)))}


def _active(viewer: Viewer, now: datetime) -> MemoryQuerySet:
    return Memory.objects.visible_to(viewer).active(now)


def _forgettable(viewer: Viewer, now: datetime) -> MemoryQuerySet:
    return Memory.objects.visible_to(viewer).forgettable_by(viewer).active(now)


@cache
def _columns_of(rows_of: Rows) -> Build:
    def build(viewer: Viewer, now: datetime) -> QuerySet[Any, Any]:
        rows: QuerySet[Any, Any] = rows_of(viewer, now)
        return rows.order_by().values(*COLUMNS)

    return build


def _shape(build: Build, *, is_staff: bool) -> Fragment | None:
    """Return a statement with slots where askers differ; None when they differ by anything else."""
    first, second = (
        _compile(build(made.viewer(is_staff=is_staff), made.when)) for made in (_FIRST, _SECOND)
    )
    if first is None or second is None or first.sql != second.sql:
        return None
    values: list[Any] = []
    for one, other in zip(first.values, second.values, strict=True):
        slot = _slot_of(one, _FIRST)
        if slot is not _slot_of(other, _SECOND) or (slot is None and one != other):
            return None
        values.append(one if slot is None else slot)
    return Fragment(first.sql, tuple(values))


def _slot_of(value: Any, made: _Made) -> _Slot | None:
    return made.slots.get(value) if isinstance(value, UUID | str | datetime) else None


def _compile(rows: QuerySet[Any, Any]) -> Fragment | None:
    try:
        return Fragment(*rows.query.sql_with_params())
    except EmptyResultSet:
        return None
