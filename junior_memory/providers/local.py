"""`local`: static word vectors whose weights come with the wheel. Free, offline, under 1 ms."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from junior_memory.providers.base import Embedded, cut_to_tokens, normalised

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


class LocalEmbedder:
    """The wordllama model of 256 dimensions."""

    provider = "local"
    model = WORDLLAMA
    dimensions: int | None = DIMENSIONS
    cutoff = 0.55
    max_tokens = 4_096
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
