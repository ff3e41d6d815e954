"""The operator's own code around recall and learning: a consent gate, and a format for the prompt.

Both are dotted paths in the settings. The gate fails closed: unless it says True in time, memory is
off for that turn. The format falls back to our own block, and is given only what was admitted, its
text escaped and cut as in that block. Neither is called inside a transaction.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.utils.module_loading import import_string

from junior_memory.access import Source
from junior_memory.beside import in_thread
from junior_memory.conf import conf
from junior_memory.models import Agent, Memory, Organization, User
from junior_memory.prompt_block import MAX_BLOCK, cut, escape

logger = logging.getLogger(__name__)

GATE_SECONDS = 5.0
"""What the gate may take where nobody waits for an answer before a run."""

FORMAT_SECONDS = 1.0
"""What the format may take where no deadline says less."""

MOST_AT_ONCE = 64
"""Calls of the operator's code that may hang in one process before further ones count as failed."""

_places = threading.BoundedSemaphore(MOST_AT_ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The context that both are called with: who, with which agent, where and for what. No text.

    `user` is None for an actor who is linked to nobody; `organization` is the server's own word.
    """

    agent: Agent
    conversation_id: str
    source: Source
    user: User | None
    organization: Organization | None
    use: Literal["recall", "sessions", "tools"]


@dataclass(frozen=True, slots=True)
class PromptMemory:
    """One admitted memory as a format may use it; `text` can neither close a block nor open one."""

    id: UUID
    text: str
    kind: str
    visibility: str
    observed_at: datetime


def is_allowed(turn: Turn, *, timeout_seconds: float = GATE_SECONDS) -> bool:
    """True when memory may be used in this turn: no gate is set, or it said True in time.

    A gate that is missing, throws, is late, or gives anything but True means no.
    """
    path = conf().consent_gate
    if not path:
        return True
    verdict = _ask(path, (turn,), timeout_seconds=timeout_seconds)
    return verdict is True


def formatted(
    memories: Sequence[Memory], turn: Turn, *, timeout_seconds: float = FORMAT_SECONDS
) -> str | None:
    """Return the operator's block for these admitted memories; None means our own block stands.

    None without a format or memories, and when it throws, is late, or gives anything but a text of
    1 to `MAX_BLOCK` characters.
    """
    path = conf().prompt_format
    if not path or not memories:
        return None
    given = tuple(
        PromptMemory(one.pk, escape(cut(one.content)), one.kind, one.visibility, one.observed_at)
        for one in memories
    )
    text = _ask(path, (given, turn), timeout_seconds=timeout_seconds)
    if isinstance(text, str) and _is_usable(text):
        return text
    logger.warning("the prompt format gave no usable block; our own stands")
    return None


def _is_usable(text: str) -> bool:
    whole = "\x00" not in text and not any("\ud800" <= one <= "\udfff" for one in text)
    return whole and bool(text.strip()) and len(text) <= MAX_BLOCK


def _ask(path: str, arguments: tuple[Any, ...], *, timeout_seconds: float) -> object:
    """Return what the operator's code gives, in a thread that nobody waits for longer; else None.

    Its errors are logged by class alone: their text may hold what it was given.
    """
    place = _places
    if not place.acquire(blocking=False):
        logger.warning("%s hangs too often", path)
        return None
    answers: list[object] = []

    def work() -> None:
        try:
            answers.append(_called(import_string(path), arguments))
        except Exception as error:  # noqa: BLE001 - whatever the operator's code does, it fails alone
            logger.warning("%s failed (%s)", path, type(error).__name__)

    thread = in_thread(work, name="operator's code", afterwards=place.release)
    thread.join(max(0.0, timeout_seconds))
    if thread.is_alive():
        logger.warning("%s is late", path)
        return None
    return answers[0] if answers else None


def _called(operators: Callable[..., Any], arguments: tuple[Any, ...]) -> object:
    answer = operators(*arguments)
    return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer: Any) -> object:
    return await answer
