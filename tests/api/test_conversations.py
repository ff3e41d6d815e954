"""GET /conversations/{id}/memories and /events."""

from __future__ import annotations

from urllib.parse import quote

from tests.api.bodies import BOB, said, session, source
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_sessions import process
from tests.cast import Cast
from tests.factories import make_memory


def test_a_conversation_shows_what_it_captured_to_those_who_may_read_it(
    host: Caller, alice: Caller, bob: Caller, charlie: Caller
) -> None:
    host.post("sessions", session(conversationId="a/b:c"))
    process()
    here = quote("a/b:c", safe="")
    (memory,) = json_of(alice.get(f"conversations/{here}/memories"))["memories"]
    (event,) = json_of(alice.get(f"conversations/{here}/events"))["events"]
    assert event["name"] == "memories_captured"
    assert event["version"] == 2
    assert event["memories"] == [memory]
    assert event["hidden"] == 0
    for caller in (bob, charlie):
        assert json_of(caller.get(f"conversations/{here}/memories")) == {"memories": []}
        assert json_of(caller.get(f"conversations/{here}/events")) == {"events": []}
    alice.delete(f"memories/{memory['id']}")
    (event,) = json_of(alice.get(f"conversations/{here}/events"))["events"]
    assert (event["memories"], event["hidden"]) == ([], 1)
    assert json_of(alice.get(f"conversations/{here}/memories")) == {"memories": []}


def test_another_persons_capture_in_the_same_conversation_stays_theirs(
    host: Caller, alice: Caller, bob: Caller
) -> None:
    host.post("sessions", session())
    text = "I prefer long walks in the evening."
    host.post(
        "sessions",
        session(
            sessionId="s2",
            actor=BOB,
            actors=[BOB],
            source=source(key="thread-2"),
            transcript=[said(text, actor=BOB)],
        ),
    )
    process()
    (mine,) = json_of(bob.get("conversations/C-1/memories"))["memories"]
    assert "walk" in mine["content"]
    assert "walk" not in alice.get("conversations/C-1/events").content.decode()


def test_where_a_public_fact_was_learned_is_not_everybodys_to_find(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    make_memory(owner=cast.alice, content="Roof opens.", visibility="public", conversation_id="C-7")
    assert len(json_of(alice.get("conversations/C-7/memories"))["memories"]) == 1
    assert json_of(bob.get("conversations/C-7/memories")) == {"memories": []}


def test_an_unknown_conversation_is_empty_and_an_odd_address_404(alice: Caller) -> None:
    assert json_of(alice.get("conversations/never/memories")) == {"memories": []}
    assert json_of(alice.get("conversations/memories/events")) == {"events": []}
    for path in (
        "conversations",
        "conversations/",
        "conversations/x",
        "conversations/memories",
        "conversations/%00/memories",
        f"conversations/{'x' * 256}/memories",
    ):
        assert_fails(alice.get(path), 404)
    assert_fails(alice.post("conversations/x/memories", {}), 405)
