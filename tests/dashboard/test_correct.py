"""Putting other words in place of a memory."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory.access import person
from junior_memory.memories import correct_memory
from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, text
from tests.factories import BY_TEST, make_memory


def successor_of(memory: Memory) -> Memory:
    """Return the memory that replaced this one."""
    memory.refresh_from_db(fields=["superseded_by"])
    assert memory.superseded_by is not None
    return memory.superseded_by


def test_correct_form_is_a_page_and_a_row(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    url = f"/memories/{memory.pk}/correct"
    page, part = text(alice_client.get(url)), text(alice_client.get(url, headers=HTMX))
    assert "<!doctype html>" in page
    assert part.startswith(f'<li class="memory" id="memory-{memory.pk}" data-editing')
    for body in (page, part):
        assert "Drinks oolong.</textarea>" in body
        assert 'name="version" value="1"' in body


def test_correct_without_scripts_leads_to_the_new_memory(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    body = {"content": "Drinks sencha.", "version": 1}
    response = alice_client.post(f"/memories/{memory.pk}/correct", body)
    new = successor_of(memory)
    assert response["Location"] == f"/memories/{new.pk}"
    page = text(alice_client.get(response["Location"]))
    assert "Drinks sencha." in page
    assert "Drinks oolong." in page
    assert "Corrected." in page


def test_correct_with_htmx_draws_the_new_row_in_place(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    body = {"content": "Drinks sencha.", "version": 1, "next": "/memories"}
    part = text(alice_client.post(f"/memories/{memory.pk}/correct", body, headers=HTMX))
    assert part.startswith(f'<li class="memory" id="memory-{successor_of(memory).pk}"')
    assert "replaces “Drinks oolong.”" in part
    assert "in your own words" in part


def test_text_typed_stays_in_a_form_that_is_refused(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    for content, said in (
        ("x" * 4001, "at most 4,000 characters"),
        ("   ", "required"),
        ("ghp_" + "a1B2" * 9, "never remembered"),
    ):
        body = {"content": content, "version": 1}
        for headers in ({}, HTMX):
            response = alice_client.post(f"/memories/{memory.pk}/correct", body, headers=headers)
            assert response.status_code == 422
            assert said in text(response)
    memory.refresh_from_db()
    assert memory.superseded_at is None


def test_a_memory_that_changed_meanwhile_is_a_conflict_in_place(
    cast: Cast, alice_client: Client
) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    correct_memory(person(cast.alice), memory.pk, "Drinks cocoa.", version=1, doer=BY_TEST)
    body = {"content": "Drinks sencha.", "version": 1}
    response = alice_client.post(f"/memories/{memory.pk}/correct", body, headers=HTMX)
    assert response.status_code == 409
    assert "changed since you read it" in text(response)
    assert "Drinks sencha.</textarea>" in text(response)
    assert not Memory.objects.filter(content="Drinks sencha.").exists()


@pytest.mark.parametrize("version", ["", "x", "0", "99", "-1"])
def test_a_wrong_version_changes_nothing(cast: Cast, alice_client: Client, version: str) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    body = {"content": "Drinks sencha.", "version": version}
    response = alice_client.post(f"/memories/{memory.pk}/correct", body)
    assert response.status_code in {409, 422}
    assert Memory.objects.active(timezone.now()).get(owner=cast.alice).content == "Drinks oolong."


def test_the_same_correction_twice_makes_one_memory(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    body = {"content": "Drinks sencha.", "version": 1}
    first, second = (alice_client.post(f"/memories/{memory.pk}/correct", body) for _ in range(2))
    assert first["Location"] == second["Location"]
    assert Memory.objects.filter(content="Drinks sencha.").count() == 1


def test_public_memory_cannot_be_corrected(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="The garden is green.", visibility="public", owner=cast.alice)
    url = f"/memories/{memory.pk}/correct"
    assert alice_client.get(url).status_code == 403
    assert alice_client.post(url, {"content": "x", "version": 1}).status_code == 403
    assert alice_client.put(url).status_code == 405


def test_a_forgotten_memory_cannot_be_corrected(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    alice_client.post(f"/memories/{memory.pk}/forget")
    body = {"content": "Drinks sencha.", "version": 1}
    assert alice_client.post(f"/memories/{memory.pk}/correct", body).status_code == 404


def test_cancelling_draws_the_row_as_it_was(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(content="Drinks oolong.", owner=cast.alice)
    part = text(alice_client.get(f"/memories/{memory.pk}", headers=HTMX))
    assert part.startswith(f'<li class="memory" id="memory-{memory.pk}" data-state="active"')
