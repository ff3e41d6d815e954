"""Remembering something in a person's own words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, text
from tests.factories import AgentFactory, make_memory


def form(**fields: str) -> dict[str, str]:
    """Return a filled form."""
    filled = {"content": "Drinks oolong.", "kind": "preference", "agent": "default"}
    return filled | {"expires_on": "", "key": str(uuid4())} | fields


def test_add_keeps_the_words_as_typed_private_and_explicit(
    cast: Cast, alice_client: Client
) -> None:
    response = alice_client.post("/memories/new", form(content="  I drink   oolong!  "))
    memory = Memory.objects.get(owner=cast.alice)
    assert response["Location"] == f"/memories#memory-{memory.pk}"
    assert memory.content == "I drink oolong!"
    assert (memory.visibility, memory.origin, memory.kind) == ("private", "explicit", "preference")
    assert (memory.subject_type, memory.subject_key) == ("user", str(cast.alice.pk))
    assert memory.expires_at is None


def test_add_with_htmx_draws_the_list_from_its_top(cast: Cast, alice_client: Client) -> None:
    response = alice_client.post("/memories/new", form(), headers=HTMX)
    assert response["HX-Retarget"] == "#results"
    assert "Drinks oolong." in text(response)
    assert "Remembered." in text(response)


def test_form_has_an_address_of_its_own(cast: Cast, alice_client: Client) -> None:
    AgentFactory.create(name="ops-bot")
    page = text(alice_client.get("/memories/new"))
    assert "<h1>Add a memory</h1>" in page
    assert 'value="ops-bot"' in page
    assert alice_client.delete("/memories/new").status_code == 405


def test_add_for_another_agent_until_a_day(cast: Cast, alice_client: Client) -> None:
    AgentFactory.create(name="ops-bot")
    day = timezone.now().date() + timedelta(days=30)
    alice_client.post("/memories/new", form(agent="ops-bot", expires_on=day.isoformat()))
    memory = Memory.objects.get(owner=cast.alice)
    assert memory.agent.name == "ops-bot"
    assert memory.expires_at is not None
    assert memory.expires_at.date() == day


def test_the_same_form_sent_twice_makes_one_memory(cast: Cast, alice_client: Client) -> None:
    filled = form()
    for _ in range(2):
        assert alice_client.post("/memories/new", filled).status_code == 302
    assert Memory.objects.filter(owner=cast.alice).count() == 1


def test_the_same_words_again_say_that_they_are_remembered(
    cast: Cast, alice_client: Client
) -> None:
    alice_client.post("/memories/new", form())
    page = alice_client.post("/memories/new", form(content="drinks OOLONG"), follow=True)
    assert "That is remembered already." in text(page)
    assert Memory.objects.filter(owner=cast.alice).count() == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": ""}, "This field is required."),
        ({"content": " \t\n "}, "This field is required."),
        ({"content": "x" * 4001}, "at most 4,000 characters"),
        ({"content": "ghp_" + "a1B2" * 9}, "never remembered"),
        ({"kind": "gossip"}, "valid choice"),
        ({"agent": "nobody"}, "valid choice"),
        ({"expires_on": "2001-01-01"}, "must lie in the future"),
        ({"expires_on": "soon"}, "valid date"),
        ({"key": "not-a-key"}, "UUID"),
    ],
)
def test_what_cannot_be_kept_is_said_in_the_form(
    cast: Cast, alice_client: Client, fields: dict[str, str], said: str
) -> None:
    for headers in ({}, HTMX):
        response = alice_client.post("/memories/new", form(**fields), headers=headers)
        assert response.status_code == 422
        if "key" not in fields:
            assert said in text(response)
    assert not Memory.objects.filter(owner=cast.alice).exists()


def test_a_full_quota_is_said_in_the_form(cast: Cast, alice_client: Client, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"active_quota": 1}
    make_memory(content="Prefers tea.", owner=cast.alice)
    response = alice_client.post("/memories/new", form())
    assert response.status_code == 422
    assert "forget some first" in text(response)


def test_anonymous_adds_nothing(cast: Cast) -> None:
    assert Client().post("/memories/new", form()).status_code == 302
    assert not Memory.objects.exists()
