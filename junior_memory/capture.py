"""Routed candidates → memories: secrets, topics, who they belong to, what is held for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from junior_memory import events, people
from junior_memory.conf import conf
from junior_memory.errors import InvalidInput, QuotaExceeded, SecretRejected
from junior_memory.extraction import Routed
from junior_memory.memories import NewMemory, Outcome, create_memory
from junior_memory.models import (
    CompletedSession,
    Identity,
    Memory,
    MemoryKind,
    Origin,
    SubjectType,
    User,
    Visibility,
)
from junior_memory.stems import touches

HELD_UNLINKED = "unlinked_actor"
HELD_MANY = "many_from_one_identity"


@dataclass(slots=True)
class Capture:
    """What became of a session's candidates."""

    memories: list[Memory] = field(default_factory=list)
    existing: int = 0
    blocked: int = 0
    held: int = 0
    secrets: int = 0
    topics: int = 0
    dropped: int = 0
    refused: int = 0

    def payload(self, cost_by_operation: dict[str, str]) -> events.MemoriesCaptured:
        """Return the event's payload: what became active, and counts of the rest."""
        return events.MemoriesCaptured(
            memories=[
                events.CapturedMemory.model_validate(
                    {
                        "id": memory.pk,
                        "kind": memory.kind,
                        "visibility": memory.visibility,
                        "observed_at": memory.observed_at,
                    }
                )
                for memory in self.memories
            ],
            existing=self.existing,
            blocked=self.blocked,
            held=self.held,
            secrets=self.secrets,
            topics=self.topics,
            dropped=self.dropped,
            refused=self.refused,
            cost_by_operation=cost_by_operation,
        )


def store_candidates(
    session: CompletedSession, routed: Sequence[Routed], *, proposed: int, now: datetime
) -> Capture:
    """Store what passes review; runs inside the caller's transaction under the owner's lock."""
    capture = Capture(dropped=proposed - len(routed))
    for one in routed:
        _store(session, one, capture, now)
    return capture


def _store(session: CompletedSession, one: Routed, capture: Capture, now: datetime) -> None:
    teller = people.identity_for(one.teller) if one.teller else session.actor
    owner = _owner(session, teller)
    if owner is not None and any(
        touches(one.candidate.content, topic) for topic in owner.never_learn_topics
    ):
        capture.topics += 1
        return
    new = _new_memory(session, one, teller=teller, owner=owner, now=now)
    try:
        created = create_memory(new, now=now)
    except SecretRejected:
        capture.secrets += 1
        return
    except (QuotaExceeded, InvalidInput):
        capture.refused += 1
        return
    if created.outcome is Outcome.BLOCKED:
        capture.blocked += 1
    elif created.outcome is Outcome.EXISTING or created.memory is None:
        capture.existing += 1
    elif created.memory.held_at is not None:
        capture.held += 1
    else:
        capture.memories.append(created.memory)


def _owner(session: CompletedSession, teller: Identity | None) -> User | None:
    """Return whose the row is: the actor's for private and session rows, else its author's."""
    actor = session.actor.user if session.actor else None
    if session.session_only or session.source_visibility == Visibility.PRIVATE:
        return actor
    return teller.user if teller else None


def _new_memory(
    session: CompletedSession,
    one: Routed,
    *,
    teller: Identity | None,
    owner: User | None,
    now: datetime,
) -> NewMemory:
    candidate = one.candidate
    is_preference = candidate.kind == MemoryKind.PREFERENCE and owner is not None
    visibility = Visibility.SESSION if session.session_only else session.source_visibility
    return NewMemory(
        content=candidate.content,
        kind=candidate.kind,
        visibility=visibility,
        agent=session.agent,
        origin=Origin.AUTOMATIC,
        source_platform=session.source_platform,
        owner=owner,
        org=session.organization if visibility == Visibility.ORG else None,
        conversation_id=session.conversation_id,
        subject_type=SubjectType.USER if is_preference else SubjectType.CONVERSATION,
        subject_key=str(owner.pk) if is_preference and owner else session.conversation_id,
        source_key=session.source_key,
        location=session.location,
        observed_at=min(one.observed_at or session.completed_at, now),
        expires_at=candidate.expires_at,
        session=session,
        learned_from=teller,
        utterances=tuple(entry.text for entry in one.cited),
        held_reason=_held_reason(visibility, teller, now),
    )


def _held_reason(visibility: str, teller: Identity | None, now: datetime) -> str:
    """Return why a person must decide first; only public facts are held without a model."""
    if visibility != Visibility.PUBLIC:
        return ""
    unlinked = teller is None or teller.user_id is None
    if unlinked and conf().public_from_unlinked == "hold":
        return HELD_UNLINKED
    if teller is None:
        return ""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    today = Memory.objects.filter(
        learned_from=teller, visibility=Visibility.PUBLIC, created_at__gte=midnight
    ).count()
    return HELD_MANY if today >= conf().public_facts_per_identity_a_day else ""
