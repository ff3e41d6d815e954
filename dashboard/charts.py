"""Daily charts: one object from which the drawing, the table, the sentence and the file are made.

Colours are named by custom property (`var(--chart-1)`); the script that draws replaces each name by
its value in the present theme. Labels are never read as markup: see `_plain`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from html import escape
from math import ceil, floor, log10
from typing import Any, Literal

import plotly.graph_objects as go
from django.utils.dates import MONTHS, MONTHS_AP, WEEKDAYS, WEEKDAYS_ABBR
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from dashboard.amounts import as_read, decimal, number, usd

Amount = Decimal | int
Unit = Literal["usd", "memories"]

TICKS = 4
"""Steps that the vertical axis aims at."""

DENSE = 31
"""Days up to which bars have rounded corners and lines between their parts."""

HEIGHT = 250
FLAT_HEIGHT = 96
"""Pixels of a chart with nothing in it: an axis to show that it is empty, no more."""

PLOTLY_STYLES = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
"""The one style sheet with text that plotly.min.js 7.1 adds to a page: its maps', unused here."""

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet read a cell as a formula."""


@dataclass(frozen=True, slots=True)
class Series:
    """One part of every bar. `color` names a custom property; `is_below` hangs under the axis."""

    key: str
    name: str
    color: str
    values: tuple[Amount, ...]
    is_below: bool = False
    is_hatched: bool = False

    @property
    def total(self) -> Amount:
        """The whole window."""
        return sum(self.values)


@dataclass(frozen=True, slots=True)
class Cell:
    """One number in the words of the page, and where it leads: nowhere when it is 0."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table behind a chart."""

    day: date
    cells: tuple[Cell, ...]
    total: Cell

    @property
    def day_text(self) -> str:
        """The day with its weekday, as the reader writes it."""
        return date_format(self.day, _("D j M Y"))


Behind = Callable[[str, date | None], str]
"""Gives the address of what a series (empty: all of them) is made of, on one day or on all."""


def nowhere(key: str, day: date | None) -> str:  # noqa: ARG001
    """Lead nowhere."""
    return ""


