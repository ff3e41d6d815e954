"""/settings: the never-learn-again list, activity and receipts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory import forgetting, records, tombstones
from junior_memory.access import person
from junior_memory.audit import Doer, record_audit
from junior_memory.models import Memory, Tombstone, User
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory

MARKS = "/settings/never-learn-again"


def forgotten(user: User, content: str = "Lives in Utrecht.", **fields: Any) -> Memory:
    """Return a memory that its person forgot."""
    memory = make_memory(owner=user, content=content, **fields)
    return forgetting.forget(person(user), memory.pk, doer=BY_TEST)


def mark_of(memory: Memory) -> Tombstone:
    """Return the mark that stands on the list for a memory."""
    return Tombstone.objects.filter(memory=memory, of="content").order_by("id")[0]


def test_what_was_forgotten_is_listed_with_how_often_it_was_stopped(
    cast: Cast, alice_client: Client
) -> None:
    memory = forgotten(cast.alice)
    tombstones.count_blocked([mark_of(memory).pk], now=timezone.now())
    for url in (MARKS, "/settings"):
        page = text(alice_client.get(url))
        assert "Lives in Utrecht." in page
        assert "blocked 1 time" in page


def test_after_erasing_only_the_mark_is_left(cast: Cast, alice_client: Client) -> None:
    memory = forgotten(cast.alice)
    forgetting.erase(person(cast.alice), memory.pk, doer=BY_TEST)
    page = text(alice_client.get(MARKS))
    assert "Utrecht" not in page
    assert "Erased: only a fingerprint is left." in page
    assert "text erased" not in page


def test_a_fact_that_is_forgotten_stands_on_the_list_once(cast: Cast) -> None:
    make_memory(owner=cast.alice)
    memory = forgotten(cast.alice, visibility="org", org=cast.org)
    assert Tombstone.objects.filter(memory=memory).count() > 1
    assert [mark.memory_id for mark in records.marks_of(person(cast.alice)).rows] == [memory.pk]


def test_others_see_none_of_it(cast: Cast, sign_in: SignIn) -> None:
    forgotten(cast.alice)
    forgotten(cast.alice, "Standup is at nine.", visibility="org", org=cast.org)
    for user in (cast.bob, cast.charlie, cast.root):
        page = text(sign_in(user).get(MARKS))
        assert "Utrecht" not in page, "leaked"
        assert "Standup" not in page, "leaked"


def test_the_text_of_a_team_is_out_of_sight_after_leaving_it(
    cast: Cast, alice_client: Client
) -> None:
    forgotten(cast.alice, "Standup is at nine.", visibility="org", org=cast.org)
    assert "Standup" in text(alice_client.get(MARKS))
    cast.alice.memberships.all().delete()
    assert "Standup" not in text(alice_client.get(MARKS))


def test_lifting_a_mark_lets_it_be_learned_and_keeps_it_forgotten(
    cast: Cast, alice_client: Client
) -> None:
    memory = forgotten(cast.alice)
    url = f"{MARKS}/{mark_of(memory).pk}/lift"
    assert alice_client.post(url, {"next": MARKS})["location"] == MARKS
    assert not Tombstone.objects.filter(memory=memory).exists()
    memory.refresh_from_db()
    assert memory.archived_at is not None
    page = text(alice_client.get("/settings"))
    assert "You allowed a forgotten fact to be learned again, on this site" in page
    assert alice_client.post(url).status_code == 404


def test_lifting_answers_htmx_with_the_list(cast: Cast, alice_client: Client) -> None:
    one, two = forgotten(cast.alice), forgotten(cast.alice, "Keeps bees.")
    part = text(alice_client.post(f"{MARKS}/{mark_of(one).pk}/lift", headers=HTMX))
    assert part.lstrip().startswith('<section class="setting" id="marks"')
    assert "Utrecht" not in part
    assert str(mark_of(two).pk) in part


def test_a_stranger_lifts_nothing(cast: Cast, sign_in: SignIn) -> None:
    memory = forgotten(cast.alice, visibility="org", org=cast.org)
    for user in (cast.bob, cast.charlie, cast.root):
        client = sign_in(user)
        theirs = client.post(f"{MARKS}/{mark_of(memory).pk}/lift")
        absent = client.post(f"{MARKS}/{uuid4()}/lift")
        assert theirs.status_code == absent.status_code == 404
        assert theirs.content == absent.content
    assert Tombstone.objects.filter(memory=memory).exists()


def test_lifting_takes_posts_with_a_token_alone(cast: Cast, alice_client: Client) -> None:
    url = f"{MARKS}/{mark_of(forgotten(cast.alice)).pk}/lift"
    for method in ("get", "put", "patch", "delete"):
        assert getattr(alice_client, method)(url).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(cast.alice)
    assert strict.post(url).status_code == 403
    assert Client().post(url).status_code == 302
    assert Tombstone.objects.exists()


def test_lists_go_on_where_they_stopped_and_show_each_row_once(
    cast: Cast, alice_client: Client
) -> None:
    at = timezone.now()
    for number in range(60):
        # Moments in pairs, so that the id decides between equals.
        moment = at - timedelta(minutes=number // 2)
        record_audit("exported", BY_TEST, now=moment, person_id=cast.alice.pk, reason=f"n{number};")
    seen, url = [], "/settings/activity"
    while url:
        page = text(alice_client.get(url))
        seen += re.findall(r"n(\d+);", page)
        more = re.search(r'class="button" href="(/settings/activity\?after=[^"]+)"', page)
        url = more[1] if more else ""
    assert sorted(seen, key=int) == [str(number) for number in range(60)]
    assert [int(number) // 2 for number in seen] == sorted(int(number) // 2 for number in seen)


@pytest.mark.parametrize("after", ["x", "~", "2026-01-01~x", "2026-01-01T00:00:00~", "a~b~c"])
@pytest.mark.parametrize("url", [MARKS, "/settings/activity", "/settings/receipts"])
def test_a_place_that_no_page_wrote_is_refused(alice_client: Client, url: str, after: str) -> None:
    assert alice_client.get(url, {"after": after}).status_code == 422


def test_activity_says_who_did_what_and_why(cast: Cast, alice_client: Client) -> None:
    now = timezone.now()
    staff = Doer(user=cast.root, via="page")
    record_audit("read_as_admin", staff, now=now, person_id=cast.alice.pk, reason="Ticket 311")
    record_audit("forgot", Doer(via="tool"), now=now, person_id=cast.alice.pk, count=3)
    record_audit("exported", Doer(via="command"), now=now, person_id=cast.bob.pk)
    page = text(alice_client.get("/settings/activity"))
    assert "Staff (Root) read your memories, on this site" in page
    assert "Reason: Ticket 311" in page
    assert "Your assistant forgot 3 memories, through the assistant" in page
    assert cast.root.email not in page
    assert "exported" not in page


def test_receipts_say_what_was_erased_where(cast: Cast, sign_in: SignIn) -> None:
    memory = forgotten(cast.alice)
    forgetting.erase(person(cast.alice), memory.pk, doer=BY_TEST)
    page = text(sign_in(cast.alice).get("/settings/receipts"))
    assert str(memory.pk) in page
    assert "memory text 1" in page
    assert str(memory.pk) not in text(sign_in(cast.bob).get("/settings/receipts"))


@pytest.mark.parametrize("url", [MARKS, "/settings/activity", "/settings/receipts"])
def test_the_number_of_queries_does_not_grow(
    cast: Cast, alice_client: Client, django_assert_max_num_queries: Any, url: str
) -> None:
    with django_assert_max_num_queries(8) as few:
        alice_client.get(url)
    for number in range(8):
        memory = forgotten(cast.alice, f"Likes island number {number}.")
        if number % 2:
            forgetting.erase(person(cast.alice), memory.pk, doer=BY_TEST)
    with django_assert_max_num_queries(len(few.captured_queries) + 1):
        assert "island" in text(alice_client.get(url)) or url != MARKS
