"""The list of memories."""

from __future__ import annotations

import html
import re
from base64 import urlsafe_b64decode
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from junior_memory import forgetting
from junior_memory.access import person
from junior_memory.memories import correct_memory
from junior_memory.models import Location, Memory, User
from junior_memory.people import agent_named
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1) is no address",
    "{{ 7|add:7 }} {% now 'Y' %}",
    "' autofocus onfocus='alert(1)",
    "`<b>code</b>` and <i>more</i>",
    "=cmd|' /C calc'!A0",
)


def rows(response: HttpResponseBase) -> list[str]:
    """Return the ids of the memories that a list shows, in order."""
    return re.findall(r'<li class="memory" id="memory-([0-9a-f-]{36})"', text(response))


def test_list_shows_what_its_person_may_see_and_nothing_else(cast: Cast, sign_in: SignIn) -> None:
    make_memory(content="Alice drinks oolong.", owner=cast.alice)
    make_memory(content="The team meets at ten.", owner=cast.bob, visibility="org", org=cast.org)
    make_memory(content="The office has a garden.", visibility="public")
    alice = text(sign_in(cast.alice).get("/memories"))
    bob = text(sign_in(cast.bob).get("/memories"))
    charlie = text(sign_in(cast.charlie).get("/memories"))
    root = text(sign_in(cast.root).get("/memories"))
    assert "oolong" in alice
    assert "oolong" not in bob + charlie + root, "leaked"
    assert "meets at ten" in alice
    assert "meets at ten" in bob
    assert "meets at ten" not in charlie + root, "leaked"
    assert all("garden" in page for page in (alice, bob, charlie, root))


