"""Forgetting, undoing, erasing, expiring. With `memories` and `holding`, what changes a Memory.

Forget takes the memory with all its predecessors out of every read at once and schedules the purge;
within the undo window `restore` brings it back; `erase` and the purge job empty every place of the
inventory and leave a receipt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from junior_memory import clock, embeddings, tombstones
from junior_memory.access import Viewer
from junior_memory.audit import Doer, record_audit
from junior_memory.conf import conf
from junior_memory.errors import (
    Expired,
    InvalidInput,
    JuniorMemoryError,
    NotFound,
    PublicMemoryReadOnly,
    QuotaExceeded,
)
from junior_memory.inventory import PLACES, vacuum
from junior_memory.locks import lock, owner_lock
from junior_memory.memories import active_twin, end_of_chain, quota_use
from junior_memory.models import (
    Agent,
    ArchiveReason,
    ErasureReceipt,
    ForgetBatch,
    Memory,
    Tombstone,
    User,
)

MAX_BATCH = 200
"""Ids that one selection may name (DESIGN 6)."""

EXPIRY_BATCH = 1000
PURGE_BATCH = 500

OWN_REASONS = frozenset({ArchiveReason.USER_REMOVED, ArchiveReason.TOOL_REMOVED})
"""Why a memory was archived that its person brings back themselves."""

# Serves forget and erase: a memory with everything it replaced, by memory_predecessors.
CHAIN = """
WITH RECURSIVE chain(id) AS (
    SELECT id FROM junior_memory_memory WHERE id = ANY(%s)
    UNION
    SELECT older.id FROM junior_memory_memory AS older
    JOIN chain ON older.superseded_by_id = chain.id
)
SELECT id FROM chain
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One id that was left alone, and the code of the reason."""

    id: UUID
    code: str


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What a selection came to, id by id."""

    batch_id: UUID
    forgotten: tuple[UUID, ...]
    not_found: tuple[UUID, ...] = ()
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Restoring:
    """What undoing a batch came to."""

    restored: int
    skipped: tuple[Refusal, ...]


def _chain(ids: Sequence[UUID]) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(CHAIN, [list(ids)])
        return [row[0] for row in cursor.fetchall()]


def lock_owner(viewer: Viewer) -> None:
    """Take the lock under which the viewer's memories change."""
    lock([owner_lock(viewer.user.pk if viewer.user else None)])


def forget(
    viewer: Viewer,
    memory_id: UUID,
    *,
    doer: Doer,
    reason: str = ArchiveReason.USER_REMOVED,
    now: datetime | None = None,
) -> Memory:
    """Forget one memory with its predecessors.

    Raises NotFound for what is not there or somebody else's, PublicMemoryReadOnly for public rows.
    """
    moment = now or clock.now()
    with transaction.atomic():
        lock_owner(viewer)
        rows = Memory.objects.visible_to(viewer).active(moment).filter(pk=memory_id)
        memory = rows.forgettable_by(viewer).select_for_update(of=("self",)).first()
        if memory is None:
            if rows.filter(visibility="public").exists():
                raise PublicMemoryReadOnly
            raise NotFound
        archive([memory_id], reason=reason, batch=None, now=moment)
        record_audit("forgot", doer, now=moment, person_id=memory.owner_id, memory_id=memory_id)
        memory.refresh_from_db(fields=["archived_at", "archive_reason", "purge_at"])
    return memory


def forget_many(
    viewer: Viewer, ids: Sequence[UUID], *, doer: Doer, now: datetime | None = None
) -> Forgetting:
    """Forget a selection as one batch. An empty selection is an error and never means all."""
    moment = now or clock.now()
    wanted = list(dict.fromkeys(ids))
    if not 1 <= len(wanted) <= MAX_BATCH or viewer.user is None:
        raise InvalidInput(
            "Name 1 to {limit} memories.", fields={"ids": "count"}, values={"limit": MAX_BATCH}
        )
    with transaction.atomic():
        lock_owner(viewer)
        seen = Memory.objects.visible_to(viewer).active(moment).filter(pk__in=wanted)
        public = set(seen.filter(visibility="public").values_list("pk", flat=True))
        mine = set(seen.forgettable_by(viewer).values_list("pk", flat=True))
        batch = ForgetBatch.objects.create(
            kind=ForgetBatch.Kind.BULK,
            user=viewer.user,
            forgotten=len(mine),
            created_at=moment,
        )
        archive(list(mine), reason=ArchiveReason.USER_REMOVED, batch=batch, now=moment)
        if mine:
            record_audit(
                "forgot",
                doer,
                now=moment,
                person_id=viewer.user.pk,
                batch=str(batch.pk),
                count=len(mine),
            )
    return Forgetting(
        batch_id=batch.pk,
        forgotten=tuple(one for one in wanted if one in mine),
        not_found=tuple(one for one in wanted if one not in mine | public),
        refused=tuple(Refusal(one, PublicMemoryReadOnly.code) for one in wanted if one in public),
    )


