"""`fake`: for tests and trials: an embedder that hashes words, a chat model with a script."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence

from junior_memory.providers.base import (
    OK,
    Attempt,
    Embedded,
    EmbeddingFailed,
    ModelFailed,
    Question,
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
    unrelated: float | None = None
    list_weight = 1.0

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


Answer = str | ModelFailed | Callable[[Question], str]
"""What a script holds: a text, a failure to raise, or what makes a text of the question."""


class FakeChatModel:
    """Answers by a script, one entry for each request; the last one is used from then on.

    `asked` keeps the questions. Requests cost nothing that is known unless the model's name is one
    with a published price; tokens are a quarter of the characters.
    """

    provider = "fake"

    def __init__(
        self,
        *script: Answer,
        model: str = "scripted",
        provider: str = "fake",
        delay_seconds: float = 0,
        max_input_tokens: int = 16_000,
    ) -> None:
        self.provider = provider
        self.model = model
        self.max_input_tokens = max_input_tokens
        self.delay_seconds = delay_seconds
        self.script = list(script) or ["{}"]
        self.asked: list[Question] = []

    def ask(
        self, question: Question, *, timeout_seconds: float, paid: Callable[[Attempt], None]
    ) -> str:
        """Return the next answer of the script; raises its failures, and `timeout` when late."""
        self.asked.append(question)
        entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        time.sleep(min(self.delay_seconds, timeout_seconds))
        asked = sum(len(message.text) for message in question.messages) // 4
        if self.delay_seconds > timeout_seconds:
            paid(Attempt("timeout", int(timeout_seconds * 1000)))
            raise ModelFailed("timeout")
        spent = int(self.delay_seconds * 1000)
        if isinstance(entry, ModelFailed):
            for attempt in entry.attempts or (Attempt(entry.reason, spent),):
                paid(attempt)
            raise entry
        text = entry if isinstance(entry, str) else entry(question)
        paid(Attempt(OK, spent, asked, 0, len(text) // 4, 0))
        return text
