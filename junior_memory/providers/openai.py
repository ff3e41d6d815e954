"""`openai`: embeddings from OpenAI or any endpoint that speaks its language."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import openai
from openai.types import CreateEmbeddingResponse

from junior_memory.providers.base import (
    Attempt,
    Embedded,
    EmbeddingFailed,
    Vector,
    cut_to_tokens,
    normalised,
)

BATCH = 32
"""Texts in one request: what the smallest compatible servers take."""

WAIT_SECONDS = 0.25
"""Before the second attempt; doubled before each further one."""

LIBRARIES = ("openai", "httpx2", "httpcore2", "httpx", "httpcore")


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
UNKNOWN_CUTOFF = 0.5
UNKNOWN_MAX_TOKENS = 512

# At DEBUG the library prints request bodies, and an environment variable of its own can ask for it.
for _name in LIBRARIES:
    _logger = logging.getLogger(_name)
    _logger.setLevel(max(_logger.level, logging.WARNING))


class OpenAIEmbedder:
    """One model behind one base URL."""

    provider = "openai"
    is_local = False

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
        self.nameless_cutoff = self.cutoff
        self.max_tokens = known.max_tokens if known else UNKNOWN_MAX_TOKENS
        self._asked = self.dimensions if known and known.can_shorten else None
        # Attempts are counted here, because each of them is on the record.
        self._client = openai.OpenAI(
            api_key=api_key, base_url=base_url or None, max_retries=0, timeout=10
        )

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
        for number in range(attempts):
            begun = time.monotonic()
            try:
                answer = self._ask(texts, max(0.05, ends_at - begun))
            except openai.OpenAIError as error:
                paid.append(Attempt(_outcome(error), _ms_since(begun)))
                wait = WAIT_SECONDS * 2**number
                is_last = number + 1 == attempts or time.monotonic() + wait >= ends_at
                if not _may_succeed_later(error) or is_last:
                    raise EmbeddingFailed(
                        paid[-1].outcome,
                        attempts=tuple(paid),
                        is_permanent=not _may_succeed_later(error),
                    ) from None
                time.sleep(wait)
                continue
            tokens = answer.usage.prompt_tokens if answer.usage else None
            vectors = _read(answer, len(texts))
            outcome = "ok" if vectors is not None else "invalid"
            paid.append(Attempt(outcome, _ms_since(begun), tokens))
            if vectors is None:
                raise EmbeddingFailed("invalid", attempts=tuple(paid), is_permanent=True)
            return vectors
        raise EmbeddingFailed("not_tried", attempts=tuple(paid))

    def _ask(self, texts: list[str], timeout_seconds: float) -> CreateEmbeddingResponse:
        client = self._client.with_options(timeout=timeout_seconds)
        if self._asked:
            return client.embeddings.create(
                model=self.model, input=texts, encoding_format="float", dimensions=self._asked
            )
        return client.embeddings.create(model=self.model, input=texts, encoding_format="float")


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), BATCH):
        yield texts[start : start + BATCH]


def _read(answer: CreateEmbeddingResponse, wanted: int) -> list[Vector] | None:
    """Return the vectors in the order of the texts, or None when the answer is no such thing."""
    rows = sorted(answer.data or [], key=lambda row: row.index)
    if [row.index for row in rows] != list(range(wanted)):
        return None
    vectors = [row.embedding for row in rows]
    if any(not vector or not all(map(math.isfinite, vector)) for vector in vectors):
        return None
    return [normalised(vector) for vector in vectors]


def _may_succeed_later(error: openai.OpenAIError) -> bool:
    """Lost connections, time limits, rate limits and the server's own failures."""
    if isinstance(error, openai.APIStatusError):
        return error.status_code in {408, 409, 429} or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


def _outcome(error: openai.OpenAIError) -> str:
    if isinstance(error, openai.APITimeoutError):
        return "timeout"
    if isinstance(error, openai.RateLimitError):
        return "rate_limited"
    if isinstance(error, openai.APIStatusError):
        return f"http_{error.status_code}"
    return "failed"


def _ms_since(begun: float) -> int:
    return int((time.monotonic() - begun) * 1000)
