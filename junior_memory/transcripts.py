"""Transcripts as hosts hand them in → entries with a place, a speaker and an authority."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from junior_memory.candidates import ActorRef, Authority, Entry, EntryType, Role
from junior_memory.models import CompletedSession


def entries_of(session: CompletedSession) -> tuple[Entry, ...]:
    """Return the transcript without blank entries, indexed after they were removed."""
    actor = actor_of(session)
    entries: list[Entry] = []
    for raw in session.transcript or []:
        text = str(raw.get("text") or "").strip()
        if not text:
            continue
        entries.append(_entry(len(entries), raw, text, actor, session.completed_at))
    return tuple(entries)


def _entry(
    index: int,
    raw: dict[str, Any],
    text: str,
    actor: ActorRef | None,
    completed_at: datetime,
) -> Entry:
    at = datetime.fromisoformat(raw["at"]) if raw.get("at") else None
    moment = min(at, completed_at) if at else None
    if raw["type"] == EntryType.TOOL_RESULT:
        return Entry(
            index=index,
            type=EntryType.TOOL_RESULT,
            text=text,
            tool_name=str(raw.get("toolName") or ""),
            is_error=bool(raw.get("isError")),
            at=moment,
        )
    role = Role(raw["role"])
    authority = None
    if role is Role.USER:
        authority = Authority(raw.get("authority") or Authority.CONTEXT)
    speaker = actor_ref(raw["actor"]) if raw.get("actor") else None
    return Entry(
        index=index,
        type=EntryType.MESSAGE,
        text=text,
        role=role,
        authority=authority,
        actor=speaker,
        is_run_actor=speaker is not None and speaker == actor,
        at=moment,
    )


def actor_ref(raw: dict[str, Any]) -> ActorRef:
    """Read an actor as it was kept, or as a host wrote it."""
    return ActorRef(
        provider=raw["provider"],
        tenant=raw["tenant"],
        subject=raw["subject"],
        is_human=raw.get("is_human", raw.get("kind", "human") == "human"),
    )


def actor_of(session: CompletedSession) -> ActorRef | None:
    """Return the session's own actor, with what the host said of it."""
    if session.actor is None:
        return None
    identity = session.actor
    named = [actor_ref(raw) for raw in session.actors]
    plain = ActorRef(identity.provider, identity.tenant, identity.subject)
    same = [one for one in named if _key(one) == _key(plain)]
    return same[0] if same else plain


def _key(actor: ActorRef) -> tuple[str, str, str]:
    return (actor.provider, actor.tenant, actor.subject)
