"""Creating, correcting and superseding. With `forgetting`, the only module that changes a Memory.

Every write takes its owner's lock, decides inside one transaction, and lets the unique constraints
have the last word: the loser of a race returns the winner's row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from django.db import IntegrityError, transaction
from psycopg.errors import UniqueViolation

from junior_memory import clock, embeddings, fingerprints, lexical, queue, tombstones
from junior_memory.access import Viewer
from junior_memory.audit import Doer, record_audit
from junior_memory.conf import conf
from junior_memory.errors import (
    Conflict,
    Forgotten,
    InvalidInput,
    NotFound,
    PublicMemoryReadOnly,
    QuotaExceeded,
    SecretRejected,
    VersionConflict,
)
from junior_memory.locks import lock, owner_lock
from junior_memory.models import (
    Agent,
    ArchiveReason,
    CompletedSession,
    Identity,
    Location,
    Memory,
    Organization,
    Origin,
    RetryKey,
    User,
)
from junior_memory.models.memory import MAX_CONTENT_LENGTH
from junior_memory.querysets import FORGOTTEN_REASONS
from junior_memory.secrets import contains_secret
from junior_memory.text import normalise_content


class Outcome(StrEnum):
    """What a create came to."""

    CREATED = "created"
    EXISTING = "existing"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A memory to be. Visibility, owner and subject come from the caller's authority, never text.

    `retry_key` is namespaced by the caller: path (api, tool, session, import) and whom it serves.
    `utterances` are the cited words; only their keyed fingerprints are kept.
    """

    content: str
    kind: str
    visibility: str
    agent: Agent
    origin: str
    source_platform: str
    owner: User | None = None
    org: Organization | None = None
    conversation_id: str | None = None
    subject_type: str = "general"
    subject_key: str | None = None
    source_key: str = ""
    location: Location | None = None
    retry_key: tuple[str, ...] = ()
    observed_at: datetime | None = None
    expires_at: datetime | None = None
    session: CompletedSession | None = None
    learned_from: Identity | None = None
    utterances: tuple[str, ...] = ()
    held_reason: str = ""

    @property
    def is_passive(self) -> bool:
        """Learned or imported: not asked for in so many words, so tombstones apply."""
        return self.origin != Origin.EXPLICIT

    @property
    def scopes(self) -> tombstones.Scopes:
        """Whose forgetting counts for it."""
        return tombstones.scopes_of(
            owner_id=self.owner.pk if self.owner else None,
            subject_type=self.subject_type,
            subject_key=self.subject_key,
            org_id=self.org.pk if self.org else None,
            visibility=self.visibility,
        )

    @property
    def holder(self) -> str:
        """Whom the row belongs to, for the duplicate fingerprint."""
        match self.visibility:
            case "public":
                return ""
            case "org":
                return str(self.org.pk) if self.org else ""
            case "session":
                owner = self.owner.pk if self.owner else ""
                return f"{owner}/{self.conversation_id}"
        return str(self.owner.pk) if self.owner else ""


@dataclass(frozen=True, slots=True)
class Created:
    """The memory that now holds the fact, and what was done; no memory when it was blocked."""

    outcome: Outcome
    memory: Memory | None

    @property
    def created(self) -> bool:
        """True when a row was written."""
        return self.outcome is Outcome.CREATED

    @property
    def stored(self) -> Memory:
        """The memory; raises Conflict when the fact was stopped by a tombstone."""
        if self.memory is None:
            raise Conflict("That fact was forgotten and is not learned again.", code="blocked")
        return self.memory


def create_memory(new: NewMemory, *, now: datetime | None = None) -> Created:
    """Remember one fact.

    Idempotent by `retry_key` (chains are followed to their end) and by exact content. Raises
    InvalidInput, SecretRejected, QuotaExceeded, Forgotten. A passive fact that was forgotten is
    counted at its tombstone and not stored; an explicit one lifts the tombstone for good.
    """
    return create_memories([new], now=now)[0]


def create_memories(news: Sequence[NewMemory], *, now: datetime | None = None) -> list[Created]:
    """Remember several facts in one transaction; see `create_memory`. All or none."""
    moment = now or clock.now()
    checked = [(new, _checked_content(new, moment)) for new in news]
    with transaction.atomic():
        lock(owner_lock(new.owner.pk if new.owner else None) for new in news)
        made = [_create(new, content, moment) for new, content in checked]
        _cover_new(made, moment)
    return made


