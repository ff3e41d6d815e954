"""Recall before a run: what fits a message, inside a deadline that the server keeps."""

import json
import time
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Router
from pydantic import Field

from api.auth import HostCaller, HostGate, HostRequest
from api.bodies import JSON_BODY, take_body
from api.failures import Refused
from api.hosts import ActorIn, MemoryMode, SourceIn, TierName, check_actor
from api.schemas import In, KindName, Moment, Name, Out, Text, Usd, VisibilityName
from junior_memory import access, people
from junior_memory.conf import conf
from junior_memory.deadlines import Deadline, DeadlinePassed, held_to
from junior_memory.models import Agent, Identity
from junior_memory.recall import RecallRequest, recall
from junior_memory.recall_decision import MAX_LINES

router = Router(tags=["recall"], by_alias=True)

MIN_DEADLINE_MS, MAX_DEADLINE_MS = 50, 10_000
DEFAULT_DEADLINE_MS: int = Agent._meta.get_field("retrieve_timeout_ms").default
MAX_TEXT = 32_000


class RecallIn(In):
    """A message that is about to be answered."""

    conversation_id: Name
    source: SourceIn
    actor: ActorIn | None = None
    text: Annotated[Text, Field(max_length=MAX_TEXT)]
    limit: Annotated[int, Field(ge=1, le=MAX_LINES)] | None = None
    deadline_ms: Annotated[int, Field(ge=MIN_DEADLINE_MS, le=MAX_DEADLINE_MS)] | None = None
    tiers: Annotated[list[TierName], Field(max_length=3)] | None = None
    memory_mode: MemoryMode = "on"


class RecalledOut(Out):
    """One memory in the prompt."""

    id: UUID
    content: str
    kind: KindName
    visibility: VisibilityName
    observed_at: Moment


class RecallOut(Out):
    """A block for the prompt, or null when nothing fits; what was honoured, missing or late."""

    prompt: str | None
    memories: list[RecalledOut]
    recall_id: UUID
    memory_mode: MemoryMode
    degraded: list[str]
    timed_out: bool
    cost_usd: Usd | None


class RecallRequestInTime(HostRequest):
    """A host's request whose deadline began when it came in."""

    started_at: float
    deadline: Deadline


def _late() -> Refused:
    return Refused(503, "unavailable", "The service cannot answer in time; go on without memory.")


class RecallGate(HostGate):
    """A host's gate that keeps the call's deadline, also while the database hangs."""

    def __init__(self) -> None:
        super().__init__("recall", intake=JSON_BODY)

    def __call__(self, request: HttpRequest) -> HostCaller:
        """See Gate."""
        started_at = time.monotonic()
        deadline = Deadline.after(_asked_deadline_ms(request), started_at=started_at)
        vars(request).update(started_at=started_at, deadline=deadline)
        try:
            with held_to(deadline):
                caller = super().__call__(request)
        except DeadlinePassed as error:
            raise _late() from error
        if not isinstance(caller, HostCaller):
            raise TypeError("a host's gate lets hosts pass")
        return caller


def _asked_deadline_ms(request: HttpRequest) -> int:
    """Peek at the deadline before anything else is read; what is wrong with it is said later."""
    try:
        take_body(request, JSON_BODY)
        asked = json.loads(request.body).get("deadlineMs")
    except (Refused, ValueError, AttributeError, RecursionError):
        asked = None
    if type(asked) is int and MIN_DEADLINE_MS <= asked <= MAX_DEADLINE_MS:
        return asked
    return conf().retrieve_timeout_ms


def _deadline_ms(asked: int | None, agent: Agent) -> int:
    """Return the host's deadline, else the agent's own, else the deployment's."""
    if asked is not None:
        return asked
    if agent.retrieve_timeout_ms != DEFAULT_DEADLINE_MS:
        return agent.retrieve_timeout_ms
    return conf().retrieve_timeout_ms


@router.post("/recall", auth=RecallGate(), response=RecallOut)
def post_recall(request: RecallRequestInTime, body: RecallIn) -> RecallOut:
    """Recall what fits a message; answers inside the deadline or answers nothing."""
    caller, source = request.auth, body.source.to_domain()
    check_actor(caller, body.actor)
    viewer = access.host(
        caller.token,
        actor=_identity(request, body.actor),
        source=source,
        conversation_id=body.conversation_id,
        tiers=access.TIERS if body.tiers is None else frozenset(body.tiers),
    )
    answer = recall(
        RecallRequest(
            viewer=viewer,
            agent=caller.agent,
            conversation_id=body.conversation_id,
            source=source,
            text=body.text,
            limit=body.limit or caller.agent.limit,
            deadline_ms=_deadline_ms(body.deadline_ms, caller.agent),
            memory_mode=body.memory_mode,
            started_at=request.started_at,
        )
    )
    return RecallOut(
        prompt=answer.prompt,
        memories=[
            RecalledOut(
                id=one.id,
                content=one.content,
                kind=one.kind,
                visibility=one.visibility,
                observed_at=one.observed_at,
            )
            for one in answer.memories
        ],
        recall_id=answer.recall_id,
        memory_mode=answer.memory_mode,
        degraded=list(answer.degraded),
        timed_out=answer.timed_out,
        cost_usd=answer.cost_usd,
    )


def _identity(request: RecallRequestInTime, actor: ActorIn | None) -> Identity | None:
    """Find the actor's Identity; an unknown one is not made by reading."""
    if actor is None:
        return None
    try:
        with held_to(request.deadline):
            return people.find_identity(actor.to_domain())
    except DeadlinePassed as error:
        raise _late() from error