def forget_all(
    viewer: Viewer,
    *,
    doer: Doer,
    agent: Agent | None = None,
    now: datetime | None = None,
) -> Forgetting:
    """Forget everything a person owns, as one batch, and what is still on its way.

    Own private and session rows and org rows they wrote, active or held. Sessions completed before
    this moment are never learned from, until the batch is restored.
    """
    moment = now or clock.now()
    if viewer.user is None:
        raise NotFound
    with transaction.atomic():
        lock_owner(viewer)
        rows = Memory.objects.own(viewer).filter(
            archived_at__isnull=True, superseded_at__isnull=True
        )
        if agent is not None:
            rows = rows.filter(agent=agent)
        ids = list(rows.values_list("pk", flat=True))
        batch = ForgetBatch.objects.create(
            kind=ForgetBatch.Kind.FORGET_ALL,
            user=viewer.user,
            agent=agent,
            forgotten=len(ids),
            created_at=moment,
        )
        archive(ids, reason=ArchiveReason.USER_REMOVED, batch=batch, now=moment)
        record_audit(
            "forgot_all",
            doer,
            now=moment,
            person_id=viewer.user.pk,
            batch=str(batch.pk),
            count=len(ids),
            agent=agent.name if agent else None,
        )
    return Forgetting(batch_id=batch.pk, forgotten=tuple(ids))


def archive(ids: Sequence[UUID], *, reason: str, batch: ForgetBatch | None, now: datetime) -> None:
    """Take these heads and all their predecessors out of the active set, with their vectors.

    For the lifecycle's own modules, inside their transaction and under the owner's lock.
    """
    chain = _take_out(ids, reason=reason, batch=batch, now=now)
    embeddings.drop(chain)


def _take_out(
    ids: Sequence[UUID], *, reason: str, batch: ForgetBatch | None, now: datetime
) -> list[UUID]:
    """Archive heads and predecessors and lay tombstones; returns all of them."""
    if not ids:
        return []
    chain = _chain(ids)
    rows = Memory.objects.filter(pk__in=chain, archived_at__isnull=True)
    lying = list(rows.select_for_update(of=("self",)).defer("search_vector"))
    rows.filter(pk__in=[row.pk for row in lying]).update(
        archived_at=now,
        archive_reason=reason,
        forget_batch=batch,
        purge_at=now + timedelta(days=conf().purge_after_days),
    )
    tombstones.lay_tombstones(lying, now=now)
    return chain


def restore(viewer: Viewer, memory_id: UUID, *, doer: Doer, now: datetime | None = None) -> Memory:
    """Bring a forgotten memory back within its undo window.

    Already active: the memory. A twin was remembered meanwhile: the twin, with the old one as its
    predecessor. Raises NotFound (also once purged), QuotaExceeded, Expired.
    """
    moment = now or clock.now()
    with transaction.atomic():
        lock_owner(viewer)
        rows = Memory.objects.forgettable_by(viewer).filter(pk=memory_id, purged_at__isnull=True)
        memory = rows.select_related("agent", "owner").select_for_update(of=("self",)).first()
        if memory is None:
            raise NotFound
        was_forgotten = memory.archived_at is not None
        back = bring_back(memory, now=moment)
        if was_forgotten:
            record_audit("restored", doer, now=moment, person_id=memory.owner_id, memory_id=back.pk)
    return back


def bring_back(
    memory: Memory, *, now: datetime, reasons: frozenset[ArchiveReason] = OWN_REASONS
) -> Memory:
    """Bring a memory back that was archived for one of these reasons; see `restore`.

    For the lifecycle's own modules, inside their transaction and under the owner's lock.
    """
    if memory.expires_at is not None and memory.expires_at <= now:
        raise Expired
    if memory.archived_at is None:
        if memory.superseded_at is None:
            return memory
        # Restored already, beside a twin that was remembered meanwhile: the twin stands for it.
        end = end_of_chain(memory)
        if end.fingerprint == memory.fingerprint and end.archived_at is None:
            return end
        raise NotFound
    if memory.archive_reason not in reasons:
        raise NotFound
    if memory.superseded_at is not None:
        raise NotFound
    twin = active_twin([memory.fingerprint], now)
    if twin is None and memory.owner is not None and memory.visibility != "public":
        limit = conf().active_quota
        use = quota_use(memory.owner, memory.agent, now=now)
        if use >= limit:
            raise QuotaExceeded(fields={"limit": str(limit), "use": str(use)})
    chain = Memory.objects.filter(pk__in=_chain([memory.pk]), purged_at__isnull=True)
    Tombstone.objects.filter(memory__in=chain).delete()
    if twin is not None:
        Memory.objects.filter(pk=memory.pk).update(superseded_at=now, superseded_by=twin)
    chain.update(archived_at=None, archive_reason="", purge_at=None, forget_batch=None)
    if twin is not None:
        return twin
    memory.refresh_from_db(fields=["archived_at", "archive_reason", "purge_at", "forget_batch"])
    embeddings.cover([memory], now=now)
    return memory


