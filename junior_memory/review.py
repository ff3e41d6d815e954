"""May one explicit request be remembered, and in which words?

The model judges words. Ownership, visibility, subject and ids are never its to decide, and an
expiry that was asked for stays as it was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import model_validator

from junior_memory import clock, prompts
from junior_memory.access import Source
from junior_memory.asking import ask
from junior_memory.claims import SecretClaim, UnusableClaim, last_moment, wording
from junior_memory.model_calls import REVIEW, OnBehalf
from junior_memory.providers import ChatModel
from junior_memory.quoting import Answer, EmptyIsNull, block, longest_fitting, readable, weight
from junior_memory.secrets import contains_secret
from junior_memory.windows import model_for, room_beside

MAX_TOKENS = 700
"""Of the answer (CONFORMANCE 1.6)."""

TAGS = 16
"""Tokens that the tags around a message take at most."""


class RejectReason(StrEnum):
    """Why a request is not remembered (CONFORMANCE 3.1)."""

    NOT_PUBLIC_SHAREABLE = "not_public_shareable"
    SECRET_OR_CREDENTIAL = "secret_or_credential"  # noqa: S105 - the reason's name
    SENSITIVE_PERSONAL = "sensitive_personal"
    THIRD_PARTY_PERSONAL = "third_party_personal"
    VAGUE_OR_NOT_SELF_CONTAINED = "vague_or_not_self_contained"
    NOT_DURABLE = "not_durable"
    ASSISTANT_OR_SYSTEM_DETAIL = "assistant_or_system_detail"
    UNSUPPORTED_SCOPE = "unsupported_scope"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What may be stored: its kind, words and expiry; or the reason why nothing is."""

    stored: bool
    kind: str = ""
    content: str = ""
    expires_at: datetime | None = None
    reason: RejectReason | None = None


class Judgement(Answer):
    """The model's answer."""

    decision: Literal["store", "reject"]
    kind: Annotated[Literal["preference", "procedure", "knowledge"] | None, EmptyIsNull] = None
    canonical_fact: Annotated[str | None, EmptyIsNull] = None
    expires_at: Annotated[str | None, EmptyIsNull] = None
    reason: Annotated[RejectReason | None, EmptyIsNull] = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not self.rejects and (self.kind is None or self.canonical_fact is None):
            raise ValueError("what is stored needs a kind and words")
        return self

    @property
    def rejects(self) -> bool:
        """True also for a reason beside "store": who is of two minds does not store."""
        return self.decision == "reject" or self.reason is not None


def review_request(
    content: str,
    *,
    source: Source,
    has_user: bool,
    has_conversation: bool,
    expires_at: datetime | None,
    user_text: str | None,
    payer: OnBehalf,
    timeout_seconds: float,
    model: ChatModel | None = None,
    now: datetime | None = None,
) -> Reviewed:
    """Judge one request to remember; raises ModelFailed.

    `user_text` is the person's own message, evidence beside the request. A secret is refused before
    anything is asked. `expires_at` is kept; without one the model may name a day to come.
    """
    if contains_secret(content):
        return _rejected(RejectReason.SECRET_OR_CREDENTIAL)
    moment = now or clock.now()
    reader = model_for(model)
    prompt = prompts.review(
        platform=source.platform,
        readers="session" if source.session_only else source.stored_visibility,
        has_user=has_user,
        has_conversation=has_conversation,
        expires=expires_at.date().isoformat() if expires_at else "",
        today=moment.date(),
    )
    blocks = [block("request", content)]
    if user_text and (said := readable(user_text)):
        room = room_beside(prompt, reader) - weight(blocks[0]) - TAGS
        if room > 0:
            blocks.append(block("said", said[: longest_fitting(said, room=room)]))
    judged = ask(
        REVIEW,
        prompt.filled(*blocks),
        Judgement,
        payer=payer,
        timeout_seconds=timeout_seconds,
        max_tokens=MAX_TOKENS,
        model=reader,
    )
    return _settled(judged, f"{content}\n{user_text or ''}", has_user, expires_at, moment)


def _rejected(reason: RejectReason) -> Reviewed:
    return Reviewed(stored=False, reason=reason)


def _settled(
    judged: Judgement,
    shown: str,
    has_user: bool,
    expires_at: datetime | None,
    now: datetime,
) -> Reviewed:
    """Return what the code makes of a judgement; it only ever refuses more than the model did."""
    if judged.rejects:
        return _rejected(judged.reason or RejectReason.VAGUE_OR_NOT_SELF_CONTAINED)
    kind = str(judged.kind)
    if kind == "preference" and not has_user:
        return _rejected(RejectReason.UNSUPPORTED_SCOPE)
    try:
        words = wording(judged.canonical_fact or "", shown=shown)
    except SecretClaim:
        return _rejected(RejectReason.SECRET_OR_CREDENTIAL)
    except UnusableClaim:
        return _rejected(RejectReason.VAGUE_OR_NOT_SELF_CONTAINED)
    if expires_at is not None:
        return Reviewed(stored=True, kind=kind, content=words, expires_at=expires_at)
    try:
        ends_at = last_moment(judged.expires_at, now=now)
    except UnusableClaim:
        return _rejected(RejectReason.NOT_DURABLE)
    return Reviewed(stored=True, kind=kind, content=words, expires_at=ends_at)
