"""POST /memories."""

from __future__ import annotations

from junior_memory.models import Memory
from tests.api.conftest import Caller, assert_fails, json_of


def test_post_remembers_what_was_typed_as_private_and_explicit(alice: Caller) -> None:
    memory = json_of(alice.post("memories", {"content": "  Prefers \n tea. "}), 201)
    assert memory["content"] == "Prefers tea."
    assert (memory["visibility"], memory["origin"], memory["kind"]) == (
        "private",
        "explicit",
        "knowledge",
    )
    assert memory["subject"] == {"type": "user", "mine": True}
    assert memory["agent"] == "default"
    assert memory["sourcePlatform"] == "api"
    assert memory["forgettable"] is True
    assert memory["createdAt"].endswith("Z")
    assert memory["expiresAt"] is None


def test_posting_the_same_text_again_answers_the_first(alice: Caller) -> None:
    first = json_of(alice.post("memories", {"content": "Prefers tea."}), 201)
    again = json_of(alice.post("memories", {"content": "prefers  TEA"}), 200)
    assert again["id"] == first["id"]


def test_unknown_keys_are_refused_and_nothing_is_stored(alice: Caller) -> None:
    error = assert_fails(alice.post("memories", {"content": "x", "owner": "bob"}), 422, "invalid")
    assert error["fields"] == {"owner": "Extra inputs are not permitted"}
    assert not Memory.objects.exists()
