"""Asking one thing: an answer of one shape, or a reason; all of it on the record."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import Error, connection, transaction
from pydantic import BaseModel, ConfigDict, Field

from junior_memory import model_calls
from junior_memory.asking import ask
from junior_memory.model_calls import OnBehalf
from junior_memory.models import ModelCall
from junior_memory.pricing import price_of, provider_at
from junior_memory.providers import (
    Attempt,
    Message,
    ModelFailed,
    ModelName,
    Question,
    chat_model_in_use,
)
from junior_memory.providers.answers import read_object
from junior_memory.providers.chat import OpenAIChatModel, forget_manners
from junior_memory.providers.fake import FakeChatModel
from junior_memory.providers.registry import chat_model_fault
from tests.cast import Cast
from tests.model_server import CHAT_MODEL, ModelServer, Reply, model_server

SENTINEL = "zebra-umbrella-9174"
GOOD = '{"ids": ["a", "b"]}'


class Chosen(BaseModel):
    """Some ids."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str] = Field(max_length=3)


@pytest.fixture(autouse=True)
def _fresh_manners() -> None:
    forget_manners()


@pytest.fixture
def double() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


@pytest.fixture
def model(double: ModelServer) -> OpenAIChatModel:
    """Return the real client of the double, by the name of a model with a published price."""
    return OpenAIChatModel(CHAT_MODEL, api_key="k", base_url=double.url)


def choose(model: Any, payer: OnBehalf | None = None, **fields: Any) -> list[str]:
    """Ask for ids, or return the reason with a mark."""
    asked: dict[str, Any] = {"timeout_seconds": 5, "max_tokens": 400} | fields
    try:
        found = ask(
            "relevance",
            [Message("user", SENTINEL)],
            Chosen,
            payer=payer or OnBehalf(),
            model=model,
            **asked,
        )
    except ModelFailed as failure:
        return [f"! {failure.reason}{' for good' if failure.is_permanent else ''}"]
    return found.ids


def outcomes() -> list[str]:
    """Return what is on the record, in the order of the calls."""
    return list(ModelCall.objects.order_by("created_at").values_list("outcome", flat=True))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}",
        f"Sure! Here they are [as asked]: {GOOD} I hope {{that}} helps.",
        f"<think>Maybe {{'ids': 1}}?</think>\n{GOOD}",
        f"\ufeff  {GOOD}",
        '["a", "b"]',
        '```json\n["a", "b"]\n```',
    ],
)
def test_an_answer_is_read_whatever_stands_around_it(
    double: ModelServer, model: OpenAIChatModel, text: str
) -> None:
    double.always = Reply(text)
    assert choose(model) == ["a", "b"]
    assert outcomes() == ["ok"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("", "empty"),
        ("I would rather talk about trains.", "invalid"),
        ('{"ids": ["a", "b', "invalid"),
        ('{"chosen": {"ids": ["a"]}, "ids": ["a", ', "invalid"),
        ('```json\n{"ids": ["a"\n```', "invalid"),
        ('{"ids": "a"}', "invalid"),
        ('{"ids": [1, 2]}', "invalid"),
        ('{"ids": ["a"], "visibility": "public"}', "invalid"),
        ('{"ids": ["a", "b", "c", "d"]}', "too_many"),
        ("[1] see below: none", "invalid"),
        ("{" * 5_000, "invalid"),
        ("[" * 100_000, "invalid"),
        ("null", "invalid"),
    ],
)
def test_an_answer_of_no_use_is_billed_twice_at_most_and_then_fails_for_good(
    double: ModelServer, model: OpenAIChatModel, text: str, outcome: str
) -> None:
    double.always = Reply(text, input_tokens=500, output_tokens=40)
    payer = OnBehalf()
    assert choose(model, payer, attempts=5) == [f"! {outcome} for good"]
    assert outcomes() == [outcome, outcome]
    assert [call.outcome for call in payer.calls] == [outcome, outcome]
    assert sum(call.cost_usd or 0 for call in payer.calls) == double.told_usd > 0


@pytest.mark.django_db
def test_an_answer_is_on_the_record_before_it_is_read(
    double: ModelServer, model: OpenAIChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str) -> None:
        assert ModelCall.objects.get().output_tokens == 20
        raise KeyboardInterrupt

    monkeypatch.setattr("junior_memory.asking.read_object", broken)
    with pytest.raises(KeyboardInterrupt):
        choose(model)
    assert outcomes() == ["ok"]
    assert ModelCall.objects.get().cost_usd == double.told_usd


