"""A person's memories: list, remember, read, correct, forget, undo, erase, report."""

from typing import Annotated
from uuid import NAMESPACE_OID, UUID, uuid5

from ninja import Query, Router, Status
from pydantic import Field

from api.auth import ApiRequest, may_read, may_write
from api.bodies import NO_BODY
from api.describe import describe_one
from api.failures import Refused
from api.listing import MemoryQuery, list_memories
from api.schemas import (
    In,
    Instant,
    KindName,
    MemoryOut,
    MemoryPageOut,
    Moment,
    Name,
    Out,
    RefusalOut,
    Text,
)
from junior_memory import clock, forgetting, history, holding, memories, people
from junior_memory.errors import InvalidInput
from junior_memory.models import Agent, Origin, SourcePlatform, SubjectType, Visibility

router = Router(tags=["memories"], by_alias=True)


class NewMemoryIn(In):
    """A person's own words."""

    content: Text
    kind: KindName = "knowledge"
    agent: Name = people.DEFAULT_AGENT
    expires_at: Instant | None = None
    idempotency_key: Name | None = None


class CorrectionIn(In):
    """Better words for a memory, and the version they were written for."""

    content: Text
    version: int


class ReasonIn(In):
    """Why something is asked for."""

    reason: Annotated[Text, Field(min_length=1, max_length=200)]


class SelectionIn(In):
    """Which memories."""

    ids: Annotated[list[Name], Field(min_length=1, max_length=forgetting.MAX_BATCH)]


class ForgetAllIn(In):
    """Everything, confirmed in words; of one agent when it is named."""

    confirm: str
    agent: Name | None = None


class ForgottenOut(Out):
    """What a selection came to, id by id."""

    batch_id: UUID
    forgotten: list[UUID]
    not_found: list[str]
    refused: list[RefusalOut]


class ForgottenAllOut(Out):
    """How much was forgotten, and the batch that undoes it."""

    batch_id: UUID
    forgotten: int


class RestoredOut(Out):
    """What undoing a batch came to."""

    restored: int
    skipped: list[RefusalOut]


class PlaceOut(Out):
    """One place that held the memory, and how many rows of it were emptied there."""

    name: str
    rows: int


class ReceiptOut(Out):
    """Proof of an erasure."""

    id: UUID
    places: list[PlaceOut]
    erased_at: Moment


def agent_or_refuse(name: str) -> Agent:
    """Return the agent a person names; the default one is always there. Raises InvalidInput."""
    if name == people.DEFAULT_AGENT:
        return people.agent_named(name)[0]
    agent = Agent.objects.filter(name=name).first()
    if agent is None:
        raise InvalidInput("There is no agent of that name.", fields={"agent": "unknown"})
    return agent


@router.get("/memories", auth=may_read(MemoryQuery), response=MemoryPageOut)
def get_memories(request: ApiRequest, query: Query[MemoryQuery]) -> MemoryPageOut:
    """List or search what you may see; other states than active are your own rows."""
    return list_memories(request.auth.viewer, query, now=clock.now())


@router.post("/memories", auth=may_write(), response={200: MemoryOut, 201: MemoryOut})
def post_memory(request: ApiRequest, body: NewMemoryIn) -> Status[MemoryOut]:
    """Remember something as you typed it: private, explicit, about you.

    The same `idempotencyKey` again answers 200 with the memory that the first call made, also when
    `content` differs: another text wants another key.
    """
    user, now = request.auth.user, clock.now()
    agent = agent_or_refuse(body.agent)
    key = body.idempotency_key
    created = memories.create_memory(
        memories.NewMemory(
            content=body.content,
            kind=body.kind,
            visibility=Visibility.PRIVATE,
            agent=agent,
            origin=Origin.EXPLICIT,
            source_platform=SourcePlatform.API,
            owner=user,
            subject_type=SubjectType.USER,
            subject_key=str(user.pk),
            retry_key=("api", str(user.pk), str(agent.pk), key) if key else (),
            expires_at=body.expires_at,
        ),
        now=now,
    )
    viewer = request.auth.viewer
    # What answers a repeat may wait for a decision, so it is found as one's own in any state.
    memory = history.find_own_memory(viewer, created.stored.pk, now=now)
    return Status(201 if created.created else 200, describe_one(viewer, memory, now=now))


