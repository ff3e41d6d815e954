"""Memory for chat widgets: a verified person's tiers with one assistant, on recall and sessions.

For hosts that run in this process, and behind the widget's routes. The words are the widget's: its
tiers session, user and org are our session, private and org rows; options live on the Agent. What
is read or written is the bound person's alone: no function here takes a person's id.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import Error, transaction

from junior_memory import access, clock, fingerprints, forgetting, holding, people, sessions
from junior_memory.access import Source, Viewer
from junior_memory.audit import Doer
from junior_memory.candidates import ActorRef
from junior_memory.conf import conf
from junior_memory.errors import InvalidInput, JuniorMemoryError, NotFound
from junior_memory.models import (
    Agent,
    CompletedSession,
    Identity,
    Memory,
    Organization,
    SourcePlatform,
    User,
    Visibility,
)
from junior_memory.querysets import MemoryQuerySet
from junior_memory.recall import Recall, RecallRequest, recall
from junior_memory.text import check_name, clean_text

logger = logging.getLogger(__name__)

LIST_CAP = 100
"""Memories that one page of the widget's list holds at most (CONFORMANCE 254)."""

MAX_TURN = 500_000
"""Characters of one turn; at most the 2 MB that a completed session may have (DESIGN 6)."""

USER_TIER = frozenset({"user"})
Tier = Literal["session", "user", "org"]
TIER_OF: dict[Visibility, Tier] = {
    Visibility.SESSION: "session",
    Visibility.PRIVATE: "user",
    Visibility.ORG: "org",
}
PROVIDER, TENANT = people.CHAT, "chat"
"""The account by which a widget's person is known; its subject cannot be guessed."""