def _bring_back_together(heads: Sequence[Memory], *, now: datetime) -> frozenset[UUID]:
    """Bring those back about which there is nothing to decide; the number of statements is fixed.

    Not: what has expired, is held by a twin, is there twice, or might not fit its quota.
    """
    plain = [
        memory
        for memory in heads
        if memory.archived_at is not None
        and memory.archive_reason in OWN_REASONS
        and memory.purged_at is None
        and (memory.expires_at is None or memory.expires_at > now)
    ]
    times = Counter(memory.fingerprint for memory in heads)
    prints = [memory.fingerprint for memory in plain]
    held = set(
        Memory.objects.filter(
            fingerprint__in=prints, archived_at__isnull=True, superseded_at__isnull=True
        ).values_list("fingerprint", flat=True)
    )
    alone = [
        each for each in plain if times[each.fingerprint] == 1 and each.fingerprint not in held
    ]
    fitting = _within_quota(alone, among=heads, now=now)
    chain = Memory.objects.filter(
        pk__in=_chain([memory.pk for memory in fitting]), purged_at__isnull=True
    )
    Tombstone.objects.filter(memory__in=chain).delete()
    chain.update(archived_at=None, archive_reason="", purge_at=None, forget_batch=None)
    for memory in fitting:
        memory.archived_at, memory.archive_reason = None, ""
        memory.purge_at, memory.forget_batch = None, None
    embeddings.cover(fitting, now=now)
    return frozenset(memory.pk for memory in fitting)


def _within_quota(
    memories: Sequence[Memory], *, among: Sequence[Memory], now: datetime
) -> list[Memory]:
    """Return what fits even if all of `among` came back, for each owner and agent."""
    wanted = Counter((one.owner, one.agent) for one in among if one.visibility != "public")
    full = {
        (owner, agent)
        for (owner, agent), count in wanted.items()
        if owner is not None and quota_use(owner, agent, now=now) + count > conf().active_quota
    }
    return [
        one for one in memories if one.visibility == "public" or (one.owner, one.agent) not in full
    ]


def restore_batch(
    viewer: Viewer, batch_id: UUID, *, doer: Doer, now: datetime | None = None
) -> Restoring:
    """Undo one batch as far as it goes; restoring after forget-all lifts its session cut-off.

    Repeating it restores nothing more and is no error.
    """
    moment = now or clock.now()
    if viewer.user is None:
        raise NotFound
    with transaction.atomic():
        lock_owner(viewer)
        batch = (
            ForgetBatch.objects.filter(pk=batch_id, user=viewer.user)
            .select_for_update(of=("self",))
            .first()
        )
        if batch is None:
            raise NotFound
        heads = (
            Memory.objects.forgettable_by(viewer)
            .filter(forget_batch=batch, superseded_at__isnull=True)
            .select_related("agent", "owner")
            .defer("search_vector")
            .order_by("created_at", "id")
        )
        together = _bring_back_together(list(heads), now=moment)
        restored = len(together)
        # What the person may no longer touch, as after leaving an organization, is named as well.
        skipped = [
            Refusal(left, NotFound.code)
            for left in Memory.objects.held_by(viewer.user)
            .filter(forget_batch=batch, superseded_at__isnull=True)
            .exclude(pk__in=Memory.objects.forgettable_by(viewer).values("pk"))
            .values_list("pk", flat=True)
        ]
        for memory in heads:
            if memory.pk in together:
                continue
            try:
                if memory.purged_at is not None:
                    raise NotFound
                bring_back(memory, now=moment)
                restored += 1
            except JuniorMemoryError as error:
                skipped.append(Refusal(memory.pk, error.code))
        if batch.restored_at is None:
            batch.restored_at = moment
            batch.save(update_fields=["restored_at"])
        if batch.kind == ForgetBatch.Kind.FORGET_ALL:
            # Forgetting everything again found nothing left, and its cut-off goes with the first's.
            ForgetBatch.objects.filter(
                user=viewer.user,
                agent=batch.agent_id,
                kind=batch.kind,
                created_at__gte=batch.created_at,
                forgotten=0,
                restored_at__isnull=True,
            ).update(restored_at=moment)
        if restored:
            record_audit(
                "restored",
                doer,
                now=moment,
                person_id=viewer.user.pk,
                batch=str(batch.pk),
                count=restored,
            )
    return Restoring(restored, tuple(skipped))


