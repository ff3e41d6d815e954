"""What was forgotten stays forgotten: the check that every passively learned fact passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F, Value
from django.db.models.functions import Greatest

from junior_memory import fingerprints
from junior_memory.models import Memory, Tombstone
from junior_memory.stems import content_stems, is_negated

SIMILAR_SHARE = 0.6
"""Share of common stems from which other words count as the same forgotten fact, by Jaccard.

Our own choice, measured in tests/domain/test_tombstones.py: rewordings of one fact share .6 and
more of their content stems, different facts on one topic less than .5."""

MAX_COMPARED = 500
"""Forgotten texts of one person that a candidate is compared with, newest first."""


@dataclass(frozen=True, slots=True)
class Scopes:
    """Whose forgetting counts for one fact: its owner or author, its subject, its org, everyone."""

    person_ids: tuple[UUID, ...] = ()
    org_id: UUID | None = None
    is_public: bool = False

    @property
    def names(self) -> list[str]:
        """The fingerprint scopes, in words."""
        names = [fingerprints.person_scope(person) for person in self.person_ids]
        if self.org_id:
            names.append(fingerprints.org_scope(self.org_id))
        if self.is_public:
            names.append(fingerprints.PUBLIC_SCOPE)
        return names


def scopes_of(
    *,
    owner_id: UUID | None,
    subject_type: str,
    subject_key: str | None,
    org_id: UUID | None,
    visibility: str,
) -> Scopes:
    """Say whom a fact belongs to or is about; else the organization; else everyone."""
    people = [owner_id] if owner_id else []
    if subject_type == "user" and subject_key:
        people.append(UUID(subject_key))
    return Scopes(
        person_ids=tuple(dict.fromkeys(people)),
        org_id=org_id,
        is_public=visibility == "public",
    )


def lay_tombstones(memories: Iterable[Memory], *, now: datetime) -> int:
    """Leave fingerprints of these memories and of the words they were learned from."""
    rows: list[Tombstone] = []
    for memory in memories:
        scopes = scopes_of(
            owner_id=memory.owner_id,
            subject_type=memory.subject_type,
            subject_key=memory.subject_key,
            org_id=memory.org_id,
            visibility=memory.visibility,
        )
        person = scopes.person_ids[0] if scopes.person_ids else None
        # Words that are the memory's own text count as that: the person's list names marks by it.
        marks = dict.fromkeys(memory.evidence_fingerprints, Tombstone.Of.UTTERANCE) | {
            fingerprints.tombstone(scope, memory.content): Tombstone.Of.CONTENT
            for scope in scopes.names
        }
        rows += [
            Tombstone(
                fingerprint=digest,
                of=of,
                memory=memory,
                person_id=person,
                org_id=None if person else scopes.org_id,
                created_at=now,
            )
            for digest, of in marks.items()
        ]
    Tombstone.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
    return len(rows)


def lift_tombstones(scopes: Scopes, content: str) -> int:
    """Let a text be remembered again: somebody asked for it in so many words."""
    marks = Tombstone.objects.filter(fingerprint__in=fingerprints.tombstones(scopes.names, content))
    memories = list(marks.values_list("memory_id", flat=True))
    return Tombstone.objects.filter(memory_id__in=memories).delete()[0]


def utterance_fingerprints(scopes: Scopes, utterances: Sequence[str]) -> list[str]:
    """Return the fingerprints by which the cited words would be recognised if they came again."""
    return list(
        dict.fromkeys(
            fingerprints.tombstone(scope, text) for text in utterances for scope in scopes.names
        )
    )


def blocked_by(scopes: Scopes, content: str, *, utterances: Sequence[str] = ()) -> list[UUID]:
    """Return the tombstones that stop a learned fact; empty when it may be stored.

    The same text is always found, for ever. The words it was learned from are found when they come
    again. Other words for it are found while the forgotten row still holds its text.
    """
    digests = [
        digest
        for text in (content, *utterances)
        for digest in fingerprints.tombstones(scopes.names, text)
    ]
    found = list(Tombstone.objects.filter(fingerprint__in=digests).values_list("id", flat=True))
    return found or _blocked_in_other_words(scopes, content)


def laid_for(memory_ids: Sequence[UUID]) -> list[UUID]:
    """Return the tombstones of these memories' own texts; empty for what is not forgotten."""
    marks = Tombstone.objects.filter(memory_id__in=memory_ids, of=Tombstone.Of.CONTENT)
    return list(marks.values_list("id", flat=True))


def count_blocked(tombstone_ids: Sequence[UUID], *, now: datetime) -> None:
    """Record one stopped attempt, so that its person sees it."""
    memories = Tombstone.objects.filter(id__in=tombstone_ids).values_list("memory_id", flat=True)
    Tombstone.objects.filter(memory_id__in=list(memories), of=Tombstone.Of.CONTENT).update(
        blocked_count=F("blocked_count") + 1,
        # A session's clock stands at its beginning; what was forgotten since was stopped later.
        last_blocked_at=Greatest(F("created_at"), Value(now)),
    )


def _blocked_in_other_words(scopes: Scopes, content: str) -> list[UUID]:
    if not scopes.person_ids:
        return []
    wanted, denied = content_stems(content), is_negated(content)
    rows = (
        Tombstone.objects.filter(
            person_id__in=scopes.person_ids,
            of=Tombstone.Of.CONTENT,
            memory__purged_at__isnull=True,
        )
        .order_by("-created_at")
        .values_list("id", "memory__content")[:MAX_COMPARED]
    )
    for tombstone_id, text in rows:
        stems = content_stems(text)
        common = wanted & stems
        if (
            len(common) >= 2
            and is_negated(text) == denied
            and len(common) >= SIMILAR_SHARE * len(wanted | stems)
        ):
            return [tombstone_id]
    return []
