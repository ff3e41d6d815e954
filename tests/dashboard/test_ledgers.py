"""The lists behind the overview's numbers: a number that is clicked is what its list adds up to."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory import clock, events, forgetting, spending
from junior_memory.access import person
from junior_memory.models import ModelCall
from junior_memory.reports import format_usd
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.dashboard.test_overview import pay
from tests.factories import BY_TEST, AgentFactory, make_memory

LISTS = (
    "/overview/calls",
    "/overview/budget",
    "/overview/events",
    "/overview/changes",
    "/overview/present",
)
LINK = re.compile(r'<a [^>]*?href="(/overview/[a-z]+\?[^"]*)"[^>]*>([^<]*)</a>')
ROW = re.compile(r'<li(?: data-tone="danger")?>\s*<span class="ledger-at">.*?</li>', re.DOTALL)
SECRET = "Keeps bees behind the boathouse."


@pytest.fixture
def root(cast: Cast, sign_in: SignIn) -> Client:
    """Return a staff member's browser."""
    return sign_in(cast.root)


@pytest.fixture
def lived(cast: Cast, settings: Any) -> Cast:
    """Spend on everything, over two windows, and make, change and lose memories."""
    agent = AgentFactory.create(name="frugal", monthly_budget_usd=Decimal(1))
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        "daily_budget_usd": Decimal(50),
        "monthly_budget_usd": Decimal(900),
    }
    names = ("", events.MEMORIES_CAPTURED, events.MEMORIES_RECALLED, events.MEMORY_REVIEWED)
    outcomes = ("ok", "timeout", "truncated", "invalid", "refused", "empty", "http_503", "failed")
    operations = ("extraction", "review", "relevance", "embed", "adjudication", "check")
    for number in range(96):
        call = pay(
            cast,
            None if number % 11 == 0 else f"0.{number:03}7",
            operation=operations[number % 6],
            model=f"model-{number % 7}",
            outcome=outcomes[number // 4 % len(outcomes)],
            days_ago=number // 8 % 5 * 3,
            owned_by=names[number % 4],
        )
        if number % 5 == 0:
            ModelCall.objects.filter(pk=call.pk).update(agent=agent)
    now = timezone.now()
    for number in range(53):
        make_memory(
            owner=cast.alice,
            content=f"{SECRET} {number}",
            origin="import" if number % 3 else "explicit",
            now=now - timedelta(days=number % 9),
        )
    gone = make_memory(owner=cast.bob, content="Lives by the sea.")
    forgetting.forget(person(cast.bob), gone.pk, doer=BY_TEST)
    make_memory(owner=cast.bob, visibility="org", org=cast.org, content="Standup is at nine.")
    make_memory(visibility="public", content="The office is closed on Sundays.")
    return cast


def links(page: str) -> list[tuple[str, str]]:
    """Return every link of a page that leads from a number to a list, and the number."""
    main = page.split('id="main"')[1]
    return [(html.unescape(url), html.unescape(said).strip()) for url, said in LINK.findall(main)]


def number_of(page: str, title: str) -> str:
    """Return what a card says, without its note."""
    found = re.search(rf"<dt>{title}</dt>\s*<dd>(.*?)</dd>", page, re.DOTALL)
    assert found, title
    return html.unescape(re.sub(r"<[^>]*>", "", found[1])).strip()


def average_of(page: str) -> str:
    """Return what an average day cost: it leads to all calls, and is no sum of them."""
    found = re.search(r"Average day <a [^>]*>([^<]*)</a>", page)
    assert found
    return found[1]


def rows_of(client: Client, url: str) -> list[tuple[str, str]]:
    """Page through a list to its end; returns what each row is, and its amount."""
    return read_through(client, url)[1]


def read_through(client: Client, url: str) -> tuple[str, list[tuple[str, str]]]:
    """Page through a list to its end; returns its first page, and what its rows are and cost."""
    pages, rows = [], []
    while url:
        pages.append(text(client.get(url)))
        for row in ROW.findall(pages[-1]):
            what = re.search(r'"ledger-what">(.*?)</span>', row, re.DOTALL)
            amount = re.search(r'"ledger-amount"[^>]*>(.*?)</b>', row)
            assert what
            assert amount
            rows.append((re.sub(r"<[^>]*>", "", what[1]), amount[1]))
        older = re.search(r'href="([^"]*)">Older<', pages[-1])
        url = html.unescape(older[1]) if older else ""
    return pages[0], rows


def added(rows: list[tuple[str, str]]) -> Decimal:
    """Add up the amounts of rows as a reader would; what is unknown adds nothing."""
    amounts = [amount for _what, amount in rows if amount != "unknown"]
    return sum((Decimal(amount.strip("$").replace(",", "")) for amount in amounts), Decimal(0))


def assert_adds_up(client: Client, url: str, said: str) -> None:
    """Assert that the number that was clicked is what the list says and its rows come to."""
    page, rows = read_through(client, url)
    counted = re.match(r"([\d,]+)(?!%)(?: |$)", said)
    if counted:
        assert counted[1] == f"{len(rows):,}", url
    if url.startswith(("/overview/events", "/overview/changes", "/overview/present")):
        title = "Events" if "events" in url else "Memories"
        assert number_of(page, title) == f"{len(rows):,}", url
        return
    if url.startswith("/overview/calls"):
        assert number_of(page, "Calls of models") == f"{len(rows):,}", url
    if "$" in said and "unpriced" not in said:
        assert format_usd(added(rows)) == said, url
    assert number_of(page, "Spent") in {format_usd(added(rows)), "price unknown"}, url


def test_every_number_leads_to_what_adds_up_to_it(lived: Cast, root: Client) -> None:
    led: dict[str, tuple[str, str]] = {}
    for split in ("purpose", "operation", "model"):
        page = text(root.get(f"/overview?days=7&split={split}"))
        shared = {number_of(page, "Per useful recall"), average_of(page)}
        for url, said in links(page):
            if said and said not in shared and "format=csv" not in url:
                led.setdefault(re.sub(r"until=[^&]*", "", url), (url, said))
    assert {url.split("?")[0] for url, _said in led.values()} == set(LISTS)
    assert len(led) > 60
    for url, said in led.values():
        assert_adds_up(root, url, said)


def test_the_numbers_of_the_report_lead_to_what_they_count(lived: Cast, root: Client) -> None:
    part = text(root.get("/system")).split('id="report-title"')[1].split("</section>")[0]
    found = re.findall(r'<span>([^<]*)</span><b><a href="([^"]*)">([^<]*)</a>', part)
    assert len(found) == 8
    for name, url, said in found:
        page, rows = read_through(root, html.unescape(url))
        if "$" in said:
            assert (number_of(page, "Spent"), format_usd(added(rows))) == (said, said), name
        elif "%" not in said:
            assert said == number_of(page, "Memories") == f"{len(rows):,}", name


def test_the_cost_of_a_useful_recall_is_said_with_its_parts(lived: Cast, root: Client) -> None:
    page = text(root.get("/overview?days=30"))
    said = number_of(page, "Per useful recall")
    url = next(url for url, number in links(page) if number == said and "purpose=recall" in url)
    behind = text(root.get(url))
    assert number_of(behind, "Per useful recall") == said
    costs = spending.costs(30)
    assert added(rows_of(root, url)) / costs.useful_recalls == costs.per_useful_recall_usd
    counted = next(url for url, number in links(behind) if "useful recalls" in number)
    assert len(rows_of(root, counted)) == costs.useful_recalls


def test_what_is_left_of_a_split_is_what_it_does_not_name(lived: Cast, root: Client) -> None:
    page = text(root.get("/overview?days=30&split=model"))
    rest = [(url, said) for url, said in links(page) if "not_model" in url]
    assert rest
    for url, said in rest[:5]:
        assert_adds_up(root, url, said)


def test_a_list_ends_where_its_number_was_counted(lived: Cast, root: Client) -> None:
    page = text(root.get("/overview?days=7"))
    url = next(url for url, _said in links(page) if url.startswith("/overview/calls?days=7&until"))
    before = number_of(text(root.get(url)), "Spent")
    pay(lived, "70", owned_by=events.MEMORIES_CAPTURED)
    behind = text(root.get(url))
    assert number_of(behind, "Spent") == before
    now = re.search(r'href="([^"]*)">Up to now<', behind)
    assert now
    assert number_of(text(root.get(html.unescape(now[1]))), "Spent") != before


def test_parts_of_a_list_add_up_and_can_be_taken_back(lived: Cast, root: Client) -> None:
    url = "/overview/calls?days=30&purpose=nothing"
    page = text(root.get(url))
    narrower = [(one, said) for one, said in links(page) if "reason=" in one and "$" in said]
    assert len({one for one, _said in links(page) if "reason=" in one}) == 8
    assert len(narrower) == 7
    for one, said in narrower:
        assert_adds_up(root, one, said)
    behind = text(root.get(narrower[0][0]))
    chip = re.search(r'<a class="chip" href="([^"]*)"><span>Bought nothing', behind)
    assert chip
    assert html.unescape(chip[1]) == "/overview/calls?days=30"


def test_an_unknown_price_is_listed_and_adds_nothing(lived: Cast, root: Client) -> None:
    url = "/overview/calls?days=30&price=unknown"
    rows = rows_of(root, url)
    assert {amount for _what, amount in rows} == {"unknown"}
    assert number_of(text(root.get(url)), "Spent") == "price unknown"
    assert len(rows) == spending.costs(30).unknown


@pytest.mark.parametrize("url", LISTS)
def test_no_list_holds_what_a_memory_says_or_whose_it_is(
    lived: Cast, root: Client, url: str
) -> None:
    page = text(root.get(url)).split('id="main"')[1].split("</main>")[0]
    for told in ("boathouse", "Lives by", "alice", "bob", "Alice", "Bob"):
        assert told not in page


@pytest.mark.parametrize("url", LISTS)
def test_only_staff_read_the_lists(lived: Cast, sign_in: SignIn, url: str) -> None:
    for user in (lived.alice, lived.charlie):
        response = sign_in(user).get(url)
        assert response.status_code == 403
        assert "ledger" not in text(response)
    anonymous = Client().get(url)
    assert anonymous.status_code == 302
    assert anonymous["location"].startswith("/sign-in")


@pytest.mark.parametrize("url", LISTS)
def test_lists_are_read_only_and_kept_by_no_cache(root: Client, url: str) -> None:
    for method in ("post", "put", "patch", "delete"):
        assert getattr(root, method)(url).status_code == 405
    assert "no-store" in root.get(url)["cache-control"]


@pytest.mark.parametrize("url", LISTS)
def test_odd_addresses_are_a_list_or_nothing(root: Client, url: str) -> None:
    names = "days until day purpose operation model outcome reason not_model event price".split()
    names += "kind part period agent".split()
    for value in ("%00", "%ED%A0%80", "a" * 5_000, "-1", "99991231T000000.000000Z", "9999-12-31"):
        alone = [f"{name}={value}" for name in ("until", "day", "agent", "event")]
        for query in (*alone, "&".join(f"{name}={value}" for name in names)):
            assert root.get(f"{url}?{query}").status_code in {200, 404}, query[:50]
    many = "&".join(f"not_model=m{number}" for number in range(50))
    assert root.get(f"{url}?{many}").status_code == 200


@pytest.mark.parametrize("url", LISTS)
def test_a_place_that_no_page_wrote_is_refused(root: Client, url: str) -> None:
    for after in ("x", "2026-11-30T00:00:00~1", "2026-11-30~x", "%00"):
        assert root.get(f"{url}?after={after}").status_code == 422


def test_a_budget_of_no_agent_is_not_found(root: Client) -> None:
    assert root.get("/overview/budget?agent=nobody").status_code == 404


def test_markup_in_a_name_is_text(cast: Cast, root: Client) -> None:
    name = "<img src=x onerror=alert(1)>"
    pay(cast, "0.5", model=name, outcome=name[:40])
    for url in ("/overview/calls", f"/overview/calls?model={name}&reason={name}&operation={name}"):
        page = text(root.get(url))
        assert "<img" not in page
        assert "&lt;img" in page


def test_an_empty_list_says_so(root: Client) -> None:
    for url in LISTS:
        assert "Nothing in these days." in text(root.get(url))


@pytest.mark.parametrize("url", LISTS)
def test_a_list_takes_as_many_queries_however_long_it_is(
    cast: Cast, root: Client, url: str, django_assert_max_num_queries: Any
) -> None:
    root.get(url)
    with django_assert_max_num_queries(30) as few:
        root.get(url)
    now = clock.now()
    for number in range(12):
        pay(cast, "0.1", model=f"m{number}", owned_by=events.MEMORIES_RECALLED)
        make_memory(owner=cast.alice, content=f"Likes island {uuid4()}.", now=now)
    with django_assert_max_num_queries(len(few.captured_queries)):
        root.get(url)
