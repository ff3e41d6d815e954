"""/inbox: held memories and facts that disagree, decided and taken back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory import capture
from junior_memory.access import person
from junior_memory.holding import report_public
from junior_memory.models import Conflict, Memory
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory

URL = "/inbox"


@pytest.fixture
def held(cast: Cast) -> Memory:
    """Return a public fact that waits for staff."""
    return make_memory(
        content="The lobby has a piano.",
        visibility="public",
        held_reason=capture.HELD_UNLINKED,
        origin="automatic",
    )


@pytest.fixture
def pair(cast: Cast) -> Conflict:
    """Return two memories of Alice's that disagree."""
    return make_pair(cast)


def make_pair(cast: Cast, number: int = 0) -> Conflict:
    """Make two memories of Alice's that disagree."""
    first = make_memory(owner=cast.alice, content=f"Lives in Husum, door {number}.")
    second = make_memory(owner=cast.alice, content=f"Lives in Kiel, door {number}.")
    return Conflict.objects.create(first=first, second=second, created_at=timezone.now())


def is_active(pk: UUID | None) -> bool:
    """True when it is remembered."""
    return pk is not None and Memory.objects.active(timezone.now()).filter(pk=pk).exists()


def waiting_count(client: Client) -> str:
    """Return the number beside the inbox in the navigation."""
    page = text(client.get("/settings"))
    return page.split('id="nav-waiting">')[1].split("<")[0]


def test_held_memory_is_seen_by_those_who_decide_alone(
    cast: Cast, held: Memory, sign_in: SignIn
) -> None:
    root = sign_in(cast.root)
    page = text(root.get(URL))
    assert "piano" in page
    assert "A public fact from somebody" in page
    assert "A public fact from somebody" in text(root.get(f"/memories/{held.pk}"))
    assert "piano" not in text(root.get("/memories"))
    assert waiting_count(root) == "1"
    for user in (cast.alice, cast.charlie):
        client = sign_in(user)
        assert "piano" not in text(client.get(URL)), "leaked"
        assert "Nothing waits for you." in text(client.get(URL))
        assert client.get(f"/memories/{held.pk}").status_code == 404
        assert waiting_count(client) == ""


def test_the_old_address_of_held_memories_leads_here(alice_client: Client) -> None:
    assert alice_client.get("/memories?state=held")["location"] == URL


def test_approved_is_remembered(cast: Cast, held: Memory, sign_in: SignIn) -> None:
    root = sign_in(cast.root)
    for _ in range(2):
        assert root.post(f"/memories/{held.pk}/approve")["location"] == URL
    assert is_active(held.pk)
    assert "piano" in text(sign_in(cast.charlie).get("/memories"))


@pytest.mark.parametrize("verb", ["approve", "decline"])
def test_decided_with_htmx_leaves_the_way_back_in_its_place(
    cast: Cast, held: Memory, sign_in: SignIn, verb: str
) -> None:
    root = sign_in(cast.root)
    part = text(root.post(f"/memories/{held.pk}/{verb}", headers=HTMX))
    assert part.startswith(f'<li class="memory" id="held-{held.pk}" data-state="decided"')
    assert f'action="/memories/{held.pk}/hold"' in part
    assert "piano" not in part
    assert 'id="nav-waiting" hx-swap-oob="true"></span>' in part
    assert is_active(held.pk) is (verb == "approve")
    back = text(root.post(f"/memories/{held.pk}/hold", headers=HTMX))
    assert back.startswith(f'<li class="memory" id="held-{held.pk}" data-state="held"')
    assert "piano" in back
    assert waiting_count(root) == "1"
    assert not is_active(held.pk)


def test_others_decide_nothing(cast: Cast, held: Memory, alice_client: Client) -> None:
    for verb in ("approve", "decline", "hold"):
        assert alice_client.post(f"/memories/{held.pk}/{verb}").status_code == 404
    held.refresh_from_db()
    assert held.held_at is not None


def test_staff_read_what_was_said_against_a_reported_fact(cast: Cast, sign_in: SignIn) -> None:
    fact = make_memory(content="The office closes at noon.", visibility="public", owner=cast.alice)
    report_public(person(cast.alice), fact.pk, reason="It closes at four.", doer=BY_TEST)
    page = text(sign_in(cast.root).get(URL))
    assert "Reported by its author" in page
    assert "It closes at four." in page
    assert cast.alice.email not in page
    assert "at noon" not in text(sign_in(cast.alice).get(URL))


