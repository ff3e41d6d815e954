"""POST /public/{id}/remove and /restore; POST /admin-reads, GET /admin-reads/{id}/memories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from junior_memory import access, clock, forgetting, memories, people
from junior_memory.models import AdminRead, AuditEntry, Memory, MemoryReport, Tombstone
from junior_memory.search import search_memories
from tests.api.bodies import question
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_me import Browser
from tests.api.test_memory_detail import ABSENT
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory, make_personal_token

WHY = {"reason": "It names a customer."}


@pytest.fixture
def public(cast: Cast) -> Memory:
    return make_memory(
        owner=cast.alice, content="The harbour office has a piano.", visibility="public"
    )


def activity(caller: Caller) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json_of(caller.get("activity"))["activity"]
    return entries


def test_removed_is_gone_for_everybody_and_comes_back_when_restored(
    root: Caller, alice: Caller, bob: Caller, public: Memory, cast: Cast
) -> None:
    removed = json_of(root.post(f"public/{public.pk}/remove", WHY))
    assert (removed["id"], removed["state"]) == (str(public.pk), "forgotten")
    assert removed["purgeAt"] > removed["forgottenAt"]
    for caller in (alice, bob, root):
        assert_fails(caller.get(f"memories/{public.pk}"), 404)
        assert json_of(caller.get("memories?q=piano"))["memories"] == []
        assert json_of(caller.get("memories?state=forgotten"))["memories"] == []
    assert_fails(alice.post(f"memories/{public.pk}/restore"), 404)
    back = json_of(root.post(f"public/{public.pk}/restore", {"reason": "It does not."}))
    assert (back["id"], back["state"], back["purgeAt"]) == (str(public.pk), "active", None)
    assert json_of(bob.get(f"memories/{public.pk}"))["content"] == public.content


def test_repeating_answers_the_same_and_is_recorded_once(root: Caller, public: Memory) -> None:
    for verb in ("remove", "restore"):
        first = json_of(root.post(f"public/{public.pk}/{verb}", WHY))
        assert json_of(root.post(f"public/{public.pk}/{verb}", {"reason": "Again."})) == first
        entry = AuditEntry.objects.get(action=f"{verb}d_public")
        assert entry.reason == WHY["reason"]
        assert public.content not in str(entry.details)


def test_its_author_sees_when_and_why_and_others_do_not(
    root: Caller, alice: Caller, bob: Caller, public: Memory
) -> None:
    json_of(root.post(f"public/{public.pk}/remove", WHY))
    entry = activity(alice)[0]
    assert (entry["action"], entry["by"], entry["reason"]) == (
        "removed_public",
        "staff",
        WHY["reason"],
    )
    assert entry["memoryId"] == str(public.pk)
    assert "piano" not in str(activity(alice))
    assert "removed_public" not in {one["action"] for one in activity(bob)}


def test_what_staff_removed_is_not_learned_again(root: Caller, host: Caller, cast: Cast) -> None:
    fact = "The staging cluster runs in Oslo."
    public = make_memory(
        owner=cast.alice,
        content=fact,
        visibility="public",
        origin="automatic",
        kind="knowledge",
        subject_type="conversation",
        subject_key="C-1",
        conversation_id="C-1",
    )
    json_of(root.post(f"public/{public.pk}/remove", WHY))
    again = memories.create_memory(
        memories.NewMemory(
            content=fact,
            kind="knowledge",
            visibility="public",
            agent=cast.agent,
            origin="automatic",
            source_platform="slack",
            owner=cast.bob,
            subject_type="conversation",
            subject_key="C-2",
            conversation_id="C-2",
        )
    )
    assert again.outcome == "blocked"
    assert not Memory.objects.active(timezone.now()).filter(content=fact).exists()


def test_its_author_cannot_lift_the_mark_of_what_staff_removed(
    root: Caller, alice: Caller, public: Memory
) -> None:
    json_of(root.post(f"public/{public.pk}/remove", WHY))
    assert json_of(alice.get("tombstones"))["tombstones"] == []
    for mark in Tombstone.objects.filter(memory=public):
        assert_fails(alice.delete(f"tombstones/{mark.pk}"), 404)
    assert Tombstone.objects.filter(memory=public).exists()


def test_private_absent_and_other_rows_are_all_the_same_404(
    root: Caller, public: Memory, cast: Cast
) -> None:
    private = make_memory(owner=cast.alice, content="Hers.")
    roots = make_memory(owner=cast.root, content="Root's own.")
    team = make_memory(owner=cast.bob, content="Team.", visibility="org", org=cast.org)
    erased = make_memory(content="Erased.", visibility="public")
    json_of(root.post(f"public/{erased.pk}/remove", WHY))
    forgetting.purge_due(now=timezone.now() + timedelta(days=31))
    for verb in ("remove", "restore"):
        absent = assert_fails(root.post(f"public/{ABSENT}/{verb}", WHY), 404)
        for memory in (private, roots, team, erased):
            assert assert_fails(root.post(f"public/{memory.pk}/{verb}", WHY), 404) == absent
        assert_fails(root.post(f"public/x/{verb}", WHY), 404)
    assert not Memory.objects.filter(archived_at__isnull=False).exclude(pk=erased.pk).exists()


def test_expired_and_replaced_public_memory_cannot_be_removed(root: Caller, cast: Cast) -> None:
    now = timezone.now()
    old = make_memory(
        content="Old.",
        visibility="public",
        now=now - timedelta(days=2),
        expires_at=now - timedelta(days=1),
    )
    assert_fails(root.post(f"public/{old.pk}/remove", WHY), 404)


def test_only_staff_with_the_scope_moderate(
    alice: Caller, host: Caller, nobody: Caller, public: Memory, cast: Cast
) -> None:
    calls: list[tuple[str, dict[str, str]]] = [
        (f"public/{public.pk}/remove", WHY),
        (f"public/{public.pk}/restore", WHY),
        ("admin-reads", WHY | {"user": cast.alice.email}),
    ]
    weak = Caller(token=make_personal_token(cast.root, "read", "write"))
    for path, body in calls:
        assert_fails(nobody.post(path, body), 401)
        for caller in (alice, host, weak):
            assert_fails(caller.post(path, body), 403)
        assert_fails(Caller(user=cast.root).post(path, body), 403, "csrf")
        assert_fails(weak.get(path), 405)
    public.refresh_from_db()
    assert public.archived_at is None
    assert not AdminRead.objects.exists()
    assert json_of(Browser(cast.root).post(*calls[0]))["state"] == "forgotten"


def test_a_reason_is_asked_for_and_bounded(root: Caller, public: Memory, cast: Cast) -> None:
    for path, extra in (
        (f"public/{public.pk}/remove", {}),
        (f"public/{public.pk}/restore", {}),
        ("admin-reads", {"user": cast.alice.email}),
    ):
        wrong: list[dict[str, Any]] = [
            {}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 201}, {"reason": 1},
            {"reason": "x", "more": 1}, {"reason": "\ud800"},
        ]  # fmt: skip
        for body in wrong:
            assert_fails(root.post(path, extra | body), 422)
        assert_fails(root.post(path), 422)
    public.refresh_from_db()
    assert public.archived_at is None
    assert not AdminRead.objects.exists()


def test_a_reason_that_quotes_the_memory_is_refused(
    root: Caller, public: Memory, cast: Cast
) -> None:
    quoting = {"reason": f"Wrong: “{public.content.upper()}”"}
    error = assert_fails(root.post(f"public/{public.pk}/remove", quoting), 422)
    assert error["fields"] == {"reason": "quotes the memory"}
    json_of(root.post(f"public/{public.pk}/remove", WHY))
    assert_fails(root.post(f"public/{public.pk}/restore", quoting), 422)
    assert not AuditEntry.objects.filter(reason__icontains="piano").exists()


def test_a_fact_remembered_anew_stands_for_the_removed_one(
    root: Caller, public: Memory, cast: Cast
) -> None:
    json_of(root.post(f"public/{public.pk}/remove", WHY))
    anew = make_memory(owner=cast.alice, content=public.content, visibility="public")
    assert anew.pk != public.pk
    for _ in range(2):
        assert json_of(root.post(f"public/{public.pk}/restore", WHY))["id"] == str(anew.pk)
    public.refresh_from_db()
    assert (public.archived_at, public.superseded_by_id) == (None, anew.pk)


def test_a_removed_fact_is_neither_searched_nor_recalled(
    root: Caller, host: Caller, public: Memory, cast: Cast
) -> None:
    asked = question("Where is the piano of the harbour office?")
    assert json_of(host.post("recall", asked))["memories"]
    json_of(root.post(f"public/{public.pk}/remove", WHY))
    assert json_of(host.post("recall", asked))["memories"] == []
    assert not search_memories(access.person(cast.bob), "piano").hits


def reported(alice: Caller, public: Memory) -> None:
    response = alice.post(f"memories/{public.pk}/report", {"reason": "That was a joke."})
    assert response.status_code == 202


def test_what_was_reported_is_shown_to_staff_with_its_words(
    root: Caller, alice: Caller, bob: Caller, public: Memory, cast: Cast
) -> None:
    make_memory(owner=cast.alice, content="Waits.", held_reason="unlinked")
    reported(alice, public)
    (shown,) = json_of(root.get("held"))["memories"]
    assert (shown["id"], shown["heldReason"]) == (str(public.pk), "reported")
    (report,) = shown["reports"]
    assert set(report) == {"reason", "createdAt"}
    assert report["reason"] == "That was a joke."
    (hers,) = json_of(alice.get("held"))["memories"]
    assert (hers["content"], hers["heldReason"], hers["reports"]) == ("Waits.", "unlinked", None)
    assert "joke" not in bob.get("held").content.decode()
    assert "joke" not in str(activity(alice))


@pytest.mark.parametrize("verb", ["approve", "decline"])
def test_a_decision_settles_the_report_and_its_undo_opens_it_again(
    root: Caller, alice: Caller, public: Memory, verb: str
) -> None:
    reported(alice, public)
    assert root.post(f"held/{public.pk}/{verb}").status_code in {200, 204}
    assert MemoryReport.objects.get().resolved_at is not None
    assert json_of(root.get("held"))["memories"] == []
    for _ in range(2):
        assert json_of(root.post(f"held/{public.pk}/undo"))["state"] == "held"
    (shown,) = json_of(root.get("held"))["memories"]
    assert [one["reason"] for one in shown["reports"]] == ["That was a joke."]
    assert_fails(alice.post(f"held/{public.pk}/undo"), 404)
    json_of(root.post(f"held/{public.pk}/approve"))
    assert json_of(alice.get(f"memories/{public.pk}"))["state"] == "active"


def test_a_reported_fact_that_is_removed_counts_again_once_restored(
    root: Caller, alice: Caller, public: Memory
) -> None:
    reported(alice, public)
    json_of(root.post(f"public/{public.pk}/remove", WHY))
    assert json_of(root.get("held"))["memories"] == []
    assert json_of(root.post(f"public/{public.pk}/restore", WHY))["state"] == "active"
    assert MemoryReport.objects.get().resolved_at is not None


def test_what_waits_for_a_decision_is_approved_not_restored(
    root: Caller, alice: Caller, public: Memory
) -> None:
    reported(alice, public)
    assert_fails(root.post(f"public/{public.pk}/restore", WHY), 404)
    assert root.post(f"held/{public.pk}/decline").status_code == 204
    assert json_of(root.post(f"public/{public.pk}/restore", WHY))["state"] == "active"


# Admin reads.


@pytest.fixture
def hers(cast: Cast) -> list[Memory]:
    """Alice's private, session and org rows, oldest first; and what no read shows."""
    alice = cast.alice
    rows = [
        make_memory(owner=alice, content="Hers, private."),
        make_memory(
            owner=alice, content="Hers, session.", visibility="session", conversation_id="c"
        ),
        make_memory(owner=alice, content="Hers, org.", visibility="org", org=cast.org),
    ]
    gone = make_memory(owner=alice, content="Hers, forgotten.")
    forgetting.forget(access.person(alice), gone.pk, doer=BY_TEST)
    make_memory(owner=alice, content="Hers, held.", held_reason="unlinked")
    make_memory(owner=cast.bob, content="His, org.", visibility="org", org=cast.org)
    make_memory(owner=cast.bob, content="His, private.")
    return rows


