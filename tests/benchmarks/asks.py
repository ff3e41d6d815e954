"""Put forty fictional inputs to the model that the settings name, through the product's own code.

    AI_MEMORY_MODEL=… OPENAI_BASE_URL=http://127.0.0.1:8121/v1 MEMORY_MODEL_CONTEXT_TOKENS=8192 \\
        python -m tests.benchmarks.asks [--save] [--timeout SECONDS] [ASK …]

Prints what the server answered, shortened, and what the code made of it. `--save` keeps the raw
answers, which the tests replay. Needs a migrated database: every request goes on the record.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")
django.setup()

from junior_memory.model_calls import OnBehalf  # noqa: E402
from junior_memory.providers import (  # noqa: E402
    Attempt,
    ChatModel,
    ModelFailed,
    Question,
    chat_model_in_use,
)
from tests.domain.recorded import asked  # noqa: E402
from tests.domain.recorded.inputs import (  # noqa: E402
    COMPARISONS,
    CONVERSATIONS,
    REVIEWS,
    SELECTIONS,
)

KEPT = Path(__file__).resolve().parents[1] / "domain" / "recorded" / "answers.json"
SHOWN = 160


class Recorder:
    """A model that notes what it answers."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.provider = model.provider
        self.model = model.model
        self.max_input_tokens = model.max_input_tokens
        self.answers: list[dict[str, str]] = []

    def ask(
        self, question: Question, *, timeout_seconds: float, paid: Callable[[Attempt], None]
    ) -> str:
        """Ask on, and keep the text or the reason."""
        try:
            text = self._model.ask(question, timeout_seconds=timeout_seconds, paid=paid)
        except ModelFailed as failure:
            self.answers.append({"failed": failure.reason})
            raise
        self.answers.append({"text": text})
        return text


ASKS: dict[str, tuple[Any, ...]] = {
    "relevance": SELECTIONS,
    "adjudication": COMPARISONS,
    "review": REVIEWS,
    "extraction": CONVERSATIONS,
}
"""One ask after the other: a server that keeps the beginning of a prompt reads its rules once."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("asks", nargs="*", choices=[*ASKS, []])
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--timeout", type=float, default=120)
    given = parser.parse_args()
    model = chat_model_in_use()
    if model is None:
        raise SystemExit("AI_MEMORY_MODEL names no model")
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for ask, one in ((ask, one) for ask, inputs in ASKS.items() for one in inputs):
        if given.asks and ask not in given.asks:
            continue
        recorder = Recorder(model)
        payer = OnBehalf()
        begun = time.monotonic()
        outcome = asked.outcome_of(one, recorder, payer=payer, timeout_seconds=given.timeout)
        took = time.monotonic() - begun
        tokens = sum(call.output_tokens for call in payer.calls)
        print(f"\n{ask} | {one.name} | {took:.1f} s, {len(payer.calls)} calls, {tokens} tokens out")
        for answer in recorder.answers:
            print("   answered:", " ".join(str(answer).split())[:SHOWN])
        print("   became:  ", outcome, flush=True)
        if given.save:
            kept.setdefault(ask, {})[one.name] = {"answers": recorder.answers, "became": outcome}
            text = json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True)
            KEPT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
