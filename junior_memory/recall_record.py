"""What one recall leaves behind: its event, the uses it names, and whatever it cost.

Written without delaying or failing the answer. A model that was asked may answer long after: its
calls are handed to the event when they come in, so that the event's cost is their sum.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import Error

from junior_memory import events
from junior_memory.beside import in_thread
from junior_memory.deadlines import Deadline, DeadlinePassed, held_to, statement_limit
from junior_memory.errors import Unavailable
from junior_memory.gates import Candidate, Gate
from junior_memory.model_calls import OnBehalf
from junior_memory.models import Agent, ConversationEvent, MemoryUse, ModelCall, User
from junior_memory.search import LEXICAL

logger = logging.getLogger(__name__)

EVENT_MS = 60
"""What writing the event may add to an answer; beyond it the event is written beside the answer."""

LATER_MS = 10_000
"""How long an event that was put off may wait for its tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the event says: who was considered and given, what was missing, why there is nothing."""

    candidates: Sequence[Candidate]
    degraded: tuple[str, ...]
    reason: str = ""

    @property
    def used(self) -> list[Candidate]:
        """The candidates that passed every gate, in the order of the prompt."""
        return [candidate for candidate in self.candidates if not candidate.gate]


@dataclass(slots=True)
class RecallRecord:
    """The record of one recall. Its methods may be called by any thread."""

    recall_id: UUID
    agent: Agent
    conversation_id: str
    owner: User | None
    now: datetime
    payer: OnBehalf = field(init=False)
    _event: ConversationEvent | None = None
    _asking: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.payer = OnBehalf(self.agent, self.recall_id)

    @property
    def cost_usd(self) -> Decimal | None:
        """What was paid; None when some of it is unknown, or a model is still being asked."""
        if self._asking:
            return None
        return events.sum_costs([call.cost_usd for call in list(self.payer.calls)])

    def write(self, outcome: Outcome, deadline: Deadline) -> None:
        """Write the event and the uses within EVENT_MS, or beside the answer."""
        calls = list(self.payer.calls)
        try:
            with held_to(deadline, limit_ms=EVENT_MS):
                event = self._insert(outcome, calls)
        except (DeadlinePassed, Unavailable, Error):
            self.write_later(outcome)
            return
        if self._becomes(event, calls):
            _beside(self.settle)

    def write_later(self, outcome: Outcome) -> None:
        """Write the event in a thread that nobody waits for."""

        def write() -> None:
            calls = list(self.payer.calls)
            with statement_limit(LATER_MS):
                event = self._insert(outcome, calls)
            if self._becomes(event, calls):
                self.settle()

        _beside(write)

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Say that a model is being asked; what that cost finds its event, also long after."""
        with self._lock:
            self._asking += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking -= 1
            self.settle()

    def settle(self) -> None:
        """Hand calls that came in after the event to it; before the event, there is none to do."""
        with self._lock:
            if self._event is None:
                return
            event, late = self._event, [call.pk for call in self.payer.calls]
            with statement_limit(LATER_MS):
                if ModelCall.objects.filter(pk__in=late, event__isnull=True).update(event=event):
                    owned = ModelCall.objects.filter(event=event).values_list("cost_usd", flat=True)
                    ConversationEvent.objects.filter(pk=event.pk).update(
                        cost_usd=events.sum_costs(list(owned))
                    )

    def _becomes(self, event: ConversationEvent, calls: Sequence[ModelCall]) -> bool:
        """Remember the event that was written; True when calls came in meanwhile."""
        with self._lock:
            self._event = event
            return len(self.payer.calls) > len(calls)

    def _insert(self, outcome: Outcome, calls: Sequence[ModelCall]) -> ConversationEvent:
        event = events.record_event(
            events.MEMORIES_RECALLED,
            events.MemoriesRecalled(
                recall_id=self.recall_id,
                memories=[
                    events.RecalledMemory(id=c.hit.memory.pk, rank=rank, legs=list(c.hit.legs))
                    for rank, c in enumerate(outcome.used, start=1)
                ],
                candidates=len(outcome.candidates),
                withheld_secrets=sum(c.gate is Gate.SECRET for c in outcome.candidates),
                degraded=list(outcome.degraded),
                reason=outcome.reason,
            ),
            conversation_id=self.conversation_id,
            agent=self.agent,
            owner=self.owner,
            now=self.now,
            calls=calls,
        )
        MemoryUse.objects.bulk_create(
            MemoryUse(
                memory_id=c.hit.memory.pk,
                event=event,
                viewer=self.owner,
                conversation_id=self.conversation_id,
                rank=rank,
                leg=c.hit.legs[0] if c.hit.legs else LEXICAL,
                used_at=self.now,
            )
            for rank, c in enumerate(outcome.used, start=1)
        )
        return event


def _beside(work: Callable[[], None]) -> None:
    def write() -> None:
        try:
            work()
        except (Error, Unavailable) as error:
            logger.warning("a recall was not recorded (%s)", type(error).__name__)

    try:
        in_thread(write, name="a recall's event")
    except RuntimeError:
        write()
