"""Completed conversations: handed in by a host once, processed by a worker."""

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Query, Router, Status
from pydantic import Field

from api.auth import ApiRequest, HostCaller, HostRequest, host_may, staff_only
from api.bodies import SESSION_BODY
from api.failures import Refused
from api.hosts import ActorIn, MemoryMode, SourceIn, check_actor, link_verified
from api.paths import checked_id, ends_with
from api.schemas import In, Instant, Name, Out, Params, Text, Usd, Word
from junior_memory import events, people, sessions
from junior_memory.errors import NotFound
from junior_memory.models import CompletedSession, ConversationEvent, ModelCall

router = Router(tags=["sessions"], by_alias=True)

MAX_ENTRIES = 2000
MAX_ACTORS = 500


class MessageIn(In):
    """Something somebody said. Authority counts on user messages alone; without it, context."""

    type: Literal["message"]
    role: Literal["user", "assistant", "system"]
    text: Text
    at: Instant | None = None
    authority: Literal["instruction", "context"] | None = None
    actor: ActorIn | None = None


class ToolResultIn(In):
    """What a tool answered."""

    type: Literal["toolResult"]
    tool_name: Name
    is_error: bool
    text: Text
    at: Instant | None = None


EntryIn = Annotated[MessageIn | ToolResultIn, Field(discriminator="type")]


class SessionIn(In):
    """A completed conversation."""

    session_id: Name
    conversation_id: Name
    source: SourceIn
    actor: ActorIn | None = None
    actors: Annotated[list[ActorIn], Field(max_length=MAX_ACTORS)]
    completed_at: Instant
    transcript: Annotated[list[EntryIn], Field(max_length=MAX_ENTRIES)]
    memory_mode: MemoryMode = "on"


class TakenOut(Out):
    """How far a session has come."""

    session_id: str
    status: str


class SessionOut(Out):
    """What became of a session: what it captured, what it cost (null when unknown)."""

    session_id: str
    status: str
    reason: str | None
    captured: list[UUID]
    cost_usd: Usd | None
    attempts: int


class AgentQuery(Params):
    """Whose session is meant."""

    agent: Annotated[Word, Field(min_length=1, max_length=255)] = people.DEFAULT_AGENT


def _entry(entry: MessageIn | ToolResultIn) -> dict[str, Any]:
    """Return an entry as the domain keeps it: without names and addresses of the speakers."""
    kept = entry.model_dump(by_alias=True, exclude_none=True, exclude={"at", "actor"})
    if entry.at is not None:
        kept["at"] = entry.at.isoformat()
    if isinstance(entry, MessageIn) and entry.actor is not None:
        speaker = entry.actor
        kept["actor"] = {
            "provider": speaker.provider,
            "tenant": speaker.tenant,
            "subject": speaker.subject,
            "kind": speaker.kind,
        }
    return kept


def _check_speakers(caller: HostCaller, body: SessionIn) -> None:
    """A token speaks for nobody outside its providers, in whatever part of the session."""
    check_actor(caller, body.actor)
    speakers = [entry.actor for entry in body.transcript if isinstance(entry, MessageIn)]
    for one in (*body.actors, *speakers):
        if one is not None and one.kind == "human":
            check_actor(caller, one)


@router.post(
    "/sessions",
    auth=host_may("sessions", is_write=True, intake=SESSION_BODY),
    response={200: TakenOut, 202: TakenOut},
)
def post_session(request: HostRequest, body: SessionIn) -> Status[TakenOut]:
    """Hand in a completed conversation; handing it in again answers how far it has come."""
    caller = request.auth
    _check_speakers(caller, body)
    if body.actor is not None:
        link_verified(caller, body.actor)
    session, is_new = sessions.take_in(
        sessions.SessionInput(
            session_id=body.session_id,
            conversation_id=body.conversation_id,
            source=body.source.to_domain(),
            actor=body.actor.to_domain() if body.actor else None,
            actors=tuple(one.to_domain() for one in body.actors),
            completed_at=body.completed_at,
            transcript=tuple(_entry(entry) for entry in body.transcript),
            memory_mode=body.memory_mode,
        ),
        agent=caller.agent,
        organization=caller.token.organization,
    )
    taken = TakenOut(session_id=session.session_id, status=session.state)
    return Status(202 if is_new else 200, taken)


def _session_of(caller: HostCaller, session_id: str) -> SessionOut:
    session = (
        CompletedSession.objects.filter(agent=caller.agent, session_id=checked_id(session_id))
        .defer("transcript", "extraction_cache")
        .first()
    )
    if session is None:
        raise NotFound
    captures = ConversationEvent.objects.filter(session=session, name=events.MEMORIES_CAPTURED)
    costs = ModelCall.objects.filter(session=session).values_list("cost_usd", flat=True)
    return SessionOut(
        session_id=session.session_id,
        status=session.state,
        reason=session.reason or None,
        captured=[one.id for event in captures for one in events.captured_payload(event).memories],
        cost_usd=events.sum_costs(list(costs)),
        attempts=session.attempts,
    )


@router.post(
    "/sessions/{path:session_id}/retry",
    auth=staff_only(AgentQuery, is_write=True),
    response=TakenOut,
)
def retry_session(
    request: ApiRequest, session_id: str, query: Query[AgentQuery]
) -> Status[TakenOut]:
    """Queue a failed session again (staff)."""
    if not ends_with(request, "retry"):
        raise Refused(
            405,
            "method_not_allowed",
            "This address does not take that method.",
            headers={"Allow": "GET, HEAD"},
        )
    session = CompletedSession.objects.filter(
        agent__name=query.agent, session_id=checked_id(session_id)
    ).first()
    if session is None:
        raise NotFound
    again = sessions.retry_session(session)
    return Status(200, TakenOut(session_id=again.session_id, status=again.state))


@router.get(
    "/sessions/{path:session_id}/retry",
    auth=host_may("sessions"),
    response=SessionOut,
    include_in_schema=False,
)
def get_session_named_retry(request: HostRequest, session_id: str) -> SessionOut:
    """Ask for a session whose id ends in "/retry"."""
    return _session_of(request.auth, f"{session_id}/retry")


@router.get("/sessions/{path:session_id}", auth=host_may("sessions"), response=SessionOut)
def get_session(request: HostRequest, session_id: str) -> SessionOut:
    """Ask what became of a session of this agent."""
    return _session_of(request.auth, session_id)
