"""The self-test sees what keeps people apart break, and leaves nothing behind."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from junior_memory import compiled, event_rows, turnover
from junior_memory.access import Viewer
from junior_memory.event_rows import event_rows as of_kind
from junior_memory.models import (
    Agent,
    AuditEntry,
    ConversationEvent,
    Identity,
    Memory,
    Organization,
    User,
)
from junior_memory.querysets import MemoryQuerySet
from junior_memory.self_test import self_test
from tests.cast import Cast
from tests.factories import make_memory

LEFT = (User, Memory, Identity, Organization, Agent, AuditEntry, ConversationEvent)


@pytest.fixture(autouse=True)
def _compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no statement of a broken rule outlive its test, and none of a whole one serve in it."""
    monkeypatch.setattr(compiled, "_known", {})


def test_whole_deployment_is_green_and_nothing_is_left(cast: Cast, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    make_memory(content="A canary sings.", visibility="public")
    before = [model.objects.count() for model in LEFT]
    found = self_test()
    assert found.is_green, found.red
    assert len(found.checks) > 50
    assert [model.objects.count() for model in LEFT] == before


def test_rule_that_lets_everybody_see_everything_is_red_everywhere(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything(rows: MemoryQuerySet, viewer: Viewer) -> MemoryQuerySet:
        return rows.all()

    monkeypatch.setattr(MemoryQuerySet, "visible_to", everything)
    found = self_test()
    assert not found.is_green
    paths = {check.path for check in found.red if check.leaked}
    assert paths >= {"list", "one by one", "search", "counts", "recall"}
    assert paths >= {"tool listMemories", "tool searchMemories"}
    assert paths >= {"first page of the list", "where it was used", "history"}


def test_rule_that_takes_everything_for_ones_own_is_red_in_every_list_of_ones_own(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MemoryQuerySet, "own", lambda rows, _: rows.all())
    monkeypatch.setattr(MemoryQuerySet, "decidable_by", lambda rows, _: rows.all())
    monkeypatch.setattr(MemoryQuerySet, "visible_to", lambda rows, _: rows.all())
    monkeypatch.setattr(MemoryQuerySet, "concerning", lambda rows, _: rows.all())
    paths = {check.path for check in self_test().red if check.leaked}
    states = ("held", "expired", "forgotten")
    assert paths >= {f"list of {state}" for state in states}
    assert paths >= {
        "may be forgotten",
        "on one page",
        "export",
        "read with a reason",
        "conflicts",
        "history",
    }
    assert paths >= {"chat widget", "held"}


def test_rule_that_forgets_the_agent_or_hides_ones_own_is_red(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = MemoryQuerySet.visible_to

    def without_sessions(rows: MemoryQuerySet, viewer: Viewer) -> MemoryQuerySet:
        return rule(rows, viewer).exclude(visibility="session")

    monkeypatch.setattr(MemoryQuerySet, "visible_to", without_sessions)
    found = self_test()
    assert {check.path for check in found.red} >= {"list", "search", "conversation"}
    assert all(check.missing and not check.leaked for check in found.red)


def test_list_for_staff_that_says_a_word_or_whose_it_is_is_red(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turnover, "list_present", lambda part, _: [turnover.present_rows(part, _)])
    monkeypatch.setattr(
        event_rows, "list_events", lambda kind, *_: [row.owner for row in of_kind(kind, *_)]
    )
    monkeypatch.setattr(Memory, "__repr__", lambda row: row.content)
    red = {check.path for check in self_test().red if check.leaked}
    assert red == {"what is there now", "events"}


def test_command_ends_with_an_error_when_red(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    call_command("self_test", stdout=out)
    assert "green" in out.getvalue()
    monkeypatch.setattr(MemoryQuerySet, "visible_to", lambda rows, _: rows.all())
    with pytest.raises(CommandError):
        call_command("self_test", stdout=out)
    assert "RED  search" in out.getvalue()
