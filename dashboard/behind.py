"""What a number of the overview is made of: which list an address asks for, and its own address.

A link carries the moment until which its number was counted, so that the list adds up to it also
while new calls come in; without one a list goes on until now. Unknown values narrow nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict
from django.urls import reverse

from junior_memory import turnover
from junior_memory.budgets import DAY, MONTH, Period
from junior_memory.day_windows import WINDOWS, end_of, since_of, start_of
from junior_memory.event_rows import KINDS, RECALLS, Kind
from junior_memory.paid_calls import PURPOSES, USED, Narrowing, Which
from junior_memory.records import After

DEFAULT_DAYS = 30
STAMP = "%Y%m%dT%H%M%S.%fZ"
"""A moment in an address: UTC, without a character that would be escaped."""

MAX_LENGTH = 200
MAX_LEFT_OUT = 8
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A window of days that ends at a moment, or one day of it. Days are UTC."""

    days: int = DEFAULT_DAYS
    until: datetime | None = None
    day: date | None = None

    @classmethod
    def read(cls, values: QueryDict, *, now: datetime) -> Stretch:
        """Read the query part of an address; a moment to come counts as now."""
        days = values.get("days", "")
        return cls(
            days=int(days) if days in {str(one) for one in WINDOWS} else DEFAULT_DAYS,
            until=_moment(values.get("until", ""), now),
            day=_day(values.get("day", ""), now),
        )

    def ends_at(self, now: datetime) -> datetime:
        """Return the last moment that counts."""
        last = self.until or now
        return min(last, end_of(self.day)) if self.day else last

    def starts_at(self, now: datetime) -> datetime:
        """Return the first moment that counts."""
        return start_of(self.day) if self.day else since_of(self.until or now, self.days)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What an address says of it."""
        found = [("days", str(self.days))]
        if self.day:
            found.append(("day", self.day.isoformat()))
        if self.until:
            found.append(("until", self.until.astimezone(UTC).strftime(STAMP)))
        return found


def _moment(text: str, now: datetime) -> datetime | None:
    try:
        found = datetime.strptime(text, STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if EARLIEST < found <= now else None


def _day(text: str, now: datetime) -> date | None:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        return None
    return found if EARLIEST.date() < found <= now.astimezone(UTC).date() else None


def _text(values: QueryDict, name: str) -> str | None:
    """Read a name that somebody else chose, such as a model's; None when it is not asked for."""
    found = values.get(name)
    return None if found is None else found.replace("\x00", "")[:MAX_LENGTH]


def address(name: str, pairs: list[tuple[str, str]], after: After | None = None) -> str:
    """Return the address of a list, or of the page of it that begins after a row."""
    if after is not None:
        pairs = [*pairs, ("after", f"{after.at.isoformat()}~{after.id}")]
    return f"{reverse(name)}?{urlencode(pairs)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsAsked(Narrowing):
    """Which calls of models a list shows."""

    stretch: Stretch = Stretch()

    @classmethod
    def read(cls, values: QueryDict, *, now: datetime) -> CallsAsked:
        """Read the query part of an address."""
        purpose = values.get("purpose", "")
        return cls(
            stretch=Stretch.read(values, now=now),
            purpose=purpose if purpose in {*PURPOSES, USED} else "",
            operation=_text(values, "operation"),
            model=_text(values, "model"),
            outcome=_text(values, "outcome") or "",
            reason=_text(values, "reason") or "",
            not_operations=_left_out(values, "not_operation"),
            not_models=_left_out(values, "not_model"),
            event_id=_id(values.get("event", "")),
            is_unpriced=values.get("price") == "unknown",
        )

    def which(self, now: datetime) -> Which:
        """Return the calls that are meant."""
        return self.between(self.stretch.starts_at(now), self.stretch.ends_at(now))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What an address says of this list."""
        found = self.stretch.pairs
        found += [("purpose", self.purpose)] if self.purpose else []
        found += [("operation", self.operation)] if self.operation is not None else []
        found += [("model", self.model)] if self.model is not None else []
        found += [("outcome", self.outcome)] if self.outcome else []
        found += [("reason", self.reason)] if self.reason else []
        found += [("not_operation", one) for one in self.not_operations]
        found += [("not_model", one) for one in self.not_models]
        found += [("event", str(self.event_id))] if self.event_id else []
        found += [("price", "unknown")] if self.is_unpriced else []
        return found

    def url(self, *, after: After | None = None, **changes: Any) -> str:
        """Return the address of this list, changed."""
        return address("overview_calls", replace(self, **changes).pairs, after)


def _left_out(values: QueryDict, name: str) -> tuple[str, ...]:
    found = [one.replace("\x00", "")[:MAX_LENGTH] for one in values.getlist(name)]
    return tuple(found[:MAX_LEFT_OUT])


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAsked:
    """The calls that one budget counts; an empty agent means the deployment's."""

    period: Period = MONTH
    agent: str = ""
    until: datetime | None = None

    @classmethod
    def read(cls, values: QueryDict, *, now: datetime) -> BudgetAsked:
        """Read the query part of an address."""
        return cls(
            period=DAY if values.get("period") == DAY else MONTH,
            agent=_text(values, "agent") or "",
            until=_moment(values.get("until", ""), now),
        )

    def url(self, *, after: After | None = None) -> str:
        """Return the address of this list."""
        pairs: list[tuple[str, str]] = [("period", self.period)]
        pairs += [("agent", self.agent)] if self.agent else []
        pairs += [("until", self.until.astimezone(UTC).strftime(STAMP))] if self.until else []
        return address("overview_budget", pairs, after)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsAsked:
    """Which events a list shows."""

    stretch: Stretch = Stretch()
    kind: Kind = RECALLS

    @classmethod
    def read(cls, values: QueryDict, *, now: datetime) -> EventsAsked:
        """Read the query part of an address."""
        kinds = {str(one): one for one in KINDS}
        return cls(
            stretch=Stretch.read(values, now=now),
            kind=kinds.get(values.get("kind", ""), RECALLS),
        )

    def url(self, *, after: After | None = None, **changes: Any) -> str:
        """Return the address of this list, changed."""
        asked = replace(self, **changes)
        return address("overview_events", [*asked.stretch.pairs, ("kind", asked.kind)], after)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesAsked:
    """Which memories that came or went a list shows."""

    stretch: Stretch = Stretch()
    part: str = turnover.CREATED

    @classmethod
    def read(cls, values: QueryDict, *, now: datetime) -> ChangesAsked:
        """Read the query part of an address."""
        part = values.get("part", "")
        return cls(
            stretch=Stretch.read(values, now=now),
            part=part if part in turnover.PARTS else turnover.CREATED,
        )

    def url(self, *, after: After | None = None, **changes: Any) -> str:
        """Return the address of this list, changed."""
        asked = replace(self, **changes)
        return address("overview_changes", [*asked.stretch.pairs, ("part", asked.part)], after)


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentAsked:
    """Which of the memories that there are now a list shows."""

    part: str = turnover.ALL

    @classmethod
    def read(cls, values: QueryDict) -> PresentAsked:
        """Read the query part of an address."""
        part = values.get("part", "")
        return cls(part=part if part in turnover.PRESENT else turnover.ALL)

    def url(self, *, after: After | None = None, **changes: Any) -> str:
        """Return the address of this list, changed."""
        return address("overview_present", [("part", replace(self, **changes).part)], after)
