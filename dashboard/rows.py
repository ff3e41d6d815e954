"""Memories as the pages draw them: each with what a list shows besides its own columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from dashboard import words
from dashboard.query import ACTIVE
from junior_memory import history
from junior_memory.access import Viewer
from junior_memory.around import read_around
from junior_memory.models import Memory, Origin
from junior_memory.search import Match, highlight_spans

RESTORABLE = ("user_removed", "tool_removed")


@dataclass(frozen=True, slots=True)
class Row:
    """One memory as the list draws it."""

    memory: Memory
    state: str
    mine: bool
    how: str
    visibility: str
    uses: str
    knows_source: bool
    group: str = ""
    replaces: str = ""
    is_new: bool = False
    match: Match | None = None
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def selectable(self) -> bool:
        """True when it can be forgotten with others."""
        return self.mine and self.state == ACTIVE

    @property
    def by_meaning(self) -> bool:
        """True when a search found it by meaning alone."""
        return self.matched == _("same meaning")

    @property
    def restorable(self) -> bool:
        """True when its person may still bring it back."""
        return self.state == "forgotten" and self.memory.archive_reason in RESTORABLE

    @property
    def said_another_day(self) -> bool:
        """True when it was said on another day than it was stored."""
        return self.memory.observed_at.date() != self.memory.created_at.date()

    @property
    def held_because(self) -> str:
        """Why it waits for a person's word."""
        reason = words.HELD_REASONS.get(self.memory.held_reason)
        return _(reason) if reason else _("It waits for your word.")

    @property
    def matched(self) -> str:
        """How a search found it, in words."""
        match self.match:
            case None:
                return ""
            case Match(words=found) if found:
                return _("same words")
            case Match(characters=True):
                return _("matched by characters")
        return _("same meaning")


def read_rows(
    viewer: Viewer,
    memories: Sequence[Memory],
    *,
    state: str,
    now: datetime,
    group: str | None = None,
    query: str = "",
    matches: dict[UUID, Match] | None = None,
    since: datetime | None = None,
) -> list[Row]:
    """Add to memories what a list shows besides, in a fixed number of queries.

    `group` is the heading that stands above the first row already; None means no headings.
    """
    around = read_around(viewer, [memory.pk for memory in memories], now=now)
    headings: dict[date, str] = {}
    rows: list[Row] = []
    for memory in memories:
        match = (matches or {}).get(memory.pk)
        heading = ""
        if group is not None:
            day = localtime(memory.created_at).date()
            name = headings.get(day) or words.group_of(memory.created_at, now=now)
            headings[day] = name
            heading, group = (name, name) if name != group else ("", group)
        rows.append(
            Row(
                memory=memory,
                state=state,
                mine=memory.pk in around.own,
                how=words.how_learned(memory, viewer, corrected=memory.pk in around.replaced),
                visibility=words.visibility_name(memory),
                uses=words.times(around.uses.get(memory.pk, 0)),
                knows_source=history.knows_source(viewer, memory),
                group=heading,
                replaces=around.replaced.get(memory.pk, "").replace("`", ""),
                is_new=_is_new(memory, viewer, since=since),
                match=match,
                spans=tuple(highlight_spans(memory.content, query)) if query else (),
            )
        )
    return rows


def _is_new(memory: Memory, viewer: Viewer, *, since: datetime | None) -> bool:
    """True for what was learned since, other than what the person asked to remember."""
    asked = memory.origin == Origin.EXPLICIT and viewer.user is not None
    asked = asked and memory.owner_id == (viewer.user.pk if viewer.user else None)
    return since is not None and memory.created_at > since and not asked
