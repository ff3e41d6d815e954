"""Where a memory came from, what became of it, and where it was used. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count

from junior_memory import clock, events
from junior_memory.access import Viewer
from junior_memory.errors import NotFound
from junior_memory.models import (
    AuditEntry,
    CompletedSession,
    ConversationEvent,
    Memory,
    MemoryUse,
    Visibility,
)

MAX_USES = 100
MAX_CHAIN = 100
MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class Link:
    """One wording in a chain of supersession, oldest first."""

    memory: Memory
    is_current: bool


@dataclass(frozen=True, slots=True)
class History:
    """Provenance and chain of one memory, as far as this viewer may know them."""

    memory: Memory
    chain: tuple[Link, ...]
    entries: tuple[AuditEntry, ...]
    knows_source: bool
    session_id: str | None


@dataclass(frozen=True, slots=True)
class Use:
    """One recall that put the memory into a prompt, in a conversation of the viewer's own."""

    used_at: datetime
    conversation_id: str
    agent: str
    rank: int
    leg: str


@dataclass(frozen=True, slots=True)
class Uses:
    """Where a memory was used: the viewer's own conversations, the rest as a count."""

    total: int
    own: tuple[Use, ...]

    @property
    def elsewhere(self) -> int:
        """Uses in conversations that are not the viewer's to see."""
        return self.total - len(self.own)


@dataclass(frozen=True, slots=True)
class Row:
    """One transcript row: a capture, with the texts that the viewer may read now.

    `hidden` counts captured memories that are forgotten by now or are not the viewer's to read.
    """

    event: ConversationEvent
    memories: tuple[Memory, ...]
    hidden: int


def knows_source(viewer: Viewer, memory: Memory) -> bool:
    """True when a viewer who sees a memory may know in which conversation and place it was learned.

    The owner or author and staff may; of org rows its members too (DESIGN 2), and who sees one is a
    member. Asks the database nothing.
    """
    if viewer.user is None:
        return False
    author = memory.owner_id == viewer.user.pk
    return author or viewer.user.is_staff or memory.visibility == Visibility.ORG


def find_memory(viewer: Viewer, memory_id: UUID, *, now: datetime | None = None) -> Memory:
    """Return one active memory that the viewer may see. Raises NotFound."""
    rows = Memory.objects.visible_to(viewer).active(now or clock.now())
    memory = rows.filter(pk=memory_id).for_list().select_related("owner").first()
    if memory is None:
        raise NotFound
    return memory


def find_own_memory(viewer: Viewer, memory_id: UUID, *, now: datetime | None = None) -> Memory:
    """Return an active visible memory, or the viewer's own in any state. Raises NotFound."""
    try:
        return find_memory(viewer, memory_id, now=now)
    except NotFound:
        rows = Memory.objects.own(viewer).unpurged().filter(pk=memory_id)
        memory = rows.for_list().select_related("owner").first()
        if memory is None:
            raise
        return memory


def history_of(viewer: Viewer, memory_id: UUID, *, now: datetime | None = None) -> History:
    """Return how a memory came to be what it is. Raises NotFound."""
    memory = find_own_memory(viewer, memory_id, now=now)
    knows = knows_source(viewer, memory)
    session = (
        CompletedSession.objects.filter(pk=memory.session_id).first()
        if knows and memory.session_id
        else None
    )
    chain = _chain(viewer, memory)
    mine = Memory.objects.own(viewer).filter(pk__in=[link.memory.pk for link in chain])
    audited = list(mine.values_list("pk", flat=True))
    entries = AuditEntry.objects.filter(memory_id__in=audited).select_related("actor", "token")
    return History(
        memory=memory,
        chain=chain,
        entries=tuple(entries.order_by("created_at")[:MAX_CHAIN]),
        knows_source=knows,
        session_id=session.session_id if session else None,
    )


def _chain(viewer: Viewer, memory: Memory) -> tuple[Link, ...]:
    """Return the wordings that led here and what replaced it, as far as they are the viewer's."""
    if memory.visibility == Visibility.PUBLIC:
        return (Link(memory, is_current=True),)
    own = Memory.objects.own(viewer).unpurged().for_list()
    links = [memory]
    while links[-1].superseded_by_id is not None and len(links) < MAX_CHAIN:
        successor = own.filter(pk=links[-1].superseded_by_id).first()
        if successor is None or successor.pk in {link.pk for link in links}:
            break
        links.append(successor)
    seen = {link.pk for link in links}
    frontier = [memory.pk]
    while frontier and len(links) < MAX_CHAIN:
        older = list(own.filter(superseded_by__in=frontier).exclude(pk__in=seen)[:MAX_CHAIN])
        links += older
        seen |= {one.pk for one in older}
        frontier = [one.pk for one in older]
    links.sort(key=lambda link: (link.created_at, str(link.pk)))
    return tuple(Link(link, is_current=link.superseded_at is None) for link in links)


def uses_of(viewer: Viewer, memory_id: UUID, *, now: datetime | None = None) -> Uses:
    """Return where a memory was used, newest first; others' conversations only as a count."""
    memory = find_memory(viewer, memory_id, now=now)
    rows = MemoryUse.objects.filter(memory=memory)
    own = rows.filter(viewer=viewer.user).select_related("event__agent").order_by("-used_at", "id")
    return Uses(
        total=rows.count(),
        own=tuple(
            Use(
                used_at=use.used_at,
                conversation_id=use.conversation_id,
                agent=use.event.agent.name,
                rank=use.rank,
                leg=use.leg,
            )
            for use in own[:MAX_USES]
        ),
    )


def used_counts(memories: Sequence[Memory]) -> dict[UUID, int]:
    """Return how often each of these memories was used, in one query."""
    rows = MemoryUse.objects.filter(memory__in=[memory.pk for memory in memories])
    return dict(
        rows.values_list("memory").annotate(times=Count("id")).values_list("memory", "times")
    )


def conversation_memories(
    viewer: Viewer, conversation_id: str, *, now: datetime | None = None
) -> list[Memory]:
    """Return the active memories captured in one conversation that the viewer may read.

    Where a public memory was learned is not everyone's to know, so only rows whose source the
    viewer may know are counted as of this conversation.
    """
    rows = Memory.objects.visible_to(viewer).active(now or clock.now())
    found = rows.filter(conversation_id=conversation_id).newest_first().for_list()[:MAX_ROWS]
    return [memory for memory in found if knows_source(viewer, memory)]


def conversation_rows(
    viewer: Viewer, conversation_id: str, *, now: datetime | None = None
) -> list[Row]:
    """Return the transcript rows of one conversation that the viewer may read, oldest first.

    Captures alone draw a row: an empty one and every recall draw none. Texts are looked up now.
    """
    if viewer.user is None:
        return []
    found = ConversationEvent.objects.filter(
        conversation_id=conversation_id, name=events.MEMORIES_CAPTURED
    ).order_by("created_at", "id")[:MAX_ROWS]
    payloads = [(event, events.captured_payload(event)) for event in found]
    ids = [one.id for _, payload in payloads for one in payload.memories]
    readable = {
        memory.pk: memory
        for memory in Memory.objects.visible_to(viewer)
        .active(now or clock.now())
        .filter(pk__in=ids)
        .for_list()
        if knows_source(viewer, memory)
    }
    rows = []
    for event, payload in payloads:
        texts = tuple(readable[one.id] for one in payload.memories if one.id in readable)
        is_own = event.owner_id == viewer.user.pk
        if texts or (is_own and payload.memories):
            rows.append(Row(event, texts, len(payload.memories) - len(texts) if is_own else 0))
    return rows
