"""Completed sessions: taken in once, processed once in effect, their transcripts erased.

Intake stores the session and its job in one transaction. Processing decides outside any transaction
and stores memories, the `memories_captured` event and the final state in one, under the owner's
lock; a retry finds the cached extraction and the event's once-key.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import Error, connection, transaction

from junior_memory import access, budgets, clock, consent, events, fingerprints, people, queue
from junior_memory.access import LocationRef, Source
from junior_memory.candidates import (
    WRITE_TOOLS,
    ActorRef,
    Entry,
    EntryType,
    Role,
    bare_tool_name,
)
from junior_memory.capture import Capture, store_candidates
from junior_memory.conf import conf
from junior_memory.database.away import is_database_away
from junior_memory.errors import Conflict, JuniorMemoryError, NotFound, SessionChanged
from junior_memory.extraction import Extractor, Run, echoes
from junior_memory.learning import Learned, WaitsForBudget, learn, rule_again
from junior_memory.locks import lock, owner_lock
from junior_memory.models import (
    Agent,
    CompletedSession,
    ForgetBatch,
    Location,
    Memory,
    MemoryUse,
    ModelCall,
    Organization,
    SessionState,
    User,
)
from junior_memory.providers import ModelFailed
from junior_memory.transcripts import actor_of, actor_ref, entries_of

logger = logging.getLogger(__name__)

LEARNING_MODES = frozenset({"on", "writeOnly"})
FINAL = frozenset({SessionState.PROCESSED, SessionState.SKIPPED, SessionState.FAILED})
MAX_ATTEMPTS = 6
"""Attempts that ended in an error of the work itself. One whose process was killed, or whose
database was away, says nothing about the session and is not counted."""

RULED_AGAIN = 2
"""How often rulings are asked for again because rows came in between."""

QUEUED_AT_ONCE = 100
NO_CONSENT = "no_consent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInput:
    """What a host hands in, already validated at the edge. `transcript` is kept as given."""

    session_id: str
    conversation_id: str
    source: Source
    actor: ActorRef | None
    actors: tuple[ActorRef, ...]
    completed_at: datetime
    transcript: tuple[dict[str, Any], ...]
    memory_mode: str = "on"
    actor_name: str = ""


def take_in(
    given: SessionInput,
    *,
    agent: Agent,
    organization: Organization | None,
    now: datetime | None = None,
) -> tuple[CompletedSession, bool]:
    """Keep a session and queue its work; returns it and whether it is new.

    Handed in again unchanged: the first one. Raises SessionChanged when the content differs. What
    is certain to be skipped is recorded without keeping a word of it.
    """
    moment = now or clock.now()
    body_hashes = fingerprints.keyed_all("session-body", _canonical(given))
    known = CompletedSession.objects.filter(agent=agent, session_id=given.session_id).first()
    if known is not None:
        return _again(known, body_hashes), False
    consented = _has_consent(given, agent, organization)
    with transaction.atomic():
        actor = (
            people.identity_for(given.actor, display_name=given.actor_name) if given.actor else None
        )
        owner = actor.user if actor else None
        session, created = CompletedSession.objects.get_or_create(
            agent=agent,
            session_id=given.session_id,
            defaults={
                "conversation_id": given.conversation_id,
                "organization": organization,
                "owner": owner,
                "actor": actor,
                "source_platform": given.source.platform,
                "source_key": given.source.key,
                "source_visibility": given.source.stored_visibility,
                "session_only": given.source.session_only,
                "location": keep_location(given.source.location),
                "memory_mode": given.memory_mode,
                "actors": [asdict(one) for one in given.actors],
                "transcript": list(given.transcript),
                "body_hash": body_hashes[0],
                "lock_key": _lock_key(agent, owner, given.conversation_id),
                "completed_at": min(given.completed_at, moment),
                "created_at": moment,
            },
        )
        if not created:
            return _again(session, body_hashes), False
        reason = skip_reason(session, entries_of(session)) if consented else NO_CONSENT
        if reason:
            _finish(session, SessionState.SKIPPED, reason=reason, now=moment)
        else:
            queue.enqueue_session(session.pk, lock=session.lock_key)
    return session, True


def _has_consent(given: SessionInput, agent: Agent, organization: Organization | None) -> bool:
    """Ask the operator's gate before a word is kept; not inside a transaction."""
    identity = people.find_identity(given.actor) if given.actor else None
    return consent.is_allowed(
        consent.Turn(
            agent=agent,
            conversation_id=given.conversation_id,
            source=given.source,
            user=identity.user if identity else None,
            organization=organization,
            use="sessions",
        )
    )


