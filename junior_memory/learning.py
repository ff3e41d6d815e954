"""One session's words → facts with their rulings, ready to be stored.

Everything here happens before the transaction that stores. What a model answered is kept on the
session at once, window by window and ruling by ruling, so that no retry is billed again; it goes
with the transcript.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from junior_memory import budgets, capture, reconciling
from junior_memory.adjudication import Adjudicated, Known, Verdict, adjudicate
from junior_memory.candidates import MAX_CANDIDATES, Candidate, Entry
from junior_memory.conf import conf
from junior_memory.errors import InvalidInput, JuniorMemoryError, Kind
from junior_memory.extraction import Extractor, Routed, Run, extract_by_heuristics, route
from junior_memory.model_calls import OnBehalf
from junior_memory.models import CompletedSession, SessionState
from junior_memory.providers import chat_model_in_use
from junior_memory.reading import ReadingContext, read_session
from junior_memory.reconciling import Ruling

CACHE_VERSION = 3
"""Part of what is kept; answers of another version are asked for again."""

MAX_LEARNED = 100
"""Facts that one session may teach: what its event holds."""

EXISTING = 10
"""Standing memories that go along with one stretch of a window (CONFORMANCE 1.6)."""

FINAL = (SessionState.PROCESSED, SessionState.SKIPPED, SessionState.FAILED)


class WaitsForBudget(JuniorMemoryError):
    """Learning waits until there is money again."""

    code = "budget_reached"
    kind = Kind.UNAVAILABLE


@dataclass(frozen=True, slots=True)
class Learned:
    """What a session teaches: facts that their evidence carries, each with its ruling."""

    routed: tuple[Routed, ...]
    rulings: tuple[Ruling, ...]
    proposed: int


def learn(
    session: CompletedSession,
    entries: Sequence[Entry],
    run: Run,
    *,
    extractor: Extractor | None,
    now: datetime,
) -> Learned:
    """Read a session and rule on every fact; not inside a transaction.

    `extractor` takes the place of the model and of the heuristics. Raises ModelFailed, and
    WaitsForBudget where learning waits for money.
    """
    payer = OnBehalf(session.agent, session=session)
    by_model = extractor is None and chat_model_in_use() is not None
    if by_model and budgets.budget_reached(session.agent, now=now):
        if conf().over_budget == "queue":
            raise WaitsForBudget
        by_model = False
    candidates = _read_once(session, entries, run, extractor, by_model, payer, now)
    routed = route(candidates, run, limit=MAX_LEARNED if by_model else MAX_CANDIDATES)
    may_ask = by_model and not budgets.budget_reached(session.agent, now=now)
    rulings = [_rule(session, one, payer=payer, now=now) if may_ask else Ruling() for one in routed]
    return Learned(tuple(routed), tuple(rulings), len(candidates))


def _read_once(
    session: CompletedSession,
    entries: Sequence[Entry],
    run: Run,
    extractor: Extractor | None,
    by_model: bool,
    payer: OnBehalf,
    now: datetime,
) -> tuple[Candidate, ...]:
    """Return what an earlier attempt read, or read now."""
    cache = _cache(session)
    if "candidates" in cache:
        return _candidates(cache["candidates"])
    if by_model:
        try:
            candidates = _read_by_model(session, entries, run, payer, now)
        except WaitsForBudget:
            if conf().over_budget == "queue":
                raise
            # What was read so far is paid for and counts; rules read the whole conversation.
            read = _cache(session).get("windows", {}).values()
            paid = [one for window in read for one in _candidates(window)]
            candidates = (*paid, *extract_by_heuristics(entries))
    else:
        candidates = (extractor or extract_by_heuristics)(entries)
    _keep(session, candidates=[_as_json(one) for one in candidates], windows={})
    return candidates


def _read_by_model(
    session: CompletedSession,
    entries: Sequence[Entry],
    run: Run,
    payer: OnBehalf,
    now: datetime,
) -> tuple[Candidate, ...]:
    windows: dict[str, Any] = _cache(session).get("windows", {})

    def keep(window: str, candidates: tuple[Candidate, ...]) -> None:
        windows[window] = [_as_json(one) for one in candidates]
        _keep(session, windows=windows)

    def existing(text: str) -> tuple[Known, ...]:
        """Before each window after the first: is there still money?"""
        if payer.calls and budgets.budget_reached(session.agent, now=now):
            raise WaitsForBudget
        return _existing(session, text, payer=payer, now=now)

    owner = session.actor.user if session.actor else None
    return read_session(
        entries,
        run=ReadingContext(
            has_linked_user=run.has_linked_user,
            has_one_human=run.has_one_human,
            visibility="session" if session.session_only else session.source_visibility,
            platform=session.source_platform,
            never_learn_topics=tuple(owner.never_learn_topics) if owner else (),
            echoed=run.echoed,
            timeout_seconds=conf().model_timeout_ms / 1000,
        ),
        existing=existing,
        done={name: _candidates(raw) for name, raw in windows.items()},
        keep=keep,
        payer=payer,
        now=now,
    )


def _existing(
    session: CompletedSession, text: str, *, payer: OnBehalf, now: datetime
) -> tuple[Known, ...]:
    """Find what is held already where this session's facts would go, nearest first."""
    holder = capture.holder_of(session)
    if holder is None:
        return ()
    hits = reconciling.held_alike(holder, text, payer=payer, now=now, limit=EXISTING)
    return tuple(Known(row.pk, row.content, row.observed_at, row.kind) for row in hits)


