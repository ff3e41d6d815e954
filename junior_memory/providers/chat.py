"""Chat models behind any endpoint that speaks OpenAI's language: hosted ones and local servers.

Servers differ in how they take a schema and a limit. What one refuses is left out from then on, and
remembered for its base URL and model, in this process, for KNOWN_SECONDS.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from junior_memory.pricing import provider_at
from junior_memory.prompts import JSON_ONLY
from junior_memory.providers.base import (
    EMPTY,
    FORM_REFUSED,
    INVALID,
    OK,
    REFUSED,
    TRUNCATED,
    Attempt,
    ModelFailed,
    Question,
)
from junior_memory.providers.endpoint import Endpoint, RequestFailed, ms_since, tokens

Mode = Literal["json_schema", "json_object_schema", "json_object", "text"]
MODES: tuple[Mode, ...] = ("json_schema", "json_object_schema", "json_object", "text")
"""How the shape of the answer is asked for, the best first.

The second is what llama.cpp and some hosted servers took before there was the first.
"""

LIMITS = ("max_tokens", "max_completion_tokens")
"""What the longest answer is called: newer hosted models refuse one, local servers the other."""

REASONING_ROOM = 4_000
"""Tokens on top of an answer's own for a model that thinks before it writes."""

DEFAULT_CONTEXT_TOKENS = 16_000
ROOM_FOR_ANSWER = 4_000
"""Tokens of a context that are kept for the answer; of a small context a quarter."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How one server wants to be asked for one model."""

    mode: Mode = "json_schema"
    limit: str = "max_tokens"
    reasons: bool = False


class _Manners:
    """The ways to ask one question, the likeliest first, without what was refused by name."""

    def __init__(self, first: Manner) -> None:
        limits = sorted(LIMITS, key=lambda limit: limit != first.limit)
        others = [replace(first, mode=mode, limit=limit) for mode in MODES for limit in limits]
        self._left = [first, *(other for other in others if other != first)]

    def next(self) -> Manner | None:
        """Return the next way, None when there is none left."""
        return self._left.pop(0) if self._left else None

    def refuse(self, manner: Manner, failure: RequestFailed) -> bool:
        """Leave out what a refusal is about; False when the form was not the reason."""
        named = failure.complaints
        if failure.status not in {400, 422} and not (named and failure.status >= 400):
            return False
        about_limit, about_mode = bool(named & set(LIMITS)), bool(named - set(LIMITS))
        if about_limit and not about_mode:
            self._left = [one for one in self._left if one.limit != manner.limit]
        elif about_mode and not about_limit:
            self._left = [one for one in self._left if one.mode != manner.mode]
        return True


KNOWN_SECONDS = 6 * 3600.0
"""After which a server is asked the best way again: it may have refused out of a passing fault, and
without a schema its answers are worse."""


