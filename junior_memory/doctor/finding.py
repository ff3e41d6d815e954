"""What one check found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class State(StrEnum):
    """How something stands; a failure breaks a promise now, a warning may later."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the page: what was looked at, how it stands, what was seen, what to do."""

    name: str
    state: State
    seen: str
    remedy: str = ""


def ok(name: str, seen: str) -> Finding:
    """All is well."""
    return Finding(name, State.OK, seen)


def warn(name: str, seen: str, remedy: str) -> Finding:
    """It works; somebody should look at it."""
    return Finding(name, State.WARN, seen, remedy)


def fail(name: str, seen: str, remedy: str) -> Finding:
    """It does not work, or breaks a promise."""
    return Finding(name, State.FAIL, seen, remedy)


def worst(findings: Iterable[Finding]) -> State:
    """Return the worst state of all."""
    states = {finding.state for finding in findings}
    return next((state for state in (State.FAIL, State.WARN) if state in states), State.OK)


def in_words(span: timedelta) -> str:
    """Say how long something is, roughly: "40 s", "12 min", "3 h", "9 days"."""
    seconds = max(int(span.total_seconds()), 0)
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds // unit} {name}"
    return f"{seconds // 86_400} days"
