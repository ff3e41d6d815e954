"""Reading the newest part by part is the same list as reading everything in one order."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from junior_memory.access import NOBODY, person
from junior_memory.filters import Filters
from junior_memory.models import Memory
from junior_memory.newest import read_newest
from tests.cast import Cast
from tests.factories import AgentFactory, MembershipFactory, OrganizationFactory, make_memory

FILTERS = (
    Filters(),
    Filters(visibility="private"),
    Filters(visibility="org"),
    Filters(visibility="public", kind="knowledge"),
    Filters(origin="automatic"),
    Filters(agent="night-bot"),
    Filters(agent="nobody"),
)


def _live(cast: Cast, now: datetime) -> None:
    """Let everyone have some, several of them of one moment."""
    bot = AgentFactory.create(name="night-bot")
    team = OrganizationFactory.create(slug="second", name="Second team")
    MembershipFactory.create(user=cast.alice, organization=team)
    for number in range(30):
        at = now - timedelta(hours=number // 3)
        agent = bot if number % 5 == 0 else cast.agent
        kind = ("knowledge", "preference")[number % 2]
        common: dict[str, Any] = {"now": at, "agent": agent, "kind": kind}
        match number % 6:
            case 0:
                make_memory(content=f"Own {number}", owner=cast.alice, **common)
            case 1:
                make_memory(
                    content=f"Learned {number}", owner=cast.alice, origin="automatic", **common
                )
            case 2:
                make_memory(content=f"Public {number}", visibility="public", **common)
            case 3:
                common |= {"visibility": "org", "org": cast.org, "owner": cast.bob}
                make_memory(content=f"Team {number}", **common)
            case 4:
                common |= {"visibility": "org", "org": team, "owner": cast.alice}
                make_memory(content=f"Second team {number}", **common)
            case _other:
                make_memory(content=f"Bob's {number}", owner=cast.bob, **common)


@pytest.mark.parametrize("filters", FILTERS, ids=str)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_pages_of_any_size_make_up_the_whole_list(
    cast: Cast, now: datetime, filters: Filters, size: int
) -> None:
    _live(cast, now)
    for viewer in (person(cast.alice), person(cast.bob), person(cast.charlie), NOBODY):
        rows = Memory.objects.visible_to(viewer).active(now)
        wanted = [memory.pk for memory in filters.narrow(rows).newest_first()]
        found: list[Memory] = []
        after = None
        while page := read_newest(rows, viewer, limit=size, filters=filters, after=after):
            found += page
            after = (page[-1].created_at, page[-1].pk)
        assert [memory.pk for memory in found] == wanted


def test_a_page_is_read_by_indexes_in_their_order(cast: Cast, now: datetime) -> None:
    _live(cast, now)
    viewer = person(cast.alice)
    rows = Memory.objects.visible_to(viewer).active(now)
    asked: list[tuple[str, Any]] = []

    def listen(execute: Any, sql: str, params: Any, *rest: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, *rest)

    with connection.execute_wrapper(listen):
        read_newest(rows, viewer, limit=5, after=(now - timedelta(hours=2), cast.alice.pk))
    ((sql, params),) = [each for each in asked if "UNION ALL" in each[0]]
    with connection.cursor() as cursor:
        # Of thirty rows any plan is good, as the statistics of the moment have it; of a million
        # only this one.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute("SET LOCAL enable_incremental_sort = off")
        cursor.execute(f"EXPLAIN {sql}", params)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    for index in ("memory_own_newest", "memory_org_newest", "memory_public_newest"):
        assert f"using {index}" in plan