def _still_has_consent(session: CompletedSession) -> bool:
    return consent.is_allowed(
        consent.Turn(
            agent=session.agent,
            conversation_id=session.conversation_id,
            source=Source(
                platform=session.source_platform,
                key=session.source_key,
                visibility=session.source_visibility,
                session_only=session.session_only,
            ),
            user=session.actor.user if session.actor else None,
            organization=session.organization,
            use="sessions",
        )
    )


def _canonical(given: SessionInput) -> str:
    body = asdict(given) | {
        "completed_at": given.completed_at.isoformat(),
    }
    return json.dumps(body, sort_keys=True, ensure_ascii=False, default=str)


def _again(session: CompletedSession, body_hashes: Sequence[str]) -> CompletedSession:
    if session.body_hash not in body_hashes:
        raise SessionChanged
    return session


def _lock_key(agent: Agent, owner: User | None, conversation_id: str) -> str:
    """Sessions of one owner are processed in order; ownerless ones by conversation."""
    if owner is not None:
        return f"owner:{owner.pk}"
    return f"conversation:{fingerprints.keyed('lock', str(agent.pk), conversation_id)}"


def keep_location(named: LocationRef | None) -> Location | None:
    """Keep where something was said; its label and address follow what the host says last."""
    if named is None:
        return None
    location, _ = Location.objects.update_or_create(
        provider=named.provider,
        tenant=named.tenant,
        key=named.key,
        defaults={"label": named.label, "url": named.url},
    )
    return location


def skip_reason(session: CompletedSession, entries: Sequence[Entry]) -> str:
    """Return why nothing may be learned from a session; empty when it may (DESIGN 5.1)."""
    owner = session.actor.user if session.actor else None
    source = Source(platform=session.source_platform)
    if not source.may_be_learned_from:
        return "local_source"
    if session.memory_mode not in LEARNING_MODES:
        return "memory_mode"
    if not conf().extraction_enabled or not session.agent.extract:
        return "learning_off"
    if owner is not None and owner.learning_off_at is not None:
        return "learning_off"
    if not session.source_key:
        return "no_stable_key"
    if not any(actor_ref(raw).is_human for raw in session.actors):
        return "system_only"
    if any(_is_memory_write(entry) for entry in entries):
        return "memory_tool_used"
    if not any(entry.role is Role.USER or entry.tool_name for entry in entries):
        return "no_text"
    if session.session_only or session.source_visibility == "private":
        if owner is None or not owner.is_active:
            return "no_linked_user"
    elif session.source_visibility == "org" and not access.is_member(owner, session.organization):
        return "not_a_member"
    if owner is not None and _is_cut_off(session, owner):
        return "forgotten_all"
    return ""


def _is_memory_write(entry: Entry) -> bool:
    return (
        entry.type is EntryType.TOOL_RESULT
        and not entry.is_error
        and bare_tool_name(entry.tool_name) in WRITE_TOOLS
    )


def _is_cut_off(session: CompletedSession, owner: User) -> bool:
    """True when the session ended before the person last forgot everything."""
    cuts = ForgetBatch.objects.filter(
        user=owner,
        kind=ForgetBatch.Kind.FORGET_ALL,
        restored_at__isnull=True,
        created_at__gte=session.completed_at,
    )
    return any(cut.agent_id in (None, session.agent_id) for cut in cuts.only("agent_id"))


def process_session(
    session_id: UUID,
    *,
    now: datetime | None = None,
    extractor: Extractor | None = None,
) -> CompletedSession:
    """Learn from one session; a session that is already finished is returned as it is.

    By the configured model, else by the heuristics; `extractor` takes the place of both. A failure
    is counted and raised, so that the worker tries again; the last one, and one that trying again
    cannot mend, fails the session with a reason. A database that is away is raised and not counted.
    Where learning waits for money the session goes back to the queue. Raises NotFound for an
    unknown id.
    """
    moment = now or clock.now()
    claimed = _claim(session_id, moment)
    if claimed is None:
        session = CompletedSession.objects.filter(pk=session_id).first()
        if session is None:
            raise NotFound
        return session
    try:
        return _process(claimed, extractor, moment)
    except WaitsForBudget:
        _put_back(claimed, reason=WaitsForBudget.code, attempts=claimed.attempts - 1)
        claimed.refresh_from_db()
        return claimed
    except Exception as error:
        is_counted = not is_database_away(error)
        is_hopeless = isinstance(error, ModelFailed) and error.is_permanent
        if is_hopeless or (is_counted and claimed.attempts >= MAX_ATTEMPTS):
            return fail_session(claimed.pk, reason=_reason(error), now=moment)
        logger.warning(
            "session attempt failed: session=%s attempt=%d error=%s",
            claimed.pk,
            claimed.attempts,
            type(error).__name__,
        )
        # Where not even this can be written, the next claim takes the attempt for interrupted.
        if not (is_counted or connection.in_atomic_block):
            connection.close()
        with suppress(Error):
            _put_back(claimed, attempts=claimed.attempts - (not is_counted))
        raise


