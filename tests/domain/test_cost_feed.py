"""What a server bills is what the cost feed shows: exactly, once, after whatever went wrong.

The real client asks a double over HTTP, which writes a bill. Amounts are compared as Decimals. The
feed's JSON numbers are doubles: read as decimals they hold 15 digits, which is 12 places below a
thousand dollars.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from junior_memory import (
    access,
    clock,
    embeddings,
    events,
    model_health,
    own_words,
    sessions,
    spending,
)
from junior_memory.access import Source
from junior_memory.asking import ask
from junior_memory.candidates import ActorRef
from junior_memory.model_calls import OnBehalf
from junior_memory.models import CompletedSession, ConversationEvent, Memory, ModelCall
from junior_memory.providers import Message, ModelFailed
from junior_memory.providers.chat import forget_manners
from junior_memory.recall import RecallRequest, recall
from junior_memory.search import search_memories
from junior_memory.tools import ToolInputError, call_tool
from junior_memory.vector import query_vectors
from tests.cast import Cast
from tests.domain.tool_calls import Host, judges
from tests.factories import make_memory, make_personal_token
from tests.model_server import (
    CHAT_MODEL,
    EMBEDDING_MODEL,
    Billed,
    ModelServer,
    Reply,
    model_server,
    prompt,
    schema_name,
)
from tests.processes import wait_for

ALICE = ActorRef("slack", "T1", "UALICE")
PRIVATE = Source(platform="slack", key="slack:T1:D1", visibility="private")
TEA = "Prefers oolong tea in the morning."
USED: dict[str, Any] = {
    "input_tokens": 1_234,
    "cached_tokens": 1_024,
    "output_tokens": 77,
    "reasoning_tokens": 50,
}


@pytest.fixture
def double(settings: Any) -> Iterator[ModelServer]:
    """Serve chat and embeddings under names with a published price, and configure both."""
    forget_manners()
    query_vectors.clear()
    with model_server(ModelServer(always=Reply(**USED))) as served:
        settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
            "ai_model": CHAT_MODEL,
            "openai_api_key": "k",
            "openai_base_url": served.url,
            "embedder": "openai",
            "embedding_model": EMBEDDING_MODEL,
            "embedding_dimensions": 48,
            "model_timeout_ms": 1_000,
        }
        yield served


def found(*facts: str) -> str:
    """Return what the extracting model says."""
    kept = [
        {
            "kind": "preference",
            "canonicalFact": fact,
            "expiresAt": None,
            "evidence": [0],
            "touchesTopic": None,
            "ordersAssistant": False,
        }
        for fact in facts
    ]
    return json.dumps({"memories": kept})


def compared(verdict: str = "distinct", *numbers: int) -> str:
    """Return what the comparing model says."""
    return json.dumps({"verdict": verdict, "numbers": list(numbers)})


def selected(*numbers: int) -> str:
    """Return what the selecting model says."""
    return json.dumps({"relevant": list(numbers)})


def reply(text: str, **fields: Any) -> Reply:
    """Return a paid reply."""
    return Reply(text, **(USED | fields))


GARBAGE = reply("I would rather not say.")
TRUNCATED = reply('{"memories": [', finish="length")
REFUSED = reply("", refusal="No.")
FENCED = reply(f"Here you are:\n```json\n{found(TEA)}\n```")
SIX = reply(found(*(f"Likes tea number {number}." for number in range(6))))
STORED = reply(judges(canonicalFact=TEA))
LATE = reply(found(TEA), delay_seconds=1.6, too_late=True)
LOST = reply(found(TEA), drops_after=60)
SILENT = reply(found(TEA), with_usage=False)
BUSY = Reply(status=429)
BROKEN = Reply(status=500)


def assert_the_feed_is_the_bill(double: ModelServer) -> None:
    """Assert that every request is one call, and every call is in the feed, at its price, once."""
    costs = spending.costs(7)
    requests = len(double.asked) + len(double.embedded)
    assert ModelCall.objects.count() == costs.calls == requests
    assert costs.total_usd == double.told_usd
    assert costs.unknown == double.untold
    owned = Decimal(0)
    for event in ConversationEvent.objects.all():
        calls = [call.cost_usd for call in ModelCall.objects.filter(event=event)]
        assert event.cost_usd == events.sum_costs(calls)
        owned += sum((cost for cost in calls if cost is not None), Decimal(0))
    unowned = sum((call.cost_usd or 0 for call in ModelCall.objects.filter(event=None)), Decimal(0))
    assert owned + unowned == double.told_usd
    assert costs.upkeep_usd + costs.nothing_usd == unowned
    for split in spending.SPLITS:
        parts = spending.split_by_day(costs, split)
        assert sum((part.total_usd for part in parts), Decimal(0)) == double.told_usd
    for shares in (costs.by_operation, costs.by_model):
        assert sum((share.cost_usd for share in shares), Decimal(0)) == double.told_usd
        assert sum(share.calls for share in shares) == requests


def costs_by_rest(cast: Cast) -> dict[str, Any]:
    """Read the feed as a client does, numbers as decimals."""
    secret = make_personal_token(cast.root, "report")
    response = Client().get(
        "/api/plugins/memory/costs?days=7", headers={"authorization": f"Bearer {secret}"}
    )
    read: dict[str, Any] = json.loads(response.content, parse_float=Decimal)
    return read


def take_in(cast: Cast, text: str = "I drink oolong tea each morning.") -> CompletedSession:
    """Hand in one conversation of Alice."""
    session, _ = sessions.take_in(
        sessions.SessionInput(
            session_id=f"s-{uuid4()}",
            conversation_id="c1",
            source=PRIVATE,
            actor=ALICE,
            actors=(ALICE,),
            completed_at=clock.now() - timedelta(minutes=1),
            transcript=(
                {
                    "type": "message",
                    "role": "user",
                    "authority": "instruction",
                    "text": text,
                    "actor": {"provider": "slack", "tenant": "T1", "subject": "UALICE"},
                },
            ),
        ),
        agent=cast.agent,
        organization=cast.org,
    )
    return session


def learn(session: CompletedSession) -> CompletedSession:
    """Process a session as the worker does, also when it fails."""
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(ModelFailed):
        patch.setattr("junior_memory.asking.time.sleep", lambda _: None)
        sessions.process_session(session.pk)
    session.refresh_from_db()
    return session


def owned_by(name: str) -> list[str]:
    """Return the operations of the calls that events of a name own."""
    rows = ModelCall.objects.filter(event__name=name).order_by("created_at")
    return list(rows.values_list("operation", flat=True))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "replies",
    [
        [],
        [GARBAGE],
        [TRUNCATED],
        [FENCED],
        [SIX],
        [LATE],
        [LOST],
        [SILENT],
        [BUSY],
        [BROKEN],
        [reply("")],
    ],
    ids="at-once garbage truncated fenced six late lost silent busy broken empty".split(),
)
def test_a_session_that_is_learned_from_at_last_owns_all_it_took(
    cast: Cast, double: ModelServer, replies: list[Reply]
) -> None:
    usable = replies in ([FENCED], [SILENT])
    wanted = replies if usable else [*replies, reply(found(TEA))]
    double.by_schema = {"Found": list(wanted)}
    session = learn(take_in(cast))
    if session.state != "processed":
        session = learn(session)
    assert (session.state, session.reason) == ("processed", "")
    assert Memory.objects.get().content == TEA
    assert owned_by(events.MEMORIES_CAPTURED).count("extraction") == len(wanted)
    assert_the_feed_is_the_bill(double)
    again = len(double.asked)
    assert learn(session).state == "processed"
    assert len(double.asked) == again, "a repeat costs nothing"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "bad",
    [GARBAGE, TRUNCATED, SIX, REFUSED, Reply(status=401)],
    ids=["garbage", "truncated", "six", "refused", "no-key"],
)
def test_a_session_that_fails_keeps_what_it_cost(
    cast: Cast, double: ModelServer, bad: Reply
) -> None:
    double.by_schema = {"Found": [bad, bad]}
    session = learn(take_in(cast))
    assert session.state == "failed"
    assert session.reason
    costs = spending.costs(7)
    assert costs.nothing_usd == double.told_usd - costs.upkeep_usd
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db
def test_a_comparison_that_fails_is_paid_by_the_session(cast: Cast, double: ModelServer) -> None:
    green = "Prefers green tea in the morning."
    double.by_schema = {"Found": [reply(found(green)), reply(found(TEA))]}
    assert learn(take_in(cast, "I drink green tea each morning.")).state == "processed"
    double.by_schema["Comparison"] = [GARBAGE, GARBAGE]
    assert learn(take_in(cast)).state == "processed"
    paid = owned_by(events.MEMORIES_CAPTURED)
    assert (paid.count("extraction"), paid.count("adjudication")) == (2, 2)
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db
def test_a_window_that_was_read_is_not_paid_again(
    cast: Cast, double: ModelServer, settings: Any
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"model_context_tokens": 4_000}
    long = " ".join(f"On day {number} the ferry was late." for number in range(260))
    nothing = reply(found())
    double.by_schema = {"Found": [nothing, BROKEN, BROKEN, *[nothing] * 20]}
    session = take_in(cast, long)
    assert learn(session).state != "processed"
    assert learn(session).state == "processed"
    windows = len({prompt(body) for body in double.asked if schema_name(body) == "Found"})
    assert windows > 1
    assert owned_by(events.MEMORIES_CAPTURED).count("extraction") == windows + 2
    assert_the_feed_is_the_bill(double)


def create(host: Host, content: str = TEA, call_id: str = "t1") -> dict[str, Any] | str:
    """Call createMemory; returns its answer, or the code of its error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("junior_memory.asking.time.sleep", lambda _: None)
        try:
            return call_tool(
                "createMemory", {"content": content}, context=host.context(), tool_call_id=call_id
            )
        except ToolInputError as error:
            return error.code


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("replies", "is_stored"),
    [
        ([STORED], True),
        ([GARBAGE, STORED], True),
        ([BROKEN, STORED], True),
        ([reply(judges("reject", reason="not_durable"))], False),
        ([GARBAGE, GARBAGE], False),
        ([REFUSED], False),
        ([LATE, LATE], False),
        ([Reply(status=401)], False),
    ],
    ids="stored garbage broken rejected twice-garbage refused twice-late no-key".split(),
)
def test_a_reviewed_request_owns_what_its_review_took(
    cast: Cast, double: ModelServer, replies: list[Reply], is_stored: bool
) -> None:
    double.by_schema = {"Judgement": list(replies)}
    host = Host(cast)
    said = create(host)
    assert isinstance(said, dict) == is_stored, said
    assert Memory.objects.exists() == is_stored
    assert owned_by(events.MEMORY_REVIEWED).count("review") == len(replies)
    assert_the_feed_is_the_bill(double)
    if is_stored:
        asked = len(double.asked)
        create(host)
        assert len(double.asked) == asked, "the same call again costs nothing"
        assert_the_feed_is_the_bill(double)