@dataclass(frozen=True, slots=True)
class DailyChart:
    """Stacked bars over days, oldest first, and everything that says the same without a picture."""

    key: str
    title: str
    unit: Unit
    days: tuple[date, ...]
    series: tuple[Series, ...]
    with_average: bool = False
    behind: Behind = nowhere

    @property
    def stacked(self) -> tuple[Series, ...]:
        """The series that add up to a day's bar."""
        return tuple(one for one in self.series if not one.is_below)

    @property
    def totals(self) -> tuple[Amount, ...]:
        """Each day's bar, without what hangs below it."""
        return tuple(sum(one.values[at] for one in self.stacked) for at in range(len(self.days)))

    @property
    def total(self) -> Amount:
        """The whole window."""
        return sum(self.totals)

    @property
    def average(self) -> Decimal:
        """An average day of the window, days without anything included."""
        return Decimal(self.total) / len(self.days)

    @property
    def is_empty(self) -> bool:
        """True when every value is 0."""
        return not any(value for one in self.series for value in one.values)

    def write(self, amount: Amount) -> str:
        """Write an amount in the chart's unit, as every place of the page does."""
        return usd(Decimal(amount)) if self.unit == "usd" else number(int(amount))

    def _cell(self, amount: Amount, key: str = "", day: date | None = None) -> Cell:
        return Cell(self.write(amount), self.behind(key, day) if amount else "")

    @property
    def legend(self) -> list[tuple[Series, Cell]]:
        """Each series with its total."""
        return [(one, self._cell(one.total, one.key)) for one in self.series]

    @property
    def lines(self) -> list[Line]:
        """The table: one row a day, the newest first."""
        return [
            Line(
                day,
                tuple(self._cell(one.values[at], one.key, day) for one in self.series),
                self._cell(self.totals[at], "", day),
            )
            for at, day in reversed(list(enumerate(self.days)))
        ]

    @property
    def foot(self) -> Line:
        """The table's last row: what the columns add up to."""
        cells = tuple(cell for _one, cell in self.legend)
        return Line(self.days[-1], cells, self._cell(self.total))

    @property
    def average_cell(self) -> Cell:
        """The average day as the page writes it; behind it is what all days are made of."""
        said = usd(self.average) if self.unit == "usd" else decimal(self.average, 1)
        return Cell(said, self.behind("", None) if self.average else "")

    @property
    def summary(self) -> str:
        """The chart in a sentence, for those who do not see it."""
        first, last = _long(self.days[0]), _long(self.days[-1])
        start = _("{title}, {first} to {last}, UTC.").format(
            title=self.title, first=first, last=last
        )
        if self.is_empty:
            return f"{start} {_('Nothing on any day.')}"
        parts = ", ".join(f"{one.name} {total.text}" for one, total in self.legend)
        top = max(range(len(self.days)), key=lambda at: self.totals[at])
        most = _("Most on {day}: {amount}.").format(
            day=_long(self.days[top]), amount=self.write(self.totals[top])
        )
        total = _("Total {amount}: {parts}.").format(amount=self.write(self.total), parts=parts)
        return f"{start} {total} {most}"

    @property
    def figure(self) -> str:
        """The drawing as Plotly reads it, in JSON."""
        text: str = _figure(self).to_json()
        return text

    def rows(self, address: Callable[[str], str] = str) -> list[list[str]]:
        """The file: exact amounts, the oldest day first, without a total to be summed twice.

        Each day ends with the addresses of what it is made of; `address` completes a path.
        """
        unit = "_usd" if self.unit == "usd" else ""
        below = [one for one in self.series if one.is_below]
        head = ["date_utc", *(f"{one.key}{unit}" for one in self.series)]
        head += ["list_url", *(f"{one.key}_list_url" for one in below)]
        lines = []
        for at, day in enumerate(self.days):
            behind = [("", self.totals[at]), *((one.key, one.values[at]) for one in below)]
            urls = [self.behind(key, day) if amount else "" for key, amount in behind]
            amounts = [_exact(one.values[at]) for one in self.series]
            lines.append(
                [day.isoformat(), *amounts, *(address(url) if url else "" for url in urls)]
            )
        return [head, *lines]


def to_csv(rows: Sequence[Sequence[str]]) -> str:
    """Write rows as RFC 4180; a cell that a spreadsheet would run as a formula is made text."""
    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerows([[_inert(cell) for cell in row] for row in rows])
    return sink.getvalue()


