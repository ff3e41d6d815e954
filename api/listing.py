"""The list of memories: newest first by keyset, or ranked when something is searched for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.cursors import Place, binding, read_cursor, write_cursor
from api.describe import describe_all, describe_found
from api.failures import Refused
from api.schemas import (
    KindName,
    Limit,
    MemoryPageOut,
    OriginName,
    Params,
    StateName,
    TotalOut,
    VisibilityName,
    Word,
)
from junior_memory.access import Viewer
from junior_memory.counting import count_parts
from junior_memory.models import Memory
from junior_memory.newest import read_newest
from junior_memory.parts import parts_of
from junior_memory.querysets import MemoryQuerySet
from junior_memory.search import Filters, search_memories

RANKED_UP_TO = 200
"""How far a ranked list is paged (DESIGN 6)."""


class MemoryQuery(Params):
    """What a list is narrowed to."""

    q: Annotated[Word, Field(max_length=200)] = ""
    limit: Limit = 25
    cursor: Word | None = None
    visibility: VisibilityName | None = None
    kind: KindName | None = None
    origin: OriginName | None = None
    agent: Annotated[Word, Field(max_length=255)] | None = None
    state: StateName = "active"

    @property
    def filters(self) -> Filters:
        """The filters in the domain's words; empty means any."""
        return Filters(
            visibility=self.visibility or "",
            kind=self.kind or "",
            origin=self.origin or "",
            agent=self.agent or "",
        )


@dataclass(frozen=True, slots=True)
class _List:
    """One list of one viewer: what its cursors are good for."""

    viewer: Viewer
    query: MemoryQuery
    now: datetime

    @property
    def bound_to(self) -> str:
        wanted = self.query
        user = self.viewer.user
        parts = (wanted.q, wanted.visibility, wanted.kind, wanted.origin, wanted.agent)
        return binding(user.pk if user else "", wanted.state, *parts)

    @property
    def place(self) -> Place:
        if self.query.cursor is None:
            return Place()
        return read_cursor(self.query.cursor, bound_to=self.bound_to)


def list_memories(viewer: Viewer, query: MemoryQuery, *, now: datetime) -> MemoryPageOut:
    """Return one page. Raises Refused for another list's cursor and what cannot be searched."""
    listed = _List(viewer, query, now)
    if query.q.strip():
        return _ranked(listed)
    return _newest(listed)


def rows_in_state(viewer: Viewer, state: str, *, now: datetime) -> MemoryQuerySet:
    """Return the rows a list is made of: active ones that are seen, else own ones."""
    rows = Memory.objects.visible_to(viewer)
    return (rows if state == "active" else rows.own(viewer)).in_state(state, now)


def _newest(listed: _List) -> MemoryPageOut:
    query, viewer = listed.query, listed.viewer
    rows = rows_in_state(viewer, query.state, now=listed.now)
    after = listed.place.key if query.cursor is not None else None
    if query.state == "active":
        found = read_newest(rows, viewer, limit=query.limit + 1, filters=query.filters, after=after)
    else:
        page = query.filters.narrow(rows)
        page = page if after is None else page.after(*after)
        found = list(page.newest_first().for_list()[: query.limit + 1])
    shown, more = found[: query.limit], len(found) > query.limit
    following = Place(created_at=shown[-1].created_at, id=shown[-1].pk) if more else None
    total = count_parts(query.filters.narrow_parts(parts_of(rows, viewer)), viewer)
    return MemoryPageOut(
        memories=list(describe_all(viewer, shown, now=listed.now)),
        next_cursor=write_cursor(following, bound_to=listed.bound_to) if following else None,
        total=TotalOut(relation=total.relation, value=total.value),
        degraded=[],
    )


def _ranked(listed: _List) -> MemoryPageOut:
    query, viewer = listed.query, listed.viewer
    if query.state == "forgotten":
        raise Refused(
            422,
            "invalid",
            "What was forgotten is listed and not searched.",
            fields={"q": "not with state=forgotten"},
        )
    offset = listed.place.offset
    # One more than is shown says whether another page follows.
    wanted = min(query.limit + 1, RANKED_UP_TO - offset)
    result = search_memories(
        viewer,
        query.q,
        limit=wanted,
        offset=offset,
        filters=query.filters,
        state=query.state,
        now=listed.now,
    )
    hits = result.hits[: query.limit]
    end = offset + len(hits)
    follows = len(result.hits) > len(hits) and end < RANKED_UP_TO
    return MemoryPageOut(
        memories=list(
            describe_found(
                viewer,
                [hit.memory for hit in hits],
                {hit.memory.pk: hit.match for hit in hits},
                now=listed.now,
            )
        ),
        next_cursor=write_cursor(Place(offset=end), bound_to=listed.bound_to) if follows else None,
        total=TotalOut(relation=result.relation, value=result.total),
        degraded=list(result.degraded),
    )
