"""POST /sessions, GET /sessions/{id}, POST /sessions/{id}/retry."""

from __future__ import annotations

from urllib.parse import quote

from procrastinate.contrib.django.models import ProcrastinateJob

from junior_memory import people, sessions
from junior_memory.models import (
    CompletedSession,
    ConversationEvent,
    Identity,
    Location,
    Memory,
    SessionState,
)
from tests.api.bodies import ALICE, BOB, UNKNOWN, said, session, source
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_agent_token, make_personal_token


def process() -> None:
    for row in CompletedSession.objects.filter(state=SessionState.QUEUED):
        sessions.process_session(row.pk)


def test_a_session_is_taken_in_once_and_answers_how_far_it_has_come(
    host: Caller, cast: Cast
) -> None:
    body = session()
    assert json_of(host.post("sessions", body), 202) == {
        "sessionId": "session-1",
        "status": "queued",
    }
    assert json_of(host.post("sessions", body), 200)["status"] == "queued"
    assert CompletedSession.objects.count() == 1
    assert ProcrastinateJob.objects.count() == 1
    process()
    assert json_of(host.post("sessions", body), 200)["status"] == "processed"
    done = json_of(host.get("sessions/session-1"))
    assert set(done) == {"sessionId", "status", "reason", "captured", "costUsd", "attempts"}
    assert (done["status"], done["reason"], done["costUsd"]) == ("processed", None, 0)
    assert done["attempts"] == 1
    assert done["captured"] == [str(Memory.objects.get().pk)]
    assert Memory.objects.get().owner == cast.alice


def test_what_was_learned_is_its_persons_to_see(
    host: Caller, alice: Caller, bob: Caller, cast: Cast
) -> None:
    host.post("sessions", session())
    process()
    (memory,) = json_of(alice.get("memories"))["memories"]
    assert memory["origin"] == "automatic"
    assert memory["conversationId"] == "C-1"
    assert memory["observedAt"] == "2026-06-01T10:00:00Z"
    assert json_of(bob.get("memories"))["memories"] == []


def test_the_same_id_with_other_content_is_409(host: Caller) -> None:
    host.post("sessions", session())
    for change in (
        {"transcript": [said("I prefer long answers.")]},
        {"conversationId": "C-2"},
        {"completedAt": "2026-06-01T10:00:01Z"},
        {"source": source(visibility="public")},
        {"actor": BOB, "actors": [BOB]},
    ):
        assert_fails(host.post("sessions", session(**change)), 409, "session_changed")
    same = session(completedAt="2026-06-01T12:00:00+02:00", memoryMode="on")
    json_of(host.post("sessions", same), 200)
    assert CompletedSession.objects.count() == 1


def test_another_agents_session_is_404_and_its_ids_are_its_own(host: Caller, cast: Cast) -> None:
    other = Caller(token=make_agent_token(people.agent_named("scribe", made_by_token=True)[0])[1])
    host.post("sessions", session())
    assert_fails(other.get("sessions/session-1"), 404)
    assert_fails(host.get("sessions/never"), 404)
    json_of(other.post("sessions", session()), 202)
    assert CompletedSession.objects.count() == 2


def test_ids_with_slashes_colons_and_other_scripts_work(host: Caller) -> None:
    for session_id in (
        "a/b:c",
        "thread:1/retry",
        "retry",
        "x/",
        "/x",
        "ключ 1",
        "a?b#c",
        "50%",
        "a/memories",
        "x//y",
    ):
        json_of(host.post("sessions", session(sessionId=session_id)), 202)
        found = json_of(host.get(f"sessions/{quote(session_id, safe='')}"))
        assert found["sessionId"] == session_id
    assert_fails(host.get("sessions/%00"), 404)
    assert_fails(host.get(f"sessions/{'x' * 300}"), 404)
    assert_fails(host.call("PUT", "sessions/a%2Fb"), 405)


def test_what_does_not_fit_is_refused_and_nothing_is_kept(host: Caller) -> None:
    wrong: list[dict[str, object]] = [
        {"sessionId": ""},
        {"sessionId": "x" * 256},
        {"sessionId": "a\nb"},
        {"sessionId": "a\x00b"},
        {"sessionId": 5},
        {"conversationId": None},
        {"source": {}},
        {"source": source(platform="fax")},
        {"source": source(user="alice")},
        {"source": source(sessionOnly="yes")},
        {"source": source(location={"provider": "slack"})},
        {
            "source": source(
                location={
                    "provider": "s",
                    "tenant": "t",
                    "key": "k",
                    "url": "javascript:alert(1)",
                }
            )
        },
        {"actor": {**ALICE, "userId": "x"}},
        {"actor": {**ALICE, "kind": "robot"}},
        {"actor": {"provider": "slack"}},
        {"actors": None},
        {"actors": "alice"},
        {"completedAt": "2026-06-01T10:00:00"},
        {"completedAt": "yesterday"},
        {"completedAt": None},
        {"transcript": None},
        {"transcript": [said("x", at="2026-06-01T09:00:00")]},
        {"transcript": [said("x", role="narrator")]},
        {"transcript": [said("x", authority="gospel")]},
        {"transcript": [said("x", mood="good")]},
        {"transcript": [said("\ud800")]},
        {"transcript": [said(5)]},  # type: ignore[arg-type]
        {"transcript": [{"type": "message", "role": "user"}]},
        {"transcript": [{"type": "thought", "text": "x"}]},
        {"transcript": [{"type": "toolResult", "toolName": "x", "text": "y"}]},
        {"transcript": [said("x")] * 2001},
        {"memoryMode": "sometimes"},
        {"owner": "alice"},
    ]
    for change in wrong:
        assert_fails(host.post("sessions", session(**change)), 422)
    assert not CompletedSession.objects.exists()
    assert not Identity.objects.filter(subject="UNEVERSEEN").exists()


