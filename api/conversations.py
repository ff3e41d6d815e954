"""What was captured in one conversation, as far as the caller may read it."""

from typing import Literal
from uuid import UUID

from ninja import Router

from api.auth import ApiRequest, may_read
from api.describe import describe_all
from api.paths import checked_id, ends_with
from api.schemas import MemoryOut, Moment, Out
from junior_memory import clock, history
from junior_memory.errors import NotFound

router = Router(tags=["conversations"], by_alias=True)


class CapturedHereOut(Out):
    """The active memories captured in one conversation."""

    memories: list[MemoryOut]


class EventOut(Out):
    """One transcript row. `hidden` counts what is forgotten by now or not the caller's to read."""

    id: UUID
    name: Literal["memories_captured"]
    version: int
    created_at: Moment
    memories: list[MemoryOut]
    hidden: int


class EventsOut(Out):
    """The transcript rows of one conversation, oldest first."""

    events: list[EventOut]


@router.get(
    "/conversations/{path:conversation_id}/memories", auth=may_read(), response=CapturedHereOut
)
def get_captured(request: ApiRequest, conversation_id: str) -> CapturedHereOut:
    """List what was captured in one conversation."""
    if not ends_with(request, "memories"):
        raise NotFound
    viewer, now = request.auth.viewer, clock.now()
    found = history.conversation_memories(viewer, checked_id(conversation_id), now=now)
    return CapturedHereOut(memories=describe_all(viewer, found, now=now))


@router.get("/conversations/{path:conversation_id}/events", auth=may_read(), response=EventsOut)
def get_events(request: ApiRequest, conversation_id: str) -> EventsOut:
    """List the transcript rows of one conversation."""
    if not ends_with(request, "events"):
        raise NotFound
    viewer, now = request.auth.viewer, clock.now()
    rows = history.conversation_rows(viewer, checked_id(conversation_id), now=now)
    shown = describe_all(viewer, [memory for row in rows for memory in row.memories], now=now)
    by_id = {memory.id: memory for memory in shown}
    return EventsOut(
        events=[
            EventOut(
                id=row.event.pk,
                name="memories_captured",
                version=row.event.version,
                created_at=row.event.created_at,
                memories=[by_id[memory.pk] for memory in row.memories],
                hidden=row.hidden,
            )
            for row in rows
        ]
    )
