"""One page of the list of memories, ready to draw: rows, filters with counts, states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

from dashboard import words
from dashboard.query import ACTIVE, ListQuery, Place
from junior_memory import history
from junior_memory.access import Viewer
from junior_memory.counting import COUNTED, FilterCounts, count_by_filter
from junior_memory.models import Memory, MemoryKind, Origin, Visibility
from junior_memory.search import MAX_RANKED, Match, highlight_spans, search_memories

PAGE_SIZE = 25

RESTORABLE = ("user_removed", "tool_removed")

STATE_TITLES = (
    ("active", "Remembered"),
    ("held", "Held for you"),
    ("superseded", "Replaced"),
    ("expired", "Expired"),
    ("forgotten", "Forgotten"),
)
ORIGIN_TITLES: dict[str, str] = {
    Origin.EXPLICIT: "Asked for",
    Origin.AUTOMATIC: "Learned",
    Origin.IMPORT: "Imported",
}
KIND_TITLES: dict[str, str] = {
    MemoryKind.PREFERENCE: "Preferences",
    MemoryKind.PROCEDURE: "Procedures",
    MemoryKind.KNOWLEDGE: "Knowledge",
}


BY_MEANING = "same meaning"


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
    match: Match | None = None
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def selectable(self) -> bool:
        """True when it can be forgotten with others."""
        return self.mine and self.state == ACTIVE

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
        return words.HELD_REASONS.get(self.memory.held_reason, "It waits for your word.")

    @property
    def matched(self) -> str:
        """How a search found it, in words."""
        match self.match:
            case None:
                return ""
            case Match(words=found) if found:
                return "same words"
            case Match(characters=True):
                return "matched by characters"
        return BY_MEANING


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
    degraded: tuple[str, ...] = ()

    @cached_property
    def counts(self) -> FilterCounts:
        """How many memories each choice leaves; read only when the filters are drawn."""
        return count_by_filter(
            self.viewer,
            query=self.query.q,
            filters=self.query.filters,
            state=self.query.state,
            now=self.now,
        )

    @property
    def summary(self) -> str:
        """Say in a sentence how many there are and in which order."""
        total = self.counts.total
        number = f"{total.value:,}" if total.relation == "exact" else f"More than {total.value:,}"
        one = total.value == 1
        noun = "memory" if one else "memories"
        if self.query.q and (total.value or self.rows):
            said = f"{number} {noun} {'matches' if one else 'match'}, best first."
            if not total.value:
                said = "No memory holds these words; these come close in meaning."
            elif any(row.matched == BY_MEANING for row in self.rows):
                said = f"{said[:-1]}; then what comes close in meaning."
            return f"{said} {self._apology}".strip()
        if not total.value:
            return "No memory matches." if self.query.q else "No memories here."
        match self.query.state:
            case "active":
                return f"{number} {noun}, newest first."
            case "held":
                return f"{number} {noun} {'waits' if one else 'wait'} for your word."
            case "forgotten":
                return f"{number} forgotten {noun}; each can be brought back until it is erased."
            case "superseded":
                return f"{number} earlier {'wording' if one else 'wordings'}, replaced since."
        return f"{number} {noun} whose date has passed."

    @property
    def _apology(self) -> str:
        """Say when a part of the search did not answer."""
        return "Part of the search did not answer, so some may be missing." if self.degraded else ""

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
        """True for what is remembered now, which can be searched."""
        return self.query.state == ACTIVE

    @cached_property
    def states(self) -> list[Chip]:
        """The states that a memory can be in; those of a person's own rows are counted."""
        counts = _count_own_states(self.viewer, now=self.now)
        return [
            Chip(
                title,
                ListQuery(state=state).url(),
                "" if state == ACTIVE else f"{counts[state]:,}",
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
            "All",
            self.query.url(visibility=""),
            self._number(sum(counts.values())),
            not self.query.visibility,
        )
        return [everything, *self._chips("visibility", counts, dict(Visibility.choices))]

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

    def _number(self, count: int) -> str:
        """Write a count; where public rows were counted no further, more than that is "+"."""
        if self.counts.total.relation == "exact" or count <= COUNTED:
            return f"{count:,}"
        return f"{count - 1:,}+"

    def _chips(self, name: str, counts: dict[str, int], titles: dict[str, str]) -> list[Chip]:
        chosen = getattr(self.query, name)
        return [
            Chip(
                title,
                self.query.url(**{name: "" if value == chosen else value}),
                self._number(counts.get(value, 0)),
                value == chosen,
            )
            for value, title in titles.items()
            if counts.get(value, 0) or value == chosen
        ]


def read_listing(viewer: Viewer, query: ListQuery, *, now: datetime) -> Listing:
    """Read one page: ranked when words are given, newest first otherwise."""
    return _ranked(viewer, query, now) if query.q else _newest(viewer, query, now)


def _newest(viewer: Viewer, query: ListQuery, now: datetime) -> Listing:
    seen = Memory.objects.visible_to(viewer)
    if query.state == "held":
        seen = seen.decidable_by(viewer)
    elif query.state != ACTIVE:
        seen = seen.own(viewer)
    found = seen.in_state(query.state, now).in_filters(
        visibility=query.visibility, kind=query.kind, origin=query.origin, agent=query.agent
    )
    group = "" if query.state == ACTIVE else None
    if query.place and query.place.created_at:
        found = found.after(query.place.created_at, query.place.id)
        group = words.group_of(query.place.created_at, now=now) if group is not None else None
    page = list(found.newest_first().for_list()[: PAGE_SIZE + 1])
    shown = page[:PAGE_SIZE]
    last = shown[-1] if len(page) > PAGE_SIZE else None
    return Listing(
        viewer=viewer,
        query=query,
        now=now,
        rows=read_rows(viewer, shown, state=query.state, now=now, group=group),
        next_place=Place(created_at=last.created_at, id=last.pk) if last else None,
    )


def _ranked(viewer: Viewer, query: ListQuery, now: datetime) -> Listing:
    offset = query.place.offset if query.place else 0
    limit = min(PAGE_SIZE + 1, MAX_RANKED - offset)
    found = search_memories(
        viewer, query.q, limit=limit, offset=offset, filters=query.filters, now=now
    )
    shown = found.hits[:PAGE_SIZE]
    matches = {hit.memory.pk: hit.match for hit in shown}
    rows = read_rows(
        viewer, [hit.memory for hit in shown], state=ACTIVE, now=now, query=query.q, matches=matches
    )
    after = offset + PAGE_SIZE
    more = len(found.hits) > PAGE_SIZE and after < MAX_RANKED
    return Listing(
        viewer=viewer,
        query=query,
        now=now,
        rows=rows,
        next_place=Place(offset=after) if more else None,
        degraded=found.degraded,
    )


def read_rows(
    viewer: Viewer,
    memories: Sequence[Memory],
    *,
    state: str,
    now: datetime,
    group: str | None = None,
    query: str = "",
    matches: dict[UUID, Match] | None = None,
) -> list[Row]:
    """Add to memories what a list shows besides, in a fixed number of queries.

    `group` is the heading that stands above the first row already; None means no headings.
    """
    uses = history.used_counts(memories)
    replaced = _replaced_texts(viewer, memories)
    mine = _own_ids(viewer, memories)
    rows: list[Row] = []
    for memory in memories:
        match = (matches or {}).get(memory.pk)
        heading = ""
        if group is not None:
            name = words.group_of(memory.created_at, now=now)
            heading, group = (name, name) if name != group else ("", group)
        rows.append(
            Row(
                memory=memory,
                state=state,
                mine=memory.pk in mine,
                how=words.how_learned(memory, viewer, corrected=memory.pk in replaced),
                visibility=words.visibility_name(memory),
                uses=words.times(uses.get(memory.pk, 0)),
                knows_source=history.knows_source(viewer, memory),
                group=heading,
                replaces=replaced.get(memory.pk, ""),
                match=match,
                spans=tuple(highlight_spans(memory.content, query)) if query else (),
            )
        )
    return rows


def _own_ids(viewer: Viewer, memories: Sequence[Memory]) -> set[UUID]:
    """Return which of these are the viewer's to change."""
    own = Memory.objects.visible_to(viewer).forgettable_by(viewer)
    ids = [memory.pk for memory in memories]
    return set(own.filter(pk__in=ids).values_list("pk", flat=True))


def _replaced_texts(viewer: Viewer, memories: Sequence[Memory]) -> dict[UUID, str]:
    """Return what each of these replaced last, in the viewer's own words of then."""
    ids = [memory.pk for memory in memories]
    older = Memory.objects.visible_to(viewer).own(viewer).superseded().unpurged()
    pairs = older.filter(superseded_by__in=ids).order_by("superseded_at", "id")
    return {
        successor: content.replace("`", "")
        for successor, content in pairs.values_list("superseded_by", "content")
        if successor is not None
    }


def _count_own_states(viewer: Viewer, *, now: datetime) -> dict[str, int]:
    """Count a person's own rows in each state but active; of held ones, those they decide on."""
    seen = Memory.objects.visible_to(viewer)
    rows = {
        state: seen.decidable_by(viewer) if state == "held" else seen.own(viewer)
        for state, _ in STATE_TITLES
        if state != ACTIVE
    }
    return {state: found.in_state(state, now).count() for state, found in rows.items()}


def outline(viewer: Viewer, query: ListQuery, *, now: datetime) -> Listing:
    """Return a list without its rows: enough to draw the filters and their counts again."""
    return Listing(viewer=viewer, query=query, now=now, rows=(), next_place=None)
