"""The overview, ready to draw: what it cost, what it was good for, what bought nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from dashboard.charts import DailyChart, Series
from dashboard.words import number
from junior_memory import budgets, paid_calls, reports, spending, turnover
from junior_memory.budgets import DAY, Budget
from junior_memory.conf import conf
from junior_memory.day_windows import WINDOWS
from junior_memory.reports import Present, format_usd
from junior_memory.spending import Costs, Share
from junior_memory.turnover import CountDay, Learned

PURPOSE = "purpose"
SPLITS = (
    (PURPOSE, gettext_noop("Purpose")),
    ("operation", gettext_noop("Operation")),
    ("model", gettext_noop("Model")),
)
DEFAULT_DAYS = 30

PURPOSES = {
    paid_calls.EXTRACTION: gettext_noop("Extraction"),
    paid_calls.RECALL: gettext_noop("Recall"),
    paid_calls.REVIEW: gettext_noop("Review on request"),
    paid_calls.UPKEEP: gettext_noop("Upkeep"),
    paid_calls.NOTHING: gettext_noop("Bought nothing"),
}
ALWAYS_DRAWN = (paid_calls.EXTRACTION, paid_calls.RECALL, paid_calls.NOTHING)
OPERATIONS = {
    "extraction": gettext_noop("Extraction"),
    "review": gettext_noop("Review"),
    "adjudication": gettext_noop("Adjudication"),
    "relevance": gettext_noop("Relevance"),
    "embed": gettext_noop("Embedding"),
    "check": gettext_noop("Connection check"),
    spending.OTHER: gettext_noop("Everything else"),
    paid_calls.NOTHING: gettext_noop("Bought nothing"),
}
OUTCOMES = {
    paid_calls.UNUSED: gettext_noop("Answered for nothing"),
    "timeout": gettext_noop("Too late"),
    "failed": gettext_noop("Connection lost"),
    "rate_limited": gettext_noop("Too many requests"),
    "no_quota": gettext_noop("No credit left"),
    "truncated": gettext_noop("Cut off"),
    "refused": gettext_noop("Declined to answer"),
    "empty": gettext_noop("Empty"),
    "invalid": gettext_noop("Not readable"),
    "too_many": gettext_noop("More than asked for"),
    "too_long": gettext_noop("Prompt too long"),
    "form_refused": gettext_noop("Asked in a form it does not know"),
    "paused": gettext_noop("Left alone after hanging"),
    "unusable": gettext_noop("Not configured"),
    "http_401": gettext_noop("Key not accepted"),
    "http_403": gettext_noop("Not allowed"),
    "http_404": gettext_noop("No such model or address"),
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
            days=int(days) if days in {str(window) for window in WINDOWS} else DEFAULT_DAYS,
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
    present: Present
    learned: Learned
    cost_chart: DailyChart
    memory_chart: DailyChart
    standing: tuple[Budget, ...]
    any_calls: bool
    """True when a model was ever called."""

    @property
    def day_choices(self) -> list[Choice]:
        """The windows of days."""
        return [
            Choice(f"{days}", self.window.url(days=days), days == self.window.days)
            for days in WINDOWS
        ]

    @property
    def split_choices(self) -> list[Choice]:
        """The ways to split a day's cost."""
        return [
            Choice(_(title), self.window.url(split=split), split == self.window.split)
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
            _active_card(self.present),
        ]

    @property
    def cost_note(self) -> str:
        """Why the cost chart is flat, when it is."""
        if not self.cost_chart.is_empty:
            return ""
        if not self.any_calls:
            return _("No model calls: everything so far was learned without a model, at no cost.")
        if not self.costs.calls:
            return _("No model calls in these {days} days.").format(days=self.window.days)
        return _("{n} model calls, none of them at a known price above zero.").format(
            n=number(self.costs.calls)
        )

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
        return [_budget_line(one, self.costs.days[-1].date) for one in self.standing]


def read_overview(window: Window, *, now: datetime) -> Overview:
    """Read the overview of a window. A fixed number of queries, whatever there is to count."""
    costs = spending.costs(window.days, now=now)
    return Overview(
        window=window,
        costs=costs,
        present=reports.present(now=now),
        learned=turnover.learned(window.days, now=now),
        cost_chart=cost_chart(costs, window.split),
        memory_chart=memory_chart(turnover.deployment_by_day(window.days, now=now)),
        standing=budgets.all_standing(now=now),
        any_calls=bool(costs.calls) or spending.any_calls(),
    )


def cost_chart(costs: Costs, split: str) -> DailyChart:
    """Return what each day cost, split by purpose, operation or model."""
    if split == PURPOSE:
        parts = [
            (purpose, values)
            for purpose, values in _by_purpose(costs)
            if purpose in ALWAYS_DRAWN or any(values)
        ]
    else:
        parts = [(part.name, part.by_day) for part in spending.split_by_day(costs, split)]
    return DailyChart(
        key="cost",
        title=_("Cost by day"),
        unit="usd",
        days=tuple(day.date for day in costs.days),
        series=tuple(
            Series(
                key=name,
                name=_part_name(name, split),
                color="--chart-muted" if name == paid_calls.NOTHING else PART_COLORS[at],
                values=values,
                is_hatched=name == paid_calls.NOTHING,
            )
            for at, (name, values) in enumerate(parts)
        ),
        with_average=True,
    )


