"""POST /recall and POST /sessions under the operator's consent gate and prompt format."""

from __future__ import annotations

from typing import Any

import pytest

from junior_memory.models import CompletedSession, Memory
from tests.api.bodies import UNKNOWN, question, said, session
from tests.api.conftest import Caller, json_of
from tests.cast import Cast
from tests.domain import operators
from tests.factories import make_memory

FACT = "Prefers window seats on night trains."
ASKED = question("Which seats on the night train?")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    operators.ASKED.clear()
    operators.GIVEN.clear()


def choose(settings: Any, **paths: str) -> None:
    named = {name: f"tests.domain.operators.{one}" for name, one in paths.items()}
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | named


@pytest.mark.parametrize("gate", ["refuse", "throw", "absent"])
def test_without_consent_recall_gives_nothing_and_a_session_keeps_no_word(
    host: Caller, cast: Cast, settings: Any, gate: str
) -> None:
    make_memory(owner=cast.alice, content=FACT)
    assert json_of(host.post("recall", ASKED))["memories"]
    choose(settings, consent_gate=gate)
    answer = json_of(host.post("recall", ASKED))
    assert (answer["prompt"], answer["memories"]) == (None, [])
    assert answer["memoryMode"] == "writeOnly"
    taken = json_of(host.post("sessions", session(transcript=[said("I like zebra tea.")])), 202)
    assert taken["status"] == "skipped"
    assert json_of(host.get("sessions/session-1"))["reason"] == "no_consent"
    assert CompletedSession.objects.get().transcript is None
    assert Memory.objects.count() == 1


def test_the_gate_is_told_the_linked_person_and_where(
    host: Caller, cast: Cast, settings: Any
) -> None:
    choose(settings, consent_gate="allow")
    json_of(host.post("recall", ASKED))
    json_of(host.post("sessions", session()), 202)
    json_of(host.post("sessions", session()))
    recalled, handed_in = operators.ASKED
    assert (recalled.user, recalled.use, recalled.conversation_id) == (cast.alice, "recall", "C-9")
    assert (handed_in.user, handed_in.use) == (cast.alice, "sessions")
    assert {turn.organization for turn in operators.ASKED} == {cast.org}
    assert handed_in.source.visibility == "private"


def test_a_gate_can_tell_who_is_linked(host: Caller, cast: Cast, settings: Any) -> None:
    make_memory(content="The night train leaves from the harbour.", visibility="public")
    choose(settings, consent_gate="refuse_the_unlinked")
    asked = question("Where does the night train leave?")
    assert json_of(host.post("recall", asked))["memories"]
    assert not json_of(host.post("recall", asked | {"actor": UNKNOWN}))["memories"]


def test_the_format_writes_the_prompt_of_what_was_admitted(
    host: Caller, cast: Cast, settings: Any
) -> None:
    make_memory(owner=cast.alice, content=FACT)
    make_memory(owner=cast.bob, content="Prefers aisle seats on night trains.")
    choose(settings, prompt_format="as_list")
    answer = json_of(host.post("recall", ASKED))
    assert answer["prompt"] == f"Known to default:\n* {FACT} (preference)"
    assert [one["content"] for one in answer["memories"]] == [FACT]
    choose(settings, prompt_format="too_much")
    assert json_of(host.post("recall", ASKED))["prompt"].startswith("<recalled_memories>")
