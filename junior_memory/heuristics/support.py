"""Which other messages of the same person speak of what a fact says: evidence beside the message it
was read from.

A message counts when one of its plain statements shares at least two telling words and a third of
all telling words with the fact and stands close to it; less is a coincidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from junior_memory.heuristics import marks, refusals, words
from junior_memory.heuristics.sentences import Sentence

SHARED_WORDS = 2
"""Telling words that a statement shares with a fact to support it."""

SHARED_PART = 0.34
"""Least part of a fact's telling words that such a statement holds."""

MAX_DISTANCE = 4
"""Entries between a fact's own message and one that supports it: the talk is still about it."""

_MIN_STEM = 3
_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly", "er")
_VAGUE = (
    "really love like great good get got make made have has been feel think find lot thing time day"
    " people want help mean way keep need always amazing awesome important last year week new life"
    " something definitely know much month since them their they january february march april may"
    " june july august september october november december plan start try took take going went"
).split()


def _stem(word: str) -> str:
    word = word.lower().replace("'s", "")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            word = word[: -len(ending)]
            break
    if len(word) > _MIN_STEM and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("eiy")


_VAGUE_STEMS = frozenset(_stem(word) for word in (*_VAGUE, *words.EMPTY_WORDS))
_NUMBER = re.compile(r"^\d+$")


def telling_words(text: str) -> frozenset[str]:
    """Stems of the words of `text` that say what it is about."""
    return (
        frozenset(
            _stem(word)
            for word in refusals.words_of(text)
            if len(word) >= _MIN_STEM and not _NUMBER.match(word)
        )
        - _VAGUE_STEMS
    )


def subjects_of(sentences: Sequence[Sentence]) -> tuple[frozenset[str], ...]:
    """The telling words of each plain statement of a message: no questions, nothing about the
    listener, no conditions, nobody else's words.
    """
    return tuple(
        telling_words(one.text)
        for one in sentences
        if not one.asks
        and not marks.LISTENER.search(one.text)
        and not refusals.is_hypothetical(one.text)
        and not refusals.is_reported(one.text)
        and not refusals.names_secret(one.text)
    )


def supporting(
    content: str,
    evidence: tuple[int, ...],
    *,
    subjects: Mapping[int, tuple[frozenset[str], ...]],
) -> int | None:
    """The message near `evidence` that speaks most plainly of `content`, or None.

    `subjects` holds per entry index what each of its statements is about.
    """
    wanted = telling_words(content)
    best: tuple[int, int] | None = None
    for index, told in subjects.items():
        if index in evidence or min(abs(index - one) for one in evidence) > MAX_DISTANCE:
            continue
        shared = max((len(wanted & one) for one in told), default=0)
        enough = shared >= max(SHARED_WORDS, SHARED_PART * len(wanted))
        if enough and (best is None or shared > best[0]):
            best = (shared, index)
    return best[1] if best else None
