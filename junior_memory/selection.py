"""A chat model selects what is relevant for a message, inside the time that a recall has left.

Nothing of the database is held while it thinks. A model that answers too late is not waited for;
its thread finishes by itself, and what it cost is on the record all the same.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from uuid import UUID

from junior_memory.beside import in_thread
from junior_memory.deadlines import Deadline
from junior_memory.gates import Candidate
from junior_memory.legs import lend_connection
from junior_memory.model_calls import OnBehalf
from junior_memory.prompt_block import cut
from junior_memory.providers import (
    ChatModel,
    ModelFailed,
)
from junior_memory.providers.base import TIMEOUT
from junior_memory.relevance import select_relevant
from junior_memory.secrets import mask_secrets

logger = logging.getLogger(__name__)

ASKED_CHARACTERS = 4_000
"""The last characters of a message that the model reads."""

ATTEMPTS = 2
"""How often a model is asked, the second time only where the first left time for as long a one."""

RESERVE_MS = 200
"""Kept back from the model: for reading once more, the event, and the answer's way out."""

RESERVE_SHARE = 0.3
"""The most of a short time that is kept back."""

HANDOVER_SHARE = 0.3
"""What of that a model's thread is waited for beyond its limit: its refusal is on the way, and what
it cost on its way to the record."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The ids that a model selected, best first, or why there are none."""

    ids: tuple[UUID, ...] = ()
    reason: str = ""
    is_late: bool = False


def select(
    text: str,
    offered: Sequence[Candidate],
    model: ChatModel,
    *,
    deadline: Deadline,
    payer: OnBehalf,
    apart: bool,
    asking: Callable[[], AbstractContextManager[None]],
) -> Selected:
    """Ask a model which of the candidates help with a message; never raises for a failing one.

    It reads numbers, contents of at most 600 characters and the end of the message, secrets masked.
    `apart`: in a thread that nobody waits for beyond the deadline; else in this one. `asking` is
    entered while it is asked, also when that ends long after the answer left.
    """
    left_ms = deadline.remaining_ms
    reserve_ms = min(RESERVE_MS, RESERVE_SHARE * left_ms)
    if left_ms <= 0:
        return Selected(reason=TIMEOUT, is_late=True)
    question = _Asking(
        mask_secrets(text)[-ASKED_CHARACTERS:],
        [(one.hit.memory.pk, cut(one.hit.memory.content)) for one in offered],
        model,
        Deadline.after(left_ms - reserve_ms),
        payer,
    )
    if apart:
        lend_connection()
        selected = question.ask_apart(reserve_ms * HANDOVER_SHARE, asking)
    else:
        selected = question.ask()
    if selected.reason:
        logger.warning("memory_recall_selection_failed (%s)", selected.reason)
    return selected


class _Asking:
    """One question to a model, tried again while there is time for as long a second try."""

    def __init__(
        self,
        text: str,
        offered: Sequence[tuple[UUID, str]],
        model: ChatModel,
        deadline: Deadline,
        payer: OnBehalf,
    ) -> None:
        self._text = text
        self._offered = offered
        self._model = model
        self._deadline = deadline
        self._payer = payer
        self._selected = Selected(reason=TIMEOUT, is_late=True)
        self._has_answered = threading.Event()

    def ask(self) -> Selected:
        known = {memory_id for memory_id, _ in self._offered}
        for number in range(ATTEMPTS):
            begun_ms = self._deadline.remaining_ms
            try:
                ids = select_relevant(
                    self._text,
                    self._offered,
                    payer=self._payer,
                    timeout_seconds=begun_ms / 1000,
                    model=self._model,
                )
            except ModelFailed as failure:
                took_ms = begun_ms - self._deadline.remaining_ms
                wait_ms = 1000 * (failure.retry_after_seconds or 0)
                has_time = self._deadline.remaining_ms - wait_ms > took_ms
                if failure.is_permanent or number + 1 == ATTEMPTS or not has_time:
                    return Selected(reason=failure.reason, is_late=failure.reason == TIMEOUT)
                time.sleep(wait_ms / 1000)
            else:
                return Selected(tuple(dict.fromkeys(one for one in ids if one in known)))
        return Selected(reason=TIMEOUT, is_late=True)

    def ask_apart(
        self, patience_ms: float, asking: Callable[[], AbstractContextManager[None]]
    ) -> Selected:
        try:
            in_thread(lambda: self._work(asking), name="the selection")
        except RuntimeError:
            return Selected(reason="failed")
        left_ms = self._deadline.remaining_ms + patience_ms
        if not self._has_answered.wait(max(0.0, left_ms) / 1000):
            return Selected(reason=TIMEOUT, is_late=True)
        return self._selected

    def _work(self, asking: Callable[[], AbstractContextManager[None]]) -> None:
        try:
            with asking():
                self._selected = self.ask()
        except Exception:
            self._selected = Selected(reason="failed")
            raise
        finally:
            self._has_answered.set()
