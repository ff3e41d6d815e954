"""Which of a session's statements are worth the few places there are.

The weights are those of a logistic regression on features of language alone (no names, no topics), rounded;
they were checked by leaving whole conversations out.
"""

from __future__ import annotations

from collections.abc import Mapping

from junior_memory.heuristics import refusals, words
from junior_memory.heuristics.statements import Family, Reading

_FAMILY_SCORE: Mapping[Family, float] = {
    Family.DIRECTIVE: 3.0,
    Family.PROCEDURE: 3.0,
    Family.TEAM: 3.0,
    Family.PREFERENCE: 1.0,
    Family.BEING: 1.0,
    Family.ATTRIBUTE: 1.0,
    Family.POSSESSION: 1.0,
    Family.HABIT: 1.0,
    Family.GOAL: 0.6,
    Family.ONGOING: 0.8,
    Family.EVENT: 0.8,
    Family.OPINION: 0.0,
    Family.FEELING: -0.3,
    Family.INFLUENCE: 0.4,
}


def content_words(text: str) -> int:
    """How many different words of `text` carry a meaning of their own."""
    return len({word for word in refusals.words_of(text) if word not in words.EMPTY_WORDS and len(word) > 2})


def score_reading(reading: Reading, *, answers_question: bool, opens_session: bool, message: str) -> float:
    return _FAMILY_SCORE[reading.family]
