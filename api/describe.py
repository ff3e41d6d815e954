"""Memories as their viewer may know them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from api.schemas import FoundMemoryOut, LocationOut, MatchOut, MemoryOut, SubjectOut
from junior_memory.access import Viewer
from junior_memory.compiled import forgettable_among
from junior_memory.exchange import state_of
from junior_memory.history import knows_source
from junior_memory.models import Memory, SubjectType
from junior_memory.search import Match


class Describer:
    """Turns rows that a viewer may see into answers, with one query for any number of rows.

    Where an org or public row was learned is told to its author, to staff, and for org rows to
    members (DESIGN 2).
    """

    def __init__(self, viewer: Viewer, memories: Sequence[Memory], *, now: datetime) -> None:
        self.viewer = viewer
        self.now = now
        ids = [memory.pk for memory in memories]
        self.forgettable = forgettable_among(viewer, ids, now)

    def describe(self, memory: Memory) -> MemoryOut:
        """Return one memory."""
        return MemoryOut(**self._fields(memory))

    def describe_found(self, memory: Memory, match: Match) -> FoundMemoryOut:
        """Return one memory of a search."""
        found = MatchOut(
            words=list(match.words), meaning=match.meaning, characters=match.characters
        )
        return FoundMemoryOut(**self._fields(memory), match=found)

    def _fields(self, memory: Memory) -> dict[str, object]:
        user = self.viewer.user
        knows = knows_source(self.viewer, memory)
        state = state_of(memory, self.now)
        is_forgotten = state == "forgotten"
        return {
            "id": memory.pk,
            "content": memory.content,
            "kind": memory.kind,
            "visibility": memory.visibility,
            "agent": memory.agent.name,
            "origin": memory.origin,
            "state": state,
            "subject": SubjectOut(
                type=memory.subject_type,
                mine=memory.subject_type == SubjectType.USER
                and user is not None
                and memory.subject_key == str(user.pk),
            ),
            "source_platform": memory.source_platform,
            "location": _location(memory) if knows else None,
            "conversation_id": memory.conversation_id if knows else None,
            "created_at": memory.created_at,
            "observed_at": memory.observed_at,
            "expires_at": memory.expires_at,
            "forgotten_at": memory.archived_at if is_forgotten else None,
            "purge_at": memory.purge_at,
            "superseded_by": memory.superseded_by_id,
            "version": memory.version,
            "forgettable": memory.pk in self.forgettable,
        }


def _location(memory: Memory) -> LocationOut | None:
    place = memory.location
    return LocationOut(label=str(place), url=place.url or None) if place else None


def describe_one(viewer: Viewer, memory: Memory, *, now: datetime) -> MemoryOut:
    """Return one memory."""
    return Describer(viewer, [memory], now=now).describe(memory)


def describe_all(viewer: Viewer, memories: Sequence[Memory], *, now: datetime) -> list[MemoryOut]:
    """Return several memories."""
    describer = Describer(viewer, memories, now=now)
    return [describer.describe(memory) for memory in memories]


def describe_found(
    viewer: Viewer, memories: Sequence[Memory], matches: Mapping[UUID, Match], *, now: datetime
) -> list[FoundMemoryOut]:
    """Return the memories of a search in their order, each with its reason."""
    describer = Describer(viewer, memories, now=now)
    return [describer.describe_found(memory, matches[memory.pk]) for memory in memories]
