"""Does the chat model answer? One tiny question, asked when somebody wants to know; it is paid."""

from __future__ import annotations

import time
from dataclasses import dataclass
from decimal import Decimal

from pydantic import BaseModel

from junior_memory import prompts
from junior_memory.asking import ask
from junior_memory.events import sum_costs
from junior_memory.model_calls import CHECK, OnBehalf
from junior_memory.providers import ChatModel, Message, ModelFailed, chat_model_in_use

CHECK_SECONDS = 20.0
CHECK_TOKENS = 100

QUESTION = (Message("system", prompts.CHECK), Message("user", "?"))


class Ready(BaseModel):
    """Any word will do."""

    answer: str


@dataclass(frozen=True, slots=True)
class ChatCheck:
    """How a chat model answered: `reason` is `ok` or what went wrong, in the words of a record.

    `mode` is how answers have to be asked for there: json_schema, json_object or text.
    """

    model: str
    reason: str
    duration_ms: int
    mode: str
    calls: int
    cost_usd: Decimal | None

    @property
    def is_ok(self) -> bool:
        """True when it answered as asked."""
        return self.reason == "ok"


def check_chat_model(
    *, model: ChatModel | None = None, timeout_seconds: float = CHECK_SECONDS
) -> ChatCheck | None:
    """Ask the configured chat model one question; None when none is configured."""
    asked = model or chat_model_in_use()
    if asked is None:
        return None
    payer = OnBehalf()
    begun = time.monotonic()
    reason = "ok"
    try:
        ask(
            CHECK,
            QUESTION,
            Ready,
            payer=payer,
            timeout_seconds=timeout_seconds,
            max_tokens=CHECK_TOKENS,
            model=asked,
        )
    except ModelFailed as failure:
        reason = failure.reason
    return ChatCheck(
        model=f"{asked.provider}:{asked.model}",
        reason=reason,
        duration_ms=int((time.monotonic() - begun) * 1000),
        mode=getattr(asked, "mode", ""),
        calls=len(payer.calls),
        cost_usd=sum_costs([call.cost_usd for call in payer.calls]),
    )