def opened(root: Caller, user: str) -> dict[str, Any]:
    body: dict[str, Any] = json_of(
        root.post("admin-reads", {"user": user, "reason": "Ticket 4711."}), 201
    )
    return body


def test_a_read_shows_one_persons_active_rows_for_fifteen_minutes(
    root: Caller, hers: list[Memory], cast: Cast
) -> None:
    read = opened(root, cast.alice.email)
    assert set(read) == {"id", "user", "reason", "createdAt", "expiresAt"}
    assert (read["user"], read["reason"]) == (str(cast.alice.pk), "Ticket 4711.")
    row = AdminRead.objects.get()
    assert row.expires_at - row.created_at == timedelta(minutes=15)
    page = json_of(root.get(f"admin-reads/{read['id']}/memories"))
    assert [one["id"] for one in page["memories"]] == [str(one.pk) for one in reversed(hers)]
    assert page["expiresAt"] == read["expiresAt"]
    assert not any(one["forgettable"] for one in page["memories"])
    AdminRead.objects.update(expires_at=clock.now())
    assert_fails(root.get(f"admin-reads/{read['id']}/memories"), 404)


def test_the_person_sees_who_read_them_and_why(
    root: Caller, alice: Caller, bob: Caller, hers: list[Memory], cast: Cast
) -> None:
    read = opened(root, str(cast.alice.pk))
    json_of(root.get(f"admin-reads/{read['id']}/memories"))
    entry = activity(alice)[0]
    assert (entry["action"], entry["by"], entry["byName"], entry["reason"]) == (
        "read_as_admin",
        "staff",
        "Root",
        "Ticket 4711.",
    )
    assert "Hers" not in str(activity(alice))
    assert "read_as_admin" not in {one["action"] for one in activity(bob)}
    assert all(one["byName"] is None for one in activity(alice)[1:])


