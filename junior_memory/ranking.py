"""Rank lists and their fusion: pure functions over ids and numbers. No Django, no I/O.

Raw scores of different lists are never added; lists meet by rank alone (reciprocal rank fusion,
Cormack, Clarke and Büttcher 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

SCORE_DIGITS = 9
"""Decimals up to which two raw scores count as equal: sums of the same weights in another order."""

AGE_BUCKETS = ((timedelta(days=7), 3), (timedelta(days=30), 2), (timedelta(days=90), 1))
"""Ages that count as equally fresh when fused scores tie (DESIGN 4)."""


@dataclass(frozen=True, slots=True)
class RankList:
    """One list's opinion: a raw score for each id, higher is better."""

    name: str
    scores: Mapping[UUID, float]

    def among(self, ids: Collection[UUID], name: str) -> RankList:
        """Return the opinion about some ids alone."""
        return RankList(name, {each: self.scores[each] for each in self.scores if each in ids})


@dataclass(frozen=True, slots=True)
class Fusion:
    """How lists are fused: the constant `k` and each list's weight (1 when not named).

    `top`: how many of the fused rows are looked at once more by further lists; 0 for none.
    """

    k: float
    weights: Mapping[str, float] = field(default_factory=dict)
    top: int = 0

    def weight_of(self, name: str) -> float:
        """Return a list's weight; one that is no positive number counts as 1."""
        weight = self.weights.get(name, 1.0)
        return weight if math.isfinite(weight) and weight > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Fused:
    """One id with its fused score and its rank in every list that holds it."""

    id: UUID
    score: float
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TieFacts:
    """What decides between equal fused scores."""

    is_private: bool
    observed_at: datetime


# What the lists over the fused top count. Measured on LoCoMo, the five conversations for
# development, facts / turns, recall@10, without the three last ones .721 / .669 (nDCG .612 / .539),
# with them .733 / .688 (.623 / .567); half or twice these weights: within .005.
_CLOSER = {"late interaction": 1.5, "topic": 1.0, "subject": 1.0, "phrases": 0.7, "statements": 0.5}

PRESETS: Mapping[str, Mapping[str, Fusion]] = {
    # The same before those three: k = 5 .725 / .672, k = 8 .728 / .673 (nDCG .612 / .535 and .609 /
    # .532); 60 flattens the top of the lists (.679 / .622 before the closer look, 5 to 8: .702 /
    # .640). The first 50 hold .91 / .81 of what is wanted, 80 gained nothing. Characters help where
    # words say nothing and must not overrule them.
    "measured": {
        "search": Fusion(k=5, weights={"characters": 0.3, **_CLOSER}, top=50),
        "recall": Fusion(
            k=5,
            weights={**_CLOSER, **{f"private {name}": each for name, each in _CLOSER.items()}},
            top=50,
        ),
    },
    "original": {
        "search": Fusion(k=60, weights={"vector": 1.0, "private vector": 1.0}),
        "recall": Fusion(k=60, weights={"vector": 0.85, "private vector": 0.85}),
    },
}


def preset(
    name: str, purpose: Literal["search", "recall"], *, vector_weight: float = 1.0
) -> Fusion:
    """Return a named preset's fusion; raises KeyError for an unknown name.

    `vector_weight` is what the embedder's lists count where the preset does not say.
    """
    found = PRESETS[name][purpose]
    weights = {"vector": vector_weight, "private vector": vector_weight}
    return replace(found, weights={**weights, **found.weights})


def competition_ranks(scores: Mapping[UUID, float]) -> dict[UUID, int]:
    """Rank ids by score; equal scores share a rank and the next takes its place (1, 1, 3)."""
    ranks: dict[UUID, int] = {}
    rank, previous = 0, math.nan
    for place, (memory_id, score) in enumerate(
        sorted(scores.items(), key=lambda item: -round(item[1], SCORE_DIGITS)), start=1
    ):
        rounded = round(score, SCORE_DIGITS)
        if rounded != previous:
            rank, previous = place, rounded
        ranks[memory_id] = rank
    return ranks


def fuse(lists: Iterable[RankList], fusion: Fusion) -> list[Fused]:
    """Fuse lists by reciprocal rank: the sum of weight / (k + rank). Unsorted ties; see `order`."""
    totals: dict[UUID, float] = {}
    places: dict[UUID, dict[str, int]] = {}
    for ranked in lists:
        weight = fusion.weight_of(ranked.name)
        for memory_id, rank in competition_ranks(ranked.scores).items():
            totals[memory_id] = totals.get(memory_id, 0.0) + weight / (fusion.k + rank)
            places.setdefault(memory_id, {})[ranked.name] = rank
    found = [Fused(memory_id, score, places[memory_id]) for memory_id, score in totals.items()]
    return sorted(found, key=lambda fused: (-round(fused.score, SCORE_DIGITS), str(fused.id)))


def age_bucket(observed_at: datetime, now: datetime) -> int:
    """Return how fresh a fact counts: 3 within 7 days, 2 within 30, 1 within 90, else 0."""
    age = now - observed_at
    return next((bucket for limit, bucket in AGE_BUCKETS if age <= limit), 0)


def order(
    found: Sequence[Fused], *, facts: Callable[[UUID], TieFacts], now: datetime
) -> list[Fused]:
    """Sort by fused score; ties: private first, fresher, newer observation, id (DESIGN 4)."""

    def key(fused: Fused) -> tuple[float, int, int, float, str]:
        tie = facts(fused.id)
        return (
            -round(fused.score, SCORE_DIGITS),
            -int(tie.is_private),
            -age_bucket(tie.observed_at, now),
            -tie.observed_at.timestamp(),
            str(fused.id),
        )

    return sorted(found, key=key)