def recalled(cast: Cast, **fields: Any) -> Any:
    """Recall for Alice."""
    return recall(
        RecallRequest(
            **{
                "viewer": access.Viewer(user=cast.alice, agent=cast.agent, conversation_id="c1"),
                "agent": cast.agent,
                "conversation_id": "c1",
                "source": Source(platform="web", key="k", visibility="private"),
                "text": "Which oolong tea in the morning?",
                "deadline_ms": 5_000,
                **fields,
            }
        )
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    "replies",
    [
        [reply(selected(1))],
        [reply(selected())],
        [reply(selected(9))],
        [GARBAGE, reply(selected(1))],
        [GARBAGE, GARBAGE],
        [BUSY, reply(selected(1))],
        [LOST, LOST],
        [REFUSED],
        [SILENT, SILENT],
    ],
    ids="one none unoffered garbage twice-garbage busy lost refused silent".split(),
)
def test_a_recall_owns_its_query_and_its_selection(
    cast: Cast, double: ModelServer, replies: list[Reply]
) -> None:
    memory = make_memory(content=TEA, owner=cast.alice)
    embeddings.embed_memories([memory.pk])
    double.by_schema = {"Selection": list(replies)}
    answer = recalled(cast)
    paid = owned_by(events.MEMORIES_RECALLED)
    assert paid.count("embed") == 1
    assert 1 <= paid.count("relevance") <= len(replies)
    event = ConversationEvent.objects.get()
    assert answer.cost_usd == event.cost_usd
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db
def test_a_selection_that_comes_too_late_is_paid_at_an_unknown_price(
    cast: Cast, double: ModelServer
) -> None:
    memory = make_memory(content=TEA, owner=cast.alice)
    embeddings.embed_memories([memory.pk])
    recalled(cast)
    double.by_schema = {"Selection": [reply(selected(1), delay_seconds=1.5, too_late=True)]}
    assert recalled(cast, deadline_ms=700).prompt is None
    assert ModelCall.objects.filter(operation="relevance", outcome="timeout").count() == 1
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slow", ["selection", "both"])
def test_what_a_recall_did_not_wait_for_is_paid_all_the_same(
    cast: Cast, double: ModelServer, slow: str
) -> None:
    memory = make_memory(content=TEA, owner=cast.alice)
    embeddings.embed_memories([memory.pk])
    late: dict[str, Any] = {"delay_seconds": 4, "too_late": True}
    double.by_schema = {"Selection": [reply(selected(1), **late)]}
    if slow == "both":
        double.embedding_replies = [Reply(**late)]
    recalled(cast, deadline_ms=2_000)
    requests = len(double.asked) + len(double.embedded)
    assert requests >= 2
    wait_for(lambda: ModelCall.objects.count() == requests, seconds=5)
    wait_for(lambda: not _threads("relevance", "vector leg", "event"), seconds=5)
    assert_the_feed_is_the_bill(double)