def test_a_read_is_its_openers_alone_and_changes_nothing(
    root: Caller, alice: Caller, hers: list[Memory], cast: Cast
) -> None:
    read = opened(root, cast.alice.email)
    path = f"admin-reads/{read['id']}/memories"
    other = people.create_person("second@example.com", staff=True)
    second = Caller(token=make_personal_token(other, "read", "write", "report"))
    absent = assert_fails(second.get(f"admin-reads/{ABSENT}/memories"), 404)
    assert assert_fails(second.get(path), 404) == absent
    assert_fails(alice.get(path), 403)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert_fails(root.call(method, path), 405)
    for memory in hers:
        assert_fails(root.get(f"memories/{memory.pk}"), 404)
        assert_fails(root.delete(f"memories/{memory.pk}"), 404)
    assert_fails(root.get("admin-reads"), 405)


def test_a_read_is_paged(root: Caller, hers: list[Memory], cast: Cast) -> None:
    path = f"admin-reads/{opened(root, cast.alice.email)['id']}/memories"
    first = json_of(root.get(f"{path}?limit=2"))
    rest = json_of(root.get(f"{path}?limit=2&cursor={first['nextCursor']}"))
    assert [one["id"] for one in first["memories"] + rest["memories"]] == [
        str(one.pk) for one in reversed(hers)
    ]
    assert rest["nextCursor"] is None
    again = f"admin-reads/{opened(root, cast.alice.email)['id']}/memories"
    for query in (f"cursor={first['nextCursor']}", "q=x", "limit=51", "cursor=x"):
        assert_fails(root.get(f"{again}?{query}"), 422)


def test_a_read_of_nobody_is_404_and_leaves_no_trace(root: Caller) -> None:
    for user in ("nobody@example.com", ABSENT, "x"):
        assert_fails(root.post("admin-reads", {"user": user, "reason": "Why."}), 404)
    for user in ("", "a\x00b", "x" * 256):
        assert_fails(root.post("admin-reads", {"user": user, "reason": "Why."}), 422)
    assert not AdminRead.objects.exists()
    assert not AuditEntry.objects.filter(action="read_as_admin").exists()


def test_who_is_no_longer_staff_reads_nothing_more(
    root: Caller, hers: list[Memory], cast: Cast
) -> None:
    read = opened(root, cast.alice.email)
    cast.root.is_staff = False
    cast.root.save(update_fields=["is_staff"])
    assert_fails(root.get(f"admin-reads/{read['id']}/memories"), 403)
