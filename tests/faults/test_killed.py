"""A process that dies at any step of a session: the worker finishes it as if nothing had been."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from junior_memory import people, sessions
from junior_memory.access import Source
from junior_memory.candidates import ActorRef
from junior_memory.models import CompletedSession, ConversationEvent, Memory
from tests.factories import BY_TEST
from tests.processes import ROOT, environment, manage

pytestmark = pytest.mark.django_db(transaction=True)

DYING = """
import json, os, signal, sys, uuid
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")
import django
django.setup()
from junior_memory import sessions

def die_at(name, when, session):
    step = getattr(sessions, name)
    def dying(*given, **named):
        if when == "after":
            step(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(sessions, name, dying)
    sessions.process_session(uuid.UUID(session))
    os._exit(0)

# A process of its own for each, made before any of them has a connection.
for name, when, session in json.loads(sys.argv[1]):
    child = os.fork() or die_at(name, when, session)
    print(os.waitpid(child, 0)[1])
"""

STEPS = [
    ("_claim", "before"),
    ("_claim", "after"),
    ("learn", "after"),
    ("store_candidates", "before"),
    ("store_candidates", "after"),
    ("_record_captured", "after"),
    ("_finish", "after"),
    ("_store", "after"),
]
SIGKILL = 9


def test_a_session_whose_process_died_at_any_of_eight_steps_is_learned_from_once() -> None:
    handed_in = {step: hand_in(number) for number, step in enumerate(STEPS)}
    plan = [[name, when, str(session.pk)] for (name, when), session in handed_in.items()]
    died = subprocess.run(
        [sys.executable, "-c", DYING, json.dumps(plan)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert died.stdout.split() == [str(SIGKILL)] * len(STEPS)
    assert {step: learned(session) for step, session in handed_in.items()} == {
        step: (int(step[0] == "_store"),) * 2 for step in STEPS
    }
    done = manage("worker", "--once")
    assert done.returncode == 0, done.stderr
    assert set(CompletedSession.objects.values_list("state", flat=True)) == {"processed"}
    assert {step: learned(session) for step, session in handed_in.items()} == dict.fromkeys(
        STEPS, (1, 1)
    )


def hand_in(number: int) -> CompletedSession:
    """Hand in one conversation of a person of its own."""
    actor = ActorRef("slack", "T1", f"U{number}")
    person = people.create_person(f"person{number}@example.com")
    people.link_identity(people.identity_for(actor), person, doer=BY_TEST)
    entry = {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "text": "I prefer tea over coffee.",
        "actor": {"provider": "slack", "tenant": "T1", "subject": f"U{number}"},
    }
    session, _ = sessions.take_in(
        sessions.SessionInput(
            session_id=f"s{number}",
            conversation_id=f"c{number}",
            source=Source(platform="web", key=f"c{number}", visibility="private"),
            actor=actor,
            actors=(actor,),
            completed_at=datetime(2026, 11, 20, tzinfo=UTC),
            transcript=(entry,),
        ),
        agent=people.agent_named("default")[0],
        organization=None,
    )
    return session


def learned(session: CompletedSession) -> tuple[int, int]:
    """Return how many memories and how many events came of a session."""
    events = ConversationEvent.objects.filter(name="memories_captured", session=session)
    return Memory.objects.filter(session=session).count(), events.count()
