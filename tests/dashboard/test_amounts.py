"""Numbers, shares and money as the reader's language writes them, on every page alike."""

from __future__ import annotations

import json
import re
from datetime import date
from decimal import Decimal
from html import unescape

import pytest
from django.utils import timezone, translation

from dashboard.amounts import as_read, decimal, exact_usd, number, percent, usd
from dashboard.charts import DailyChart, Series
from junior_memory.models import ModelCall
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("amount", "english", "german"),
    [
        (None, "unknown", "unbekannt"),
        ("0", "$0.00", "0,00 $"),
        ("1234.565", "$1,234.56", "1.234,56 $"),
        ("0.0042", "$0.0042", "0,0042 $"),
        ("0.00001", "<$0.0001", "<0,0001 $"),
    ],
)
def test_money_stands_as_the_reader_writes_it(
    amount: str | None, english: str, german: str
) -> None:
    value = None if amount is None else Decimal(amount)
    assert usd(value) == english
    with translation.override("de"):
        assert usd(value) == german.replace(" ", SPACE)


def test_exact_money_keeps_its_last_digit() -> None:
    assert exact_usd(Decimal("1234.5")) == "$1,234.50"
    with translation.override("de"):
        assert exact_usd(Decimal("1234.567890")) == f"1.234,56789{SPACE}$"


def test_numbers_and_shares_stand_as_the_reader_writes_them() -> None:
    assert (number(12_345), decimal(1234.56, 1), percent(99.82)) == ("12,345", "1,234.6", "99.82%")
    assert percent("+12") == "+12%"
    with translation.override("de"):
        assert (number(12_345), decimal(1234.56, 1)) == ("12.345", "1.234,6")
        assert percent(99.82) == f"99,82{SPACE}%"


@pytest.mark.parametrize(
    ("reported", "german"),
    [("18204", "18.204"), ("99%", "99 %"), ("$0.0042", "0,0042 $"), ("unknown", "unknown")],
)
def test_what_a_report_says_keeps_its_digits(reported: str, german: str) -> None:
    with translation.override("de"):
        assert as_read(reported) == german.replace(" ", SPACE)


def test_a_chart_speaks_the_readers_language() -> None:
    days = (date(2026, 3, 1), date(2026, 3, 2))
    cost = Series("extraction", "x", "--chart-1", (Decimal("1500.5"), Decimal("0.5")))
    chart = DailyChart(
        key="cost", title="x", unit="usd", days=days, series=(cost,), with_average=True
    )
    with translation.override("de"):
        layout = json.loads(chart.figure)["layout"]
        assert chart.average_cell.text == f"750,50{SPACE}$"
        assert [line.day_text for line in chart.lines] == ["Mo, 2. März 2026", "So, 1. März 2026"]
    assert layout["yaxis"]["ticktext"][1] == f"500{SPACE}$"
    assert layout["xaxis"]["ticktext"] == ["2. März"]
    names = layout["meta"]["locales"]["reader"]["format"]
    assert (names["days"][0], names["months"][2]) == ("Sonntag", "März")


def test_no_page_of_a_german_reader_has_english_amounts(cast: Cast, sign_in: SignIn) -> None:
    cast.root.language = "de"
    cast.root.save()
    client = sign_in(cast.root)
    ModelCall.objects.create(
        operation="extraction", model="m", outcome="ok", cost_usd=Decimal("1234.5"),
        input_tokens=12_345, output_tokens=1, duration_ms=1_500, created_at=timezone.now(),
    )  # fmt: skip
    for path in ("/overview", "/overview/calls", "/overview/budget", "/system"):
        page = re.sub(r"<[^>]*>", " ", unescape(text(client.get(path))))
        assert not re.findall(r"\$\d|\d%", page), path
    assert f"1.234,50{SPACE}$" in unescape(text(client.get("/overview/calls")))
