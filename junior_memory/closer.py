"""A closer look at the fused top: its texts are read and ranked by further lists (`rerank.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from junior_memory import rerank
from junior_memory.lexical.leg import Plan
from junior_memory.models import EmbeddingModel
from junior_memory.parts import Part
from junior_memory.providers import word_vectors
from junior_memory.querysets import MemoryQuerySet
from junior_memory.ranking import RankList


def look_closer(
    rows: MemoryQuerySet, query: str, model: EmbeddingModel | None
) -> Callable[[Plan, Sequence[UUID]], Sequence[RankList]]:
    """Return what ranks the top of `rows`, which a viewer may see, by its texts.

    By static word vectors where the local library is installed and there is a `model` in use,
    whichever; otherwise by spelling.
    """

    def look(plan: Plan, top: Sequence[UUID]) -> Sequence[RankList]:
        found = plan.read_texts(Part.of("top", rows.filter(pk__in=top)))
        texts = {memory_id: text for memory_id, text, _ in found}
        holders = {
            unit: frozenset(memory_id for memory_id, _, held in found if held[place])
            for place, unit in enumerate(plan.units)
        }
        asked = [
            rerank.Asked(rerank.bare(unit.surface), idf, holders.get(unit, frozenset()))
            for unit, idf in plan.asked
        ]
        vectors_of = word_vectors() if model else None
        if vectors_of is None:
            return rerank.lists_by_spelling(asked, texts)
        return rerank.lists_by_vectors(query, asked, texts, vectors_of)

    return look
