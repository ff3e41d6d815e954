"""One new fact against those that stand: does it repeat one, replace some, or stand beside them?

The model compares words and answers with numbers it was shown. It never sees whose they are, and
in doubt nothing is replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from junior_memory import prompts
from junior_memory.asking import ask
from junior_memory.model_calls import ADJUDICATION, OnBehalf
from junior_memory.providers import ChatModel
from junior_memory.quoting import Answer, Number, at_most, block, chosen, fitting, group
from junior_memory.stems import content_stems
from junior_memory.windows import model_for, room_beside

MAX_EXISTING = 10
"""Facts that one is compared with (CONFORMANCE 1.6)."""

MAX_TOKENS = 400
"""Of the answer (CONFORMANCE 1.6)."""


class Verdict(StrEnum):
    """What a new fact is to those that stand."""

    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    DISTINCT = "distinct"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Known:
    """A fact that stands, as a model is shown it."""

    id: UUID
    content: str
    observed_at: datetime
    kind: str


@dataclass(frozen=True, slots=True)
class Adjudicated:
    """The verdict, and which facts are meant: one for a duplicate, some for what is replaced."""

    verdict: Verdict
    ids: tuple[UUID, ...] = ()


class Comparison(Answer):
    """The model's answer."""

    verdict: Verdict
    numbers: Annotated[list[Number], at_most(MAX_EXISTING)] = []


def adjudicate(
    content: str,
    *,
    kind: str,
    existing: Sequence[Known],
    payer: OnBehalf,
    timeout_seconds: float,
    model: ChatModel | None = None,
) -> Adjudicated:
    """Compare a fact with at most ten that stand, the nearest first; raises ModelFailed.

    With nothing to compare with it is distinct, and nothing is asked. A verdict about facts that
    were not shown is uncertain. Knowledge and procedures are replaced one at a time and only by
    words they share: they belong to many, and two of them seldom exclude each other.
    """
    if not existing:
        return Adjudicated(Verdict.DISTINCT)
    reader = model_for(model)
    prompt = prompts.comparison(content, kind=kind)
    shown = existing[:MAX_EXISTING]
    lines = [_line(number, one) for number, one in enumerate(shown, 1)]
    offered, text = fitting(shown, lines, room=room_beside(prompt, reader))
    if not offered:
        return Adjudicated(Verdict.UNCERTAIN)
    said = ask(
        ADJUDICATION,
        prompt.filled(group("remembered", [text])),
        Comparison,
        payer=payer,
        timeout_seconds=timeout_seconds,
        max_tokens=MAX_TOKENS,
        model=reader,
    )
    named = [one for one in chosen(said.numbers, shown) if one in offered]
    if len(named) < len(set(said.numbers)):
        # It names what it was never shown: nothing that it says beside that is believed.
        return Adjudicated(
            Verdict.DISTINCT if said.verdict is Verdict.DISTINCT else Verdict.UNCERTAIN
        )
    return _settled(said.verdict, content, kind=kind, named=named)


def _line(number: int, one: Known) -> str:
    said = one.observed_at.date().isoformat()
    return block("fact", one.content, {"n": str(number), "kind": one.kind, "said": said})


def _settled(verdict: Verdict, content: str, *, kind: str, named: list[Known]) -> Adjudicated:
    """Return what may be acted on; everything unclear is uncertain."""
    if verdict in {Verdict.DISTINCT, Verdict.UNCERTAIN}:
        return Adjudicated(verdict)
    if verdict is Verdict.DUPLICATE:
        named = named[:1]
    if not named or (kind != "preference" and not _one_by_its_words(content, named)):
        return Adjudicated(Verdict.UNCERTAIN)
    return Adjudicated(verdict, tuple(one.id for one in named))


def _one_by_its_words(content: str, named: list[Known]) -> bool:
    return len(named) == 1 and bool(content_stems(content) & content_stems(named[0].content))
