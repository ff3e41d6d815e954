"""The page of one memory: why, from where, how it came to be, where it was used."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from junior_memory import forgetting
from junior_memory.access import person
from junior_memory.memories import correct_memory
from junior_memory.models import Agent, ConversationEvent, Location, Memory, MemoryUse, User
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory


def use(memory: Memory, viewer: User, conversation_id: str, agent: Agent) -> None:
    """Record that a recall gave this memory."""
    event = ConversationEvent.objects.create(
        name="memories_recalled",
        version=1,
        conversation_id=conversation_id,
        agent=agent,
        owner=viewer,
        created_at=timezone.now(),
    )
    MemoryUse.objects.create(
        memory=memory,
        event=event,
        viewer=viewer,
        conversation_id=conversation_id,
        rank=1,
        leg="lexical",
        used_at=timezone.now(),
    )


def test_detail_says_in_a_sentence_why_it_is_remembered(cast: Cast, alice_client: Client) -> None:
    place = Location.objects.create(provider="slack", tenant="T1", key="C1", label="#release")
    memory = make_memory(
        content="Never deploys on Fridays.",
        owner=cast.alice,
        origin="automatic",
        source_platform="slack",
        location=place,
    )
    page = text(alice_client.get(f"/memories/{memory.pk}"))
    why = r"Learned on \d+ \w+ \d{4} from something you said in #release, Slack\. Only you can"
    assert re.search(why, page)
    assert page.count("<h1") == 1


def test_detail_of_what_a_stranger_may_not_see_is_that_of_an_absent_id(
    cast: Cast, sign_in: SignIn
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    for user in (cast.bob, cast.charlie, cast.root):
        client = sign_in(user)
        for headers in ({}, HTMX):
            strange = client.get(f"/memories/{memory.pk}", headers=headers)
            absent = client.get(f"/memories/{uuid4()}", headers=headers)
            assert strange.status_code == absent.status_code == 404
            assert strange.content == absent.content, "leaked"


def test_bad_ids_are_404_and_other_verbs_405(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(owner=cast.alice)
    assert alice_client.get("/memories/17").status_code == 404
    assert alice_client.get("/memories/%00").status_code == 404
    for method in ("post", "put", "patch", "delete"):
        assert getattr(alice_client, method)(f"/memories/{memory.pk}").status_code == 405


def test_history_shows_every_wording_newest_first(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    for content in ("Drinks sencha.", "Drinks matcha."):
        memory = correct_memory(
            person(cast.alice), memory.pk, content, version=memory.version, doer=BY_TEST
        )
    page = text(alice_client.get(f"/memories/{memory.pk}"))
    timeline = page[page.index('id="history"') :]
    places = [timeline.index(f"Drinks {tea}.") for tea in ("matcha", "sencha", "oolong")]
    assert places == sorted(places)
    assert "you put it in these words" in page
    assert "Corrected by" in page


def test_earlier_wording_leads_to_what_it_says_now(cast: Cast, alice_client: Client) -> None:
    old = make_memory(content="Drinks oolong.", owner=cast.alice)
    new = correct_memory(person(cast.alice), old.pk, "Drinks tea.", version=1, doer=BY_TEST)
    page = text(alice_client.get(f"/memories/{old.pk}"))
    assert "Replaced on" in page
    assert f'href="/memories/{new.pk}"' in page


def test_uses_of_others_are_a_count_alone(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="The garden is green.", visibility="public")
    use(memory, cast.alice, "alice-chat", cast.agent)
    use(memory, cast.bob, "bob-chat", cast.agent)
    page = text(alice_client.get(f"/memories/{memory.pk}"))
    assert "alice-chat" in page
    assert "bob-chat" not in page, "leaked"
    assert "Given to the assistant 2 times." in page
    assert "Of these, 1 in a conversation that is not yours to see." in page
    assert "used twice" in text(alice_client.get("/memories"))


def test_author_place_and_conversation_of_a_public_memory_stay_with_its_author(
    cast: Cast, sign_in: SignIn
) -> None:
    place = Location.objects.create(
        provider="slack", tenant="T1", key="C1", label="#lobby", url="https://chat.example/C1"
    )
    memory = make_memory(
        content="The garden is green.",
        visibility="public",
        owner=cast.alice,
        origin="automatic",
        location=place,
        conversation_id="lobby-17",
    )
    url = f"/memories/{memory.pk}"
    mine, theirs = text(sign_in(cast.alice).get(url)), text(sign_in(cast.charlie).get(url))
    for secret in ("#lobby", "lobby-17", "chat.example"):
        assert secret in mine
        assert secret not in theirs, "leaked"
    assert "alice" not in theirs.replace("charlie@example.com", "").lower()


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "//x"])
def test_a_place_links_to_web_addresses_alone(cast: Cast, alice_client: Client, url: str) -> None:
    place = Location.objects.create(provider="web", tenant="T1", key="K1", label="A place", url=url)
    memory = make_memory(owner=cast.alice, location=place)
    page = text(alice_client.get(f"/memories/{memory.pk}"))
    assert "A place" in page
    assert url not in page


def test_own_forgotten_memory_can_be_brought_back_from_its_page(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    forgetting.forget(person(cast.alice), memory.pk, doer=BY_TEST)
    page = text(alice_client.get(f"/memories/{memory.pk}"))
    assert "Forgotten on" in page
    assert "Bring back" in page
    assert "Never yet." in page


def test_expired_memory_says_so(cast: Cast, alice_client: Client) -> None:
    past = timezone.now() - timedelta(days=2)
    memory = make_memory(owner=cast.alice, now=past - timedelta(days=9), expires_at=past)
    page = text(alice_client.get(f"/memories/{memory.pk}"))
    assert "Expired on" in page
    assert ">Forget</button>" not in page


def test_detail_costs_the_same_queries_whatever_its_past(cast: Cast, alice_client: Client) -> None:
    def cost(memory: Memory) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert alice_client.get(f"/memories/{memory.pk}").status_code == 200
        return len(queries)

    plain = make_memory(content="Drinks oolong.", owner=cast.alice)
    used = make_memory(content="Prefers tea.", owner=cast.alice)
    for number in range(12):
        use(used, cast.alice, f"chat-{number}", cast.agent)
    cost(plain)
    assert cost(used) <= cost(plain) + 1
    assert cost(plain) <= 26


@pytest.mark.parametrize(("length", "is_cut"), [(600, False), (601, True)])
def test_a_long_text_shows_its_beginning_and_all_of_it_when_asked(
    cast: Cast, alice_client: Client, length: int, is_cut: bool
) -> None:
    memory = make_memory(owner=cast.alice, content="x" * length)
    page = text(alice_client.get(f"/memories/{memory.pk}"))
    assert "x" * length in page
    assert ("The whole text" in page) == is_cut
