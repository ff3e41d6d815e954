"""A closer look at the fused top: its texts are read and ranked by further lists (`rerank.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from junior_memory.lexical.leg import Plan, Text
from junior_memory.models import EmbeddingModel
from junior_memory.parts import Part
from junior_memory.providers import WordVectors, word_vectors
from junior_memory.querysets import MemoryQuerySet
from junior_memory.ranking import RankList
from junior_memory.rerank import Asked, bare, lists_by_spelling, lists_by_vectors

Closer = Callable[[Plan, Sequence[UUID]], Sequence[RankList]]
"""Ranks the fused top once more."""


def look_closer(
    rows: MemoryQuerySet, query: str, model: EmbeddingModel | None, *, probe_private: bool = False
) -> Closer:
    """Return what ranks the top of `rows`, which a viewer may see, by its texts.

    By static word vectors where there is a `model` in use, whichever, and the local library is
    installed; otherwise by spelling. `probe_private` ranks private memory by itself as well.
    """

    def look(plan: Plan, top: Sequence[UUID]) -> Sequence[RankList]:
        texts = plan.read_texts(Part.of("top", rows.filter(pk__in=top)))
        lists = _ranked(plan, query, texts, word_vectors() if model else None)
        if not probe_private:
            return lists
        private = {text.id for text in texts if text.visibility in {"private", "session"}}
        return [*lists, *(each.among(private, f"private {each.name}") for each in lists)]

    return look


def _ranked(
    plan: Plan, query: str, texts: Sequence[Text], vectors_of: WordVectors | None
) -> list[RankList]:
    holders = {
        unit: frozenset(text.id for text in texts if text.holds[place])
        for place, unit in enumerate(plan.units)
    }
    asked = [
        Asked(bare(unit.surface), idf, holders.get(unit, frozenset())) for unit, idf in plan.asked
    ]
    contents = {text.id: text.content for text in texts}
    if vectors_of is None:
        return lists_by_spelling(asked, contents)
    return lists_by_vectors(query, asked, contents, vectors_of)
