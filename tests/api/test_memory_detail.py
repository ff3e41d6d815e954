"""GET, HEAD, PATCH, DELETE /memories/{id}, /restore, /erase, /report, /uses, /history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from junior_memory.models import AuditEntry, Memory, MemoryReport
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_memory

ABSENT = "11111111-1111-4111-8111-111111111111"
KEYS = {
    "id",
    "content",
    "kind",
    "visibility",
    "agent",
    "origin",
    "state",
    "subject",
    "sourcePlatform",
    "location",
    "conversationId",
    "createdAt",
    "observedAt",
    "expiresAt",
    "forgottenAt",
    "purgeAt",
    "supersededBy",
    "version",
    "forgettable",
}


def test_a_memory_shows_exactly_what_is_promised(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    memory = json_of(alice.get(f"memories/{made.pk}"))
    assert set(memory) == KEYS
    assert memory["id"] == str(made.pk)
    assert memory["state"] == "active"
    assert memory["version"] == 1
    assert datetime.fromisoformat(memory["createdAt"]) == made.created_at


def test_an_absent_id_and_somebody_elses_answer_the_same(bob: Caller, cast: Cast) -> None:
    theirs = make_memory(owner=cast.alice, content="Likes tea.")
    for method, path, body in (
        ("GET", "", None),
        ("GET", "/uses", None),
        ("GET", "/history", None),
        ("PATCH", "", {"content": "x", "version": 1}),
        ("DELETE", "", None),
        ("POST", "/restore", None),
        ("POST", "/erase", None),
        ("POST", "/report", {"reason": "wrong"}),
    ):
        absent = bob.call(method, f"memories/{ABSENT}{path}", body)
        hidden = bob.call(method, f"memories/{theirs.pk}{path}", body)
        assert_fails(absent, 404, "not_found")
        assert hidden.status_code == 404
        assert hidden.content == absent.content
    assert Memory.objects.get(pk=theirs.pk).archived_at is None


def test_inactive_memories_are_404_but_their_owner_reads_the_history(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    assert alice.delete(f"memories/{made.pk}").status_code == 204
    assert_fails(alice.get(f"memories/{made.pk}"), 404)
    assert_fails(alice.get(f"memories/{made.pk}/uses"), 404)
    history = json_of(alice.get(f"memories/{made.pk}/history"))
    assert history["memory"]["state"] == "forgotten"
    assert [entry["action"] for entry in history["activity"]] == ["forgot"]
    assert history["activity"][0]["by"] == "you"
    assert_fails(bob.get(f"memories/{made.pk}/history"), 404)


def test_delete_forgets_once_and_restore_brings_it_back(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    response = alice.delete(f"memories/{made.pk}")
    assert response.status_code == 204
    assert response.content == b""
    assert response.headers["Cache-Control"] == "no-store"
    assert_fails(alice.delete(f"memories/{made.pk}"), 404)
    assert json_of(alice.get("memories?q=tea"))["memories"] == []
    back = json_of(alice.post(f"memories/{made.pk}/restore"))
    assert (back["id"], back["state"]) == (str(made.pk), "active")
    assert json_of(alice.post(f"memories/{made.pk}/restore"))["id"] == str(made.pk)
    assert len(json_of(alice.get("memories?q=tea"))["memories"]) == 1


def test_public_memory_is_read_only(alice: Caller, root: Caller, cast: Cast) -> None:
    public = make_memory(owner=cast.alice, content="Roof opens.", visibility="public")
    for caller in (alice, root):
        assert_fails(caller.delete(f"memories/{public.pk}"), 403, "public_memory_read_only")
        assert_fails(caller.post(f"memories/{public.pk}/erase"), 403, "public_memory_read_only")
    json_of(alice.get(f"memories/{public.pk}"))


def test_a_teammate_reads_an_org_memory_and_changes_nothing(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    team = make_memory(owner=cast.alice, content="Team meets.", visibility="org", org=cast.org)
    memory = json_of(bob.get(f"memories/{team.pk}"))
    assert memory["forgettable"] is False
    assert memory["subject"] == {"type": "user", "mine": False}
    assert_fails(bob.delete(f"memories/{team.pk}"), 404)
    assert_fails(bob.patch(f"memories/{team.pk}", {"content": "x", "version": 1}), 404)
    assert_fails(bob.post(f"memories/{team.pk}/erase"), 404)
    assert json_of(alice.get(f"memories/{team.pk}"))["forgettable"] is True


def test_a_correction_is_a_new_memory_and_repeats_to_it(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice, content="Likes tee.")
    body = {"content": "Likes tea.", "version": 1}
    corrected = json_of(alice.patch(f"memories/{made.pk}", body))
    assert corrected["id"] != str(made.pk)
    assert corrected["content"] == "Likes tea."
    assert corrected["origin"] == "explicit"
    assert json_of(alice.patch(f"memories/{made.pk}", body))["id"] == corrected["id"]
    other = {"content": "Likes coffee.", "version": 1}
    assert_fails(alice.patch(f"memories/{made.pk}", other), 409, "version_conflict")
    assert_fails(
        alice.patch(f"memories/{corrected['id']}", {"content": "x", "version": 7}),
        409,
        "version_conflict",
    )
    history = json_of(alice.get(f"memories/{corrected['id']}/history"))
    assert [link["memory"]["content"] for link in history["chain"]] == ["Likes tee.", "Likes tea."]
    assert [link["current"] for link in history["chain"]] == [False, True]
    assert history["chain"][0]["memory"]["supersededBy"] == corrected["id"]
    assert_fails(alice.get(f"memories/{made.pk}"), 404)


@pytest.mark.parametrize(
    "body",
    [
        {"content": "x"},
        {"version": 1},
        {"content": "x", "version": "1"},
        {"content": "x", "version": True},
        {"content": "", "version": 1},
        {"content": "x", "version": 1, "kind": "preference"},
    ],
)
def test_a_correction_that_does_not_fit_is_refused(
    alice: Caller, cast: Cast, body: dict[str, object]
) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    assert_fails(alice.patch(f"memories/{made.pk}", body), 422)
    assert Memory.objects.get().content == "Likes tea."


def test_erase_gives_the_same_receipt_twice_in_any_state(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    alice.delete(f"memories/{made.pk}")
    receipt = json_of(alice.post(f"memories/{made.pk}/erase"))
    assert set(receipt) == {"id", "places", "erasedAt"}
    assert receipt["id"] == str(made.pk)
    assert {"name", "rows"} == set(receipt["places"][0])
    assert json_of(alice.post(f"memories/{made.pk}/erase")) == receipt
    assert_fails(alice.post(f"memories/{made.pk}/restore"), 404)
    assert_fails(alice.get(f"memories/{made.pk}/history"), 404)
    assert json_of(alice.get("receipts"))["receipts"] == [receipt]


def test_author_and_subject_report_public_memory_and_it_is_held_at_once(
    alice: Caller, bob: Caller, charlie: Caller, root: Caller, cast: Cast
) -> None:
    public = make_memory(owner=cast.alice, content="Alice snores.", visibility="public")
    assert_fails(charlie.post(f"memories/{public.pk}/report", {"reason": "not mine"}), 403)
    json_of(charlie.get(f"memories/{public.pk}"))
    for reason in ("", "x" * 201, " "):
        assert_fails(alice.post(f"memories/{public.pk}/report", {"reason": reason}), 422)
    assert_fails(alice.post(f"memories/{public.pk}/report", {}), 422)
    for _ in range(2):
        response = alice.post(f"memories/{public.pk}/report", {"reason": "private matter"})
        assert response.status_code == 202
    assert MemoryReport.objects.count() == 1
    assert_fails(charlie.get(f"memories/{public.pk}"), 404)
    assert [m["id"] for m in json_of(root.get("held"))["memories"]] == [str(public.pk)]
    assert json_of(bob.get("held"))["memories"] == []


def test_own_private_memory_is_not_reported(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    assert_fails(alice.post(f"memories/{made.pk}/report", {"reason": "x"}), 422)


def test_uses_show_own_conversations_and_the_rest_as_a_count(
    alice: Caller, bob: Caller, host: Caller, cast: Cast
) -> None:
    public = make_memory(content="The deploy pipeline runs on Jenkins.", visibility="public")
    for subject, conversation in (("UALICE", "C-alice"), ("UBOB", "C-bob")):
        body = {
            "conversationId": conversation,
            "source": {"platform": "slack", "visibility": "private", "key": "K"},
            "actor": {"provider": "slack", "tenant": "T1", "subject": subject},
            "text": "What does the deploy pipeline run on, Jenkins?",
        }
        assert json_of(host.post("recall", body))["memories"]
    uses = json_of(alice.get(f"memories/{public.pk}/uses"))
    assert (uses["total"], uses["elsewhere"]) == (2, 1)
    assert [use["conversationId"] for use in uses["uses"]] == ["C-alice"]
    assert "C-alice" not in bob.get(f"memories/{public.pk}/uses").content.decode()


def test_a_memory_that_expired_is_gone_at_once(alice: Caller, cast: Cast) -> None:
    past = datetime.now(UTC) - timedelta(days=2)
    made = make_memory(
        owner=cast.alice, content="In Rome.", now=past, expires_at=past + timedelta(days=1)
    )
    assert_fails(alice.get(f"memories/{made.pk}"), 404)
    assert_fails(alice.post(f"memories/{made.pk}/restore"), 409, "expired")


def test_reading_writes_nothing_into_the_audit(alice: Caller, cast: Cast) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    before = AuditEntry.objects.count()
    for path in (f"memories/{made.pk}", "memories", "memories?q=tea", "me", "dashboard"):
        json_of(alice.get(path))
    assert AuditEntry.objects.count() == before
