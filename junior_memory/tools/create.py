"""createMemory: what somebody asked for in so many words, stored on their own authority."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime

from junior_memory import access, clock, people, sessions
from junior_memory.errors import Conflict, Forgotten, InvalidInput, JuniorMemoryError, QuotaExceeded
from junior_memory.locks import lock, owner_lock
from junior_memory.memories import Created, NewMemory, create_memory, end_of_chain
from junior_memory.models import (
    ArchiveReason,
    Memory,
    MemoryKind,
    Organization,
    Origin,
    SubjectType,
    User,
    Visibility,
)
from junior_memory.models.memory import MAX_CONTENT_LENGTH
from junior_memory.secrets import contains_secret
from junior_memory.text import normalise_content
from junior_memory.tools.answers import describe_memory
from junior_memory.tools.calls import (
    Claim,
    Finished,
    claim_call,
    finish_call,
    work_of,
)
from junior_memory.tools.context import ToolContext
from junior_memory.tools.errors import ToolInputError
from junior_memory.tools.schemas import CREATE, CreateArguments, wrong_argument

CREATED = "created"
EXISTING = "existing"

NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A checked request: its words, and on whose authority they are stored."""

    content: str
    kind: str | None
    expires_at: datetime | None
    visibility: str
    owner: User | None
    org: Organization | None


def create(
    arguments: CreateArguments, context: ToolContext, *, tool_call_id: str, now: datetime
) -> dict[str, Any]:
    """Remember one fact; the same tool-call id again answers with the same memory.

    Nobody is asked and nothing is claimed before the words and the authority are in order. Raises
    ToolInputError, Forgotten for an id whose memory was forgotten, StillRunning.
    """
    asked = _check(arguments, context, now)
    key = context.call_key(CREATE, tool_call_id)
    claim = claim_call(
        key, tool=CREATE, agent=context.agent, is_spent=lambda found: _is_spent(found, now)
    )
    if isinstance(claim, Finished):
        return _repeat(claim, context)
    try:
        with work_of(claim):
            return _remember(asked, context, claim, key, now)
    except JuniorMemoryError as error:
        raise _as_input_error(error) from None


def _check(arguments: CreateArguments, context: ToolContext, now: datetime) -> Asked:
    """Check what needs no model; raises ToolInputError."""
    try:
        content = normalise_content(arguments.content, limit=MAX_CONTENT_LENGTH)
    except InvalidInput as error:
        raise ToolInputError(error.message, fields=error.fields) from None
    if contains_secret(content):
        raise ToolInputError(
            "That looks like a password, key or token, which is never remembered. Say what it is "
            "for without the secret itself, or leave it.",
            code="secret_or_credential",
            fields={"content": "secret_or_credential"},
        )
    expires_at = read_expiry(arguments.expires_at, now=now)
    check_may_write(context)
    owner, org = _authority(context)
    asked = Asked(
        content=content,
        kind=arguments.kind,
        expires_at=expires_at,
        visibility=context.stored_visibility,
        owner=owner,
        org=org,
    )
    if arguments.kind is not None:
        _check_kind(arguments.kind, asked)
    return asked


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


def check_may_write(context: ToolContext) -> None:
    """Refuse calls on nobody's behalf. Raises ToolInputError."""
    if context.viewer.sees_nothing:
        raise ToolInputError("Nobody is known to be acting here.", code="no_actor")
    if context.is_system:
        raise ToolInputError(
            "Memory changes when a person asks for it; here a system account is acting.",
            code="no_person",
        )


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
            "nobody to remember it for. Tell them to link themselves: the Settings page shows a "
            "code to give to the assistant in a private conversation.",
            code="no_linked_user",
        )
    if visibility != Visibility.ORG:
        return user, None
    org = context.viewer.org
    if org is None or not access.is_member(user, org):
        raise ToolInputError(
            "What is said here belongs to an organization, and the speaker is no member of one "
            "that this assistant works for. It cannot be remembered here.",
            code="not_a_member",
        )
    return user, org


def _check_kind(kind: str, asked: Asked) -> None:
    if kind == MemoryKind.PREFERENCE and asked.owner is None:
        raise ToolInputError(
            "A preference belongs to a person, and the speaker is not linked to one. Facts that "
            "concern everyone here can be remembered as knowledge or procedure.",
            code="no_linked_user",
        )


