"""Forgetting one memory or several, and bringing them back."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from junior_memory import forgetting
from junior_memory.access import person
from junior_memory.models import AuditEntry, ForgetBatch, Memory
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory


def is_active(memory: Memory) -> bool:
    """True while the memory is remembered."""
    return Memory.objects.active(timezone.now()).filter(pk=memory.pk).exists()


def test_forget_without_scripts_returns_to_the_list_with_a_way_back(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    url = f"/memories/{memory.pk}/forget"
    response = alice_client.post(url, {"next": "/memories?kind=preference"}, follow=True)
    assert response.redirect_chain == [("/memories?kind=preference", 302)]
    assert not is_active(memory)
    page = text(response)
    assert "oolong" not in page
    assert "Forgot 1 memory." in page
    assert f'action="/memories/{memory.pk}/restore"' in page


def test_forget_with_htmx_puts_the_way_back_in_its_place_and_corrects_the_counts(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    make_memory(content="Prefers tea.", owner=cast.alice)
    url = f"/memories/{memory.pk}/forget"
    response = alice_client.post(url, {"next": "/memories"}, headers=HTMX)
    part = text(response)
    assert response.status_code == 200
    assert part.startswith(f'<li class="memory" id="memory-{memory.pk}" data-state="forgotten-now"')
    assert "oolong" not in part
    assert 'hx-swap-oob="innerHTML:#toasts"' in part
    assert re.search(r'id="nav-count" hx-swap-oob="true">1</span>', part)
    assert "1 memory, newest first." in part
    assert not is_active(memory)


def test_forget_in_a_search_says_how_many_still_match_and_nothing_of_their_order(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    make_memory(content="Prefers oolong in summer.", owner=cast.alice)
    url = f"/memories/{memory.pk}/forget"
    part = text(alice_client.post(url, {"next": "/memories?q=oolong"}, headers=HTMX))
    assert "1 memory matches.<" in part


def test_what_was_just_done_is_said_once_and_without_the_text(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    response = alice_client.post(f"/memories/{memory.pk}/forget")
    said = [str(message) for message in get_messages(response.wsgi_request)]
    assert said == ["Forgot 1 memory."]
    assert "Forgot 1 memory." in text(alice_client.get("/memories"))
    assert "Forgot 1 memory." not in text(alice_client.get("/memories"))


def test_undo_brings_the_row_back(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    alice_client.post(f"/memories/{memory.pk}/forget")
    part = text(
        alice_client.post(f"/memories/{memory.pk}/restore", {"next": "/memories"}, headers=HTMX)
    )
    assert 'data-state="active"' in part
    assert "oolong" in part
    assert is_active(memory)


def test_undo_twice_changes_nothing_more(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(owner=cast.alice)
    alice_client.post(f"/memories/{memory.pk}/forget")
    for _ in range(2):
        assert alice_client.post(f"/memories/{memory.pk}/restore").status_code == 302
    assert is_active(memory)


def test_forgetting_twice_happens_once_and_gives_the_way_back_again(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(owner=cast.alice)
    url = f"/memories/{memory.pk}/forget"
    for _ in range(2):
        assert alice_client.post(url).status_code == 302
        assert f'action="/memories/{memory.pk}/restore"' in text(alice_client.get("/memories"))
    assert AuditEntry.objects.filter(action="forgot").count() == 1
    erased = make_memory(owner=cast.alice, content="Drinks oolong.")
    forgetting.erase(person(cast.alice), erased.pk, doer=BY_TEST)
    assert alice_client.post(f"/memories/{erased.pk}/forget").status_code == 404


def test_public_memory_cannot_be_forgotten(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="The garden is green.", visibility="public", owner=cast.alice)
    assert alice_client.post(f"/memories/{memory.pk}/forget").status_code == 403
    assert is_active(memory)


@pytest.mark.parametrize("verb", ["forget", "restore", "correct", "erase", "approve", "decline"])
@pytest.mark.parametrize("who", ["bob", "charlie", "root"])
def test_strangers_get_the_answer_of_an_absent_id_and_change_nothing(
    cast: Cast, sign_in: SignIn, verb: str, who: str
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    client = sign_in(getattr(cast, who))
    body = {"content": "Mine.", "version": 1, "confirm": "erase"}
    strange = client.post(f"/memories/{memory.pk}/{verb}", body)
    absent = client.post(f"/memories/{uuid4()}/{verb}", body)
    assert strange.status_code == absent.status_code == 404
    assert strange.content == absent.content
    memory.refresh_from_db()
    assert memory.content == "Drinks oolong."
    assert is_active(memory)


@pytest.mark.parametrize("verb", ["forget", "restore", "erase", "approve", "decline", "correct"])
def test_anonymous_changes_nothing(cast: Cast, verb: str) -> None:
    memory = make_memory(owner=cast.alice)
    response = Client().post(f"/memories/{memory.pk}/{verb}", {"confirm": "erase"})
    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in")
    assert is_active(memory)


@pytest.mark.parametrize("verb", ["forget", "restore", "approve", "decline"])
def test_reading_a_verb_is_405_and_changes_nothing(
    cast: Cast, alice_client: Client, verb: str
) -> None:
    memory = make_memory(owner=cast.alice)
    assert alice_client.get(f"/memories/{memory.pk}/{verb}").status_code == 405
    assert is_active(memory)


@pytest.mark.parametrize("verb", ["forget", "restore", "correct", "erase"])
def test_a_bad_id_is_404(alice_client: Client, verb: str) -> None:
    assert alice_client.post(f"/memories/17/{verb}").status_code == 404


def test_a_form_without_its_token_is_refused_and_changes_nothing(cast: Cast) -> None:
    memory = make_memory(owner=cast.alice)
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.alice)
    assert client.post(f"/memories/{memory.pk}/forget").status_code == 403
    assert is_active(memory)


def test_selected_memories_are_forgotten_and_brought_back_in_one_move(
    cast: Cast, alice_client: Client
) -> None:
    made = [make_memory(content=f"Prefers tea {n}.", owner=cast.alice) for n in range(3)]
    kept = make_memory(content="Drinks oolong.", owner=cast.alice)
    page = alice_client.post(
        "/memories/forget",
        {"ids": [memory.pk for memory in made], "next": "/memories"},
        follow=True,
    )
    assert "Forgot 3 memories." in text(page)
    assert [is_active(memory) for memory in (*made, kept)] == [False, False, False, True]
    batch = ForgetBatch.objects.get(user=cast.alice)
    page = alice_client.post(f"/forget-batches/{batch.pk}/restore", follow=True)
    assert "Brought back 3 memories." in text(page)
    assert all(is_active(memory) for memory in made)
    page = alice_client.post(f"/forget-batches/{batch.pk}/restore", follow=True)
    assert "Brought back 0 memories." in text(page)


def test_selection_with_htmx_draws_the_list_again(cast: Cast, alice_client: Client) -> None:
    made = [make_memory(content=f"Prefers tea {n}.", owner=cast.alice) for n in range(3)]
    part = text(
        alice_client.post(
            "/memories/forget",
            {"ids": [memory.pk for memory in made[:2]], "next": "/memories?kind=preference"},
            headers=HTMX,
        )
    )
    assert part.lstrip().startswith('<section id="results"')
    assert "Prefers tea 2." in part
    assert "Prefers tea 1." not in part
    assert 'hx-target="#results"' in part


def test_an_empty_selection_never_means_all(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(owner=cast.alice)
    page = alice_client.post("/memories/forget", {"next": "/memories"}, follow=True)
    assert "nothing was forgotten" in text(page)
    assert is_active(memory)


def test_a_selection_leaves_others_memories_alone(cast: Cast, alice_client: Client) -> None:
    mine = make_memory(content="Drinks oolong.", owner=cast.alice)
    theirs = make_memory(content="Drinks cocoa.", owner=cast.bob)
    public = make_memory(content="The garden is green.", visibility="public")
    ids = [mine.pk, theirs.pk, public.pk, uuid4()]
    page = alice_client.post("/memories/forget", {"ids": ids}, follow=True)
    assert "Forgot 1 memory. 3 could not be forgotten." in text(page)
    assert [is_active(one) for one in (mine, theirs, public)] == [False, True, True]


@pytest.mark.parametrize("ids", [["17"], ["x" * 4000], ["\x00"]])
def test_a_selection_of_nonsense_is_422(alice_client: Client, ids: list[str]) -> None:
    assert alice_client.post("/memories/forget", {"ids": ids}).status_code == 422


def test_too_many_at_once_are_422(alice_client: Client) -> None:
    ids = [str(uuid4()) for _ in range(201)]
    assert alice_client.post("/memories/forget", {"ids": ids}).status_code == 422


def test_strangers_batch_is_404(cast: Cast, alice_client: Client, sign_in: SignIn) -> None:
    memory = make_memory(owner=cast.alice)
    alice_client.post("/memories/forget", {"ids": [memory.pk]})
    batch = ForgetBatch.objects.get(user=cast.alice)
    url = f"/forget-batches/{batch.pk}/restore"
    assert sign_in(cast.bob).post(url).status_code == 404
    assert alice_client.get(url).status_code == 405
    assert not is_active(memory)


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"]
)
def test_coming_back_never_leaves_the_site(cast: Cast, alice_client: Client, wanted: str) -> None:
    memory = make_memory(owner=cast.alice)
    response = alice_client.post(f"/memories/{memory.pk}/forget", {"next": wanted})
    assert response["Location"] == "/memories"


def test_a_memory_that_expired_meanwhile_says_why_it_cannot_come_back(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(owner=cast.alice)
    alice_client.post(f"/memories/{memory.pk}/forget")
    alice_client.get("/memories")
    Memory.objects.filter(pk=memory.pk).update(expires_at=timezone.now())
    page = alice_client.post(f"/memories/{memory.pk}/restore", {"next": "/memories"}, follow=True)
    assert "The memory has expired." in text(page)
    assert not is_active(memory)
