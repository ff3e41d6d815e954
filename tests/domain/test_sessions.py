"""From a completed session to memories: intake, skipping, routing, storing, once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from junior_memory import access, errors, events, forgetting, people, sessions
from junior_memory.access import LocationRef, Source
from junior_memory.candidates import ActorRef, Candidate, Entry
from junior_memory.conf import conf
from junior_memory.models import (
    CompletedSession,
    ConversationEvent,
    Memory,
    ModelCall,
    Tombstone,
)
from tests.cast import Cast
from tests.factories import BY_TEST, AgentFactory

ALICE = ActorRef("slack", "T1", "UALICE")
BOB = ActorRef("slack", "T1", "UBOB")
NOBODY = ActorRef("slack", "T1", "UNOBODY")
BOT = ActorRef("slack", "T1", "BOT", is_human=False)
DONE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def says(text: str, actor: ActorRef = ALICE, **fields: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "text": text,
        "actor": {
            "provider": actor.provider,
            "tenant": actor.tenant,
            "subject": actor.subject,
            "kind": "human" if actor.is_human else "system",
        },
        **fields,
    }


def answers(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "text": text}


def tool(name: str, text: str = "done", *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "toolResult", "toolName": name, "isError": is_error, "text": text}


def given(*transcript: dict[str, Any], **fields: Any) -> sessions.SessionInput:
    base: dict[str, Any] = {
        "session_id": "s1",
        "conversation_id": "c1",
        "source": Source(platform="slack", key="slack:T1:D1", visibility="private"),
        "actor": ALICE,
        "actors": (ALICE,),
        "completed_at": DONE,
        "transcript": transcript or (says("I prefer tea over coffee."),),
    }
    return sessions.SessionInput(**(base | fields))


def proposes(*candidates: Candidate) -> Any:
    def extract(entries: Sequence[Entry]) -> tuple[Candidate, ...]:
        return candidates

    return extract


def run(cast: Cast, session: sessions.SessionInput, **fields: Any) -> CompletedSession:
    taken, _ = sessions.take_in(session, agent=cast.agent, organization=fields.pop("org", None))
    return sessions.process_session(taken.pk, **fields)


def texts() -> set[str]:
    return set(Memory.objects.values_list("content", flat=True))


def test_completed_conversation_becomes_a_memory_with_its_origin(cast: Cast) -> None:
    location = LocationRef(provider="slack", tenant="T1", key="D1", label="a private chat")
    source = Source(platform="slack", key="slack:T1:D1", visibility="private", location=location)
    said = says("I prefer tea over coffee.", at="2026-11-20T08:30:00+00:00")
    done = run(cast, given(said, answers("Noted."), source=source))
    assert (done.state, done.transcript) == ("processed", None)
    memory = Memory.objects.get()
    assert memory.content == "Prefers tea over coffee."
    assert (memory.kind, memory.visibility, memory.origin) == ("preference", "private", "automatic")
    assert memory.owner == cast.alice
    assert memory.observed_at == datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
    assert memory.location is not None
    assert memory.location.label == "a private chat"
    event = ConversationEvent.objects.get()
    payload = events.captured_payload(event)
    assert [one.id for one in payload.memories] == [memory.pk]
    assert event.version == 2
    assert event.cost_usd == Decimal(0)
    assert "tea" not in str(event.payload)


def test_same_session_again_changes_nothing_and_other_content_is_a_conflict(cast: Cast) -> None:
    first, created = sessions.take_in(given(), agent=cast.agent, organization=None)
    again, created_again = sessions.take_in(given(), agent=cast.agent, organization=None)
    assert (created, created_again) == (True, False)
    assert first.pk == again.pk
    sessions.process_session(first.pk)
    after, _ = sessions.take_in(given(), agent=cast.agent, organization=None)
    assert after.state == "processed"
    sessions.process_session(first.pk)
    assert ConversationEvent.objects.count() == 1
    with pytest.raises(errors.SessionChanged):
        sessions.take_in(given(says("I prefer milk.")), agent=cast.agent, organization=None)


def test_session_id_belongs_to_one_agent(cast: Cast) -> None:
    sessions.take_in(given(), agent=cast.agent, organization=None)
    other = AgentFactory.create()
    _, created = sessions.take_in(given(says("I like jazz.")), agent=other, organization=None)
    assert created


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"source": Source(platform="local", key="k", visibility="private")}, "local_source"),
        ({"source": Source(platform="slack", visibility="private")}, "no_stable_key"),
        ({"memory_mode": "off"}, "memory_mode"),
        ({"memory_mode": "readOnly"}, "memory_mode"),
        ({"actor": NOBODY, "actors": (NOBODY,)}, "no_linked_user"),
        ({"actor": BOT, "actors": (BOT,)}, "system_only"),
        ({"source": Source(platform="slack", key="k", visibility="org")}, "not_a_member"),
        ({"transcript": (answers("Hello"),)}, "no_text"),
        ({"transcript": (says("I like tea."), tool("createMemory"))}, "memory_tool_used"),
        ({"transcript": (says("I like tea."), tool("memory_removeMemory"))}, "memory_tool_used"),
        (
            {
                "source": Source(platform="web", key="k", visibility="public", session_only=True),
                "actor": NOBODY,
                "actors": (NOBODY,),
            },
            "no_linked_user",
        ),
    ],
)
def test_skipped_session_keeps_no_word_and_makes_no_event(
    cast: Cast, fields: dict[str, Any], reason: str
) -> None:
    session, _ = sessions.take_in(given(**fields), agent=cast.agent, organization=None)
    assert (session.state, session.reason) == ("skipped", reason)
    assert session.transcript is None
    assert not ConversationEvent.objects.exists()
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    "entry", [tool("searchMemories"), tool("listMemories"), tool("createMemory", is_error=True)]
)
def test_reading_or_failing_memory_tools_do_not_stop_learning(
    cast: Cast, entry: dict[str, Any]
) -> None:
    done = run(cast, given(says("I prefer tea over coffee."), entry))
    assert done.state == "processed"
    assert "Prefers tea over coffee." in texts()


def test_learning_off_for_person_agent_or_deployment_skips(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.change_preferences(cast.alice, doer=BY_TEST, learning=False)
    assert run(cast, given()).reason == "learning_off"
    people.change_preferences(cast.alice, doer=BY_TEST, learning=True)
    deaf = AgentFactory.create(extract=False)
    session, _ = sessions.take_in(given(), agent=deaf, organization=None)
    assert session.reason == "learning_off"
    off = conf().model_copy(update={"extraction_enabled": False})
    monkeypatch.setattr(sessions, "conf", lambda: off)
    assert run(cast, given(session_id="s2")).reason == "learning_off"


def test_empty_extraction_is_an_event_without_memories(cast: Cast) -> None:
    done = run(cast, given(says("What time is it in Lisbon?")))
    assert done.state == "processed"
    assert events.captured_payload(ConversationEvent.objects.get()).memories == []


def test_memory_goes_to_the_actors_person_and_nobody_else(cast: Cast) -> None:
    run(cast, given())
    now = datetime.now(UTC)
    assert Memory.objects.visible_to(access.person(cast.alice)).active(now).count() == 1
    for user in (cast.bob, cast.charlie, cast.root):
        assert not Memory.objects.visible_to(access.person(user)).active(now).exists()


def test_forgotten_fact_stays_forgotten_under_any_name(cast: Cast) -> None:
    run(cast, given())
    memory = Memory.objects.get()
    forgetting.erase(access.person(cast.alice), memory.pk, doer=BY_TEST)
    public = Source(platform="slack", key="slack:T1:C9", visibility="public")
    disguises: list[dict[str, Any]] = [
        {},
        {"conversation_id": "c2"},
        {"source": public},
        {"transcript": (says("i prefer   TEA over coffee!"),)},
    ]
    for number, fields in enumerate(disguises):
        done = run(cast, given(**{"session_id": f"again{number}", **fields}))
        assert done.state == "processed"
    assert Memory.objects.count() == 1
    assert Tombstone.objects.filter(of="content").first().blocked_count >= 4  # type: ignore[union-attr]
    counts = [events.captured_payload(event).blocked for event in ConversationEvent.objects.all()]
    assert sum(counts) == 4


def test_cited_words_are_recognised_after_forgetting_even_when_worded_otherwise(
    cast: Cast,
) -> None:
    said = says("I prefer tea over coffee.")
    run(cast, given(said))
    forgetting.erase(access.person(cast.alice), Memory.objects.get().pk, doer=BY_TEST)
    other_words = proposes(Candidate("preference", "Favours a cup of tea.", (0,)))
    run(cast, given(said, session_id="s2"), extractor=other_words)
    assert texts() == {""}


def test_forgetting_during_an_extraction_wins(cast: Cast) -> None:
    run(cast, given())
    memory = Memory.objects.get()

    def slow(entries: Sequence[Entry]) -> tuple[Candidate, ...]:
        forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST)
        return (Candidate("preference", "Prefers tea over coffee.", (0,)),)

    run(cast, given(session_id="s2"), extractor=slow)
    assert not Memory.objects.active(datetime.now(UTC)).exists()


def test_forgetting_everything_during_an_extraction_skips_it(cast: Cast) -> None:
    def slow(entries: Sequence[Entry]) -> tuple[Candidate, ...]:
        forgetting.forget_all(access.person(cast.alice), doer=BY_TEST)
        return (Candidate("preference", "Prefers tea over coffee.", (0,)),)

    done = run(cast, given(), extractor=slow)
    assert (done.state, done.reason) == ("skipped", "forgotten_all")
    assert not Memory.objects.exists()


def test_restoring_everything_lifts_the_cut_off(cast: Cast) -> None:
    viewer = access.person(cast.alice)
    batch = forgetting.forget_all(viewer, doer=BY_TEST)
    assert run(cast, given()).reason == "forgotten_all"
    forgetting.restore_batch(viewer, batch.batch_id, doer=BY_TEST)
    assert run(cast, given(session_id="s2")).state == "processed"


def test_secrets_and_never_learn_topics_are_dropped_and_counted(cast: Cast) -> None:
    people.change_preferences(cast.alice, doer=BY_TEST, topics=["my therapies"])
    extractor = proposes(
        Candidate("preference", "Goes to therapy on Mondays.", (0,)),
        Candidate("preference", "Signs in with ghp_" + "a1B2" * 9 + ".", (0,)),
        Candidate("preference", "Prefers tea.", (0,)),
    )
    run(cast, given(), extractor=extractor)
    assert texts() == {"Prefers tea."}
    payload = events.captured_payload(ConversationEvent.objects.get())
    assert (payload.topics, payload.secrets) == (1, 1)


def test_public_facts_of_unlinked_actors_are_held(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = Source(platform="slack", key="slack:T1:C1", visibility="public")
    fact = proposes(Candidate("knowledge", "The release train leaves on Tuesdays.", (0,)))
    said = says("The release train leaves on Tuesdays.", NOBODY)
    run(cast, given(said, source=public, actor=NOBODY, actors=(NOBODY,)), extractor=fact)
    held = Memory.objects.get()
    assert held.held_reason == "unlinked_actor"
    payload = events.captured_payload(ConversationEvent.objects.get())
    assert (payload.held, payload.memories) == (1, [])


def test_twenty_first_public_fact_of_one_identity_a_day_is_held(cast: Cast) -> None:
    public = Source(platform="slack", key="slack:T1:C1", visibility="public")
    for number in range(5):
        facts = proposes(
            *(
                Candidate("knowledge", f"Runbook {number}-{n} lives in drawer {n}.", (0,))
                for n in range(5)
            )
        )
        run(cast, given(session_id=f"s{number}", source=public), extractor=facts)
    assert Memory.objects.filter(held_at__isnull=True).count() == 20
    assert set(Memory.objects.held().values_list("held_reason", flat=True)) == {
        "many_from_one_identity"
    }


def test_org_session_belongs_to_the_tokens_organization(cast: Cast) -> None:
    org = Source(platform="slack", key="slack:T1:C1", visibility="org")
    fact = proposes(Candidate("knowledge", "Staging resets every Sunday.", (0,)))
    run(cast, given(source=org), extractor=fact, org=cast.org)
    memory = Memory.objects.get()
    assert (memory.visibility, memory.org, memory.owner) == ("org", cast.org, cast.alice)


@pytest.mark.parametrize("visibility", ["", "cosy", "private"])
def test_unknown_visibility_is_stored_as_private(cast: Cast, visibility: str) -> None:
    run(cast, given(source=Source(platform="web", key="k", visibility=visibility)))
    assert Memory.objects.get().visibility == "private"


def test_session_only_stores_rows_of_this_conversation(cast: Cast) -> None:
    source = Source(platform="web", key="k", visibility="public", session_only=True)
    run(cast, given(source=source))
    memory = Memory.objects.get()
    assert (memory.visibility, memory.owner, memory.conversation_id) == (
        "session",
        cast.alice,
        "c1",
    )


def test_failure_is_retried_from_the_cache_and_then_given_up(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def count(entries: Sequence[Entry]) -> tuple[Candidate, ...]:
        nonlocal calls
        calls += 1
        return (Candidate("preference", "Prefers tea.", (0,)),)

    taken, _ = sessions.take_in(given(), agent=cast.agent, organization=None)

    def broken(*args: object, **fields: object) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(sessions, "store_candidates", broken)
        for _ in range(sessions.MAX_ATTEMPTS - 1):
            with pytest.raises(RuntimeError):
                sessions.process_session(taken.pk, extractor=count)
        failed = sessions.process_session(taken.pk, extractor=count)
    assert (failed.state, failed.reason, calls) == ("failed", "RuntimeError", 1)
    assert failed.transcript is not None
    assert ConversationEvent.objects.get().name == "memories_capture_failed"
    retried = sessions.retry_session(failed)
    assert retried.state == "queued"
    done = sessions.process_session(taken.pk, extractor=count)
    assert (done.state, calls) == ("processed", 1)
    assert texts() == {"Prefers tea."}


def test_transcripts_do_not_outlive_their_time(cast: Cast, now: datetime) -> None:
    taken, _ = sessions.take_in(given(), agent=cast.agent, organization=None, now=now)
    sessions.fail_session(taken.pk, reason="RuntimeError", now=now)
    waiting, _ = sessions.take_in(
        given(session_id="s2"), agent=cast.agent, organization=None, now=now
    )
    assert sessions.erase_old_transcripts(now=now + timedelta(days=6)) == 0
    assert sessions.erase_old_transcripts(now=now + timedelta(days=7)) == 1
    taken.refresh_from_db()
    assert taken.transcript is None
    with pytest.raises(errors.Conflict) as caught:
        sessions.retry_session(taken)
    assert caught.value.code == "transcript_gone"
    assert sessions.erase_old_transcripts(now=now + timedelta(days=30)) == 1
    waiting.refresh_from_db()
    assert (waiting.state, waiting.reason, waiting.transcript) == ("failed", "expired", None)


def test_event_costs_what_every_call_of_the_session_cost(cast: Cast, now: datetime) -> None:
    taken, _ = sessions.take_in(given(), agent=cast.agent, organization=None)
    for operation, cost in (("extraction", "0.0042"), ("extraction", "0.001"), ("embed", "0.0003")):
        ModelCall.objects.create(
            operation=operation,
            provider="p",
            model="m",
            outcome="ok",
            cost_usd=cost,
            session=taken,
            created_at=now,
        )
    sessions.process_session(taken.pk)
    event = ConversationEvent.objects.get()
    assert str(event.cost_usd) == "0.005500000000"
    split = events.captured_payload(event).cost_by_operation
    assert split == {"embed": "0.000300000000", "extraction": "0.005200000000"}
    assert ModelCall.objects.filter(event=event).count() == 3


def test_moments_after_the_end_are_clamped(cast: Cast) -> None:
    late = says("I prefer tea over coffee.", at="2031-01-01T00:00:00+00:00")
    run(cast, given(late))
    assert Memory.objects.get().observed_at == DONE


@pytest.mark.django_db(transaction=True)
def test_fifty_parallel_intakes_make_one_session_and_one_job() -> None:
    from procrastinate.contrib.django.models import ProcrastinateJob

    agent, _ = people.agent_named("default")
    user = people.create_person("alice@example.com")
    people.link_identity(people.identity_for(ALICE), user, doer=BY_TEST)
    failures: list[BaseException] = []
    gate = threading.Barrier(50)

    def take() -> None:
        try:
            gate.wait(30)
            sessions.take_in(given(), agent=agent, organization=None)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert CompletedSession.objects.count() == 1
    assert ProcrastinateJob.objects.filter(task_name="process_session").count() == 1
