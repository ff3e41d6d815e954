"""Why a memory is there: provenance, chain, and where it was used."""

from datetime import datetime
from uuid import UUID

from ninja import Router

from api.auth import ApiRequest, may_read
from api.describe import describe_all, describe_one
from api.schemas import LocationOut, MemoryOut, Moment, OriginName, Out
from junior_memory import clock, history
from junior_memory.history import History

router = Router(tags=["memories"], by_alias=True)


class ProvenanceOut(Out):
    """How it was learned; conversation, session and place only where the caller may know them."""

    origin: OriginName
    agent: str
    source_platform: str
    observed_at: Moment
    created_at: Moment
    conversation_id: str | None
    session_id: str | None
    location: LocationOut | None


class LinkOut(Out):
    """One wording of the fact."""

    memory: MemoryOut
    current: bool


class EntryOut(Out):
    """One thing that was done to it. Never content."""

    action: str
    by: str
    via: str
    created_at: Moment


class HistoryOut(Out):
    """How a memory came to be what it is: oldest wording first."""

    memory: MemoryOut
    provenance: ProvenanceOut
    chain: list[LinkOut]
    activity: list[EntryOut]


class UseOut(Out):
    """One recall that used it, in a conversation of the caller's own."""

    used_at: Moment
    conversation_id: str
    agent: str
    rank: int
    leg: str


class UsesOut(Out):
    """Where it was used: the caller's own conversations; the rest as a count."""

    total: int
    elsewhere: int
    uses: list[UseOut]


@router.get("/memories/{uuid:memory_id}/history", auth=may_read(), response=HistoryOut)
def get_history(request: ApiRequest, memory_id: UUID) -> HistoryOut:
    """Read where a memory came from and what became of it; also of inactive ones of yours."""
    now = clock.now()
    found = history.history_of(request.auth.viewer, memory_id, now=now)
    return _history(request, found, now)


def _history(request: ApiRequest, found: History, now: datetime) -> HistoryOut:
    viewer, me = request.auth.viewer, request.auth.user.pk
    wordings = [link.memory for link in found.chain]
    shown = {memory.id: memory for memory in describe_all(viewer, wordings, now=now)}
    described = describe_one(viewer, found.memory, now=now)
    return HistoryOut(
        memory=described,
        provenance=ProvenanceOut(
            origin=described.origin,
            agent=described.agent,
            source_platform=described.source_platform,
            observed_at=described.observed_at,
            created_at=described.created_at,
            conversation_id=described.conversation_id,
            session_id=found.session_id,
            location=described.location,
        ),
        chain=[LinkOut(memory=shown[one.memory.pk], current=one.is_current) for one in found.chain],
        activity=[
            EntryOut(
                action=entry.action,
                by="you" if entry.actor_id == me else "staff" if entry.actor_id else "the system",
                via=entry.via,
                created_at=entry.created_at,
            )
            for entry in found.entries
        ],
    )


@router.get("/memories/{uuid:memory_id}/uses", auth=may_read(), response=UsesOut)
def get_uses(request: ApiRequest, memory_id: UUID) -> UsesOut:
    """Read where an active memory was used."""
    uses = history.uses_of(request.auth.viewer, memory_id, now=clock.now())
    return UsesOut(
        total=uses.total,
        elsewhere=uses.elsewhere,
        uses=[
            UseOut(
                used_at=use.used_at,
                conversation_id=use.conversation_id,
                agent=use.agent,
                rank=use.rank,
                leg=use.leg,
            )
            for use in uses.own
        ],
    )
