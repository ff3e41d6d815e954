"""Which memories does the answer to one message need? Selecting none is a good answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from junior_memory import prompts
from junior_memory.asking import ask
from junior_memory.model_calls import RELEVANCE, OnBehalf
from junior_memory.prompt_block import cut
from junior_memory.providers import ChatModel
from junior_memory.quoting import (
    Answer,
    Number,
    at_most,
    chosen,
    fitting,
    group,
    readable,
    wrapped,
)
from junior_memory.windows import model_for, room_beside

MAX_CANDIDATES = 20
"""Memories that are offered (CONFORMANCE 1.6)."""

MAX_TOKENS = 400
"""Of the answer (CONFORMANCE 1.6)."""

MAX_MESSAGE = 4_000
"""Characters of the message that are shown, its end: what is asked comes last."""


class Selection(Answer):
    """The model's answer."""

    relevant: Annotated[list[Number], at_most(MAX_CANDIDATES)]


def select_relevant(
    text: str,
    candidates: Sequence[tuple[UUID, str]],
    *,
    payer: OnBehalf,
    timeout_seconds: float,
    model: ChatModel | None = None,
) -> tuple[UUID, ...]:
    """Return the candidates that a message needs, best first; raises ModelFailed.

    At most twenty are offered, under numbers; a number that was not offered counts for nothing.
    Asked once and not again: somebody waits for the answer.
    """
    if not candidates or not text.strip():
        return ()
    reader = model_for(model)
    prompt = prompts.relevance(readable(text)[-MAX_MESSAGE:])
    offered = candidates[:MAX_CANDIDATES]
    lines = [
        wrapped("note", cut(readable(content)), {"n": str(n)})
        for n, (_, content) in enumerate(offered, 1)
    ]
    kept, shown = fitting(offered, lines, room=room_beside(prompt, reader))
    if not kept:
        return ()
    said = ask(
        RELEVANCE,
        prompt.filled(group("notes", [shown])),
        Selection,
        payer=payer,
        timeout_seconds=timeout_seconds,
        attempts=1,
        max_tokens=MAX_TOKENS,
        model=reader,
    )
    shown_ids = {memory_id for memory_id, _ in kept}
    named = (memory_id for memory_id, _ in chosen(said.relevant, offered))
    return tuple(memory_id for memory_id in named if memory_id in shown_ids)
