"""GET, DELETE /api/chat/memory and DELETE /api/chat/memory/{id}: the chat widget's contract."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from junior_memory import access, forgetting, people, records
from junior_memory.models import Agent, AuditEntry, ForgetBatch, Memory
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_me import Browser
from tests.api.test_memory_detail import ABSENT
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory, make_personal_token

CHAT = "/api/chat/memory"


def texts(caller: Caller, query: str = "") -> list[str]:
    return [one["text"] for one in json_of(caller.get(CHAT + query))["memories"]]


def active() -> set[str]:
    return set(Memory.objects.active(timezone.now()).values_list("content", flat=True))


@pytest.fixture
def support(db: None) -> Agent:
    return people.agent_named("support")[0]


@pytest.fixture
def everything(cast: Cast, support: Agent) -> None:
    """One row of every tier and owner, each saying what it is."""
    alice, bob = cast.alice, cast.bob
    make_memory(owner=alice, content="Hers, user.")
    make_memory(owner=alice, content="Hers, session.", visibility="session", conversation_id="c")
    make_memory(owner=alice, content="Hers, org.", visibility="org", org=cast.org)
    make_memory(owner=alice, content="Hers, public.", visibility="public")
    make_memory(owner=alice, content="Hers, held.", held_reason="unlinked")
    make_memory(owner=alice, content="Hers, elsewhere.", agent=support)
    make_memory(owner=bob, content="His, user.")
    make_memory(owner=bob, content="His, org.", visibility="org", org=cast.org)


def test_the_list_is_the_user_tier_newest_first_in_the_widgets_words(
    alice: Caller, everything: None, cast: Cast
) -> None:
    newer = make_memory(owner=cast.alice, content="Newer.", kind="knowledge")
    body = json_of(alice.get(CHAT))
    assert list(body) == ["memories", "nextCursor"]
    assert [one["text"] for one in body["memories"]] == ["Newer.", "Hers, user."]
    first = body["memories"][0]
    assert set(first) == {"id", "text", "scope", "createdAt", "metadata"}
    assert (first["id"], first["scope"]) == (str(newer.pk), "user")
    assert first["metadata"] == {
        "kind": "knowledge",
        "origin": "explicit",
        "observedAt": first["createdAt"],
        "expiresAt": None,
    }
    assert texts(alice, "?agent=support") == ["Hers, elsewhere."]


def test_the_list_is_paged_and_holds_a_hundred_at_most(alice: Caller, cast: Cast) -> None:
    for number in range(103):
        make_memory(owner=cast.alice, content=f"Fact {number}.")
    first = json_of(alice.get(CHAT))
    assert len(first["memories"]) == 100
    rest = json_of(alice.get(f"{CHAT}?cursor={first['nextCursor']}"))
    assert rest["nextCursor"] is None
    seen = [one["text"] for one in first["memories"] + rest["memories"]]
    assert seen == [f"Fact {number}." for number in reversed(range(103))]
    assert len(texts(alice, "?limit=2")) == 2
    for query in (
        "limit=101",
        "limit=0",
        "cursor=x",
        "q=x",
        "agent=",
        "agent=%00",
        "agent=a&agent=b",
    ):
        assert_fails(alice.get(f"{CHAT}?{query}"), 422)


def test_a_cursor_is_for_its_person_and_agent(
    alice: Caller, bob: Caller, cast: Cast, support: Agent
) -> None:
    for number in range(3):
        make_memory(owner=cast.alice, content=f"Fact {number}.")
    cursor = json_of(alice.get(f"{CHAT}?limit=1"))["nextCursor"]
    assert_fails(bob.get(f"{CHAT}?cursor={cursor}"), 422)
    assert_fails(alice.get(f"{CHAT}?agent=support&cursor={cursor}"), 422)


def test_what_is_no_longer_active_is_not_listed(alice: Caller, cast: Cast) -> None:
    soon = timezone.now() + timedelta(milliseconds=50)
    make_memory(owner=cast.alice, content="Expires.", expires_at=soon)
    gone = make_memory(owner=cast.alice, content="Forgotten.")
    forgetting.forget(access.person(cast.alice), gone.pk, doer=BY_TEST)
    old = make_memory(owner=cast.alice, content="Old words.")
    json_of(alice.patch(f"memories/{old.pk}", {"content": "New words.", "version": 1}))
    while timezone.now() <= soon:
        pass
    assert texts(alice) == ["New words."]


def test_clearing_takes_every_tier_of_ones_own_and_nothing_of_others(
    alice: Caller, everything: None
) -> None:
    response = alice.delete(CHAT)
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Cache-Control"] == "no-store"
    assert active() == {"Hers, public.", "Hers, elsewhere.", "His, user.", "His, org."}
    assert not Memory.objects.held().filter(content="Hers, held.").exists()
    assert alice.delete(f"{CHAT}?agent=support").status_code == 204
    assert active() == {"Hers, public.", "His, user.", "His, org."}


def test_clearing_can_be_undone_where_moves_are_shown(
    alice: Caller, everything: None, cast: Cast
) -> None:
    before = active()
    for _ in range(2):
        assert alice.delete(CHAT).status_code == 204
    (move,) = records.moves_of(access.person(cast.alice))
    assert (move.kind, move.forgotten, move.agent) == ("forget_all", 4, cast.agent)
    undone = json_of(alice.post(f"forget-batches/{move.pk}/restore"))
    assert undone == {"restored": 4, "skipped": []}
    assert active() == before
    actions = AuditEntry.objects.filter(person=cast.alice).values_list("action", flat=True)
    assert {"forgot_all", "restored"} <= set(actions)


def test_org_rows_of_an_organization_one_has_left_stay(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Hers, org.", visibility="org", org=cast.org)
    cast.alice.memberships.all().delete()
    assert alice.delete(CHAT).status_code == 204
    assert active() == {"Hers, org."}


@pytest.mark.parametrize("tier", ["user", "session", "org"])
def test_deleting_one_forgets_it_and_repeating_changes_nothing(
    alice: Caller, cast: Cast, tier: str
) -> None:
    fields: dict[str, dict[str, Any]] = {
        "user": {},
        "session": {"visibility": "session", "conversation_id": "c"},
        "org": {"visibility": "org", "org": cast.org},
    }
    made = make_memory(owner=cast.alice, content="Hers.", **fields[tier])
    for _ in range(2):
        response = alice.delete(f"{CHAT}/{made.pk}")
        assert (response.status_code, response.content) == (204, b"")
    made.refresh_from_db()
    assert made.archive_reason == "user_removed"
    assert AuditEntry.objects.filter(action="forgot", memory_id=made.pk).count() == 1
    json_of(alice.post(f"memories/{made.pk}/restore"))
    assert active() == {"Hers."}


def test_deleting_a_held_one_declines_it(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice, content="Hers, held.", held_reason="unlinked")
    for _ in range(2):
        assert alice.delete(f"{CHAT}/{made.pk}").status_code == 204
    made.refresh_from_db()
    assert made.archive_reason == "declined"


def test_an_erased_one_is_gone_and_says_so_quietly(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice)
    json_of(alice.post(f"memories/{made.pk}/erase"))
    assert alice.delete(f"{CHAT}/{made.pk}").status_code == 204


def test_deleting_one_is_404_for_whatever_is_not_ones_own(
    alice: Caller, bob: Caller, root: Caller, cast: Cast, support: Agent
) -> None:
    mine = make_memory(owner=cast.alice, content="Hers.")
    team = make_memory(owner=cast.alice, content="Hers, org.", visibility="org", org=cast.org)
    public = make_memory(owner=cast.alice, content="Hers, public.", visibility="public")
    elsewhere = make_memory(owner=cast.alice, content="Hers, elsewhere.", agent=support)
    absent = assert_fails(bob.delete(f"{CHAT}/{ABSENT}"), 404)
    for caller, memory in ((bob, mine), (bob, team), (root, mine), (alice, public)):
        assert assert_fails(caller.delete(f"{CHAT}/{memory.pk}"), 404) == absent
    assert assert_fails(alice.delete(f"{CHAT}/{elsewhere.pk}"), 404) == absent
    assert alice.delete(f"{CHAT}/{elsewhere.pk}?agent=support").status_code == 204
    for wrong in ("x", "%00", "..", f"{mine.pk}/x"):
        assert_fails(alice.delete(f"{CHAT}/{wrong}"), 404)
    assert active() == {"Hers.", "Hers, org.", "Hers, public."}


def test_an_unknown_agent_is_404_and_nothing_is_forgotten(alice: Caller, everything: None) -> None:
    before = active()
    for method, path in (("GET", CHAT), ("DELETE", CHAT), ("DELETE", f"{CHAT}/{ABSENT}")):
        assert_fails(alice.call(method, f"{path}?agent=nobody"), 404, "not_found")
    assert active() == before
    assert not ForgetBatch.objects.exists()
    assert not Agent.objects.filter(name="nobody").exists()


def test_nobody_and_hosts_get_nothing(
    nobody: Caller, host: Caller, everything: None, cast: Cast
) -> None:
    before = active()
    for method, path in (("GET", CHAT), ("DELETE", CHAT), ("DELETE", f"{CHAT}/{ABSENT}")):
        assert_fails(nobody.call(method, path), 401)
        assert_fails(host.call(method, path), 403)
    assert active() == before


def test_a_token_needs_the_scope(cast: Cast, everything: None) -> None:
    reads = Caller(token=make_personal_token(cast.alice, "read"))
    writes = Caller(token=make_personal_token(cast.alice, "write"))
    before = active()
    assert texts(reads) == ["Hers, user."]
    assert_fails(writes.get(CHAT), 403)
    assert_fails(reads.delete(CHAT), 403)
    assert_fails(reads.delete(f"{CHAT}/{ABSENT}"), 403)
    assert active() == before
    assert writes.delete(CHAT).status_code == 204


def test_a_browser_needs_the_csrf_token_to_clear(cast: Cast, everything: None) -> None:
    forged = Caller(user=cast.alice)
    before = active()
    assert texts(forged) == ["Hers, user."]
    assert_fails(forged.delete(CHAT), 403, "csrf")
    assert_fails(forged.delete(f"{CHAT}/{ABSENT}"), 403, "csrf")
    assert active() == before
    browser = Browser(cast.alice)
    assert browser.delete(CHAT).status_code == 204
    assert active() != before


def test_other_methods_and_bodies_are_refused(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice)
    for method in ("POST", "PUT", "PATCH"):
        assert_fails(alice.call(method, CHAT), 405)
        assert_fails(alice.call(method, f"{CHAT}/{made.pk}"), 405)
    assert_fails(alice.get(f"{CHAT}/{made.pk}"), 405)
    assert_fails(alice.call("DELETE", CHAT, {"ids": []}), 422)
    assert_fails(alice.delete(f"{CHAT}?ids="), 422)
    assert_fails(alice.get("/api/chat"), 404)
    assert_fails(alice.get("/api/chat/memories"), 404)
    head = alice.call("HEAD", CHAT)
    assert (head.status_code, head.content) == (200, b"")
    assert len(active()) == 1


def test_the_list_asks_as_many_queries_for_one_as_for_many(
    alice: Caller, cast: Cast, django_assert_max_num_queries: Any
) -> None:
    for number in range(40):
        make_memory(owner=cast.alice, content=f"Fact {number}.")
    alice.get(CHAT)
    with django_assert_max_num_queries(7):
        assert len(texts(alice)) == 40