def erase(
    viewer: Viewer, memory_id: UUID, *, doer: Doer, now: datetime | None = None
) -> ErasureReceipt:
    """Erase one's own memory at once, with all its predecessors, in whatever state it is.

    What replaced it stays: erasing an old wording does not take the correction along.
    Repeating it returns the same receipt. Raises NotFound, PublicMemoryReadOnly.
    """
    moment = now or clock.now()
    with transaction.atomic():
        lock_owner(viewer)
        memory = Memory.objects.forgettable_by(viewer).filter(pk=memory_id).first()
        if memory is None:
            rows = Memory.objects.visible_to(viewer).active(moment).filter(pk=memory_id)
            if rows.filter(visibility="public").exists():
                raise PublicMemoryReadOnly
            raise NotFound
        if memory.purged_at is None:
            # The purge counts the vectors for the receipt, so they stay until then.
            _take_out([memory_id], reason=ArchiveReason.USER_REMOVED, batch=None, now=moment)
            record_audit(
                "erased",
                doer,
                now=moment,
                person_id=memory.owner_id,
                memory_id=memory_id,
            )
            _purge(_chain([memory_id]), total_on=memory_id, now=moment)
        receipt = ErasureReceipt.objects.get(memory_id=memory_id)
    vacuum()
    return receipt


def _purge(ids: Sequence[UUID], *, now: datetime, total_on: UUID | None = None) -> int:
    """Empty every place for these archived memories; re-checked under row locks.

    Each gets a receipt; the one of `total_on` counts what went with all of them.
    """
    rows = Memory.objects.filter(pk__in=ids, archived_at__isnull=False, purged_at__isnull=True)
    locked = list(rows.select_for_update(of=("self",)).values_list("pk", "owner_id"))
    wanted = [memory_id for memory_id, _ in locked]
    if not wanted:
        return 0
    counts = {place.name: place.empty(wanted) for place in PLACES}
    Memory.objects.filter(pk__in=wanted).update(
        content="",
        purged_at=now,
        location=None,
        source_key="",
        evidence_fingerprints=[],
    )
    counts = {"memory text": dict.fromkeys(wanted, 1), **counts}
    ErasureReceipt.objects.bulk_create(
        [
            ErasureReceipt(
                memory_id=memory_id,
                person_id=owner_id,
                places=[
                    {
                        "name": name,
                        "rows": sum(by.values()) if memory_id == total_on else by.get(memory_id, 0),
                    }
                    for name, by in counts.items()
                ],
                erased_at=now,
            )
            for memory_id, owner_id in locked
        ],
        ignore_conflicts=True,
    )
    return len(wanted)


def purge_due(*, now: datetime | None = None, limit: int = PURGE_BATCH) -> int:
    """Erase forgotten memories whose undo window is over; returns how many. Bounded; call again."""
    moment = now or clock.now()
    ids = list(
        Memory.objects.to_purge(moment).order_by("purge_at").values_list("pk", flat=True)[:limit]
    )
    with transaction.atomic():
        purged = _purge(ids, now=moment)
    if purged:
        vacuum()
    return purged


def expire_due(*, now: datetime | None = None, limit: int = EXPIRY_BATCH) -> int:
    """Archive rows whose date has passed; they have been invisible since. Returns how many."""
    moment = now or clock.now()
    with transaction.atomic():
        rows = Memory.objects.to_expire(moment).order_by("expires_at")
        ids = list(
            rows.select_for_update(of=("self",), skip_locked=True).values_list("pk", flat=True)[
                :limit
            ]
        )
        Memory.objects.filter(pk__in=ids).update(
            archived_at=moment, archive_reason=ArchiveReason.EXPIRED
        )
        embeddings.drop(ids)
    return len(ids)


def delete_person(user: User, *, doer: Doer, now: datetime | None = None) -> int:
    """Delete a person: forget and erase everything of theirs at once, unlink, revoke.

    Shared rows lose their author and stay. Returns how many memories were erased.
    """
    moment = now or clock.now()
    with transaction.atomic():
        lock([owner_lock(user.pk)])
        mine = Memory.objects.held_by(user).filter(visibility__in=["private", "session"])
        ids = list(mine.values_list("pk", flat=True))
        archive(ids, reason=ArchiveReason.USER_REMOVED, batch=None, now=moment)
        erased = _purge(ids, now=moment)
        record_audit("person_deleted", doer, now=moment, count=erased)
        mine.delete()
        Memory.objects.held_by(user).update(owner=None)
        user.delete()
    vacuum()
    return erased