def _put_back(session: CompletedSession, *, attempts: int, reason: str = "") -> None:
    """Let a session wait for its next attempt, or for money."""
    CompletedSession.objects.filter(pk=session.pk, state=SessionState.PROCESSING).update(
        state=SessionState.QUEUED, reason=reason, attempts=attempts
    )


def queue_waiting(*, now: datetime | None = None) -> int:
    """Queue the sessions again that waited for money, where there is some; returns how many."""
    moment = now or clock.now()
    waiting = CompletedSession.objects.filter(
        state=SessionState.QUEUED, reason=WaitsForBudget.code, transcript__isnull=False
    )
    queued = 0
    for agent in Agent.objects.filter(pk__in=waiting.values("agent_id")):
        if budgets.budget_reached(agent, now=moment):
            continue
        for session in waiting.filter(agent=agent).order_by("created_at")[:QUEUED_AT_ONCE]:
            with transaction.atomic():
                if CompletedSession.objects.filter(
                    pk=session.pk, state=SessionState.QUEUED, reason=WaitsForBudget.code
                ).update(reason=""):
                    queue.enqueue_session(session.pk, lock=session.lock_key)
                    queued += 1
    return queued


def _reason(error: Exception) -> str:
    if isinstance(error, ModelFailed):
        return f"model_{error.reason}"[:64]
    return error.code if isinstance(error, JuniorMemoryError) else type(error).__name__[:64]


def _claim(session_id: UUID, now: datetime) -> CompletedSession | None:
    """Begin an attempt; None when the session is finished.

    A session that is found processing was left so by a process that died: that attempt goes on.
    """
    with transaction.atomic():
        session = (
            CompletedSession.objects.select_for_update(of=("self",))
            .filter(pk=session_id)
            .exclude(state__in=FINAL)
            .first()
        )
        if session is None:
            return None
        session.attempts += session.state != SessionState.PROCESSING
        session.state = SessionState.PROCESSING
        session.first_attempt_at = session.first_attempt_at or now
        session.save(update_fields=["state", "attempts", "first_attempt_at"])
    return session


def _process(
    session: CompletedSession, extractor: Extractor | None, now: datetime
) -> CompletedSession:
    entries = entries_of(session)
    reason = skip_reason(session, entries)
    if not reason and not _still_has_consent(session):
        reason = NO_CONSENT
    if reason:
        return _finish_locked(session, SessionState.SKIPPED, reason=reason, now=now)
    run = Run(
        has_linked_user=bool(session.actor and session.actor.user),
        actor=actor_of(session),
        actors=tuple(actor_ref(raw) for raw in session.actors),
        entries=entries,
        echoed=echoes(entries, _recalled_texts(session)),
    )
    learned = learn(session, entries, run, extractor=extractor, now=now)
    for _ in range(RULED_AGAIN):
        finished = _store(session, entries, learned, now=now)
        if finished is not None:
            return finished
        learned = rule_again(session, learned, now=now)
    return _store(session, entries, learned, now=now, as_ruled=False) or session


def _store(
    session: CompletedSession,
    entries: Sequence[Entry],
    learned: Learned,
    *,
    now: datetime,
    as_ruled: bool = True,
) -> CompletedSession | None:
    """Store what was learned, the event and the final state; None when rulings are out of date."""
    with transaction.atomic():
        owner = session.actor.user if session.actor else None
        lock([owner_lock(owner.pk if owner else None), *_teller_locks(learned.routed)])
        fresh = CompletedSession.objects.select_for_update(of=("self",)).get(pk=session.pk)
        if fresh.state in FINAL:
            return fresh
        # Once more inside: the person may have turned learning off or forgotten everything.
        reason = skip_reason(fresh, entries)
        if reason:
            return _finish(fresh, SessionState.SKIPPED, reason=reason, now=now)
        captured = store_candidates(
            fresh,
            learned.routed,
            proposed=learned.proposed,
            now=now,
            rulings=learned.rulings,
            as_ruled=as_ruled,
        )
        if captured is None:
            return None
        _record_captured(fresh, captured, owner, now)
        return _finish(fresh, SessionState.PROCESSED, owner=owner, now=now)


def _teller_locks(routed: Sequence[Any]) -> list[str]:
    """Name the locks of everyone whose words are about to be stored as theirs."""
    tellers = {one.teller for one in routed if one.teller is not None}
    users = [identity.user_id for t in tellers if (identity := people.find_identity(t))]
    return [owner_lock(user) for user in users]


