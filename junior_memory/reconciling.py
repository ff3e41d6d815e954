"""A new fact against the ones that stand: does it repeat one, replace one, or stand beside them?

The model is asked outside any transaction; what it said is applied inside one, under the owner's
lock, and asked again when rows came in between. It chooses among the rows it was shown and decides
nothing else: whose they are, who sees them and what may be replaced is decided here.

What a person typed themselves is never replaced, only put to them as a conflict. Passive learning
replaces only what was learned passively, and only the owner's own rows: nobody's public facts are
displaced by somebody else's words.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from junior_memory import conflicts, tombstones
from junior_memory.access import Viewer
from junior_memory.adjudication import Adjudicated, Known, Verdict, adjudicate
from junior_memory.filters import Filters
from junior_memory.locks import lock, owner_lock
from junior_memory.memories import (
    Created,
    NewMemory,
    Outcome,
    create_memory,
    is_own_words,
    is_settled,
    repeat_memory,
    supersede,
)
from junior_memory.model_calls import OnBehalf
from junior_memory.models import (
    Agent,
    Memory,
    MemoryKind,
    Organization,
    Origin,
    User,
    Visibility,
)
from junior_memory.providers import ModelFailed, chat_model_in_use
from junior_memory.querysets import MemoryQuerySet
from junior_memory.search import search_memories
from junior_memory.stems import content_stems

logger = logging.getLogger(__name__)

MAX_KNOWN = 10
"""Rows that one new fact is compared with (CONFORMANCE 1.6)."""

MAX_FORGOTTEN = 5
"""Forgotten rows among them, for what is learned passively."""

SEARCHED = 30
"""Hits that are looked through for rows of the right kind."""

ROUNDS = 2
"""How often a fact is asked about again because rows came in between; then it is stored beside."""

WATCHED = 200
"""Newest rows that are looked at to see what came in between."""

COMMON_STEMS = 2
"""Content stems that a row from in between must share to be worth another question."""

TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Whose a fact is: everyone's, an organization's, or one person's with one agent."""

    visibility: str
    agent: Agent
    owner: User | None
    org: Organization | None
    conversation_id: str

    @classmethod
    def of(cls, new: NewMemory) -> Holder:
        """Return the holder of a memory to be."""
        return cls(
            visibility=new.visibility,
            agent=new.agent,
            owner=new.owner,
            org=new.org,
            conversation_id=new.conversation_id or "",
        )

    @property
    def viewer(self) -> Viewer:
        """Return a viewer who sees what the holder holds; everyone's facts for public ones."""
        if self.visibility == Visibility.PUBLIC:
            return Viewer(agent=self.agent)
        tiers = {Visibility.SESSION: "session", Visibility.ORG: "org"}
        return Viewer(
            user=self.owner,
            agent=self.agent,
            org=self.org,
            conversation_id=self.conversation_id,
            tiers=frozenset({tiers.get(Visibility(self.visibility), "user")}),
        )


@dataclass(frozen=True, slots=True)
class Stood:
    """The newest rows when a model was asked, and how far back they reach; None: all there were."""

    ids: frozenset[UUID]
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the model said about one new fact, and what stood when it was asked."""

    verdict: Verdict = Verdict.DISTINCT
    ids: tuple[UUID, ...] = ()
    stood: Stood | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory that now holds the fact, the rows it replaced, and conflicts put to its person."""

    created: Created
    superseded: tuple[UUID, ...] = ()
    proposed: int = 0


Asked = Callable[[Sequence[Known]], Adjudicated]


def remember(
    new: NewMemory,
    *,
    payer: OnBehalf,
    now: datetime,
    timeout_seconds: float = TIMEOUT_SECONDS,
    then: Callable[[Remembered], None] | None = None,
) -> Remembered:
    """Store one fact that was asked for in so many words, against the ones that stand.

    Without a model, or when it fails, the fact is stored beside the others. `then` is called inside
    the storing transaction, and takes it back by raising. Raises what `memories.create_memory`
    raises.
    """
    for rounds_left in reversed(range(ROUNDS)):
        ruling = rule_on(new, payer=payer, now=now, timeout_seconds=timeout_seconds)
        with transaction.atomic():
            lock([owner_lock(new.owner.pk if new.owner else None)])
            changed = has_changed(new, ruling, now=now)
            if changed and rounds_left:
                continue
            remembered = apply_ruling(new, Ruling() if changed else ruling, now=now)
            if then is not None:
                then(remembered)
            return remembered
    raise AssertionError("unreachable: the last round stores")


