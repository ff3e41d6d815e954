"""A person with thousands of memories in every state, and months of use for staff to look at.

Written past the rules that memories are made by, for benchmarks only: terms and vectors are the
product's own; the rest is varied, so that every filter, tab and chart has something to count.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from junior_memory import embeddings, lexical, people
from junior_memory.events import MEMORIES_CAPTURED, MEMORIES_RECALLED
from junior_memory.models import (
    Agent,
    AuditEntry,
    CompletedSession,
    ConversationEvent,
    ErasureReceipt,
    Membership,
    Memory,
    MemoryKind,
    MemoryUse,
    ModelCall,
    Organization,
    Origin,
    Tombstone,
    User,
)
from tests.benchmarks.corpus import Corpus

EMAIL, STAFF_EMAIL = "thousands@bench.example", "staff@bench.example"
STATES = {"active": 1.0, "superseded": 0.06, "forgotten": 0.06, "expired": 0.02, "held": 0.01}
"""How many rows of each state, by active ones."""

TEAM_ROWS = 0.6
"""Rows of a team that others wrote, by active ones."""

EVENTS = 3_000
BATCH = 500
DAYS = 90


@dataclass(frozen=True, slots=True)
class Account:
    """The person, staff, and the addresses that only they have."""

    person: User
    staff: User
    memory: Memory
    conversation: str


def open_account(corpus: Corpus, *, rows: int, now: datetime) -> Account:
    """Return the account of a corpus, made unless it is there."""
    person, is_new = User.objects.get_or_create(
        email=EMAIL, defaults={"email_verified_at": now, "display_name": "Thousands"}
    )
    staff, _ = User.objects.get_or_create(
        email=STAFF_EMAIL, defaults={"email_verified_at": now, "is_staff": True}
    )
    if is_new:
        _fill(corpus, person, rows=rows, now=now)
    person.last_visit_at = now - timedelta(days=DAYS)
    person.save(update_fields=["last_visit_at"])
    used = MemoryUse.objects.filter(viewer=person).order_by("id").first()
    assert used is not None
    memory = Memory.objects.get(pk=used.memory_id)
    return Account(person, staff, memory, used.conversation_id)


def close_account() -> None:
    """Remove what was made, so that the store is as it was loaded."""
    people_of = User.objects.filter(email__in=[EMAIL, STAFF_EMAIL])
    ConversationEvent.objects.filter(owner__in=people_of).delete()
    ModelCall.objects.filter(provider="bench").delete()
    CompletedSession.objects.filter(owner__in=people_of).delete()
    team = Organization.objects.filter(slug="bench")
    Memory.objects.filter(owner__in=people_of).update(superseded_by=None)
    Memory.objects.filter(owner__in=people_of).delete()
    Memory.objects.filter(org__in=team).delete()
    people_of.delete()
    team.delete()


def _fill(corpus: Corpus, person: User, *, rows: int, now: datetime) -> None:
    agents = [people.agent_named(name)[0] for name in ("default", "coding")]
    team, _ = Organization.objects.get_or_create(slug="bench", defaults={"name": "Bench team"})
    other = User.objects.exclude(pk=person.pk).order_by("pk")[0]
    for member in (person, other):
        Membership.objects.get_or_create(user=member, organization=team)
    maker = _Maker(corpus, agents, now)
    active: list[Memory] = []
    for state, share in STATES.items():
        made = [maker.make(state, owner=person) for _ in range(int(rows * share))]
        if state == "superseded":
            for old, new in zip(made, active, strict=False):
                old.superseded_by = new
        _store(made, now=now, with_vectors=state == "active")
        active = active or made
        if state == "forgotten":
            _mark(made, person, now)
    _store(
        [maker.make("active", owner=other, org=team) for _ in range(int(rows * TEAM_ROWS))],
        now=now,
        with_vectors=True,
    )
    _use(active, person, agents, now)


class _Maker:
    """Makes rows of the corpus's words, after its own last one."""

    def __init__(self, corpus: Corpus, agents: Sequence[Agent], now: datetime) -> None:
        self.corpus, self.agents, self.now = corpus, agents, now
        self.chance = random.Random("a large account")  # noqa: S311
        self.number = corpus.rows

    def make(self, state: str, *, owner: User, org: Organization | None = None) -> Memory:
        """Return one row that is not stored yet."""
        draft, chance = self.corpus.draft(self.number), self.chance
        self.number += 1
        is_session = org is None and chance.random() < 0.04
        visibility = "org" if org else "session" if is_session else "private"
        made = Memory(
            id=draft.id,
            content=draft.content,
            kind=chance.choice(MemoryKind.values),
            visibility=visibility,
            owner=owner,
            org=org,
            agent=chance.choices(self.agents, [4, 1])[0],
            conversation_id=f"talk-{chance.randrange(200)}",
            subject_type="user",
            subject_key=str(owner.pk),
            origin=chance.choice(Origin.values),
            source_platform="api",
            fingerprint=f"account {draft.id}",
            search_vector=lexical.vector_of(draft.content),
            language="en",
            observed_at=draft.created_at,
            created_at=draft.created_at,
        )
        for name, value in self._of_state(state).items():
            setattr(made, name, value)
        return made

    def _of_state(self, state: str) -> dict[str, Any]:
        ago = self.now - timedelta(days=self.chance.randrange(1, 25))
        match state:
            case "superseded":
                return {"superseded_at": ago}
            case "forgotten":
                until = ago + timedelta(days=30)
                return {"archived_at": ago, "archive_reason": "user_removed", "purge_at": until}
            case "expired":
                return {"expires_at": ago, "archived_at": ago, "archive_reason": "expired"}
            case "held":
                return {"held_at": ago, "held_reason": "instruction"}
        return {}