def _cover_new(made: Sequence[Created], now: datetime) -> None:
    """Give new rows their vectors; what a person typed is looked at for conflicts later."""
    fresh = [one.memory for one in made if one.created and one.memory]
    embeddings.cover(fresh, now=now)
    if conf().ai_model:
        for memory in fresh:
            if is_own_words(memory):
                queue.enqueue_proposals(memory.pk)


def is_own_words(memory: Memory) -> bool:
    """True for what a person typed on the page or by their own call: it has no conversation."""
    return memory.origin == Origin.EXPLICIT and memory.conversation_id is None


def _checked_content(new: NewMemory, now: datetime) -> str:
    content = normalise_content(new.content, limit=MAX_CONTENT_LENGTH)
    if contains_secret(content):
        raise SecretRejected(fields={"content": "secret_or_credential"})
    for field_name, moment in (("expiresAt", new.expires_at), ("observedAt", new.observed_at)):
        if moment is not None and not clock.representable(moment):
            raise InvalidInput("That date does not exist in UTC.", fields={field_name: "range"})
    if new.expires_at is not None and new.expires_at <= now:
        raise InvalidInput("The expiry must lie in the future.", fields={"expiresAt": "past"})
    return content


def _create(new: NewMemory, content: str, now: datetime) -> Created:
    retried = _answer_to_retry(new, now)
    if retried is not None:
        return Created(Outcome.EXISTING, retried)
    if new.is_passive:
        marks = tombstones.blocked_by(new.scopes, content, utterances=new.utterances)
        if marks:
            tombstones.count_blocked(marks, now=now)
            return Created(Outcome.BLOCKED, None)
    prints = _duplicate_fingerprints(new, content)
    twin = active_twin(prints, now, also_held=new.is_passive or bool(new.held_reason))
    twin = twin or _corrected_since(new, prints, now)
    if twin is not None:
        _keep_key(new, twin, now)
        _lift(new, content)
        return Created(Outcome.EXISTING, twin)
    _check_quota(new, now)
    memory = _insert(new, content, prints[0], now)
    if memory is None:
        winner = active_twin(prints, now)
        if winner is None:
            raise Conflict("Another write of the same fact is under way; try again.")
        return Created(Outcome.EXISTING, winner)
    _lift(new, content)
    return Created(Outcome.CREATED, memory)


def _lift(new: NewMemory, content: str) -> None:
    """Asked for in so many words, a fact may be learned again, unless a person decides first."""
    if not new.is_passive and not new.held_reason:
        tombstones.lift_tombstones(new.scopes, content)


def _key_hashes(new: NewMemory) -> list[str]:
    return fingerprints.keyed_all("key", *new.retry_key) if new.retry_key else []


def _answer_to_retry(new: NewMemory, now: datetime) -> Memory | None:
    """Return what an earlier call with this key made, or None when the key is fresh."""
    hashes = _key_hashes(new)
    if not hashes:
        return None
    kept = RetryKey.objects.filter(key_hash__in=hashes).select_related("memory").first()
    if kept is None:
        return None
    memory = end_of_chain(kept.memory)
    if memory.archive_reason in FORGOTTEN_REASONS:
        raise Forgotten
    if memory.archived_at is not None or _has_expired(memory, now):
        _archive_expired(memory, now)
        kept.delete()
        return None
    return memory


def end_of_chain(memory: Memory) -> Memory:
    """Follow supersession to the memory that stands today."""
    seen = {memory.pk}
    while memory.superseded_by_id is not None and memory.superseded_by_id not in seen:
        successor = memory.superseded_by
        if successor is None:
            break
        memory = successor
        seen.add(memory.pk)
    return memory


def _has_expired(memory: Memory, now: datetime) -> bool:
    return memory.expires_at is not None and memory.expires_at <= now


def _archive_expired(memory: Memory, now: datetime) -> None:
    """Archive a row whose date has passed, so that a new one can take its place."""
    Memory.objects.filter(pk=memory.pk, archived_at__isnull=True).update(
        archived_at=now, archive_reason=ArchiveReason.EXPIRED
    )
    embeddings.drop([memory.pk])


def _duplicate_fingerprints(new: NewMemory, content: str) -> list[str]:
    parts = fingerprints.duplicate_parts(
        visibility=new.visibility,
        holder=new.holder,
        agent_id=new.agent.pk,
        kind=new.kind,
        subject_type=new.subject_type,
        subject_key=new.subject_key,
        content=content,
    )
    return fingerprints.keyed_all("duplicate", *parts)


