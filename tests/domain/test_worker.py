"""The worker: real processes, in order, killed and recovered."""

from __future__ import annotations

import signal
from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from junior_memory import people, sessions
from junior_memory.access import Source
from junior_memory.candidates import ActorRef
from junior_memory.locks import lock, owner_lock
from junior_memory.models import CompletedSession, ConversationEvent, Memory, User
from tests.factories import BY_TEST
from tests.processes import manage, start, wait_for

ALICE = ActorRef("slack", "T1", "UALICE")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice() -> User:
    user = people.create_person("alice@example.com")
    people.link_identity(people.identity_for(ALICE), user, doer=BY_TEST)
    return user


def hand_in(number: int, text: str) -> CompletedSession:
    entry = {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "text": text,
        "actor": {"provider": "slack", "tenant": "T1", "subject": "UALICE"},
    }
    session, _ = sessions.take_in(
        sessions.SessionInput(
            session_id=f"s{number}",
            conversation_id=f"c{number}",
            source=Source(platform="web", key=f"c{number}", visibility="private"),
            actor=ALICE,
            actors=(ALICE,),
            completed_at=datetime(2026, 11, 20, tzinfo=UTC),
            transcript=(entry,),
        ),
        agent=people.agent_named("default")[0],
        organization=None,
    )
    return session


def test_worker_processes_what_was_handed_in_in_the_owners_order(alice: User) -> None:
    for number in range(5):
        hand_in(number, f"I prefer tea number {number} over coffee.")
    done = manage("worker", "--once")
    assert done.returncode == 0, done.stderr
    finished = CompletedSession.objects.order_by("finished_at")
    assert [session.session_id for session in finished] == ["s0", "s1", "s2", "s3", "s4"]
    assert {session.state for session in finished} == {"processed"}
    assert Memory.objects.count() == 5
    assert "tea" not in done.stdout + done.stderr


def test_session_of_a_killed_worker_is_processed_once(alice: User) -> None:
    session = hand_in(1, "I prefer tea over coffee.")
    with transaction.atomic():
        # Holding the owner's lock stops the worker where it is about to store.
        lock([owner_lock(alice.pk)])
        worker = start("worker")
        try:
            wait_for(lambda: _state(session) == "processing")
        finally:
            worker.send_signal(signal.SIGKILL)
            worker.wait(10)
    assert _state(session) == "processing"
    wait_for(lambda: manage("worker", "--once", "--stalled-after", "0.5").returncode == 0)
    wait_for(lambda: _state(session) == "processed")
    assert Memory.objects.count() == 1
    assert ConversationEvent.objects.count() == 1
    assert CompletedSession.objects.get().attempts == 1  # The one that was cut off, ended.


def _state(session: CompletedSession) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state FROM junior_memory_completedsession WHERE id = %s", [session.pk]
        )
        return str(cursor.fetchone()[0])


def test_worker_stops_cleanly_on_interrupt(alice: User) -> None:
    from procrastinate.contrib.django.models import ProcrastinateWorker

    worker = start("worker")
    wait_for(lambda: ProcrastinateWorker.objects.exists())
    worker.send_signal(signal.SIGINT)
    assert worker.wait(15) == 0


def test_process_session_command_learns_at_once(alice: User) -> None:
    hand_in(7, "I prefer tea over coffee.")
    done = manage("process_session", "s7")
    assert done.stdout.strip() == "s7: processed, attempt 1"
    assert manage("process_session", "s7").stdout.strip() == "s7: processed, attempt 1"
    assert manage("process_session", "nope").returncode == 1
    assert Memory.objects.count() == 1
