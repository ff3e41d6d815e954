"""/overview: the numbers of the report in drawing, table and file; staff only."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone, translation

from dashboard.charts import DailyChart, Series, to_csv
from dashboard.overview import Window, cost_chart, memory_chart, read_overview
from junior_memory import events, forgetting, reports, spending, turnover
from junior_memory.access import person
from junior_memory.day_windows import WINDOWS
from junior_memory.models import ConversationEvent, ModelCall
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, AgentFactory, make_memory

URL = "/overview"
FILES = ("/overview/cost?format=csv", "/overview/memories?format=csv")


@pytest.fixture
def root(cast: Cast, sign_in: SignIn) -> Client:
    """Return a staff member's browser."""
    return sign_in(cast.root)


def pay(
    cast: Cast,
    cost: str | None,
    *,
    operation: str = "extraction",
    model: str = "model-a",
    outcome: str = "ok",
    days_ago: int = 0,
    owned_by: str = "",
    now: datetime | None = None,
) -> ModelCall:
    """Insert a model call, owned by an event of this name unless none is named."""
    at = (now or timezone.now()) - timedelta(days=days_ago)
    call = ModelCall.objects.create(
        operation=operation,
        provider="test",
        model=model,
        cost_usd=None if cost is None else Decimal(cost),
        outcome=outcome,
        created_at=at,
    )
    payload: events.Payload = events.MemoriesCaptured(memories=[])
    if owned_by == events.MEMORY_REVIEWED:
        payload = events.MemoryReviewed(decision="reject", reason="not_durable")
    if owned_by == events.MEMORIES_RECALLED:
        payload = events.MemoriesRecalled(
            recall_id=uuid4(), memories=[events.RecalledMemory(id=uuid4(), rank=1)]
        )
    if owned_by:
        events.record_event(
            owned_by,
            payload,
            conversation_id="c",
            agent=cast.agent,
            owner=None,
            now=at,
            calls=[call],
        )
    return call


def spend(cast: Cast) -> None:
    """Spend 0.30 on extraction today, 0.04 on recall two days ago, 0.01 on nothing yesterday."""
    captured, recalled = events.MEMORIES_CAPTURED, events.MEMORIES_RECALLED
    pay(cast, "0.20", owned_by=captured)
    pay(cast, "0.10", operation="review", model="model-b", owned_by=captured)
    pay(cast, "0.04", operation="relevance", days_ago=2, owned_by=recalled)
    pay(cast, "0.01", outcome="truncated", days_ago=1)


def figures(page: str) -> dict[str, Any]:
    """Return the drawings of a page by the title in their description."""
    found = re.findall(r'aria-label="([^"]*)" data-figure="([^"]*)"', page)
    return {label.split(",")[0]: json.loads(html.unescape(figure)) for label, figure in found}


