"""What is asked for in so many words against what is learned meanwhile: the words win."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection

from junior_memory import sessions
from junior_memory.access import Source
from junior_memory.candidates import Candidate, Entry
from junior_memory.models import CompletedSession, Memory, Tombstone
from junior_memory.tools import call_tool
from tests.cast import Cast, make_cast
from tests.domain.tool_calls import ALICE, Host, private, public
from tests.factories import make_memory

pytestmark = pytest.mark.django_db(transaction=True)

DONE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
FACT = "Prefers tea over coffee."


def handed_in(cast: Cast, *results: dict[str, Any], source: Source | None = None) -> Any:
    said = {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "text": "I prefer tea over coffee.",
        "actor": {"provider": "slack", "tenant": "T1", "subject": "UALICE", "kind": "human"},
    }
    session, _ = sessions.take_in(
        sessions.SessionInput(
            session_id="s1",
            conversation_id="c1",
            source=source or private(),
            actor=ALICE,
            actors=(ALICE,),
            completed_at=DONE,
            transcript=(said, *results),
        ),
        agent=cast.agent,
        organization=cast.org,
    )
    return session


def while_reading(session: CompletedSession, act: Callable[[], None]) -> CompletedSession:
    """Do something while a worker's extraction of a session is under way."""
    reading, may_go_on = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def extract(entries: Sequence[Entry]) -> tuple[Candidate, ...]:
        reading.set()
        assert may_go_on.wait(30)
        return (Candidate("preference", FACT, (0,)),)

    def work() -> None:
        try:
            sessions.process_session(session.pk, extractor=extract)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert reading.wait(30)
    act()
    may_go_on.set()
    worker.join(30)
    assert not failures
    session.refresh_from_db()
    return session


def test_what_is_removed_while_it_is_learned_again_stays_removed(transactional_db: None) -> None:
    cast = make_cast()
    host = Host(cast)
    memory = make_memory(owner=cast.alice, agent=cast.agent, content=FACT)

    def remove() -> None:
        call_tool("removeMemory", {"id": str(memory.pk)}, context=host.context(), tool_call_id="c")

    session = while_reading(handed_in(cast), remove)
    assert session.state == "processed"
    memory.refresh_from_db()
    assert memory.archive_reason == "tool_removed"
    assert Memory.objects.count() == 1
    assert Tombstone.objects.get(of="content").blocked_count == 1


def test_what_is_asked_for_while_it_is_learned_is_one_memory_and_explicit(
    transactional_db: None,
) -> None:
    cast = make_cast()
    host = Host(cast)

    def create() -> None:
        call_tool(
            "createMemory",
            {"content": FACT, "kind": "preference"},
            context=host.context(),
            tool_call_id="c",
        )

    session = while_reading(handed_in(cast), create)
    assert session.state == "processed"
    memory = Memory.objects.get()
    assert (memory.origin, memory.archived_at) == ("explicit", None)


def test_removed_and_asked_for_again_while_it_is_learned_is_there_once(
    transactional_db: None,
) -> None:
    cast = make_cast()
    host = Host(cast)
    memory = make_memory(owner=cast.alice, agent=cast.agent, content=FACT)

    def change_mind() -> None:
        call_tool("removeMemory", {"id": str(memory.pk)}, context=host.context(), tool_call_id="c1")
        call_tool(
            "createMemory",
            {"content": FACT, "kind": "preference"},
            context=host.context(),
            tool_call_id="c2",
        )

    while_reading(handed_in(cast), change_mind)
    (active,) = Memory.objects.filter(archived_at__isnull=True)
    assert (active.origin, active.content) == ("explicit", FACT)
    assert not Tombstone.objects.exists()


@pytest.mark.parametrize("name", ["createMemory", "memory_createMemory", "memory_removeMemory"])
def test_a_conversation_that_changed_memory_teaches_nothing_more(
    transactional_db: None, name: str
) -> None:
    cast = make_cast()
    done = {"type": "toolResult", "toolName": name, "isError": False, "text": "done"}
    assert handed_in(cast, done).reason == "memory_tool_used"


def test_a_conversation_that_failed_to_change_memory_is_learned_from(
    transactional_db: None,
) -> None:
    cast = make_cast()
    failed = {"type": "toolResult", "toolName": "createMemory", "isError": True, "text": "no"}
    assert handed_in(cast, failed).state == "queued"


@pytest.mark.parametrize(
    "name", ["searchMemories", "memory_listMemories", "mcp__jm__searchMemories"]
)
def test_what_a_tool_read_out_is_not_learned_again_in_public(
    transactional_db: None, name: str
) -> None:
    cast = make_cast()
    told = {
        "type": "toolResult",
        "toolName": name,
        "isError": False,
        "text": "The boat key hangs in the shed.",
    }
    session = handed_in(cast, told, source=public())
    proposed = Candidate("knowledge", "The boat key hangs in the shed.", (1,))
    sessions.process_session(session.pk, extractor=lambda _entries: (proposed,))
    assert not Memory.objects.exists()
