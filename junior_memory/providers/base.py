"""What every embedder offers, and how texts are cut to what a model takes. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = Sequence[float]

Matrix = NDArray[np.float32]

WordVectors = Callable[[Sequence[str]], Matrix]
"""Static vectors: one row for each word, not normalised."""

MAX_DIMENSIONS = 2_000
"""What an index over half-precision vectors can hold."""

ASCII_PER_TOKEN = 3.0
BYTES_PER_TOKEN = 4 / 3
"""Cautious guesses, so that no text is longer for the model than it is for us."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a model as it is paid for; tokens are None when the model did not say."""

    outcome: str
    duration_ms: int
    input_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector for each text, in order, and the paid attempts that they took."""

    vectors: tuple[Vector, ...]
    attempts: tuple[Attempt, ...] = ()


class EmbeddingFailed(Exception):
    """No vectors. Carries what was paid, and whether trying later can help; never a text."""

    def __init__(
        self, reason: str, *, attempts: tuple[Attempt, ...] = (), is_permanent: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.attempts = attempts
        self.is_permanent = is_permanent


class Embedder(Protocol):
    """One model. `embed` may be called by many threads at once."""

    provider: str
    model: str
    dimensions: int | None
    """None until the first answer tells, for a model that we do not know."""
    cutoff: float
    nameless_cutoff: float
    """Cosine distance up to which a memory counts as close in recall."""
    max_tokens: int
    is_local: bool
    """True when it costs nothing and takes less time than a statement."""

    def embed(self, texts: Sequence[str], *, timeout_seconds: float, attempts: int = 1) -> Embedded:
        """Return normalised vectors; raises EmbeddingFailed. Each request is tried that often."""
        ...


def cut_to_tokens(text: str, limit: int) -> str:
    """Return the beginning of a text that surely fits a model's limit."""
    if len(text) * 3 <= limit:
        return text
    used = 0.0
    for place, char in enumerate(text):
        used += 1 / ASCII_PER_TOKEN if char < "\x80" else len(char.encode()) / BYTES_PER_TOKEN
        if used > limit:
            return text[:place]
    return text


def normalised(vector: Sequence[float]) -> Vector:
    """Return the vector at length 1; one without a direction stays all zeros."""
    length = math.sqrt(sum(value * value for value in vector))
    if not math.isfinite(length) or length == 0:
        return [0.0] * len(vector)
    return [value / length for value in vector]
