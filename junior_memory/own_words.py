"""What a person typed stays as typed; a model may only put to them what it contradicts."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from junior_memory import budgets, clock, events
from junior_memory.memories import is_own_words
from junior_memory.model_calls import OnBehalf
from junior_memory.models import Memory
from junior_memory.providers import chat_model_in_use
from junior_memory.reconciling import propose_about


def look_for_conflicts(memory_id: UUID, *, now: datetime | None = None) -> int:
    """Propose conflicts about one memory of a person's own words; returns how many.

    Nothing when it is no longer active, there is no model, or no money. What was asked is on the
    record as a `memory_reviewed` event.
    """
    moment = now or clock.now()
    rows = Memory.objects.filter(pk=memory_id).active(moment)
    memory = rows.select_related("agent", "owner", "org").first()
    if memory is None or not is_own_words(memory) or chat_model_in_use() is None:
        return 0
    if budgets.budget_reached(memory.agent, now=moment):
        return 0
    payer = OnBehalf(memory.agent)
    proposed = propose_about(memory, payer=payer, now=moment)
    if payer.calls:
        events.record_event(
            events.MEMORY_REVIEWED,
            events.MemoryReviewed(
                decision="store",
                kind=memory.kind,
                memory_id=memory.pk,
                cost_by_operation=events.cost_by_operation(payer.calls),
            ),
            conversation_id="",
            agent=memory.agent,
            owner=memory.owner,
            now=moment,
            calls=payer.calls,
        )
    return proposed
