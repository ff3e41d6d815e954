"""The overview, ready to draw: what it cost, what it was good for, what bought nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from dashboard.charts import DailyChart, Series
from junior_memory import reports, spending
from junior_memory.conf import conf
from junior_memory.models import ModelCall
from junior_memory.reports import Costs, OperationalReport, format_usd
from junior_memory.spending import Budget, Learned

PURPOSE = "purpose"
SPLITS = ((PURPOSE, "Purpose"), ("operation", "Operation"), ("model", "Model"))
DEFAULT_DAYS = 30

OPERATIONS = {
    "extract": "Extraction",
    "extraction": "Extraction",
    "review": "Review",
    "adjudicate": "Adjudication",
    "adjudication": "Adjudication",
    "relevance": "Relevance",
    "embed": "Embedding",
    "embedding": "Embedding",
    spending.OTHER: "Everything else",
    spending.NOTHING: "Bought nothing",
}
OUTCOMES = {
    "ok": "Answered for nothing",
    "empty": "Empty",
    "failed": "Failed",
    "error": "Failed",
    "timeout": "Too late",
    "truncated": "Cut off",
    "garbage": "Not readable",
    "invalid": "Not readable",
    "retried": "Tried again",
}
PART_COLORS = ("--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5")
NEAR = Decimal("0.8")
"""Share of a budget from which its line warns."""


@dataclass(frozen=True, slots=True)
class Window:
    """What of the overview is asked for. Unknown values fall to the default."""

    days: int = DEFAULT_DAYS
    split: str = PURPOSE

    @classmethod
    def read(cls, values: QueryDict) -> Window:
        """Read the query part of an address."""
        days, split = values.get("days", ""), values.get("split", "")
        return cls(
            days=int(days) if days in {str(window) for window in reports.WINDOWS} else DEFAULT_DAYS,
            split=split if split in dict(SPLITS) else PURPOSE,
        )

    def url(self, name: str = "overview", **changes: str | int) -> str:
        """Return the address of this window, or of a changed one."""
        return f"{reverse(name)}?{urlencode({'days': self.days, 'split': self.split} | changes)}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One segment of a switch."""

    title: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Card:
    """One number with what it means, and where it leads."""

    title: str
    value: str
    note: str
    url: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class ShareLine:
    """One row of a breakdown."""

    name: str
    calls: int
    cost: str


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One budget in a sentence."""

    text: str
    tone: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the page, from one reading of the reports."""

    window: Window
    costs: Costs
    report: OperationalReport
    learned: Learned
    cost_chart: DailyChart
    memory_chart: DailyChart
    any_calls: bool
    """True when a model was ever called."""

    @property
    def day_choices(self) -> list[Choice]:
        """The windows of days."""
        return [
            Choice(f"{days}", self.window.url(days=days), days == self.window.days)
            for days in reports.WINDOWS
        ]

    @property
    def split_choices(self) -> list[Choice]:
        """The ways to split a day's cost."""
        return [
            Choice(title, self.window.url(split=split), split == self.window.split)
            for split, title in SPLITS
        ]

    @property
    def operations_url(self) -> str:
        """The address of the cost chart split by operation."""
        return self.window.url(split="operation")

    @property
    def models_url(self) -> str:
        """The address of the cost chart split by model."""
        return self.window.url(split="model")

    @property
    def cost_file(self) -> str:
        """The address of the cost chart as a file."""
        return self.window.url("overview_cost", format="csv")

    @property
    def memory_file(self) -> str:
        """The address of the memory chart as a file."""
        return self.window.url("overview_memories", format="csv")

    @property
    def cards(self) -> list[Card]:
        """The three questions, and what there is."""
        return [
            _spent_card(self.costs),
            _useful_card(self.costs),
            _nothing_card(self.costs),
            _active_card(self.report),
        ]

    @property
    def cost_note(self) -> str:
        """Why the cost chart is flat, when it is."""
        if not self.cost_chart.is_empty:
            return ""
        if not self.any_calls:
            return "No model calls: everything so far was learned without a model, at no cost."
        if not self.costs.calls:
            return f"No model calls in these {self.window.days} days."
        return f"{self.costs.calls:,} model calls, none of them at a known price above zero."

    @property
    def by_operation(self) -> list[ShareLine]:
        """Where the money went, all calls included."""
        return [
            ShareLine(operation_name(one.name), one.calls, _cost(one))
            for one in self.costs.by_operation
        ]

    @property
    def by_model(self) -> list[ShareLine]:
        """Which models were paid."""
        return [ShareLine(one.name, one.calls, _cost(one)) for one in self.costs.by_model]

    @property
    def nothing(self) -> list[ShareLine]:
        """What was paid for nothing, by reason."""
        return [
            ShareLine(outcome_name(one.name), one.calls, _cost(one)) for one in self.costs.nothing
        ]

    @property
    def budgets(self) -> list[BudgetLine]:
        """The configured budgets, in words."""
        return [_budget_line(one) for one in spending.budgets(self.report.costs.days)]


