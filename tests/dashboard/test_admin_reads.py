"""/system/reads: staff read one person's memory, with a reason that the person sees."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory import forgetting
from junior_memory.access import person
from junior_memory.models import AdminRead
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.factories import BY_TEST, make_memory

URL = "/system/reads"


@pytest.fixture
def root(cast: Cast, sign_in: SignIn) -> Client:
    """Return a staff member's browser."""
    return sign_in(cast.root)


def opened(root: Client, whose: str) -> str:
    """Open a read and return its address."""
    return root.post(URL, {"person": whose, "reason": "A ticket of theirs."})["location"]


def test_a_read_shows_active_memories_of_that_person_and_no_way_to_change_them(
    cast: Cast, root: Client
) -> None:
    make_memory(owner=cast.alice, content="Keeps bees behind the boathouse.")
    make_memory(owner=cast.bob, content="Has a red canoe.")
    gone = make_memory(owner=cast.alice, content="Owes Bob a dinner.")
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST)
    page = text(root.get(opened(root, cast.alice.email)))
    assert "boathouse" in page
    assert "A ticket of theirs." in page
    for other in ("canoe", "dinner"):
        assert other not in page, "leaked"
    assert "/forget" not in page
    assert "/correct" not in page


def test_the_person_sees_who_read_when_and_why(
    cast: Cast, root: Client, alice_client: Client
) -> None:
    opened(root, cast.alice.email.upper())
    activity = text(alice_client.get("/settings/activity"))
    assert "read your memories" in activity
    assert "A ticket of theirs." in activity


def test_after_its_time_a_read_shows_nothing(cast: Cast, root: Client) -> None:
    make_memory(owner=cast.alice, content="Keeps bees behind the boathouse.")
    url = opened(root, cast.alice.email)
    AdminRead.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = root.get(url, follow=True)
    assert answer.redirect_chain[0][0] == URL
    assert "boathouse" not in text(answer), "leaked"
    assert "its 15 minutes are over" in text(answer)


def test_another_staff_member_cannot_use_it(cast: Cast, root: Client, sign_in: SignIn) -> None:
    make_memory(owner=cast.alice, content="Keeps bees behind the boathouse.")
    url = opened(root, cast.alice.email)
    cast.bob.is_staff = True
    cast.bob.save()
    assert "boathouse" not in text(sign_in(cast.bob).get(url, follow=True)), "leaked"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"person": "alice@example.com"},
        {"person": "nobody@example.com", "reason": "A ticket."},
        {"person": "alice@example.com", "reason": "x" * 201},
    ],
)
def test_without_a_person_or_a_reason_nothing_opens(
    cast: Cast, root: Client, data: dict[str, str]
) -> None:
    assert root.post(URL, data).status_code == 422
    assert not AdminRead.objects.exists()


def test_people_who_are_not_staff_open_and_see_nothing(cast: Cast, sign_in: SignIn) -> None:
    client = sign_in(cast.charlie)
    data = {"person": cast.alice.email, "reason": "Curious."}
    assert client.post(URL, data).status_code == 403
    assert client.get(URL).status_code == 403
    assert client.get(f"{URL}/{uuid4()}").status_code == 403
    assert Client().post(URL, data).status_code == 302
    assert not AdminRead.objects.exists()


def test_the_read_is_paged(cast: Cast, root: Client) -> None:
    for number in range(52):
        make_memory(owner=cast.alice, content=f"Fact {number}.")
    page = text(root.get(opened(root, cast.alice.email)))
    assert page.count("Fact ") == 50
    older = page.split('class="list-foot"><a class="button" href="')[1].split('"')[0]
    assert text(root.get(older.replace("&amp;", "&"))).count("Fact ") == 2
