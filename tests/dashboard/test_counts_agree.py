"""Badge, sentence and REST say the same number, whatever happens to the rows between."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from django.test import Client

from junior_memory import forgetting
from junior_memory.access import person
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
    numbers = {name: hit.group(1) if hit else "0" for name, hit in found.items()}
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
