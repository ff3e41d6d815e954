"""Marks in everything that made-up people write: whose it is, and what became of it.

Whatever somebody is shown says so whose it is, and what was acknowledged can be held against what
is there. Keys and ids hold none, so that a mark in a log is content in a log.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

MARK = re.compile(r"mark(\d+)n\d+")


def mark_of(who: int, number: int) -> str:
    """Return a word that nobody else uses."""
    return f"mark{who}n{number}"


def key_of(mark: str) -> str:
    """Return a key of a write; it is no content, and may be logged."""
    return mark.replace("mark", "key")


def marks_in(text: str) -> set[str]:
    """Return every mark that stands in a text."""
    return {found[0] for found in MARK.finditer(text)}


def of(who: int, marks: Iterable[str]) -> set[str]:
    """Return those that are somebody's."""
    return {mark for mark in marks if mark.startswith(f"mark{who}n")}


def not_of(who: int, marks: Iterable[str]) -> set[str]:
    """Return those that are other people's."""
    return {mark for mark in marks if not mark.startswith(f"mark{who}n")}


@dataclass(frozen=True, slots=True)
class Fates:
    """What became of what was acknowledged; all of it has to be nothing."""

    lost: int
    double: int
    back: int


def fates_of_rows(
    rows: Iterable[tuple[str, bool]], *, kept: Set[str], forgotten: Set[str]
) -> Fates:
    """Hold what was stored and forgotten against texts, and whether each is active."""
    there: Counter[str] = Counter()
    active: Counter[str] = Counter()
    for text, is_active in rows:
        for mark in marks_in(text):
            there[mark] += 1
            active[mark] += is_active
    return Fates(
        lost=sum(active[mark] == 0 for mark in kept),
        double=sum(count > 1 for count in there.values()),
        back=sum(active[mark] > 0 for mark in forgotten),
    )


def fates_of_sessions(sessions: Iterable[str], events: Mapping[str, int]) -> Fates:
    """Hold sessions that were taken in against how many events tell of each."""
    told = [events.get(one, 0) for one in sessions]
    return Fates(lost=told.count(0), double=sum(count > 1 for count in told), back=0)


def turn(who: int, *, tenant: str) -> dict[str, Any]:
    """Return what a host says of somebody's private conversation in every call."""
    return {
        "conversationId": f"c-{who}",
        "source": {"platform": "web", "key": f"c-{who}", "visibility": "private"},
        "actor": {"provider": "web", "tenant": tenant, "subject": str(who)},
    }


def told(who: int, text: str, *, tenant: str, session_id: str, at: str) -> dict[str, Any]:
    """Return a completed conversation in which somebody said one thing."""
    said = turn(who, tenant=tenant)
    entry = {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "actor": said["actor"],
        "text": text,
    }
    return {
        **said,
        "sessionId": session_id,
        "actors": [said["actor"]],
        "completedAt": at,
        "transcript": [entry],
    }