def table(page: str, key: str) -> list[list[str]]:
    """Return the cells of the table behind a chart, the head first and the foot second."""
    part = page.split(f'id="{key}-table"')[1].split("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", part, re.DOTALL)
    return [
        [
            html.unescape(re.sub(r"<[^>]*>", "", cell)).strip()
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def led_to(page: str, number: str) -> str:
    """Return where the first number that reads like this leads."""
    found = re.search(rf'<dd><a href="([^"]*)">{re.escape(number)}</a>', page)
    assert found
    return html.unescape(found[1])


def file_of(client: Client, url: str) -> list[list[str]]:
    """Return the rows of a file."""
    response = client.get(url)
    assert response.status_code == 200
    assert response["content-type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(text(response))))


def test_drawing_table_and_file_show_what_was_paid(cast: Cast, root: Client) -> None:
    spend(cast)
    page = text(root.get(f"{URL}?days=7"))
    drawn = figures(page)["Cost by day"]["data"]
    assert [(bars["name"], bars["y"][-3:]) for bars in drawn] == [
        ("Extraction", [0.0, 0.0, 0.3]),
        ("Recall", [0.04, 0.0, 0.0]),
        ("Bought nothing", [0.0, 0.01, 0.0]),
    ]
    head, foot, *days = table(page, "cost")
    assert head == ["Day (UTC)", "Extraction", "Recall", "Bought nothing", "The whole day"]
    assert foot == ["All 7 days", "$0.30", "$0.04", "$0.01", "$0.35"]
    assert [row[1:] for row in days[:3]] == [
        ["$0.30", "$0.00", "$0.00", "$0.30"],
        ["$0.00", "$0.00", "$0.01", "$0.01"],
        ["$0.00", "$0.04", "$0.00", "$0.04"],
    ]
    names, *rows = file_of(root, "/overview/cost?format=csv&days=7")
    assert names == ["date_utc", "extraction_usd", "recall_usd", "nothing_usd", "list_url"]
    assert [row[1:4] for row in rows[-3:]] == [
        ["0", "0.04", "0"],
        ["0", "0", "0.01"],
        ["0.3", "0", "0"],
    ]


def test_each_day_of_the_file_ends_with_the_list_behind_it(cast: Cast, root: Client) -> None:
    spend(cast)
    _names, *rows = file_of(root, "/overview/cost?format=csv&days=7")
    site = "http://testserver"
    for row in rows:
        paid = sum(map(Decimal, row[1:4]))
        assert row[4].startswith(f"{site}/overview/calls?days=7&day={row[0]}") == bool(paid)
        if paid:
            said = text(root.get(row[4].removeprefix(site)))
            assert f"exactly ${paid:.2f}" in said


def test_the_average_day_leads_to_what_says_it_too(cast: Cast, root: Client) -> None:
    spend(cast)
    legend = text(root.get("/overview?days=7")).split("Average day ")[1]
    found = re.match(r'<a href="([^"]*)">([^<]*)</a>', legend)
    assert found
    assert f"{found[2]} on an average day" in text(root.get(html.unescape(found[1])))


def test_drawing_table_and_file_cover_the_same_days(cast: Cast, root: Client) -> None:
    for days in WINDOWS:
        page = text(root.get(f"{URL}?days={days}"))
        shown = file_of(root, f"/overview/cost?format=csv&days={days}")[1:]
        assert len(figures(page)["Cost by day"]["data"][0]["x"]) == days
        assert [row[0] for row in shown] == figures(page)["Cost by day"]["data"][0]["x"]
        assert len(table(page, "cost")) == days + 2
        assert shown[-1][0] == timezone.now().date().isoformat()


def test_the_split_by_operation_and_model_adds_up_to_the_same_total(cast: Cast) -> None:
    spend(cast)
    pay(cast, None, owned_by=events.MEMORIES_CAPTURED)
    costs = spending.costs(30)
    by_operation = cost_chart(costs, "operation")
    by_model = cost_chart(costs, "model")
    assert by_operation.total == by_model.total == costs.total_usd == Decimal("0.35")
    assert {(one.key, one.total) for one in by_operation.series} == {
        ("extraction", Decimal("0.20")),
        ("review", Decimal("0.10")),
        ("relevance", Decimal("0.04")),
        ("nothing", Decimal("0.01")),
    }
    assert [one.key for one in by_model.series] == ["model-a", "model-b", "nothing"]


def test_many_models_are_drawn_as_four_and_the_rest(cast: Cast) -> None:
    for number in range(9):
        pay(cast, f"0.{number + 1}", model=f"model-{number}", owned_by=events.MEMORIES_CAPTURED)
    chart = cost_chart(spending.costs(7), "model")
    names = [one.key for one in chart.series]
    assert names == ["model-8", "model-7", "model-6", "model-5", "other", "nothing"]
    assert chart.total == Decimal("4.5")


def test_cards_say_what_it_was_good_for(cast: Cast, root: Client) -> None:
    spend(cast)
    pay(cast, "0.70", days_ago=40, owned_by=events.MEMORIES_CAPTURED)
    page = text(root.get(URL))
    for said in (
        "−50% against the 30 days before",
        "1 of 1 recalls put something in",
        "1 cut off",
        "found by words; no embedder",
    ):
        assert said in page
    assert led_to(page, "$0.35").startswith("/overview/calls?days=30&until=")


def test_next_to_nothing_before_is_said_as_it_was(cast: Cast, root: Client) -> None:
    pay(cast, "5", owned_by=events.MEMORIES_CAPTURED)
    pay(cast, "0.02", days_ago=8, owned_by=events.MEMORIES_CAPTURED)
    page = text(root.get(f"{URL}?days=7"))
    assert "$0.02 in the 7 days before" in page
    assert "% against" not in page


def test_without_calls_the_page_says_so_over_zeros(cast: Cast, root: Client) -> None:
    make_memory(owner=cast.alice)
    page = text(root.get(URL))
    assert "No model calls: everything so far was learned without a model, at no cost." in page
    drawn = figures(page)["Cost by day"]
    assert {value for bars in drawn["data"] for value in bars["y"]} == {0.0}
    assert "shapes" not in drawn["layout"]
    assert table(page, "cost")[1][1:] == ["$0.00"] * 4


def test_a_quiet_window_is_not_said_to_be_all_there_was(cast: Cast, root: Client) -> None:
    pay(cast, "0.50", days_ago=200)
    page = text(root.get(f"{URL}?days=7"))
    assert "No model calls in these 7 days." in page
    assert "everything so far" not in page


def test_an_unknown_price_is_said_and_not_guessed(cast: Cast, root: Client) -> None:
    pay(cast, None, model="house-model")
    page = text(root.get(URL))
    assert "price unknown" in page
    assert "1 call has no known price" in page


def test_memories_created_and_forgotten_are_drawn_by_visibility(cast: Cast, root: Client) -> None:
    now = timezone.now()
    gone = make_memory(owner=cast.alice, content="Lives by the sea.")
    make_memory(owner=cast.alice, content="Prefers tea.", now=now - timedelta(days=3))
    make_memory(owner=cast.bob, visibility="org", org=cast.org, content="Standup is at nine.")
    make_memory(visibility="public", content="The office is closed on Sundays.")
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST)
    page = text(root.get(f"{URL}?days=7"))
    drawn = figures(page)["Memories created and forgotten by day"]["data"]
    assert [(bars["name"], sum(bars["y"])) for bars in drawn] == [
        ("Private", 2),
        ("Team", 1),
        ("Public", 1),
        ("Forgotten", -1),
    ]
    assert table(page, "memories")[1] == ["All 7 days", "2", "1", "1", "1", "4"]
    rows = file_of(root, "/overview/memories?format=csv&days=7")
    names = ["date_utc", "private", "org", "public", "forgotten"]
    assert rows[0] == [*names, "list_url", "forgotten_list_url"]
    assert rows[-1][1:5] == ["1", "1", "1", "1"]
    assert rows[-4][1:5] == ["1", "0", "0", "0"]
    assert [bool(url) for url in rows[-4][5:]] == [True, False], "of nothing there is no list"
    assert "Forgotten" in text(root.get(rows[-1][6].removeprefix("http://testserver")))


def test_the_page_holds_no_memory_and_no_owner(cast: Cast, root: Client) -> None:
    make_memory(owner=cast.alice, content="Keeps bees behind the boathouse.")
    make_memory(visibility="public", content="The boathouse is blue.")
    page = text(root.get(URL))
    assert "boathouse" not in page
    assert cast.alice.email not in page


@pytest.mark.parametrize("url", [URL, *FILES, "/system"])
def test_only_staff_see_it(cast: Cast, sign_in: SignIn, url: str) -> None:
    spend(cast)
    for user in (cast.alice, cast.charlie):
        response = sign_in(user).get(url)
        assert response.status_code == 403
        assert "0.3" not in text(response)
    anonymous = Client().get(url)
    assert anonymous.status_code == 302
    assert anonymous["location"].startswith("/sign-in")


@pytest.mark.parametrize("url", [URL, *FILES])
def test_it_is_read_only(root: Client, url: str) -> None:
    for method in ("post", "put", "patch", "delete"):
        assert getattr(root, method)(url).status_code == 405


def test_unknown_windows_fall_to_thirty_days(root: Client) -> None:
    for query in ("days=31", "days=-1", "days=x", "days=7%00", "split=owner", "days=٣٠"):
        page = text(root.get(f"{URL}?{query}"))
        assert "Spent, 30 days" in page


def test_htmx_gets_the_part_and_no_cache_confuses_it_with_the_page(root: Client) -> None:
    response = root.get(f"{URL}?days=7", headers=HTMX)
    part = text(response)
    assert part.lstrip().startswith('<div class="overview')
    assert "<html" not in part
    assert "HX-Request" in response["vary"]
    assert "no-store" in response["cache-control"]


def test_the_chart_has_a_name_in_words(cast: Cast, root: Client) -> None:
    spend(cast)
    page = text(root.get(URL))
    assert 'role="img" aria-label="Cost by day, ' in page
    assert "Total $0.35: Extraction $0.30, Recall $0.04, Bought nothing $0.01." in page


def test_a_hostile_model_name_is_text_everywhere(cast: Cast, root: Client) -> None:
    name = "<img src=x onerror=alert(1)>"
    pay(cast, "0.5", model=name, owned_by=events.MEMORIES_CAPTURED)
    page = text(root.get(f"{URL}?split=model"))
    assert "<img" not in page
    drawn = figures(page)["Cost by day"]["data"][0]
    assert drawn["name"] == "&lt;img src=x onerror=alert(1)&gt;"
    assert "<img" not in drawn["hovertemplate"]


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_a_file_runs_no_formula(name: str) -> None:
    chart = DailyChart(
        key="cost",
        title="Cost",
        unit="usd",
        days=(timezone.now().date(),),
        series=(Series(name, name, "--chart-1", (Decimal("0.1"),)),),
    )
    head = next(csv.reader(io.StringIO(to_csv(chart.rows()), newline="")))
    assert head[1] == f"'{name}_usd"


def test_the_number_of_queries_does_not_grow(
    cast: Cast, root: Client, django_assert_max_num_queries: Any
) -> None:
    def visit() -> None:
        assert root.get(f"{URL}?days=30&split=model").status_code == 200

    with django_assert_max_num_queries(50) as few:
        visit()
    for number in range(12):
        make_memory(owner=cast.alice, content=f"Likes island number {number}.")
        pay(cast, "0.1", model=f"m{number}", owned_by=events.MEMORIES_CAPTURED)
    with django_assert_max_num_queries(len(few.captured_queries)):
        visit()


def budget(settings: Any, **knobs: str) -> None:
    """Set budgets for the rest of a test."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        f"{name}_budget_usd": Decimal(value) for name, value in knobs.items()
    }


def test_budgets_are_told_when_they_are_set(cast: Cast, root: Client, settings: Any) -> None:
    pay(cast, "3.00", owned_by=events.MEMORIES_CAPTURED)
    assert "Budget" not in text(root.get(URL))
    budget(settings, daily="2.50", monthly="100")
    page = text(root.get(URL))
    assert (
        "$3.00 of $2.50 today: it is reached. Learning then goes by rules, recall goes on." in page
    )
    assert "$3.00 of $100.00 this month" in page


def test_agents_budgets_and_unknown_prices_are_told(
    cast: Cast, root: Client, settings: Any
) -> None:
    agent = AgentFactory.create(name="frugal", monthly_budget_usd=Decimal(1))
    ModelCall.objects.filter(pk=pay(cast, "0.25").pk).update(agent=agent)
    ModelCall.objects.filter(pk=pay(cast, None).pk).update(agent=agent)
    page = text(root.get(URL))
    assert "frugal: $0.25 of $1.00 this month, and 1 call of unknown price" in page
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"over_budget": "queue"}
    budget(settings, daily="0.10")
    assert "today, and 1 call of unknown price: it is reached. Learning then waits" in text(
        root.get(URL)
    )


def test_reviews_and_upkeep_are_drawn_once_there_are_any(cast: Cast, root: Client) -> None:
    pay(cast, "0.20", owned_by=events.MEMORIES_CAPTURED)
    assert "Upkeep" not in text(root.get(URL))
    pay(cast, "0.03", operation="embed")
    pay(cast, "0.01", operation="embed", outcome="timeout")
    pay(cast, "0.05", operation="review", owned_by=events.MEMORY_REVIEWED)
    drawn = figures(text(root.get(URL)))["Cost by day"]["data"]
    assert [(bars["name"], bars["y"][-1]) for bars in drawn] == [
        ("Extraction", 0.2),
        ("Recall", 0.0),
        ("Review on request", 0.05),
        ("Upkeep", 0.03),
        ("Bought nothing", 0.01),
    ]


def test_what_is_known_of_an_event_is_drawn_beside_what_is_not(cast: Cast, root: Client) -> None:
    calls = [pay(cast, "0.20"), pay(cast, None, operation="adjudication")]
    events.record_event(
        events.MEMORIES_CAPTURED,
        events.MemoriesCaptured(memories=[]),
        conversation_id="c",
        agent=cast.agent,
        owner=None,
        now=timezone.now(),
        calls=calls,
    )
    page = text(root.get(URL))
    assert figures(page)["Cost by day"]["data"][0]["y"][-1] == 0.2
    assert led_to(page, "$0.20").startswith("/overview/calls?days=30&until=")
    assert "1 call has no known price" in page


@pytest.mark.parametrize(
    ("outcome", "said"),
    [("too_many", "More than asked for"), ("http_500", "Refused with 500"), ("odd_one", "Odd one")],
)
def test_every_outcome_has_words(cast: Cast, root: Client, outcome: str, said: str) -> None:
    pay(cast, "0.01", outcome=outcome)
    assert said in text(root.get(URL))


def test_the_day_of_reaching_a_budget_follows_the_pace_of_the_month(
    cast: Cast, settings: Any
) -> None:
    at = datetime.fromisoformat("2026-11-10T12:00:00+00:00")
    pay(cast, "20", owned_by=events.MEMORIES_CAPTURED, now=at)
    budget(settings, monthly="30")
    assert [one.text for one in read_overview(Window(), now=at).budgets] == [
        "$20.00 of $30.00 this month; at this pace it is reached on 15 November. "
        "Learning then goes by rules, recall goes on."
    ]
    budget(settings, monthly="70")
    assert [one.text for one in read_overview(Window(), now=at).budgets] == [
        "$20.00 of $70.00 this month; at this pace $60.00 by its end."
    ]


def test_a_young_month_says_that_it_is_too_early(cast: Cast, settings: Any) -> None:
    at = datetime.fromisoformat("2026-11-02T12:00:00+00:00")
    pay(cast, "20", owned_by=events.MEMORIES_CAPTURED, now=at)
    budget(settings, monthly="30")
    assert [one.text for one in read_overview(Window(), now=at).budgets] == [
        "$20.00 of $30.00 this month; too early in the month to say where it goes."
    ]


def test_the_chart_is_the_report(cast: Cast) -> None:
    make_memory(owner=cast.alice)
    report = reports.operational_report()
    chart = memory_chart(turnover.deployment_by_day(90), now=timezone.now())
    assert chart.totals == tuple(day.total for day in report.created)
    assert ConversationEvent.objects.count() == 0


def test_counts_are_grouped_as_the_reader_groups_them() -> None:
    chart = DailyChart(
        key="memories",
        title="Memories",
        unit="memories",
        days=(timezone.now().date(),),
        series=(Series("private", "Private", "--chart-1", (12_345,)),),
    )
    with translation.override("de"):
        assert chart.foot.total.text == "12.345"
        assert "12.345" in chart.figure
    with translation.override("en"):
        assert chart.foot.total.text == "12,345"
        assert chart.rows()[1][1] == "12345", "a file is for machines"