def _by_purpose(costs: Costs) -> list[tuple[str, tuple[Decimal, ...]]]:
    return [
        (purpose, tuple(getattr(day, f"{purpose}_usd") for day in costs.days))
        for purpose in paid_calls.PURPOSES
    ]


def _part_name(name: str, split: str) -> str:
    if split == PURPOSE:
        return _(PURPOSES[name])
    is_model = split == "model" and name not in {spending.OTHER, paid_calls.NOTHING}
    return name if is_model else operation_name(name)


def memory_chart(rows: Sequence[CountDay]) -> DailyChart:
    """Return what was created on each day by visibility, and what was forgotten below it."""
    return DailyChart(
        key="memories",
        title=_("Memories created and forgotten by day"),
        unit="memories",
        days=tuple(day.date for day in rows),
        series=(
            Series("private", _("Private"), "--chart-1", tuple(day.private for day in rows)),
            Series("org", _("Team"), "--chart-2", tuple(day.org for day in rows)),
            Series("public", _("Public"), "--chart-3", tuple(day.public for day in rows)),
            Series(
                "forgotten",
                _("Forgotten"),
                "--chart-muted",
                tuple(day.forgotten for day in rows),
                is_below=True,
                is_hatched=True,
            ),
        ),
    )


def operation_name(name: str) -> str:
    """Name an operation as people read it."""
    return _(OPERATIONS[name]) if name in OPERATIONS else name.replace("_", " ").capitalize()


def outcome_name(name: str) -> str:
    """Say in words how a call came out that was of no use."""
    if name.startswith("http_") and name not in OUTCOMES:
        return _("Refused with {status}").format(status=name.removeprefix("http_"))
    return _(OUTCOMES[name]) if name in OUTCOMES else name.replace("_", " ").capitalize()


def _cost(share: Share) -> str:
    """Write a share's cost; what has no known price is said, not guessed."""
    if share.unknown == share.calls:
        return _("price unknown")
    rest = _(" + {n} unpriced").format(n=number(share.unknown)) if share.unknown else ""
    return format_usd(share.cost_usd) + rest


def _spent_card(costs: Costs) -> Card:
    if costs.previous_usd:
        change = round(100 * (costs.total_usd - costs.previous_usd) / costs.previous_usd)
        sign = "+" if change > 0 else "−" if change < 0 else "±"
        note = _("{change} % against the {days} days before").format(
            change=f"{sign}{abs(change)}", days=costs.window
        )
    elif costs.calls:
        note = _("nothing in the {days} days before").format(days=costs.window)
    else:
        note = _("no model calls")
    if costs.unknown:
        some = ngettext(
            "{n} call has no known price", "{n} calls have no known price", costs.unknown
        )
        note += f"; {some.format(n=number(costs.unknown))}"
    title = _("Spent, {days} days").format(days=costs.window)
    return Card(title, format_usd(costs.total_usd), note, "#cost")


def _useful_card(costs: Costs) -> Card:
    title = _("Per useful recall")
    if not costs.recalls:
        return Card(title, "–", _("nothing was asked yet"))
    note = _("{useful} of {all} recalls put something in").format(
        useful=number(costs.useful_recalls), all=number(costs.recalls)
    )
    amount = costs.per_useful_recall_usd
    return Card(title, "–" if amount is None else format_usd(amount), note)


def _nothing_card(costs: Costs) -> Card:
    calls = sum(one.calls for one in costs.nothing)
    if not calls:
        note = _("every call came to something") if costs.calls else _("nothing was bought")
        return Card(_("Bought nothing"), format_usd(costs.nothing_usd), note, "#nothing")
    parts = ", ".join(
        f"{one.calls:,} {outcome_name(one.name).lower()}" for one in costs.nothing[:3]
    )
    return Card(_("Bought nothing"), format_usd(costs.nothing_usd), parts, "#nothing", "danger")


def _active_card(present: Present) -> Card:
    active, embedded = present.stats["active"], present.stats["embedded"]
    if conf().embedder == "none":
        note = _("found by words; no embedder")
    elif not active:
        note = _("nothing to embed yet")
    else:
        note = _("{share} % embedded").format(share=f"{100 * embedded / active:.4g}")
    return Card(_("Active memories"), number(active), note, "#memories")


def _budget_line(budget: Budget, today: date) -> BudgetLine:
    spent, limit = format_usd(budget.spent_usd), format_usd(budget.limit_usd)
    when = (
        _("{spent} of {limit} today")
        if budget.period == DAY
        else _("{spent} of {limit} this month")
    )
    whose = f"{budget.agent}: " if budget.agent else ""
    text = whose + when.format(spent=spent, limit=limit)
    if budget.unknown:
        calls = ngettext(
            ", and {n} call of unknown price", ", and {n} calls of unknown price", budget.unknown
        )
        text += calls.format(n=number(budget.unknown))
    if budget.is_reached:
        reached = _("{spent}: it is reached. {then}, recall goes on.")
        return BudgetLine(reached.format(spent=text, then=_then()), "danger")
    reached_on = budget.reached_on(today)
    if reached_on is not None:
        pace = _("; at this pace it is reached on {day}. {then}, recall goes on")
        text += pace.format(day=date_format(reached_on, _("j F")), then=_then())
    tone = "warn" if budget.spent_usd >= NEAR * budget.limit_usd else ""
    return BudgetLine(f"{text}.", tone)


def _then() -> str:
    """Say what learning does without money."""
    if conf().over_budget == "queue":
        return _("Learning then waits")
    return _("Learning then goes by rules")
