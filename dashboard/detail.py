"""One memory with everything that its viewer may know about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from dashboard import words
from dashboard.query import ACTIVE
from dashboard.rows import Row, read_rows
from junior_memory import history, holding
from junior_memory.access import Viewer
from junior_memory.errors import NotFound
from junior_memory.exchange import state_of
from junior_memory.history import History, Uses
from junior_memory.models import ErasureReceipt, Memory, Visibility

IN_PLACE = (ACTIVE, "held")
"""States of a public memory that staff may still take out."""

NO_USES = Uses(total=0, own=())

ACTIONS = {
    "forgot": gettext_noop("forgotten"),
    "restored": gettext_noop("brought back"),
    "corrected": gettext_noop("corrected"),
    "approved": gettext_noop("approved"),
    "declined": gettext_noop("declined"),
    "undecided": gettext_noop("put back to wait"),
    "reported": gettext_noop("reported"),
    "removed_public": gettext_noop("removed"),
    "restored_public": gettext_noop("put back"),
    "admin_read": gettext_noop("read by staff"),
}
MEANS = {
    "page": gettext_noop("on this site"),
    "api": gettext_noop("through the API"),
    "tool": gettext_noop("through the assistant"),
    "command": gettext_noop("by an operator"),
    "worker": gettext_noop("by itself"),
    "admin": gettext_noop("in the admin"),
}


LONG = 600
"""Characters of a text from which its page shows the beginning, and the rest when asked."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that was done to a memory, in words."""

    at: datetime
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a fact in its timeline: how it came, and how often it was used."""

    memory: Memory
    how: str
    uses: str


@dataclass(frozen=True, slots=True)
class Detail:
    """What the page of one memory shows."""

    row: Row
    why: str
    history: History
    wordings: tuple[Wording, ...]
    """Newest first."""
    uses: Uses
    happenings: tuple[Happening, ...]
    about: str
    may_report: bool
    may_moderate: bool

    @property
    def is_long(self) -> bool:
        """True for a text that would push everything about it off the screen."""
        return len(self.row.memory.content) > LONG

    @property
    def location_url(self) -> str:
        """The address of the place it was learned in, if it is one that a browser may open."""
        location = self.row.memory.location
        url = location.url if location and self.row.knows_source else ""
        return url if url.startswith(("https://", "http://")) else ""


def find_memory(viewer: Viewer, memory_id: UUID, *, now: datetime) -> Memory:
    """Return an active visible memory, an own one in any state, or one held for this viewer.

    Raises NotFound.
    """
    try:
        return history.find_own_memory(viewer, memory_id, now=now)
    except NotFound:
        held = Memory.objects.visible_to(viewer).decidable_by(viewer).held().unpurged()
        memory = held.filter(pk=memory_id).for_list().first()
        if memory is None:
            raise
        return memory


def read_row(
    viewer: Viewer, memory_id: UUID, *, now: datetime, since: datetime | None = None
) -> Row:
    """Return one memory as the list draws it, new when learned after `since`. Raises NotFound."""
    memory = find_memory(viewer, memory_id, now=now)
    return read_rows(viewer, [memory], state=state_of(memory, now), now=now, since=since)[0]


def read_detail(viewer: Viewer, memory_id: UUID, *, now: datetime) -> Detail:
    """Return one memory with its chain, its uses and what was done to it. Raises NotFound."""
    row = read_row(viewer, memory_id, now=now)
    past = _history(viewer, row.memory, now)
    uses = history.uses_of(viewer, memory_id, now=now) if row.state == ACTIVE else NO_USES
    return Detail(
        row=row,
        why=words.why_remembered(row.memory, viewer, first=past.chain[0].memory),
        history=past,
        wordings=_wordings(viewer, past),
        uses=uses,
        happenings=tuple(_happenings(viewer, past)),
        about=words.about(row.memory, viewer),
        may_report=row.state == ACTIVE and holding.may_report(viewer, row.memory),
        may_moderate=_may_moderate(viewer, row),
    )


def _wordings(viewer: Viewer, past: History) -> tuple[Wording, ...]:
    memories = [link.memory for link in past.chain]
    used = history.used_counts(memories)
    first = memories[0].pk
    return tuple(
        Wording(
            memory=memory,
            how=words.how_learned(memory, viewer, corrected=memory.pk != first),
            uses=words.times(used.get(memory.pk, 0)),
        )
        for memory in reversed(memories)
    )


def _may_moderate(viewer: Viewer, row: Row) -> bool:
    """True for staff and a public memory that is not out already."""
    is_staff = viewer.user is not None and viewer.user.is_staff
    return is_staff and row.memory.visibility == Visibility.PUBLIC and row.state in IN_PLACE


def _history(viewer: Viewer, memory: Memory, now: datetime) -> History:
    try:
        return history.history_of(viewer, memory.pk, now=now)
    except NotFound:
        # A held row that staff decide on: it has no past yet.
        return History(memory, (history.Link(memory, is_current=True),), (), False, None)


def _happenings(viewer: Viewer, past: History) -> list[Happening]:
    """Put the audit of a memory into words, oldest first."""
    own = viewer.user.pk if viewer.user else None
    found = []
    for entry in past.entries:
        who = _("you") if entry.actor_id == own else _("somebody else")
        if entry.actor_id is None:
            who = _("the system")
        done = _(ACTIONS.get(entry.action, entry.action.replace("_", " ")))
        means = _(MEANS.get(entry.via, entry.via))
        said = _("{done} by {who}, {means}").format(done=done, who=who, means=means)
        found.append(Happening(entry.created_at, said, entry.reason))
    return found


def read_receipt(viewer: Viewer, memory_id: UUID) -> ErasureReceipt | None:
    """Return what was erased of a person's own memory, if it was."""
    if viewer.user is None:
        return None
    return ErasureReceipt.objects.filter(person=viewer.user, memory_id=memory_id).first()
