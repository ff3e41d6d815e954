"""What staff do about public memory and about one person: out, back, and a reasoned read."""

from uuid import UUID

from ninja import Query, Router, Status

from api.auth import ApiRequest, staff_only
from api.bodies import JSON_BODY
from api.cursors import Place, binding, read_cursor, write_cursor
from api.decisions import PageQuery
from api.describe import describe_all, describe_one
from api.memories import ReasonIn
from api.schemas import MemoryOut, Moment, Name, Out
from junior_memory import admin_reads, clock, moderation
from junior_memory.models import Memory

router = Router(tags=["staff"], by_alias=True)


class AdminReadIn(ReasonIn):
    """Whose memory to read, by id or e-mail address, and why; the person sees the reason."""

    user: Name


class AdminReadOut(Out):
    """An open read of one person's memory."""

    id: UUID
    user: UUID
    reason: str
    created_at: Moment
    expires_at: Moment


class ReadMemoriesOut(Out):
    """One page of what an open read shows, newest first."""

    memories: list[MemoryOut]
    next_cursor: str | None
    expires_at: Moment


@router.post(
    "/public/{uuid:memory_id}/remove",
    auth=staff_only(intake=JSON_BODY, is_write=True),
    response=MemoryOut,
)
def remove_public(request: ApiRequest, memory_id: UUID, body: ReasonIn) -> MemoryOut:
    """Remove a public memory; it can be restored within the undo window (staff)."""
    viewer, now = request.auth.viewer, clock.now()
    removed = moderation.remove_public(
        viewer, memory_id, reason=body.reason, doer=request.auth.doer, now=now
    )
    return _described(request, removed)


@router.post(
    "/public/{uuid:memory_id}/restore",
    auth=staff_only(intake=JSON_BODY, is_write=True),
    response=MemoryOut,
)
def restore_public(request: ApiRequest, memory_id: UUID, body: ReasonIn) -> MemoryOut:
    """Bring back a public memory that staff removed or declined (staff)."""
    viewer, now = request.auth.viewer, clock.now()
    back = moderation.restore_public(
        viewer, memory_id, reason=body.reason, doer=request.auth.doer, now=now
    )
    return _described(request, back)


def _described(request: ApiRequest, memory: Memory) -> MemoryOut:
    viewer = request.auth.viewer
    rows = Memory.objects.visible_to(viewer).filter(pk=memory.pk).for_list()
    return describe_one(viewer, rows.get(), now=clock.now())


@router.post(
    "/admin-reads",
    auth=staff_only(intake=JSON_BODY, is_write=True),
    response={201: AdminReadOut},
)
def post_admin_read(request: ApiRequest, body: AdminReadIn) -> Status[AdminReadOut]:
    """Open a read of one person's memory for 15 minutes; they see who and why (staff)."""
    read = admin_reads.open_read(
        request.auth.user,
        admin_reads.person_named(body.user),
        reason=body.reason,
        doer=request.auth.doer,
    )
    return Status(
        201,
        AdminReadOut(
            id=read.pk,
            user=read.person_id,
            reason=read.reason,
            created_at=read.created_at,
            expires_at=read.expires_at,
        ),
    )


@router.get(
    "/admin-reads/{uuid:read_id}/memories",
    auth=staff_only(PageQuery),
    response=ReadMemoriesOut,
)
def get_read_memories(
    request: ApiRequest, read_id: UUID, query: Query[PageQuery]
) -> ReadMemoriesOut:
    """Read the person's active memories by an open read of your own (staff)."""
    now = clock.now()
    read = admin_reads.find_read(request.auth.user, read_id, now=now)
    bound_to = binding("admin-read", read.pk)
    rows = admin_reads.rows_of(read, now=now).newest_first().for_list()
    if query.cursor is not None:
        rows = rows.after(*read_cursor(query.cursor, bound_to=bound_to).key)
    found = list(rows[: query.limit + 1])
    shown = found[: query.limit]
    following = Place(shown[-1].created_at, shown[-1].pk) if len(found) > query.limit else None
    return ReadMemoriesOut(
        memories=describe_all(request.auth.viewer, shown, now=now),
        next_cursor=write_cursor(following, bound_to=bound_to) if following else None,
        expires_at=read.expires_at,
    )
