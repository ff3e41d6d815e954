"""Automatic recall: for the right person, in the right place, in time, or nothing."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from junior_memory import access, legs, lexical, memories, recall_decision
from junior_memory.access import Source, Viewer
from junior_memory.conf import conf
from junior_memory.gates import Gate
from junior_memory.models import (
    Agent,
    ConversationEvent,
    Identity,
    Memory,
    MemoryUse,
    Organization,
    PublicUse,
)
from junior_memory.recall import Recall, RecallRequest, Silence, explain_recall, recall
from tests.cast import Cast
from tests.factories import BY_TEST, AgentFactory, make_agent_token, make_memory

PRIVATE = Source(platform="slack", key="k", visibility="private")
PUBLIC = Source(platform="slack", key="k", visibility="public")


def viewer_for(
    agent: Agent,
    actor: Identity | None,
    *,
    source: Source = PRIVATE,
    organization: Organization | None = None,
    conversation_id: str = "c1",
) -> Viewer:
    token, _ = make_agent_token(agent, organization=organization)
    return access.host(token, actor=actor, source=source, conversation_id=conversation_id)


def ask(
    cast: Cast,
    text: str,
    *,
    actor: Identity | None = None,
    source: Source = PRIVATE,
    organization: Organization | None = None,
    **fields: Any,
) -> RecallRequest:
    viewer = viewer_for(
        fields.get("agent", cast.agent),
        actor or cast.alice_slack,
        source=source,
        organization=organization,
    )
    return RecallRequest(
        **{
            "viewer": viewer,
            "agent": cast.agent,
            "conversation_id": "c1",
            "source": source,
            "text": text,
            # A busy machine takes its time; the limits themselves have tests of their own.
            "deadline_ms": 8_000,
            **fields,
        }
    )


def contents(answer: Recall) -> list[str]:
    return [memory.content for memory in answer.memories]


def test_what_fits_is_recalled_and_what_does_not_is_not(cast: Cast, now: datetime) -> None:
    tea = make_memory(content="Prefers oolong tea in the morning.", owner=cast.alice, now=now)
    make_memory(content="Deploys billing with make ship.", owner=cast.alice, now=now)
    answer = recall(ask(cast, "Which tea should I order?"), now=now)
    assert [memory.id for memory in answer.memories] == [tea.pk]
    assert answer.prompt is not None
    assert "Prefers oolong tea" in answer.prompt
    assert str(tea.pk) not in answer.prompt
    assert str(cast.alice.pk) not in answer.prompt
    assert (answer.timed_out, answer.degraded, answer.memory_mode) == (False, (), "on")


def test_nothing_is_a_normal_answer_and_leaves_an_event_without_ids(
    cast: Cast, now: datetime
) -> None:
    make_memory(content="Prefers oolong tea in the morning.", owner=cast.alice, now=now)
    answer = recall(ask(cast, "Summarise the quarterly revenue spreadsheet"), now=now)
    assert (answer.prompt, answer.memories) == (None, ())
    event = ConversationEvent.objects.get()
    assert (event.name, event.version, event.payload["memories"]) == ("memories_recalled", 1, [])


def test_a_name_that_nobody_remembers_speaks_against_a_shared_word(
    cast: Cast, now: datetime
) -> None:
    make_memory(content="Adopted a dog from the shelter.", owner=cast.alice, now=now)
    known = recall(ask(cast, "What is the dog called that I adopted?"), now=now)
    unknown = recall(
        ask(cast, "What is the dog called that Valentina adopted in Trieste?"), now=now
    )
    assert contents(known) == ["Adopted a dog from the shelter."]
    assert contents(unknown) == []


def test_event_and_uses_name_ids_in_the_order_of_the_prompt(cast: Cast, now: datetime) -> None:
    for content in ("Walks the dog at seven.", "Walks the dog along the river."):
        make_memory(content=content, owner=cast.alice, now=now)
    answer = recall(ask(cast, "When do I walk the dog along the river?"), now=now)
    ids = [str(memory.id) for memory in answer.memories]
    assert len(ids) == 2
    event = ConversationEvent.objects.get()
    assert event.payload["recall_id"] == str(answer.recall_id)
    assert [memory["id"] for memory in event.payload["memories"]] == ids
    assert [memory["rank"] for memory in event.payload["memories"]] == [1, 2]
    assert event.payload["memories"][0]["legs"] == ["lexical", "private lexical"]
    assert event.owner == cast.alice
    assert "dog" not in str(event.payload)
    uses = MemoryUse.objects.order_by("rank")
    assert [str(use.memory_id) for use in uses] == ids
    assert {(use.viewer_id, use.conversation_id, use.leg) for use in uses} == {
        (cast.alice.pk, "c1", "lexical")
    }


@pytest.mark.parametrize(
    "others", ["bob_slack", "charlie_slack", "unlinked"], ids=["teammate", "stranger", "unlinked"]
)
def test_private_memory_is_for_its_owner_alone(cast: Cast, now: datetime, others: str) -> None:
    make_memory(content="Prefers oolong tea in the morning.", owner=cast.alice, now=now)
    request = ask(cast, "Which oolong tea do I prefer?", actor=getattr(cast, others))
    explanation = explain_recall(request, now=now)
    assert contents(recall(request, now=now)) == []
    assert explanation.candidates == ()


def test_a_fact_about_a_person_is_recalled_for_its_subject_alone(cast: Cast, now: datetime) -> None:
    public = make_memory(
        content="Prefers oolong tea in the morning.",
        owner=cast.alice,
        visibility="public",
        now=now,
    )
    for actor, wanted in ((cast.alice_slack, [public.pk]), (cast.bob_slack, []), (None, [])):
        request = replace(
            ask(cast, "Which oolong tea?", source=PUBLIC),
            viewer=viewer_for(cast.agent, actor, source=PUBLIC),
        )
        assert [memory.id for memory in recall(request, now=now).memories] == wanted


def test_facts_about_nobody_are_recalled_for_everybody(cast: Cast, now: datetime) -> None:
    make_memory(content="The canteen serves oolong tea.", visibility="public", now=now)
    answer = recall(ask(cast, "Where is oolong tea?", actor=cast.unlinked), now=now)
    assert contents(answer) == ["The canteen serves oolong tea."]
    assert "(public, observed 2026-11-20)" in (answer.prompt or "")


@pytest.mark.parametrize(
    ("use", "wanted"),
    [
        (PublicUse.PREFERENCES, ["Prefers oolong tea."]),
        (PublicUse.ALL, ["Keeps oolong tea in the cellar.", "Prefers oolong tea."]),
        (PublicUse.NONE, []),
    ],
)
@pytest.mark.parametrize("visibility", ["public", "org", ""])
def test_public_conversations_get_what_the_person_allows(
    cast: Cast, now: datetime, use: PublicUse, wanted: list[str], visibility: str
) -> None:
    cast.alice_slack.user = cast.alice
    cast.alice.public_use = use
    cast.alice.save()
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    make_memory(
        content="Keeps oolong tea in the cellar.", owner=cast.alice, kind="knowledge", now=now
    )
    here = replace(PUBLIC, visibility=visibility)
    request = ask(cast, "Do I keep oolong tea?", actor=cast.alice_slack, source=here)
    assert sorted(contents(recall(request, now=now))) == wanted
    alone = ask(cast, "Do I keep oolong tea?", actor=cast.alice_slack)
    assert len(recall(alone, now=now).memories) == 2


def test_public_rows_cannot_crowd_private_memory_out(cast: Cast, now: datetime) -> None:
    for place in range(60):
        make_memory(
            content=f"Oolong tea harvest report number {place}.",
            visibility="public",
            now=now,
            observed_at=now,
        )
    mine = make_memory(
        content="Has oolong tea after lunch.",
        owner=cast.alice,
        now=now,
        observed_at=now - timedelta(days=400),
    )
    explanation = explain_recall(ask(cast, "Tell me about the oolong tea harvest"), now=now)
    assert mine.pk in [candidate.hit.memory.pk for candidate in explanation.candidates]


@pytest.mark.parametrize(
    ("mode", "honoured"), [("on", "on"), ("readOnly", "readOnly"), ("off", "off")]
)
def test_memory_mode_is_honoured_and_named(
    cast: Cast, now: datetime, mode: str, honoured: str
) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    answer = recall(ask(cast, "Which oolong tea?", memory_mode=mode), now=now)
    assert answer.memory_mode == honoured
    assert bool(answer.memories) == (mode != "off")
    assert ConversationEvent.objects.exists() == (mode != "off")


def test_write_only_recalls_nothing(cast: Cast, now: datetime) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    answer = recall(ask(cast, "Which oolong tea?", memory_mode="writeOnly"), now=now)
    assert (answer.memories, answer.memory_mode) == ((), "writeOnly")


def test_person_agent_and_deployment_can_each_turn_recall_off(
    cast: Cast, now: datetime, settings: Any
) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    request = ask(cast, "Which oolong tea?")
    assert recall(request, now=now).memories

    silent = AgentFactory.create(inject=False)
    answer = recall(replace(request, agent=silent), now=now)
    assert (answer.memories, answer.memory_mode) == ((), "writeOnly")

    assert request.viewer.user is not None
    request.viewer.user.recall_off_at = now
    assert recall(request, now=now).memories == ()
    assert explain_recall(request, now=now).silence is Silence.PERSON
    request.viewer.user.recall_off_at = None

    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"recall_enabled": False}
    assert not conf().recall_enabled
    assert recall(request, now=now).memories == ()


def test_blank_text_asks_nothing_of_the_database(cast: Cast, now: datetime) -> None:
    request = ask(cast, "  \n ")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = recall(request, now=now)
    assert answer.prompt is None
    assert len(queries) == 0


def test_min_score_of_the_agent_is_a_gate_of_its_own(cast: Cast, now: datetime) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    picky = replace(ask(cast, "Which tea goes with the sandwich platter?"))
    assert recall(picky, now=now).memories
    cast.agent.min_score = 0.95
    assert recall(replace(picky, agent=cast.agent), now=now).memories == ()
    gates = {c.gate for c in explain_recall(replace(picky, agent=cast.agent), now=now).candidates}
    assert gates == {Gate.BELOW_MIN_SCORE}


def test_a_stored_secret_is_left_out_and_counted(cast: Cast, now: datetime) -> None:
    leaked = "Staging key is AKIAIOSFODNN7EXAMPLF for uploads"
    row = make_memory(content="Staging key is in the vault for uploads", owner=cast.alice, now=now)
    Memory.objects.filter(pk=row.pk).update(content=leaked, search_vector=lexical.vector_of(leaked))
    answer = recall(ask(cast, "What is the staging key for uploads?"), now=now)
    assert answer.memories == ()
    assert ConversationEvent.objects.get().payload["withheld_secrets"] == 1


def test_limit_is_the_most_lines(cast: Cast, now: datetime) -> None:
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"):
        make_memory(content=f"Swims on {day}.", owner=cast.alice, now=now)
    request = ask(cast, "When do I swim?", limit=3)
    assert len(recall(request, now=now).memories) == 3
    gates = [candidate.gate for candidate in explain_recall(request, now=now).candidates]
    assert gates == ["", "", "", Gate.OVER_LIMIT, Gate.OVER_LIMIT]


def test_only_the_end_of_a_long_message_is_searched(cast: Cast, now: datetime) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    early = "oolong tea? " + "x " * 1_000
    late = "x " * 1_000 + "oolong tea?"
    assert recall(ask(cast, early), now=now).memories == ()
    assert len(recall(ask(cast, late), now=now).memories) == 1


def test_a_long_chatty_message_still_recalls_what_it_turns_on(cast: Cast, now: datetime) -> None:
    make_memory(content="Deploys the billing service with make ship.", owner=cast.alice, now=now)
    make_memory(content="Has a standing desk.", owner=cast.alice, now=now)
    text = (
        "Good morning! I finished reviewing the pull requests that piled up and wrote the "
        "notes for the workshop. Could you remind me, before lunch, how the billing service gets "
        "deployed, because somebody asked in the channel and I forgot the exact command?"
    )
    assert contents(recall(ask(cast, text), now=now)) == [
        "Deploys the billing service with make ship."
    ]


def test_unspaced_text_is_recalled(cast: Cast, now: datetime) -> None:
    make_memory(content="备份在每晚两点运行", owner=cast.alice, now=now)
    assert len(recall(ask(cast, "备份什么时候运行？"), now=now).memories) == 1


def test_forgotten_expired_held_and_superseded_never_recall(cast: Cast, now: datetime) -> None:
    rows = [
        make_memory(content=f"Prefers oolong tea number {n}.", owner=cast.alice, now=now)
        for n in range(4)
    ]
    Memory.objects.filter(pk=rows[0].pk).update(archived_at=now, archive_reason="user_removed")
    Memory.objects.filter(pk=rows[1].pk).update(expires_at=now)
    Memory.objects.filter(pk=rows[2].pk).update(held_at=now, held_reason="rate")
    Memory.objects.filter(pk=rows[3].pk).update(superseded_at=now)
    request = ask(cast, "Which oolong tea do I prefer?")
    assert explain_recall(request, now=now).candidates == ()


def test_a_late_database_means_nothing_inside_the_deadline(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)

    def sleeping(*_: object, **__: object) -> legs.LegAnswer:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")
        raise AssertionError("slept through")

    monkeypatch.setattr(recall_decision, "find_by_words", sleeping)
    begin = time.monotonic()
    answer = recall(ask(cast, "Which oolong tea?", deadline_ms=300), now=now)
    assert time.monotonic() - begin < 5, "waited for it"
    assert (answer.timed_out, answer.prompt, answer.memories) == (True, None, ())
    assert Memory.objects.count() == 1


def test_a_failing_leg_is_named_and_the_run_goes_on(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> legs.LegAnswer:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")
        raise AssertionError("divided")

    monkeypatch.setattr(recall_decision, "find_by_words", broken)
    answer = recall(ask(cast, "Which oolong tea?"), now=now)
    assert (answer.prompt, answer.degraded, answer.timed_out) == (None, ("lexical",), False)


def test_an_event_that_cannot_be_written_does_not_fail_the_answer(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)

    def broken(*_: object, **__: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")

    monkeypatch.setattr("junior_memory.events.record_event", broken)
    answer = recall(ask(cast, "Which oolong tea?"), now=now)
    assert len(answer.memories) == 1
    assert not MemoryUse.objects.exists()


def test_time_spent_before_counts_into_the_deadline(cast: Cast, now: datetime) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    late = ask(cast, "Which oolong tea?", started_at=time.monotonic() - 2, deadline_ms=1500)
    answer = recall(late, now=now)
    assert (answer.timed_out, answer.memories) == (True, ())


def test_explaining_writes_nothing_and_agrees_with_recall(cast: Cast, now: datetime) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    make_memory(content="Walks to the office.", owner=cast.alice, now=now)
    request = ask(cast, "Which oolong tea?")
    explanation = explain_recall(request, now=now)
    assert not ConversationEvent.objects.exists()
    assert not MemoryUse.objects.exists()
    answer = recall(request, now=now)
    assert explanation.prompt == answer.prompt
    assert [c.hit.memory.pk for c in explanation.recalled] == [m.id for m in answer.memories]


def test_explaining_names_the_rules_that_kept_memories_out(cast: Cast, now: datetime) -> None:
    private = make_memory(
        content="Keeps oolong tea in the cellar.", owner=cast.alice, kind="knowledge", now=now
    )
    others = make_memory(
        content="Sells oolong tea on Sundays.", owner=cast.bob, visibility="public", now=now
    )
    explanation = explain_recall(
        ask(cast, "Who has oolong tea?", actor=cast.alice_slack, source=PUBLIC), now=now
    )
    assert {c.hit.memory.pk: c.gate for c in explanation.stopped} == {
        private.pk: Gate.PRIVATE_HERE,
        others.pk: Gate.ABOUT_SOMEBODY_ELSE,
    }


def test_recall_asks_a_fixed_number_of_queries(cast: Cast, now: datetime) -> None:
    def count(memories_held: int) -> int:
        for place in range(memories_held):
            make_memory(content=f"Prefers oolong tea {uuid.uuid4()} {place}", owner=cast.alice)
        request = ask(cast, "Which oolong tea do I prefer?")
        with CaptureQueriesContext(connection) as queries:
            recall(request, now=now)
        return len(queries)

    assert count(1) == count(30)


def test_session_rows_are_for_their_conversation(cast: Cast, now: datetime) -> None:
    make_memory(
        content="Drafting the oolong tea menu.",
        owner=cast.alice,
        visibility="session",
        conversation_id="c1",
        now=now,
    )
    here = ask(cast, "Where is the oolong tea menu?")
    elsewhere = replace(here, viewer=viewer_for(cast.agent, cast.alice_slack, conversation_id="c2"))
    assert len(recall(here, now=now).memories) == 1
    assert recall(elsewhere, now=now).memories == ()


def test_org_rows_need_the_token_of_that_org_and_membership(cast: Cast, now: datetime) -> None:
    make_memory(
        content="Deploys happen on Tuesdays at noon.",
        visibility="org",
        org=cast.org,
        now=now,
    )
    text = "When do deploys happen on Tuesdays?"
    member = ask(cast, text, actor=cast.bob_slack, organization=cast.org)
    assert len(recall(member, now=now).memories) == 1
    assert recall(ask(cast, text, actor=cast.bob_slack), now=now).memories == ()
    outsider = ask(cast, text, actor=cast.charlie_slack, organization=cast.org)
    assert recall(outsider, now=now).memories == ()


def test_superseding_changes_what_is_recalled(cast: Cast, now: datetime) -> None:
    old = make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    viewer = access.person(cast.alice)
    corrected = memories.correct_memory(
        viewer, old.pk, "Prefers jasmine tea.", version=old.version, doer=BY_TEST, now=now
    )
    assert contents(recall(ask(cast, "Which tea do I prefer?"), now=now)) == [corrected.content]