@router.post("/memories/forget", auth=may_write(), response=ForgottenOut)
def forget_selection(request: ApiRequest, body: SelectionIn) -> ForgottenOut:
    """Forget a selection as one batch; every id gets its own outcome."""
    asked = {_id_or_stand_in(text): text for text in body.ids}
    result = forgetting.forget_many(request.auth.viewer, list(asked), doer=request.auth.doer)
    return ForgottenOut(
        batch_id=result.batch_id,
        forgotten=list(result.forgotten),
        not_found=[asked[one] for one in result.not_found],
        refused=[RefusalOut(id=one.id, code=one.code) for one in result.refused],
    )


def _id_or_stand_in(text: str) -> UUID:
    """Return the id a text spells; what spells none is given one that no memory has."""
    try:
        memory_id = UUID(text)
    except ValueError:
        return uuid5(NAMESPACE_OID, text)
    return memory_id if str(memory_id) == text.lower() else uuid5(NAMESPACE_OID, text)


@router.post("/memories/forget-all", auth=may_write(), response=ForgottenAllOut)
def forget_everything(request: ApiRequest, body: ForgetAllIn) -> ForgottenAllOut:
    """Forget everything of yours; the batch can be restored within the undo window."""
    if body.confirm != "forget everything":
        raise Refused(
            422,
            "invalid",
            'Confirm with the words "forget everything".',
            fields={"confirm": "must read: forget everything"},
        )
    agent = agent_or_refuse(body.agent) if body.agent is not None else None
    result = forgetting.forget_all(request.auth.viewer, doer=request.auth.doer, agent=agent)
    return ForgottenAllOut(batch_id=result.batch_id, forgotten=len(result.forgotten))


@router.post(
    "/forget-batches/{uuid:batch_id}/restore", auth=may_write(NO_BODY), response=RestoredOut
)
def restore_batch(request: ApiRequest, batch_id: UUID) -> RestoredOut:
    """Undo a batch as far as it goes."""
    result = forgetting.restore_batch(request.auth.viewer, batch_id, doer=request.auth.doer)
    return RestoredOut(
        restored=result.restored,
        skipped=[RefusalOut(id=one.id, code=one.code) for one in result.skipped],
    )


@router.get("/memories/{uuid:memory_id}", auth=may_read(), response=MemoryOut)
def get_memory(request: ApiRequest, memory_id: UUID) -> MemoryOut:
    """Read one active memory."""
    now = clock.now()
    memory = history.find_memory(request.auth.viewer, memory_id, now=now)
    return describe_one(request.auth.viewer, memory, now=now)


@router.patch("/memories/{uuid:memory_id}", auth=may_write(), response=MemoryOut)
def patch_memory(request: ApiRequest, memory_id: UUID, body: CorrectionIn) -> MemoryOut:
    """Correct a memory of yours: a new id that supersedes the old."""
    viewer, now = request.auth.viewer, clock.now()
    corrected = memories.correct_memory(
        viewer, memory_id, body.content, version=body.version, doer=request.auth.doer, now=now
    )
    return describe_one(viewer, history.find_own_memory(viewer, corrected.pk, now=now), now=now)


@router.delete("/memories/{uuid:memory_id}", auth=may_write(NO_BODY), response={204: None})
def delete_memory(request: ApiRequest, memory_id: UUID) -> Status[None]:
    """Forget a memory of yours; it can be restored within the undo window."""
    forgetting.forget(request.auth.viewer, memory_id, doer=request.auth.doer)
    return Status(204, None)


@router.post("/memories/{uuid:memory_id}/restore", auth=may_write(NO_BODY), response=MemoryOut)
def restore_memory(request: ApiRequest, memory_id: UUID) -> MemoryOut:
    """Bring back what you forgot."""
    viewer, now = request.auth.viewer, clock.now()
    back = forgetting.restore(viewer, memory_id, doer=request.auth.doer, now=now)
    return describe_one(viewer, history.find_own_memory(viewer, back.pk, now=now), now=now)


@router.post("/memories/{uuid:memory_id}/erase", auth=may_write(NO_BODY), response=ReceiptOut)
def erase_memory(request: ApiRequest, memory_id: UUID) -> ReceiptOut:
    """Erase a memory of yours for good, in whatever state it is."""
    receipt = forgetting.erase(request.auth.viewer, memory_id, doer=request.auth.doer)
    return ReceiptOut(
        id=receipt.memory_id,
        places=[PlaceOut(**place) for place in receipt.places],
        erased_at=receipt.erased_at,
    )


@router.post("/memories/{uuid:memory_id}/report", auth=may_write(), response={202: None})
def report_memory(request: ApiRequest, memory_id: UUID, body: ReasonIn) -> Status[None]:
    """Report a public memory that you wrote or that is about you; staff decide."""
    holding.report_public(
        request.auth.viewer, memory_id, reason=body.reason, doer=request.auth.doer
    )
    return Status(202, None)
