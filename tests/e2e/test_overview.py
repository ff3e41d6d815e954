"""The overview in a browser: what is drawn is what the reports say."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from junior_memory import events, forgetting
from junior_memory.access import person
from junior_memory.models import ModelCall
from tests.cast import Cast
from tests.e2e.acts import with_and_without_scripts
from tests.e2e.conftest import Visit
from tests.factories import BY_TEST, make_memory

# The bars of one chart that have any height, by series, in the order of the legend.
BARS = """canvas => [...canvas.querySelectorAll('.trace.bars')].map(trace =>
  [...trace.querySelectorAll('.point path')].filter(path => path.getBBox().height > 0.5).length)"""
# How high the bars of each day stand on each other, oldest day first.
HEIGHTS = """canvas => [...canvas.querySelectorAll('.trace.bars')].map(trace =>
  [...trace.querySelectorAll('.point path')].map(path => path.getBBox().height))
  .reduce((sums, trace) => sums.map((sum, day) => sum + trace[day]))"""
# How far above the axis the dashed line lies: the feet of all bars stand on the axis.
ABOVE_ZERO = """canvas => {
  const line = canvas.querySelector('.shapelayer path').getBoundingClientRect();
  const feet = [...canvas.querySelectorAll('.trace.bars .point path')]
    .map(path => path.getBoundingClientRect().bottom);
  return Math.max(...feet) - (line.top + line.bottom) / 2;
}"""
COLOR = "path => getComputedStyle(path).fill"


def spend(cast: Cast) -> None:
    """Pay for learning on five days, and for nothing on two."""
    now = timezone.now()
    for days in range(7):
        owned = days < 5
        call = ModelCall.objects.create(
            operation="extraction",
            provider="test",
            model=f"model-{days % 2}",
            cost_usd=Decimal("0.10") * (days + 1),
            outcome="ok" if owned else "failed",
            created_at=now - timedelta(days=days),
        )
        if owned:
            events.record_event(
                events.MEMORIES_CAPTURED,
                events.MemoriesCaptured(memories=[]),
                conversation_id="c",
                agent=cast.agent,
                owner=None,
                now=call.created_at,
                calls=[call],
            )


def bars(page: Page, chart: str) -> list[int]:
    """Return how many bars each series of a chart has."""
    canvas = page.locator(f"#{chart} .chart-canvas[data-drawn]")
    expect(canvas).to_be_visible()
    drawn: list[int] = canvas.evaluate(BARS)
    return drawn


def told(page: Page, path: str) -> dict[str, Any]:
    """Return what the API answers to the person whose page this is."""
    answer = page.request.get(f"/api/plugins/memory/{path}")
    assert answer.ok
    found: dict[str, Any] = answer.json()
    return found


def in_table(page: Page, chart: str) -> list[list[str]]:
    """Return the numbers of the table behind a chart, newest day first."""
    lines = page.locator(f"#{chart}-table tbody tr").all()
    return [line.locator("td").all_text_contents() for line in lines]


@pytest.mark.parametrize("days", [7, 30, 90])
def test_as_many_bars_are_drawn_as_the_api_has_days_with_a_cost(
    cast: Cast, visit: Visit, days: int
) -> None:
    spend(cast)
    page = visit(cast.root, f"/overview?days={days}")
    costs = told(page, f"costs?days={days}")
    assert len(costs["days"]) == days
    drawn = bars(page, "cost")
    assert drawn == [
        sum(Decimal(day[f"{part}Usd"]) > 0 for day in costs["days"])
        for part in ("extraction", "recall", "nothing")
    ]
    assert drawn == [5, 0, 2]
    page.click("#cost-table summary")
    sums = [line[-1] for line in reversed(in_table(page, "cost"))]
    assert [Decimal(said.strip("$")) for said in sums] == [
        round(Decimal(day["totalUsd"]), 4) for day in costs["days"]
    ]


@pytest.mark.parametrize("split", ["operation", "model"])
def test_the_bars_are_as_high_as_the_api_says(cast: Cast, visit: Visit, split: str) -> None:
    spend(cast)
    page = visit(cast.root, f"/overview?days=7&split={split}")
    bars(page, "cost")
    heights = page.locator("#cost .chart-canvas").evaluate(HEIGHTS)
    costs = told(page, "costs?days=7")
    sums = [float(day["totalUsd"]) for day in costs["days"]]
    assert [height / sum(heights) for height in heights] == pytest.approx(
        [one / sum(sums) for one in sums], abs=0.01
    )


def test_as_many_bars_are_drawn_as_days_had_memories(cast: Cast, visit: Visit) -> None:
    now = timezone.now()
    for days in (0, 1, 1, 4):
        make_memory(owner=cast.alice, content=f"{days} {now}", now=now - timedelta(days=days))
    make_memory(visibility="public", content="The office is closed on Sundays.")
    gone = make_memory(owner=cast.bob)
    forgetting.forget(person(cast.bob), gone.pk, doer=BY_TEST)
    page = visit(cast.root, "/overview")
    created = told(page, "report")["created"][-30:]
    drawn = bars(page, "memories")
    assert drawn[:3] == [
        sum(day[part] > 0 for day in created) for part in ("private", "org", "public")
    ]
    assert drawn == [3, 0, 1, 1]


def test_nothing_is_drawn_where_there_was_no_call(cast: Cast, visit: Visit) -> None:
    page = visit(cast.root, "/overview")
    assert bars(page, "cost") == [0, 0, 0]
    expect(page.locator("#cost")).to_contain_text("No model calls")
    expect(page.locator("#cost .chart-canvas")).to_contain_text("$0")


def test_switching_draws_again_and_back_returns(cast: Cast, visit: Visit) -> None:
    spend(cast)
    page = visit(cast.root, "/overview?days=30")
    page.click("#cost-days-1")
    expect(page).to_have_url(re.compile("days=7"))
    expect(page.locator("#cost-days-1")).to_have_attribute("aria-current", "true")
    expect(page.locator("#cost-days-1")).to_be_focused()
    assert bars(page, "cost") == [5, 0, 2]
    page.click("#cost-split-3")
    expect(page.locator("#cost .legend")).to_contain_text("model-0")
    assert sum(bars(page, "cost")) == 7
    page.go_back()
    expect(page.locator("#cost .legend")).to_contain_text("Extraction")
    assert bars(page, "cost") == [5, 0, 2]
    assert page.locator("html").evaluate("html => html.querySelectorAll('h1').length") == 1


def test_bars_follow_the_theme(cast: Cast, visit: Visit) -> None:
    spend(cast)
    page = visit(cast.root, "/overview?days=7", color_scheme="light")
    bar = page.locator("#cost .trace.bars .point path").first
    light = bar.evaluate(COLOR)
    page.emulate_media(color_scheme="dark")
    expect(bar).not_to_have_css("fill", light)
    page.click("button[name=theme][value=light]")
    expect(page.locator("#cost .trace.bars .point path").first).to_have_css("fill", light)


def test_a_chart_answers_the_pointer_in_the_readers_language(cast: Cast, visit: Visit) -> None:
    spend(cast)
    page = visit(cast.root, "/overview?days=7", locale="de-DE")
    bars(page, "cost")
    page.locator("#cost .chart-canvas").hover()
    said = page.locator("#cost .hoverlayer")
    day = r"^(Mo|Di|Mi|Do|Fr|Sa|So), \d+\. \w+ \d{4}"
    expect(said).to_have_text(re.compile(day + r"\d+,\d\d\s\$ Auswertung"))
    expect(page.locator("#cost .ytick").last).to_have_text(re.compile(r"^\d+,\d\d\s\$$"))


def live_through_a_week(cast: Cast) -> None:
    """Let memories of every visibility come and one go, on some days of a week."""
    now = timezone.now()
    for days, visibility in ((0, "private"), (1, "private"), (1, "org"), (4, "public")):
        make_memory(
            owner=None if visibility == "public" else cast.alice,
            org=cast.org if visibility == "org" else None,
            visibility=visibility,
            content=f"{visibility} {days}",
            now=now - timedelta(days=days),
        )
    gone = make_memory(owner=cast.bob)
    forgetting.forget(person(cast.bob), gone.pk, doer=BY_TEST)


def cost_rows(page: Page) -> list[list[Decimal]]:
    """Return what each day of a week cost by the API, oldest first."""
    return [
        [Decimal(str(day[f"{part}Usd"])) for part in ("extraction", "recall", "nothing")]
        for day in told(page, "costs?days=7")["days"]
    ]


def memory_rows(page: Page) -> list[list[Decimal]]:
    """Return what was created on each day of a week by the API, oldest first."""
    return [
        [Decimal(day[part]) for part in ("private", "org", "public")]
        for day in told(page, "report")["created"][-7:]
    ]


@pytest.mark.parametrize(
    ("chart", "rows", "total"),
    [("cost", cost_rows, "$2.80"), ("memories", memory_rows, "5")],
    ids=["cost", "memories"],
)
@with_and_without_scripts
def test_table_and_file_behind_a_chart_hold_what_the_api_says(
    cast: Cast,
    visit: Visit,
    tmp_path: Path,
    chart: str,
    rows: Callable[[Page], list[list[Decimal]]],
    total: str,
    scripts: bool,
) -> None:
    spend(cast)
    live_through_a_week(cast)
    page = visit(cast.root, "/overview?days=7", java_script_enabled=scripts)
    expected = rows(page)
    table = page.locator(f"#{chart}-table table")
    expect(table).not_to_be_visible()
    page.click(f"#{chart}-table summary")
    expect(table).to_be_visible()
    expect(table.locator("tfoot td").last).to_have_text(total)
    columns = len(expected[0])
    in_page = [
        [Decimal(cell.strip("$").replace(",", "")) for cell in line[:columns]]
        for line in reversed(in_table(page, chart))
    ]
    assert in_page == expected
    with page.expect_download() as download:
        page.click(f"#{chart} .chart-file")
    target = tmp_path / "chart.csv"
    download.value.save_as(target)
    assert download.value.suggested_filename.startswith(f"{chart}-7-days-until-")
    with target.open(newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    assert head[0] == "date_utc"
    assert [[Decimal(cell) for cell in line[1 : columns + 1]] for line in lines] == expected
    assert lines[-1][0] == timezone.now().date().isoformat()


def test_the_average_day_is_drawn_where_the_api_says_it_is(cast: Cast, visit: Visit) -> None:
    spend(cast)
    page = visit(cast.root, "/overview?days=7")
    bars(page, "cost")
    heights = page.locator("#cost .chart-canvas").evaluate(HEIGHTS)
    dashed = page.locator("#cost .shapelayer path")
    expect(dashed).to_have_count(1)
    above_zero = page.locator("#cost .chart-canvas").evaluate(ABOVE_ZERO)
    costs = told(page, "costs?days=7")
    average = sum(float(day["totalUsd"]) for day in costs["days"]) / 7
    top = max(float(day["totalUsd"]) for day in costs["days"])
    assert above_zero / max(heights) == pytest.approx(average / top, abs=0.02)


def test_without_scripts_the_switch_and_the_table_remain(cast: Cast, visit: Visit) -> None:
    spend(cast)
    page = visit(cast.root, "/overview", java_script_enabled=False)
    expect(page.locator("#cost noscript")).to_be_attached()
    page.click("#cost-days-1")
    expect(page.locator(".stats")).to_contain_text("Spent, 7 days")
    page.click("#cost-table summary")
    expect(page.locator("#cost-table tbody tr")).to_have_count(7)
