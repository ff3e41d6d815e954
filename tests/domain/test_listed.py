"""Rows of a list, read by one statement that nobody compiles, are what the ORM reads."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from junior_memory.access import NOBODY, Viewer, person
from junior_memory.compiled import active_rows, forgettable_among
from junior_memory.listed import read_listed
from junior_memory.models import Location, Memory
from junior_memory.querysets import NOT_LISTED
from tests.cast import Cast
from tests.factories import make_memory

pytestmark = pytest.mark.django_db


def _store(cast: Cast, now: datetime) -> list[UUID]:
    place = Location.objects.create(provider="slack", tenant="T1", key="C1", label="#general")
    rows = [
        make_memory(content="Mine alone", owner=cast.alice, location=place, expires_at=None),
        make_memory(content="Everybody's", visibility="public", owner=cast.bob),
        make_memory(content="The team's", visibility="org", org=cast.org, owner=cast.bob),
        make_memory(content="Somebody else's", owner=cast.charlie),
        make_memory(content="Gone", owner=cast.alice),
    ]
    Memory.objects.filter(content="Gone").update(archived_at=now, archive_reason="user_removed")
    return [row.pk for row in rows]


def _as_read(memory: Memory) -> dict[str, Any]:
    values = {
        field.attname: getattr(memory, field.attname)
        for field in Memory._meta.concrete_fields
        if field.attname not in NOT_LISTED
    }
    for name in ("agent", "org", "location"):
        other = getattr(memory, name)
        values[name] = other and {
            field.attname: getattr(other, field.attname) for field in other._meta.concrete_fields
        }
    return values


@pytest.fixture(params=["alice", "bob", "charlie", "nobody"])
def viewer(request: pytest.FixtureRequest, cast: Cast) -> Viewer:
    return NOBODY if request.param == "nobody" else person(getattr(cast, request.param))


def test_every_column_is_what_the_orm_reads(cast: Cast, now: datetime, viewer: Viewer) -> None:
    ids = _store(cast, now)
    rows = active_rows(viewer, now)
    wanted = {memory.pk: memory for memory in rows.filter(pk__in=ids).for_list()}
    found = read_listed(rows, ids)
    assert bool(wanted) is not viewer.sees_nothing
    assert {pk: _as_read(memory) for pk, memory in found.items()} == {
        pk: _as_read(memory) for pk, memory in wanted.items()
    }


def test_what_a_list_shows_is_read_at_once(
    cast: Cast, now: datetime, django_assert_num_queries: Any
) -> None:
    ids = _store(cast, now)
    rows = active_rows(person(cast.alice), now)
    with django_assert_num_queries(1):
        for memory in read_listed(rows, ids).values():
            _as_read(memory)


def test_only_ids_that_the_viewer_may_see_are_read(cast: Cast, now: datetime) -> None:
    ids = _store(cast, now)
    found = read_listed(active_rows(person(cast.charlie), now), ids)
    assert {memory.content for memory in found.values()} == {"Everybody's", "Somebody else's"}
    assert list(read_listed(active_rows(person(cast.bob), now), ids[1:2])) == ids[1:2]
    assert read_listed(active_rows(person(cast.charlie), now), []) == {}


def test_what_may_be_forgotten_is_what_the_orm_says(
    cast: Cast, now: datetime, viewer: Viewer
) -> None:
    _store(cast, now)
    mine = Memory.objects.visible_to(viewer).forgettable_by(viewer).active(now)
    every = list(Memory.objects.values_list("pk", flat=True))
    wanted = set(mine.values_list("pk", flat=True))
    assert forgettable_among(viewer, every, now) == wanted
    some = sorted(wanted)[:1]
    assert forgettable_among(viewer, some, now) == set(some)
