"""One page of the list of memories, ready to draw: rows, filters with counts, states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from dashboard import words
from dashboard.amounts import number
from dashboard.query import ACTIVE, ListQuery, Place
from dashboard.rows import Row, read_rows
from junior_memory.access import Viewer
from junior_memory.compiled import active_rows
from junior_memory.counting import FilterCounts, Total, count_by_filter
from junior_memory.lexical.leg import Plan
from junior_memory.list_counts import ListCounts, count_list
from junior_memory.models import Memory, MemoryKind, Origin, Visibility
from junior_memory.newest import read_newest
from junior_memory.parts import Part, parts_of
from junior_memory.search import MAX_RANKED, search_memories

PAGE_SIZE = 25
MORE_SIZE = 100
"""Rows that are added to a page at once; what is drawn as a page of its own is kept light."""

MANY = 200
"""Rows from which a list is drawn closer together."""

NONE = Total("exact", 0)

STATE_TITLES = (
    ("active", gettext_noop("Remembered")),
    ("superseded", gettext_noop("Replaced")),
    ("expired", gettext_noop("Expired")),
    ("forgotten", gettext_noop("Forgotten")),
)
ORIGIN_TITLES: dict[str, str] = {
    Origin.EXPLICIT: gettext_noop("Asked for"),
    Origin.AUTOMATIC: gettext_noop("Learned"),
    Origin.IMPORT: gettext_noop("Imported"),
}
KIND_TITLES: dict[str, str] = {
    MemoryKind.PREFERENCE: gettext_noop("Preferences"),
    MemoryKind.PROCEDURE: gettext_noop("Procedures"),
    MemoryKind.KNOWLEDGE: gettext_noop("Knowledge"),
}


def _at_least(total: Total) -> str:
    """Write how many were counted, and whether there are more."""
    count = number(total.value)
    return count if total.relation == "exact" else _("More than {n}").format(n=count)


@dataclass(frozen=True, slots=True)
class Chip:
    """One choice of a filter, with how many memories it leaves."""

    title: str
    url: str
    count: str
    current: bool


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One page of one list."""

    viewer: Viewer
    query: ListQuery
    now: datetime
    rows: Sequence[Row]
    next_place: Place | None
    since: datetime | None = None
    degraded: tuple[str, ...] = ()

    parts: Sequence[Part] | None = None
    plan: Plan | None = None

    @cached_property
    def _counted(self) -> ListCounts:
        """What is counted beside the rows, in one look; read only when something of it is drawn."""
        plain = self.is_active and not self.query.q
        with_news = plain and not self.query.is_narrowed
        return count_list(
            self.viewer,
            now=self.now,
            parts=self._active_parts,
            filters=self.query.filters if plain else None,
            since=self.since if with_news else None,
        )

    @property
    def _active_parts(self) -> Sequence[Part]:
        if self.parts is not None:
            return self.parts
        return list(parts_of(active_rows(self.viewer, self.now), self.viewer))

    @property
    def seen(self) -> Total:
        """All active memories that the person sees, whatever the list shows."""
        return self._counted.seen

    @property
    def waiting(self) -> int:
        """How much waits for the person's word."""
        return self._counted.waiting

    @cached_property
    def counts(self) -> FilterCounts:
        """How many memories each choice leaves; read only when the filters are drawn."""
        return self._counted.filters or count_by_filter(
            self.viewer,
            query=self.query.q,
            filters=self.query.filters,
            state=self.query.state,
            now=self.now,
            plan=self.plan,
        )

    @property
    def summary(self) -> str:
        """Say in a sentence how many there are and in which order."""
        total = self.counts.total
        if self.query.q and (total.value or self.rows):
            found = ngettext(
                "{n} memory matches, best first.", "{n} memories match, best first.", total.value
            )
            if not total.value:
                found = _("No memory holds these words; these come close in meaning.")
            elif not self.rows:
                # Redrawn beside rows that stay where they are: in what order, they were told.
                found = ngettext("{n} memory matches.", "{n} memories match.", total.value)
            elif any(row.by_meaning for row in self.rows):
                found = ngettext(
                    "{n} memory matches, best first; then what comes close in meaning.",
                    "{n} memories match, best first; then what comes close in meaning.",
                    total.value,
                )
            return f"{found.format(n=_at_least(total))} {self._apology}".strip()
        if not total.value:
            return _("No memory matches.") if self.query.q else _("No memories here.")
        match self.query.state:
            case "active":
                said = ngettext(
                    "{n} memory, newest first.", "{n} memories, newest first.", total.value
                )
            case "forgotten":
                said = ngettext(
                    "{n} forgotten memory; it can be brought back until it is erased.",
                    "{n} forgotten memories; each can be brought back until it is erased.",
                    total.value,
                )
            case "superseded":
                said = ngettext(
                    "{n} earlier wording, replaced since.",
                    "{n} earlier wordings, replaced since.",
                    total.value,
                )
            case _other:
                said = ngettext(
                    "{n} memory whose date has passed.",
                    "{n} memories whose date has passed.",
                    total.value,
                )
        return said.format(n=_at_least(total))

    @property
    def _apology(self) -> str:
        """Say when a part of the search did not answer."""
        if not self.degraded:
            return ""
        return _("Part of the search did not answer, so some may be missing.")

    @property
    def url(self) -> str:
        """The address of this list, from its top."""
        return self.query.url()

    @property
    def unfiltered_url(self) -> str:
        """The address of this list without filters."""
        return self.query.url(visibility="", kind="", origin="", agent="")

    @property
    def more_url(self) -> str:
        """The address of the next page, or nothing."""
        return self.query.page_url(self.next_place) if self.next_place else ""

    @property
    def page_id(self) -> str:
        """A name for this page of the list, for its element."""
        return f"page-{self.rows[0].memory.pk}" if self.rows else "page-empty"

    @property
    def is_first(self) -> bool:
        """True for the top of the list."""
        return self.query.place is None

    @property
    def has_rare_filter(self) -> bool:
        """True when a filter is chosen that is otherwise folded away."""
        return bool(self.query.origin or self.query.agent)

    @property
    def is_active(self) -> bool:
        """True for what is remembered now."""
        return self.query.state == ACTIVE

    @property
    def is_empty(self) -> bool:
        """True when nothing is here, which the page says once, where the rows would be."""
        return not self.rows and not self.counts.total.value

    @property
    def is_before_the_first(self) -> bool:
        """True when the person sees what everyone sees, and nothing of their own yet."""
        own = any(name != Visibility.PUBLIC for name in self.counts.visibility)
        plain = not self.query.q and not self.query.is_narrowed
        return self.is_active and self.is_first and plain and not own

    @property
    def is_long(self) -> bool:
        """True when there are so many that rows stand closer together."""
        return self.counts.total.value >= MANY

    @cached_property
    def news(self) -> str:
        """Say how much was learned since the last visit; nothing in searches and other states."""
        found = self._counted.new
        if self.since is None or not found.value:
            return ""
        return _("{n} new since your last visit, {day}.").format(
            n=_at_least(found), day=words.day(self.since, now=self.now)
        )

    @cached_property
    def states(self) -> list[Chip]:
        """The states that a memory can be in; those of a person's own rows are counted."""
        counts = self._counted.states
        return [
            Chip(
                _(title),
                ListQuery(state=state).url(),
                "" if state == ACTIVE else number(counts[state]),
                state == self.query.state,
            )
            for state, title in STATE_TITLES
            if state == ACTIVE or counts[state] or state in {"forgotten", self.query.state}
        ]

    @cached_property
    def visibilities(self) -> list[Chip]:
        """Who sees it: all, and each visibility that occurs."""
        counts = self.counts.visibility
        everything = Chip(
            _("All"),
            self.query.url(visibility=""),
            words.briefly(self.counts.everything),
            not self.query.visibility,
        )
        return [
            everything,
            *self._chips(
                "visibility", counts, {key: str(title) for key, title in Visibility.choices}
            ),
        ]

    @cached_property
    def kinds(self) -> list[Chip]:
        """What sort of fact it is."""
        return self._chips("kind", self.counts.kind, KIND_TITLES)

    @cached_property
    def origins(self) -> list[Chip]:
        """How it was learned."""
        return self._chips("origin", self.counts.origin, ORIGIN_TITLES)

    @cached_property
    def agents(self) -> list[Chip]:
        """Which agent keeps it; only worth showing when there are several."""
        counts = self.counts.agent
        if len(counts) < 2 and not self.query.agent:
            return []
        return self._chips("agent", counts, {name: name for name in sorted(counts)})

    def _chips(self, name: str, counts: dict[str, Total], titles: dict[str, str]) -> list[Chip]:
        chosen = getattr(self.query, name)
        return [
            Chip(
                title if name == "agent" else _(title),
                self.query.url(**{name: "" if value == chosen else value}),
                words.briefly(counts.get(value, NONE)),
                value == chosen,
            )
            for value, title in titles.items()
            if value in counts or value == chosen
        ]


