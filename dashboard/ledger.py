"""The lists behind the overview's numbers, ready to draw. No content of memories, and no owner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from dashboard.amounts import exact_usd, number, usd
from dashboard.behind import (
    BudgetAsked,
    CallsAsked,
    ChangesAsked,
    EventsAsked,
    PresentAsked,
    Stretch,
)
from dashboard.cost_words import (
    answer_name,
    cost_of,
    operation_name,
    outcome_name,
    purpose_name,
)
from dashboard.overview_cards import Card, Note, ShareLine
from junior_memory import budgets, clock, event_rows, paid_calls, reports, spending, turnover
from junior_memory.budgets import DAY
from junior_memory.day_windows import WINDOWS
from junior_memory.errors import NotFound
from junior_memory.event_rows import RECALLS, USEFUL
from junior_memory.models import Agent, ArchiveReason, MemoryKind, Origin, Visibility
from junior_memory.paid_calls import GOOD, NOTHING, RECALL, USED, Call
from junior_memory.records import After, Rows
from junior_memory.spending import Paid

PAGE_SIZE = 50

SMALL_PRINT = gettext_noop("Newest first, in UTC; tokens in and out; amounts to the last digit.")
OF_USE = gettext_noop("Of use")
PARTS = {
    turnover.CREATED: gettext_noop("Created"),
    turnover.PRIVATE: gettext_noop("Created, private"),
    turnover.ORG: gettext_noop("Created, of a team"),
    turnover.PUBLIC: gettext_noop("Created, public"),
    turnover.ASKED: gettext_noop("Asked to remember"),
    turnover.IMPORTED: gettext_noop("Imported"),
    turnover.CAPTURED: gettext_noop("Captured in conversations"),
    turnover.KEPT_BACK: gettext_noop("Held for a person’s word"),
    turnover.REPLACED: gettext_noop("Replaced by something newer"),
    turnover.GONE: gettext_noop("Forgotten, removed or declined"),
    turnover.FORGOTTEN: gettext_noop("Forgotten by people"),
    turnover.REMOVED: gettext_noop("Removed or declined"),
    turnover.EXPIRED: gettext_noop("Expired"),
}
PRESENT = {
    turnover.ALL: gettext_noop("All"),
    turnover.PRIVATE: gettext_noop("Private"),
    turnover.ORG: gettext_noop("Team"),
    turnover.PUBLIC: gettext_noop("Public"),
    turnover.EMBEDDED: gettext_noop("Embedded"),
    turnover.HELD: gettext_noop("Held"),
}
EVENTS = {
    event_rows.RECALLS: gettext_noop("All recalls"),
    event_rows.USEFUL: gettext_noop("Useful recalls"),
    event_rows.CAPTURES: gettext_noop("Conversations read"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: when, what, the small print, an amount, and where it leads."""

    at: str
    what: str
    notes: tuple[str, ...]
    amount: str = ""
    tone: str = ""
    url: str = ""
    is_id: bool = False