def read_overview(window: Window, *, now: datetime) -> Overview:
    """Read the overview of a window. A fixed number of queries, whatever there is to count."""
    report = reports.operational_report(now=now)
    costs = report.costs
    if window.days != costs.window:
        costs = reports.costs(window.days, now=now)
    return Overview(
        window=window,
        costs=costs,
        report=report,
        learned=spending.learned(window.days, now=now),
        cost_chart=cost_chart(costs, window.split),
        memory_chart=memory_chart(report, window.days),
        any_calls=bool(report.costs.calls) or ModelCall.objects.exists(),
    )


def cost_chart(costs: Costs, split: str) -> DailyChart:
    """Return what each day cost, split by purpose, operation or model."""
    if split == PURPOSE:
        parts = [
            ("extraction", tuple(day.extraction_usd for day in costs.days)),
            ("recall", tuple(day.recall_usd for day in costs.days)),
            (spending.NOTHING, tuple(day.nothing_usd for day in costs.days)),
        ]
    else:
        parts = [(part.name, part.by_day) for part in spending.split_by_day(costs, split)]
    return DailyChart(
        key="cost",
        title="Cost by day",
        unit="usd",
        days=tuple(day.date for day in costs.days),
        series=tuple(
            Series(
                key=name,
                name=name if split == "model" and name not in OPERATIONS else operation_name(name),
                color="--chart-muted" if name == spending.NOTHING else PART_COLORS[at],
                values=values,
                is_hatched=name == spending.NOTHING,
            )
            for at, (name, values) in enumerate(parts)
        ),
        with_average=True,
    )


def memory_chart(report: OperationalReport, days: int) -> DailyChart:
    """Return what was created on each day by visibility, and what was forgotten below it."""
    rows = report.created[-days:]
    return DailyChart(
        key="memories",
        title="Memories created and forgotten by day",
        unit="memories",
        days=tuple(day.date for day in rows),
        series=(
            Series("private", "Private", "--chart-1", tuple(day.private for day in rows)),
            Series("org", "Team", "--chart-2", tuple(day.org for day in rows)),
            Series("public", "Public", "--chart-3", tuple(day.public for day in rows)),
            Series(
                "forgotten",
                "Forgotten",
                "--chart-muted",
                tuple(day.forgotten for day in rows),
                is_below=True,
                is_hatched=True,
            ),
        ),
    )


def operation_name(name: str) -> str:
    """Name an operation as people read it."""
    return OPERATIONS.get(name, name.replace("_", " ").capitalize())


def outcome_name(name: str) -> str:
    """Say in words why a call bought nothing."""
    return OUTCOMES.get(name, name.replace("_", " ").capitalize())


def _cost(share: reports.Share) -> str:
    """Write a share's cost; what has no known price is said, not guessed."""
    if share.unknown == share.calls:
        return "price unknown"
    rest = f" + {share.unknown:,} unpriced" if share.unknown else ""
    return format_usd(share.cost_usd) + rest


def _spent_card(costs: Costs) -> Card:
    if costs.previous_usd:
        change = round(100 * (costs.total_usd - costs.previous_usd) / costs.previous_usd)
        sign = "+" if change > 0 else "−" if change < 0 else "±"
        note = f"{sign}{abs(change)} % against the {costs.window} days before"
    elif costs.calls:
        note = f"nothing in the {costs.window} days before"
    else:
        note = "no model calls"
    if costs.unknown:
        some = "1 call has" if costs.unknown == 1 else f"{costs.unknown:,} calls have"
        note += f"; {some} no known price"
    return Card(f"Spent, {costs.window} days", format_usd(costs.total_usd), note, "#cost")


def _useful_card(costs: Costs) -> Card:
    title = "Per useful recall"
    if not costs.recalls:
        return Card(title, "–", "nothing was asked yet")
    note = f"{costs.useful_recalls:,} of {costs.recalls:,} recalls put something in"
    amount = costs.per_useful_recall_usd
    return Card(title, "–" if amount is None else format_usd(amount), note)


def _nothing_card(costs: Costs) -> Card:
    calls = sum(one.calls for one in costs.nothing)
    if not calls:
        note = "every call came to something" if costs.calls else "nothing was bought"
        return Card("Bought nothing", format_usd(costs.nothing_usd), note, "#nothing")
    parts = ", ".join(
        f"{one.calls:,} {outcome_name(one.name).lower()}" for one in costs.nothing[:3]
    )
    return Card("Bought nothing", format_usd(costs.nothing_usd), parts, "#nothing", "danger")


def _active_card(report: OperationalReport) -> Card:
    active, embedded = report.stats["active"], report.stats["embedded"]
    if conf().embedder == "none":
        note = "found by words; no embedder"
    elif not active:
        note = "nothing to embed yet"
    else:
        note = f"{100 * embedded / active:.4g} % embedded"
    return Card("Active memories", f"{active:,}", note, "#memories")


def _budget_line(budget: Budget) -> BudgetLine:
    spent, limit = format_usd(budget.spent_usd), format_usd(budget.limit_usd)
    when = "today" if budget.name == "day" else "this month"
    text = f"{spent} of {limit} {when}"
    if budget.is_reached:
        return BudgetLine(f"{text}: it is reached. Learning waits, recall goes on.", "danger")
    if budget.reached_on is not None:
        day = f"{budget.reached_on:%-d %B}"
        text += f"; at this pace it is reached on {day}. Learning then waits, recall goes on"
    tone = "warn" if budget.spent_usd >= NEAR * budget.limit_usd else ""
    return BudgetLine(f"{text}.", tone)
