"""On whose authority a fact is stored, and where: what the call's context says, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.dateparse import parse_datetime

from junior_memory import access, clock
from junior_memory.errors import InvalidInput
from junior_memory.models import MemoryKind, Organization, User, Visibility
from junior_memory.models.memory import MAX_CONTENT_LENGTH
from junior_memory.secrets import contains_secret
from junior_memory.text import normalise_content
from junior_memory.tools.context import ToolContext
from junior_memory.tools.errors import ToolInputError
from junior_memory.tools.schemas import CREATE, CreateArguments, wrong_argument

NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked request to remember: its words, and whose memory it will be."""

    content: str
    kind: str | None
    expires_at: datetime | None
    visibility: str
    owner: User | None
    org: Organization | None


def check_request(arguments: CreateArguments, context: ToolContext, *, now: datetime) -> Request:
    """Return a request whose words and authority are in order; raises ToolInputError."""
    check_may_write(context)
    owner, org = _authority(context)
    request = Request(
        content=_checked_content(arguments.content),
        kind=arguments.kind,
        expires_at=read_expiry(arguments.expires_at, now=now),
        visibility=context.stored_visibility,
        owner=owner,
        org=org,
    )
    if arguments.kind is not None:
        check_kind(arguments.kind, request)
    return request


def check_may_write(context: ToolContext) -> None:
    """Refuse to change memory on nobody's behalf. Raises ToolInputError."""
    if context.viewer.sees_nothing:
        raise ToolInputError("Nobody is known to be acting here.", code="no_actor")
    if context.is_system:
        raise ToolInputError(
            "Memory changes when a person asks for it; here a system account is acting.",
            code="no_person",
        )


def check_kind(kind: str, request: Request) -> None:
    """Refuse a preference of nobody. Raises ToolInputError."""
    if kind == MemoryKind.PREFERENCE and request.owner is None:
        raise ToolInputError(
            "A preference belongs to a person, and the speaker is not linked to one. Facts that "
            "concern everyone here can be remembered as knowledge or procedure.",
            code="no_linked_user",
        )


def _checked_content(text: str) -> str:
    try:
        content = normalise_content(text, limit=MAX_CONTENT_LENGTH)
    except InvalidInput as error:
        raise ToolInputError(error.message, fields=error.fields) from None
    if contains_secret(content):
        raise ToolInputError(
            "That looks like a password, key or token, which is never remembered. Say what it is "
            "for without the secret itself, or leave it.",
            code="secret_or_credential",
            fields={"content": "secret_or_credential"},
        )
    return content


def read_expiry(text: str | None, *, now: datetime) -> datetime | None:
    """Return when a fact expires; None for never. Raises ToolInputError."""
    if text is None or text.strip().lower() == NEVER:
        return None
    try:
        moment = parse_datetime(text.strip())
        if moment is None or moment.tzinfo is None:
            raise wrong_argument(CREATE, "expiresAt")
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise wrong_argument(CREATE, "expiresAt") from None
    if moment <= now or not clock.representable(moment):
        raise ToolInputError(
            "expiresAt must lie in the future; leave it null for a fact that stays true.",
            fields={"expiresAt": "past"},
        )
    return moment


def _authority(context: ToolContext) -> tuple[User | None, Organization | None]:
    """Return whose the memory will be, as the source says. Raises ToolInputError."""
    user, visibility = context.viewer.user, context.stored_visibility
    if not context.source.key:
        raise ToolInputError(
            "This conversation has no stable key, so nothing can be remembered from it.",
            code="no_stable_key",
        )
    if not context.conversation_id and visibility != Visibility.PRIVATE:
        raise ToolInputError(
            "This call names no conversation, so nothing can be remembered from it.",
            code="no_conversation",
        )
    if visibility == Visibility.PUBLIC:
        return user, None
    if user is None:
        raise ToolInputError(
            "What is said here is private, and the speaker is not linked to a person, so there is "
            "nobody to remember it for. Tell them to link themselves: their Settings page shows a "
            "code to give to the assistant in a private conversation.",
            code="no_linked_user",
        )
    if visibility != Visibility.ORG:
        return user, None
    org = context.viewer.org
    if org is None or not access.is_member(user, org):
        raise ToolInputError(
            "What is said here belongs to an organization, and the speaker is no member of one "
            "that this assistant works for, so it cannot be remembered here.",
            code="not_a_member",
        )
    return user, org
