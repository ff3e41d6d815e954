"""Erasing for good, with a typed word before and a receipt after."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory.access import person
from junior_memory.memories import correct_memory
from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory

SENTINEL = "zanzibar-marmalade-7731"


def test_erase_asks_for_the_word_first(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content=f"Likes {SENTINEL}.", owner=cast.alice)
    page = text(alice_client.get(f"/memories/{memory.pk}/erase"))
    assert "Erase for good" in page
    assert SENTINEL in page


@pytest.mark.parametrize("word", ["", "yes", "erased", "delete", "е rase"])
def test_without_the_word_nothing_is_erased(cast: Cast, alice_client: Client, word: str) -> None:
    memory = make_memory(content=f"Likes {SENTINEL}.", owner=cast.alice)
    response = alice_client.post(f"/memories/{memory.pk}/erase", {"confirm": word})
    assert response.status_code == 422
    assert Memory.objects.active(timezone.now()).filter(pk=memory.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_erase_leaves_a_receipt_and_no_text(cast: Cast, sign_in: SignIn) -> None:
    client = sign_in(cast.alice)
    memory = make_memory(content=f"Likes {SENTINEL}.", owner=cast.alice)
    new = correct_memory(
        person(cast.alice), memory.pk, f"Loves {SENTINEL}.", version=1, doer=BY_TEST
    )
    response = client.post(f"/memories/{new.pk}/erase", {"confirm": " Erase "})
    assert response["Location"] == f"/memories/{new.pk}"
    for pk in (memory.pk, new.pk):
        page = text(client.get(f"/memories/{pk}"))
        assert "Receipt" in page
        assert "memory text" in page
        assert SENTINEL not in page
    for url in ("/memories", "/memories?state=forgotten", "/memories?state=superseded"):
        assert SENTINEL not in text(client.get(url))
    assert not Memory.objects.filter(content__contains=SENTINEL).exists()
    again = client.post(f"/memories/{new.pk}/erase", {"confirm": "erase"})
    assert again["Location"] == f"/memories/{new.pk}"
    for user in (cast.bob, cast.charlie, cast.root):
        assert sign_in(user).get(f"/memories/{new.pk}").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_forgotten_memory_can_be_erased_before_its_time(cast: Cast, sign_in: SignIn) -> None:
    client = sign_in(cast.alice)
    memory = make_memory(content=f"Likes {SENTINEL}.", owner=cast.alice)
    client.post(f"/memories/{memory.pk}/forget")
    assert client.get(f"/memories/{memory.pk}/erase").status_code == 200
    response = client.post(f"/memories/{memory.pk}/erase", {"confirm": "erase"}, headers=HTMX)
    assert response["HX-Redirect"] == f"/memories/{memory.pk}"
    assert client.post(f"/memories/{memory.pk}/restore").status_code == 404


def test_public_memory_cannot_be_erased(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="The garden is green.", visibility="public", owner=cast.alice)
    url = f"/memories/{memory.pk}/erase"
    assert alice_client.get(url).status_code == 403
    assert alice_client.post(url, {"confirm": "erase"}).status_code == 403
    assert alice_client.put(url).status_code == 405
