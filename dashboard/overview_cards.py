"""The numbers at the top of the overview and its budgets: what they say and where they lead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.amounts import number, percent, usd
from dashboard.behind import BudgetAsked, CallsAsked, EventsAsked, PresentAsked, Stretch
from dashboard.cost_words import outcome_name
from junior_memory import paid_calls, turnover
from junior_memory.budgets import DAY, Budget
from junior_memory.conf import conf
from junior_memory.day_windows import since_of
from junior_memory.event_rows import RECALLS, USEFUL
from junior_memory.reports import Present
from junior_memory.spending import Costs

NEAR = Decimal("0.8")
"""Share of a budget from which its line warns."""

REASONS_NAMED = 3
MOST_CHANGE = 999
"""Percent of change above which a comparison says nothing any more."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing said below a number, and where it leads."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One number with what it means, and where it leads."""

    title: str
    value: str
    notes: tuple[Note, ...]
    url: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class ShareLine:
    """One row of a breakdown."""

    name: str
    calls: int
    cost: str
    url: str


@dataclass(frozen=True, slots=True)
class CountLine:
    """One count in words, and where it leads."""

    name: str
    count: str
    url: str
    name_url: str = ""


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One budget in a sentence, and what was paid from it."""

    text: str
    tone: str
    url: str


def spent_card(costs: Costs, stretch: Stretch) -> Card:
    """Say what it cost, beside what it cost before."""
    since = since_of(costs.generated_at, costs.window)
    before = Stretch(days=costs.window, until=since - timedelta(microseconds=1))
    if costs.previous_usd:
        notes = [Note(_compared(costs), CallsAsked(stretch=before).url())]
    elif costs.calls:
        notes = [Note(_("nothing in the {days} days before").format(days=costs.window))]
    else:
        notes = [Note(_("no model calls"))]
    if costs.unknown:
        some = ngettext(
            "{n} call has no known price", "{n} calls have no known price", costs.unknown
        )
        url = CallsAsked(stretch=stretch, is_unpriced=True).url()
        notes.append(Note(some.format(n=number(costs.unknown)), url))
    return Card(
        _("Spent, {days} days").format(days=costs.window),
        usd(costs.total_usd),
        tuple(notes),
        CallsAsked(stretch=stretch).url() if costs.calls else "",
    )


def _compared(costs: Costs) -> str:
    """Say by how much it differs from before; of next to nothing, what that was."""
    change = round(100 * (costs.total_usd - costs.previous_usd) / costs.previous_usd)
    if change > MOST_CHANGE:
        said = _("{amount} in the {days} days before")
        return said.format(amount=usd(costs.previous_usd), days=costs.window)
    sign = "+" if change > 0 else "−" if change < 0 else "±"
    return _("{change} against the {days} days before").format(
        change=percent(f"{sign}{abs(change)}"), days=costs.window
    )


def useful_card(costs: Costs, stretch: Stretch) -> Card:
    """Say what a recall cost that put something into a prompt."""
    title = _("Per useful recall")
    if not costs.recalls:
        return Card(title, "–", (Note(_("nothing was asked yet")),))
    useful = _("{useful} of {all} recalls put something in").format(
        useful=number(costs.useful_recalls), all=number(costs.recalls)
    )
    kind = USEFUL if costs.useful_recalls else RECALLS
    notes = (Note(useful, EventsAsked(stretch=stretch, kind=kind).url()),)
    amount = costs.per_useful_recall_usd
    if amount is None:
        return Card(title, "–", notes)
    url = CallsAsked(stretch=stretch, purpose=paid_calls.RECALL).url()
    return Card(title, usd(amount), notes, url)


def nothing_card(costs: Costs, stretch: Stretch) -> Card:
    """Say what bought nothing, and why."""
    asked = CallsAsked(stretch=stretch, purpose=paid_calls.NOTHING)
    calls = sum(one.calls for one in costs.nothing)
    if not calls:
        note = (
            _("every call belongs to a run that ended") if costs.calls else _("nothing was bought")
        )
        return Card(_("Bought nothing"), usd(costs.nothing_usd), (Note(note),))
    notes = tuple(
        Note(
            f"{number(one.calls)} {outcome_name(one.name).lower()}",
            asked.url(reason=one.name),
        )
        for one in costs.nothing[:REASONS_NAMED]
    )
    return Card(_("Bought nothing"), usd(costs.nothing_usd), notes, asked.url(), "danger")


def active_card(present: Present) -> Card:
    """Say how much is remembered, and whether it is found by meaning."""
    active, embedded = present.stats["active"], present.stats["embedded"]
    url = ""
    if conf().embedder == "none":
        note = _("found by words; no embedder")
    elif not active:
        note = _("nothing to embed yet")
    else:
        note = _("{share} embedded").format(share=percent(_rounded_down(embedded, active)))
        url = PresentAsked(part=turnover.EMBEDDED).url()
    return Card(
        _("Active memories"),
        number(active),
        (Note(note, url),),
        PresentAsked().url() if active else "",
    )


def _rounded_down(some: int, every: int) -> float:
    """Return a share in whole percent; near all of them in hundredths, never rounded up to all."""
    hundredths = 10_000 * some // every
    return hundredths / 100 if hundredths > 9_900 else hundredths // 100


def budget_line(budget: Budget, *, now: datetime) -> BudgetLine:
    """Say what is spent of a budget, and when it is reached if it goes on like this."""
    today = now.astimezone(UTC).date()
    url = BudgetAsked(period=budget.period, agent=budget.agent, until=now).url()
    spent, limit = usd(budget.spent_usd), usd(budget.limit_usd)
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
        return BudgetLine(reached.format(spent=text, then=_then()), "danger", url)
    text += _forecast(budget, today)
    tone = "warn" if budget.spent_usd >= NEAR * budget.limit_usd else ""
    return BudgetLine(f"{text}.", tone, url)


def _forecast(budget: Budget, today: date) -> str:
    """Say where a month goes at its pace, or that it is too young to say."""
    reached_on, expected = budget.reached_on(today), budget.expected_usd(today)
    if budget.is_early(today):
        return _("; too early in the month to say where it goes")
    if reached_on is not None:
        pace = _("; at this pace it is reached on {day}. {then}, recall goes on")
        return pace.format(day=date_format(reached_on, _("j F")), then=_then())
    if expected is not None:
        return _("; at this pace {amount} by its end").format(amount=usd(expected))
    return ""


def _then() -> str:
    """Say what learning does without money."""
    if conf().over_budget == "queue":
        return _("Learning then waits")
    return _("Learning then goes by rules")
