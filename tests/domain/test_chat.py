"""The chat client against a server: what it asks, what it makes of the answer, what it pays."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from junior_memory.providers import Attempt, Message, ModelFailed, Question, chat
from junior_memory.providers.breaker import PATIENCE, PAUSE_SECONDS, Breaker
from junior_memory.providers.chat import REASONING_ROOM, OpenAIChatModel, forget_manners
from junior_memory.providers.schemas import strict_schema
from tests.model_server import CHAT_MODEL, ModelServer, Reply, model_server, prompt

SENTINEL = "zebra-umbrella-9174"
SCHEMA = {
    "type": "object",
    "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
    "required": ["ids"],
    "additionalProperties": False,
}
QUESTION = Question(
    (Message("system", "Choose."), Message("user", f"From {SENTINEL}.")), "Chosen", SCHEMA, 400
)


@pytest.fixture(autouse=True)
def _fresh_manners() -> None:
    forget_manners()


@pytest.fixture
def double() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


def hosted(double: ModelServer, **fields: Any) -> OpenAIChatModel:
    return OpenAIChatModel(CHAT_MODEL, api_key="k", base_url=double.url, **fields)


def ask(
    model: OpenAIChatModel, question: Question = QUESTION, *, seconds: float = 5
) -> tuple[str, list[Attempt]]:
    """Return the answer, or the reason with a mark, and what was paid."""
    paid: list[Attempt] = []
    try:
        text = model.ask(question, timeout_seconds=seconds, paid=paid.append)
    except ModelFailed as failure:
        return f"! {failure.reason}{' for good' if failure.is_permanent else ''}", paid
    return text, paid


def test_an_answer_is_asked_for_by_schema_and_counted_by_class(double: ModelServer) -> None:
    double.always = Reply(
        '{"ids": []}', input_tokens=900, cached_tokens=512, output_tokens=70, reasoning_tokens=64
    )
    text, [paid] = ask(hosted(double))
    assert text == '{"ids": []}'
    assert paid.outcome == "ok"
    assert (paid.input_tokens, paid.cached_input_tokens) == (900, 512)
    assert (paid.output_tokens, paid.reasoning_tokens) == (70, 64)
    [asked] = double.asked
    assert asked["response_format"]["json_schema"] == {
        "name": "Chosen",
        "strict": True,
        "schema": SCHEMA,
    }
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert "temperature" not in asked
    assert asked["max_tokens"] == 400


def test_openai_itself_is_asked_with_its_newer_limit() -> None:
    model = OpenAIChatModel(CHAT_MODEL, api_key="k")
    assert model._manner.limit == "max_completion_tokens"
    assert model.provider == "openai"
    groq = OpenAIChatModel("m", api_key="k", base_url="https://api.groq.com/openai/v1")
    assert groq.provider == "groq"


@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_refused_schema_steps_down_once_and_is_remembered(
    double: ModelServer, status: int
) -> None:
    double.refuses, double.refusal_status = frozenset({"json_schema"}), status
    model = hosted(double)
    text, paid = ask(model)
    assert text == "{}"
    assert [one.outcome for one in paid] == ["form_refused", "ok"]
    assert double.asked[1]["response_format"] == {"type": "json_object", "schema": SCHEMA}
    assert '"additionalProperties":false' in prompt(double.asked[1])
    ask(hosted(double))
    assert len(double.asked) == 3, "another object of the same model asks as the first one learned"
    assert model.mode == "json_object_schema"


def test_a_server_that_refused_out_of_a_passing_fault_is_asked_by_schema_again(
    double: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "KNOWN_SECONDS", 0.2)
    double.refuses = frozenset({"json_schema", "max_tokens"})
    model = hosted(double)
    ask(model)
    double.refuses = frozenset()
    time.sleep(0.25)
    text, paid = ask(model)
    assert (text, [one.outcome for one in paid]) == ("{}", ["ok"])
    assert double.asked[-1]["response_format"]["type"] == "json_schema"
    assert "max_tokens" in double.asked[-1]


def test_what_is_refused_again_is_left_out_again(
    double: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "KNOWN_SECONDS", 0.0)
    double.refuses = frozenset({"json_schema"})
    for _ in range(2):
        _, paid = ask(hosted(double))
        assert [one.outcome for one in paid] == ["form_refused", "ok"]
    monkeypatch.setattr(chat, "KNOWN_SECONDS", 60.0)
    ask(hosted(double))
    _, paid = ask(hosted(double))
    assert [one.outcome for one in paid] == ["ok"]


def test_a_server_that_knows_no_response_format_gets_the_shape_in_words(
    double: ModelServer,
) -> None:
    double.refuses, double.refusal_says_why = frozenset({"response_format"}), False
    text, paid = ask(hosted(double))
    assert text == "{}"
    assert [one.outcome for one in paid][-2:] == ["http_400", "ok"]
    assert len(paid) <= 8
    assert "response_format" not in double.asked[-1]
    assert "JSON Schema" in prompt(double.asked[-1])


@pytest.mark.parametrize("says_why", [True, False])
def test_either_name_of_the_limit_is_found(double: ModelServer, says_why: bool) -> None:
    double.refuses, double.refusal_says_why = frozenset({"max_tokens"}), says_why
    text, _ = ask(hosted(double))
    assert text == "{}"
    assert double.asked[-1]["max_completion_tokens"] == 400
    assert "max_tokens" not in double.asked[-1]
    assert len(double.asked) == 2
    assert hosted(double).mode == "json_schema", "the other name was the reason, not the schema"
    asked = len(double.asked)
    ask(hosted(double))
    assert len(double.asked) == asked + 1


def test_a_server_that_takes_a_schema_beside_plain_json_is_given_it(double: ModelServer) -> None:
    said = (
        "{'loc': ('response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}"
    )
    double.replies = [Reply(status=500, error={"message": said}), Reply()]
    text, paid = ask(hosted(double))
    assert text == "{}"
    assert [one.outcome for one in paid] == ["form_refused", "ok"]
    assert double.asked[1]["response_format"] == {"type": "json_object", "schema": SCHEMA}


def test_plain_json_comes_before_words_alone(double: ModelServer) -> None:
    double.refuses = frozenset({"json_schema", "schema"})
    assert ask(hosted(double))[0] == "{}"
    assert double.asked[-1]["response_format"] == {"type": "json_object"}


def test_both_refusals_together_are_survived(double: ModelServer) -> None:
    double.refuses = frozenset({"max_tokens", "json_schema"})
    text, paid = ask(hosted(double))
    assert text == "{}"
    assert paid[-1].outcome == "ok"
    assert len(paid) == 3


def test_what_is_refused_in_every_form_fails_for_good_within_bounds(double: ModelServer) -> None:
    double.always = Reply(status=400)
    said, paid = ask(hosted(double))
    assert said == "! http_400 for good"
    assert len(paid) == len(double.asked) == 8
    assert hosted(double).mode == "json_schema", "nothing was learned from it"


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (401, "", "! http_401 for good"),
        (403, "", "! http_403 for good"),
        (404, "model_not_found", "! http_404 for good"),
        (408, "", "! http_408"),
        (409, "", "! http_409"),
        (429, "", "! rate_limited"),
        (429, "insufficient_quota", "! no_quota"),
        (500, "", "! http_500"),
        (503, "", "! http_503"),
        (400, "content_filter", "! refused for good"),
        (400, "context_length_exceeded", "! too_long for good"),
    ],
)
def test_a_failure_has_one_word_and_one_request(
    double: ModelServer, status: int, code: str, said: str
) -> None:
    double.always = Reply(status=status, error={"message": SENTINEL, "code": code})
    got, paid = ask(hosted(double))
    assert got == said
    assert len(paid) == len(double.asked) == 1
    assert paid[0].input_tokens is None


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(finish="length"), "! truncated"),
        (Reply(finish="content_filter"), "! refused for good"),
        (Reply(refusal="I will not."), "! refused for good"),
        (Reply("   "), "! empty"),
    ],
)
def test_an_answer_of_no_use_is_paid_for(double: ModelServer, reply: Reply, said: str) -> None:
    double.always = reply
    got, [paid] = ask(hosted(double))
    assert got == said
    assert (paid.outcome, paid.input_tokens, paid.output_tokens) == (
        said.split()[1],
        reply.input_tokens,
        reply.output_tokens,
    )


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>bad gateway</html>",
        b'{"choices": [{"message": {"content": "half',
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": [{"message": 7}]}',
        b'{"choices": "no", "usage": "no"}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_a_body_that_is_no_completion_is_paid_for_at_an_unknown_price(
    double: ModelServer, raw: bytes
) -> None:
    double.always = Reply(raw=raw)
    got, [paid] = ask(hosted(double))
    assert got == "! invalid"
    assert paid.input_tokens is None


def test_usage_that_cannot_be_is_no_usage(double: ModelServer) -> None:
    double.always = Reply(
        raw=b'{"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],'
        b' "usage": {"prompt_tokens": -1, "completion_tokens": true,'
        b' "prompt_tokens_details": null, "completion_tokens_details": [1]}}'
    )
    text, [paid] = ask(hosted(double))
    assert text == "{}"
    assert paid == Attempt("ok", paid.duration_ms)


def test_an_answer_in_parts_is_one_text(double: ModelServer) -> None:
    double.always = Reply(
        raw=b'{"choices": [{"message": {"content":'
        b' [{"type": "text", "text": "{"}, {"type": "text", "text": "}"}, null]}}]}'
    )
    assert ask(hosted(double))[0] == "{}"


def test_a_lost_line_is_a_failure_that_may_pass(double: ModelServer) -> None:
    double.always = Reply(drops_after=40)
    got, [paid] = ask(hosted(double))
    assert got == "! failed"
    assert paid.outcome == "failed"
    nobody = OpenAIChatModel("m", api_key="k", base_url="http://127.0.0.1:9/v1")
    assert ask(nobody)[0] == "! failed"


@pytest.mark.parametrize("reply", [Reply(delay_seconds=3), Reply(hangs=True), Reply(drips=True)])
def test_the_limit_holds_for_the_whole_answer(double: ModelServer, reply: Reply) -> None:
    double.always = reply
    begun = time.monotonic()
    got, [paid] = ask(hosted(double), seconds=0.4)
    assert time.monotonic() - begun < 2
    assert got == "! timeout"
    assert (paid.outcome, paid.input_tokens) == ("timeout", None)


def test_a_model_that_thinks_gets_room_for_it_from_then_on(double: ModelServer) -> None:
    double.replies = [Reply("", finish="length", reasoning_tokens=20)]
    model = hosted(double)
    assert ask(model)[0] == "! truncated"
    assert ask(model)[0] == "{}"
    assert [asked["max_tokens"] for asked in double.asked] == [400, 400 + REASONING_ROOM]


def test_a_hanging_endpoint_is_left_alone_and_found_again(double: ModelServer) -> None:
    double.always = Reply(hangs=True)
    model = hosted(double)
    for _ in range(PATIENCE):
        assert ask(model, seconds=0.3)[0] == "! timeout"
    assert ask(model, seconds=0.3) == ("! paused", [])
    assert len(double.asked) == PATIENCE
    double.always = Reply()
    assert ask(model, seconds=5)[0] == "{}", "more patience than has failed is let through"
    assert model._endpoint._breaker.lets(0.1), "an answer ends the pause"


def test_one_request_finds_out_when_the_pause_is_over() -> None:
    now = [0.0]
    breaker = Breaker(clock=lambda: now[0])
    for _ in range(PATIENCE):
        assert breaker.lets(1)
        breaker.was_late(1)
    assert not breaker.lets(1)
    now[0] = PAUSE_SECONDS
    assert breaker.lets(1)
    assert not breaker.lets(1), "the rest waits for what the first one finds"
    breaker.answered()
    assert breaker.lets(1)


def test_an_answer_in_between_is_no_hanging() -> None:
    breaker = Breaker()
    for _ in range(PATIENCE * 2):
        breaker.was_late(1)
        breaker.answered()
    assert breaker.lets(1)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(SENTINEL),
        Reply(status=400, error={"message": SENTINEL, "code": "c"}),
        Reply(status=500, error={"message": SENTINEL}),
        Reply(raw=SENTINEL.encode()),
        Reply(refusal=SENTINEL),
        Reply(SENTINEL, drops_after=200),
        Reply(SENTINEL, delay_seconds=1),
    ],
)
def test_no_log_line_and_no_error_holds_a_text(
    double: ModelServer, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    double.always = reply
    paid: list[Attempt] = []
    try:
        hosted(double).ask(QUESTION, timeout_seconds=0.3, paid=paid.append)
    except ModelFailed as failure:
        seen: BaseException | None = failure
        while seen is not None:
            assert SENTINEL not in f"{seen} {seen!r} {seen.args}"
            seen = seen.__cause__ or seen.__context__
    assert paid
    assert SENTINEL not in repr(QUESTION)
    assert SENTINEL not in caplog.text


def test_the_library_stays_silent_when_it_is_told_to_talk(
    double: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "openai._base_client", "httpcore2.http11", "httpx2"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    ask(hosted(double))
    assert SENTINEL not in caplog.text
    assert not [one for one in caplog.records if one.name.startswith(("openai", "http"))]


class _Inner(BaseModel):
    kind: Literal["a", "b"] = "a"
    note: str | None = Field(default=None, max_length=40, description="prose")


class _Outer(BaseModel):
    """Prose that is not for a model."""

    items: list[_Inner] = Field(max_length=5)
    best: _Inner | None = None


def test_a_schema_is_strict_whole_and_without_references() -> None:
    schema = strict_schema(_Outer)
    inner = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"]},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["kind", "note"],
        "additionalProperties": False,
    }
    assert schema == {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": inner, "maxItems": 5},
            "best": {"anyOf": [inner, {"type": "null"}]},
        },
        "required": ["items", "best"],
        "additionalProperties": False,
    }
