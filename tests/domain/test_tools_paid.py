"""What reviews cost, by the real client of a server: every billed attempt once on the record."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from junior_memory.models import ConversationEvent, Memory, ModelCall
from junior_memory.providers.chat import forget_manners
from junior_memory.tools import ToolInputError, call_tool
from junior_memory.tools import create as create_module
from tests.cast import Cast
from tests.domain.tool_calls import Host, judges
from tests.factories import make_memory
from tests.model_server import CHAT_MODEL, ModelServer, Reply, model_server

FACT = "Prefers green tea in the morning."
GOOD = judges(kind="preference", canonicalFact=FACT)


@pytest.fixture
def double(settings: Any) -> Iterator[ModelServer]:
    forget_manners()
    with model_server() as served:
        settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
            "ai_model": CHAT_MODEL,
            "openai_base_url": served.url,
            "openai_api_key": "k",
            "model_timeout_ms": 1_000,
        }
        yield served


@pytest.fixture
def host(cast: Cast) -> Host:
    return Host(cast)


def create(host: Host, call: str = "c1", content: str = "I prefer green tea in the morning") -> Any:
    return call_tool(
        "createMemory", {"content": content}, context=host.context(), tool_call_id=call
    )


def feed() -> Decimal:
    """Sum the cost feed as the overview does: events, and calls that no event owns."""
    known = [event.cost_usd for event in ConversationEvent.objects.all()]
    loose = [call.cost_usd for call in ModelCall.objects.filter(event__isnull=True)]
    return sum((cost for cost in [*known, *loose] if cost is not None), Decimal(0))


def test_a_review_costs_what_the_server_bills(host: Host, double: ModelServer) -> None:
    double.always = Reply(GOOD, input_tokens=700, cached_tokens=300, output_tokens=45)
    for _ in range(3):
        create(host)
    assert len(double.asked) == ModelCall.objects.count() == 1
    assert feed() == double.told_usd > 0
    assert ConversationEvent.objects.get().cost_usd == double.told_usd


@pytest.mark.parametrize(
    "first",
    [
        Reply("no JSON"),
        Reply(GOOD[:40], finish="length"),
        Reply("```json\n{}\n```"),
        Reply(status=500),
        Reply(status=429),
        Reply(judges(kind="wish", canonicalFact=FACT)),
    ],
)
def test_an_attempt_that_came_to_nothing_is_paid_with_the_one_that_did(
    host: Host, double: ModelServer, first: Reply
) -> None:
    double.replies = [first]
    double.always = Reply(GOOD)
    assert create(host)["created"]
    assert ModelCall.objects.count() == len(double.asked) == 2
    assert feed() == double.told_usd
    assert ConversationEvent.objects.get().cost_usd == double.told_usd


@pytest.mark.parametrize(
    "always",
    [
        Reply("no JSON"),
        Reply(GOOD[:40], finish="length"),
        Reply(refusal="I cannot help with that."),
        Reply(status=500),
        Reply(status=401),
        Reply(raw=b"<html>"),
        Reply(GOOD, drops_after=20),
        Reply(GOOD, delay_seconds=3, too_late=True),
        Reply("[]"),
        Reply('"store"'),
    ],
)
def test_a_review_that_fails_is_paid_told_without_a_cause_and_tried_again(
    host: Host, double: ModelServer, always: Reply
) -> None:
    double.always = always
    with pytest.raises(ToolInputError) as caught:
        create(host)
    assert caught.value.code == "review_failed"
    assert not Memory.objects.exists()
    assert feed() == double.told_usd
    assert ModelCall.objects.count() == len(double.asked)
    assert ConversationEvent.objects.get().payload["decision"] == "failed"
    double.always = Reply(GOOD)
    assert create(host)["created"]
    assert feed() == double.told_usd
    assert not ModelCall.objects.filter(event__isnull=True).exists()


def test_comparing_is_paid_by_the_same_event(host: Host, cast: Cast, double: ModelServer) -> None:
    make_memory(
        owner=cast.alice,
        agent=cast.agent,
        content="Prefers black tea in the morning.",
        conversation_id="c0",
    )
    double.by_schema = {
        "Judgement": [Reply(GOOD, input_tokens=900)],
        "Comparison": [
            Reply("nonsense", input_tokens=400),
            Reply(json.dumps({"verdict": "supersedes", "numbers": [1]}), input_tokens=410),
        ],
    }
    answer = create(host)
    assert len(answer["superseded"]) == 1
    event = ConversationEvent.objects.get()
    assert event.cost_usd == feed() == double.told_usd
    split = event.payload["cost_by_operation"]
    assert sum(map(Decimal, split.values())) == double.told_usd
    assert set(split) == {"review", "adjudication"}


def test_a_comparison_that_fails_leaves_both(host: Host, cast: Cast, double: ModelServer) -> None:
    make_memory(owner=cast.alice, agent=cast.agent, content="Prefers black tea in the morning.")
    double.by_schema = {"Judgement": [Reply(GOOD)]}
    double.always = Reply(status=503)
    answer = create(host)
    assert (answer["created"], answer["superseded"]) == (True, [])
    assert feed() == double.told_usd


def test_what_a_full_quota_refuses_was_still_paid_for(
    host: Host, cast: Cast, double: ModelServer, settings: Any
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"active_quota": 1}
    make_memory(owner=cast.alice, agent=cast.agent, content="Sings in a choir.")
    double.always = Reply(GOOD)
    with pytest.raises(ToolInputError) as caught:
        create(host)
    assert caught.value.code == "quota_exceeded"
    assert feed() == double.told_usd > 0


def test_an_answer_that_cannot_be_told_is_paid_once(
    host: Host, double: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    double.always = Reply(GOOD)

    def gone(*_args: Any, **_fields: Any) -> None:
        raise ToolInputError("gone", code="not_found")

    monkeypatch.setattr(create_module, "_answer", gone)
    with pytest.raises(ToolInputError):
        create(host)
    assert feed() == double.told_usd > 0
    assert ConversationEvent.objects.get().payload["decision"] == "store"


def test_a_hanging_model_ends_in_time(host: Host, double: ModelServer) -> None:
    double.always = Reply(hangs=True)
    began = time.monotonic()
    with pytest.raises(ToolInputError):
        create(host)
    assert time.monotonic() - began < 6
