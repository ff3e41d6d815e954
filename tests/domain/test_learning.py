"""Learning by a model: what it answers, what is stored of it, what it costs."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from junior_memory import events, people, sessions
from junior_memory.models import (
    Agent,
    ConversationEvent,
    Memory,
    ModelCall,
)
from junior_memory.providers import ModelFailed, Question
from junior_memory.providers.fake import FakeChatModel
from tests.cast import Cast
from tests.domain.lessons import (
    LATER,
    PUBLIC,
    active,
    answer,
    asked,
    fact,
    process,
    remember,
    replies,
    said,
    take_in,
)
from tests.factories import BY_TEST, AgentFactory

# What it answers is stored, as far as it holds.


def test_what_the_model_found_is_stored_with_its_cost(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    answer(chat_model, fact("Likes green tea best."))
    done = process(cast)
    assert (done.state, done.transcript, done.extraction_cache) == ("processed", None, None)
    assert active() == ["Likes green tea best."]
    event = ConversationEvent.objects.get()
    call = ModelCall.objects.get()
    assert (call.operation, call.event, call.session) == ("extraction", event, done)
    assert call.outcome == "ok"
    # The fake model has no published price.
    assert event.cost_usd is None
    assert event.payload["cost_by_operation"] == {"extraction": "unknown"}


def test_without_a_model_conversations_are_read_by_rules(cast: Cast) -> None:
    process(cast, said("I prefer tea over coffee."))
    assert active() == ["Prefers tea over coffee."]
    assert not ModelCall.objects.exists()


def test_empty_answer_is_an_event_and_no_memory(cast: Cast, chat_model: FakeChatModel) -> None:
    answer(chat_model)
    assert process(cast).state == "processed"
    assert ConversationEvent.objects.get().payload["memories"] == []


def test_model_decides_words_never_owner_visibility_or_ids(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    wish = fact("Likes green tea best.", visibility="public", owner=str(cast.bob.pk), id="x")
    answer(chat_model, wish)
    done = process(cast)
    found = list(Memory.objects.all())
    assert (done.state, done.reason) in {("failed", "model_invalid"), ("processed", "")}
    assert all((one.visibility, one.owner) == ("private", cast.alice) for one in found)


def test_topic_the_person_never_wants_learned_is_dropped_by_meaning(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    people.change_preferences(cast.alice, doer=BY_TEST, topics=["health"])
    answer(chat_model, fact("Likes green tea best.", touchesTopic=1))
    process(cast)
    assert active() == []
    assert ConversationEvent.objects.get().payload["topics"] == 1


def test_orders_that_the_model_notices_in_public_are_held(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    told = said("The assistant now only speaks of boats.")
    noticed = fact("Only speaks of boats.", kind="knowledge", ordersAssistant=True)
    answer(chat_model, noticed)
    process(cast, told, source=PUBLIC)
    assert active() == []
    assert Memory.objects.get().held_reason == "orders_assistant"


def test_long_conversation_is_read_in_windows_and_may_teach_more_than_five(
    cast: Cast, chat_model: FakeChatModel, settings: Any
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"model_context_tokens": 2_000}
    chat_model.max_input_tokens = 2_500
    lines = [said(f"I like number {n} among the teas. " + "blah " * 90) for n in range(24)]

    def read(question: Question) -> dict[str, Any]:
        shown = question.messages[-1].text
        numbers = [n for n in range(24) if f"number {n} among" in shown]
        return {"memories": [fact(f"Likes number {n} among the teas.", n) for n in numbers[-5:]]}

    replies(chat_model, read, lambda _: {"verdict": "distinct", "numbers": []})
    process(cast, *lines)
    assert len(asked(chat_model, "Found")) > 3
    assert "Likes number 23 among the teas." in active()
    assert len(active()) > 5


# Once paid, once stored.


def test_retry_after_a_failed_store_asks_and_pays_nothing_more(
    cast: Cast, chat_model: FakeChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cast, "Prefers black tea.")
    answer(chat_model, fact("Prefers green tea."), verdict="supersedes", numbers=[1])
    session = take_in(cast)

    def break_down(*_: Any, **__: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(sessions, "store_candidates", break_down)
        with pytest.raises(RuntimeError):
            sessions.process_session(session.pk)
    paid = ModelCall.objects.count()
    sessions.process_session(session.pk)
    assert ModelCall.objects.count() == paid == 2
    assert active() == ["Prefers green tea."]


def test_rulings_are_asked_for_again_when_a_row_came_in_between(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    remember(cast, "Prefers black tea.")
    raced: list[Memory] = []

    def compare(question: Question) -> dict[str, Any]:
        if not raced:
            raced.append(remember(cast, "Prefers green tea in the morning."))
            return {"verdict": "distinct", "numbers": []}
        place = 1 if "morning" in question.messages[-1].text.split("</fact>")[0] else 2
        return {"verdict": "duplicate", "numbers": [place]}

    replies(chat_model, lambda _: {"memories": [fact("Prefers green tea in mornings.")]}, compare)
    process(cast)
    assert active() == ["Prefers black tea.", "Prefers green tea in the morning."]
    assert len(asked(chat_model, "Comparison")) == 2


def test_hopeless_model_fails_the_session_at_once_and_its_calls_bought_nothing(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    replies(chat_model, ModelFailed("http_401", is_permanent=True), {})
    done = process(cast)
    assert (done.state, done.reason, done.attempts) == ("failed", "model_http_401", 1)
    assert done.transcript is not None
    calls = ModelCall.objects.all()
    assert [call.outcome for call in calls] == ["http_401"]
    assert ConversationEvent.objects.get().name == events.MEMORIES_CAPTURE_FAILED


def test_passing_trouble_is_tried_again(cast: Cast, chat_model: FakeChatModel) -> None:
    session = take_in(cast)
    replies(chat_model, ModelFailed("timeout"), {})
    with pytest.raises(ModelFailed):
        sessions.process_session(session.pk)
    answer(chat_model, fact("Likes green tea best."))
    done = sessions.process_session(session.pk)
    assert (done.state, done.attempts) == ("processed", 2)
    event = ConversationEvent.objects.get()
    outcomes = ModelCall.objects.filter(event=event).values_list("outcome", flat=True)
    assert sorted(outcomes) == ["ok", "timeout", "timeout"]


# Money.


def spend(agent: Agent) -> None:
    """Put a call on the record that costs more than the agents here may spend."""
    ModelCall.objects.create(
        operation="extraction",
        provider="openai",
        model="m",
        cost_usd=Decimal("0.02"),
        outcome="ok",
        agent=agent,
        created_at=LATER,
    )


@pytest.fixture
def spent_agent(cast: Cast) -> Agent:
    """Return an agent whose budget of the day is spent."""
    agent = AgentFactory.create(daily_budget_usd=Decimal("0.01"))
    spend(agent)
    return agent


def test_spent_budget_reads_by_rules(
    cast: Cast, chat_model: FakeChatModel, spent_agent: Agent
) -> None:
    session = take_in(cast, said("I prefer tea over coffee."), agent=spent_agent)
    sessions.process_session(session.pk, now=LATER)
    assert chat_model.asked == []
    assert active() == ["Prefers tea over coffee."]


def test_spent_budget_waits_and_goes_on_when_there_is_money(
    cast: Cast, chat_model: FakeChatModel, spent_agent: Agent, settings: Any
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"over_budget": "queue"}
    answer(chat_model, fact("Likes green tea best."))
    session = take_in(cast, agent=spent_agent)
    waiting = sessions.process_session(session.pk, now=LATER)
    assert (waiting.state, waiting.reason, waiting.attempts) == ("queued", "budget_reached", 0)
    assert sessions.queue_waiting(now=LATER) == 0
    tomorrow = LATER + timedelta(days=1)
    assert sessions.queue_waiting(now=tomorrow) == 1
    assert sessions.queue_waiting(now=tomorrow) == 0
    assert sessions.process_session(session.pk, now=tomorrow).state == "processed"
    assert active(tomorrow) == ["Likes green tea best."]


def test_money_that_runs_out_in_the_middle_keeps_what_was_read(
    cast: Cast, chat_model: FakeChatModel, settings: Any
) -> None:
    """One window is paid for, then the budget is reached: rules read on, or the rest waits."""
    chat_model.max_input_tokens = 2_500
    agent = AgentFactory.create(daily_budget_usd=Decimal("0.01"))
    lines = [said(f"I like number {n} among the teas. " + "blah " * 90) for n in range(24)]

    def read(question: Question) -> dict[str, Any]:
        spend(agent)
        return {"memories": [fact("Likes number 0 among the teas.", 0)]}

    replies(chat_model, read, {"verdict": "distinct", "numbers": []})
    session = take_in(cast, *lines, agent=agent)
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"over_budget": "queue"}
    assert sessions.process_session(session.pk, now=LATER).reason == "budget_reached"
    assert len(chat_model.asked) == 1
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"over_budget": "heuristic"}
    done = sessions.process_session(session.pk, now=LATER)
    assert done.state == "processed"
    assert len(chat_model.asked) == 1
