"""Erased means erased: a sentinel is sought in a whole dump, with statistics, and in the logs."""

from __future__ import annotations

import logging
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connections

from junior_memory import access, forgetting, memories, people, sessions
from junior_memory.access import LocationRef, Source
from junior_memory.candidates import ActorRef
from junior_memory.database import embedded
from junior_memory.database.base import DatabaseWrapper
from junior_memory.inventory import vacuum
from junior_memory.logs import ContentFreeFormatter
from junior_memory.models import Memory, User
from junior_memory.recall import RecallRequest, recall
from junior_memory.search import search_memories
from tests.factories import BY_TEST, MembershipFactory, OrganizationFactory, make_memory

SENTINEL = "quizzacious"
OLDER = "flibbertigibbet"
ALICE = ActorRef("slack", "T1", "UALICE")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice() -> User:
    user = people.create_person("alice@example.com")
    people.link_identity(people.identity_for(ALICE), user, doer=BY_TEST)
    return user


def analyse() -> None:
    """Let the planner sample what is there; not called after an erasure, as life may not either."""
    with connections["default"].cursor() as cursor:
        cursor.execute("ANALYZE")


def dump() -> str:
    """Return everything the database would give away: rows, statistics, the queue."""
    database = connections["default"]
    assert isinstance(database, DatabaseWrapper)
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [str(embedded.binary("pg_dump")), "--statistics", "--inserts"],
        env={**os.environ, **database.address()},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.lower()


def server_log() -> str:
    """Return what the embedded server has written, or nothing for a server of one's own."""
    kept = connections["default"].settings_dict.get("EMBEDDED_DIR")
    return (Path(kept) / "server.log").read_text("utf-8", "replace").lower() if kept else ""


def fail_with(text: str) -> None:
    """Let statements fail over a text, as a bug would, in every way that quotes it."""
    for statement in (
        "SELECT %s::uuid",
        "SELECT to_tsquery('simple', %s || ' & (')",
        "INSERT INTO auth_group (name) SELECT %s FROM generate_series(1, 2)",
        "INSERT INTO junior_memory_memory (content) VALUES (%s)",
    ):
        with connections["default"].cursor() as cursor, pytest.raises(DatabaseError) as failed:
            cursor.execute(statement, [text])
        assert text not in str(failed.value)
        logging.getLogger("junior_memory.test").error("it failed", exc_info=failed.value)


def hand_in(session_id: str, text: str) -> None:
    entry: dict[str, Any] = {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "text": text,
        "actor": {"provider": "slack", "tenant": "T1", "subject": "UALICE"},
    }
    location = LocationRef(provider="slack", tenant="T1", key="D1", label="a chat")
    session, _ = sessions.take_in(
        sessions.SessionInput(
            session_id=session_id,
            conversation_id="c1",
            source=Source(platform="slack", key="D1", visibility="private", location=location),
            actor=ALICE,
            actors=(ALICE,),
            completed_at=datetime(2026, 11, 20, tzinfo=UTC),
            transcript=(entry,),
        ),
        agent=people.agent_named("default")[0],
        organization=None,
    )
    sessions.process_session(session.pk)


def test_erased_text_is_in_the_dump_before_and_nowhere_after(
    alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    viewer = access.person(alice)
    hand_in("s1", f"I prefer {SENTINEL} tea over coffee.")
    memory = Memory.objects.get()
    assert SENTINEL in memory.content
    # Something else, so that the planner has values worth keeping.
    for number in range(30):
        make_memory(owner=alice, content=f"Fact number {number} about herons.")
    assert [hit.memory.pk for hit in search_memories(viewer, SENTINEL).hits] == [memory.pk]
    recall(
        RecallRequest(
            deadline_ms=10_000,
            viewer=access.Viewer(user=alice, agent=memory.agent),
            agent=memory.agent,
            conversation_id="c2",
            source=Source(platform="slack", key="D1", visibility="private"),
            text=f"which {SENTINEL} tea?",
        )
    )
    analyse()
    assert SENTINEL in dump()
    receipt = forgetting.erase(viewer, memory.pk, doer=BY_TEST)
    assert receipt.places
    after = dump()
    assert SENTINEL not in after
    assert not search_memories(viewer, SENTINEL).hits
    hand_in("s2", f"I prefer {SENTINEL} tea over coffee.")
    assert Memory.objects.exclude(content="").filter(content__icontains=SENTINEL).count() == 0
    vacuum()
    assert SENTINEL not in dump()
    fail_with(SENTINEL)
    printed = map(ContentFreeFormatter().format, caplog.records)
    assert SENTINEL not in "\n".join(printed).lower()
    assert SENTINEL not in server_log()


def test_erasing_a_correction_takes_the_old_wording_along(alice: User) -> None:
    viewer = access.person(alice)
    old = make_memory(owner=alice, content=f"Prefers {OLDER} tea.")
    new = memories.correct_memory(
        viewer, old.pk, f"Prefers {SENTINEL} tea.", version=1, doer=BY_TEST
    )
    analyse()
    text = dump()
    assert SENTINEL in text
    assert OLDER in text
    forgetting.erase(viewer, new.pk, doer=BY_TEST)
    text = dump()
    assert SENTINEL not in text
    assert OLDER not in text


def test_forgotten_text_is_gone_once_its_window_is_over(alice: User) -> None:
    viewer = access.person(alice)
    memory = make_memory(owner=alice, content=f"Prefers {SENTINEL} tea.")
    forgotten = forgetting.forget(viewer, memory.pk, doer=BY_TEST)
    assert SENTINEL in dump(), "it can still be undone"
    assert forgotten.purge_at is not None
    forgetting.purge_due(now=forgotten.purge_at)
    assert SENTINEL not in dump()


def test_everything_of_a_person_is_gone_at_once_and_nowhere_after(
    alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    """Forget-all and the purge after it, over rows of every sort that a person owns."""
    caplog.set_level(logging.DEBUG)
    viewer = access.person(alice)
    org = OrganizationFactory.create(name="Acme", slug="acme")
    MembershipFactory.create(user=alice, organization=org)
    rows = [make_memory(owner=alice, content=f"Keeps {SENTINEL} number {n}.") for n in range(60)]
    make_memory(owner=alice, content=f"Shares {SENTINEL} tea.", visibility="org", org=org)
    once = f"Says {SENTINEL} once."
    make_memory(owner=alice, content=once, visibility="session", conversation_id="c9")
    make_memory(owner=alice, content=f"Waits {SENTINEL} long.", held_reason="unlinked")
    memories.correct_memory(viewer, rows[0].pk, f"Kept {SENTINEL}.", version=1, doer=BY_TEST)
    hand_in("s1", f"I prefer {SENTINEL} tea over coffee.")
    analyse()
    done = forgetting.forget_all(viewer, doer=BY_TEST)
    assert len(done.forgotten) == 64
    assert not search_memories(viewer, SENTINEL).hits
    last = Memory.objects.exclude(purge_at=None).latest("purge_at").purge_at
    assert last is not None
    forgetting.purge_due(now=last)
    vacuum()
    assert SENTINEL not in dump()
    assert SENTINEL not in server_log()
    assert SENTINEL not in "\n".join(map(ContentFreeFormatter().format, caplog.records)).lower()