def _inert(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell


def _exact(amount: Amount) -> str:
    if isinstance(amount, int):
        return str(amount)
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _long(day: date) -> str:
    return date_format(day, _("j F Y"))


def _plain(text: str) -> str:
    """Return text that Plotly, which reads some HTML in labels, shows as it is."""
    return escape(text, quote=False)


def _figure(chart: DailyChart) -> go.Figure:
    figure = go.Figure(
        data=[_bars(chart, one) for one in chart.series],
        layout={
            "template": None,
            "barmode": "relative",
            "bargap": 0.28,
            "height": FLAT_HEIGHT if chart.is_empty else HEIGHT,
            "margin": {"l": 8, "r": 20, "t": 8, "b": 28},
            "showlegend": False,
            "dragmode": False,
            "hovermode": "x unified",
            "hoverlabel": {
                "bgcolor": "var(--chart-paper)",
                "bordercolor": "var(--chart-edge)",
                "font": {"color": "var(--chart-ink)"},
            },
            "font": {"family": "var(--sans)", "size": 12, "color": "var(--chart-text)"},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": _days_axis(chart),
            "yaxis": _amounts_axis(chart),
            "meta": _reading(),
        },
    )
    if chart.with_average and not chart.is_empty:
        figure.add_hline(
            y=float(chart.average),
            line={"color": "var(--chart-ink)", "width": 1.25, "dash": "dash"},
        )
    return figure


def _reading() -> dict[str, Any]:
    """Give Plotly, which knows English alone, the names of days and months as its settings."""
    names = {
        "days": WEEKDAYS,
        "shortDays": WEEKDAYS_ABBR,
        "months": MONTHS,
        "shortMonths": MONTHS_AP,
    }
    # Its weeks begin on Sunday, and Django's on Monday.
    form = {
        key: [str(value[at]) for at in ([6, *range(6)] if len(value) == 7 else range(1, 13))]
        for key, value in names.items()
    }
    return {"locale": "reader", "locales": {"reader": {"format": form}}}


def _bars(chart: DailyChart, one: Series) -> go.Bar:
    sign = -1 if one.is_below else 1
    # Around many thin bars, lines of paper would take their colour away on a narrow screen.
    is_dense = len(chart.days) > DENSE
    marker: dict[str, Any] = {
        "color": f"var({one.color})",
        "cornerradius": 0 if is_dense else 2,
        "line": {"color": "var(--chart-paper)", "width": 0 if is_dense else 1},
    }
    if one.is_hatched:
        marker["pattern"] = {
            "shape": "/",
            "size": 5,
            "solidity": 0.25,
            "fgcolor": "var(--chart-paper)",
        }
    return go.Bar(
        name=_plain(one.name),
        x=[day.isoformat() for day in chart.days],
        y=[sign * float(value) for value in one.values],
        customdata=[chart.write(value) for value in one.values],
        hovertemplate="%{customdata} " + _plain(one.name) + "<extra></extra>",
        marker=marker,
    )


def _days_axis(chart: DailyChart) -> dict[str, Any]:
    """Name today and a few days whole weeks before it, few enough for a narrow screen."""
    step = 7 * ceil(len(chart.days) / 35) if len(chart.days) > 7 else 2
    named = chart.days[::-1][::step][::-1]
    return {
        "type": "date",
        "tickvals": [day.isoformat() for day in named],
        "ticktext": [date_format(day, _("j M")) for day in named],
        "tickangle": 0,
        "ticklabeloverflow": "allow",
        "hoverformat": _("%a %-d %B %Y"),
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "fixedrange": True,
    }


def _amounts_axis(chart: DailyChart) -> dict[str, Any]:
    """Round steps over the whole height, written like every other amount of the page."""
    top = max((float(total) for total in chart.totals), default=0.0)
    depths = [float(v) for one in chart.series if one.is_below for v in one.values]
    bottom = max(depths, default=0.0)
    values, high = [0.0], 1.0
    if top or bottom:
        step = _step((top + bottom) / TICKS, whole=chart.unit != "usd")
        first, last = -floor(bottom / step + 1e-9), max(1, ceil(top / step - 1e-9))
        values, high = [at * step for at in range(first, last + 1)], last * step
    return {
        "range": [-1.05 * bottom, 1.02 * high],
        "tickvals": values,
        "ticktext": [_tick(chart, abs(value), values) for value in values],
        "automargin": True,
        "gridcolor": "var(--chart-grid)",
        "zeroline": True,
        "zerolinelayer": "above traces",
        "zerolinecolor": "var(--chart-zero)",
        "zerolinewidth": 1,
        "ticks": "",
        "fixedrange": True,
    }


def _step(rough: float, *, whole: bool) -> float:
    """Return the next of 1, 2, 2.5 (for counts 3), 5 and 10 times a power of ten."""
    if whole:
        rough = max(rough, 1)
    power = 10.0 ** floor(log10(rough))
    steps = (1, 2, 3, 5, 10) if whole else (1, 2, 2.5, 5, 10)
    return next(step * power for step in steps if step * power >= rough * (1 - 1e-9))


def _tick(chart: DailyChart, value: float, values: list[float]) -> str:
    if chart.unit != "usd":
        return number(round(value))
    step = values[1] - values[0] if len(values) > 1 else 1.0
    digits = 0 if step >= 1 and step.is_integer() else max(2, ceil(-log10(step)) + 1)
    text = f"{value:,.{digits}f}"
    if digits > 2:
        text = text.rstrip("0") if value else "0.00"
    return as_read(f"${text}")
