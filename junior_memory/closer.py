"""A closer look at the fused top: its texts are read and ranked by further lists.

The lists are `rerank.py`'s, by how near words are, and `wording.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np

from junior_memory.legs import LegAnswer
from junior_memory.lexical.leg import Plan, Text
from junior_memory.models import EmbeddingModel
from junior_memory.parts import Part, among
from junior_memory.providers import WordVectors, word_vectors
from junior_memory.providers.base import Matrix
from junior_memory.querysets import MemoryQuerySet
from junior_memory.ranking import RankList
from junior_memory.rerank import Asked, bare, lists_by_spelling, lists_by_vectors, words_of
from junior_memory.wording import lists_by_wording

READ_AHEAD = 50
"""Rows of each list that are read before it is known whether they are of the top."""


class Closer:
    """Ranks the top of `rows`, which a viewer may see, by its texts; made for one query.

    By static word vectors where there is a `model` in use, whichever, and the local library is
    installed; otherwise by spelling; either way by wording. `probe_private` ranks private memory
    by itself as well.
    """

    def __init__(
        self,
        rows: MemoryQuerySet,
        query: str,
        model: EmbeddingModel | None,
        *,
        probe_private: bool = False,
    ) -> None:
        self._rows = rows
        self._query = query
        self._probe_private = probe_private
        vectors_of = word_vectors() if model else None
        self._vectors_of = _Remembered(vectors_of) if vectors_of else None
        self._texts: dict[UUID, Text] = {}

    @property
    def contents(self) -> list[str]:
        """The texts that were read so far, in the order of the lists that they were read for."""
        return [text.content for text in self._texts.values()]

    @property
    def wordless(self) -> list[str]:
        """Of the texts that were read, those that hold nothing of what is asked for by words."""
        return [text.content for text in self._texts.values() if not any(text.holds)]

    def __call__(self, plan: Plan, top: Sequence[UUID]) -> list[RankList]:
        """Return further lists over the top."""
        texts = self._read(plan, top)
        lists = self._ranked(plan, texts)
        if not self._probe_private:
            return lists
        private = {text.id for text in texts if text.visibility in {"private", "session"}}
        return [*lists, *(each.among(private, f"private {each.name}") for each in lists)]

    def read_ahead(self, answer: LegAnswer) -> None:
        """Read what the first leg found, while another one is waited for."""
        if answer.plan is None:
            return
        found = [row.id for rows in answer.lists.values() for row in rows[:READ_AHEAD]]
        texts = self._read(answer.plan, list(dict.fromkeys(found)))
        if self._vectors_of is not None:
            contents = [self._query, *(text.content for text in texts)]
            self._vectors_of.learn(word for content in contents for word in words_of(content))

    def _read(self, plan: Plan, ids: Sequence[UUID]) -> list[Text]:
        """Return the texts of these rows, those in hand without asking for them again."""
        missing = [each for each in ids if each not in self._texts]
        if missing:
            read = plan.read_texts(Part.of("top", self._rows).having(among(missing)))
            texts = {text.id: text for text in read}
            self._texts.update((each, texts[each]) for each in missing if each in texts)
        return [self._texts[each] for each in ids if each in self._texts]

    def _ranked(self, plan: Plan, texts: Sequence[Text]) -> list[RankList]:
        holders = {
            unit: frozenset(text.id for text in texts if text.holds[place])
            for place, unit in enumerate(plan.units)
        }
        asked = [
            Asked(bare(unit.surface), idf, holders.get(unit, frozenset()))
            for unit, idf in plan.asked
        ]
        contents = {text.id: text.content for text in texts}
        worded = lists_by_wording(self._query, asked, contents)
        if self._vectors_of is None:
            return [*lists_by_spelling(asked, contents), *worded]
        return [*lists_by_vectors(self._query, asked, contents, self._vectors_of), *worded]


def look_closer(
    rows: MemoryQuerySet, query: str, model: EmbeddingModel | None, *, probe_private: bool = False
) -> Closer:
    """Return what ranks the top of `rows` by its texts; see Closer."""
    return Closer(rows, query, model, probe_private=probe_private)


class _Remembered:
    """Word vectors of one query, none of them made twice."""

    def __init__(self, vectors_of: WordVectors) -> None:
        self._vectors_of = vectors_of
        self._known: dict[str, Matrix] = {}

    def __call__(self, words: Sequence[str]) -> Matrix:
        self.learn(words)
        return np.stack([self._known[word] for word in words])

    def learn(self, words: Iterable[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if new:
            self._known.update(zip(new, self._vectors_of(new), strict=True))
