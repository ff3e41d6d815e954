"""`openai`: embeddings from OpenAI or any endpoint that speaks its language."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import openai

from junior_memory.providers.base import (
    INVALID,
    MAX_WAIT_SECONDS,
    OK,
    PAUSED,
    READS,
    WAIT_SECONDS,
    Attempt,
    Embedded,
    EmbeddingFailed,
    Vector,
    cut_to_tokens,
    normalised,
)
from junior_memory.providers.endpoint import Endpoint, RequestFailed, ms_since, tokens

BATCH = 32
"""Texts in one request: what the smallest compatible servers take."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a model's maker says about it."""

    dimensions: int
    cutoff: float
    max_tokens: int = 8_191
    can_shorten: bool = False


KNOWN = {
    "text-embedding-3-small": Known(1_536, 0.45, can_shorten=True),
    # Its 3,072 dimensions are more than an index holds; the maker lets them be shortened.
    "text-embedding-3-large": Known(1_536, 0.5, can_shorten=True),
    "text-embedding-ada-002": Known(1_536, 0.22),
}
UNKNOWN_CUTOFF, UNKNOWN_NAMELESS_CUTOFF = 0.465, 0.635
"""As measured with all-MiniLM-L6-v2 (`folder.CUTOFF`), which is what people mostly serve."""

UNKNOWN_MAX_TOKENS = 512


class OpenAIEmbedder:
    """One model behind one base URL."""

    provider = "openai"
    is_local = False
    unrelated: float | None = None
    list_weight = READS

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str = "",
        dimensions: int | None = None,
        cutoff: float | None = None,
    ) -> None:
        known = KNOWN.get(model)
        self.model = model
        self.dimensions = dimensions or (known.dimensions if known else None)
        self.cutoff = cutoff or (known.cutoff if known else UNKNOWN_CUTOFF)
        # What somebody set, or the maker says, holds for every text.
        unknown = cutoff is None and known is None
        self.nameless_cutoff = UNKNOWN_NAMELESS_CUTOFF if unknown else self.cutoff
        self.max_tokens = known.max_tokens if known else UNKNOWN_MAX_TOKENS
        self._shortened_to = self.dimensions if known and known.can_shorten else None
        self._endpoint = Endpoint(api_key=api_key, base_url=base_url, purpose="embeddings")

    def embed(self, texts: Sequence[str], *, timeout_seconds: float, attempts: int = 1) -> Embedded:
        """Return normalised vectors, asked for in batches; raises EmbeddingFailed.

        `timeout_seconds` holds for all of it.
        """
        ends_at = time.monotonic() + timeout_seconds
        vectors: list[Vector] = []
        paid: list[Attempt] = []
        for batch in _batches([cut_to_tokens(text, self.max_tokens) or " " for text in texts]):
            vectors += self._batch(batch, ends_at, attempts, paid)
        return Embedded(tuple(vectors), tuple(paid))

    def _batch(
        self, texts: list[str], ends_at: float, attempts: int, paid: list[Attempt]
    ) -> list[Vector]:
        failure: RequestFailed | None = None
        for number in range(attempts):
            begun = time.monotonic()
            try:
                answer = self._ask(texts, max(0.05, ends_at - begun))
            except RequestFailed as error:
                failure = error
            else:
                vectors = _read(answer, len(texts))
                used = tokens(answer.get("usage"), "prompt_tokens")
                outcome = OK if vectors is not None else INVALID
                paid.append(Attempt(outcome, ms_since(begun), used))
                if vectors is None:
                    raise EmbeddingFailed(INVALID, attempts=tuple(paid), is_permanent=True)
                return vectors
            if failure.was_sent:
                paid.append(Attempt(failure.reason, ms_since(begun)))
            wait = max(WAIT_SECONDS * 2**number, failure.retry_after_seconds or 0)
            is_over = wait > MAX_WAIT_SECONDS or time.monotonic() + wait >= ends_at
            if failure.is_permanent or failure.reason == PAUSED or is_over:
                break
            if number + 1 < attempts:
                time.sleep(wait)
        raise EmbeddingFailed(
            failure.reason if failure else "not_tried",
            attempts=tuple(paid),
            is_permanent=bool(failure and failure.is_permanent),
        )

    def _ask(self, texts: list[str], timeout_seconds: float) -> dict[str, Any]:
        return self._endpoint.request(
            lambda client, seconds: client.embeddings.with_streaming_response.create(
                model=self.model,
                input=texts,
                encoding_format="float",
                dimensions=self._shortened_to or openai.omit,
                timeout=seconds,
            ),
            timeout_seconds=timeout_seconds,
        )


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), BATCH):
        yield texts[start : start + BATCH]


def _read(answer: dict[str, Any], wanted: int) -> list[Vector] | None:
    """Return the vectors in the order of the texts, or None when the answer is no such thing."""
    rows = answer.get("data")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    numbered = [row for row in rows if isinstance(row.get("index"), int)]
    vectors = {row["index"]: row.get("embedding") for row in numbered}
    ordered = [vectors.get(place) for place in range(wanted)]
    if len(rows) != wanted or not all(_is_vector(vector) for vector in ordered):
        return None
    return [normalised(vector) for vector in ordered if vector]


def _is_vector(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, int | float) and math.isfinite(one) for one in value)
    )