def _rule(session: CompletedSession, one: Routed, *, payer: OnBehalf, now: datetime) -> Ruling:
    """Rule on one fact; a ruling on the same fact against the same rows is not asked for twice."""
    new = capture.foresee(session, one, now=now)
    if new is None:
        return Ruling()

    def asked(known: Sequence[Known]) -> Adjudicated:
        kept: dict[str, Any] = _cache(session).get("rulings", {})
        name = "\x1f".join([new.kind, new.content, *sorted(str(row.id) for row in known)])
        if name not in kept:
            said = adjudicate(
                new.content,
                kind=new.kind,
                existing=known,
                payer=payer,
                timeout_seconds=conf().model_timeout_ms / 1000,
            )
            kept[name] = {
                "verdict": said.verdict,
                "ids": [str(memory_id) for memory_id in said.ids],
            }
            _keep(session, rulings=kept)
        raw = kept[name]
        return Adjudicated(Verdict(raw["verdict"]), tuple(UUID(each) for each in raw["ids"]))

    try:
        return reconciling.rule_on(new, payer=payer, now=now, asked=asked)
    except InvalidInput:
        return Ruling()  # Storing refuses it, and counts that.


def rule_again(session: CompletedSession, learned: Learned, *, now: datetime) -> Learned:
    """Rule once more on facts whose surroundings changed since the model was asked."""
    payer = OnBehalf(session.agent, session=session)
    rulings = [_rule(session, one, payer=payer, now=now) for one in learned.routed]
    return Learned(learned.routed, tuple(rulings), learned.proposed)


def _cache(session: CompletedSession) -> dict[str, Any]:
    cache = session.extraction_cache
    if not isinstance(cache, dict) or cache.get("version") != CACHE_VERSION:
        return {}
    return cache


def _keep(session: CompletedSession, **parts: Any) -> None:
    """Keep answers on the session, unless it was finished or erased meanwhile."""
    session.extraction_cache = {**_cache(session), "version": CACHE_VERSION, **parts}
    CompletedSession.objects.filter(pk=session.pk, transcript__isnull=False).exclude(
        state__in=FINAL
    ).update(extraction_cache=session.extraction_cache)


def _as_json(one: Candidate) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "content": one.content,
        "evidence": list(one.evidence),
        "expires_at": one.expires_at.isoformat() if one.expires_at else None,
        "touches_topic": one.touches_topic,
        "orders_assistant": one.orders_assistant,
    }


def _candidates(raw: Sequence[dict[str, Any]]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(
            kind=one["kind"],
            content=one["content"],
            evidence=tuple(one["evidence"]),
            expires_at=datetime.fromisoformat(one["expires_at"]) if one["expires_at"] else None,
            touches_topic=one["touches_topic"],
            orders_assistant=one["orders_assistant"],
        )
        for one in raw
    )