def _new_memory(
    asked: Asked,
    context: ToolContext,
    key: tuple[str, ...],
    *,
    content: str,
    kind: str,
    expires_at: datetime | None,
) -> NewMemory:
    source = context.source
    # What a person notes outside of any conversation is about them, whatever its kind.
    is_personal = kind == MemoryKind.PREFERENCE or not context.conversation_id
    subject = asked.owner if is_personal else None
    said = (asked.content, context.user_text or "")
    return NewMemory(
        content=content,
        kind=kind,
        visibility=asked.visibility,
        agent=context.agent,
        origin=Origin.EXPLICIT,
        source_platform=source.platform,
        owner=asked.owner,
        org=asked.org,
        conversation_id=context.conversation_id or None,
        subject_type=SubjectType.USER if subject else SubjectType.CONVERSATION,
        subject_key=str(subject.pk) if subject else context.conversation_id,
        source_key=source.key,
        location=sessions.keep_location(source.location),
        retry_key=("tool", *key),
        expires_at=expires_at,
        learned_from=people.identity_for(context.actor) if context.actor else None,
        utterances=tuple(text for text in dict.fromkeys(said) if text.strip()),
    )


def _remember(
    asked: Asked, context: ToolContext, claim: Claim, key: tuple[str, ...], now: datetime
) -> dict[str, Any]:
    """Store it and write what the call came to, in one transaction."""
    kind = asked.kind or MemoryKind.KNOWLEDGE
    with transaction.atomic():
        lock([owner_lock(asked.owner.pk if asked.owner else None)])
        new = _new_memory(
            asked, context, key, content=asked.content, kind=kind, expires_at=asked.expires_at
        )
        made = create_memory(new, now=now)
        outcome = CREATED if made.created else EXISTING
        finish_call(claim, outcome, memory=made.stored)
    return _answer(context, made)


def _answer(context: ToolContext, made: Created) -> dict[str, Any]:
    memory = _read_again(context, made.stored)
    return {
        "target": CREATE,
        "created": made.created,
        "idempotent": False,
        "held": memory.held_at is not None,
        "superseded": [],
        "memory": describe_memory(memory),
    }


def _read_again(context: ToolContext, memory: Memory) -> Memory:
    """Read a memory once more through what its viewer may see; raises ToolInputError."""
    row = Memory.objects.visible_to(context.viewer).unpurged().filter(pk=memory.pk).first()
    if row is None:
        raise ToolInputError("That memory is not there any more.", code="not_found")
    return row


def _repeat(finished: Finished, context: ToolContext) -> dict[str, Any]:
    """Answer as the first call did."""
    if finished.rejected_for:
        raise rejection(finished.rejected_for)
    if finished.failed_with:
        raise ToolInputError(
            "That could not be remembered just now; try again.", code=finished.failed_with
        )
    if finished.memory is None:
        raise Forgotten
    memory = end_of_chain(finished.memory)
    if memory.archived_at is not None:
        raise Forgotten
    return {
        "target": CREATE,
        "created": False,
        "idempotent": True,
        "held": memory.held_at is not None,
        "superseded": [],
        "memory": describe_memory(_read_again(context, memory)),
    }


def _is_spent(finished: Finished, now: datetime) -> bool:
    """True when the memory of an earlier call has expired: asking again remembers it anew."""
    if finished.memory is None:
        return False
    memory = end_of_chain(finished.memory)
    if memory.archived_at is not None:
        return memory.archive_reason == ArchiveReason.EXPIRED
    return memory.expires_at is not None and memory.expires_at <= now


def rejection(reason: str) -> ToolInputError:
    """Say that the review refused a fact, and why."""
    return ToolInputError(f"Memory was not stored: {reason}.", code=reason)


def _as_input_error(error: JuniorMemoryError) -> JuniorMemoryError:
    """Tell a known refusal in a way that a model can act on; anything else stays as it is."""
    if isinstance(error, ToolInputError | Forgotten):
        return error
    if isinstance(error, InvalidInput | QuotaExceeded) or type(error) is Conflict:
        return ToolInputError(error.message, code=error.code, fields=error.fields)
    return error
