"""What embedders and chat models offer, and how texts are cut to what a model takes. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = Sequence[float]

Matrix = NDArray[np.float32]

WordVectors = Callable[[Sequence[str]], Matrix]
"""Static vectors: one row for each word, not normalised."""

READS = 1.7
"""`list_weight` of a model that reads whole texts. Measured on LoCoMo's five conversations for
development with all-MiniLM-L6-v2, facts / turns, recall@10: 1 .740 / .686, 1.5 .751 / .689, 2
.756 / .697; beyond 1.5 nDCG falls for turns. Word vectors lose from 1.5 on."""

MAX_DIMENSIONS = 2_000
"""What an index over half-precision vectors can hold."""

ASCII_PER_TOKEN = 3.0
BYTES_PER_TOKEN = 4 / 3
"""Cautious guesses, so that no text is longer for the model than it is for us."""


WAIT_SECONDS = 0.25
"""Before the second attempt; doubled before each further one."""

MAX_WAIT_SECONDS = 5.0
"""An endpoint that wants to be left alone for longer is not waited for."""

OK = "ok"
TIMEOUT = "timeout"
RATE_LIMITED = "rate_limited"
FAILED = "failed"
TRUNCATED = "truncated"
REFUSED = "refused"
EMPTY = "empty"
INVALID = "invalid"
TOO_MANY = "too_many"
TOO_LONG = "too_long"
NO_QUOTA = "no_quota"
PAUSED = "paused"
FORM_REFUSED = "form_refused"
OPEN = "open"
"""How a call came out, besides `http_500` and its like: stable words, on the record as they are.

`open`: nobody has said yet, and nobody will where the process that asked was killed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call of a model as it is paid for; tokens are None when the model did not say.

    Cached ones are part of the input, reasoning ones part of the output.
    """

    outcome: str
    duration_ms: int
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


class ModelFailed(Exception):
    """No answer. Says why in one of the words above, and what was paid; never holds a text.

    `is_permanent` means that asking again, also later, cannot help.
    """

    def __init__(
        self,
        reason: str,
        *,
        attempts: tuple[Attempt, ...] = (),
        is_permanent: bool = False,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.attempts = attempts
        self.is_permanent = is_permanent
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector for each text, in order, and the paid attempts that they took."""

    vectors: tuple[Vector, ...]
    attempts: tuple[Attempt, ...] = ()


class EmbeddingFailed(ModelFailed):
    """No vectors."""


class Embedder(Protocol):
    """One model. `embed` may be called by many threads at once."""

    provider: str
    model: str
    dimensions: int | None
    """None until the first answer tells, for a model that we do not know."""
    cutoff: float
    nameless_cutoff: float
    """Cosine distance up to which a memory counts as close in recall."""
    unrelated: float | None
    """The mean distance of texts that have nothing in common; None where nobody measured it."""
    list_weight: float
    """What its rank list counts beside the others: 1 for word vectors, more for one that reads."""
    max_tokens: int
    is_local: bool
    """True when it costs nothing and takes less time than a statement."""

    def embed(self, texts: Sequence[str], *, timeout_seconds: float, attempts: int = 1) -> Embedded:
        """Return normalised vectors; raises EmbeddingFailed. Each request is tried that often."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One part of a prompt. Its text is never part of its `repr`."""

    role: Literal["system", "user"]
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """What a chat model is asked: an answer of that shape, in at most so many tokens."""

    messages: tuple[Message, ...]
    schema_name: str
    schema: Mapping[str, Any] = field(repr=False)
    max_tokens: int


class ChatModel(Protocol):
    """One model that answers in words. `ask` may be called by many threads at once."""

    provider: str
    model: str
    max_input_tokens: int
    """What a prompt may take, counted as `cut_to_tokens` does."""

    def ask(
        self, question: Question, *, timeout_seconds: float, paid: Callable[[Attempt], None]
    ) -> str:
        """Return the text of one answer; raises ModelFailed.

        `paid` is told of every request that was made, before anybody looks at its answer. The limit
        holds for all of it.
        """
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
