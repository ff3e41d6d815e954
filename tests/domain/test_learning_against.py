"""What is learned against what stands, what was forgotten, and what a person typed."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from django.db import connections

from junior_memory import events, forgetting, memories, own_words, sessions
from junior_memory.access import person
from junior_memory.conflicts import open_conflicts, resolve_conflict
from junior_memory.memories import NewMemory
from junior_memory.models import (
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
from tests.domain.lessons import (
    BOB,
    DONE,
    LATER,
    PUBLIC,
    active,
    answer,
    asked,
    fact,
    fresh,
    process,
    remember,
    replies,
    said,
    take_in,
)
from tests.factories import BY_TEST

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
    again = replace(fresh(cast, "Prefers black tea in the afternoon."), origin="explicit")
    assert memories.create_memory(again, now=LATER).created
    assert active() == ["Prefers black tea in the afternoon."]


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
