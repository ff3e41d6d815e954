"""`fake`: a deterministic embedder for tests and trials: words hashed into few dimensions."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence

from junior_memory.providers.base import (
    Attempt,
    Embedded,
    EmbeddingFailed,
    cut_to_tokens,
    normalised,
)

PLACES = 4
"""Dimensions that each word has a part in: two words rarely meet in all of them."""

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Texts that share words are near. Its name says its dimensions: `fake-64`.

    `delay_seconds` and `failing` make it slow or broken; `is_paid` gives it costs.
    """

    provider = "fake"
    cutoff = 0.7
    nameless_cutoff = 0.7
    max_tokens = 512

    def __init__(
        self,
        model: str = "fake-64",
        *,
        delay_seconds: float = 0,
        failing: bool = False,
        is_local: bool = True,
        answers_with: int | None = None,
    ) -> None:
        self.model = model
        self.dimensions: int | None = int(model.rpartition("-")[2])
        self.delay_seconds = delay_seconds
        self.failing = failing
        self.is_local = is_local
        self.answers_with = answers_with
        self.calls = 0

    def embed(
        self,
        texts: Sequence[str],
        *,
        timeout_seconds: float = 0,  # noqa: ARG002 - a sleeping embedder ignores its limit
        attempts: int = 1,  # noqa: ARG002
    ) -> Embedded:
        """Return normalised vectors of hashed words."""
        self.calls += 1
        if self.delay_seconds:
            time.sleep(self.delay_seconds)
        paid = () if self.is_local else (Attempt("ok", 0, sum(map(len, texts)) // 4),)
        if self.failing:
            raise EmbeddingFailed("failed", attempts=paid)
        return Embedded(tuple(self._vector(text) for text in texts), paid)

    def _vector(self, text: str) -> Sequence[float]:
        size = self.answers_with or self.dimensions or 1
        vector = [0.0] * size
        for word in _WORD.findall(cut_to_tokens(text, self.max_tokens).casefold()):
            digest = hashlib.blake2b(word.encode(), digest_size=5 * PLACES).digest()
            for start in range(0, len(digest), 5):
                place = int.from_bytes(digest[start : start + 4], "big") % size
                vector[place] += 1 if digest[start + 4] % 2 else -1
        return normalised(vector)