@dataclass(frozen=True, slots=True)
class Chip:
    """One thing that narrows a list, and the list without it."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One segment of a switch."""

    title: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Breakdown:
    """What a list's sum is made of, one way to split it."""

    title: str
    shares: tuple[ShareLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """One list: what it shows, what it adds up to, and its newest rows."""

    title: str
    period: str
    cards: tuple[Card, ...]
    entries: tuple[Entry, ...]
    older: str
    chips: tuple[Chip, ...] = ()
    choices: tuple[Choice, ...] = ()
    day_choices: tuple[Choice, ...] = ()
    small_print: str = ""
    breakdowns: tuple[Breakdown, ...] = ()
    newest: str = ""
    until_now: str = ""
    days: int = 0


def read_calls(asked: CallsAsked, *, now: datetime, after: After | None = None) -> Ledger:
    """Return some calls of models, with the sum of all that are meant by the overview's own."""
    which = asked.which(now)
    lines = spending.paid(which)
    found = paid_calls.list_calls(which, limit=PAGE_SIZE, after=after)
    return Ledger(
        title=_("What the money went to"),
        period=_period(asked.stretch, now),
        cards=tuple(_call_cards(asked, lines, now)),
        chips=tuple(_chips(asked)),
        breakdowns=tuple(_breakdowns(asked, lines)),
        small_print=_(SMALL_PRINT),
        entries=tuple(_call_entry(call, asked) for call in found.rows),
        older=asked.url(after=found.after) if found.after else "",
        newest=asked.url() if after else "",
        day_choices=_day_choices(asked.stretch, asked.url),
        until_now=_until_now(asked.stretch, asked.url),
        days=asked.stretch.days,
    )


def _call_cards(asked: CallsAsked, lines: Iterable[Paid], now: datetime) -> Iterable[Card]:
    total = spending.added_up(lines)
    notes = [Note(_("exactly {amount}").format(amount=exact_usd(total.cost_usd)))]
    if asked.stretch.day is None and total.calls > total.unknown:
        average = usd(total.cost_usd / asked.stretch.days)
        notes.append(Note(_("{amount} on an average day").format(amount=average)))
    if total.unknown:
        some = ngettext(
            "and {n} call of unknown price, not in it",
            "and {n} calls of unknown price, not in it",
            total.unknown,
        )
        notes.append(Note(some.format(n=number(total.unknown)), asked.url(is_unpriced=True)))
    is_known = not total.calls or total.unknown < total.calls
    spent = usd(total.cost_usd) if is_known else _("price unknown")
    yield Card(_("Spent"), spent, tuple(notes) if is_known else ())
    yield Card(
        _("Calls of models"), number(total.calls), (Note(_("also failed and repeated ones")),)
    )
    if asked == CallsAsked(stretch=asked.stretch, purpose=RECALL):
        which = asked.which(now)
        useful = event_rows.event_rows(USEFUL, which.since, which.until).count()
        said = ngettext("over {n} useful recall", "over {n} useful recalls", useful)
        note = Note(
            said.format(n=number(useful)), EventsAsked(stretch=asked.stretch, kind=USEFUL).url()
        )
        amount = usd(total.cost_usd / useful) if useful else "–"
        yield Card(_("Per useful recall"), amount, (note,))


def _chips(asked: CallsAsked) -> Iterable[Chip]:
    if asked.stretch.day:
        stretch = Stretch(days=asked.stretch.days, until=asked.stretch.until)
        yield Chip(date_format(asked.stretch.day, _("j F Y")), asked.url(stretch=stretch))
    if asked.purpose:
        name = _(OF_USE) if asked.purpose == USED else purpose_name(asked.purpose)
        yield Chip(name, asked.url(purpose="", reason=""))
    if asked.reason:
        yield Chip(outcome_name(asked.reason), asked.url(reason=""))
    if asked.outcome:
        yield Chip(answer_name(asked.outcome), asked.url(outcome=""))
    if asked.operation is not None:
        yield Chip(operation_name(asked.operation), asked.url(operation=None))
    if asked.model is not None:
        yield Chip(asked.model or "–", asked.url(model=None))
    left_out = [*map(operation_name, asked.not_operations), *asked.not_models]
    if left_out:
        text = _("all but {names}").format(names=", ".join(left_out))
        yield Chip(text, asked.url(not_operations=(), not_models=()))
    if asked.event_id:
        yield Chip(_("one event"), asked.url(event_id=None))
    if asked.is_unpriced:
        yield Chip(_("price unknown"), asked.url(is_unpriced=False))


def _breakdowns(asked: CallsAsked, lines: tuple[Paid, ...]) -> Iterable[Breakdown]:
    """Split the sum in every way that leaves more than one part."""

    def split(
        title: str,
        key: Callable[[Paid], str],
        name: Callable[[str], str],
        change: Callable[[str], dict[str, Any]],
    ) -> Breakdown:
        return Breakdown(
            title,
            tuple(
                ShareLine(name(one.name), one.calls, cost_of(one), asked.url(**change(one.name)))
                for one in spending.shares(lines, key)
            ),
        )

    found = (
        split(_("Purpose"), lambda one: one.purpose, purpose_name, lambda key: {"purpose": key}),
        split(
            _("Operation"),
            lambda one: one.operation,
            operation_name,
            lambda key: {"operation": key, "not_operations": ()},
        ),
        split(
            _("Model"),
            lambda one: one.model,
            lambda key: key or "–",
            lambda key: {"model": key, "not_models": ()},
        ),
        split(_("Reason"), lambda one: one.reason, outcome_name, lambda key: {"reason": key})
        if asked.purpose == NOTHING
        else split(
            _("Outcome"), lambda one: one.outcome, answer_name, lambda key: {"outcome": key}
        ),
    )
    return (one for one in found if len(one.shares) > 1)


def _call_entry(call: Call, asked: CallsAsked | None) -> Entry:
    is_good = call.outcome == GOOD and call.purpose != NOTHING
    notes = [
        purpose_name(call.purpose),
        call.model or "–",
        answer_name(call.outcome) if is_good else outcome_name(call.reason),
        _("{tokens_in} in, {tokens_out} out").format(
            tokens_in=number(call.input_tokens), tokens_out=number(call.output_tokens)
        ),
        _("{n} ms").format(n=number(call.duration_ms)),
        *([call.agent] if call.agent else []),
    ]
    url = ""
    if asked is not None and call.event_id and asked.event_id is None:
        url = CallsAsked(stretch=asked.stretch, event_id=call.event_id).url()
    return Entry(
        at=_short(call.at),
        what=operation_name(call.operation),
        notes=tuple(notes),
        amount=exact_usd(call.cost_usd),
        tone="" if is_good else "danger",
        url=url,
    )


def read_budget(asked: BudgetAsked, *, now: datetime, after: After | None = None) -> Ledger:
    """Return some of the calls that a budget counts, with its own sum. Raises NotFound."""
    agent = Agent.objects.filter(name=asked.agent).first() if asked.agent else None
    if asked.agent and agent is None:
        raise NotFound
    until = asked.until or now
    spent, unknown = budgets.spent_of(asked.period, agent, now=until)
    calls = budgets.calls_of(asked.period, agent, now=until)
    found = paid_calls.list_made(calls, limit=PAGE_SIZE, after=after)
    notes = [Note(_("exactly {amount}").format(amount=exact_usd(spent)))]
    if unknown:
        some = ngettext(
            "and {n} call of unknown price, not in it",
            "and {n} calls of unknown price, not in it",
            unknown,
        )
        notes.append(Note(some.format(n=number(unknown))))
    since = budgets.starts_at(asked.period, until)
    title = (
        _("What the day’s budget paid")
        if asked.period == DAY
        else _("What the month’s budget paid")
    )
    return Ledger(
        title=title,
        period=_between(since, until),
        cards=(Card(_("Spent"), usd(spent), tuple(notes)),),
        chips=(Chip(asked.agent, BudgetAsked(period=asked.period, until=asked.until).url()),)
        if asked.agent
        else (),
        small_print=_(SMALL_PRINT),
        entries=tuple(_call_entry(call, None) for call in found.rows),
        older=asked.url(after=found.after) if found.after else "",
        newest=asked.url() if after else "",
    )


def read_events(asked: EventsAsked, *, now: datetime, after: After | None = None) -> Ledger:
    """Return some of the events that a count counts, and how many there are."""
    since, until = asked.stretch.starts_at(now), asked.stretch.ends_at(now)
    count = event_rows.event_rows(asked.kind, since, until).count()
    found = event_rows.list_events(asked.kind, since, until, limit=PAGE_SIZE, after=after)
    kinds = [asked.kind] if asked.kind == event_rows.CAPTURES else [RECALLS, USEFUL]
    return Ledger(
        title=_(EVENTS[asked.kind]),
        period=_period(asked.stretch, now),
        cards=(Card(_("Events"), number(count), ()),),
        choices=tuple(
            Choice(_(EVENTS[kind]), asked.url(kind=kind), kind == asked.kind)
            for kind in kinds
            if len(kinds) > 1
        ),
        entries=tuple(_event_entry(one, asked) for one in found.rows),
        older=asked.url(after=found.after) if found.after else "",
        newest=asked.url() if after else "",
        day_choices=_day_choices(asked.stretch, asked.url),
        until_now=_until_now(asked.stretch, asked.url),
        days=asked.stretch.days,
    )


def _event_entry(event: event_rows.Happening, asked: EventsAsked) -> Entry:
    if asked.kind == event_rows.CAPTURES:
        some = ngettext("{n} memory captured", "{n} memories captured", event.memories)
        notes = [event.agent]
    else:
        some = ngettext("{n} memory put in", "{n} memories put in", event.memories)
        of = ngettext("of {n} candidate", "of {n} candidates", event.candidates)
        notes = [of.format(n=number(event.candidates)), event.agent]
    notes += [outcome_name(event.reason)] if event.reason else []
    if event.degraded:
        notes.append(_("without {leg}").format(leg=", ".join(event.degraded)))
    return Entry(
        at=_short(event.at),
        what=some.format(n=number(event.memories)),
        notes=tuple(notes),
        amount=exact_usd(event.cost_usd),
        url=CallsAsked(stretch=asked.stretch, event_id=event.id).url(),
    )


def read_changes(asked: ChangesAsked, *, now: datetime, after: After | None = None) -> Ledger:
    """Return some of the memories that came or went, and how many did."""
    since, until = asked.stretch.starts_at(now), asked.stretch.ends_at(now)
    count = turnover.count_of(asked.part, since, until)
    found = turnover.list_changes(asked.part, since, until, limit=PAGE_SIZE, after=after)
    return Ledger(
        title=_(PARTS[asked.part]),
        period=_period(asked.stretch, now),
        cards=(Card(_("Memories"), number(count), (Note(_("what they say stays theirs")),)),),
        entries=_memory_entries(found),
        older=asked.url(after=found.after) if found.after else "",
        newest=asked.url() if after else "",
        day_choices=_day_choices(asked.stretch, asked.url),
        until_now=_until_now(asked.stretch, asked.url),
        days=asked.stretch.days,
    )


def read_present(asked: PresentAsked, *, now: datetime, after: After | None = None) -> Ledger:
    """Return some of the memories that there are now, and how many."""
    count = reports.present(now=now).count_of(asked.part)
    found = turnover.list_present(asked.part, now, limit=PAGE_SIZE, after=after)
    return Ledger(
        title=_("What is remembered now"),
        period=_("Now, {moment} UTC").format(moment=_moment(now)),
        cards=(Card(_("Memories"), number(count), (Note(_("what they say stays theirs")),)),),
        choices=tuple(
            Choice(_(title), asked.url(part=part), part == asked.part)
            for part, title in PRESENT.items()
        ),
        entries=_memory_entries(found),
        older=asked.url(after=found.after) if found.after else "",
        newest=asked.url() if after else "",
    )


def _memory_entries(found: Rows[turnover.Change]) -> tuple[Entry, ...]:
    return tuple(
        Entry(
            at=_short(one.at),
            what=_(str(MemoryKind(one.kind).label)),
            notes=(
                _(str(Visibility(one.visibility).label)),
                _(str(Origin(one.origin).label)),
                one.agent,
                *([_(str(ArchiveReason(one.archive_reason).label))] if one.archive_reason else []),
            ),
            amount=str(one.id)[:8],
            is_id=True,
        )
        for one in found.rows
    )


def _moment(at: datetime) -> str:
    """Write a moment in UTC, as the days of the overview are."""
    return date_format(at.astimezone(UTC), _("j M Y, H:i"))


def _short(at: datetime) -> str:
    """Write a row's moment; the year only when it is another one."""
    there = at.astimezone(UTC)
    if there.year != clock.now().year:
        return _moment(at)
    return date_format(there, _("j M, H:i"))


def _between(since: datetime, until: datetime) -> str:
    return _("{since} to {until}, UTC").format(since=_moment(since), until=_moment(until))


def _period(stretch: Stretch, now: datetime) -> str:
    return _between(stretch.starts_at(now), stretch.ends_at(now))


def _day_choices(stretch: Stretch, url: Callable[..., str]) -> tuple[Choice, ...]:
    """Offer the same list over other windows, up to now."""
    return tuple(
        Choice(
            f"{days}",
            url(stretch=Stretch(days=days)),
            days == stretch.days and stretch.day is None,
        )
        for days in WINDOWS
    )


def _until_now(stretch: Stretch, url: Callable[..., str]) -> str:
    """Return the same list up to now, when it ends before."""
    if stretch.until is None:
        return ""
    return url(stretch=Stretch(days=stretch.days, day=stretch.day))