def active_twin(prints: Sequence[str], now: datetime, *, also_held: bool = False) -> Memory | None:
    """Return the memory that already holds this fact; an expired twin is archived first.

    What is held counts for passive facts alone: asking for it in so many words makes it active.
    """
    rows = Memory.objects.filter(
        fingerprint__in=prints, archived_at__isnull=True, superseded_at__isnull=True
    ).order_by("-created_at", "id")
    if not also_held:
        rows = rows.filter(held_at__isnull=True)
    for row in rows:
        if _has_expired(row, now):
            _archive_expired(row, now)
        else:
            return row
    return None


def _corrected_since(new: NewMemory, prints: Sequence[str], now: datetime) -> Memory | None:
    """Return the person's correction of this very text, when it was said before they corrected it.

    Explicit beats passive: an old conversation must not bring a corrected fact back.
    """
    if not new.is_passive:
        return None
    said = new.observed_at or now
    corrected = (
        Memory.objects.filter(
            fingerprint__in=prints, superseded_at__gte=said, superseded_by__isnull=False
        )
        .select_related("superseded_by")
        .order_by("-superseded_at")
        .first()
    )
    if corrected is None:
        return None
    successor = end_of_chain(corrected)
    stands = successor.archived_at is None and not _has_expired(successor, now)
    return successor if stands and successor.origin == Origin.EXPLICIT else None


def _keep_key(new: NewMemory, memory: Memory, now: datetime) -> None:
    hashes = _key_hashes(new)
    if hashes:
        RetryKey.objects.get_or_create(
            key_hash=hashes[0], defaults={"memory": memory, "created_at": now}
        )


def quota_use(user: User, agent: Agent, *, now: datetime) -> int:
    """Return how many active memories count against a person's limit for one agent."""
    return (
        Memory.objects.filter(owner=user, agent=agent)
        .exclude(visibility="public")
        .active(now)
        .count()
    )


def _check_quota(new: NewMemory, now: datetime) -> None:
    if new.owner is None or new.visibility == "public":
        return
    limit = conf().active_quota
    use = quota_use(new.owner, new.agent, now=now)
    if use >= limit:
        raise QuotaExceeded(
            "{use} of {limit} memories are in use for this agent; forget some first.",
            fields={"limit": str(limit), "use": str(use)},
            values={"limit": limit, "use": use},
        )


def _insert(new: NewMemory, content: str, fingerprint: str, now: datetime) -> Memory | None:
    """Insert the row; None when a concurrent writer won."""
    hashes = _key_hashes(new)
    memory = Memory(
        content=content,
        kind=new.kind,
        visibility=new.visibility,
        owner=new.owner,
        org=new.org,
        agent=new.agent,
        conversation_id=new.conversation_id,
        subject_type=new.subject_type,
        subject_key=new.subject_key,
        origin=new.origin,
        source_platform=new.source_platform,
        source_key=new.source_key,
        location=new.location,
        idempotency_key=hashes[0] if hashes else None,
        fingerprint=fingerprint,
        evidence_fingerprints=tombstones.utterance_fingerprints(new.scopes, new.utterances),
        search_vector=lexical.vector_of(content),
        language=lexical.language_of(content),
        session=new.session,
        learned_from=new.learned_from,
        observed_at=min(new.observed_at or now, now),
        created_at=now,
        expires_at=new.expires_at,
        held_at=now if new.held_reason else None,
        held_reason=new.held_reason,
    )
    try:
        with transaction.atomic():
            memory.save(force_insert=True)
            _keep_key(new, memory, now)
    except IntegrityError as error:
        if isinstance(error.__cause__, UniqueViolation):
            return None
        raise
    # The attribute still holds the expression it was inserted by; let it load when asked for.
    del memory.__dict__["search_vector"]
    return memory


def _supersede_rows(ids: Sequence[UUID], successor: Memory, now: datetime) -> list[UUID]:
    """Mark active rows as replaced; rows that left the active set meanwhile stay as they are."""
    if not ids:
        return []
    rows = Memory.objects.filter(pk__in=ids).exclude(pk=successor.pk).active(now)
    replaced = list(rows.select_for_update().values_list("pk", flat=True))
    Memory.objects.filter(pk__in=replaced).update(superseded_at=now, superseded_by=successor)
    embeddings.drop(replaced)
    return replaced


