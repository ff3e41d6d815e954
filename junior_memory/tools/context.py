"""On whose authority a tool runs. Filled in by a host or a credential, never by a model."""

from __future__ import annotations

from dataclasses import dataclass

from junior_memory import access, people
from junior_memory.access import Source, Viewer
from junior_memory.candidates import ActorRef
from junior_memory.errors import Forbidden
from junior_memory.models import Agent, ApiToken, SourcePlatform, User, Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Who acts, from where, in which conversation.

    `viewer` decides what is seen and whose memories change; `actor` is the account that acts.
    `user_text` is the message that asked for it, shown to a reviewing model as evidence.
    Tool-call ids count for one token, agent, actor, source and conversation; `namespace` adds to
    that, for hosts in the same process that have no token to tell them apart.
    """

    viewer: Viewer
    agent: Agent
    source: Source
    conversation_id: str
    actor: ActorRef | None = None
    token: ApiToken | None = None
    user_text: str | None = None
    namespace: tuple[str, ...] = ()

    @property
    def is_system(self) -> bool:
        """True when no person is acting but a job of the host's."""
        return self.actor is not None and not self.actor.is_human

    @property
    def stored_visibility(self) -> str:
        """Who may see what is remembered here: the source decides, nothing else."""
        if self.source.session_only:
            return Visibility.SESSION
        return self.source.stored_visibility

    def call_key(self, tool: str, tool_call_id: str) -> tuple[str, ...]:
        """Name one call: an id counts for one token, agent, actor, conversation and tool."""
        actor = self.actor
        user = self.viewer.user
        return (
            str(self.token.pk) if self.token else "",
            str(self.agent.pk),
            *((actor.provider, actor.tenant, actor.subject) if actor else ("", "", "")),
            str(user.pk) if user and actor is None else "",
            self.source.platform,
            self.source.key,
            self.stored_visibility,
            self.conversation_id,
            "/".join(self.namespace),
            tool,
            tool_call_id,
        )


def host_context(
    token: ApiToken,
    *,
    actor: ActorRef | None,
    source: Source,
    conversation_id: str,
    user_text: str | None = None,
) -> ToolContext:
    """Return the context of an agent host that acts for `actor`; writes nothing.

    Raises Forbidden for an actor that the token does not speak for.
    """
    if token.agent is None:
        raise Forbidden("This token belongs to no agent.")
    if actor is not None and not people.token_admits(token, actor):
        raise Forbidden("This token does not speak for that provider and tenant.")
    viewer = access.host(
        token,
        actor=people.find_identity(actor) if actor is not None else None,
        source=source,
        conversation_id=conversation_id,
    )
    return ToolContext(
        viewer=viewer,
        agent=token.agent,
        source=source,
        conversation_id=conversation_id,
        actor=actor,
        token=token,
        user_text=user_text,
    )


def person_context(
    user: User,
    *,
    conversation_id: str,
    token: ApiToken | None = None,
    agent: Agent | None = None,
    user_text: str | None = None,
) -> ToolContext:
    """Return the context of a person who acts for themselves, from a private `api` source."""
    return ToolContext(
        viewer=access.person(user, token=token),
        agent=agent or people.agent_named(people.DEFAULT_AGENT)[0],
        source=Source(
            platform=SourcePlatform.API, key=conversation_id, visibility=Visibility.PRIVATE
        ),
        conversation_id=conversation_id,
        token=token,
        user_text=user_text,
    )
