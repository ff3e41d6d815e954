"""createMemory: what somebody asked for in so many words, stored on their own authority.

A configured model reviews the words and says what kind of fact they are; whose it is, who sees it
and whom it is about is never its to decide. Reviewing and comparing take place before the
transaction that stores the memory, its event and what the call came to.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from junior_memory import events, hostile, people, sessions
from junior_memory.capture import HELD_ORDERS, held_in_public
from junior_memory.conf import conf
from junior_memory.errors import Conflict, Forgotten, InvalidInput, JuniorMemoryError, QuotaExceeded
from junior_memory.memories import NewMemory, end_of_chain
from junior_memory.model_calls import OnBehalf
from junior_memory.models import (
    ArchiveReason,
    Identity,
    Memory,
    MemoryKind,
    Origin,
    SubjectType,
    Visibility,
)
from junior_memory.providers import ModelFailed, chat_model_in_use
from junior_memory.reconciling import Remembered, remember
from junior_memory.review import review_request
from junior_memory.tools.answers import describe_memory
from junior_memory.tools.authority import Request, check_kind, check_request
from junior_memory.tools.calls import (
    REJECTED,
    Claim,
    Finished,
    call_seconds,
    claim_call,
    finish_call,
    let_go_of_connection,
    work_of,
)
from junior_memory.tools.context import ToolContext
from junior_memory.tools.errors import ToolInputError
from junior_memory.tools.schemas import CREATE, CreateArguments

CREATED = "created"
EXISTING = "existing"
REVIEW_FAILED = "review_failed"

REJECTIONS = {
    "not_public_shareable": "it does not belong where others read it",
    "secret_or_credential": "passwords, keys and tokens are never remembered",
    "sensitive_personal": "it is sensitive personal detail",
    "third_party_personal": "it is somebody else's private matter",
    "vague_or_not_self_contained": "it cannot be understood on its own; say the fact in full",
    "not_durable": "it is true only for a moment",
    "assistant_or_system_detail": "it is about the assistant and not about people or their work",
    "unsupported_scope": "it does not fit this conversation or its speaker",
}
"""What each reason of a review means, told with it (CONFORMANCE 3.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """What is stored: as it was said, or as the review has it."""

    kind: str
    content: str
    expires_at: datetime | None


class _Rejected(ToolInputError):
    """The review said no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One claimed call: what was asked, by whom, under which claim, and what it pays for."""

    request: Request
    context: ToolContext
    claim: Claim
    key: tuple[str, ...]
    payer: OnBehalf
    ends_at: float
    now: datetime


def create(
    arguments: CreateArguments, context: ToolContext, *, tool_call_id: str, now: datetime
) -> dict[str, Any]:
    """Remember one fact; the same tool-call id again answers with the same memory.

    No model is asked and nothing is claimed before words and authority are in order. Raises
    ToolInputError, Forgotten for an id whose memory was forgotten, StillRunning.
    """
    request = check_request(arguments, context, now=now)
    key = context.call_key(CREATE, tool_call_id)
    claim = claim_call(
        key, tool=CREATE, agent=context.agent, is_spent=lambda found: _is_spent(found, now)
    )
    if isinstance(claim, Finished):
        return _repeat(claim, context)
    job = _Job(
        request=request,
        context=context,
        claim=claim,
        key=key,
        payer=OnBehalf(agent=context.agent, tool_call_key=claim.key_hash),
        ends_at=time.monotonic() + call_seconds(),
        now=now,
    )
    try:
        with work_of(claim):
            remembered = _work(job)
    except JuniorMemoryError as error:
        raise _as_input_error(error) from None
    return _answer(
        context,
        remembered.created.stored,
        created=remembered.created.created,
        superseded=[str(one) for one in remembered.superseded],
    )


def _work(job: _Job) -> Remembered:
    """Review, compare, store; what a failure cost is on the record as well."""
    try:
        return _store(job, _review(job))
    except _Rejected:
        raise
    except ModelFailed as failure:
        _record(job, events.MemoryReviewed(decision="failed", reason=failure.reason))
        raise ToolInputError(
            "The request could not be reviewed just now, so it was not stored. Try again later.",
            code=REVIEW_FAILED,
        ) from None
    except JuniorMemoryError as error:
        _record(job, events.MemoryReviewed(decision="failed", reason=error.code))
        raise


def _review(job: _Job) -> _Wording:
    """Let the model judge the request; without one it is taken as it was said.

    Raises ModelFailed, and _Rejected when the model says no: then the call has its end.
    """
    request, context = job.request, job.context
    if chat_model_in_use() is None:
        return _Wording(
            kind=request.kind or MemoryKind.KNOWLEDGE,
            content=request.content,
            expires_at=request.expires_at,
        )
    let_go_of_connection()
    reviewed = review_request(
        request.content,
        source=context.source,
        has_user=request.owner is not None,
        has_conversation=bool(context.conversation_id),
        expires_at=request.expires_at,
        user_text=context.user_text,
        payer=job.payer,
        timeout_seconds=conf().model_timeout_ms / 1000,
        now=job.now,
    )
    if reviewed.stored:
        return _Wording(
            kind=reviewed.kind, content=reviewed.content, expires_at=reviewed.expires_at
        )
    reason = str(reviewed.reason)
    with transaction.atomic():
        finish_call(job.claim, REJECTED + reason)
        _record(job, events.MemoryReviewed(decision="reject", reason=reason))
    raise _rejection(reason)


def _store(job: _Job, wording: _Wording) -> Remembered:
    """Store what passed; memory, event and the end of the call are one transaction."""
    check_kind(wording.kind, job.request)
    left = max(1.0, job.ends_at - time.monotonic())
    return remember(
        _new_memory(job, wording),
        payer=job.payer,
        now=job.now,
        # Two rounds of two attempts may be needed at most.
        timeout_seconds=min(conf().model_timeout_ms / 1000, left / 4),
        then=lambda stored: _settle(job, stored),
    )


def _settle(job: _Job, remembered: Remembered) -> None:
    """Write what the call came to, inside the transaction that stored it."""
    made = remembered.created
    memory = made.stored
    finish_call(job.claim, CREATED if made.created else EXISTING, memory=memory)
    payload = events.MemoryReviewed.model_validate(
        {
            "decision": "store",
            "kind": memory.kind,
            "memory_id": memory.pk,
            "superseded": list(remembered.superseded),
        }
    )
    _record(job, payload)


def _new_memory(job: _Job, wording: _Wording) -> NewMemory:
    request, context = job.request, job.context
    source = context.source
    # What a person notes outside of any conversation is about them, whatever its kind.
    is_personal = wording.kind == MemoryKind.PREFERENCE or not context.conversation_id
    subject = request.owner if is_personal else None
    teller = people.identity_for(context.actor) if context.actor else None
    said = (request.content, context.user_text or "")
    return NewMemory(
        content=wording.content,
        kind=wording.kind,
        visibility=request.visibility,
        agent=context.agent,
        origin=Origin.EXPLICIT,
        source_platform=source.platform,
        owner=request.owner,
        org=request.org,
        conversation_id=context.conversation_id or None,
        subject_type=SubjectType.USER if subject else SubjectType.CONVERSATION,
        subject_key=str(subject.pk) if subject else context.conversation_id,
        source_key=source.key,
        location=sessions.keep_location(source.location),
        retry_key=("tool", *job.key),
        expires_at=wording.expires_at,
        learned_from=teller,
        utterances=tuple(text for text in dict.fromkeys(said) if text.strip()),
        held_reason=_held_reason(job, wording, teller),
    )


def _held_reason(job: _Job, wording: _Wording, teller: Identity | None) -> str:
    """Return why a person decides first on what others would be given; empty when nobody must."""
    visibility = job.request.visibility
    is_shared = visibility in {Visibility.PUBLIC, Visibility.ORG}
    texts = (job.request.content, wording.content)
    if is_shared and any(map(hostile.looks_like_orders, texts)):
        return HELD_ORDERS
    return held_in_public(visibility, teller, now=job.now)


def _record(job: _Job, payload: events.MemoryReviewed) -> None:
    """Record what a review came to and cost; nothing when no model was asked."""
    calls = job.payer.calls
    if not calls:
        return
    split = events.cost_by_operation(calls)
    events.record_event(
        events.MEMORY_REVIEWED,
        payload.model_copy(update={"cost_by_operation": split}),
        conversation_id=job.context.conversation_id,
        agent=job.context.agent,
        owner=job.request.owner,
        now=job.now,
        calls=calls,
    )


def _answer(
    context: ToolContext,
    memory: Memory,
    *,
    created: bool,
    superseded: Sequence[str] = (),
    is_repeat: bool = False,
) -> dict[str, Any]:
    """Tell of a memory that is read once more; its words only where they may be seen or were said.

    Raises ToolInputError when it is not there any more.
    """
    row = Memory.objects.visible_to(context.viewer).unpurged().filter(pk=memory.pk).first()
    in_sight = row is not None and row.held_at is None
    row = row or Memory.objects.own(context.viewer).unpurged().filter(pk=memory.pk).first()
    if row is None:
        raise ToolInputError("That memory is not there any more.", code="not_found")
    return {
        "target": CREATE,
        "created": created,
        "idempotent": is_repeat,
        "held": row.held_at is not None,
        "superseded": list(superseded),
        "memory": describe_memory(row, with_content=in_sight or created),
    }


def _repeat(finished: Finished, context: ToolContext) -> dict[str, Any]:
    """Answer as the first call did."""
    if finished.rejected_for:
        raise _rejection(finished.rejected_for)
    if finished.failed_with:
        raise ToolInputError(
            "The same request has just failed, so it was not stored. Try again later.",
            code=finished.failed_with,
        )
    if finished.memory is None:
        raise _forgotten()
    memory = end_of_chain(finished.memory)
    if memory.archived_at is not None:
        raise _forgotten()
    return _answer(context, memory, created=False, is_repeat=True)


def _is_spent(finished: Finished, now: datetime) -> bool:
    """True when the memory of an earlier call has expired: asking again remembers it anew."""
    if finished.memory is None:
        return False
    memory = end_of_chain(finished.memory)
    if memory.archived_at is not None:
        return memory.archive_reason == ArchiveReason.EXPIRED
    return memory.expires_at is not None and memory.expires_at <= now


def _rejection(reason: str) -> _Rejected:
    why = REJECTIONS.get(reason, "it does not fit what is remembered")
    return _Rejected(f"Memory was not stored: {reason} ({why}).", code=reason)


def _forgotten() -> Forgotten:
    return Forgotten(
        "What this call remembered was forgotten since; to remember it again, make a new call."
    )


def _as_input_error(error: JuniorMemoryError) -> JuniorMemoryError:
    """Tell a known refusal in a way that a model can act on; anything else stays as it is."""
    if isinstance(error, ToolInputError):
        return error
    if isinstance(error, Forgotten):
        return _forgotten()
    if isinstance(error, InvalidInput | QuotaExceeded) or type(error) is Conflict:
        return ToolInputError(error.message, code=error.code, fields=error.fields)
    return error
