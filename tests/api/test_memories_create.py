"""POST /memories."""

from __future__ import annotations

from junior_memory import people
from junior_memory.models import Memory
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_memory


def test_post_remembers_what_was_typed_as_private_and_explicit(alice: Caller) -> None:
    memory = json_of(alice.post("memories", {"content": "  Prefers \n tea. "}), 201)
    assert memory["content"] == "Prefers tea."
    assert memory["visibility"] == "private"
    assert memory["origin"] == "explicit"
    assert memory["kind"] == "knowledge"
    assert memory["subject"] == {"type": "user", "mine": True}
    assert memory["agent"] == "default"
    assert memory["sourcePlatform"] == "api"
    assert memory["forgettable"] is True
    assert memory["createdAt"].endswith("Z")
    assert memory["expiresAt"] is None
    assert memory["supersededBy"] is None


def test_the_same_text_and_the_same_key_answer_the_first(alice: Caller) -> None:
    body = {"content": "Prefers tea.", "idempotencyKey": "k1"}
    first = json_of(alice.post("memories", body), 201)
    assert json_of(alice.post("memories", body), 200)["id"] == first["id"]
    assert json_of(alice.post("memories", {"content": "prefers  TEA"}))["id"] == first["id"]
    other = {"content": "Something else.", "idempotencyKey": "k1"}
    again = json_of(alice.post("memories", other), 200)
    assert (again["id"], again["content"]) == (first["id"], "Prefers tea.")
    assert Memory.objects.count() == 1


def test_two_people_and_two_agents_keep_their_own(alice: Caller, bob: Caller) -> None:
    people.agent_named("scribe", made_by_token=True)[0]
    body = {"content": "Prefers tea.", "idempotencyKey": "k1"}
    ids = {
        json_of(alice.post("memories", body), 201)["id"],
        json_of(bob.post("memories", body), 201)["id"],
        json_of(alice.post("memories", {**body, "agent": "scribe"}), 201)["id"],
    }
    assert len(ids) == 3


def test_a_key_whose_memory_was_forgotten_is_409_and_a_new_one_remembers_again(
    alice: Caller,
) -> None:
    body = {"content": "Prefers tea.", "idempotencyKey": "k1"}
    first = json_of(alice.post("memories", body), 201)
    alice.delete(f"memories/{first['id']}")
    assert_fails(alice.post("memories", body), 409, "forgotten")
    json_of(alice.post("memories", {**body, "idempotencyKey": "k2"}), 201)
    assert json_of(alice.get("tombstones"))["tombstones"] == []


def test_a_retry_after_a_correction_answers_what_stands_today(alice: Caller) -> None:
    body = {"content": "Prefers tee.", "idempotencyKey": "k1"}
    first = json_of(alice.post("memories", body), 201)
    better = json_of(
        alice.patch(f"memories/{first['id']}", {"content": "Prefers tea.", "version": 1})
    )
    assert json_of(alice.post("memories", body), 200)["id"] == better["id"]


def test_unknown_keys_are_refused_and_nothing_is_stored(alice: Caller) -> None:
    error = assert_fails(alice.post("memories", {"content": "x", "owner": "bob"}), 422, "invalid")
    assert error["fields"] == {"owner": "Extra inputs are not permitted"}
    assert not Memory.objects.exists()


def test_secrets_are_refused(alice: Caller) -> None:
    key = "AKIA" + "Q3EGRJ7XW2KPLM5N"
    assert_fails(alice.post("memories", {"content": f"The key is {key}."}), 422)
    assert not Memory.objects.exists()


def test_over_quota_is_409_with_limit_and_use(alice: Caller, cast: Cast) -> None:
    from django.conf import settings
    from django.test import override_settings

    make_memory(owner=cast.alice)
    with override_settings(JUNIOR_MEMORY={**settings.JUNIOR_MEMORY, "active_quota": 1}):
        error = assert_fails(alice.post("memories", {"content": "x"}), 409, "quota_exceeded")
    assert error["fields"] == {"limit": "1", "use": "1"}


def test_an_expiry_and_a_kind_are_kept(alice: Caller) -> None:
    body = {"content": "x", "kind": "procedure", "expiresAt": "2090-01-01T02:00:00+02:00"}
    memory = json_of(alice.post("memories", body), 201)
    assert (memory["kind"], memory["expiresAt"]) == ("procedure", "2090-01-01T00:00:00Z")


def test_texts_in_every_script_come_back_as_they_went_in(alice: Caller) -> None:
    for text in ("東京タワーが好き", "émigré naïve", "C++ und C#", "🧗‍♀️ climbs", "ล็อกอิน", "مرحبا"):
        memory = json_of(alice.post("memories", {"content": text}), 201)
        assert memory["content"] == text
        assert json_of(alice.get(f"memories/{memory['id']}"))["content"] == text


def test_a_text_that_waits_for_a_decision_is_answered(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.", kind="knowledge", held_reason="unlinked")
    response = alice.post("memories", {"content": "Prefers tea."})
    assert response.status_code in {200, 201}
