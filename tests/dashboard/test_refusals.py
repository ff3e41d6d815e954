"""What the domain refuses is said in the reader's language, numbers included."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import translation

from dashboard import words
from junior_memory import holding
from junior_memory.access import person
from junior_memory.errors import InvalidInput, QuotaExceeded, SecretRejected
from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.dashboard.test_add import form
from tests.factories import BY_TEST, make_memory

GERMAN = {"Accept-Language": "de"}
SECRET = "The card is 4111 1111 1111 1111."


def test_a_memory_that_is_too_long_is_refused_in_german(alice_client: Client) -> None:
    body = form(content="x" * 4001)
    page = text(alice_client.post("/memories/new", body, headers=GERMAN))
    assert "höchstens 4.000 Zeichen; diese hat 4.001." in page
    assert "at most" not in page


def test_a_refusal_without_words_of_its_own_is_said_in_german(alice_client: Client) -> None:
    body = form(content=SECRET)
    page = text(alice_client.post("/memories/new", body, headers=GERMAN))
    assert "So etwas wird nie gemerkt." in page
    assert not Memory.objects.exists()


def test_too_many_topics_are_refused_in_german(alice_client: Client) -> None:
    body = {"topics": "\n".join(f"topic {number}" for number in range(51))}
    page = text(alice_client.post("/settings/topics", body, headers=GERMAN))
    assert "Höchstens 50 Themen." in page


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_a_refusal_names_keeps_its_place(language: str) -> None:
    error = QuotaExceeded(
        "{use} of {limit} memories are in use for this agent; forget some first.",
        values={"use": 5000, "limit": 5000},
    )
    assert error.message.startswith("5000 of 5000 memories")
    with translation.override(language):
        assert "{" not in words.refused(error)
        assert words.refused(error).count("5") == 2


def test_braces_in_a_refusal_without_values_are_left_alone() -> None:
    assert InvalidInput("Not {this}.").message == "Not {this}."
    assert words.refused(InvalidInput("Not {this}.")) == "Not {this}."
    assert words.refused(SecretRejected()) == SecretRejected().message


def test_a_held_public_memory_is_not_said_to_be_seen_by_everyone(
    cast: Cast, sign_in: SignIn
) -> None:
    staff = sign_in(cast.root)
    seen = make_memory(owner=cast.alice, content="It closes at noon.", visibility="public")
    assert "Everyone here can see it" in text(staff.get(f"/memories/{seen.pk}"))
    holding.report_public(person(cast.alice), seen.pk, reason="At four.", doer=BY_TEST)
    page = text(staff.get(f"/memories/{seen.pk}"))
    assert "Everyone here can see it" not in page
    assert "Nobody else sees it unless it is approved" in page


def test_a_newcomer_is_told_that_nothing_is_remembered_about_them(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(content="The office has a garden.", visibility="public")
    told = "Nothing is remembered about you yet."
    assert told in text(alice_client.get("/memories"))
    assert told not in text(alice_client.get("/memories?visibility=public"))
    make_memory(owner=cast.alice, content="Drinks tea.")
    assert told not in text(alice_client.get("/memories"))