@pytest.mark.django_db
def test_garbage_then_sense_is_an_answer(double: ModelServer, model: OpenAIChatModel) -> None:
    double.replies = [Reply("nonsense"), Reply(GOOD)]
    assert choose(model) == ["a", "b"]
    assert outcomes() == ["invalid", "ok"]


@pytest.mark.django_db
def test_a_truncated_answer_gets_twice_the_room_once(
    double: ModelServer, model: OpenAIChatModel
) -> None:
    double.replies = [Reply('{"ids": [', finish="length"), Reply(GOOD)]
    assert choose(model) == ["a", "b"]
    assert [asked["max_tokens"] for asked in double.asked] == [400, 800]
    assert outcomes() == ["truncated", "ok"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "first",
    [Reply(status=500), Reply(status=429), Reply(status=409), Reply(drops_after=30)],
)
def test_what_may_pass_is_tried_again(
    double: ModelServer, model: OpenAIChatModel, first: Reply
) -> None:
    double.replies = [first, Reply(GOOD)]
    assert choose(model) == ["a", "b"]
    assert len(outcomes()) == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=401),
        Reply(status=403),
        Reply(status=404),
        Reply(refusal="No."),
        Reply(status=429, error={"code": "insufficient_quota"}),
        Reply(status=429, headers={"retry-after": "600"}),
    ],
)
def test_what_will_not_pass_is_asked_once(
    double: ModelServer, model: OpenAIChatModel, reply: Reply
) -> None:
    double.always = reply
    assert choose(model, attempts=4)[0].startswith("!")
    assert len(double.asked) == len(outcomes()) == 1


@pytest.mark.django_db
def test_a_short_wish_to_be_left_alone_is_kept(
    double: ModelServer, model: OpenAIChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("junior_memory.asking.time.sleep", slept.append)
    double.replies = [Reply(status=429, headers={"retry-after": "2"}), Reply(GOOD)]
    assert choose(model) == ["a", "b"]
    assert slept == [2]


@pytest.mark.django_db
def test_a_late_answer_is_on_the_record_at_an_unknown_price(
    double: ModelServer, model: OpenAIChatModel
) -> None:
    double.always = Reply(GOOD, delay_seconds=2, too_late=True)
    assert choose(model, timeout_seconds=0.2, attempts=2) == ["! timeout"]
    assert outcomes() == ["timeout", "timeout"]
    assert [call.cost_usd for call in ModelCall.objects.all()] == [None, None]
    assert double.untold == 2


@pytest.mark.django_db
def test_a_call_says_what_it_was_for_and_what_it_took(
    double: ModelServer, model: OpenAIChatModel, cast: Cast
) -> None:
    double.always = Reply(
        GOOD, input_tokens=1_000, cached_tokens=600, output_tokens=90, reasoning_tokens=50
    )
    recall_id = uuid4()
    payer = OnBehalf(cast.agent, recall_id, tool_call_key="k")
    choose(model, payer)
    call = ModelCall.objects.get()
    assert payer.calls == [call]
    assert (call.operation, call.provider, call.model) == ("relevance", "openai", CHAT_MODEL)
    assert (call.input_tokens, call.cached_input_tokens) == (1_000, 600)
    assert (call.output_tokens, call.reasoning_tokens) == (90, 50)
    assert (call.agent, call.recall_id, call.tool_call_key) == (cast.agent, recall_id, "k")
    assert call.cost_usd == double.told_usd == Decimal("0.000364")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        (Reply(with_usage=False), None),
        (Reply(raw=b"half"), None),
        (Reply(drops_after=9), None),
        (Reply(status=504), None),
        (Reply(status=500), Decimal(0)),
        (Reply(status=401), Decimal(0)),
    ],
)
def test_a_price_is_known_or_unknown_never_guessed(
    double: ModelServer, model: OpenAIChatModel, reply: Reply, cost: Decimal | None
) -> None:
    double.always = reply
    choose(model, attempts=1)
    assert ModelCall.objects.get().cost_usd == cost


@pytest.mark.django_db(transaction=True)
def test_a_record_outlives_the_transaction_around_it(cast: Cast) -> None:
    payer = OnBehalf(cast.agent)
    with transaction.atomic():
        model_calls.record_attempts(ModelName("openai", CHAT_MODEL), [Attempt("ok", 1, 5)], payer)
        transaction.set_rollback(True)
    assert [call.pk for call in payer.calls] == [ModelCall.objects.get().pk]


@pytest.mark.django_db(transaction=True)
def test_a_record_is_written_on_a_fresh_connection_when_the_first_is_lost() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]

    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 2000)", [pid])
        connection.close()

    thread = threading.Thread(target=cut)
    thread.start()
    thread.join()
    model_calls.record_attempts(ModelName("openai", CHAT_MODEL), [Attempt("ok", 1, 5)])
    assert ModelCall.objects.count() == 1


