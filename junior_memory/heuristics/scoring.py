"""Which of a session's statements are worth the few places there are.

A logistic score over features of language alone: how much is said in the first person, in which
tenses, what kind of statement it is, whether it answers a question. No names, no topics. The
weights were fitted on conversations with hand-written facts, checked by leaving whole
conversations out, and rounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from junior_memory.heuristics.sentences import Sentence
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import content_words

_FIRST = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|we|we're|we've|we'll|our|us)\b", re.IGNORECASE
)
_SECOND = re.compile(r"\b(?:you|your|you're|you've|yours|y'all)\b", re.IGNORECASE)
_EVENT = re.compile(
    r"\b(?:i|we)\s+(?:\w+ly\s+|just\s+|also\s+)?(?:\w{2,}ed|went|got|had|was|took|made"
    r"|met|saw|bought|found|began|ran|won"
    r"|gave|came|felt|did|wrote|read|left|lost|taught|told|grew)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(r"\b(?:i've|we've|i have been|i'm|we're)\b", re.IGNORECASE)
_CHAT = re.compile(
    r"\b(?:wow|thanks|thank|awesome|cool|great|congrats|bye|take care|glad|sounds|good"
    r" luck|amazing|nice)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:yesterday|last|ago|recently|lately|since|started|next|planning|years?|months?"
    r"|weeks?|weekend|new|used to|first"
    r"|always|favou?rite)\b",
    re.IGNORECASE,
)
_DEICTIC = re.compile(r"\b(?:this|that|these|those|it|them|there|here)\b", re.IGNORECASE)
_DATED = re.compile(
    r"\b(?:yesterday|last|ago|next|(?:19|20)\d\d|january|february|march|april|may|june|july"
    r"|august|september|october|november|december)\b",
    re.IGNORECASE,
)

_WEIGHTS: Mapping[str, float] = {
    "base": -3.5,
    "answers": 1.1,
    "asks": -0.2,
    "content": 0.4,
    "deictic": -0.2,
    "events": 0.5,
    "family aside": 0.1,
    "family attribute": -0.3,
    "family being": 0.1,
    "family event": 0.2,
    "family feeling": -0.6,
    "family goal": 0.2,
    "family habit": 0.2,
    "family influence": -0.3,
    "family ongoing": 0.8,
    "family opinion": -0.1,
    "family preference": -0.2,
    "family procedure": 0.2,
    "family team": 0.1,
    "family told": -0.4,
    "first": 0.1,
    "lasting": 0.8,
    "length": 0.9,
    "opens": 1.1,
    "second": -0.2,
    "time": 0.5,
    "told": 0.3,
    "told_long": 0.5,
}
_STRONG: Mapping[Family, float] = {Family.DIRECTIVE: 4.0, Family.PROCEDURE: 4.0, Family.TEAM: 4.0}


def message_features(
    text: str, *, sentences: tuple[Sentence, ...], answers: bool, opens: bool
) -> dict[str, float]:
    """What a whole message says about its worth; every value is near the range 0 to 3."""
    told = [
        one.text
        for one in sentences
        if not one.asks and _FIRST.search(one.text) and not _SECOND.search(one.text)
    ]
    size = sum(len(one) for one in told)
    return {
        "length": math.log1p(len(text)) / 2,
        "told": math.log1p(size) / 2,
        "told_long": min(size, 400) / 200,
        "first": min(len(_FIRST.findall(text)), 8) / 4,
        "second": min(len(_SECOND.findall(text)), 5) / 2,
        "asks": float(any(one.asks for one in sentences)),
        "events": min(len(_EVENT.findall(text)), 3) / 2,
        "lasting": float(bool(_LASTING.search(text))),
        "chat": min(len(_CHAT.findall(text)), 4) / 2,
        "time": min(len(_TIME.findall(text)), 4) / 2,
        "answers": float(answers),
        "opens": float(opens),
        "exclaims": min(text.count("!"), 4) / 2,
    }


def reading_features(reading: Reading) -> dict[str, float]:
    """What one statement says about its worth."""
    return {
        "content": min(content_words(reading.content), 12) / 6,
        "deictic": min(len(_DEICTIC.findall(reading.content)), 2) / 2,
        "dated": float(bool(_DATED.search(reading.content))),
        f"family {reading.family.value}": 1.0,
    }


def score_reading(reading: Reading, features: Mapping[str, float]) -> float:
    """The score of a statement in its message; higher is better, about 0 where half are worth
    keeping.
    """
    own = reading_features(reading)
    total = sum(
        _WEIGHTS.get(name, 0.0) * value for name, value in (*features.items(), *own.items())
    )
    return total + _WEIGHTS.get("base", 0.0) + _STRONG.get(reading.family, 0.0)