def supersede(
    new: NewMemory, *, replaces: Sequence[UUID], now: datetime | None = None
) -> tuple[Created, list[UUID]]:
    """Store a newer fact and mark the ones it replaces, in one transaction under the owner's lock.

    Rows named in `replaces` that are no longer active, or that belong to another owner, stay
    untouched. Returns what was stored and which rows it replaced.
    """
    moment = now or clock.now()
    content = _checked_content(new, moment)
    with transaction.atomic():
        lock([owner_lock(new.owner.pk if new.owner else None)])
        # Ownerless rows are nobody's to replace.
        mine = Memory.objects.filter(pk__in=replaces, owner__isnull=False, owner=new.owner)
        ids = list(mine.filter(agent=new.agent).values_list("pk", flat=True))
        created = _create(new, content, moment)
        _cover_new([created], moment)
        if created.memory is None or created.memory.held_at is not None:
            return created, []
        return created, _supersede_rows(ids, created.memory, moment)


def repeat_memory(new: NewMemory, twin: Memory, *, now: datetime) -> Memory:
    """Let an active memory answer for a fact that says the same in other words.

    The key answers with it from now on; an explicit request lifts tombstones of its own words.
    Inside the caller's transaction. Raises InvalidInput, SecretRejected.
    """
    content = _checked_content(new, now)
    _keep_key(new, twin, now)
    _lift(new, content)
    return twin


def is_settled(new: NewMemory, *, now: datetime) -> bool:
    """True when a fact's very words decide what becomes of it: no other text needs comparing."""
    content = normalise_content(new.content, limit=MAX_CONTENT_LENGTH)
    twins = Memory.objects.filter(fingerprint__in=_duplicate_fingerprints(new, content))
    if twins.active(now).exists():
        return True
    return new.is_passive and bool(
        tombstones.blocked_by(new.scopes, content, utterances=new.utterances)
    )


def correct_memory(
    viewer: Viewer,
    memory_id: UUID,
    content: str,
    *,
    version: int,
    doer: Doer,
    now: datetime | None = None,
) -> Memory:
    """Put a person's own words in place of a memory: a new id that supersedes the old.

    Kind, subject, visibility, agent and expiry stay; the origin becomes explicit. Repeating the
    same correction returns the successor; the text of another active memory supersedes into it.
    Raises NotFound, VersionConflict, InvalidInput, SecretRejected.
    """
    moment = now or clock.now()
    text = normalise_content(content, limit=MAX_CONTENT_LENGTH)
    if contains_secret(text):
        raise SecretRejected(fields={"content": "secret_or_credential"})
    with transaction.atomic():
        lock([owner_lock(viewer.user.pk if viewer.user else None)])
        rows = Memory.objects.forgettable_by(viewer).filter(pk=memory_id, archived_at__isnull=True)
        old = rows.select_related("agent", "org", "owner", "location").first()
        if old is None or _has_expired(old, moment) or old.held_at is not None:
            seen = Memory.objects.visible_to(viewer).active(moment).filter(pk=memory_id)
            if seen.filter(visibility="public").exists():
                raise PublicMemoryReadOnly
            raise NotFound
        if old.superseded_at is not None:
            return _repeated_correction(old, text)
        if old.version != version:
            raise VersionConflict
        if old.content == text:
            return old
        successor = _correct(old, text, moment)
        record_audit(
            "corrected",
            doer,
            now=moment,
            person_id=old.owner_id,
            memory_id=successor.pk,
            replaced=str(old.pk),
        )
    return successor


def _repeated_correction(old: Memory, text: str) -> Memory:
    successor = end_of_chain(old)
    same = fingerprints.fold(successor.content) == fingerprints.fold(text)
    if successor.archived_at is None and same:
        return successor
    raise VersionConflict


def _correct(old: Memory, text: str, now: datetime) -> Memory:
    new = NewMemory(
        content=text,
        kind=old.kind,
        visibility=old.visibility,
        agent=old.agent,
        origin=Origin.EXPLICIT,
        source_platform=old.source_platform,
        owner=old.owner,
        org=old.org,
        conversation_id=old.conversation_id,
        subject_type=old.subject_type,
        subject_key=old.subject_key,
        source_key=old.source_key,
        location=old.location,
        observed_at=now,
        expires_at=old.expires_at,
    )
    prints = _duplicate_fingerprints(new, text)
    # The old row leaves the active set first: a change of case alone has the same fingerprint.
    Memory.objects.filter(pk=old.pk).update(superseded_at=now, version=old.version + 1)
    embeddings.drop([old.pk])
    successor = active_twin(prints, now)
    if successor is None:
        successor = _insert(new, text, prints[0], now)
        if successor is None:
            raise Conflict("Another write of the same fact is under way; try again.")
        embeddings.cover([successor], now=now)
    Memory.objects.filter(pk=old.pk).update(superseded_by=successor)
    tombstones.lift_tombstones(new.scopes, text)
    return successor
