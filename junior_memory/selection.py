"""A chat model selects what is relevant for a message, inside the time that a recall has left.

Nothing of the database is held while it thinks. A model that answers too late is not waited for;
its thread finishes by itself, and what it cost is on the record all the same.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connections

from junior_memory.deadlines import Deadline
from junior_memory.gates import Candidate
from junior_memory.legs import lend_connection
from junior_memory.model_calls import OnBehalf
from junior_memory.prompt_block import cut
from junior_memory.providers import (
    ChatModel,
    ModelFailed,
    UnusableEmbedder,
    chat_model_in_use,
)
from junior_memory.providers.base import Attempt, Question
from junior_memory.secrets import mask_secrets

logger = logging.getLogger(__name__)

ASKED_CHARACTERS = 4_000
"""The last characters of a message that the model reads."""

RESERVE_MS = 120
"""Kept back from the model: for reading once more, the event, and the answer's way out."""

RESERVE_SHARE = 0.3
"""The most of a short time that is kept back."""

HANDOVER_MS = 15
"""How long beyond its own limit a model's thread is waited for: its refusal is on the way."""

LATE = "timeout"


@dataclass(frozen=True, slots=True)
class Selected:
    """The ids that a model selected, best first, or why there are none."""

    ids: tuple[UUID, ...] = ()
    reason: str = ""
    is_late: bool = False

    @property
    def failed(self) -> bool:
        """True when the model gave no usable answer in time."""
        return bool(self.reason)


class _UnusableModel:
    """Stands for a configured model that cannot work here: every question fails."""

    provider = "none"
    model = "unusable"
    max_input_tokens = 0

    def ask(
        self,
        question: Question,  # noqa: ARG002 - nobody reads it
        *,
        timeout_seconds: float,  # noqa: ARG002
        paid: Callable[[Attempt], None],  # noqa: ARG002
    ) -> str:
        """Fail for good."""
        raise ModelFailed("unusable", is_permanent=True)


def model_in_use() -> ChatModel | None:
    """Return the model that selects; None when the settings name none, so that the gate decides."""
    try:
        return chat_model_in_use()
    except UnusableEmbedder:
        return _UnusableModel()


def select(
    text: str,
    offered: Sequence[Candidate],
    model: ChatModel,
    *,
    deadline: Deadline,
    payer: OnBehalf,
    apart: bool,
    settle: Callable[[], None],
) -> Selected:
    """Ask a model which of the candidates help with a message; never raises for a failing one.

    It reads numbers, contents of at most 600 characters and the end of the message, secrets masked.
    `apart`: in a thread that nobody waits for beyond the deadline; else in this one. `settle` is
    called when the thread is done, also long after the answer left.
    """
    left_ms = deadline.remaining_ms
    allowed_ms = left_ms - min(RESERVE_MS, RESERVE_SHARE * left_ms)
    if allowed_ms <= 0:
        return Selected(reason=LATE, is_late=True)
    asking = _Asking(
        mask_secrets(text)[-ASKED_CHARACTERS:],
        [(one.hit.memory.pk, cut(one.hit.memory.content)) for one in offered],
        model,
        Deadline.after(allowed_ms),
        payer,
    )
    if not apart:
        return asking.ask()
    lend_connection()
    return asking.ask_apart(settle)


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
        self._selected = Selected(reason=LATE, is_late=True)
        self._has_answered = threading.Event()

    def ask(self) -> Selected:
        while True:
            from junior_memory.relevance import select_relevant

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
                left_ms = self._deadline.remaining_ms
                if failure.is_permanent or left_ms <= begun_ms - left_ms:
                    return _failed(failure.reason, is_late=left_ms <= 0 or failure.reason == LATE)
                continue
            known = {memory_id for memory_id, _ in self._offered}
            return Selected(tuple(dict.fromkeys(one for one in ids if one in known)))

    def ask_apart(self, settle: Callable[[], None]) -> Selected:
        run = contextvars.copy_context().run
        threading.Thread(
            target=lambda: run(self._work, settle), name="relevance", daemon=True
        ).start()
        if not self._has_answered.wait(max(0.0, self._deadline.remaining_ms + HANDOVER_MS) / 1000):
            return _failed(LATE, is_late=True)
        return self._selected

    def _work(self, settle: Callable[[], None]) -> None:
        try:
            self._selected = self.ask()
            self._has_answered.set()
            settle()
        except Exception as error:  # noqa: BLE001 - a thread's last words would hold content
            logger.error("the selection broke (%s)", type(error).__name__)
            self._selected = Selected(reason="failed")
        finally:
            self._has_answered.set()
            connections.close_all()


def _failed(reason: str, *, is_late: bool) -> Selected:
    logger.warning("memory_recall_selection_failed (%s)", reason)
    return Selected(reason=reason, is_late=is_late)
