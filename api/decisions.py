"""What waits for a person's word: held memories and conflicts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from ninja import Query, Router, Status

from api.auth import ApiRequest, may_read, may_write
from api.bodies import NO_BODY
from api.cursors import Place, binding, read_cursor, write_cursor
from api.describe import describe_all, describe_one
from api.schemas import In, Limit, MemoryOut, Moment, Out, Params, Word
from junior_memory import clock, conflicts, holding, moderation
from junior_memory.access import Viewer
from junior_memory.conflicts import Proposal
from junior_memory.models import Memory

router = Router(tags=["decisions"], by_alias=True)


class PageQuery(Params):
    """Which part of a list."""

    limit: Limit = 25
    cursor: Word | None = None


class ReportOut(Out):
    """What somebody said against a public memory."""

    reason: str
    created_at: Moment


class HeldMemoryOut(MemoryOut):
    """One held memory, why it waits, and to staff what was reported."""

    held_at: Moment
    held_reason: str
    reports: list[ReportOut] | None


class HeldOut(Out):
    """Held memories that the caller decides on, newest first."""

    memories: list[HeldMemoryOut]
    next_cursor: str | None


class ConflictOut(Out):
    """Two memories that seem to disagree."""

    id: UUID
    first: MemoryOut
    second: MemoryOut
    created_at: Moment


class ConflictsOut(Out):
    """Open conflicts, oldest first."""

    conflicts: list[ConflictOut]


class KeepIn(In):
    """What to keep."""

    keep: Literal["first", "second", "both", "none"]


class DecisionOut(Out):
    """What was kept and what was forgotten by it."""

    id: UUID
    kept: Literal["first", "second", "both", "none"]
    forgotten: list[UUID]


@router.get("/held", auth=may_read(PageQuery), response=HeldOut)
def get_held(request: ApiRequest, query: Query[PageQuery]) -> HeldOut:
    """List held memories of yours; staff see held public ones too."""
    viewer, now = request.auth.viewer, clock.now()
    bound_to = binding("held", request.auth.user.pk)
    rows = Memory.objects.visible_to(viewer).decidable_by(viewer).in_state("held", now)
    rows = rows.newest_first().for_list()
    if query.cursor is not None:
        place = read_cursor(query.cursor, bound_to=bound_to)
        rows = rows.after(*place.key)
    found = list(rows[: query.limit + 1])
    shown = found[: query.limit]
    following = Place(shown[-1].created_at, shown[-1].pk) if len(found) > query.limit else None
    return HeldOut(
        memories=_describe_held(viewer, shown, now=now),
        next_cursor=write_cursor(following, bound_to=bound_to) if following else None,
    )


def _describe_held(
    viewer: Viewer, memories: Sequence[Memory], *, now: datetime
) -> list[HeldMemoryOut]:
    said = moderation.reports_of(viewer, [memory.pk for memory in memories])
    is_staff = viewer.user is not None and viewer.user.is_staff
    return [
        HeldMemoryOut(
            **dict(described),
            held_at=memory.held_at,
            held_reason=memory.held_reason,
            reports=[
                ReportOut(reason=one.reason, created_at=one.created_at)
                for one in said.get(memory.pk, ())
            ]
            if is_staff
            else None,
        )
        for memory, described in zip(memories, describe_all(viewer, memories, now=now), strict=True)
    ]


@router.post("/held/{uuid:memory_id}/approve", auth=may_write(NO_BODY), response=MemoryOut)
def approve_held(request: ApiRequest, memory_id: UUID) -> MemoryOut:
    """Let a held memory become active."""
    viewer, now = request.auth.viewer, clock.now()
    approved = holding.approve_held(viewer, memory_id, doer=request.auth.doer, now=now)
    rows = Memory.objects.visible_to(viewer).filter(pk=approved.pk).for_list()
    return describe_one(viewer, rows.get(), now=now)


@router.post("/held/{uuid:memory_id}/decline", auth=may_write(NO_BODY), response={204: None})
def decline_held(request: ApiRequest, memory_id: UUID) -> Status[None]:
    """Forget a held memory."""
    holding.decline_held(request.auth.viewer, memory_id, doer=request.auth.doer)
    return Status(204, None)


@router.post("/held/{uuid:memory_id}/undo", auth=may_write(NO_BODY), response=MemoryOut)
def undo_held(request: ApiRequest, memory_id: UUID) -> MemoryOut:
    """Take back an approval or a refusal: the memory is held again."""
    viewer, now = request.auth.viewer, clock.now()
    back = holding.undo_decision(viewer, memory_id, doer=request.auth.doer, now=now)
    rows = Memory.objects.visible_to(viewer).filter(pk=back.pk).for_list()
    return describe_one(viewer, rows.get(), now=now)


@router.get("/conflicts", auth=may_read(), response=ConflictsOut)
def get_conflicts(request: ApiRequest) -> ConflictsOut:
    """List pairs of your memories that seem to disagree."""
    viewer, now = request.auth.viewer, clock.now()
    proposals = conflicts.open_conflicts(viewer, now=now)
    return ConflictsOut(conflicts=_describe_pairs(viewer, proposals, now=now))


def _describe_pairs(
    viewer: Viewer, proposals: Sequence[Proposal], *, now: datetime
) -> list[ConflictOut]:
    pairs = [memory for one in proposals for memory in (one.first, one.second)]
    shown = {memory.id: memory for memory in describe_all(viewer, pairs, now=now)}
    return [
        ConflictOut(
            id=one.id,
            first=shown[one.first.pk],
            second=shown[one.second.pk],
            created_at=one.created_at,
        )
        for one in proposals
    ]


@router.post("/conflicts/{uuid:conflict_id}", auth=may_write(), response=DecisionOut)
def post_conflict(request: ApiRequest, conflict_id: UUID, body: KeepIn) -> DecisionOut:
    """Decide a conflict; what is not kept is forgotten and can be restored."""
    decision = conflicts.resolve_conflict(
        request.auth.viewer, conflict_id, keep=body.keep, doer=request.auth.doer
    )
    return DecisionOut(id=decision.id, kept=body.keep, forgotten=list(decision.forgotten))


@router.post("/conflicts/{uuid:conflict_id}/undo", auth=may_write(NO_BODY), response=ConflictOut)
def undo_conflict(request: ApiRequest, conflict_id: UUID) -> ConflictOut:
    """Take a decision back: what it forgot is restored, and the two wait again."""
    viewer, now = request.auth.viewer, clock.now()
    again = conflicts.reopen_conflict(viewer, conflict_id, doer=request.auth.doer, now=now)
    (described,) = _describe_pairs(viewer, [again], now=now)
    return described
