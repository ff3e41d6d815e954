"""The chat widget's memory controls, in the widget's own words: list, clear, delete one."""

from typing import Annotated
from uuid import UUID

from ninja import Query, Router, Status
from pydantic import Field

from api.auth import ApiRequest, PersonGate
from api.bodies import NO_BODY
from api.cursors import Place, binding, read_cursor, write_cursor
from api.schemas import KindName, Moment, OriginName, Out, Params, Whole, Word
from junior_memory import clock, widget
from junior_memory.models import Memory
from junior_memory.people import DEFAULT_AGENT
from junior_memory.text import MAX_NAME_LENGTH

router = Router(tags=["chat widgets"], by_alias=True)


class AgentQuery(Params):
    """Which assistant's memory."""

    agent: Annotated[Word, Field(min_length=1, max_length=MAX_NAME_LENGTH)] = DEFAULT_AGENT


class ChatListQuery(AgentQuery):
    """Which part of the list."""

    limit: Annotated[Whole, Field(ge=1, le=widget.LIST_CAP)] = widget.LIST_CAP
    cursor: Word | None = None


class ChatMetadataOut(Out):
    """What a widget may show beside a memory."""

    kind: KindName
    origin: OriginName
    observed_at: Moment
    expires_at: Moment | None


class ChatMemoryOut(Out):
    """One memory in the widget's words; the list holds the user tier alone."""

    id: UUID
    text: str
    scope: widget.Tier
    created_at: Moment
    metadata: ChatMetadataOut


class ChatMemoriesOut(Out):
    """The user tier of the caller, newest first; `nextCursor` leads to older ones."""

    memories: list[ChatMemoryOut]
    next_cursor: str | None


def _may_read() -> PersonGate:
    return PersonGate("read", query=ChatListQuery)


def _may_write() -> PersonGate:
    return PersonGate("write", query=AgentQuery, intake=NO_BODY, is_write=True)


@router.get("/memory", auth=_may_read(), response=ChatMemoriesOut)
def get_chat_memory(request: ApiRequest, query: Query[ChatListQuery]) -> ChatMemoriesOut:
    """List what one assistant remembers of you across conversations; not everything held."""
    viewer, agent = request.auth.viewer, widget.agent_of(query.agent)
    bound_to = binding("chat-memory", request.auth.user.pk, agent.pk)
    rows = widget.user_tier(viewer, agent, now=clock.now()).newest_first().for_list()
    if query.cursor is not None:
        rows = rows.after(*read_cursor(query.cursor, bound_to=bound_to).key)
    found = list(rows[: query.limit + 1])
    shown = found[: query.limit]
    following = Place(shown[-1].created_at, shown[-1].pk) if len(found) > query.limit else None
    return ChatMemoriesOut(
        memories=[_in_its_words(memory) for memory in shown],
        next_cursor=write_cursor(following, bound_to=bound_to) if following else None,
    )


def _in_its_words(memory: Memory) -> ChatMemoryOut:
    return ChatMemoryOut(
        id=memory.pk,
        text=memory.content,
        scope=widget.tier_of(memory),
        created_at=memory.created_at,
        metadata=ChatMetadataOut(
            kind=memory.kind,
            origin=memory.origin,
            observed_at=memory.observed_at,
            expires_at=memory.expires_at,
        ),
    )


@router.delete("/memory", auth=_may_write(), response={204: None})
def delete_chat_memory(request: ApiRequest, query: Query[AgentQuery]) -> Status[None]:
    """Forget everything of yours with one assistant, in every tier; undone on Settings."""
    widget.forget_tiers(request.auth.viewer, widget.agent_of(query.agent), doer=request.auth.doer)
    return Status(204, None)


@router.delete("/memory/{uuid:memory_id}", auth=_may_write(), response={204: None})
def delete_one_chat_memory(
    request: ApiRequest, memory_id: UUID, query: Query[AgentQuery]
) -> Status[None]:
    """Forget one memory of yours; also 204 when it is forgotten already."""
    widget.forget_one(
        request.auth.viewer,
        widget.agent_of(query.agent),
        memory_id,
        doer=request.auth.doer,
    )
    return Status(204, None)
