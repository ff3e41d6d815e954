"""Ask a chat model one thing, and get an answer of one shape or a reason.

Every request is on the record before anybody looks at its answer.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from junior_memory.model_calls import (
    OnBehalf,
    OpenCall,
    drop_call,
    mark,
    open_call,
    record_attempts,
)
from junior_memory.models import ModelCall
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
from junior_memory.providers.base import (
    EMPTY,
    INVALID,
    MAX_WAIT_SECONDS,
    NO_QUOTA,
    OK,
    PAUSED,
    TOO_MANY,
    TRUNCATED,
    WAIT_SECONDS,
)
from junior_memory.providers.schemas import strict_schema

T = TypeVar("T", bound=BaseModel)

NO_MODEL = "no_model"

UNUSABLE_ANSWERS = frozenset({INVALID, TOO_MANY, TRUNCATED, EMPTY})
"""Paid for and of no use: asked once more, since a model rarely errs the same way twice."""

NOT_NOW = frozenset({PAUSED, NO_QUOTA})
"""May pass, but not within the moments that an answer is waited for."""

ROOM_FOR_TRUNCATED = 2
"""How many times the room for an answer grows after one that was cut off."""


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

    Tried again, up to `attempts` in all: what may succeed later, and once an answer of no use; when
    the second is of no use either, that is permanent. `timeout_seconds` holds for one attempt, so
    all of it may take `attempts` times as long and the waits between them: within a deadline, ask
    with `attempts=1`. Not inside a transaction: others would wait for the model.
    """
    asked = model or chat_model_in_use()
    if asked is None:
        raise ModelFailed(NO_MODEL, is_permanent=True)
    question = Question(
        tuple(messages), answer.__name__, strict_schema(answer), max_tokens=max_tokens
    )
    useless, number = 0, 0
    while True:
        number += 1
        found, failure = _attempt(asked, question, answer, timeout_seconds, operation, payer)
        if found is not None:
            return found
        useless += failure.reason in UNUSABLE_ANSWERS
        wait = max(WAIT_SECONDS * 2 ** (number - 1), failure.retry_after_seconds or 0)
        is_over = number >= attempts or useless > 1 or wait > MAX_WAIT_SECONDS
        if is_over or failure.is_permanent or failure.reason in NOT_NOW:
            break
        if failure.reason == TRUNCATED:
            question = replace(question, max_tokens=question.max_tokens * ROOM_FOR_TRUNCATED)
        if failure.reason not in UNUSABLE_ANSWERS:
            time.sleep(wait)
    raise ModelFailed(
        failure.reason,
        is_permanent=failure.is_permanent or useless > 1,
        retry_after_seconds=failure.retry_after_seconds,
    )


def _attempt(
    model: ChatModel,
    question: Question,
    answer: type[T],
    timeout_seconds: float,
    operation: str,
    payer: OnBehalf,
) -> tuple[T | None, ModelFailed]:
    """Ask once. A failure is returned: raised from here its frames would hold the answer."""
    name = ModelName(model.provider, model.model)
    calls: list[ModelCall] = []
    opened: OpenCall | None = open_call(name, payer, operation=operation)

    def paid(attempt: Attempt) -> None:
        nonlocal opened
        calls.extend(record_attempts(name, [attempt], payer, operation=operation, opened=opened))
        opened = None

    try:
        text = model.ask(question, timeout_seconds=timeout_seconds, paid=paid)
    except ModelFailed as failure:
        if opened is not None:
            drop_call(opened)
        return None, ModelFailed(
            failure.reason,
            is_permanent=failure.is_permanent,
            retry_after_seconds=failure.retry_after_seconds,
        )
    found = read_answer(text, answer)
    if not isinstance(found, str):
        return found, ModelFailed(OK)
    for call in calls:
        if call.outcome == OK:
            mark(call, found)
    return None, ModelFailed(found)


def read_answer(text: str, answer: type[T]) -> T | str:
    """Return a model's answer as what it should be, or `invalid` or `too_many`.

    A list alone counts as the one field of an answer that has no other.
    """
    found = read_object(text)
    if found is None:
        return INVALID
    if list(found) == [""] and len(answer.model_fields) == 1:
        found = {next(iter(answer.model_fields)): found[""]}
    try:
        return answer.model_validate(found)
    except (ValidationError, RecursionError) as error:
        if isinstance(error, ValidationError):
            kinds = {one["type"] for one in error.errors(include_input=False, include_url=False)}
            if kinds == {"too_long"}:
                return TOO_MANY
        return INVALID
