"""The overview, ready to draw: what it cost, what it was good for, what bought nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from dashboard.amounts import number
from dashboard.behind import (
    DEFAULT_DAYS,
    CallsAsked,
    ChangesAsked,
    EventsAsked,
    PresentAsked,
    Stretch,
)
from dashboard.charts import Behind, DailyChart, Series
from dashboard.cost_words import PURPOSES, cost_of, operation_name, outcome_name
from dashboard.overview_cards import (
    BudgetLine,
    Card,
    CountLine,
    ShareLine,
    active_card,
    budget_line,
    nothing_card,
    spent_card,
    useful_card,
)
from junior_memory import budgets, paid_calls, reports, spending, turnover
from junior_memory.budgets import Budget
from junior_memory.day_windows import WINDOWS
from junior_memory.event_rows import CAPTURES
from junior_memory.reports import Present
from junior_memory.spending import Costs, Share
from junior_memory.turnover import CountDay, Learned

PURPOSE = "purpose"
SPLITS = (
    (PURPOSE, gettext_noop("Purpose")),
    ("operation", gettext_noop("Operation")),
    ("model", gettext_noop("Model")),
)
ALWAYS_DRAWN = (paid_calls.EXTRACTION, paid_calls.RECALL, paid_calls.NOTHING)
PART_COLORS = ("--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5")


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
    def stretch(self) -> Stretch:
        """The days and the moment that every number of the page counts until."""
        return Stretch(days=self.window.days, until=self.costs.generated_at)

    @property
    def cards(self) -> list[Card]:
        """The three questions, and what there is."""
        return [
            spent_card(self.costs, self.stretch),
            useful_card(self.costs, self.stretch),
            nothing_card(self.costs, self.stretch),
            active_card(self.present),
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
            self._share(one, operation_name(one.name), operation=one.name)
            for one in self.costs.by_operation
        ]

    @property
    def by_model(self) -> list[ShareLine]:
        """Which models were paid."""
        return [self._share(one, one.name, model=one.name) for one in self.costs.by_model]

    @property
    def nothing(self) -> list[ShareLine]:
        """What was paid for nothing, by reason."""
        return [
            self._share(one, outcome_name(one.name), purpose=paid_calls.NOTHING, reason=one.name)
            for one in self.costs.nothing
        ]

    def _share(self, share: Share, name: str, **which: Any) -> ShareLine:
        url = CallsAsked(stretch=self.stretch, **which).url()
        return ShareLine(name, share.calls, cost_of(share), url)

    @property
    def learned_lines(self) -> list[CountLine]:
        """What came and went, each with the memories behind it."""
        captures, learned = self.costs.captures, self.learned
        by = ngettext(
            "Captured, of {n} conversation read", "Captured, of {n} conversations read", captures
        )
        counts = (
            (by.format(n=number(captures)), turnover.CAPTURED, self.costs.captured),
            (_("Asked to remember"), turnover.ASKED, learned.asked),
            (_("Imported"), turnover.IMPORTED, learned.imported),
            (_("Held for a person’s word"), turnover.KEPT_BACK, learned.kept_back),
            (_("Replaced by something newer"), turnover.REPLACED, learned.replaced),
            (_("Forgotten by people"), turnover.FORGOTTEN, learned.forgotten),
            (_("Removed or declined"), turnover.REMOVED, learned.removed),
            (_("Expired"), turnover.EXPIRED, learned.expired),
        )
        lines = [
            CountLine(
                name,
                number(count),
                ChangesAsked(stretch=self.stretch, part=part).url() if count else "",
            )
            for name, part, count in counts
        ]
        events = EventsAsked(stretch=self.stretch, kind=CAPTURES).url() if captures else ""
        return [replace(lines[0], name_url=events), *lines[1:]]

    @property
    def present_lines(self) -> list[CountLine]:
        """What is remembered now, each number with the memories behind it."""
        stats, held = self.present.stats, self.present.held
        of = _("{embedded} of {active}")
        embedded = of.format(embedded=number(stats["embedded"]), active=number(stats["active"]))
        counts = (
            (_("Private"), turnover.PRIVATE, stats["private"], ""),
            (_("Team"), turnover.ORG, stats["org"], ""),
            (_("Public"), turnover.PUBLIC, stats["public"], ""),
            (_("Embedded"), turnover.EMBEDDED, stats["embedded"], embedded),
            (_("Held for a person’s word"), turnover.HELD, held, ""),
        )
        return [
            *(
                CountLine(
                    name,
                    said or number(count),
                    PresentAsked(part=part).url() if count else "",
                )
                for name, part, count, said in counts
            ),
            CountLine(
                _("Failed sessions"),
                number(self.present.failed),
                f"{reverse('system')}#failures",
            ),
        ]

    @property
    def budgets(self) -> list[BudgetLine]:
        """The configured budgets, in words."""
        return [budget_line(one, now=self.costs.generated_at) for one in self.standing]


def read_overview(window: Window, *, now: datetime) -> Overview:
    """Read the overview of a window. A fixed number of queries, whatever there is to count."""
    costs = spending.costs(window.days, now=now)
    return Overview(
        window=window,
        costs=costs,
        present=reports.present(now=now),
        learned=turnover.learned(window.days, now=now),
        cost_chart=cost_chart(costs, window.split),
        memory_chart=memory_chart(turnover.deployment_by_day(window.days, now=now), now=now),
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
        behind=_calls_behind(costs, split, [name for name, _values in parts]),
    )


def _calls_behind(costs: Costs, split: str, drawn: Sequence[str]) -> Behind:
    """Lead from the numbers of the cost chart to their calls."""
    named = tuple(one for one in drawn if one not in {spending.OTHER, paid_calls.NOTHING})

    def url(key: str, day: date | None) -> str:
        stretch = _stretch_of(day, days=costs.window, now=costs.generated_at)
        if not key or key == paid_calls.NOTHING or split == PURPOSE:
            return CallsAsked(stretch=stretch, purpose=key).url()
        which: dict[str, Any] = {split: key}
        if key == spending.OTHER:
            which = {f"not_{split}s": named}
        return CallsAsked(stretch=stretch, purpose=paid_calls.USED, **which).url()

    return url


def _stretch_of(day: date | None, *, days: int, now: datetime) -> Stretch:
    """Return one day or the whole window; what is not over yet counts until now."""
    is_over = day is not None and day < now.astimezone(UTC).date()
    return Stretch(days=days, day=day, until=None if is_over else now)


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


def memory_chart(rows: Sequence[CountDay], *, now: datetime) -> DailyChart:
    """Return what was created on each day by visibility, and what was forgotten below it."""
    parts = {"": turnover.CREATED, "forgotten": turnover.GONE}

    def behind(key: str, day: date | None) -> str:
        stretch = _stretch_of(day, days=len(rows), now=now)
        return ChangesAsked(stretch=stretch, part=parts.get(key, key)).url()

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
        behind=behind,
    )