def rule_on(
    new: NewMemory,
    *,
    payer: OnBehalf,
    now: datetime,
    timeout_seconds: float = TIMEOUT_SECONDS,
    asked: Asked | None = None,
    but: UUID | None = None,
) -> Ruling:
    """Ask whether a fact repeats or replaces one that stands; not inside a transaction.

    `asked` stands in for the model, for answers that are kept; the row `but` is not compared with.
    A failing model rules that the fact is distinct.
    """
    if asked is None and chat_model_in_use() is None:
        return Ruling()
    if but is None and is_settled(new, now=now):
        return Ruling()
    stood = _stood(new, now)
    known = tuple(one for one in known_to(new, payer=payer, now=now) if one.id != but)
    if not known:
        return Ruling(stood=stood)
    try:
        if asked is not None:
            said = asked(known)
        else:
            said = adjudicate(
                new.content,
                kind=new.kind,
                existing=known,
                payer=payer,
                timeout_seconds=timeout_seconds,
            )
    except ModelFailed as failure:
        logger.warning("adjudication failed (%s): stored beside the others", failure.reason)
        return Ruling(stood=stood)
    offered = {one.id for one in known}
    return Ruling(said.verdict, tuple(id_ for id_ in said.ids if id_ in offered), stood)


def known_to(new: NewMemory, *, payer: OnBehalf, now: datetime) -> tuple[Known, ...]:
    """Return the rows that a new fact could repeat or replace, nearest first, at most ten.

    Only of the same holder, visibility, agent and sort; for preferences also of the same subject.
    For what is learned passively its person's forgotten facts are among them.
    """
    near = held_alike(Holder.of(new), new.content, payer=payer, now=now)
    rows = [one for one in near if _is_comparable(new, one)]
    if new.kind == MemoryKind.PREFERENCE:
        taken = {row.pk for row in rows}
        recent = _rows(new, now).exclude(pk__in=taken).newest_first().for_list()[:MAX_KNOWN]
        rows = [*rows[: MAX_KNOWN // 2], *recent]
    rows = rows[:MAX_KNOWN]
    if new.is_passive and new.owner is not None:
        forgotten = _forgotten(new, now)[:MAX_FORGOTTEN]
        rows = [*rows[: MAX_KNOWN - len(forgotten)], *forgotten]
    return tuple(Known(row.pk, row.content, row.observed_at, row.kind) for row in rows)


def held_alike(
    holder: Holder, query: str, *, payer: OnBehalf, now: datetime, limit: int = SEARCHED
) -> list[Memory]:
    """Search what its holder holds, of every sort.

    Never anything else that they see: private words must not reach what becomes public.
    """
    found = search_memories(
        holder.viewer,
        query,
        limit=limit,
        filters=Filters(visibility=holder.visibility, agent=holder.agent.name),
        now=now,
        on_behalf=payer,
    )
    return [hit.memory for hit in found.hits]


def has_changed(new: NewMemory, ruling: Ruling, *, now: datetime) -> bool:
    """True when a row came in since the model was asked that it should have been shown."""
    if ruling.stood is None:
        return False
    fresh = _rows(new, now)
    if ruling.stood.since is not None:
        fresh = fresh.filter(created_at__gte=ruling.stood.since)
    wanted = content_stems(new.content)
    newest = fresh.newest_first().values_list("pk", "content")[:WATCHED]
    return any(
        len(wanted & content_stems(content)) >= COMMON_STEMS
        for memory_id, content in newest
        if memory_id not in ruling.stood.ids
    )


def apply_ruling(new: NewMemory, ruling: Ruling, *, now: datetime) -> Remembered:
    """Store one fact as ruled; inside the caller's transaction, under the owner's lock.

    Rows are read again: one that was forgotten meanwhile blocks what is learned passively, one that
    is gone otherwise counts no more. Raises what `memories.create_memory` raises.
    """
    if ruling.verdict not in {Verdict.DUPLICATE, Verdict.SUPERSEDES} or not ruling.ids:
        return Remembered(create_memory(new, now=now))
    if new.is_passive and (marks := tombstones.laid_for(ruling.ids)):
        tombstones.count_blocked(marks, now=now)
        return Remembered(Created(Outcome.BLOCKED, None))
    rows = list(_rows(new, now).filter(pk__in=ruling.ids).for_list())
    if ruling.verdict is Verdict.DUPLICATE:
        twin = min(rows, key=lambda row: ruling.ids.index(row.pk), default=None)
        if twin is None:
            return Remembered(create_memory(new, now=now))
        return Remembered(Created(Outcome.EXISTING, repeat_memory(new, twin, now=now)))
    if new.is_passive and (later := _said_later(new, rows, now)) is not None:
        return Remembered(Created(Outcome.EXISTING, later))
    replaced = [row.pk for row in rows if _may_replace(new, row)]
    created, superseded = supersede(new, replaces=replaced, now=now)
    proposed = 0
    if created.memory is not None and created.memory.held_at is None:
        kept = [row for row in rows if row.pk not in replaced and row.owner_id is not None]
        proposed = _propose(created.memory, kept, now)
    return Remembered(created, tuple(superseded), proposed)


def propose_about(memory: Memory, *, payer: OnBehalf, now: datetime) -> int:
    """Put to a person what their own typed words contradict; returns how many conflicts.

    Their words stay as they are, and so do the others, until they decide.
    """
    new = _as_new(memory)
    ruling = rule_on(new, payer=payer, now=now, but=memory.pk)
    if ruling.verdict is not Verdict.SUPERSEDES or memory.owner_id is None:
        return 0
    with transaction.atomic():
        lock([owner_lock(memory.owner_id)])
        rows = _rows(new, now).filter(pk__in=[*ruling.ids, memory.pk])
        current = {row.pk: row for row in rows.for_list()}
        this = current.pop(memory.pk, None)
        return _propose(this, list(current.values()), now) if this else 0


def _propose(memory: Memory, others: Sequence[Memory], now: datetime) -> int:
    """Put to their owner that two active memories disagree."""
    mine = [one for one in others if one.owner_id == memory.owner_id]
    return sum(conflicts.propose(one, memory, now=now) for one in mine)


def _rows(new: NewMemory, now: datetime) -> MemoryQuerySet:
    """Select the active rows that a new fact could repeat or replace."""
    rows = Memory.objects.visible_to(Holder.of(new).viewer).active(now)
    rows = rows.filter(visibility=new.visibility, agent=new.agent)
    if new.kind == MemoryKind.PREFERENCE:
        return rows.filter(
            kind=MemoryKind.PREFERENCE, subject_type=new.subject_type, subject_key=new.subject_key
        )
    return rows.exclude(kind=MemoryKind.PREFERENCE)


def _is_comparable(new: NewMemory, row: Memory) -> bool:
    is_preference = row.kind == MemoryKind.PREFERENCE
    if new.kind != MemoryKind.PREFERENCE:
        return not is_preference
    about = (row.subject_type, row.subject_key)
    return is_preference and about == (new.subject_type, new.subject_key)


def _forgotten(new: NewMemory, now: datetime) -> list[Memory]:
    """Find what this person forgot that the fact may be again in other words."""
    found = search_memories(
        Viewer(user=new.owner), new.content, limit=MAX_FORGOTTEN, state="forgotten", now=now
    )
    return [hit.memory for hit in found.hits]


def _stood(new: NewMemory, now: datetime) -> Stood:
    newest = list(_rows(new, now).newest_first().values_list("pk", "created_at")[:WATCHED])
    since = newest[-1][1] if len(newest) == WATCHED else None
    return Stood(frozenset(memory_id for memory_id, _ in newest), since)


def _said_later(new: NewMemory, rows: Iterable[Memory], now: datetime) -> Memory | None:
    """Return a row that was said after the new fact was: what is older does not replace it."""
    said = new.observed_at or now
    return next((row for row in rows if row.observed_at > said), None)


def _may_replace(new: NewMemory, row: Memory) -> bool:
    """Whether a new fact may take a row's place without asking its person."""
    if new.owner is None or row.owner_id != new.owner.pk or new.held_reason:
        return False
    if new.is_passive:
        return row.origin != Origin.EXPLICIT
    return not is_own_words(row)


def _as_new(memory: Memory) -> NewMemory:
    return NewMemory(
        content=memory.content,
        kind=memory.kind,
        visibility=memory.visibility,
        agent=memory.agent,
        origin=memory.origin,
        source_platform=memory.source_platform,
        owner=memory.owner,
        org=memory.org,
        conversation_id=memory.conversation_id,
        subject_type=memory.subject_type,
        subject_key=memory.subject_key,
        observed_at=memory.observed_at,
    )
