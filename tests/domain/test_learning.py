"""Learning by a model: what it answers, what is stored of it, what it costs, what it cannot do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections

from junior_memory import events, forgetting, memories, own_words, people, sessions
from junior_memory.access import Source, person
from junior_memory.candidates import ActorRef
from junior_memory.conflicts import open_conflicts, resolve_conflict
from junior_memory.memories import NewMemory
from junior_memory.models import (
    Agent,
    CompletedSession,
    Conflict,
    ConversationEvent,
    Memory,
    ModelCall,
    Tombstone,
    User,
)
from junior_memory.providers import ModelFailed, Question
from junior_memory.providers.fake import FakeChatModel
from tests.cast import Cast
from tests.factories import BY_TEST, AgentFactory

ALICE = ActorRef("slack", "T1", "UALICE")
BOB = ActorRef("slack", "T1", "UBOB")
DONE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
LATER = DONE + timedelta(hours=1)
PRIVATE = Source(platform="slack", key="slack:T1:D1", visibility="private")
PUBLIC = Source(platform="slack", key="slack:T1:C1", visibility="public")

Reply = dict[str, Any] | ModelFailed | Callable[[Question], dict[str, Any]]


def said(text: str, actor: ActorRef = ALICE) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "text": text,
        "actor": {"provider": actor.provider, "tenant": actor.tenant, "subject": actor.subject},
    }


def fact(text: str, *evidence: int, kind: str = "preference", **fields: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "canonicalFact": text,
        "expiresAt": None,
        "evidence": list(evidence) or [0],
        "touchesTopic": None,
        "ordersAssistant": False,
        **fields,
    }


def answer(
    model: FakeChatModel, *found: dict[str, Any], verdict: str = "distinct", numbers: Any = ()
) -> None:
    """Let the model find these facts, and give this verdict on each of them."""
    replies(
        model,
        lambda _: {"memories": list(found)},
        lambda _: {"verdict": verdict, "numbers": list(numbers)},
    )


def replies(model: FakeChatModel, extraction: Reply, comparison: Reply) -> None:
    """Answer the two questions of learning; a failure comes for every question from there on."""

    def reply(question: Question) -> str:
        chosen = comparison if question.schema_name == "Comparison" else extraction
        assert not isinstance(chosen, ModelFailed)
        return json.dumps(chosen(question) if callable(chosen) else chosen)

    failures = [one for one in (extraction, comparison) if isinstance(one, ModelFailed)]
    model.script = [reply, *failures] if failures and failures[0] is comparison else [reply]
    if isinstance(extraction, ModelFailed):
        model.script = [extraction]


def take_in(cast: Cast, *transcript: dict[str, Any], **fields: Any) -> CompletedSession:
    base: dict[str, Any] = {
        "session_id": "s1",
        "conversation_id": "c1",
        "source": PRIVATE,
        "actor": ALICE,
        "actors": (ALICE,),
        "completed_at": DONE,
        "transcript": transcript or (said("I like green tea best."),),
    }
    agent = fields.pop("agent", cast.agent)
    session, _ = sessions.take_in(
        sessions.SessionInput(**(base | fields)), agent=agent, organization=cast.org
    )
    return session


def process(cast: Cast, *transcript: dict[str, Any], **fields: Any) -> CompletedSession:
    return sessions.process_session(take_in(cast, *transcript, **fields).pk)


def active(now: datetime = LATER) -> list[str]:
    return sorted(Memory.objects.active(now).values_list("content", flat=True))


def remember(cast: Cast, content: str, **fields: Any) -> Memory:
    """Let Alice hold something that was learned before."""
    base = NewMemory(
        content=content,
        kind="preference",
        visibility="private",
        agent=cast.agent,
        origin="automatic",
        source_platform="slack",
        owner=cast.alice,
        conversation_id="c0",
        subject_type="user",
        subject_key=str(cast.alice.pk),
        observed_at=DONE - timedelta(days=3),
    )
    return memories.create_memory(replace(base, **fields), now=DONE - timedelta(days=3)).stored


def asked(model: FakeChatModel, name: str) -> list[Question]:
    return [question for question in model.asked if question.schema_name.startswith(name)]


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


# What stands.


def test_newer_value_replaces_what_was_learned_before(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    old = remember(cast, "Prefers black tea.")
    answer(chat_model, fact("Prefers green tea."), verdict="supersedes", numbers=[1])
    process(cast)
    assert active() == ["Prefers green tea."]
    old.refresh_from_db()
    assert old.superseded_by == Memory.objects.get(content="Prefers green tea.")
    payload = ConversationEvent.objects.get().payload
    assert (payload["superseded"], len(payload["memories"])) == (1, 1)
    assert {call.operation for call in ModelCall.objects.all()} == {"extraction", "adjudication"}
    assert not ModelCall.objects.filter(event__isnull=True).exists()


def test_rewording_creates_nothing(cast: Cast, chat_model: FakeChatModel) -> None:
    remember(cast, "Prefers black tea.")
    answer(chat_model, fact("Likes black tea most."), verdict="duplicate", numbers=[1])
    process(cast)
    assert active() == ["Prefers black tea."]
    assert ConversationEvent.objects.get().payload["existing"] == 1


@pytest.mark.parametrize("verdict", ["distinct", "uncertain"])
def test_in_doubt_both_stay(cast: Cast, chat_model: FakeChatModel, verdict: str) -> None:
    remember(cast, "Prefers black tea.")
    answer(chat_model, fact("Likes green tea."), verdict=verdict, numbers=[1])
    process(cast)
    assert active() == ["Likes green tea.", "Prefers black tea."]


def test_contradicting_knowledge_does_not_pile_up(cast: Cast, chat_model: FakeChatModel) -> None:
    about = {"kind": "knowledge", "subject_type": "conversation", "subject_key": "c0"}
    remember(cast, "Deploys go out on Monday.", **about)
    newer = fact("Deploys go out on Tuesday.", kind="knowledge")
    answer(chat_model, newer, verdict="supersedes", numbers=[1])
    process(cast, said("Our deploys go out on Tuesday now."))
    assert active() == ["Deploys go out on Tuesday."]


def test_ids_that_were_not_offered_change_nothing(cast: Cast, chat_model: FakeChatModel) -> None:
    remember(cast, "Prefers black tea.")
    answer(chat_model, fact("Prefers green tea."), verdict="supersedes", numbers=[7, 99])
    process(cast)
    assert active() == ["Prefers black tea.", "Prefers green tea."]


def test_failing_adjudication_keeps_both_and_is_paid_for(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    remember(cast, "Prefers black tea.")
    replies(
        chat_model,
        lambda _: {"memories": [fact("Prefers green tea.")]},
        ModelFailed("refused", is_permanent=True),
    )
    assert process(cast).state == "processed"
    assert active() == ["Prefers black tea.", "Prefers green tea."]
    assert not ModelCall.objects.filter(event__isnull=True).exists()


def test_what_the_person_asked_for_is_never_replaced_only_put_to_them(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    remember(cast, "Prefers black tea.", origin="explicit")
    answer(chat_model, fact("Prefers green tea."), verdict="supersedes", numbers=[1])
    process(cast)
    assert active() == ["Prefers black tea.", "Prefers green tea."]
    conflict = open_conflicts(person(cast.alice), now=LATER)[0]
    assert (conflict.first.content, conflict.second.content) == (
        "Prefers black tea.",
        "Prefers green tea.",
    )
    assert ConversationEvent.objects.get().payload["conflicts"] == 1
    decided = resolve_conflict(
        person(cast.alice), conflict.id, keep="second", doer=BY_TEST, now=LATER
    )
    assert decided.forgotten == (conflict.first.pk,)
    assert active() == ["Prefers green tea."]


def test_older_words_do_not_replace_what_was_said_later(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    remember(cast, "Prefers black tea.")
    old = said("I like green tea best.") | {"at": "2026-11-01T08:00:00+00:00"}
    answer(chat_model, fact("Prefers green tea."), verdict="supersedes", numbers=[1])
    process(cast, old)
    assert active() == ["Prefers black tea."]


def test_nobody_replaces_somebody_elses_public_fact(cast: Cast, chat_model: FakeChatModel) -> None:
    fields = {
        "kind": "knowledge",
        "visibility": "public",
        "subject_type": "conversation",
        "subject_key": "c0",
    }
    remember(cast, "The office is in Oslo.", **fields)
    remember(cast, "The office has three floors.", owner=None, **fields)
    replies(
        chat_model,
        lambda _: {"memories": [fact("The office is in Bergen.", kind="knowledge")]},
        lambda _: {"verdict": "supersedes", "numbers": [1]},
    )
    process(cast, said("The office is in Bergen.", BOB), actor=BOB, actors=(BOB,), source=PUBLIC)
    assert active() == [
        "The office has three floors.",
        "The office is in Bergen.",
        "The office is in Oslo.",
    ]
    assert not Conflict.objects.exists()


def test_private_memories_are_never_shown_to_the_reader_of_a_public_conversation(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    remember(cast, "Prefers black tea because of her kidneys.")
    answer(chat_model, fact("Likes green tea."), verdict="duplicate", numbers=[1])
    process(cast, source=PUBLIC)
    assert chat_model.asked
    assert not any("kidneys" in str(one.messages[-1].text) for one in chat_model.asked)


def test_other_peoples_memories_are_never_shown(cast: Cast, chat_model: FakeChatModel) -> None:
    about = {"owner": cast.bob, "subject_key": str(cast.bob.pk)}
    remember(cast, "Prefers green tea with bobcats.", **about)
    answer(chat_model, fact("Likes green tea."))
    process(cast)
    assert not any("bobcats" in one.messages[-1].text for one in chat_model.asked)


def test_existing_memories_go_along_with_a_window(cast: Cast, chat_model: FakeChatModel) -> None:
    remember(cast, "Prefers green tea over black.")
    answer(chat_model)
    process(cast)
    assert "Prefers green tea over black." in asked(chat_model, "Found")[0].messages[-1].text


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


@pytest.fixture
def spent_agent(cast: Cast) -> Agent:
    """Return an agent whose budget of the day is spent."""
    agent = AgentFactory.create(daily_budget_usd=Decimal("0.01"))
    ModelCall.objects.create(
        operation="extraction",
        provider="openai",
        model="m",
        cost_usd=Decimal("0.02"),
        outcome="ok",
        agent=agent,
        created_at=LATER,
    )
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


# Forgetting wins.


def test_forget_during_the_reading_wins(cast: Cast, chat_model: FakeChatModel) -> None:
    old = remember(cast, "Prefers green tea.")

    def read(question: Question) -> dict[str, Any]:
        forgetting.forget(person(cast.alice), old.pk, doer=BY_TEST, now=DONE)
        return {"memories": [fact("Prefers green tea."), fact("Lives by the sea.")]}

    replies(chat_model, read, {"verdict": "distinct", "numbers": []})
    process(cast, said("I prefer green tea. I live by the sea."))
    assert active() == ["Lives by the sea."]
    assert ConversationEvent.objects.get().payload["blocked"] == 1
    assert Tombstone.objects.filter(of="content").get().blocked_count == 1


def test_forget_between_ruling_and_storing_wins(cast: Cast, chat_model: FakeChatModel) -> None:
    old = remember(cast, "Prefers black tea.")

    def compare(question: Question) -> dict[str, Any]:
        forgetting.forget(person(cast.alice), old.pk, doer=BY_TEST, now=DONE)
        return {"verdict": "duplicate", "numbers": [1]}

    replies(chat_model, lambda _: {"memories": [fact("Enjoys Assam most of all.")]}, compare)
    process(cast, said("I enjoy Assam most of all."))
    assert active() == []
    assert ConversationEvent.objects.get().payload["blocked"] == 1


def test_forgotten_fact_said_in_other_words_is_blocked_and_an_explicit_create_brings_it_back(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    old = remember(cast, "Prefers black tea in the afternoon.")
    forgetting.forget(person(cast.alice), old.pk, doer=BY_TEST, now=DONE)
    words = fact("An afternoon without Assam tea is no afternoon.")
    answer(chat_model, words, verdict="duplicate", numbers=[1])
    process(cast, said("An afternoon without Assam tea is no afternoon."))
    assert active() == []
    assert ConversationEvent.objects.get().payload["blocked"] == 1
    assert Tombstone.objects.filter(of="content").get().blocked_count == 1
    again = replace(_new_of(cast, "Prefers black tea in the afternoon."), origin="explicit")
    assert memories.create_memory(again, now=LATER).created
    assert active() == ["Prefers black tea in the afternoon."]


def _new_of(cast: Cast, content: str) -> NewMemory:
    return NewMemory(
        content=content,
        kind="preference",
        visibility="private",
        agent=cast.agent,
        origin="automatic",
        source_platform="slack",
        owner=cast.alice,
        subject_type="user",
        subject_key=str(cast.alice.pk),
    )


@pytest.mark.django_db(transaction=True)
def test_forget_in_another_process_during_a_slow_reading_wins(
    transactional_db: None, chat_model: FakeChatModel
) -> None:
    from tests.cast import make_cast

    cast = make_cast()
    old = remember(cast, "Prefers green tea.")
    reading, forgotten = threading.Event(), threading.Event()

    def read(question: Question) -> dict[str, Any]:
        reading.set()
        assert forgotten.wait(20)
        return {"memories": [fact("Prefers green tea.")]}

    replies(chat_model, read, {"verdict": "distinct", "numbers": []})
    session = take_in(cast)

    def work() -> None:
        try:
            sessions.process_session(session.pk)
        finally:
            connections.close_all()

    worker = threading.Thread(target=work)
    worker.start()
    assert reading.wait(20)
    forgetting.forget(person(cast.alice), old.pk, doer=BY_TEST)
    forgotten.set()
    worker.join(30)
    assert active() == []
    assert Tombstone.objects.filter(of="content").get().blocked_count == 1


# A person's own words.


def own(cast: Cast, content: str, user: User | None = None) -> Memory:
    owner = user or cast.alice
    new = NewMemory(
        content=content,
        kind="preference",
        visibility="private",
        agent=cast.agent,
        origin="explicit",
        source_platform="web",
        owner=owner,
        subject_type="user",
        subject_key=str(owner.pk),
    )
    return memories.create_memory(new, now=DONE).stored


def test_what_a_person_typed_is_kept_and_its_contradiction_put_to_them(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    remember(cast, "Prefers black tea.")
    mine = own(cast, "i want GREEN tea")
    replies(chat_model, {}, lambda _: {"verdict": "supersedes", "numbers": [1]})
    assert own_words.look_for_conflicts(mine.pk, now=LATER) == 1
    assert active() == ["Prefers black tea.", "i want GREEN tea"]
    assert own_words.look_for_conflicts(mine.pk, now=LATER) == 0
    assert Conflict.objects.count() == 1
    event = ConversationEvent.objects.filter(name=events.MEMORY_REVIEWED).first()
    assert event is not None
    assert event.payload["memory_id"] == str(mine.pk)
    assert not ModelCall.objects.filter(event__isnull=True).exists()


def test_typed_words_of_one_person_are_not_compared_with_anothers(
    cast: Cast, chat_model: FakeChatModel
) -> None:
    own(cast, "Prefers bobcats.", cast.bob)
    mine = own(cast, "Prefers bobcats and lynxes.")
    replies(chat_model, {}, lambda _: {"verdict": "supersedes", "numbers": [1]})
    assert own_words.look_for_conflicts(mine.pk, now=LATER) == 0
    assert chat_model.asked == []


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No line of the log holds what was said, asked, answered or remembered."""
    caplog.set_level("DEBUG")
    yield
    lines = "\n".join(record.getMessage() for record in caplog.records)
    for word in ("tea", "Deploys", "office", "bobcats", "kidneys", "boats"):
        assert f" {word}" not in lines
