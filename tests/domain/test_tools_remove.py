"""removeMemory: one's own, by its id or an unambiguous beginning of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from junior_memory import access, forgetting, memories
from junior_memory.models import AuditEntry, Memory, MemoryEmbedding, Tombstone, ToolCall
from junior_memory.tools import ToolInputError, call_tool, person_context
from junior_memory.tools.remove import read_id
from tests.cast import Cast
from tests.domain.tool_calls import ALICE, BOB, BOT, CHARLIE, UNLINKED, Host, public
from tests.factories import BY_TEST, make_memory

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BEFORE = NOW - timedelta(days=2)


@pytest.fixture
def host(cast: Cast) -> Host:
    return Host(cast)


def hers(cast: Cast, content: str = "Prefers green tea.", **fields: Any) -> Memory:
    wanted: dict[str, Any] = {"owner": cast.alice, "agent": cast.agent, "now": BEFORE} | fields
    return make_memory(content=content, **wanted)


def remove(context: Any, memory_id: str, *, call: str = "call-1") -> dict[str, Any]:
    return call_tool(
        "memory_removeMemory", {"id": memory_id}, context=context, tool_call_id=call, now=NOW
    )


def refused(context: Any, memory_id: str, *, call: str = "call-1") -> ToolInputError:
    with pytest.raises(ToolInputError) as caught:
        remove(context, memory_id, call=call)
    return caught.value


def test_a_removed_memory_is_forgotten_by_a_tool(cast: Cast, host: Host) -> None:
    memory = hers(cast)
    answer = remove(host.context(), str(memory.pk))
    assert answer == {
        "target": "removeMemory",
        "removed": True,
        "idempotent": False,
        "memory": {
            "id": str(memory.pk),
            "content": "Prefers green tea.",
            "createdAt": "2026-11-18T12:00:00Z",
            "observedAt": "2026-11-18T12:00:00Z",
            "expiresAt": None,
        },
    }
    memory.refresh_from_db()
    assert (memory.archived_at, memory.archive_reason) == (NOW, "tool_removed")
    assert not MemoryEmbedding.objects.filter(memory=memory).exists()
    assert Tombstone.objects.filter(memory=memory).exists()
    entry = AuditEntry.objects.get(action="forgot")
    assert (entry.via, entry.actor, entry.token) == ("tool", cast.alice, host.token)
    for tool, arguments in (("listMemories", {}), ("searchMemories", {"query": "green tea"})):
        found = call_tool(tool, arguments, context=host.context(), tool_call_id=None, now=NOW)
        assert found["memories"] == []


def test_the_same_call_again_says_so_again_without_its_text(cast: Cast, host: Host) -> None:
    memory = hers(cast)
    first = remove(host.context(), str(memory.pk))
    again = remove(host.context(), str(memory.pk))
    assert again["memory"] == first["memory"] | {"content": None}
    assert (again["removed"], again["idempotent"]) == (True, True)
    assert AuditEntry.objects.filter(action="forgot").count() == 1
    forgetting.restore(access.person(cast.alice), memory.pk, doer=BY_TEST, now=NOW)
    remove(host.context(), str(memory.pk))
    assert Memory.objects.active(NOW).filter(pk=memory.pk).exists()
    assert refused(host.context(), "00000000", call="call-2").code == "not_found"


def test_another_call_finds_nothing_any_more(cast: Cast, host: Host) -> None:
    memory = hers(cast)
    remove(host.context(), str(memory.pk))
    assert refused(host.context(), str(memory.pk), call="call-2").code == "not_found"


@pytest.mark.parametrize("length", [8, 9, 12, 13, 23, 24, 35, 36])
def test_an_unambiguous_beginning_is_enough(cast: Cast, host: Host, length: int) -> None:
    hers(cast, "Prefers coffee at noon.")
    memory = hers(cast)
    prefix = str(memory.pk)[:length]
    assert remove(host.context(), prefix.upper())["memory"]["id"] == str(memory.pk)


def test_digits_without_hyphens_mean_the_same(cast: Cast, host: Host) -> None:
    memory = hers(cast)
    assert remove(host.context(), f" {memory.pk.hex[:20]} ")["memory"]["id"] == str(memory.pk)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "%",
        "_",
        "%%%%%%%%",
        "________",
        "*",
        "********",
        "........",
        "abcdefg",
        "1234567",
        "zzzzzzzz",
        "-",
        "--------",
        "1234-5678",
        "12345678--9",
        "12345678-%",
        "12345678\x00",
        "１２３４５６７８",
        "0x12345678",
        "12345678' OR 1=1 --",
        "a" * 33,
        "a" * 65,
        "a" * 1_000_000,
        "{12345678-1234-1234-1234-123456789012}",
        "\ud800" * 8,
    ],
)
def test_what_is_no_beginning_of_an_id_removes_nothing(cast: Cast, host: Host, text: str) -> None:
    hers(cast)
    error = refused(host.context(), text)
    assert error.code == "invalid"
    assert "first 8 characters" in error.message
    assert Memory.objects.active(NOW).count() == 1
    assert not ToolCall.objects.exists()


@pytest.mark.parametrize("arguments", [{}, {"id": None}, {"id": 7}, {"id": ["a"]}, {"ids": []}])
def test_the_id_is_needed_as_text(cast: Cast, host: Host, arguments: dict[str, Any]) -> None:
    hers(cast)
    with pytest.raises(ToolInputError) as caught:
        call_tool("removeMemory", arguments, context=host.context(), tool_call_id="c", now=NOW)
    assert "id" in caught.value.fields
    assert Memory.objects.active(NOW).count() == 1


def test_a_beginning_that_fits_several_removes_none_and_counts_them(cast: Cast, host: Host) -> None:
    first = UUID("aaaaaaaa-0000-4000-8000-000000000001")
    for number in range(3):
        row = hers(cast, f"Likes tea number {number}.")
        Memory.objects.filter(pk=row.pk).update(id=UUID(int=first.int + number))
    error = refused(host.context(), "aaaaaaaa")
    assert (error.code, error.fields) == ("ambiguous", {"id": "fits 3"})
    assert str(first) not in error.message
    assert Memory.objects.active(NOW).count() == 3
    assert remove(host.context(), str(first)[:36])["memory"]["id"] == str(first)


def test_strangers_rows_neither_count_nor_match(cast: Cast, host: Host) -> None:
    mine = hers(cast)
    other = make_memory(owner=cast.bob, agent=cast.agent, content="Bob's own.", now=BEFORE)
    Memory.objects.filter(pk=mine.pk).update(id=UUID("aaaaaaaa-0000-4000-8000-000000000001"))
    Memory.objects.filter(pk=other.pk).update(id=UUID("aaaaaaaa-0000-4000-8000-000000000002"))
    assert remove(host.context(), "aaaaaaaa")["memory"]["id"].endswith("01")
    assert refused(host.context(), "aaaaaaaa-0000-4000-8000-000000000002", call="c2").code == (
        "not_found"
    )
    assert Memory.objects.active(NOW).get().owner == cast.bob


def test_an_absent_id_and_a_strangers_are_told_alike(cast: Cast, host: Host) -> None:
    memory = hers(cast)
    absent = refused(host.context(CHARLIE), "12345678-1234-4234-8234-123456789012")
    strange = refused(host.context(CHARLIE), str(memory.pk), call="c2")
    assert (absent.code, absent.message, absent.fields) == (
        strange.code,
        strange.message,
        strange.fields,
    )


def test_public_memory_is_nobodys_to_remove(cast: Cast, host: Host) -> None:
    memory = hers(cast, visibility="public")
    for call, context in (
        ("c1", host.context(ALICE)),
        ("c2", host.context(BOB, public())),
        ("c3", host.context(UNLINKED)),
        ("c4", person_context(cast.alice, conversation_id="c1")),
    ):
        assert refused(context, str(memory.pk)[:12], call=call).code == "public_memory_read_only"
    assert Memory.objects.active(NOW).count() == 1


def test_the_organizations_memory_is_its_authors_to_remove(cast: Cast, host: Host) -> None:
    memory = hers(cast, visibility="org", org=cast.org)
    assert refused(host.context(BOB), str(memory.pk), call="c1").code == "not_found"
    assert refused(host.context(CHARLIE), str(memory.pk), call="c2").code == "not_found"
    assert remove(host.context(ALICE), str(memory.pk), call="c3")["removed"]


@pytest.mark.parametrize("state", ["expired", "forgotten", "superseded", "held", "erased"])
def test_what_is_not_active_is_not_found(cast: Cast, host: Host, state: str) -> None:
    viewer = access.person(cast.alice)
    fields: dict[str, Any] = {"held": {"held_reason": "unlinked_actor"}}.get(state, {})
    if state == "expired":
        fields = {"expires_at": NOW - timedelta(hours=1)}
    memory = hers(cast, **fields)
    match state:
        case "forgotten":
            forgetting.forget(viewer, memory.pk, doer=BY_TEST, now=NOW)
        case "superseded":
            memories.correct_memory(
                viewer, memory.pk, "Prefers black tea.", version=1, doer=BY_TEST, now=NOW
            )
        case "erased":
            forgetting.erase(viewer, memory.pk, doer=BY_TEST, now=NOW)
    assert refused(host.context(), str(memory.pk)).code == "not_found"


def test_in_a_public_place_only_what_may_be_used_there_is_in_sight(cast: Cast, host: Host) -> None:
    known = hers(cast, "The boat key hangs in the shed.", kind="knowledge")
    liked = hers(cast)
    context = host.context(source=public())
    assert refused(context, str(known.pk), call="c1").code == "not_found"
    assert remove(context, str(liked.pk), call="c2")["removed"]


def test_another_conversations_notes_and_another_agents_rows_are_out_of_sight(
    cast: Cast, host: Host
) -> None:
    note = hers(cast, visibility="session", conversation_id="c2")
    scribe = hers(cast, agent=Host(cast, agent="scribe").token.agent)
    for number, memory in enumerate((note, scribe)):
        assert refused(host.context(), str(memory.pk), call=f"c{number}").code == "not_found"
    assert remove(host.context(conversation="c2"), str(note.pk), call="c9")["removed"]


def test_no_job_of_a_hosts_removes_anything(cast: Cast, host: Host) -> None:
    memory = hers(cast)
    assert refused(host.context(BOT), str(memory.pk)).code == "no_person"


def test_a_person_removes_by_their_own_token_whatever_the_agent(cast: Cast) -> None:
    memory = hers(cast, agent=Host(cast, agent="scribe").token.agent)
    context = person_context(cast.alice, conversation_id="")
    assert remove(context, str(memory.pk))["removed"]


def test_a_failed_removal_can_be_tried_again(cast: Cast, host: Host) -> None:
    assert refused(host.context(), "aaaaaaaa").code == "not_found"
    row = hers(cast)
    Memory.objects.filter(pk=row.pk).update(id=UUID("aaaaaaaa-0000-4000-8000-000000000001"))
    assert remove(host.context(), "aaaaaaaa")["removed"]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("12345678", "12345678" + "0" * 24, "12345678" + "f" * 24),
        ("12345678-", "12345678" + "0" * 24, "12345678" + "f" * 24),
        ("12345678-9", "123456789" + "0" * 23, "123456789" + "f" * 23),
        ("a" * 32, "a" * 32, "a" * 32),
    ],
)
def test_a_beginning_means_a_span_of_ids(text: str, first: str, last: str) -> None:
    assert read_id(text) == (UUID(first), UUID(last))
