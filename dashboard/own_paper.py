"""Everything held about a person on one page, to read or to print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_lazy

from dashboard import words
from junior_memory.access import Viewer
from junior_memory.exchange import state_of
from junior_memory.models import Memory, User

MOST = 10_000
"""Memories that one page holds; the download holds all of them."""

STATES = (
    ("active", gettext_lazy("Remembered")),
    ("held", gettext_lazy("Held, waiting for a word")),
    ("superseded", gettext_lazy("Replaced by newer words")),
    ("expired", gettext_lazy("Expired")),
    ("forgotten", gettext_lazy("Forgotten, not erased yet")),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One memory with what belongs to it on paper."""

    memory: Memory
    how: str
    visibility: str


@dataclass(frozen=True, slots=True)
class Chapter:
    """The memories in one state, newest first."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Paper:
    """What is held about one person at one moment."""

    chapters: tuple[Chapter, ...]
    is_cut: bool
    at: datetime

    @property
    def count(self) -> int:
        """How many memories are on it."""
        return sum(len(chapter.lines) for chapter in self.chapters)


def read_paper(user: User, viewer: Viewer, *, now: datetime) -> Paper:
    """Return everything held about a person that has its words still, in two queries."""
    rows = Memory.objects.visible_to(viewer).concerning(user).unpurged()
    found = list(rows.newest_first().for_list()[: MOST + 1])
    return Paper(tuple(_chapters(viewer, found[:MOST], now)), len(found) > MOST, now)


def _chapters(viewer: Viewer, memories: list[Memory], now: datetime) -> Iterator[Chapter]:
    states: dict[str, list[Line]] = {}
    successors = {memory.superseded_by_id for memory in memories}
    for memory in memories:
        how = words.how_learned(memory, viewer, corrected=memory.pk in successors)
        line = Line(memory, how, words.visibility_name(memory))
        states.setdefault(state_of(memory, now), []).append(line)
    for state, title in STATES:
        if state in states:
            yield Chapter(str(title), tuple(states[state]))
