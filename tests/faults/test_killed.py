"""A process that dies at any step of a session: the worker finishes it as if nothing had been."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from junior_memory import people
from junior_memory.models import CompletedSession, ConversationEvent, Memory
from tests.domain.test_worker import ALICE, hand_in
from tests.factories import BY_TEST
from tests.processes import ROOT, environment, manage

pytestmark = pytest.mark.django_db(transaction=True)

DYING = """
import os, signal, sys, uuid
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")
import django
django.setup()
from junior_memory import sessions
name, when, session = sys.argv[1:]
step = getattr(sessions, name)
def dying(*given, **named):
    if when == "after":
        step(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(sessions, name, dying)
sessions.process_session(uuid.UUID(session))
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


@pytest.mark.parametrize(("name", "when"), STEPS)
def test_session_whose_process_died_at_a_step_is_learned_from_once(name: str, when: str) -> None:
    alice = people.create_person("alice@example.com")
    people.link_identity(people.identity_for(ALICE), alice, doer=BY_TEST)
    session = hand_in(1, "I prefer tea over coffee.")
    died = subprocess.run(
        [sys.executable, "-c", DYING, name, when, str(session.pk)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL
    is_stored = name == "_store"
    assert Memory.objects.count() == ConversationEvent.objects.count() == int(is_stored)
    done = manage("worker", "--once")
    assert done.returncode == 0, done.stderr
    assert CompletedSession.objects.get().state == "processed"
    assert Memory.objects.count() == 1
    assert ConversationEvent.objects.filter(name="memories_captured").count() == 1
