"""`local`: static word vectors whose weights come with the wheel. Free, offline, under 1 ms."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from junior_memory.providers.base import Embedded, Matrix, cut_to_tokens, normalised

WORDLLAMA = "wordllama-256"
DIMENSIONS = 256
BATCH = 16
"""Texts that are pooled together: bounds the memory that one call takes."""

_loading = threading.Lock()


def is_installed() -> bool:
    """True when the optional library is there."""
    return find_spec("wordllama") is not None


@lru_cache(maxsize=1)
def _load() -> Any:
    from wordllama import WordLlama
    from wordllama import __file__ as where

    # The weights and the tokenizer lie in the package; the plain call would ask a hub for them.
    return WordLlama.load(dim=DIMENSIONS, cache_dir=Path(where).parent, disable_download=True)


def _weights() -> Any:
    """Return the model, loaded once in this process (about 0.4 s)."""
    with _loading:
        return _load()


def word_vectors(words: Sequence[str]) -> Matrix:
    """Return one static vector for each word: the sum of those of its pieces."""
    model = _weights()
    # One by one: a batch wakes threads for less than they cost, and pieces can span two words.
    pieces = [model.tokenizer.encode(word, add_special_tokens=False).ids for word in words]
    found: Matrix = np.zeros((len(words), DIMENSIONS), dtype=np.float32)
    filled = [place for place, ids in enumerate(pieces) if ids]
    if filled:
        starts = np.cumsum([0, *(len(pieces[place]) for place in filled[:-1])])
        flat = [piece for ids in pieces for piece in ids]
        found[filled] = np.add.reduceat(model.embedding[flat], starts, axis=0)
    return found


class LocalEmbedder:
    """The wordllama model of 256 dimensions."""

    provider = "local"
    model = WORDLLAMA
    dimensions: int | None = DIMENSIONS
    cutoff = 0.545
    nameless_cutoff = 0.71
    max_tokens = 4_096
    unrelated: float | None = 1.0
    list_weight = 1.0
    is_local = True

    def embed(
        self,
        texts: Sequence[str],
        *,
        timeout_seconds: float = 0,  # noqa: ARG002 - takes no time worth limiting
        attempts: int = 1,  # noqa: ARG002
    ) -> Embedded:
        """Return normalised vectors; a text without a token has one of zeros."""
        cut = [cut_to_tokens(text, self.max_tokens) for text in texts]
        asked = [text if text.strip() else "." for text in cut]
        found = _weights().embed(asked, norm=False, batch_size=BATCH).tolist() if asked else []
        return Embedded(
            tuple(
                normalised(vector) if text.strip() else [0.0] * DIMENSIONS
                for text, vector in zip(cut, found, strict=True)
            )
        )
