"""What a lost database or a killed process must not take along: paid calls, the ends of claims."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest
from django.db import OperationalError
from pydantic import BaseModel

from junior_memory import model_calls, owed
from junior_memory.asking import ask
from junior_memory.model_calls import OnBehalf
from junior_memory.models import ModelCall, ToolCall
from junior_memory.providers import Attempt, Message, ModelFailed, ModelName, Question
from junior_memory.providers.fake import FakeChatModel
from junior_memory.tools import calls as tool_calls
from tests.cast import make_cast

NAME = ModelName("fake", "scripted")
TOOL = OnBehalf(tool_call_key="k")


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
    assert record() == [("failed", None)]


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


@pytest.mark.django_db
def test_a_recall_writes_nothing_before_its_question_leaves() -> None:
    seen: list[int] = []

    def answers(_: Question) -> str:
        seen.append(ModelCall.objects.count())
        return '{"answer": "yes"}'

    put(FakeChatModel(answers), OnBehalf())
    assert (seen, ModelCall.objects.count()) == ([0], 1)


@pytest.mark.django_db
def test_a_request_that_never_left_leaves_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def paused(*_: object, **__: object) -> NoReturn:
        raise ModelFailed("paused")

    model = FakeChatModel()
    monkeypatch.setattr(model, "ask", paused)
    with pytest.raises(ModelFailed):
        put(model, TOOL)
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