def test_two_thousand_entries_and_odd_texts_are_taken(host: Caller) -> None:
    entries = [said(f"Line {n}\x00 ‮​", at="2026-06-01T09:00:00Z") for n in range(2000)]
    json_of(host.post("sessions", session(transcript=entries)), 202)
    assert "\x00" not in str(CompletedSession.objects.get().transcript)


def test_an_unknown_visibility_is_taken_and_stored_as_private(host: Caller) -> None:
    for number, visibility in enumerate(("secret", "", None, "PUBLIC", "session")):
        body = session(sessionId=f"s{number}", source=source(visibility=visibility))
        json_of(host.post("sessions", body), 202)
    assert set(CompletedSession.objects.values_list("source_visibility", flat=True)) == {"private"}


def test_an_unknown_actor_becomes_an_identity_linked_to_nobody(host: Caller) -> None:
    taken = json_of(host.post("sessions", session(actor=UNKNOWN, actors=[UNKNOWN])), 202)
    assert taken["status"] == "skipped"
    assert Identity.objects.get(subject="UNEVERSEEN").user is None
    assert json_of(host.get("sessions/session-1"))["reason"] == "no_linked_user"
    assert not ConversationEvent.objects.exists()


def test_a_verified_address_links_only_through_a_token_that_is_trusted(cast: Cast) -> None:
    who = {**UNKNOWN, "email": "Charlie@Example.com", "emailVerified": True}
    plain = Caller(token=make_agent_token(cast.agent)[1])
    plain.post("sessions", session(actor=who, actors=[who]))
    assert Identity.objects.get(subject="UNEVERSEEN").user is None
    trusted = Caller(token=make_agent_token(cast.agent, trust_email=True)[1])
    unverified = {**who, "emailVerified": False}
    trusted.post("sessions", session(sessionId="s2", actor=unverified, actors=[unverified]))
    assert Identity.objects.get(subject="UNEVERSEEN").user is None
    trusted.post("sessions", session(sessionId="s3", actor=who, actors=[who]))
    assert Identity.objects.get(subject="UNEVERSEEN").user == cast.charlie
    staff = {**UNKNOWN, "subject": "UROOT", "email": "root@example.com", "emailVerified": True}
    trusted.post("sessions", session(sessionId="s4", actor=staff, actors=[staff]))
    assert Identity.objects.get(subject="UROOT").user is None


def test_a_token_speaks_for_its_providers_alone(cast: Cast) -> None:
    bound = Caller(token=make_agent_token(cast.agent, providers=["slack/T2"])[1])
    assert_fails(bound.post("sessions", session()), 403)
    there = {**ALICE, "tenant": "T2"}
    mixed = session(actor=there, actors=[there])
    assert_fails(bound.post("sessions", mixed), 403)
    assert_fails(bound.post("sessions", session(actor=there, transcript=[])), 403)
    whole = session(actor=there, actors=[there], transcript=[said("Hello.", actor=there)])
    json_of(bound.post("sessions", whole), 202)


def test_a_location_is_kept_as_a_record(host: Caller, alice: Caller) -> None:
    place = {"provider": "slack", "tenant": "T1", "key": "C1", "label": "#general"}
    body = session(source=source(location={**place, "url": "https://chat.example.com/C1"}))
    json_of(host.post("sessions", body), 202)
    process()
    assert Location.objects.get().label == "#general"
    (memory,) = json_of(alice.get("memories"))["memories"]
    assert memory["location"] == {"label": "#general", "url": "https://chat.example.com/C1"}


def test_staff_retry_a_failed_session_while_its_transcript_is_there(
    host: Caller, alice: Caller, root: Caller, cast: Cast
) -> None:
    host.post("sessions", session(sessionId="a/b"))
    row = CompletedSession.objects.get()
    sessions.fail_session(row.pk, reason="broken")
    assert_fails(alice.post("sessions/a%2Fb/retry"), 403)
    assert_fails(host.post("sessions/a%2Fb/retry"), 403)
    writer = Caller(token=make_personal_token(cast.root, "read", "write"))
    assert_fails(writer.post("sessions/a%2Fb/retry"), 403)
    assert_fails(root.post("sessions/a%2Fb/retry?agent=scribe"), 404)
    assert_fails(root.post("sessions/a%2Fb/retry?agents=default"), 422)
    assert_fails(root.post("sessions/never/retry"), 404)
    for _ in range(2):
        again = json_of(root.post("sessions/a%2Fb/retry?agent=default"))
        assert again == {"sessionId": "a/b", "status": "queued"}
    sessions.fail_session(row.pk, reason="broken")
    CompletedSession.objects.update(transcript=None)
    assert_fails(root.post("sessions/a%2Fb/retry"), 409, "transcript_gone")
    assert_fails(root.post("sessions/a%2Fb"), 405)