DEFAULT_TIMEOUT_MS: int = Agent._meta.get_field("retrieve_timeout_ms").default


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """One person's conversation with one assistant, as the host has verified it; see `bind`."""

    user: User
    agent: Agent
    conversation_id: str
    organization: Organization | None = None


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One line of a turn; what tools and systems said is no line of it."""

    role: Literal["user", "assistant"]
    text: str


def bind(
    user: User,
    *,
    conversation_id: str,
    agent: str = people.DEFAULT_AGENT,
    organization: Organization | None = None,
) -> Chat:
    """Bind a verified person to an assistant and a conversation.

    `organization` is the server's own word, never the browser's; one that the person does not
    belong to counts as none. Raises NotFound for an unknown agent, InvalidInput for an id that is
    none.
    """
    return Chat(
        user=user,
        agent=agent_of(agent),
        conversation_id=check_name(conversation_id, field="conversation_id"),
        organization=organization if access.is_member(user, organization) else None,
    )


def retrieve(chat: Chat, text: str, *, now: datetime | None = None) -> Recall:
    """Return what fits a message: a block for the prompt, and the memories in it.

    Bounded by the agent's limit, least score, tiers and time. Never raises: what fails or is late
    gives nothing, and the turn goes on without memory.
    """
    try:
        return recall(
            RecallRequest(
                viewer=_viewer(chat),
                agent=chat.agent,
                conversation_id=chat.conversation_id,
                source=Source(
                    platform=SourcePlatform.WEB,
                    key=chat.conversation_id,
                    visibility=Visibility.PRIVATE,
                ),
                text=clean_text(text),
                limit=chat.agent.limit,
                deadline_ms=_deadline_ms(chat.agent),
            ),
            now=now,
        )
    except (JuniorMemoryError, Error) as error:
        logger.warning("a widget goes on without memory (%s)", type(error).__name__)
        return Recall(None, (), uuid.uuid4(), "off")


def record(
    chat: Chat,
    messages: Sequence[ChatMessage],
    *,
    turn_id: str,
    completed_at: datetime | None = None,
    now: datetime | None = None,
) -> CompletedSession | None:
    """Hand in a turn whose answer is stored; a worker learns from it. Not for an aborted one.

    `turn_id` is the host's own for this turn: handing it in again changes nothing, other words
    under it are refused. What is learned goes to the agent's save tier. Never raises: None when it
    could not be taken in.
    """
    moment = now or clock.now()
    try:
        actor = _actor_of(chat.user, now=moment)
        if actor is None:
            return None
        session_id = _session_id(chat, turn_id)
        given = sessions.SessionInput(
            session_id=session_id,
            conversation_id=chat.conversation_id,
            source=save_source(chat),
            actor=actor,
            actors=(actor,),
            completed_at=completed_at or _first_handed_in(chat, session_id) or moment,
            transcript=_transcript(messages, actor),
        )
        session, _ = sessions.take_in(
            given, agent=chat.agent, organization=chat.organization, now=moment
        )
    except (JuniorMemoryError, Error) as error:
        logger.warning("a widget's turn was not taken in (%s)", type(error).__name__)
        return None
    return session


def read_tiers(chat: Chat) -> frozenset[str]:
    """Return the tiers that are read: the agent's, without the org tier where there is no org.

    The user tier when none is left.
    """
    tiers = frozenset(chat.agent.tiers) & access.TIERS
    if chat.organization is None:
        tiers -= {"org"}
    return tiers or USER_TIER


def save_source(chat: Chat) -> Source:
    """Return the Source that makes what is learned belong to the agent's save tier.

    Without an organization the org tier is the user tier: narrower, never a row nobody reaches.
    """
    tier = chat.agent.save_tier
    to_org = tier == "org" and chat.organization is not None
    return Source(
        platform=SourcePlatform.WEB,
        key=chat.conversation_id,
        visibility=Visibility.ORG if to_org else Visibility.PRIVATE,
        session_only=tier == "session",
    )


def _viewer(chat: Chat) -> Viewer:
    if not chat.user.is_active:
        return access.NOBODY
    return Viewer(
        user=chat.user,
        agent=chat.agent,
        org=chat.organization,
        conversation_id=chat.conversation_id,
        tiers=read_tiers(chat),
    )


def _deadline_ms(agent: Agent) -> int:
    is_own = agent.retrieve_timeout_ms != DEFAULT_TIMEOUT_MS
    return agent.retrieve_timeout_ms if is_own else conf().retrieve_timeout_ms


def _session_id(chat: Chat, turn_id: str) -> str:
    """Name a turn within its person and conversation: hosts may number turns as they like."""
    parts = (str(chat.user.pk), chat.conversation_id, check_name(turn_id, field="turn_id"))
    return f"chat:{uuid.uuid5(uuid.NAMESPACE_OID, chr(0).join(parts))}"


def _first_handed_in(chat: Chat, session_id: str) -> datetime | None:
    """Return when a turn that is known was completed, so that a repeat without a time is one."""
    known = CompletedSession.objects.filter(agent=chat.agent, session_id=session_id)
    return known.values_list("completed_at", flat=True).first()


def _transcript(messages: Sequence[ChatMessage], actor: ActorRef) -> tuple[dict[str, Any], ...]:
    if sum(len(one.text) for one in messages) > MAX_TURN:
        raise InvalidInput(f"A turn holds at most {MAX_TURN} characters.")
    return tuple(_entry(one, actor) for one in messages)


def _entry(message: ChatMessage, actor: ActorRef) -> dict[str, Any]:
    text = clean_text(message.text)
    entry: dict[str, Any] = {"type": "message", "role": message.role, "text": text}
    if message.role == "user":
        speaker = {
            "provider": actor.provider,
            "tenant": actor.tenant,
            "subject": actor.subject,
            "kind": "human",
        }
        entry |= {"authority": "instruction", "actor": speaker}
    return entry


def _actor_of(user: User, *, now: datetime) -> ActorRef | None:
    """Return the account by which this person is known here, linked to them the first time.

    None when they have unlinked it since: then nothing is learned.
    """
    if not user.is_active:
        return None
    refs = [
        ActorRef(PROVIDER, TENANT, subject)
        for subject in fingerprints.keyed_all("chat-actor", str(user.pk))
    ]
    for ref in refs:
        known = people.find_identity(ref)
        if known is not None:
            return ref if known.user_id == user.pk else None
    with transaction.atomic():
        identity: Identity = people.identity_for(refs[0], display_name="Chat")
        people.link_identity(identity, user, doer=Doer(via="api"), now=now)
    return refs[0]


def agent_of(name: str) -> Agent:
    """Return the agent of this name; the default one is always there. Raises NotFound."""
    if name == people.DEFAULT_AGENT:
        return people.agent_named(name)[0]
    agent = Agent.objects.filter(name=name).first()
    if agent is None:
        raise NotFound("There is no agent of that name.")
    return agent


def user_tier(viewer: Viewer, agent: Agent, *, now: datetime | None = None) -> MemoryQuerySet:
    """Select the viewer's own active memories of the user tier with one agent."""
    rows = Memory.objects.visible_to(viewer).own(viewer).active(now or clock.now())
    return rows.filter(agent=agent, visibility=Visibility.PRIVATE)


def tier_of(memory: Memory) -> Tier:
    """Return a memory's tier in the widget's words."""
    return TIER_OF[Visibility(memory.visibility)]


def forget_tiers(viewer: Viewer, agent: Agent, *, doer: Doer, now: datetime | None = None) -> None:
    """Forget every row the viewer owns with one agent, in all tiers; one batch that undoes it."""
    forgetting.forget_all(viewer, agent=agent, doer=doer, now=now)


def forget_one(
    viewer: Viewer, agent: Agent, memory_id: UUID, *, doer: Doer, now: datetime | None = None
) -> None:
    """See to it that one row of the viewer's own is remembered no longer, whatever its tier.

    What is out of the active set already stays as it is. Raises NotFound for rows of others, public
    ones and other agents' alike.
    """
    if not Memory.objects.own(viewer).filter(agent=agent, pk=memory_id).exists():
        raise NotFound
    for take_out in (forgetting.forget, holding.decline_held):
        try:
            take_out(viewer, memory_id, doer=doer, now=now)
        except NotFound:
            continue
        return
