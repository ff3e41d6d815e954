"""Routed candidates → memories: secrets, topics, who they belong to, what is held for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from junior_memory import events, hostile, people
from junior_memory.conf import conf
from junior_memory.errors import InvalidInput, QuotaExceeded, SecretRejected
from junior_memory.extraction import Routed
from junior_memory.memories import NewMemory, Outcome
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
from junior_memory.reconciling import Holder, Ruling, apply_ruling, has_changed
from junior_memory.stems import touches

HELD_UNLINKED = "unlinked_actor"
HELD_MANY = "many_from_one_identity"
HELD_ORDERS = "orders_assistant"


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
    superseded: int = 0
    conflicts: int = 0

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
            superseded=self.superseded,
            conflicts=self.conflicts,
            cost_by_operation=cost_by_operation,
        )


def store_candidates(
    session: CompletedSession,
    routed: Sequence[Routed],
    *,
    proposed: int,
    now: datetime,
    rulings: Sequence[Ruling] = (),
    as_ruled: bool = True,
) -> Capture | None:
    """Store what passes review; runs inside the caller's transaction under the owner's lock.

    None when rows came in since the rulings, and nothing is stored then; `as_ruled=False` stores
    such facts beside the others instead.
    """
    capture = Capture(dropped=proposed - len(routed))
    given = tuple(rulings) or (Ruling(),) * len(routed)
    news = [_new(session, one, capture, now) for one in routed]
    pairs = [(new, ruling) for new, ruling in zip(news, given, strict=True) if new is not None]
    changed = [has_changed(new, ruling, now=now) for new, ruling in pairs]
    if any(changed) and as_ruled:
        return None
    for (new, ruling), has_moved in zip(pairs, changed, strict=True):
        _store(new, Ruling() if has_moved else ruling, capture, now)
    return capture


def holder_of(session: CompletedSession) -> Holder | None:
    """Return where a session's facts go, as far as its own actor tells them; None for nowhere."""
    visibility = _visibility(session)
    owner = session.actor.user if session.actor else None
    if visibility != Visibility.PUBLIC and owner is None:
        return None
    return Holder(
        visibility=visibility,
        agent=session.agent,
        owner=owner,
        org=session.organization if visibility == Visibility.ORG else None,
        conversation_id=session.conversation_id,
    )


def foresee(session: CompletedSession, one: Routed, *, now: datetime) -> NewMemory | None:
    """Return the memory that a fact would become, None when it is certain to be none.

    Writes nothing: for asking a model about it before the transaction that stores.
    """
    teller = people.find_identity(one.teller) if one.teller else session.actor
    return _told_by(teller, session, one, now)


def _new(
    session: CompletedSession, one: Routed, capture: Capture, now: datetime
) -> NewMemory | None:
    teller = people.identity_for(one.teller) if one.teller else session.actor
    new = _told_by(teller, session, one, now)
    if new is None:
        capture.topics += 1
    return new


def _told_by(
    teller: Identity | None, session: CompletedSession, one: Routed, now: datetime
) -> NewMemory | None:
    """Return the memory, None where it touches a topic that its person never wants learned."""
    owner = _owner(session, teller)
    if _touches_a_topic(one, owner):
        return None
    return _new_memory(session, one, teller=teller, owner=owner, now=now)


def _touches_a_topic(one: Routed, owner: User | None) -> bool:
    """By its words; by meaning too where a model read the conversation."""
    if owner is None:
        return one.candidate.touches_topic
    return one.candidate.touches_topic or any(
        touches(one.candidate.content, topic) for topic in owner.never_learn_topics
    )


def _store(new: NewMemory, ruling: Ruling, capture: Capture, now: datetime) -> None:
    try:
        remembered = apply_ruling(new, ruling, now=now)
    except SecretRejected:
        capture.secrets += 1
        return
    except (QuotaExceeded, InvalidInput):
        capture.refused += 1
        return
    created = remembered.created
    capture.superseded += len(remembered.superseded)
    capture.conflicts += remembered.proposed
    if created.outcome is Outcome.BLOCKED:
        capture.blocked += 1
    elif created.outcome is Outcome.EXISTING or created.memory is None:
        capture.existing += 1
    elif created.memory.held_at is not None:
        capture.held += 1
    else:
        capture.memories.append(created.memory)


def _visibility(session: CompletedSession) -> str:
    return Visibility.SESSION if session.session_only else session.source_visibility


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
    visibility = _visibility(session)
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
        held_reason=_held_reason(visibility, one, teller, now),
    )


def _held_reason(visibility: str, one: Routed, teller: Identity | None, now: datetime) -> str:
    """Return why a person must decide first; empty when nobody must."""
    if _orders_the_assistant(one) and (_is_shared(visibility) or not one.is_own_word):
        return HELD_ORDERS
    return held_in_public(visibility, teller, now=now)


def held_in_public(visibility: str, teller: Identity | None, *, now: datetime) -> str:
    """Return why a public fact waits for staff: nobody's account, or too many of one a day."""
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


def _is_shared(visibility: str) -> bool:
    return visibility in {Visibility.PUBLIC, Visibility.ORG}


def _orders_the_assistant(one: Routed) -> bool:
    """True for text that reads like orders to whoever is given it: said, cited or noticed."""
    texts = [one.candidate.content, *(entry.text for entry in one.cited)]
    return one.candidate.orders_assistant or any(map(hostile.looks_like_orders, texts))
