"""Badge, sentence and REST say the same number, whatever happens to the rows between."""

from __future__ import annotations

import re
import uuid
from datetime import datetime, timedelta

from django.test import Client

from junior_memory import forgetting, lexical
from junior_memory.access import person
from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import text
from tests.factories import BY_TEST, make_memory

LIST = "/memories"
API = "/api/plugins/memory/memories"


def said(client: Client) -> dict[str, str]:
    """Return the number that each place says; `+` stands for "at least"."""
    page = text(client.get(LIST))
    places = {
        "badge": r'id="nav-count">([\d,]+\+?)</span>',
        "page": r'id="summary"[^>]*>(?:<[^>]*>)?(More than [\d,]+|[\d,]+)',
    }
    found = {name: re.search(pattern, page) for name, pattern in places.items()}
    numbers = {name: hit.group(1).replace(",", "") if hit else "0" for name, hit in found.items()}
    if numbers["page"].startswith("More than "):
        numbers["page"] = numbers["page"].removeprefix("More than ") + "+"
    total = client.get(API).json()["total"]
    numbers["rest"] = f"{total['value']}{'' if total['relation'] == 'exact' else '+'}"
    return numbers


def assert_all_say(client: Client, number: str) -> None:
    """Check that every place says one number."""
    numbers = said(client)
    assert set(numbers.values()) == {number}, numbers


def test_every_place_counts_alike_through_the_life_of_rows(
    cast: Cast, alice_client: Client, now: datetime
) -> None:
    viewer = person(cast.alice)
    first = make_memory(content="Prefers oolong.", owner=cast.alice)
    make_memory(content="Prefers maps.", owner=cast.alice)
    assert_all_say(alice_client, "2")
    make_memory(content="Prefers golf.", owner=cast.charlie)
    assert_all_say(alice_client, "2")
    make_memory(content="The ferry leaves at noon.", visibility="public")
    assert_all_say(alice_client, "3")
    ended = now - timedelta(days=1)
    make_memory(
        content="Is away.", owner=cast.alice, now=ended - timedelta(days=1), expires_at=ended
    )
    assert_all_say(alice_client, "3")
    forgetting.forget(viewer, first.pk, doer=BY_TEST)
    assert_all_say(alice_client, "2")
    forgetting.restore(viewer, first.pk, doer=BY_TEST)
    assert_all_say(alice_client, "3")
    forgetting.erase(viewer, first.pk, doer=BY_TEST)
    assert_all_say(alice_client, "2")


def fill(cast: Cast, now: datetime, *, visibility: str, count: int) -> None:
    """Make many rows at once."""
    Memory.objects.bulk_create(
        Memory(
            content=f"The locker {number} is free.",
            kind="knowledge",
            visibility=visibility,
            owner=cast.alice if visibility == "private" else None,
            agent=cast.agent,
            subject_type="general",
            origin="import",
            source_platform="api",
            fingerprint=uuid.uuid4().hex,
            search_vector=lexical.vector_of(f"The locker {number} is free."),
            observed_at=now,
            created_at=now,
        )
        for number in range(count)
    )


def test_what_everyone_sees_is_counted_to_a_thousand_and_said_to_be_more_beyond(
    cast: Cast, alice_client: Client, now: datetime
) -> None:
    fill(cast, now, visibility="public", count=999)
    assert_all_say(alice_client, "999")
    fill(cast, now, visibility="public", count=1)
    assert_all_say(alice_client, "1000")
    fill(cast, now, visibility="public", count=1)
    assert_all_say(alice_client, "1000+")
    Memory.objects.filter(visibility="public", content="The locker 998 is free.").delete()
    assert_all_say(alice_client, "1000")


def test_what_is_ones_own_is_counted_exactly_however_much_it_is(
    cast: Cast, alice_client: Client, now: datetime
) -> None:
    fill(cast, now, visibility="private", count=1_003)
    assert_all_say(alice_client, "1003")