def _threads(*names: str) -> list[str]:
    return [one.name for one in threading.enumerate() if one.name in names]


@pytest.mark.django_db
def test_what_no_event_owns_is_in_the_feed_as_well(cast: Cast, double: ModelServer) -> None:
    memory = make_memory(content=TEA, owner=cast.alice)
    double.embedding_replies = [BROKEN, Reply(), Reply(with_usage=False)]
    embeddings.embed_memories([memory.pk])
    search_memories(access.person(cast.alice), "oolong", limit=5)
    search_memories(access.person(cast.alice), "morning tea", limit=5)
    double.by_schema = {"Ready": [GARBAGE, reply('{"answer": "ready"}')]}
    checked = model_health.check_chat_model()
    assert checked is not None
    assert (checked.is_ok, checked.mode, checked.calls) == (True, "json_schema", 2)
    costs = spending.costs(7)
    assert costs.upkeep_usd > costs.nothing_usd > 0
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db
def test_comparing_a_persons_own_words_is_a_review(cast: Cast, double: ModelServer) -> None:
    for content in ("Prefers green tea in the morning.", TEA):
        memory = make_memory(content=content, owner=cast.alice)
    double.by_schema = {"Comparison": [GARBAGE, reply(compared("supersedes", 1))]}
    own_words.look_for_conflicts(memory.pk)
    assert "adjudication" in owned_by(events.MEMORY_REVIEWED)
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db
def test_refused_forms_cost_nothing_and_are_counted(cast: Cast, double: ModelServer) -> None:
    double.refuses = frozenset({"json_schema", "max_tokens"})
    checked = model_health.check_chat_model()
    assert checked is not None
    # The shape is in the prompt then, and this double's `{}` lacks the answer.
    assert (checked.reason, checked.mode) == ("invalid", "json_object_schema")
    assert spending.costs(7).calls == 4
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db
def test_the_feed_by_rest_is_the_bill(cast: Cast, double: ModelServer) -> None:
    double.by_schema = {
        "Found": [GARBAGE, reply(found(TEA)), SILENT],
        "Judgement": [reply(judges("reject", reason="not_durable"))],
        "Selection": [reply(selected(1))],
    }
    learn(take_in(cast))
    learn(take_in(cast, "I drink oolong tea on Mondays."))
    create(Host(cast), "It is raining just now.")
    recalled(cast)
    feed = costs_by_rest(cast)
    assert feed["totalUsd"] == double.told_usd
    assert feed["unknown"] == double.untold == 1
    parts = ("extractionUsd", "recallUsd", "reviewUsd", "upkeepUsd", "nothingUsd")
    assert sum(feed[part] for part in parts) == double.told_usd
    today = feed["days"][-1]
    assert today["totalUsd"] == sum(today[part] for part in parts) == double.told_usd
    for breakdown in ("byOperation", "byModel"):
        assert sum(one["costUsd"] for one in feed[breakdown]) == double.told_usd
    assert_the_feed_is_the_bill(double)