def _recalled_texts(session: CompletedSession) -> list[str]:
    """Return what recall put into this conversation's prompts."""
    uses = MemoryUse.objects.filter(
        event__agent=session.agent, event__conversation_id=session.conversation_id
    )
    ids = uses.order_by("-used_at").values_list("memory_id", flat=True)[:200]
    return list(
        Memory.objects.unpurged().filter(pk__in=list(ids)).values_list("content", flat=True)
    )


def _record_captured(
    session: CompletedSession, captured: Capture, owner: User | None, now: datetime
) -> None:
    calls = list(ModelCall.objects.filter(session=session, event__isnull=True))
    events.record_event(
        events.MEMORIES_CAPTURED,
        captured.payload(events.cost_by_operation(calls)),
        conversation_id=session.conversation_id,
        agent=session.agent,
        owner=owner,
        session=session,
        calls=calls,
        once_key=f"captured:{session.pk}",
        now=now,
    )


def _finish(
    session: CompletedSession,
    state: SessionState,
    *,
    now: datetime,
    reason: str = "",
    owner: User | None = None,
) -> CompletedSession:
    """Set the final state and erase what was said."""
    session.state, session.reason, session.finished_at = state, reason, now
    session.transcript = session.extraction_cache = None
    session.erased_at = now
    session.owner = owner or session.owner
    session.save(
        update_fields=[
            "state",
            "reason",
            "finished_at",
            "transcript",
            "extraction_cache",
            "erased_at",
            "owner",
        ]
    )
    return session


def _finish_locked(
    session: CompletedSession, state: SessionState, *, reason: str, now: datetime
) -> CompletedSession:
    with transaction.atomic():
        fresh = CompletedSession.objects.select_for_update(of=("self",)).get(pk=session.pk)
        return fresh if fresh.state in FINAL else _finish(fresh, state, reason=reason, now=now)


def fail_session(session_id: UUID, *, reason: str, now: datetime | None = None) -> CompletedSession:
    """Give a session up with a reason; its transcript stays a week for a retry."""
    moment = now or clock.now()
    with transaction.atomic():
        session = CompletedSession.objects.select_for_update(of=("self",)).get(pk=session_id)
        if session.state in FINAL:
            return session
        session.state, session.reason, session.finished_at = (
            SessionState.FAILED,
            reason,
            moment,
        )
        session.save(update_fields=["state", "reason", "finished_at"])
        events.record_event(
            events.MEMORIES_CAPTURE_FAILED,
            events.CaptureFailed(reason=reason, attempts=max(session.attempts, 1)),
            conversation_id=session.conversation_id,
            agent=session.agent,
            owner=session.owner,
            session=session,
            once_key=f"failed:{session.pk}:{session.attempts}",
            now=moment,
        )
    logger.error("session failed: session=%s reason=%s", session_id, reason)
    return session


def retry_session(session: CompletedSession) -> CompletedSession:
    """Queue a failed session again. Raises Conflict `transcript_gone` when its text is erased."""
    with transaction.atomic():
        row = CompletedSession.objects.select_for_update(of=("self",)).get(pk=session.pk)
        if row.state != SessionState.FAILED:
            return row
        if row.transcript is None:
            raise Conflict("The transcript is erased; hand it in again.", code="transcript_gone")
        row.state, row.reason, row.attempts = SessionState.QUEUED, "", 0
        row.finished_at = row.first_attempt_at = None
        row.save(
            update_fields=[
                "state",
                "reason",
                "attempts",
                "finished_at",
                "first_attempt_at",
            ]
        )
        queue.enqueue_session(row.pk, lock=row.lock_key)
    return row


def erase_old_transcripts(*, now: datetime | None = None) -> int:
    """Erase the text of sessions that failed a week ago or waited a month; returns how many."""
    moment = now or clock.now()
    failed = CompletedSession.objects.filter(
        state=SessionState.FAILED,
        transcript__isnull=False,
        finished_at__lte=moment - timedelta(days=conf().failed_transcript_days),
    )
    erased = failed.update(transcript=None, extraction_cache=None, erased_at=moment)
    waiting = CompletedSession.objects.filter(
        state__in=[SessionState.QUEUED, SessionState.PROCESSING],
        created_at__lte=moment - timedelta(days=conf().queued_transcript_days),
    )
    for session_id in list(waiting.values_list("pk", flat=True)[:1000]):
        fail_session(session_id, reason="expired", now=moment)
        erased += CompletedSession.objects.filter(pk=session_id).update(
            transcript=None, extraction_cache=None, erased_at=moment
        )
    return erased
