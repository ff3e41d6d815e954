"""Puts one input to a model through the product's code and says in a line what became of it."""

from __future__ import annotations

from junior_memory.adjudication import Known, adjudicate
from junior_memory.model_calls import OnBehalf
from junior_memory.providers import ChatModel, ModelFailed
from junior_memory.reading import ReadingContext, read_session
from junior_memory.relevance import select_relevant
from junior_memory.review import review_request
from tests.domain.recorded.inputs import (
    NOW,
    ComparisonInput,
    ReadingInput,
    ReviewInput,
    SelectionInput,
    number,
)

Input = ReviewInput | ReadingInput | ComparisonInput | SelectionInput


def outcome_of(one: Input, model: ChatModel, *, payer: OnBehalf, timeout_seconds: float) -> str:
    """Return what the code made of the model's answers, or why there was none."""
    try:
        if isinstance(one, ReviewInput):
            return _reviewed(one, model, payer, timeout_seconds)
        if isinstance(one, ReadingInput):
            return _read(one, model, payer, timeout_seconds)
        if isinstance(one, ComparisonInput):
            return _compared(one, model, payer, timeout_seconds)
        return _selected(one, model, payer, timeout_seconds)
    except ModelFailed as failure:
        return f"failed: {failure.reason}"


def _reviewed(one: ReviewInput, model: ChatModel, payer: OnBehalf, seconds: float) -> str:
    found = review_request(
        one.content,
        source=one.source,
        has_user=one.has_user,
        has_conversation=True,
        expires_at=one.expires_at,
        user_text=one.said,
        payer=payer,
        timeout_seconds=seconds,
        model=model,
        now=NOW,
    )
    if not found.stored:
        return f"rejected: {found.reason}"
    until = f" until {found.expires_at:%Y-%m-%d}" if found.expires_at else ""
    return f"stored {found.kind}: {found.content}{until}"


def _read(one: ReadingInput, model: ChatModel, payer: OnBehalf, seconds: float) -> str:
    known = tuple(Known(number(text), text, NOW, "preference") for text in one.known)
    found = read_session(
        one.entries,
        run=ReadingContext(
            has_linked_user=True,
            has_one_human=one.has_one_human,
            visibility=one.source.stored_visibility,
            platform=one.source.platform,
            never_learn_topics=one.topics,
            timeout_seconds=seconds,
        ),
        existing=lambda _text: known,
        done={},
        keep=lambda _key, _candidates: None,
        payer=payer,
        now=NOW,
        model=model,
    )
    usable = [candidate for candidate in found if candidate.evidence]
    said = [
        f"{one.kind} {list(one.evidence)}: {one.content}"
        + (" (touches a topic)" if one.touches_topic else "")
        + (" (orders)" if one.orders_assistant else "")
        for one in usable
    ]
    return f"{len(usable)} proposed, {len(found) - len(usable)} unusable" + "".join(
        f"; {line}" for line in said
    )


def _compared(one: ComparisonInput, model: ChatModel, payer: OnBehalf, seconds: float) -> str:
    found = adjudicate(
        one.content,
        kind=one.kind,
        existing=one.known,
        payer=payer,
        timeout_seconds=seconds,
        model=model,
    )
    texts = {known.id: known.content for known in one.known}
    return f"{found.verdict}: {[texts[id_] for id_ in found.ids]}"


def _selected(one: SelectionInput, model: ChatModel, payer: OnBehalf, seconds: float) -> str:
    found = select_relevant(
        one.text, one.candidates, payer=payer, timeout_seconds=seconds, model=model
    )
    texts = dict(one.candidates)
    return f"selected {[texts[id_] for id_ in found]}"