class _Known:
    """How servers want to be asked, by base URL and model, as far as is known by now."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[Manner, float]] = {}

    def get(self, key: tuple[str, str], first: Manner) -> Manner:
        """Return what worked, or `first` where nothing else is known or it is long ago."""
        manner, until = self._known.get(key, (first, 0.0))
        if time.monotonic() < until or replace(first, reasons=manner.reasons) == manner:
            return manner
        return replace(first, reasons=manner.reasons)

    def put(self, key: tuple[str, str], manner: Manner) -> None:
        """Remember what worked; what is known already stays known no longer for it."""
        known, until = self._known.get(key, (manner, 0.0))
        if known != manner or time.monotonic() >= until:
            self._known[key] = (manner, time.monotonic() + KNOWN_SECONDS)

    def clear(self) -> None:
        """Know nothing."""
        self._known.clear()


_manners = _Known()


@dataclass(frozen=True, slots=True)
class _Answered:
    """What came back, before anybody reads its text."""

    attempt: Attempt
    text: str
    reasons: bool


class OpenAIChatModel:
    """One model behind one base URL."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str = "",
        context_tokens: int = DEFAULT_CONTEXT_TOKENS,
    ) -> None:
        self.model = model
        self.provider = provider_at(base_url) if base_url else "openai"
        self.max_input_tokens = context_tokens - min(ROOM_FOR_ANSWER, context_tokens // 4)
        self._key = (base_url, model)
        self._first = Manner(limit="max_completion_tokens" if not base_url else "max_tokens")
        self._endpoint = Endpoint(api_key=api_key, base_url=base_url, purpose="chat")

    @property
    def mode(self) -> Mode:
        """How the shape of an answer is asked for, as far as is known by now."""
        return self._manner.mode

    @property
    def _manner(self) -> Manner:
        return _manners.get(self._key, self._first)

    def ask(
        self, question: Question, *, timeout_seconds: float, paid: Callable[[Attempt], None]
    ) -> str:
        """Return the text of one answer; raises ModelFailed.

        Refused forms of the request are tried within the same limit; `paid` hears of them too.
        """
        ends_at = time.monotonic() + timeout_seconds
        manners = _Manners(self._manner)
        failure = RequestFailed(INVALID)
        while manner := manners.next():
            begun = time.monotonic()
            try:
                body = self._request(question, manner, max(0.05, ends_at - begun))
            except RequestFailed as error:
                failure = error
            else:
                return self._accept(_answered(body, begun), manner, paid)
            of_form = failure.reason.startswith("http_") and manners.refuse(manner, failure)
            if failure.was_sent:
                # No fault of anybody's, and nothing to alarm an operator with.
                said = FORM_REFUSED if of_form and failure.complaints else failure.reason
                paid(Attempt(said, ms_since(begun)))
            if not of_form or time.monotonic() >= ends_at:
                break
        raise ModelFailed(
            failure.reason,
            is_permanent=failure.is_permanent,
            retry_after_seconds=failure.retry_after_seconds,
        )

    def _accept(self, answered: _Answered, manner: Manner, paid: Callable[[Attempt], None]) -> str:
        paid(answered.attempt)
        _manners.put(self._key, replace(manner, reasons=manner.reasons or answered.reasons))
        outcome = answered.attempt.outcome
        if outcome != OK:
            raise ModelFailed(outcome, is_permanent=outcome == REFUSED)
        return answered.text

    def _request(
        self, question: Question, manner: Manner, timeout_seconds: float
    ) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": _messages(question, manner.mode),
            manner.limit: question.max_tokens + (REASONING_ROOM if manner.reasons else 0),
        }
        if manner.mode != "text":
            arguments["response_format"] = _response_format(question, manner.mode)
        return self._endpoint.request(
            lambda client, seconds: client.chat.completions.with_streaming_response.create(
                **arguments, timeout=seconds
            ),
            timeout_seconds=timeout_seconds,
        )


def forget_manners() -> None:
    """Find out again how every server wants to be asked."""
    _manners.clear()


def _messages(question: Question, mode: Mode) -> list[dict[str, str]]:
    told = [{"role": message.role, "content": message.text} for message in question.messages]
    if mode == "json_schema":
        return told
    shape = json.dumps(question.schema, ensure_ascii=False, separators=(",", ":"))
    instruction = JSON_ONLY.format(schema=shape)
    if told and told[0]["role"] == "system":
        told[0]["content"] += f"\n\n{instruction}"
        return told
    return [{"role": "system", "content": instruction}, *told]


def _response_format(question: Question, mode: Mode) -> dict[str, Any]:
    if mode == "json_object":
        return {"type": "json_object"}
    if mode == "json_object_schema":
        return {"type": "json_object", "schema": dict(question.schema)}
    schema = {"name": question.schema_name, "strict": True, "schema": dict(question.schema)}
    return {"type": "json_schema", "json_schema": schema}


def _answered(body: dict[str, Any], begun: float) -> _Answered:
    """Read what was used and how the answer ended; its text is not looked at."""
    usage = body.get("usage")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    reasoning = tokens(usage, "completion_tokens_details", "reasoning_tokens")
    text, outcome = "", INVALID
    if isinstance(choice, dict) and isinstance(message, dict):
        text = _text(message.get("content"))
        outcome = _outcome(choice.get("finish_reason"), message, text)
    attempt = Attempt(
        outcome,
        ms_since(begun),
        input_tokens=tokens(usage, "prompt_tokens"),
        cached_input_tokens=tokens(usage, "prompt_tokens_details", "cached_tokens"),
        output_tokens=tokens(usage, "completion_tokens"),
        reasoning_tokens=reasoning,
    )
    thoughts = isinstance(message, dict) and bool(message.get("reasoning_content"))
    return _Answered(attempt, text, bool(reasoning) or thoughts)


def _outcome(finish: Any, message: dict[str, Any], text: str) -> str:
    if message.get("refusal") or finish == "content_filter":
        return REFUSED
    if finish == "length":
        return TRUNCATED
    return OK if text.strip() else EMPTY


def _text(content: Any) -> str:
    """Return an answer's text; some servers send it in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