@pytest.mark.django_db
def test_a_record_that_cannot_be_written_fails_nobody(
    model: OpenAIChatModel, double: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any, **__: Any) -> None:
        raise Error(SENTINEL)

    double.always = Reply(GOOD)
    monkeypatch.setattr(type(ModelCall.objects), "bulk_create", gone)
    assert choose(model) == ["a", "b"]


@pytest.mark.django_db
@pytest.mark.parametrize("text", [SENTINEL, f'{{"ids": "{SENTINEL}"}}', f'{{"ids": ["{SENTINEL}'])
def test_nothing_that_was_answered_is_in_an_error_or_a_line(
    double: ModelServer, model: OpenAIChatModel, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    double.always = Reply(text)
    with pytest.raises(ModelFailed) as failed:
        ask(
            "relevance",
            [Message("user", SENTINEL)],
            Chosen,
            payer=OnBehalf(),
            timeout_seconds=5,
            max_tokens=9,
            model=model,
        )
    seen: BaseException | None = failed.value
    while seen is not None:
        trace = seen.__traceback__
        while trace is not None:
            if "test_asking" not in trace.tb_frame.f_code.co_filename:
                assert SENTINEL not in repr(trace.tb_frame.f_locals)
            trace = trace.tb_next
        assert SENTINEL not in repr(seen)
        seen = seen.__cause__ or seen.__context__
    assert SENTINEL not in caplog.text


def test_what_no_column_holds_is_taken_out() -> None:
    assert read_object('{"a\\u0000": ["x\\u0000y", {"b": "\\ud83d"}], "n": NaN}') is not None
    found = read_object('{"a\\u0000": ["x\\u0000y", {"b": "\\ud83d!"}]}')
    assert found == {"a": ["xy", {"b": "\ufffd!"}]}


@pytest.mark.django_db
def test_a_script_answers_in_the_order_written() -> None:
    fake = FakeChatModel(
        "nonsense",
        ModelFailed("http_500"),
        lambda question: f'{{"ids": ["{len(question.messages)}"]}}',
    )
    assert choose(fake, attempts=3) == ["1"]
    assert outcomes() == ["invalid", "http_500", "ok"]
    slow = FakeChatModel(GOOD, delay_seconds=0.2)
    assert choose(slow, timeout_seconds=0.01, attempts=1) == ["! timeout"]
    assert isinstance(fake.asked[0], Question)


@pytest.mark.django_db
def test_settings_name_the_model(settings: Any, double: ModelServer) -> None:
    def use(**fields: Any) -> None:
        settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | fields

    use(ai_model="", openai_base_url="", openai_api_key="")
    assert chat_model_in_use() is None
    assert choose(None) == ["! no_model for good"]
    use(ai_model=f" {CHAT_MODEL} ")
    assert "OPENAI_API_KEY" in chat_model_fault()
    assert choose(None) == ["! unusable for good"]
    assert ModelCall.objects.count() == 0
    use(openai_base_url=double.url, model_context_tokens=8_000)
    assert chat_model_fault() == ""
    found = chat_model_in_use()
    assert found is not None
    assert (found.provider, found.model) == ("openai", CHAT_MODEL)
    assert found.max_input_tokens == 6_000
    double.always = Reply(GOOD)
    assert choose(None) == ["a", "b"]
    use(ai_model="fake:scripted")
    assert isinstance(chat_model_in_use(), FakeChatModel)


def test_prices_count_every_class_of_tokens() -> None:
    def price(model: str = CHAT_MODEL, provider: str = "openai", **used: int) -> Decimal | None:
        return price_of(provider, model, **({"input_tokens": 1_000_000} | used))

    assert price() == Decimal("0.4")
    assert price(cached_input_tokens=1_000_000) == Decimal("0.1")
    assert price(output_tokens=500_000, reasoning_tokens=500_000) == Decimal("1.2")
    assert price(cached_input_tokens=2_000_000, reasoning_tokens=7) == Decimal("0.1")
    assert price("gemma3-270m") is None
    assert price(provider="nobody") is None
    assert price(input_tokens=1) == Decimal("0.0000004")


def test_who_serves_is_known_by_the_address() -> None:
    assert provider_at("https://api.openai.com/v1") == "openai"
    assert provider_at("https://openrouter.ai/api/v1") == "openrouter"
    assert provider_at("http://127.0.0.1:8080/v1") == "openai"
