"""POST /recall."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from junior_memory import people
from junior_memory.models import AuditEntry, ConversationEvent, Identity, Memory, MemoryUse
from tests.api.bodies import ALICE, BOB, UNKNOWN, question, source
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_agent_token, make_memory

ASK = "Which tea does she like, green tea or black?"


@pytest.fixture
def tea(cast: Cast) -> Memory:
    return make_memory(owner=cast.alice, content="Likes green tea.")


def test_recall_gives_a_block_for_the_prompt_and_records_it(host: Caller, tea: Memory) -> None:
    answer = json_of(host.post("recall", question(ASK)))
    assert set(answer) == {
        "prompt",
        "memories",
        "recallId",
        "memoryMode",
        "degraded",
        "timedOut",
        "costUsd",
    }
    assert "Likes green tea." in answer["prompt"]
    (memory,) = answer["memories"]
    assert set(memory) == {"id", "content", "kind", "visibility", "observedAt"}
    assert memory["id"] == str(tea.pk)
    assert (answer["memoryMode"], answer["degraded"], answer["timedOut"]) == ("on", [], False)
    assert answer["costUsd"] == 0
    event = ConversationEvent.objects.get()
    assert event.payload["recall_id"] == answer["recallId"]
    assert MemoryUse.objects.get().memory_id == tea.pk


def test_recall_is_for_the_actor_in_the_source_it_names(host: Caller, tea: Memory) -> None:
    nothing = (
        question(ASK, actor=BOB),
        question(ASK, actor=UNKNOWN),
        question(ASK, actor=None),
        {key: value for key, value in question(ASK).items() if key != "actor"},
        # A private Source alone admits private knowledge; unknown visibility is none.
        question(ASK, source=source(visibility="public"), tiers=["org"]),
        question(ASK, tiers=[]),
        question(ASK, tiers=["session", "org"]),
    )
    for body in nothing:
        answer = json_of(host.post("recall", body))
        assert (answer["prompt"], answer["memories"]) == (None, []), body
    assert not Identity.objects.filter(subject="UNEVERSEEN").exists()


def test_an_unknown_visibility_shows_what_a_public_one_does(host: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Green tea grows in the garden.", kind="knowledge")
    for visibility in ("secret", None, "public", "org"):
        body = question(ASK, source=source(visibility=visibility))
        assert json_of(host.post("recall", body))["memories"] == [], visibility
    assert json_of(host.post("recall", question(ASK)))["memories"]


def test_another_agents_memories_are_not_recalled(cast: Cast, tea: Memory) -> None:
    other = Caller(token=make_agent_token(people.agent_named("scribe", made_by_token=True)[0])[1])
    assert json_of(other.post("recall", question(ASK)))["memories"] == []


def test_team_memory_is_recalled_for_members_of_the_tokens_organization_alone(
    host: Caller, cast: Cast
) -> None:
    make_memory(content="Green tea is on the shelf.", visibility="org", org=cast.org)
    unbound = Caller(token=make_agent_token(cast.agent)[1])
    charlie = {**ALICE, "subject": "UCHARLIE"}
    assert json_of(host.post("recall", question(ASK, actor=BOB)))["memories"]
    assert json_of(host.post("recall", question(ASK, actor=charlie)))["memories"] == []
    assert json_of(unbound.post("recall", question(ASK, actor=BOB)))["memories"] == []


def test_what_does_not_fit_is_refused(host: Caller) -> None:
    wrong: list[dict[str, object]] = [
        {"text": None},
        {"text": 5},
        {"text": "x" * 32_001},
        {"text": "\ud800"},
        {"limit": 0},
        {"limit": 21},
        {"limit": "6"},
        {"deadlineMs": 49},
        {"deadlineMs": 10_001},
        {"deadlineMs": 100.5},
        {"tiers": ["public"]},
        {"tiers": "user"},
        {"memoryMode": "maybe"},
        {"source": source(platform="fax")},
        {"conversationId": ""},
        {"userId": "alice"},
        {"actor": {**ALICE, "owner": "bob"}},
    ]
    for change in wrong:
        assert_fails(host.post("recall", question(ASK) | change), 422)
    assert_fails(host.call("POST", "recall", b"{"), 422)
    assert_fails(host.call("GET", "recall"), 405)
    json_of(host.post("recall", question("x" * 32_000)))
    json_of(host.post("recall", question("nul\x00 here")))


def test_a_token_speaks_for_its_providers_alone(cast: Cast, tea: Memory) -> None:
    bound = Caller(token=make_agent_token(cast.agent, providers=["slack/T2"])[1])
    assert_fails(bound.post("recall", question(ASK)), 403)
    json_of(bound.post("recall", question(ASK, actor=None)))


def test_the_memory_mode_is_honoured(host: Caller, tea: Memory) -> None:
    for mode, recalls in (("on", True), ("readOnly", True), ("off", False), ("writeOnly", False)):
        answer = json_of(host.post("recall", question(ASK, memoryMode=mode)))
        assert (answer["memoryMode"], bool(answer["memories"])) == (mode, recalls)


def test_limits_hold(host: Caller, cast: Cast) -> None:
    for number in range(9):
        make_memory(owner=cast.alice, content=f"Likes green tea of kind {number}.")
    for limit in (1, 3):
        answer = json_of(host.post("recall", question(ASK, limit=limit)))
        assert len(answer["memories"]) == limit
    assert len(json_of(host.post("recall", question(ASK)))["memories"]) == 6


def test_recall_writes_nothing_but_its_event(host: Caller, tea: Memory) -> None:
    before = AuditEntry.objects.count()
    json_of(host.post("recall", question(ASK, actor={**UNKNOWN, "email": "alice@example.com"})))
    assert AuditEntry.objects.count() == before
    assert not Identity.objects.filter(subject="UNEVERSEEN").exists()


def test_a_database_that_is_gone_is_503(
    host: Caller, monkeypatch: pytest.MonkeyPatch, tea: Memory
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(people, "find_token", gone)
    assert_fails(host.post("recall", question(ASK)), 503, "unavailable")
