"""What a real model server answered is survived, with the outcome that was written down.

The answers come from a small local model, which is often wrong and sometimes rambles: that is the
point. `python -m tests.benchmarks.asks --save` writes them anew.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from junior_memory.model_calls import OnBehalf
from junior_memory.models import ModelCall
from junior_memory.providers import ModelFailed
from junior_memory.providers.fake import FakeChatModel
from tests.domain.recorded.asked import Input, outcome_of
from tests.domain.recorded.inputs import (
    COMPARISONS,
    CONVERSATIONS,
    REVIEWS,
    SELECTIONS,
    SelectionInput,
)

pytestmark = pytest.mark.django_db

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "recorded" / "answers.json").read_text(encoding="utf-8")
)
INPUTS: dict[str, tuple[Input, ...]] = {
    "review": REVIEWS,
    "extraction": CONVERSATIONS,
    "adjudication": COMPARISONS,
    "relevance": SELECTIONS,
}
ALL = [(ask, one) for ask, inputs in INPUTS.items() for one in inputs]


def test_ten_inputs_of_each_ask_were_put_to_a_real_server() -> None:
    for ask, inputs in INPUTS.items():
        assert len({one.name for one in inputs}) == 10
        assert set(RECORDED[ask]) == {one.name for one in inputs}


@pytest.mark.parametrize(("ask", "one"), ALL, ids=[f"{ask}-{one.name}" for ask, one in ALL])
def test_a_real_answer_has_the_outcome_that_was_written_down(ask: str, one: Input) -> None:
    recorded = RECORDED[ask][one.name]
    script = [
        answer["text"] if "text" in answer else ModelFailed(answer["failed"])
        for answer in recorded["answers"]
    ]
    model, payer = FakeChatModel(*script), OnBehalf()
    outcome = outcome_of(one, model, payer=payer, timeout_seconds=5)
    assert outcome == recorded["became"]
    assert len(model.asked) == len(script)
    assert ModelCall.objects.filter(operation=ask).count() == len(payer.calls) == len(script)


OUTCOMES = {
    "review": r"stored (preference|procedure|knowledge): .+|rejected: \w+",
    "extraction": r"\d proposed, \d unusable.*",
    "adjudication": r"(duplicate|supersedes|distinct|uncertain): \[.*\]",
    "relevance": r"selected \[.*\]",
}


@pytest.mark.parametrize("ask", INPUTS)
def test_every_outcome_is_one_that_is_documented(ask: str) -> None:
    for recorded in RECORDED[ask].values():
        assert re.fullmatch(rf"{OUTCOMES[ask]}|failed: \w+", recorded["became"])


def test_what_was_not_offered_was_never_chosen() -> None:
    for ask, inputs in (("relevance", SELECTIONS), ("adjudication", COMPARISONS)):
        for one in inputs:
            offered = one.notes if isinstance(one, SelectionInput) else one.existing
            verdict, bracket, listed = RECORDED[ask][one.name]["became"].partition("[")
            assert verdict
            assert set(literal_eval(bracket + listed or "[]")) <= set(offered)
