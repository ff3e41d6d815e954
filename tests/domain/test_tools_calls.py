"""Tool-call ids: any number of repeats are one call, one review and one memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from junior_memory import access, clock, forgetting, lexical, memories
from junior_memory.access import Source
from junior_memory.errors import Forgotten
from junior_memory.models import (
    ConversationEvent,
    Memory,
    ModelCall,
    RetryKey,
    Tombstone,
    ToolCall,
)
from junior_memory.providers import ModelFailed
from junior_memory.providers.fake import FakeChatModel
from junior_memory.tools import ToolInputError, call_tool, calls
from junior_memory.tools.errors import StillRunning
from tests.cast import Cast, make_cast
from tests.domain.tool_calls import ALICE, BOB, UNLINKED, Host, by_schema, judges, private, public
from tests.factories import BY_TEST, make_memory

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def host(cast: Cast) -> Host:
    return Host(cast)


def create(
    context: Any, content: str = "Prefers green tea.", *, call: str = "call-1", **arguments: Any
) -> dict[str, Any]:
    now = arguments.pop("now", NOW)
    wanted = {"content": content, **arguments}
    return call_tool("createMemory", wanted, context=context, tool_call_id=call, now=now)


def remove(context: Any, memory_id: str, *, call: str = "call-9") -> dict[str, Any]:
    return call_tool("removeMemory", {"id": memory_id}, context=context, tool_call_id=call, now=NOW)


def test_a_repeat_answers_with_the_first_memory_whatever_it_says_now(host: Host) -> None:
    first = create(host.context())
    again = create(host.context(), "Prefers black tea.", kind="procedure")
    assert again["memory"] == first["memory"]
    assert (again["created"], again["idempotent"]) == (False, True)
    assert Memory.objects.count() == RetryKey.objects.count() == ToolCall.objects.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"source": private(key="thread-2")},
        {"conversation": "c2"},
        {"actor": BOB},
        {"source": public(key="thread-1")},
        {"source": private(session_only=True)},
        {"namespace": ("run-2",)},
    ],
)
def test_an_id_counts_for_one_actor_in_one_place(host: Host, other: dict[str, Any]) -> None:
    first = create(host.context(), "Backups run at two.")
    namespace = other.pop("namespace", ())
    context = host.context(**other)
    if namespace:
        context = replace(context, namespace=namespace)
    second = create(context, "Backups run at three.")
    assert second["created"]
    assert second["memory"]["id"] != first["memory"]["id"]


def test_an_id_counts_for_one_token_agent_and_tool(cast: Cast, host: Host) -> None:
    first = create(host.context(), "Backups run at two.")
    for number, other in enumerate((Host(cast), Host(cast, agent="scribe"))):
        assert create(other.context(), f"Backups run at {number}.")["created"]
    removed = remove(host.context(), first["memory"]["id"], call="call-1")
    assert removed["memory"]["id"] == first["memory"]["id"]


def test_another_persons_call_of_that_id_tells_them_nothing(cast: Cast, host: Host) -> None:
    create(host.context(ALICE), "Backups run at two.")
    answer = create(host.context(BOB), "Bob's own fact.")
    assert answer["memory"]["content"] == "Bob's own fact."


def test_an_id_whose_memory_was_forgotten_needs_a_new_one(cast: Cast, host: Host) -> None:
    first = create(host.context())
    forgetting.forget(access.person(cast.alice), Memory.objects.get().pk, doer=BY_TEST, now=NOW)
    with pytest.raises(Forgotten):
        create(host.context())
    again = create(host.context(), call="call-2")
    assert again["created"]
    assert again["memory"]["id"] != first["memory"]["id"]
    assert not Tombstone.objects.exists()
    with pytest.raises(Forgotten):
        create(host.context())


def test_an_id_whose_memory_was_erased_needs_a_new_one(cast: Cast, host: Host) -> None:
    create(host.context())
    forgetting.erase(access.person(cast.alice), Memory.objects.get().pk, doer=BY_TEST)
    with pytest.raises(Forgotten):
        create(host.context())


def test_an_id_whose_memory_has_expired_remembers_anew(host: Host) -> None:
    first = create(host.context(), expiresAt="2026-11-21T00:00:00Z")
    later = NOW + timedelta(days=2)
    again = create(host.context(), now=later)
    assert again["created"]
    assert again["memory"]["id"] != first["memory"]["id"]
    old = Memory.objects.get(pk=first["memory"]["id"])
    assert old.archive_reason == "expired"
    assert create(host.context(), now=later)["memory"]["id"] == again["memory"]["id"]


def test_a_repeat_follows_a_correction_to_its_end(cast: Cast, host: Host) -> None:
    first = create(host.context())
    memory = Memory.objects.get()
    better = memories.correct_memory(
        access.person(cast.alice), memory.pk, "Prefers white tea.", version=1, doer=BY_TEST
    )
    again = create(host.context())
    assert again["memory"]["id"] == str(better.pk) != first["memory"]["id"]


def test_where_private_words_are_not_seen_a_repeat_does_not_tell_them(
    cast: Cast, host: Host
) -> None:
    somewhere = Source(platform="web", key="w")
    context = host.context(source=somewhere)
    first = create(context, "Backups run at two.")
    assert first["memory"]["content"] == "Backups run at two."
    again = create(context, "Backups run at two.")
    assert again["memory"] == first["memory"] | {"content": None}


def test_what_calls_came_to_is_cleared_after_a_month(host: Host) -> None:
    first = create(host.context())
    assert calls.clear_old_calls(now=clock.now() + timedelta(days=29)) == 0
    assert calls.clear_old_calls(now=clock.now() + timedelta(days=31)) == 1
    assert create(host.context())["memory"]["id"] == first["memory"]["id"]


# Reviewed by a model.


def test_the_review_decides_words_and_kind_and_nothing_else(
    cast: Cast, host: Host, chat_model: FakeChatModel
) -> None:
    chat_model.script = [judges(kind="preference", canonicalFact="Prefers green tea.")]
    answer = create(host.context(user_text="Remember: I prefer green tea!"), "I prefer green tea")
    row = Memory.objects.get()
    assert answer["memory"]["content"] == row.content == "Prefers green tea."
    assert (row.kind, row.visibility, row.subject_key) == (
        "preference",
        "private",
        str(cast.alice.pk),
    )
    event = ConversationEvent.objects.get()
    assert event.name == "memory_reviewed"
    assert event.payload["decision"] == "store"
    assert event.payload["memory_id"] == answer["memory"]["id"]
    assert (event.owner, event.conversation_id) == (cast.alice, "c1")
    (call,) = ModelCall.objects.all()
    assert (call.operation, call.event, call.agent) == ("review", event, cast.agent)
    assert call.tool_call_key == ToolCall.objects.get().key_hash


def test_nothing_is_asked_before_words_authority_and_id_are_in_order(
    host: Host, chat_model: FakeChatModel
) -> None:
    for context, arguments, call in (
        (host.context(), {"content": "Likes tea"}, None),
        (host.context(), {"content": ""}, "c"),
        (host.context(), {"content": "Likes tea", "scope": "public"}, "c"),
        (host.context(), {"content": "Likes tea", "expiresAt": "2020-01-01T00:00:00Z"}, "c"),
        (host.context(), {"content": "The key is AKIA" + "IOSFODNN7EXAMPLQ"}, "c"),
        (host.context(UNLINKED), {"content": "Likes tea"}, "c"),
    ):
        with pytest.raises(ToolInputError):
            call_tool("createMemory", arguments, context=context, tool_call_id=call, now=NOW)
    assert chat_model.asked == []
    assert not ModelCall.objects.exists()


def test_a_rejection_names_its_reason_stores_nothing_and_is_not_asked_again(
    host: Host, chat_model: FakeChatModel
) -> None:
    chat_model.script = [judges("reject", reason="not_durable")]
    messages = []
    for _ in range(3):
        with pytest.raises(ToolInputError) as caught:
            create(host.context(), "It rains today.")
        assert caught.value.code == "not_durable"
        messages.append(caught.value.message)
    assert "not_durable" in messages[0]
    assert len(set(messages)) == 1
    assert not Memory.objects.exists()
    assert len(chat_model.asked) == ModelCall.objects.count() == 1
    event = ConversationEvent.objects.get()
    assert (event.payload["decision"], event.payload["reason"]) == ("reject", "not_durable")
    assert event.payload["memory_id"] is None


@pytest.mark.parametrize(
    "failure",
    [
        ModelFailed("http_500"),
        ModelFailed("refused", is_permanent=True),
        RuntimeError("zebra-crossing-sentinel"),
        "no JSON at all: zebra-crossing-sentinel",
        '{"decision": "store"}',
        '{"decision": "perhaps", "kind": "knowledge"}',
    ],
)
def test_a_failed_review_stores_nothing_says_no_cause_and_may_be_tried_again(
    host: Host, chat_model: FakeChatModel, failure: Any
) -> None:
    def breaks(_question: Any) -> str:
        raise failure

    chat_model.script = [breaks if type(failure) is RuntimeError else failure]
    with pytest.raises((ToolInputError, RuntimeError)) as caught:
        create(host.context())
    if isinstance(caught.value, ToolInputError):
        assert caught.value.code == "review_failed"
        assert "zebra" not in caught.value.message + str(caught.value.fields)
        event = ConversationEvent.objects.get()
        assert event.payload["decision"] == "failed"
        assert set(ModelCall.objects.values_list("event", flat=True)) == {event.pk}
    assert not Memory.objects.exists()
    chat_model.script = [judges(canonicalFact="Prefers green tea.")]
    assert create(host.context())["created"]


def test_the_reviews_own_expiry_counts_where_none_was_asked_for(
    host: Host, chat_model: FakeChatModel
) -> None:
    said = judges(canonicalFact="Is on holiday until 2026-12-01.", expiresAt="2026-12-01")
    chat_model.script = [said]
    create(host.context(), "Is on holiday until 2026-12-01.")
    expires_at = Memory.objects.get().expires_at
    assert expires_at is not None
    assert expires_at.date().isoformat() in {"2026-12-01", "2026-12-02"}


def test_an_expiry_that_was_asked_for_stays(host: Host, chat_model: FakeChatModel) -> None:
    chat_model.script = [judges(canonicalFact="Is on holiday.", expiresAt="2026-12-01")]
    create(host.context(), "Is on holiday.", expiresAt="2027-01-01T00:00:00Z")
    assert Memory.objects.get().expires_at == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_preference_that_a_review_makes_of_a_strangers_words_is_refused(
    host: Host, chat_model: FakeChatModel
) -> None:
    chat_model.script = [judges(kind="preference", canonicalFact="Prefers green tea.")]
    with pytest.raises(ToolInputError):
        create(host.context(UNLINKED, public()), "I prefer green tea")
    assert not Memory.objects.exists()


def test_a_changed_preference_takes_the_old_ones_place(
    cast: Cast, host: Host, chat_model: FakeChatModel
) -> None:
    old = make_memory(
        owner=cast.alice,
        content="Prefers green tea in the morning.",
        conversation_id="c0",
        agent=cast.agent,
        now=NOW - timedelta(days=3),
    )
    chat_model.script = [
        by_schema(
            Judgement=judges(kind="preference", canonicalFact="Prefers black tea in the morning."),
            Comparison='{"verdict": "supersedes", "numbers": [1]}',
        )
    ]
    answer = create(host.context(), "I prefer black tea in the morning now")
    assert answer["superseded"] == [str(old.pk)]
    old.refresh_from_db()
    assert str(old.superseded_by_id) == answer["memory"]["id"]
    event = ConversationEvent.objects.get()
    assert event.payload["superseded"] == [str(old.pk)]
    assert set(event.payload["cost_by_operation"]) == {"review", "adjudication"}
    assert create(host.context())["memory"]["id"] == answer["memory"]["id"]
    assert len(chat_model.asked) == 2


def test_a_reworded_fact_answers_with_the_one_that_stands(
    cast: Cast, host: Host, chat_model: FakeChatModel
) -> None:
    old = make_memory(
        owner=cast.alice,
        content="Prefers green tea in the morning.",
        agent=cast.agent,
        now=NOW - timedelta(days=3),
    )
    chat_model.script = [
        by_schema(
            Judgement=judges(
                kind="preference", canonicalFact="Likes green tea best in the morning."
            ),
            Comparison='{"verdict": "duplicate", "numbers": [1]}',
        )
    ]
    answer = create(host.context(), "I like green tea best in the morning")
    assert (answer["created"], answer["memory"]["id"]) == (False, str(old.pk))


# At once.


def at_once(count: int, work: Callable[[int], Any]) -> tuple[list[Any], list[BaseException]]:
    """Do something in many threads at the same moment."""
    gate = threading.Barrier(count)
    results: list[Any] = []
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            gate.wait(30)
            results.append(work(number))
        except BaseException as error:  # noqa: BLE001
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results, failures


@pytest.mark.django_db(transaction=True)
def test_fifty_creates_with_one_id_are_one_review_and_one_memory(
    transactional_db: None, chat_model: FakeChatModel
) -> None:
    host = Host(make_cast())
    chat_model.script = [judges(kind="preference", canonicalFact="Prefers green tea.")]
    chat_model.delay_seconds = 0.5
    context = host.context()
    results, failures = at_once(50, lambda _: create(context))
    assert not failures
    assert len({answer["memory"]["id"] for answer in results}) == 1
    assert sum(answer["created"] for answer in results) == 1
    assert len(chat_model.asked) == ModelCall.objects.count() == 1
    assert Memory.objects.count() == ConversationEvent.objects.count() == 1
    assert ToolCall.objects.get().outcome == "created"


@pytest.mark.django_db(transaction=True)
def test_those_who_wait_for_a_failing_review_fail_with_it(
    transactional_db: None, chat_model: FakeChatModel
) -> None:
    host = Host(make_cast())
    chat_model.script = [ModelFailed("refused", is_permanent=True)]
    chat_model.delay_seconds = 0.5
    context = host.context()
    results, failures = at_once(20, lambda _: create(context))
    assert not results
    assert {getattr(error, "code", error) for error in failures} == {"review_failed"}
    assert len(chat_model.asked) == 1


@pytest.mark.django_db(transaction=True)
def test_twenty_removals_with_one_id_are_one(transactional_db: None) -> None:
    cast = make_cast()
    host = Host(cast)
    memory = make_memory(owner=cast.alice, agent=cast.agent)
    context = host.context()
    results, failures = at_once(20, lambda _: remove(context, str(memory.pk)))
    assert not failures
    assert {answer["memory"]["id"] for answer in results} == {str(memory.pk)}
    assert sum(not answer["idempotent"] for answer in results) == 1
    assert Tombstone.objects.filter(memory=memory, of="content").count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_abandoned_call_is_taken_over_and_its_late_end_keeps_nothing(
    transactional_db: None, chat_model: FakeChatModel
) -> None:
    host = Host(make_cast())
    context = host.context()
    chat_model.script = [judges(canonicalFact="Backups run at two.")]
    asked, may_answer = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def waits(_question: Any) -> str:
        asked.set()
        may_answer.wait(30)
        return judges(canonicalFact="Backups run at three.")

    chat_model.script = [waits, judges(canonicalFact="Backups run at two.")]

    def slow() -> None:
        try:
            create(context, "Backups run at three.")
        except BaseException as error:  # noqa: BLE001
            failures.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    assert asked.wait(30)
    old = clock.now() - timedelta(seconds=calls.claim_lifetime_seconds() + 1)
    ToolCall.objects.update(claimed_at=old)
    answer = create(context, "Backups run at two.")
    may_answer.set()
    thread.join(30)
    assert [type(error) for error in failures] == [StillRunning]
    assert [row.content for row in Memory.objects.all()] == ["Backups run at two."]
    assert ToolCall.objects.get().memory_id is not None
    assert answer["created"]


@pytest.mark.django_db(transaction=True)
def test_a_call_that_does_not_end_is_not_waited_for_for_ever(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(make_cast())
    context = host.context()
    create(context)
    ToolCall.objects.update(finished_at=None, outcome="", memory=None, claimed_at=clock.now())
    monkeypatch.setattr(calls, "claim_lifetime_seconds", lambda: 1.0)
    ToolCall.objects.update(claimed_at=clock.now() + timedelta(seconds=30))
    with pytest.raises(StillRunning):
        create(context)


@pytest.mark.django_db(transaction=True)
def test_a_fault_of_ours_leaves_the_call_to_be_tried_again(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = Host(make_cast()).context()
    with monkeypatch.context() as broken:
        broken.setattr(lexical, "vector_of", _breaks)
        with pytest.raises(RuntimeError):
            create(context)
    assert ToolCall.objects.get().outcome == "failed:RuntimeError"
    assert not Memory.objects.exists()
    assert create(context)["created"]


def _breaks(_text: str) -> None:
    raise RuntimeError("zebra-crossing-sentinel")


def test_a_call_inside_a_callers_transaction_keeps_its_connection(host: Host) -> None:
    with transaction.atomic():
        assert create(host.context())["created"]
        calls.let_go_of_connection()
        assert Memory.objects.count() == 1
