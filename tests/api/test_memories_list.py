"""GET /memories: list, filters, states, paging, search."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from junior_memory import access, forgetting
from junior_memory.models import Memory
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory

START = datetime(2026, 6, 1, tzinfo=UTC)


def contents(page: dict[str, list[dict[str, str]]]) -> list[str]:
    return [memory["content"] for memory in page["memories"]]


def everything(caller: Caller, query: str = "", *, limit: int = 2) -> list[str]:
    """Walk all pages."""
    found: list[str] = []
    cursor = ""
    for _ in range(50):
        page = json_of(caller.get(f"memories?limit={limit}{query}{cursor}"))
        found += contents(page)
        if page["nextCursor"] is None:
            return found
        cursor = f"&cursor={page['nextCursor']}"
    raise AssertionError("the list does not end")


def test_the_list_holds_what_its_caller_may_see_and_nothing_else(
    alice: Caller, bob: Caller, charlie: Caller, cast: Cast
) -> None:
    make_memory(owner=cast.alice, content="Alice likes tea.")
    make_memory(owner=cast.bob, content="Bob likes coffee.")
    make_memory(owner=cast.bob, content="The team meets on Monday.", visibility="org", org=cast.org)
    make_memory(content="The office has a roof.", visibility="public")
    shared = {"The team meets on Monday.", "The office has a roof."}
    assert set(everything(alice)) == {"Alice likes tea."} | shared
    assert set(everything(bob)) == {"Bob likes coffee."} | shared
    assert set(everything(charlie)) == {"The office has a roof."}


def test_pages_follow_each_other_newest_first_and_ties_by_id(alice: Caller, cast: Cast) -> None:
    for number in range(7):
        make_memory(
            owner=cast.alice,
            content=f"Fact number {number}.",
            now=START + timedelta(days=number // 3),
        )
    rows = Memory.objects.order_by("-created_at", "id").values_list("content", flat=True)
    for limit in (1, 2, 3, 7, 50):
        assert everything(alice, limit=limit) == list(rows)
    assert json_of(alice.get("memories?limit=7"))["nextCursor"] is None


def test_a_row_that_arrives_while_paging_shifts_nothing(alice: Caller, cast: Cast) -> None:
    for number in range(4):
        make_memory(owner=cast.alice, content=f"Fact {number}.", now=START + timedelta(days=number))
    first = json_of(alice.get("memories?limit=2"))
    make_memory(owner=cast.alice, content="Fact 9.", now=START + timedelta(days=9))
    second = json_of(alice.get(f"memories?limit=2&cursor={first['nextCursor']}"))
    assert contents(second) == ["Fact 1.", "Fact 0."]


def test_filters_narrow_the_list_and_its_total(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Likes tea.")
    make_memory(owner=cast.alice, content="Works late.", kind="knowledge")
    make_memory(content="Lunch is at noon.", visibility="public", origin="automatic")
    for query, wanted in (
        ("visibility=public", {"Lunch is at noon."}),
        ("visibility=private", {"Likes tea.", "Works late."}),
        ("visibility=session", set()),
        ("kind=preference", {"Likes tea."}),
        ("kind=knowledge&visibility=private", {"Works late."}),
        ("origin=automatic", {"Lunch is at noon."}),
        ("agent=default", {"Likes tea.", "Works late.", "Lunch is at noon."}),
        ("agent=other", set()),
    ):
        page = json_of(alice.get(f"memories?{query}"))
        assert set(contents(page)) == wanted, query
        assert page["total"] == {"relation": "exact", "value": len(wanted)}


def test_other_states_show_own_rows_alone(alice: Caller, bob: Caller, cast: Cast) -> None:
    viewer = access.person(cast.alice)
    gone = make_memory(owner=cast.alice, content="Likes tea.")
    forgetting.forget(viewer, gone.pk, doer=BY_TEST)
    make_memory(owner=cast.alice, content="Waits.", held_reason="unlinked")
    make_memory(content="Waits for staff.", visibility="public", held_reason="unlinked")
    past = datetime.now(UTC) - timedelta(days=2)
    make_memory(
        owner=cast.alice,
        content="Was in Rome.",
        now=past,
        expires_at=past + timedelta(days=1),
    )
    wanted = {"forgotten": "Likes tea.", "held": "Waits.", "expired": "Was in Rome."}
    for state, content in wanted.items():
        page = json_of(alice.get(f"memories?state={state}"))
        assert contents(page) == [content]
        assert page["memories"][0]["state"] == state
        assert page["memories"][0]["forgettable"] is False
        assert json_of(bob.get(f"memories?state={state}"))["memories"] == []
        if state != "forgotten":
            word = content.split()[-1].strip(".")
            found = json_of(alice.get(f"memories?state={state}&q={word}"))["memories"]
            assert content in [one["content"] for one in found]
            assert {one["state"] for one in found} == {state}
            assert json_of(bob.get(f"memories?state={state}&q={word}"))["memories"] == []
    assert json_of(alice.get("memories"))["memories"] == []
    forgotten = json_of(alice.get("memories?state=forgotten"))["memories"][0]
    assert forgotten["forgottenAt"].endswith("Z")
    assert forgotten["purgeAt"] > forgotten["forgottenAt"]


def test_search_ranks_and_says_why(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Likes green tea in the morning.")
    make_memory(owner=cast.alice, content="Parks behind the house.")
    page = json_of(alice.get("memories?q=green+tea"))
    assert contents(page) == ["Likes green tea in the morning."]
    match = page["memories"][0]["match"]
    assert set(match) == {"words", "meaning", "characters"}
    assert {word.lower() for word in match["words"]} >= {"green", "tea"}
    assert match["meaning"] is None
    assert page["total"] == {"relation": "exact", "value": 1}
    assert page["degraded"] == []


def test_search_never_finds_what_belongs_to_somebody_else(bob: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Likes green tea.")
    page = json_of(bob.get("memories?q=green+tea"))
    assert page["memories"] == []
    assert page["total"]["value"] == 0


def test_a_search_is_paged_to_two_hundred(alice: Caller, cast: Cast) -> None:
    for number in range(7):
        make_memory(owner=cast.alice, content=f"Tea of kind {number}.")
    found = everything(alice, "&q=tea", limit=3)
    assert len(found) == len(set(found)) == 7


def test_a_search_for_spaces_is_no_search(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Likes tea.")
    page = json_of(alice.get("memories?q=%20%20"))
    assert contents(page) == ["Likes tea."]
    assert "match" not in page["memories"][0]


def test_wildcards_and_odd_texts_in_a_search_are_inert(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Likes tea.")
    for query in ("%25", "_", "%5C", "%27%3B--", "%E2%80%8D", "%F0%9F%A7%97", "()", "!%26%7C", "*"):
        assert json_of(alice.get(f"memories?q={query}"))["memories"] == [], query


def test_what_does_not_fit_is_refused(alice: Caller) -> None:
    for query in (
        "limit=0",
        "limit=51",
        "limit=-1",
        "limit=1e9",
        "limit=x",
        "limit=",
        "limit=2.0",
        "limit=%D9%A3",
        "visibility=all",
        "visibility=",
        "kind=x",
        "origin=x",
        "state=purged",
        "cursor=",
        "cursor=x",
        f"q={'x' * 201}",
        "q=tea&state=forgotten",
        f"agent={'x' * 256}",
    ):
        assert_fails(alice.get(f"memories?{query}"), 422)
    json_of(alice.get(f"memories?q={'x' * 200}"))


def test_a_cursor_is_good_for_its_own_list_alone(alice: Caller, bob: Caller, cast: Cast) -> None:
    for number in range(5):
        make_memory(owner=cast.alice, content=f"Tea {number}.", kind="knowledge")
        make_memory(content=f"Public tea {number}.", visibility="public")
    plain = json_of(alice.get("memories?limit=1"))["nextCursor"]
    ranked = json_of(alice.get("memories?limit=1&q=tea"))["nextCursor"]
    assert plain
    assert ranked
    for cursor, query in (
        (plain, "q=tea"),
        (plain, "kind=knowledge"),
        (plain, "visibility=public"),
        (ranked, ""),
        (ranked, "q=teas"),
        (ranked, "q=tea&kind=knowledge"),
        (plain[:-1] + ("A" if plain[-1] != "A" else "B"), ""),
        (plain + "x", ""),
        (plain.partition(":")[0], ""),
        ("x" * 5000, ""),
    ):
        assert_fails(alice.get(f"memories?limit=1&{query}&cursor={cursor}".replace("&&", "&")), 422)
    assert_fails(bob.get(f"memories?limit=1&cursor={plain}"), 422)
    json_of(alice.get(f"memories?limit=9&cursor={plain}"))


def test_a_cursor_holds_no_text(alice: Caller, cast: Cast) -> None:
    import base64

    for number in range(3):
        make_memory(owner=cast.alice, content=f"Tea {number} zebra.")
    for query in ("", "&q=zebra"):
        cursor = json_of(alice.get(f"memories?limit=1{query}"))["nextCursor"]
        payload = cursor.partition(":")[0]
        text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode()
        assert "zebra" not in text.lower()


@pytest.mark.parametrize("query", ["", "&q=tea", "&state=forgotten"])
def test_the_number_of_queries_does_not_grow_with_the_list(
    alice: Caller, cast: Cast, query: str
) -> None:
    counts = []
    for times in (2, 20):
        for number in range(times):
            memory = make_memory(owner=cast.alice, content=f"Tea {times} of kind {number}.")
            make_memory(content=f"Public tea {times}/{number}.", visibility="public")
            make_memory(
                content=f"Team tea {times}/{number}.",
                visibility="org",
                org=cast.org,
                owner=cast.bob,
            )
            if "forgotten" in query:
                forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST)
        alice.get(f"memories?limit=50{query}")
        with CaptureQueriesContext(
            connection,
        ) as captured:
            json_of(alice.get(f"memories?limit=50{query}"))
        counts.append(len(captured))
    assert counts[0] == counts[1]
    assert counts[1] <= 40


def test_where_a_shared_memory_was_learned_is_told_to_those_who_may_know(
    alice: Caller, bob: Caller, charlie: Caller, root: Caller, cast: Cast
) -> None:
    public = make_memory(
        owner=cast.alice, content="Roof opens.", visibility="public", conversation_id="C-1"
    )
    team = make_memory(
        owner=cast.alice,
        content="Team meets.",
        visibility="org",
        org=cast.org,
        conversation_id="C-2",
    )
    told = {
        "alice": (alice, "C-1", "C-2"),
        "bob": (bob, None, "C-2"),
        "charlie": (charlie, None, "absent"),
        "root": (root, "C-1", "absent"),
    }
    for name, (caller, wanted_public, wanted_team) in told.items():
        listed = {m["id"]: m for m in json_of(caller.get("memories"))["memories"]}
        assert listed[str(public.pk)]["conversationId"] == wanted_public, name
        found = listed.get(str(team.pk), {"conversationId": "absent"})
        assert found["conversationId"] == wanted_team, name