def test_each_memory_says_how_it_was_learned_and_who_sees_it(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(content="Prefers tea.", owner=cast.alice)
    page = text(alice_client.get("/memories"))
    for words in (
        "Preference",
        "you asked to remember this",
        "never used",
        "Private",
    ):
        assert words in page


def test_public_memory_is_view_only_and_a_team_is_called_by_its_name(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(content="The office has a garden.", visibility="public", owner=cast.alice)
    make_memory(content="The team meets at ten.", owner=cast.bob, visibility="org", org=cast.org)
    page = text(alice_client.get("/memories"))
    assert page.count("View only") == 2
    assert "Acme team" in page
    assert ">Forget</button>" not in page
    assert 'name="ids"' not in page


def test_where_a_public_memory_was_learned_is_not_everyones_to_know(
    cast: Cast, sign_in: SignIn
) -> None:
    place = Location.objects.create(provider="slack", tenant="T1", key="C9", label="#secret-plans")
    make_memory(
        content="The office has a garden.",
        visibility="public",
        owner=cast.bob,
        location=place,
        origin="automatic",
        source_platform="slack",
    )
    assert "#secret-plans" in text(sign_in(cast.bob).get("/memories"))
    assert "#secret-plans" not in text(sign_in(cast.charlie).get("/memories")), "leaked"


def test_anonymous_is_sent_to_sign_in_and_back(db: None) -> None:
    response = Client().get("/memories?kind=preference")
    assert response.status_code == 302
    assert response["Location"] == "/sign-in?next=%2Fmemories%3Fkind%3Dpreference"


def test_session_that_ended_moves_the_whole_page_from_a_part(db: None) -> None:
    headers = HTMX | {"hx-current-url": "http://testserver/memories?q=tea"}
    response = Client().get("/memories?q=teas", headers=headers)
    assert response.status_code == 200
    assert response["HX-Redirect"] == "/sign-in?next=%2Fmemories%3Fq%3Dtea"
    assert not response.content


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_other_verbs_are_405(alice_client: Client, method: str) -> None:
    response = getattr(alice_client, method)("/memories")
    assert response.status_code == 405


def test_part_for_htmx_page_for_the_browser_and_caches_told_apart(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(owner=cast.alice)
    page = alice_client.get("/memories")
    part = alice_client.get("/memories?kind=preference", headers=HTMX)
    assert "<!doctype html>" in text(page)
    assert text(part).lstrip().startswith('<section id="results"')
    for response in (page, part):
        assert "HX-Request" in response["Vary"]
        assert "no-store" in response["Cache-Control"]
    assert part["HX-Push-Url"] == "/memories?kind=preference"


def test_typing_replaces_the_address_instead_of_adding_one(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(owner=cast.alice)
    response = alice_client.get("/memories?q=te", headers=HTMX | {"hx-trigger": "search"})
    assert response["HX-Replace-Url"] == "/memories?q=te"
    assert "HX-Push-Url" not in response


def test_search_finds_marks_and_counts(cast: Cast, alice_client: Client) -> None:
    make_memory(content="Never deploys on Fridays.", owner=cast.alice)
    make_memory(content="Drinks oolong.", owner=cast.alice)
    page = text(alice_client.get("/memories?q=deploys"))
    assert "<mark>deploys</mark>" in page
    assert "oolong" not in page
    assert "1 memory matches, best first." in page
    assert "same words" in page


def test_search_without_a_match_says_so(alice_client: Client) -> None:
    page = text(alice_client.get("/memories?q=zeppelin"))
    assert "Nothing matches." in page


def test_blank_search_is_no_search(cast: Cast, alice_client: Client) -> None:
    make_memory(content="Drinks oolong.", owner=cast.alice)
    assert "oolong" in text(alice_client.get("/memories?q=%20%00%20"))


@pytest.mark.parametrize("query", ["%", "_", "\\", "a" * 5000, "'\"<>", "🧗‍♀️", "\x00x"])
def test_odd_queries_are_answered(cast: Cast, alice_client: Client, query: str) -> None:
    make_memory(owner=cast.alice)
    assert alice_client.get("/memories", {"q": query}).status_code == 200


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_shown_as_text(cast: Cast, alice_client: Client, hostile: str) -> None:
    memory = make_memory(content=hostile, owner=cast.alice)
    for url in ("/memories", f"/memories/{memory.pk}", f"/memories/{memory.pk}/correct"):
        page = text(alice_client.get(url))
        assert hostile not in page or hostile == html.escape(hostile)
        for tag in ("<script>alert", "<img src=x", "<i>more", "<b>code"):
            assert tag not in page
        assert "onfocus='" not in page


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_query_is_shown_as_text(alice_client: Client, hostile: str) -> None:
    page = text(alice_client.get("/memories", {"q": hostile}))
    for tag in ("<script>alert", "<img src=x", "<i>more", "<b>code", "onfocus='"):
        assert tag not in page


def test_filters_narrow_and_their_counts_agree_with_the_list(
    cast: Cast, alice_client: Client
) -> None:
    for number in range(3):
        make_memory(content=f"Prefers tea number {number}.", owner=cast.alice)
    make_memory(content="The kettle is blue.", owner=cast.alice, kind="knowledge")
    make_memory(content="The garden is green.", visibility="public")
    chips = re.findall(
        r'<a class="chip"[^>]*? href="([^"]+)"[^>]*>([^<]+)<span class="count">([^<]+)</span>',
        text(alice_client.get("/memories")),
    )
    assert {(title.strip(), count) for _, title, count in chips} >= {
        ("All", "5"),
        ("Private", "4"),
        ("Public", "1"),
        ("Preferences", "3"),
        ("Knowledge", "2"),
    }
    for url, title, count in chips:
        listed = alice_client.get(html.unescape(url))
        assert len(rows(listed)) == int(count), title


def test_unknown_filter_values_narrow_nothing(cast: Cast, alice_client: Client) -> None:
    make_memory(content="Drinks oolong.", owner=cast.alice)
    url = "/memories?visibility=everything&kind=&origin=x&state=lost"
    assert "oolong" in text(alice_client.get(url))


def test_badge_list_and_summary_say_the_same(cast: Cast, alice_client: Client) -> None:
    for number in range(30):
        make_memory(content=f"Prefers tea number {number}.", owner=cast.alice)
    page = text(alice_client.get("/memories"))
    assert re.search(r'id="nav-count">30</span>', page)
    assert "30 memories, newest first." in page


def test_paging_shows_every_memory_once_also_without_scripts(
    cast: Cast, alice_client: Client, now: datetime
) -> None:
    made = {
        str(
            make_memory(content=f"Fact {n}.", owner=cast.alice, now=now - timedelta(days=n // 2)).pk
        )
        for n in range(60)
    }
    seen: list[str] = []
    url = "/memories"
    for _ in range(4):
        response = alice_client.get(url)
        seen += rows(response)
        more = re.search(r'class="button" href="([^"]+cursor[^"]+)"', text(response))
        if more is None:
            break
        url = html.unescape(more.group(1))
    assert len(seen) == len(set(seen)) == 60
    assert set(seen) == made


def test_next_page_for_htmx_is_one_element_that_goes_on(cast: Cast, alice_client: Client) -> None:
    for number in range(30):
        make_memory(content=f"Fact {number}.", owner=cast.alice)
    more = re.search(r'hx-get="([^"]+cursor[^"]+)"', text(alice_client.get("/memories")))
    assert more
    part = alice_client.get(html.unescape(more.group(1)), headers=HTMX)
    assert text(part).startswith('<div class="memory-page" id="page-')
    assert len(rows(part)) == 5
    assert "HX-Push-Url" not in part


def test_ranked_paging_reaches_everything_once(cast: Cast, alice_client: Client) -> None:
    for number in range(40):
        make_memory(content=f"Prefers tea number {number}.", owner=cast.alice)
    first = alice_client.get("/memories?q=tea")
    more = re.search(r'href="([^"]+cursor[^"]+)"', text(first))
    assert more
    second = alice_client.get(html.unescape(more.group(1)))
    assert len(set(rows(first)) | set(rows(second))) == 40


def test_cursor_of_another_list_or_edited_by_hand_is_refused(
    cast: Cast, alice_client: Client
) -> None:
    for number in range(30):
        make_memory(content=f"Fact {number}.", owner=cast.alice)
    more = re.search(r"cursor=([^&\"]+)", text(alice_client.get("/memories")))
    assert more
    cursor = html.unescape(more.group(1))
    for url in (
        f"/memories?kind=preference&cursor={cursor}",
        f"/memories?cursor={cursor}x",
        "/memories?cursor=e30",
        "/memories?cursor=%00",
    ):
        assert alice_client.get(url).status_code == 422, url


def test_cursor_holds_no_text(cast: Cast, alice_client: Client) -> None:
    for number in range(30):
        make_memory(content=f"Prefers xylophones number {number}.", owner=cast.alice)
    page = text(alice_client.get("/memories?q=xylophones"))
    more = re.search(r'cursor=([^&"]+)', page)
    assert more
    payload = html.unescape(more.group(1)).split("%3A")[0]
    assert b"xylophones" not in urlsafe_b64decode(payload + "=" * (-len(payload) % 4))


def test_list_costs_the_same_queries_whatever_its_length(cast: Cast, alice_client: Client) -> None:
    def cost(url: str) -> int:
        alice_client.get(url)
        with CaptureQueriesContext(connection) as queries:
            assert alice_client.get(url).status_code == 200
        return len(queries)

    urls = ("/memories", "/memories?q=tea", "/memories?state=forgotten")
    make_memory(content="Prefers tea.", owner=cast.alice)
    gone = make_memory(content="Prefers cocoa.", owner=cast.alice)
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST)
    few = [cost(url) for url in urls]
    for number in range(40):
        make_memory(
            content=f"Prefers tea number {number}.", owner=cast.bob, visibility="org", org=cast.org
        )
        made = make_memory(content=f"Prefers cocoa number {number}.", owner=cast.alice)
        make_memory(content=f"Prefers tea cup {number}.", owner=cast.alice)
        forgetting.forget(person(cast.alice), made.pk, doer=BY_TEST)
    many = [cost(url) for url in urls]
    assert many == few
    assert all(cost <= ceiling for cost, ceiling in zip(many, (8, 20, 9), strict=True)), many


def test_memories_are_grouped_by_when_they_were_remembered(
    cast: Cast, alice_client: Client
) -> None:
    today = timezone.now()
    make_memory(content="Fact of today.", owner=cast.alice, now=today)
    make_memory(content="Fact of long ago.", owner=cast.alice, now=today - timedelta(days=400))
    page = text(alice_client.get("/memories"))
    long_ago = today - timedelta(days=400)
    assert "<h2>Today</h2>" in page
    assert f"<h2>{long_ago:%B %Y}</h2>" in page


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("active", "Nothing is remembered yet."),
        ("forgotten", "Nothing forgotten waits here."),
        ("superseded", "Nothing was replaced yet."),
        ("expired", "Nothing has expired."),
    ],
)
def test_empty_states_say_what_would_be_there(alice_client: Client, state: str, words: str) -> None:
    assert words in text(alice_client.get(f"/memories?state={state}"))


def test_other_states_hold_own_rows_alone(cast: Cast, sign_in: SignIn, now: datetime) -> None:
    forgotten = make_memory(content="Alice once drank oolong.", owner=cast.alice)
    forgetting.forget(person(cast.alice), forgotten.pk, doer=BY_TEST)
    expired_at = timezone.now() - timedelta(days=1)
    make_memory(
        content="Alice is on leave.",
        owner=cast.alice,
        expires_at=expired_at,
        now=expired_at - timedelta(days=3),
    )
    alice = sign_in(cast.alice)
    assert rows(alice.get("/memories?state=forgotten")) == [str(forgotten.pk)]
    assert len(rows(alice.get("/memories?state=expired"))) == 1
    assert not rows(alice.get("/memories"))
    for user in (cast.bob, cast.charlie, cast.root):
        for state in ("forgotten", "expired", "superseded"):
            assert not rows(sign_in(user).get(f"/memories?state={state}")), "leaked"


def test_what_a_teammate_forgot_is_in_nobody_elses_list(cast: Cast, sign_in: SignIn) -> None:
    memory = make_memory(
        content="The team meets at ten.", owner=cast.bob, visibility="org", org=cast.org
    )
    forgetting.forget(person(cast.bob), memory.pk, doer=BY_TEST)
    assert rows(sign_in(cast.bob).get("/memories?state=forgotten")) == [str(memory.pk)]
    assert not rows(sign_in(cast.alice).get("/memories?state=forgotten")), "leaked"


def test_home_leads_to_the_list(db: None) -> None:
    assert urlsplit(Client().get("/")["Location"]).path == "/memories"


def test_page_is_small_and_runs_no_script_of_its_own(cast: Cast, alice_client: Client) -> None:
    for number in range(40):
        make_memory(content=f"Prefers a medium sized fact number {number}.", owner=cast.alice)
    page = text(alice_client.get("/memories"))
    assert len(page.encode()) < 60_000
    assert " style=" not in page
    assert not re.search(r"<script(?![^>]* src=)", page)
    assert not re.search(r"\son[a-z]+=", page)


def test_a_date_and_an_agent_are_named_only_where_they_say_something(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(owner=cast.alice)
    page = text(alice_client.get("/memories")).split('class="memories"')[1]
    assert "expires" not in page
    assert "for default" not in page
    in_a_week = timezone.now() + timedelta(days=7)
    make_memory(owner=cast.alice, content="Is on call.", expires_at=in_a_week)
    other, _ = agent_named("deskmate")
    make_memory(owner=cast.alice, content="Likes maps.", agent=other)
    page = text(alice_client.get("/memories"))
    assert f'expires <time datetime="{in_a_week:%Y-%m-%d}' in page
    assert "for default" in page
    assert "for deskmate" in page


def corrected(cast: Cast, before: str, after: str) -> None:
    """Make a memory of Alice's and put other words in its place."""
    old = make_memory(owner=cast.alice, content=before)
    correct_memory(person(cast.alice), old.pk, after, version=old.version, doer=BY_TEST)


def test_what_was_replaced_can_be_searched_and_every_count_agrees(
    cast: Cast, alice_client: Client
) -> None:
    corrected(cast, "Drinks green tea.", "Drinks coffee.")
    corrected(cast, "Rows on Sundays.", "Rows on Mondays.")
    page = text(alice_client.get("/memories?state=superseded&q=tea"))
    assert "<mark>tea</mark>" in page
    assert "Sundays" not in page
    assert "1 memory matches" in page
    assert re.search(r"All <span class=\"count\">1</span>", page)
    assert 'name="state" value="superseded"' in page
    # Forgotten memories are in no search, not even in this one.
    assert 'role="search"' not in text(alice_client.get("/memories?state=forgotten"))


def test_what_came_since_the_last_visit_is_marked_until_the_next_one(
    cast: Cast, alice_client: Client
) -> None:
    now = timezone.now()
    User.objects.filter(pk=cast.alice.pk).update(last_visit_at=now - timedelta(days=2))
    make_memory(
        owner=cast.alice, content="Old one.", origin="automatic", now=now - timedelta(days=3)
    )
    make_memory(owner=cast.alice, content="New one.", origin="automatic")
    make_memory(owner=cast.alice, content="Typed in.", origin="explicit")
    for _ in range(2):
        page = text(alice_client.get("/memories"))
        assert page.count('class="label-new"') == 1
        assert page.index("New one.") < page.index("label-new") < page.index("Old one.")
        assert "1 new since your last visit" in page
    # Half an hour later it is another visit, and all of that was seen.
    User.objects.filter(pk=cast.alice.pk).update(last_visit_at=now - timedelta(minutes=31))
    Memory.objects.update(created_at=now - timedelta(hours=1))
    page = text(alice_client.get("/memories"))
    assert "label-new" not in page
    assert "since your last visit" not in page


def test_on_the_first_visit_nothing_is_called_new(cast: Cast, alice_client: Client) -> None:
    make_memory(owner=cast.alice, origin="automatic")
    for _ in range(2):
        assert "label-new" not in text(alice_client.get("/memories"))


def test_after_the_first_page_a_hundred_follow_at_once(cast: Cast, alice_client: Client) -> None:
    for number in range(130):
        make_memory(owner=cast.alice, content=f"Fact {number}.")
    page = text(alice_client.get("/memories"))
    assert page.count("data-row") == 25
    assert "data-dense" not in page
    more = page.split('id="more"><a class="button" href="')[1].split('"')[0].replace("&amp;", "&")
    assert text(alice_client.get(more, headers=HTMX)).count("data-row") == 100