def _any_reply(chance: random.Random, good: Callable[[], str]) -> Reply:
    used: dict[str, Any] = {
        "input_tokens": chance.randrange(1, 90_000),
        "output_tokens": chance.randrange(1, 9_000),
    }
    used["cached_tokens"] = chance.randrange(used["input_tokens"] + 1)
    used["reasoning_tokens"] = chance.randrange(used["output_tokens"] + 1)
    bad = [
        Reply("nonsense", **used),
        Reply("{", finish="length", **used),
        Reply("", refusal="No.", **used),
        Reply(good(), with_usage=False, **used),
        Reply(good(), drops_after=50, **used),
        Reply(raw=b"<html>", **used),
        BROKEN,
        BUSY,
        Reply(status=403),
    ]
    return chance.choice(bad) if chance.random() < 0.5 else Reply(good(), **used)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(3))
def test_any_mix_of_luck_adds_up(cast: Cast, double: ModelServer, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a reproducible mix
    memory = make_memory(content=TEA, owner=cast.alice)
    embeddings.embed_memories([memory.pk])
    answers: dict[str, Callable[[], str]] = {
        "Found": lambda: found(f"Likes island number {chance.randrange(10**9)}."),
        "Judgement": lambda: judges(canonicalFact=TEA),
        "Comparison": compared,
        "Selection": selected,
    }
    for number in range(12):
        double.by_schema = {
            name: [_any_reply(chance, good) for _ in range(6)] for name, good in answers.items()
        }
        match chance.randrange(3):
            case 0:
                learn(take_in(cast, f"I like island number {number} best."))
            case 1:
                create(Host(cast), f"Has been to island number {number}.", call_id=str(number))
            case _:
                recalled(cast, text=f"Which oolong tea on morning {number}?")
    assert ModelCall.objects.filter(cost_usd__isnull=False).exists()
    assert_the_feed_is_the_bill(double)


@pytest.mark.django_db
def test_one_question_is_one_line_of_the_bill(double: ModelServer) -> None:
    double.by_schema = {"Ready": [reply('{"answer": "yes"}')]}
    ask(
        "check",
        [Message("user", "Ready?")],
        model_health.Ready,
        payer=OnBehalf(),
        timeout_seconds=2,
        max_tokens=9,
    )
    assert double.bill == [Billed("chat", CHAT_MODEL, 1_234, 1_024, 77)]
    assert prompt(double.asked[0]) == "Ready?"
    assert ModelCall.objects.get().cost_usd == Decimal("0.000309600000")
    assert datetime.now(UTC).date() == spending.costs(7).days[-1].date
