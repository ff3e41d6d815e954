"""Ask a chat model one thing, and get an answer of one shape or a reason.

Every request is on the record before anybody looks at its answer.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from junior_memory.model_calls import OnBehalf, mark, record_attempts
from junior_memory.providers import (
    Attempt,
    ChatModel,
    Message,
    ModelFailed,
    ModelName,
    Question,
    chat_model_in_use,
)
from junior_memory.providers.answers import read_object
from junior_memory.providers.base import INVALID
from junior_memory.providers.schemas import strict_schema

T = TypeVar("T", bound=BaseModel)


def ask(
    operation: str,
    messages: Sequence[Message],
    answer: type[T],
    *,
    payer: OnBehalf,
    timeout_seconds: float,
    attempts: int = 2,
    max_tokens: int,
    model: ChatModel | None = None,
) -> T:
    """Return the model's answer as `answer`; raises ModelFailed.

    `timeout_seconds` holds for one request, so that all of it takes at most `attempts` times as
    long and the short waits between them: within a deadline, ask with `attempts=1`. Tried again is
    what may succeed later, and an answer that could not be used. Never inside a transaction.
    """
    asked = model or chat_model_in_use()
    if asked is None:
        raise ModelFailed("no_model", is_permanent=True)
    name = ModelName(asked.provider, asked.model)
    question = Question(
        tuple(messages), answer.__name__, strict_schema(answer), max_tokens=max_tokens
    )
    reason = INVALID
    for number in range(attempts):
        seen = len(payer.calls)

        def paid(attempt: Attempt) -> None:
            record_attempts(name, [attempt], payer, operation=operation)

        try:
            text = asked.ask(question, timeout_seconds=timeout_seconds, paid=paid)
        except ModelFailed as failure:
            if failure.is_permanent or number + 1 == attempts:
                raise
            time.sleep(0.25)
            continue
        found = read_object(text)
        if found is not None:
            try:
                return answer.model_validate(found)
            except ValidationError:
                pass
        for call in payer.calls[seen:]:
            if call.outcome == "ok":
                mark(call, INVALID)
    raise ModelFailed(reason)
