"""Who asks over the Model Context Protocol, and for whom: a token, and what its host says with it.

A personal token acts as its person from a private `api` Source. An agent's token acts for the actor
that its host names, in the Source that it names; without both it reads public memory alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import unquote

from pydantic import ValidationError

from api.auth import find_live_token
from api.failures import forbidden, unauthenticated
from api.hosts import ActorIn, SourceIn
from api.mcp.protocol import Code, ProtocolError
from junior_memory import access, people
from junior_memory.access import Source
from junior_memory.candidates import ActorRef
from junior_memory.conf import conf
from junior_memory.errors import Forbidden, InvalidInput
from junior_memory.models import ApiToken, TokenKind
from junior_memory.text import check_name
from junior_memory.tools import READ_TOOLS, WRITE_TOOLS, ToolContext, host_context

ACTOR_FORM = "provider/tenant/subject"
SOURCE_FORM = "platform/visibility/key"

NOWHERE = Source(platform="other")
"""Where an agent's host speaks from when it does not say."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a host says beside its token, as it wrote it; `names` are its words for the three."""

    actor: str = ""
    source: str = ""
    conversation: str = ""
    names: tuple[str, str, str] = ("X-Memory-Actor", "X-Memory-Source", "X-Memory-Conversation")


@dataclass(frozen=True, slots=True)
class Asker:
    """A live token, the tools that its scopes open, and what its host says."""

    token: ApiToken
    tools: frozenset[str]
    claims: Claims

    def spend(self, *, is_write: bool) -> None:
        """Count one call against the token's limit. Raises RateLimited."""
        limit = conf().token_writes_per_minute if is_write else conf().token_reads_per_minute
        people.spend_rate(f"{'write' if is_write else 'read'}:token:{self.token.pk}", limit=limit)


def admit(secret: str | None, claims: Claims) -> Asker:
    """Return who asks with this secret. Raises Refused: 401 unknown, 403 no fitting scope."""
    if secret is None:
        raise unauthenticated("Send a token: Authorization: Bearer …")
    token = find_live_token(secret)
    tools = _opened_by(token)
    if not tools:
        wanted = "read or write" if token.kind == TokenKind.PERSONAL else "tools"
        raise forbidden(f"This token lacks the scope {wanted}.")
    return Asker(token=token, tools=tools, claims=claims)


def _opened_by(token: ApiToken) -> frozenset[str]:
    if token.kind == TokenKind.AGENT:
        return READ_TOOLS | WRITE_TOOLS if "tools" in token.scopes else frozenset()
    return frozenset().union(
        READ_TOOLS if "read" in token.scopes else (), WRITE_TOOLS if "write" in token.scopes else ()
    )


def context_of(asker: Asker) -> ToolContext:
    """Return for whom the tools act. Raises ProtocolError for what a host wrote in another form."""
    token, claims = asker.token, asker.claims
    conversation = _read_conversation(claims)
    if token.user is not None:
        return ToolContext(
            viewer=access.person(token.user, token=token),
            agent=people.agent_named(people.DEFAULT_AGENT)[0],
            source=Source(platform="api", key=f"token:{token.pk}", visibility="private"),
            conversation_id=conversation,
            token=token,
        )
    actor, source = _read_actor(claims), _read_source(claims)
    try:
        context = host_context(
            token, actor=actor, source=source or NOWHERE, conversation_id=conversation
        )
    except Forbidden as error:
        raise ProtocolError(
            Code.INVALID_PARAMS,
            error.message,
            data={"code": error.code, "fields": {claims.names[0]: error.code}},
            status=403,
        ) from error
    if source is None:
        # Nobody can say who else reads the answer, so nobody's memory is read.
        return replace(context, actor=None, viewer=access.host(token, actor=None, source=NOWHERE))
    return context


def may_write(context: ToolContext) -> bool:
    """True for a person, and for an agent whose host has said for whom and where."""
    return context.actor is not None or context.viewer.user is not None


def _read_actor(claims: Claims) -> ActorRef | None:
    if not claims.actor:
        return None
    parts = _parts(claims.actor, claims.names[0], ACTOR_FORM)
    try:
        return ActorIn(provider=parts[0], tenant=parts[1], subject=parts[2]).to_domain()
    except ValidationError as error:
        raise _malformed(claims.names[0], ACTOR_FORM) from error


def _read_source(claims: Claims) -> Source | None:
    if not claims.source:
        return None
    platform, visibility, key = _parts(claims.source, claims.names[1], SOURCE_FORM)
    try:
        return SourceIn.model_validate(
            {"platform": platform, "visibility": visibility or None, "key": key or None}
        ).to_domain()
    except ValidationError as error:
        raise _malformed(claims.names[1], SOURCE_FORM) from error


def _read_conversation(claims: Claims) -> str:
    if not claims.conversation:
        return ""
    try:
        return check_name(_plain(claims.conversation), field="conversation")
    except (ValueError, InvalidInput) as error:
        raise _malformed(claims.names[2], "conversation id") from error


def _parts(text: str, name: str, form: str) -> list[str]:
    """Return the three parts between slashes; a slash inside a part is written %2F."""
    parts = text.split("/")
    if len(parts) != 3:
        raise _malformed(name, form)
    try:
        return [_plain(part) for part in parts]
    except ValueError as error:
        raise _malformed(name, form) from error


def _plain(part: str) -> str:
    """Return what a percent-encoded part stands for. Raises ValueError."""
    if not part.isascii():
        raise ValueError("not ASCII")
    return unquote(part, errors="strict")


def _malformed(name: str, form: str) -> ProtocolError:
    return ProtocolError(
        Code.INVALID_PARAMS,
        f"{name} must read {form}, each part percent-encoded and of 1 to 255 characters.",
        data={"code": "malformed", "fields": {name: f"must read {form}"}},
        status=422,
    )
