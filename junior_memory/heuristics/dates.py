"""Relative days become dates, so that a memory still says when, long after the day it was said."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORT_DAYS = {
    "mon": 0,
    "tue": 1,
    "tues": 1,
    "wed": 2,
    "thu": 3,
    "thurs": 3,
    "fri": 4,
    "sat": 5,
    "sun": 6,
}
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
}
_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_DAY_NAMES = "|".join((*_DAYS, *_SHORT_DAYS))


def _day(value: date) -> str:
    return f"{value.day} {_MONTHS[value.month - 1]} {value.year}"


def _month(value: date, shift: int) -> str:
    number = value.year * 12 + value.month - 1 + shift
    return f"{_MONTHS[number % 12]} {number // 12}"


def _weekday(match: re.Match[str], said: date) -> str:
    name = match["day"].lower()
    wanted = _SHORT_DAYS[name] if name in _SHORT_DAYS else _DAYS.index(name)
    if match["which"].lower() in {"last", "past", "this past"}:
        return f"on {_day(said - timedelta(days=(said.weekday() - wanted - 1) % 7 + 1))}"
    return f"on {_day(said + timedelta(days=(wanted - said.weekday() - 1) % 7 + 1))}"


def _ago(match: re.Match[str], said: date) -> str:
    count = match["count"].lower()
    number = _NUMBERS.get(count) or (int(count) if count.isdigit() else 0)
    unit = match["unit"].lower()
    if not number or number > 400:
        return match[0]
    if unit == "day":
        return f"on {_day(said - timedelta(days=number))}"
    if unit == "week":
        return f"around {_day(said - timedelta(weeks=number))}"
    if unit == "month":
        return f"in {_month(said, -number)}"
    return f"in {said.year - number}"


def _weekend(said: date, weeks: int) -> date:
    saturday = said - timedelta(days=(said.weekday() - 5) % 7 or 7)
    return saturday + timedelta(weeks=weeks)


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), rule)
    for pattern, rule in (
        (
            rf"(?<!the )(?<!every )\b(?:on )?(?P<which>last|this past|past|next)"
            rf" (?P<day>{_DAY_NAMES})\b(?! of\b)",
            _weekday,
        ),
        (
            r"\b(?:(?:about|around|like) )?(?P<count>a|an|one|two|three|four|five|six"
            r"|seven|\d{1,3})"
            r" (?P<unit>day|week|month|year)s? ago\b",
            _ago,
        ),
        (r"\bthe day before yesterday\b", lambda _m, d: f"on {_day(d - timedelta(days=2))}"),
        (r"\byesterday\b", lambda _m, d: f"on {_day(d - timedelta(days=1))}"),
        (r"\blast night\b", lambda _m, d: f"on the night of {_day(d - timedelta(days=1))}"),
        (r"\btoday\b", lambda _m, d: f"on {_day(d)}"),
        (r"\btomorrow\b", lambda _m, d: f"on {_day(d + timedelta(days=1))}"),
        (
            r"\b(?:this )?(?:last|past) weekend\b",
            lambda _m, d: f"on the weekend of {_day(_weekend(d, 0))}",
        ),
        (r"\bnext weekend\b", lambda _m, d: f"on the weekend of {_day(_weekend(d, 2))}"),
        (
            r"\b(?:last|this past) week\b(?! of)",
            lambda _m, d: f"in the week of {_day(d - timedelta(days=d.weekday() + 7))}",
        ),
        (
            r"\bnext week\b",
            lambda _m, d: f"in the week of {_day(d + timedelta(days=7 - d.weekday()))}",
        ),
        (r"\b(?:last|this past) month\b", lambda _m, d: f"in {_month(d, -1)}"),
        (r"\bnext month\b", lambda _m, d: f"in {_month(d, 1)}"),
        (r"\bthis month\b", lambda _m, d: f"in {_month(d, 0)}"),
        (r"\blast year\b", lambda _m, d: f"in {d.year - 1}"),
        (r"\bnext year\b", lambda _m, d: f"in {d.year + 1}"),
        (r"\bthis year\b", lambda _m, d: f"in {d.year}"),
        (
            r"\b(?P<count>a couple of|a few|few|several) (?P<unit>days|weeks|months|years) ago\b",
            lambda m, d: (
                f"{'a few' if m['count'].lower() == 'few' else m['count']} {m['unit']} "
                f"before {_day(d)}"
            ),
        ),
    )
)
_DOUBLED = re.compile(
    r"\b(?:on|in|from|since|for|until|by|of|during) (on the|on|in the|in|around) (?=\w)",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"\b(?:on|in) (?=[\w ]{4,24}\d{4}'s\b)")


def with_dates(text: str, *, said_at: datetime | None) -> str:
    """`text` with "yesterday", "last Friday", "two weeks ago" as dates counted from `said_at`;
    unchanged without it.
    """
    if said_at is None:
        return text
    said = said_at.date()
    changed = text
    for pattern, rule in _RULES:
        changed = pattern.sub(lambda match, rule=rule: rule(match, said), changed)  # type: ignore[misc]
    if changed == text:
        return text
    return _POSSESSIVE.sub("", _DOUBLED.sub(_joined, changed))


def _joined(match: re.Match[str]) -> str:
    """One preposition where two meet: "since on 3 May" → "since 3 May"."""
    first = match[0].split(" ", 1)[0]
    if first.lower() in {"on", "in", "during"}:
        return f"{match[1]} "
    return f"{first} the " if match[1].lower().endswith("the") else f"{first} "