def test_two_facts_that_disagree_stand_side_by_side_the_newer_named(
    cast: Cast, pair: Conflict, alice_client: Client
) -> None:
    page = text(alice_client.get(URL))
    assert page.index("Husum") < page.index("Newer") < page.index("Kiel")
    assert "Said on the same day." in page
    assert waiting_count(alice_client) == "1"


@pytest.mark.parametrize(
    ("keep", "first", "second"),
    [
        ("first", True, False),
        ("second", False, True),
        ("both", True, True),
        ("none", False, False),
    ],
)
def test_what_is_not_kept_is_forgotten_and_undo_returns_both(
    pair: Conflict, alice_client: Client, keep: str, first: bool, second: bool
) -> None:
    url = f"/conflicts/{pair.pk}"
    part = text(alice_client.post(url, {"keep": keep}, headers=HTMX))
    assert part.startswith(f'<article class="panel pair" id="pair-{pair.pk}" data-state="decided"')
    assert (is_active(pair.first_id), is_active(pair.second_id)) == (first, second)
    assert waiting_count(alice_client) == ""
    back = text(alice_client.post(f"{url}/reopen", headers=HTMX))
    assert f'id="pair-{pair.pk}"' in back
    assert "Husum" in back
    assert is_active(pair.first_id)
    assert is_active(pair.second_id)
    assert waiting_count(alice_client) == "1"


def test_without_htmx_a_decision_leads_back_to_the_inbox(
    pair: Conflict, alice_client: Client
) -> None:
    answer = alice_client.post(f"/conflicts/{pair.pk}", {"keep": "second"}, follow=True)
    page = text(answer)
    assert answer.redirect_chain == [(URL, 302)]
    assert "Kept one, forgot the other." in page
    assert f'action="/conflicts/{pair.pk}/reopen"' in page


def test_a_decision_that_another_page_took_is_said_and_leaves_the_page_as_it_is(
    alice_client: Client, pair: Conflict
) -> None:
    url = f"/conflicts/{pair.pk}"
    assert alice_client.post(url, {"keep": "both"}, headers=HTMX).status_code == 200
    answer = alice_client.post(url, {"keep": "none"}, headers=HTMX)
    assert (answer.status_code, answer["HX-Reswap"]) == (409, "none")
    assert "That was decided already." in text(answer)
    assert "<main" not in text(answer)


def test_a_decision_that_was_taken_otherwise_and_unknown_words_are_refused(
    pair: Conflict, alice_client: Client
) -> None:
    url = f"/conflicts/{pair.pk}"
    assert alice_client.post(url, {"keep": "neither"}).status_code == 422
    assert alice_client.post(url).status_code == 422
    alice_client.post(url, {"keep": "first"})
    assert alice_client.post(url, {"keep": "second"}).status_code == 409
    assert is_active(pair.first_id)


def test_strangers_find_no_conflict(pair: Conflict, charlie_client: Client) -> None:
    for url in (f"/conflicts/{pair.pk}", f"/conflicts/{pair.pk}/reopen"):
        assert charlie_client.post(url, {"keep": "none"}).status_code == 404
        assert charlie_client.get(url).status_code == 405
        assert Client().post(url, {"keep": "none"}).status_code == 302
    assert is_active(pair.first_id)


def test_the_number_of_queries_does_not_grow(
    cast: Cast, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    root = sign_in(cast.root)

    def held_fact(number: int) -> None:
        reason = capture.HELD_UNLINKED
        make_memory(content=f"Fact {number}.", visibility="public", held_reason=reason)

    held_fact(0)
    with django_assert_max_num_queries(18) as few:
        root.get(URL)
    for number in range(1, 30):
        held_fact(number)
    with django_assert_max_num_queries(len(few.captured_queries)):
        page = text(root.get(URL))
    assert page.count('data-state="held"') == 25
    older = page.split('href="/inbox?after=')[1].split('"')[0]
    assert text(root.get(f"/inbox?after={older}".replace("&amp;", "&"))).count("Approve</b") == 5
