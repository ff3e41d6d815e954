"""What a lost database or a killed process must not take along: paid calls, the ends of claims."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from pydantic import BaseModel

from junior_memory import beside, embedding_models, legs, model_calls, owed
from junior_memory.access import Source, person
from junior_memory.asking import ask
from junior_memory.beside import HEAD_START_SECONDS
from junior_memory.model_calls import OnBehalf
from junior_memory.models import ConversationEvent, ModelCall, ToolCall
from junior_memory.providers import Attempt, Message, ModelFailed, ModelName, Question
from junior_memory.providers.base import Embedded
from junior_memory.providers.fake import FakeChatModel, FakeEmbedder
from junior_memory.recall import RecallRequest, recall
from junior_memory.spending import failing_calls
from junior_memory.tools import calls as tool_calls
from tests.cast import make_cast
from tests.factories import make_memory

NAME = ModelName("fake", "scripted")
TOOL = OnBehalf(tool_call_key="k")
RECALL = OnBehalf(recall_id=uuid.uuid4())


class Said(BaseModel):
    answer: str


def put(model: FakeChatModel, payer: OnBehalf) -> Said:
    return ask(
        "review",
        [Message("user", "?")],
        Said,
        payer=payer,
        timeout_seconds=5,
        max_tokens=10,
        attempts=1,
        model=model,
    )


def record() -> list[tuple[str, Any]]:
    return list(ModelCall.objects.values_list("outcome", "cost_usd").order_by("created_at"))


class Died(BaseException):
    """The end of a process, as far as one test can have it."""


@pytest.mark.django_db
def test_a_call_whose_process_was_killed_is_on_the_record_at_a_cost_nobody_knows() -> None:
    def dies(_: Question) -> NoReturn:
        raise Died

    with pytest.raises(Died):
        put(FakeChatModel(dies), TOOL)
    assert record() == [("open", None)]
    assert failing_calls() == (), "no fault of the model's"


@pytest.mark.django_db
def test_a_call_that_ended_completes_the_record_that_was_opened_for_it() -> None:
    seen: list[int] = []

    def answers(_: Question) -> str:
        seen.append(ModelCall.objects.count())
        return '{"answer": "yes"}'

    assert put(FakeChatModel(answers), TOOL).answer == "yes"
    assert seen == [1]
    row = ModelCall.objects.get()
    assert (row.outcome, row.tool_call_key) == ("ok", "k")
    assert row.output_tokens > 0


@pytest.mark.django_db(transaction=True)
def test_a_recall_killed_while_its_model_thinks_is_on_the_record() -> None:
    def dies(_: Question) -> NoReturn:
        until(lambda: ModelCall.objects.exists())
        raise Died

    with pytest.raises(Died):
        put(FakeChatModel(dies), RECALL)
    assert record() == [("open", None)]


@pytest.mark.django_db(transaction=True)
def test_a_recall_waits_for_no_record_before_its_question_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_write = threading.Event()
    real = model_calls._insert_open
    monkeypatch.setattr(model_calls, "_insert_open", lambda call: may_write.wait(10) and real(call))
    asked: list[bool] = []

    def answers(_: Question) -> str:
        asked.append(may_write.is_set())
        may_write.set()
        return '{"answer": "yes"}'

    put(FakeChatModel(answers), RECALL)
    assert asked == [False]
    assert record() == [("ok", None)]


@pytest.mark.django_db(transaction=True)
def test_a_recall_whose_model_answers_at_once_writes_its_record_in_one_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[ModelCall] = []
    monkeypatch.setattr(model_calls, "HEAD_START_SECONDS", 10)
    monkeypatch.setattr(model_calls, "_insert_open", written.append)
    put(FakeChatModel(lambda _: '{"answer": "yes"}'), RECALL)
    assert (written, record()) == ([], [("ok", None)])


@pytest.mark.django_db(transaction=True)
def test_a_record_that_is_late_takes_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_calls, "WRITE_SECONDS", 0.05)
    begun, may_write, done = threading.Event(), threading.Event(), threading.Event()
    real = model_calls._insert_open

    def late(call: ModelCall) -> bool:
        begun.set()
        assert may_write.wait(10)
        kept = real(call)
        done.set()
        return kept

    monkeypatch.setattr(model_calls, "_insert_open", late)

    def answers(_: Question) -> str:
        assert begun.wait(10)
        return '{"answer": "yes"}'

    put(FakeChatModel(answers), RECALL)
    may_write.set()
    assert done.wait(10)
    assert record() == [("ok", None)]


@pytest.mark.django_db(transaction=True)
def test_a_record_that_finds_no_connection_to_spare_is_written_with_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = threading.BoundedSemaphore(1)
    taken.acquire()
    monkeypatch.setattr(model_calls, "for_records", taken)
    seen: list[int] = []

    def answers(_: Question) -> str:
        time.sleep(3 * HEAD_START_SECONDS)
        seen.append(ModelCall.objects.count())
        return '{"answer": "yes"}'

    put(FakeChatModel(answers), RECALL)
    assert (seen, record()) == ([0], [("ok", None)])


@pytest.mark.django_db(transaction=True)
def test_a_search_killed_while_its_text_is_embedded_is_on_the_record() -> None:
    class Dying(FakeEmbedder):
        def embed(self, *_: object, **__: object) -> NoReturn:
            until(lambda: ModelCall.objects.exists())
            raise Died

    with pytest.raises(Died):
        embedding_models.ask_embedder(
            Dying(is_local=False), ["tea"], timeout_seconds=1, on_behalf=RECALL, is_awaited=True
        )
    assert record() == [("open", None)]


@pytest.mark.django_db(transaction=True)
def test_what_is_computed_on_this_machine_has_no_record() -> None:
    class OfOurs(FakeEmbedder):
        provider = "local"

        def embed(self, texts: Sequence[str], **_: object) -> Embedded:
            time.sleep(5 * HEAD_START_SECONDS)
            return Embedded(tuple([1.0] for _ in texts))

    slow = OfOurs(is_local=False)
    with CaptureQueriesContext(connection) as captured:
        embedding_models.ask_embedder(slow, ["tea"], timeout_seconds=1, is_awaited=True)
    assert (len(captured), record()) == (0, [])


def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    ends_at = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.002)


@pytest.mark.parametrize("payer", [OnBehalf(tool_call_key="k"), OnBehalf(recall_id=uuid.uuid4())])
@pytest.mark.django_db(transaction=True)
def test_a_request_that_never_left_leaves_no_record(
    monkeypatch: pytest.MonkeyPatch, payer: OnBehalf
) -> None:
    def paused(*_: object, **__: object) -> NoReturn:
        until(lambda: ModelCall.objects.exists())
        raise ModelFailed("paused")

    model = FakeChatModel()
    monkeypatch.setattr(model, "ask", paused)
    with pytest.raises(ModelFailed):
        put(model, payer)
    assert record() == []


def away_at_first(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, times: int) -> None:
    """Let the database be away the first times that something is written."""
    real, left = getattr(module, name), [None] * times

    def written(*given: Any, **named: Any) -> Any:
        if left:
            left.pop()
            raise OperationalError
        return real(*given, **named)

    monkeypatch.setattr(module, name, written)


@pytest.mark.django_db(transaction=True)
def test_a_paid_call_is_recorded_once_the_database_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owed, "FIRST_REST_SECONDS", 0.05)
    monkeypatch.setattr(ModelCall, "save", lambda *_, **__: away())
    away_at_first(monkeypatch, model_calls, "_insert_again", 4)
    attempts = [Attempt("ok", 5, 100, 0, 20, 0)]
    assert model_calls.record_attempts(NAME, attempts) == []
    assert owed.settled(seconds=10)
    row = ModelCall.objects.get()
    assert (row.outcome, row.input_tokens) == ("ok", 100)


def away() -> NoReturn:
    raise OperationalError


@pytest.mark.django_db(transaction=True)
def test_a_tool_call_that_lost_the_database_may_be_tried_again_once_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owed, "FIRST_REST_SECONDS", 0.05)
    agent = make_cast().agent
    claim = tool_calls.claim_call(("k",), tool="createMemory", agent=agent, is_spent=lambda _: True)
    assert isinstance(claim, tool_calls.Claim)
    away_at_first(monkeypatch, tool_calls, "_end", 3)
    with pytest.raises(OperationalError), tool_calls.work_of(claim):
        away()
    assert owed.settled(seconds=10)
    row = ToolCall.objects.get()
    assert row.outcome == "failed:unavailable"
    again = tool_calls.claim_call(("k",), tool="createMemory", agent=agent, is_spent=lambda _: True)
    assert isinstance(again, tool_calls.Claim)


@pytest.mark.django_db(transaction=True)
def test_where_the_system_gives_no_thread_everything_is_written_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = threading.BoundedSemaphore(1)
    monkeypatch.setattr(beside, "to_spare", places)

    def refused(_: threading.Thread) -> NoReturn:
        raise RuntimeError

    monkeypatch.setattr(threading.Thread, "start", refused)
    done: list[str] = []
    beside.beside(lambda: done.append("written"))()
    assert done == ["written"]
    assert places.acquire(blocking=False), "its place is free again"
    put(FakeChatModel(lambda _: '{"answer": "yes"}'), RECALL)
    assert record() == [("ok", None)]


@pytest.mark.django_db(transaction=True)
def test_where_the_system_gives_no_thread_a_recall_is_answered_by_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cast = make_cast()
    make_memory(owner=cast.alice, content="Prefers jasmine tea in the morning.")
    places = threading.BoundedSemaphore(1)
    monkeypatch.setattr(legs, "to_spare", places)
    real = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name not in {"connect", "alarms"}:
            raise RuntimeError
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr("junior_memory.beside.to_spare", places)
    model = FakeChatModel(lambda _: '{"relevant": [1]}')
    request = RecallRequest(
        viewer=person(cast.alice),
        agent=cast.agent,
        conversation_id="c",
        source=Source(platform="web", key="c", visibility="private"),
        text="Which jasmine tea in the morning?",
        deadline_ms=5_000,
    )
    answer = recall(request, model=model)
    assert (answer.memories, answer.degraded) == ((), ("selection",))
    assert ConversationEvent.objects.get().payload["reason"] == "failed"
