"""What an explanation of a recall shows beside the decision itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from junior_memory import access, vector
from junior_memory.access import Source
from junior_memory.gates import Gate
from junior_memory.models import ConversationEvent, ModelCall
from junior_memory.providers import ModelFailed
from junior_memory.providers.fake import FakeChatModel
from junior_memory.recall import RecallRequest, explain_recall
from tests.cast import Cast
from tests.factories import make_memory


def request_of(cast: Cast, text: str, **fields: Any) -> RecallRequest:
    return RecallRequest(
        viewer=access.Viewer(user=cast.alice, agent=cast.agent),
        agent=cast.agent,
        conversation_id="what-if",
        source=Source(platform="web", visibility="private"),
        text=text,
        deadline_ms=8_000,
        **fields,
    )


@pytest.fixture
def local(settings: Any) -> Iterator[None]:
    """Use the local embedder's vectors."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}
    vector.query_vectors.clear()
    yield
    vector.query_vectors.clear()


def test_what_lay_beyond_the_cutoff_is_shown_with_its_distance(
    cast: Cast, now: datetime, local: None
) -> None:
    near = make_memory(content="Drinks oolong tea every morning.", owner=cast.alice, now=now)
    far = make_memory(content="The lawyer signed a lease for offices.", owner=cast.alice, now=now)
    make_memory(content="Rents an attic.", owner=cast.bob, now=now)
    found = explain_recall(request_of(cast, "Which oolong tea in the morning?", limit=3), now=now)
    assert found.cutoff is not None
    assert found.limit == 3
    shown = {one.hit.memory: one for one in found.candidates}
    assert set(shown) == {near, far}
    assert shown[near].gate == Gate.NONE
    assert shown[far].gate == Gate.TOO_FAR
    assert (shown[far].hit.match.meaning or 0) > found.cutoff
    assert not ConversationEvent.objects.exists()


def test_without_vectors_nothing_lies_too_far(cast: Cast, now: datetime) -> None:
    make_memory(content="The lawyer signed a lease.", owner=cast.alice, now=now)
    found = explain_recall(request_of(cast, "Which tea?"), now=now)
    assert (found.cutoff, found.candidates) == (None, ())


def test_a_memory_can_be_left_out(cast: Cast, now: datetime) -> None:
    first = make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    second = make_memory(content="Keeps oolong tea in a tin.", owner=cast.alice, now=now)
    request = request_of(cast, "Where is the oolong tea?")
    every = {one.hit.memory for one in explain_recall(request, now=now).candidates}
    assert every == {first, second}
    left = explain_recall(request, without=frozenset({first.pk}), now=now)
    assert {one.hit.memory for one in left.candidates} == {second}


def test_asking_the_model_says_so_and_what_it_cost(cast: Cast, now: datetime) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    request = request_of(cast, "Which oolong tea?")
    silent = explain_recall(request, now=now)
    assert (silent.asked_model, silent.reason) == (False, "")
    assert silent.cost_usd == 0
    model = FakeChatModel('{"relevant": [1]}', provider="openai", model="gpt-4o-mini")
    asked = explain_recall(request, ask_model=True, model=model, now=now)
    assert asked.asked_model
    assert asked.recalled
    assert asked.cost_usd == ModelCall.objects.get().cost_usd
    assert asked.cost_usd


def test_a_model_that_fails_leaves_the_explanation_its_reason(cast: Cast, now: datetime) -> None:
    make_memory(content="Prefers oolong tea.", owner=cast.alice, now=now)
    model = FakeChatModel(ModelFailed("refused", is_permanent=True))
    request = request_of(cast, "Which oolong tea?")
    found = explain_recall(request, ask_model=True, model=model, now=now)
    assert (found.recalled, found.reason, found.degraded) == ((), "refused", ("selection",))
    assert [one.gate for one in found.candidates] == [Gate.NOT_SELECTED]
