"""What keeps a memory that was found out of a prompt. Pure decisions over what the legs found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from junior_memory.models import Memory, Visibility
from junior_memory.search import LEXICAL, PRIVATE_PROBE, Gathered, Hit
from junior_memory.secrets import contains_secret
from junior_memory.vector import VECTOR

FITS_AT = 0.25
"""Without vectors: the best candidate's strength by words below which nothing fits."""

SPEAKS_FOR_ITSELF = 0.45
"""Beside vectors: the strength by words at which a memory fits though none is near in meaning.

Chosen with the cutoffs of the embedders that were measured, on LoCoMo's five conversations for
development, so that facts and turns by either keep as clear as may be of what is asked for. The
higher it is, the more meaning has to let through: then all-MiniLM-L6-v2 either loses too many
answers among turns or speaks up too often among facts. A sum of both signals separates facts a
little better and turns much worse.
`tests/benchmarks/retrieval.py` has the figures and prints the curve.
"""

NEAR_BEST = 0.4
"""The share of the best candidate's strength that the others need."""


class Gate(StrEnum):
    """What stopped a candidate; the empty gate let it through."""

    NONE = ""
    NOT_RELEVANT = "not_relevant"
    TOO_FAR = "too_far"
    BELOW_MIN_SCORE = "below_min_score"
    WEAKER_THAN_BEST = "weaker_than_best"
    NOT_SELECTED = "not_selected"
    SECRET = "secret"  # noqa: S105 - a gate, not a password
    NO_ROOM = "no_room"
    OVER_LIMIT = "over_limit"
    ABOUT_SOMEBODY_ELSE = "about_somebody_else"
    PRIVATE_HERE = "private_in_public"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory that was considered, with what found it and the gate that stopped it, if any."""

    hit: Hit
    strength: float
    gate: Gate = Gate.NONE


@dataclass(frozen=True, slots=True)
class Found:
    """What the legs found, and the distance up to which meaning counts.

    `own_cutoff` is that of a person's own memories, `cutoff` that of the others.
    """

    gathered: Gathered
    cutoff: float | None
    own_cutoff: float | None

    def cutoff_for(self, memory: Memory) -> float | None:
        """Return the distance up to which a memory is close."""
        is_own = memory.visibility in {Visibility.PRIVATE, Visibility.SESSION}
        return self.own_cutoff if is_own else self.cutoff

    def strength(self, hit: Hit) -> float:
        """Return how well a hit fits: the best single list's normalised score, 0-1.

        A memory at the model's own cutoff just fits; one that says the same has strength 1.
        """
        by_words = self._by_words(hit)
        cutoff = self.cutoff_for(hit.memory)
        if hit.match.meaning is None or not cutoff:
            return by_words
        closeness = max(0.0, 1 - hit.match.meaning / cutoff)
        return max(by_words, FITS_AT + (1 - FITS_AT) * closeness)

    def fits(self, hits: Sequence[Hit]) -> bool:
        """Whether any hit is near in meaning, or its words speak for themselves."""
        if any(hit.match.meaning is not None for hit in hits):
            return True
        has_meaning = VECTOR in self.gathered.answer.answers
        least = SPEAKS_FOR_ITSELF if has_meaning else FITS_AT
        return any(self._by_words(hit) >= least for hit in hits)

    def _by_words(self, hit: Hit) -> float:
        """Return how well a hit's words fit, 0-1."""
        plan = self.gathered.plan
        scores = [
            rows[hit.memory.pk].score
            for name, rows in self.gathered.scored.items()
            if name in {LEXICAL, PRIVATE_PROBE} and hit.memory.pk in rows
        ]
        return plan.strength(max(scores, default=0.0)) if plan else 0.0


def judge(
    hits: Sequence[Hit], found: Found, *, min_score: float, by_model: bool
) -> list[Candidate]:
    """Put every hit through the gates that need no packing, in the order they act.

    `by_model`: a model decides afterwards what is relevant, so that strength does not.
    """
    strengths = [found.strength(hit) for hit in hits]
    best = max(strengths, default=0.0)
    something_fits = by_model or found.fits(hits)
    candidates: list[Candidate] = []
    for hit, strength in zip(hits, strengths, strict=True):
        gate = Gate.NONE
        if not something_fits:
            gate = Gate.NOT_RELEVANT
        elif strength < min_score:
            gate = Gate.BELOW_MIN_SCORE
        elif not by_model and strength < NEAR_BEST * best:
            gate = Gate.WEAKER_THAN_BEST
        elif contains_secret(hit.memory.content):
            gate = Gate.SECRET
        candidates.append(Candidate(hit, strength, gate))
    return candidates