def _store(rows: Sequence[Memory], *, now: datetime, with_vectors: bool) -> None:
    for batch in _batches(rows):
        Memory.objects.bulk_create(batch)
        if with_vectors:
            embeddings.cover(batch, now=now)


def _batches(rows: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
    for at in range(0, len(rows), BATCH):
        yield rows[at : at + BATCH]


def _mark(forgotten: Sequence[Memory], person: User, now: datetime) -> None:
    """Leave what forgetting and erasing leave: marks, entries, receipts."""
    Tombstone.objects.bulk_create(
        Tombstone(
            fingerprint=f"mark {memory.pk}",
            of="content",
            memory=memory,
            person=person,
            created_at=memory.archived_at or now,
        )
        for memory in forgotten
    )
    AuditEntry.objects.bulk_create(
        AuditEntry(
            action="forgotten",
            actor=person,
            via="page",
            person=person,
            memory_id=memory.pk,
            created_at=memory.archived_at or now,
        )
        for memory in forgotten
    )
    ErasureReceipt.objects.bulk_create(
        ErasureReceipt(
            memory_id=uuid.uuid4(),
            person=person,
            places=[{"name": "memory", "rows": 1}],
            erased_at=now - timedelta(days=number),
        )
        for number in range(DAYS)
    )


def _use(active: Sequence[Memory], person: User, agents: Sequence[Agent], now: datetime) -> None:
    """Leave what months of conversations leave: sessions, captures, recalls, their calls."""
    chance = random.Random("months of use")  # noqa: S311
    sessions, events, calls, uses = [], [], [], []
    for number in range(EVENTS):
        at = now - timedelta(minutes=chance.randrange(DAYS * 24 * 60))
        agent, conversation = agents[number % 2], f"talk-{number % 200}"
        event = ConversationEvent(conversation_id=conversation, agent=agent, owner=person)
        event.created_at, cost = at, Decimal(chance.randrange(100, 4_000)) / 1_000_000
        event.cost_usd = cost
        picked = chance.sample(active, 3)
        if number % 2:
            event.name, event.version = MEMORIES_CAPTURED, 2
            event.payload = {"memories": [_captured(memory) for memory in picked]}
            event.session = CompletedSession(
                agent=agent,
                session_id=f"bench-{number}",
                conversation_id=conversation,
                owner=person,
                source_platform="api",
                source_visibility="private",
                body_hash="",
                lock_key="",
                completed_at=at,
                created_at=at,
                finished_at=at,
                state="processed",
            )
            sessions.append(event.session)
        else:
            event.name, event.version = MEMORIES_RECALLED, 1
            event.payload = {
                "recall_id": str(uuid.uuid4()),
                "memories": [{"id": str(each.pk), "rank": 1} for each in picked],
            }
            uses += [
                MemoryUse(
                    memory=memory,
                    event=event,
                    viewer=person,
                    conversation_id=conversation,
                    rank=rank,
                    leg="lexical",
                    used_at=at,
                )
                for rank, memory in enumerate(picked, 1)
            ]
        events.append(event)
        outcome = chance.choices(["ok", "timeout", "truncated"], [20, 1, 1])[0]
        calls.append(
            ModelCall(
                operation="extraction" if number % 2 else "relevance",
                provider="bench",
                model=chance.choice(["small", "large"]),
                input_tokens=900,
                output_tokens=90,
                cost_usd=cost,
                outcome=outcome,
                agent=agent,
                event=event if outcome == "ok" else None,
                created_at=at,
            )
        )
    CompletedSession.objects.bulk_create(sessions, batch_size=BATCH)
    ConversationEvent.objects.bulk_create(events, batch_size=BATCH)
    MemoryUse.objects.bulk_create(uses, batch_size=BATCH)
    ModelCall.objects.bulk_create(calls, batch_size=BATCH)


def _captured(memory: Memory) -> dict[str, str]:
    return {
        "id": str(memory.pk),
        "kind": memory.kind,
        "visibility": memory.visibility,
        "observed_at": memory.observed_at.isoformat(),
    }
