"""What a person may read of what was done for and about them: marks, receipts, activity."""

from typing import Any
from uuid import UUID

from ninja import Query, Router, Status

from api.auth import ApiRequest, may_read, may_write
from api.bodies import NO_BODY
from api.cursors import Place, binding, read_cursor, write_cursor
from api.decisions import PageQuery
from api.memories import PlaceOut, ReceiptOut
from api.schemas import KindName, Moment, Out
from junior_memory import admin_reads, records
from junior_memory.records import After

router = Router(tags=["records"], by_alias=True)


class TombstoneOut(Out):
    """Something that is never learned again; its text only until it is erased."""

    id: UUID
    memory_id: UUID
    kind: KindName
    agent: str
    created_at: Moment
    blocked: int
    last_blocked_at: Moment | None
    content: str | None
    purge_at: Moment | None


class TombstonesOut(Out):
    """The never-learn-again list, newest first."""

    tombstones: list[TombstoneOut]
    next_cursor: str | None


class ReceiptsOut(Out):
    """Erasure receipts, newest first."""

    receipts: list[ReceiptOut]
    next_cursor: str | None


class ActivityEntryOut(Out):
    """One thing that was done about the person: by whom, by what means, why. Never content.

    `byName` says which member of staff read the person's memory, and is null otherwise.
    """

    id: UUID
    action: str
    by: str
    by_name: str | None
    via: str
    token: str | None
    reason: str | None
    memory_id: UUID | None
    details: dict[str, Any]
    created_at: Moment


class ActivityOut(Out):
    """Audit entries about the person, newest first."""

    activity: list[ActivityEntryOut]
    next_cursor: str | None


def _bound(request: ApiRequest, name: str) -> str:
    return binding(name, request.auth.user.pk)


def _after(request: ApiRequest, name: str, query: PageQuery) -> After | None:
    if query.cursor is None:
        return None
    at, last_id = read_cursor(query.cursor, bound_to=_bound(request, name)).key
    return After(at, last_id)


def _following(request: ApiRequest, name: str, after: After | None) -> str | None:
    if after is None:
        return None
    return write_cursor(Place(after.at, after.id), bound_to=_bound(request, name))


@router.get("/tombstones", auth=may_read(PageQuery), response=TombstonesOut)
def get_tombstones(request: ApiRequest, query: Query[PageQuery]) -> TombstonesOut:
    """List what is never learned again about you."""
    after = _after(request, "tombstones", query)
    found = records.marks_of(request.auth.viewer, limit=query.limit, after=after)
    return TombstonesOut(
        tombstones=[
            TombstoneOut(
                id=mark.id,
                memory_id=mark.memory_id,
                kind=mark.kind,
                agent=mark.agent,
                created_at=mark.created_at,
                blocked=mark.blocked,
                last_blocked_at=mark.last_blocked_at,
                content=mark.text or None,
                purge_at=mark.purge_at,
            )
            for mark in found.rows
        ],
        next_cursor=_following(request, "tombstones", found.after),
    )


@router.delete("/tombstones/{uuid:mark_id}", auth=may_write(NO_BODY), response={204: None})
def delete_tombstone(request: ApiRequest, mark_id: UUID) -> Status[None]:
    """Let one forgotten fact be learned again."""
    records.lift_mark(request.auth.viewer, mark_id, doer=request.auth.doer)
    return Status(204, None)


@router.get("/receipts", auth=may_read(PageQuery), response=ReceiptsOut)
def get_receipts(request: ApiRequest, query: Query[PageQuery]) -> ReceiptsOut:
    """List the proofs of what was erased for you."""
    after = _after(request, "receipts", query)
    found = records.receipts_of(request.auth.viewer, limit=query.limit, after=after)
    return ReceiptsOut(
        receipts=[
            ReceiptOut(
                id=receipt.memory_id,
                places=[PlaceOut(**place) for place in receipt.places],
                erased_at=receipt.erased_at,
            )
            for receipt in found.rows
        ],
        next_cursor=_following(request, "receipts", found.after),
    )


@router.get("/activity", auth=may_read(PageQuery), response=ActivityOut)
def get_activity(request: ApiRequest, query: Query[PageQuery]) -> ActivityOut:
    """List what you, your assistants and staff did about you."""
    after = _after(request, "activity", query)
    found = records.activity_of(request.auth.viewer, limit=query.limit, after=after)
    me = request.auth.user.pk
    return ActivityOut(
        activity=[
            ActivityEntryOut(
                id=entry.pk,
                action=entry.action,
                by="you" if entry.actor_id == me else "staff" if entry.actor_id else "the system",
                by_name=admin_reads.reader_name(entry),
                via=entry.via,
                token=entry.token.prefix if entry.token else None,
                reason=entry.reason or None,
                memory_id=entry.memory_id,
                details=entry.details,
                created_at=entry.created_at,
            )
            for entry in found.rows
        ],
        next_cursor=_following(request, "activity", found.after),
    )
