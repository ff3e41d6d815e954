"""What was learned in one conversation."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from junior_memory import events, forgetting
from junior_memory.access import person
from junior_memory.models import Agent, Memory, User
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.factories import BY_TEST, make_memory

CHAT = "slack/C1/1700000001.000100"


def capture(owner: User, agent: Agent, *memories: Memory, chat: str = CHAT) -> None:
    """Record that these were captured."""
    payload = events.MemoriesCaptured(
        memories=[
            events.CapturedMemory(
                id=memory.pk,
                kind=memory.kind,
                visibility=memory.visibility,
                observed_at=memory.observed_at,
            )
            for memory in memories
        ]
    )
    events.record_event(
        events.MEMORIES_CAPTURED,
        payload,
        conversation_id=chat,
        agent=agent,
        owner=owner,
        now=timezone.now(),
    )


def test_conversation_shows_what_it_taught_with_the_text_of_now(
    cast: Cast, alice_client: Client
) -> None:
    kept = make_memory(content="Drinks oolong.", owner=cast.alice, conversation_id=CHAT)
    gone = make_memory(content="Hates mornings.", owner=cast.alice, conversation_id=CHAT)
    capture(cast.alice, cast.agent, kept, gone)
    assert "2 memories captured" in text(alice_client.get(f"/conversations/{CHAT}"))
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST)
    page = text(alice_client.get(f"/conversations/{CHAT}"))
    assert "1 memory captured" in page
    assert "Drinks oolong." in page
    assert "Hates mornings." not in page
    assert "1 more was learned here and is no longer remembered." in page


def test_memory_asked_for_in_a_conversation_is_shown_too(cast: Cast, alice_client: Client) -> None:
    make_memory(content="Drinks oolong.", owner=cast.alice, conversation_id=CHAT)
    assert "Drinks oolong." in text(alice_client.get(f"/conversations/{CHAT}"))


def test_strangers_conversation_is_that_of_an_absent_one(cast: Cast, sign_in: SignIn) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice, conversation_id=CHAT)
    capture(cast.alice, cast.agent, memory)
    for user in (cast.bob, cast.charlie):
        client = sign_in(user)
        strange, absent = client.get(f"/conversations/{CHAT}"), client.get("/conversations/nope")
        assert strange.status_code == absent.status_code == 404
        assert strange.content == absent.content, "leaked"


def test_an_empty_capture_draws_nothing(cast: Cast, alice_client: Client) -> None:
    capture(cast.alice, cast.agent)
    assert alice_client.get(f"/conversations/{CHAT}").status_code == 404


@pytest.mark.parametrize("chat", ["a:b/c d", "ünïcode", "100%", "a?b#c"])
def test_ids_with_odd_characters_work_percent_encoded(
    cast: Cast, alice_client: Client, chat: str
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice, conversation_id=chat)
    url = reverse("conversation", args=[chat])
    assert f'href="{url}"' in text(alice_client.get(f"/memories/{memory.pk}"))
    assert "Drinks oolong." in text(alice_client.get(url))


@pytest.mark.parametrize("path", ["%00", "x" * 300])
def test_impossible_ids_are_404(alice_client: Client, path: str) -> None:
    assert alice_client.get(f"/conversations/{path}").status_code == 404


def test_other_verbs_are_405_and_anonymous_signs_in(cast: Cast, alice_client: Client) -> None:
    assert alice_client.post(f"/conversations/{CHAT}").status_code == 405
    assert Client().get(f"/conversations/{CHAT}").status_code == 302
