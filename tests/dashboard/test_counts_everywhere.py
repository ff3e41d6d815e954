"""Whatever is done to the rows, every place that says a number says the same one.

The badge, the sentence over the list, the tabs, every filter, the inbox, REST and the export; what
each filter says is what its own list says and holds.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import pytest
from django.http.response import HttpResponseBase, StreamingHttpResponse
from django.test import Client

from junior_memory import forgetting, holding
from junior_memory.access import person
from junior_memory.capture import HELD_ORDERS
from junior_memory.lexical import leg as lexical_leg
from junior_memory.memories import correct_memory
from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.factories import BY_TEST, AgentFactory, make_memory

LIST = "/memories"
BASE = "/api/plugins/memory"
STATES = ("active", "forgotten", "superseded", "expired")

LISTS: tuple[dict[str, str], ...] = (
    {},
    {"kind": "preference"},
    {"kind": "knowledge", "origin": "automatic"},
    {"visibility": "public"},
    {"visibility": "private", "agent": "night-bot"},
    {"agent": "night-bot", "origin": "explicit"},
    {"q": "tea"},
    {"q": "tea", "kind": "preference"},
    {"q": "e", "visibility": "private"},
    {"state": "forgotten"},
    {"state": "superseded", "q": "tea"},
)


class Chip(NamedTuple):
    """One choice of a filter: where it leads, what it says, whether it is chosen."""

    asked: dict[str, str]
    says: str
    is_chosen: bool


def number(said: str) -> str:
    """Return a number as REST would be read: digits, and `+` for "more than" and "at least"."""
    digits = said.replace(",", "")
    if digits.startswith("More than "):
        return digits.removeprefix("More than ") + "+"
    return digits if re.fullmatch(r"\d+\+?", digits) else "0"


def says(page: str) -> str:
    """Return the number in the sentence over a list."""
    hit = re.search(r'id="summary"[^>]*>(?:<[^>]*>)?(More than [\d,]+|[\d,]+)', page)
    return number(hit.group(1)) if hit else "0"


def chips(page: str) -> Iterator[Chip]:
    """Return the filters of a page."""
    pattern = r'<a class="chip"[^>]*? href="([^"]+)"([^>]*)>[^<]*<span class="count">([^<]*)</span>'
    for href, rest, count in re.findall(pattern, page):
        asked = dict(parse_qsl(html.unescape(href).partition("?")[2]))
        yield Chip(asked, number(count), "aria-current" in rest)


def tabs(page: str) -> dict[str, str]:
    """Return what the tabs say, by state."""
    pattern = r'<a class="tab"[^>]*? href="([^"]+)"[^>]*>[^<]*<span class="count">([^<]*)</span>'
    found = re.findall(pattern, page)
    return {
        dict(parse_qsl(href.partition("?")[2])).get("state", "active"): number(count)
        for href, count in found
    }


def rest(client: Client, asked: dict[str, str]) -> tuple[str, int]:
    """Return what REST says a list holds, and how many its pages hold."""
    total, memories = rest_memories(client, asked)
    return total, len(memories)


def rest_memories(client: Client, asked: dict[str, str]) -> tuple[str, list[dict[str, Any]]]:
    """Return what REST says a list holds, and what its pages hold."""
    query, cursor = asked | {"limit": "50"}, None
    held: list[dict[str, Any]] = []
    while True:
        if cursor is not None:
            query["cursor"] = cursor
        page = client.get(f"{BASE}/memories?{urlencode(query)}").json()
        held += page["memories"]
        if cursor is None:
            total = page["total"]
        cursor = page["nextCursor"]
        if cursor is None:
            return f"{total['value']}{'' if total['relation'] == 'exact' else '+'}", held


def exported(client: Client) -> Counter[str]:
    """Return how many of a person's own memories their export holds, by state.

    What was forgotten with what replaced it is no entry of its own in any list.
    """
    answer = client.get(f"{BASE}/export")
    lines = [json.loads(line) for line in _body(answer).splitlines()]
    return Counter(
        line["state"]
        for line in lines
        if line["type"] == "memory"
        and line["visibility"] != "public"
        and not (line["state"] == "superseded" and line["forgottenAt"])
    )


def _body(answer: HttpResponseBase) -> str:
    assert isinstance(answer, StreamingHttpResponse)
    return answer.getvalue().decode()


def assert_all_agree(client: Client, lists: Iterable[dict[str, str]] = LISTS) -> None:
    """Check every number against every other one and against the rows."""
    page = text(client.get(LIST))
    badge = re.search(r'id="nav-count">([\d,]+\+?)</span>', page)
    assert badge is not None
    assert number(badge.group(1)) == says(page)
    export = exported(client)
    for state in STATES:
        of_state = text(client.get(f"{LIST}?state={state}"))
        total, memories = rest_memories(client, {"state": state})
        assert says(of_state) == total, state
        assert total.endswith("+") or int(total) == len(memories), state
        own = [memory for memory in memories if state != "active" or memory["forgettable"]]
        assert export[state] == len(own), state
        assert tabs(page).get(state, total) == total, state
    _assert_waiting_agrees(client, page, export)
    _assert_filters_agree(client, lists)


def _assert_waiting_agrees(client: Client, page: str, export: Counter[str]) -> None:
    badge = re.search(r'id="nav-waiting">([\d,]*)</span>', page)
    assert badge is not None
    inbox = text(client.get("/inbox"))
    drawn = len(re.findall(r'id="held-[0-9a-f-]{36}"', inbox))
    listed = len(client.get(f"{BASE}/held?limit=50").json()["memories"])
    total, held = rest(client, {"state": "held"})
    assert {int(badge.group(1) or 0), drawn, listed, int(total), held} == {export["held"]}


def _assert_filters_agree(client: Client, lists: Iterable[dict[str, str]]) -> None:
    """Check every filter of some lists: it says what its own list says and holds."""
    pages: dict[str, str] = {}

    def says_there(asked: dict[str, str]) -> str:
        address = f"{LIST}?{urlencode(sorted(asked.items()))}"
        if address not in pages:
            pages[address] = page = text(client.get(address))
            total, held = rest(client, _as_rest_asks(asked))
            assert says(page) == total, asked
            assert total.endswith("+") or int(total) == held, asked
        return says(pages[address])

    for asked in lists:
        here = says_there(asked)
        seen = list(chips(text(client.get(f"{LIST}?{urlencode(asked)}"))))
        assert seen or here == "0"
        for chip in seen:
            there = here if chip.is_chosen else says_there(chip.asked)
            assert chip.says == there, (asked, chip)


def _as_rest_asks(asked: dict[str, str]) -> dict[str, str]:
    """REST refuses words over what is forgotten, where the page leaves them out."""
    forgotten = asked.get("state") == "forgotten"
    return {name: value for name, value in asked.items() if not (forgotten and name == "q")}


def some_of_everything(cast: Cast) -> dict[str, Memory]:
    """Make rows that every filter tells apart, also ones of other people."""
    bot = AgentFactory.create(name="night-bot")
    own: dict[str, Any] = {"owner": cast.alice}
    made = {
        "tea": make_memory(content="Prefers tea.", **own),
        "maps": make_memory(content="Prefers maps to tea leaves.", **own, agent=bot),
        "ferry": make_memory(
            content="Takes the ferry.", **own, kind="knowledge", origin="automatic"
        ),
        "talk": make_memory(
            content="Talks of tea today.", **own, visibility="session", conversation_id="c-1"
        ),
        "team": make_memory(
            content="The team has tea at ten.", **own, visibility="org", org=cast.org
        ),
    }
    make_memory(content="Bob's team tea.", owner=cast.bob, visibility="org", org=cast.org)
    make_memory(content="Bob's own tea.", owner=cast.bob)
    for place in range(3):
        make_memory(content=f"Everyone's tea {place}.", visibility="public")
    make_memory(content="A rule about tea.", visibility="public", kind="procedure", agent=bot)
    return made


def _steps(cast: Cast, made: dict[str, Memory], now: datetime) -> Iterator[Callable[[], object]]:
    """What may happen to a row, one after the other."""
    viewer = person(cast.alice)
    by: dict[str, Any] = {"doer": BY_TEST}
    held = make_memory(
        content="Always answer in tea leaves.", owner=cast.alice, held_reason=HELD_ORDERS
    )
    other = make_memory(content="Never mention tea.", owner=cast.alice, held_reason=HELD_ORDERS)
    tea, maps, team = made["tea"], made["maps"], made["team"]
    ended = now - timedelta(days=1)
    yield lambda: make_memory(
        content="Is away.", owner=cast.alice, now=ended - timedelta(days=1), expires_at=ended
    )
    yield lambda: make_memory(
        content="Wait for tea.",
        owner=cast.alice,
        now=ended - timedelta(days=1),
        expires_at=ended,
        held_reason=HELD_ORDERS,
    )
    yield lambda: holding.approve_held(viewer, held.pk, **by)
    yield lambda: holding.decline_held(viewer, other.pk, **by)
    yield lambda: holding.undo_decision(viewer, other.pk, **by)
    yield lambda: correct_memory(viewer, tea.pk, "Prefers green tea.", version=tea.version, **by)
    yield lambda: forgetting.forget(viewer, maps.pk, **by)
    yield lambda: forgetting.restore(viewer, maps.pk, **by)
    yield lambda: forgetting.forget(viewer, _successor_of(tea), **by)
    yield lambda: forgetting.restore(viewer, _successor_of(tea), **by)
    yield lambda: forgetting.forget_many(viewer, [maps.pk, team.pk], **by)
    yield lambda: forgetting.erase(viewer, maps.pk, **by)
    yield lambda: forgetting.forget_all(viewer, **by)


def _successor_of(memory: Memory) -> Any:
    return Memory.objects.values_list("superseded_by", flat=True).get(pk=memory.pk)


def test_every_number_agrees_whatever_is_done_to_the_rows(
    cast: Cast, alice_client: Client, now: datetime
) -> None:
    made = some_of_everything(cast)
    assert_all_agree(alice_client)
    for step in _steps(cast, made, now):
        step()
        assert_all_agree(alice_client, lists=({}, {"q": "tea"}))


@pytest.mark.parametrize("counted", [3, 4])
def test_every_number_agrees_also_where_there_is_more_than_is_counted(
    cast: Cast,
    sign_in: SignIn,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
    counted: int,
) -> None:
    monkeypatch.setattr("junior_memory.counting.COUNTED", counted)
    monkeypatch.setattr("junior_memory.counting.SAMPLED", counted + 1)
    monkeypatch.setattr(lexical_leg, "COMMON_AT", counted)
    monkeypatch.setattr(lexical_leg, "LARGE_AT", counted)
    some_of_everything(cast)
    alice, charlie = sign_in(cast.alice), sign_in(cast.charlie)
    everyone = 4
    assert_all_agree(alice)
    assert_all_agree(charlie)
    page = text(charlie.get(LIST))
    assert says(page) == (f"{counted}+" if everyone > counted else str(everyone))


def test_team_rows_are_shared_and_those_one_wrote_are_ones_own(
    cast: Cast, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("junior_memory.counting.COUNTED", 2)
    monkeypatch.setattr("junior_memory.counting.SAMPLED", 3)
    for place in range(4):
        make_memory(content=f"Note {place}.", owner=cast.bob, visibility="org", org=cast.org)
    alice, bob = sign_in(cast.alice), sign_in(cast.bob)
    assert says(text(bob.get(LIST))) == rest(bob, {})[0] == "4"
    assert says(text(alice.get(LIST))) == rest(alice, {})[0] == "2+"
    assert says(text(alice.get(f"{LIST}?q=note"))) == rest(alice, {"q": "note"})[0] == "2+"
    assert says(text(bob.get(f"{LIST}?q=note"))) == rest(bob, {"q": "note"})[0] == "4"
    for client in (alice, bob):
        _assert_filters_agree(client, ({}, {"q": "note"}))
