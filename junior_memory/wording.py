"""Further rank lists over the fused top, by how a query and a memory are worded. Pure.

*subject*: what begins with a word that is asked for is more often about it than what mentions it in
passing. *phrases*: words that stand side by side in the query do so in the memory. *statements*, to
a question alone: a memory that asks something itself answers nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from uuid import UUID

from junior_memory.lexical.folding import fold
from junior_memory.lexical.languages import is_function_word
from junior_memory.ranking import RankList
from junior_memory.rerank import Asked, bare

SUBJECT = "subject"
PHRASES = "phrases"
STATEMENTS = "statements"

MAX_CHARACTERS = 1_000
"""Of each memory that is looked at: bounds the time that fifty long ones take."""

OPENING_WORDS = 6
"""Words among which the first one that carries meaning is looked for."""

STEM_LENGTH = 5
"""Letters by which words count as the same in a phrase, whatever their endings."""

COMMON_SHARE = 0.5
"""A phrase that more of the texts share tells none of them apart."""

QUESTION_MARKS = ("?", "？", "؟")

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUESTION_MARK = re.compile(r"[?？؟](?:\s|$)")
_ASKS = re.compile(
    r"\s*(?:who|whom|whose|what|which|when|where|why|how|do|does|did|is|are|was|were|has|have|had"
    r"|can|could|should|will|would"
    r"|wer|wen|wem|wessen|welche[mnrs]?|wann|wo|woher|wohin|warum|weshalb|wie|wieso|hat|haben"
    r"|ist|sind|war|waren|kann|soll|wird)\b",
    re.IGNORECASE,
)
"""How questions begin in English and German, where nobody typed the question mark."""

_SPOKEN = ("english", "german")


def lists_by_wording(
    query: str, asked: Sequence[Asked], texts: Mapping[UUID, str]
) -> list[RankList]:
    """Rank texts by subject, by shared phrases and as statements; no list without an opinion."""
    wanted = {one.word for one in asked if one.idf > 0}
    shown = {memory_id: text[:MAX_CHARACTERS] for memory_id, text in texts.items()}
    lists = [
        RankList(SUBJECT, _by_subject(wanted, shown)),
        RankList(PHRASES, _by_phrases(query, wanted, shown)),
        RankList(STATEMENTS, _statements(query, shown)),
    ]
    return [each for each in lists if each.scores]


def _by_subject(wanted: Collection[str], texts: Mapping[UUID, str]) -> dict[UUID, float]:
    return {memory_id: 1.0 for memory_id, text in texts.items() if _subject_of(text) in wanted}


def _subject_of(text: str) -> str:
    """Return the first word that carries meaning."""
    for place, match in enumerate(_WORD.finditer(text)):
        word = bare(match[0])
        if place + 1 == OPENING_WORDS or not is_function_word(fold(word), _SPOKEN):
            return word
    return ""


def _by_phrases(
    query: str, wanted: Collection[str], texts: Mapping[UUID, str]
) -> dict[UUID, float]:
    """Count the query's neighbours that are neighbours in a text, or have one word between them."""
    words = [bare(word) for word in _WORD.findall(query)]
    sought = {
        (one[:STEM_LENGTH], other[:STEM_LENGTH])
        for one, other in pairwise(words)
        if one in wanted and other in wanted
    }
    if not sought:
        return {}
    shared: dict[UUID, set[tuple[str, str]]] = {}
    for memory_id, text in texts.items():
        stems = [bare(word)[:STEM_LENGTH] for word in _WORD.findall(text)]
        shared[memory_id] = sought & {*pairwise(stems), *zip(stems, stems[2:], strict=False)}
    counts = Counter(pair for pairs in shared.values() for pair in pairs)
    telling = {pair for pair, count in counts.items() if count <= COMMON_SHARE * len(texts)}
    return {
        memory_id: float(len(pairs & telling))
        for memory_id, pairs in shared.items()
        if pairs & telling
    }


def _statements(query: str, texts: Mapping[UUID, str]) -> dict[UUID, float]:
    """Return what states something, when the query asks: a question answers none."""
    if _QUESTION_MARK.search(query) is None and _ASKS.match(query) is None:
        return {}
    return {
        memory_id: 1.0
        for memory_id, text in texts.items()
        if not text.rstrip().endswith(QUESTION_MARKS)
    }