def read_listing(
    viewer: Viewer,
    query: ListQuery,
    *,
    now: datetime,
    since: datetime | None = None,
    size: int = PAGE_SIZE,
) -> Listing:
    """Read `size` rows: ranked when words are given, newest first otherwise.

    What was learned after `since` without the person's doing is marked as new.
    """
    if query.q:
        return _ranked(viewer, query, size, now=now)
    return _newest(viewer, query, size, now=now, since=since)


def _newest(
    viewer: Viewer, query: ListQuery, size: int, *, now: datetime, since: datetime | None
) -> Listing:
    after = query.place.after if query.place else None
    group = "" if query.state == ACTIVE else None
    if after is not None and group is not None:
        group = words.group_of(after[0], now=now)
    parts: list[Part] | None = None
    if query.state == ACTIVE:
        rows = active_rows(viewer, now)
        parts = list(parts_of(rows, viewer))
        page = read_newest(
            rows, viewer, limit=size + 1, filters=query.filters, after=after, parts=parts
        )
    else:
        found = query.filters.narrow(Memory.objects.own(viewer).in_state(query.state, now))
        found = found.after(*after) if after else found
        page = list(found.newest_first().for_list()[: size + 1])
    shown = page[:size]
    last = shown[-1] if len(page) > size else None
    return Listing(
        viewer=viewer,
        query=query,
        now=now,
        rows=read_rows(viewer, shown, state=query.state, now=now, group=group, since=since),
        since=since,
        parts=parts,
        next_place=Place(created_at=last.created_at, id=last.pk) if last else None,
    )


def _ranked(viewer: Viewer, query: ListQuery, size: int, *, now: datetime) -> Listing:
    offset = query.place.offset if query.place else 0
    found = search_memories(
        viewer,
        query.q,
        limit=min(size + 1, MAX_RANKED - offset),
        offset=offset,
        filters=query.filters,
        state=query.state,
        now=now,
        with_total=False,
    )
    shown = found.hits[:size]
    matches = {hit.memory.pk: hit.match for hit in shown}
    rows = read_rows(
        viewer,
        [hit.memory for hit in shown],
        state=query.state,
        now=now,
        query=query.q,
        matches=matches,
    )
    after = offset + size
    more = len(found.hits) > size and after < MAX_RANKED
    return Listing(
        viewer=viewer,
        query=query,
        now=now,
        rows=rows,
        next_place=Place(offset=after) if more else None,
        degraded=found.degraded,
        plan=found.plan,
    )


def outline(
    viewer: Viewer, query: ListQuery, *, now: datetime, since: datetime | None = None
) -> Listing:
    """Return a list without its rows: enough to draw the filters and their counts again."""
    return Listing(viewer=viewer, query=query, now=now, rows=(), next_place=None, since=since)
