"""When nothing fits: the absolute gate by meaning and words, and the closer look before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from junior_memory import access, embedding_models, search, vector
from junior_memory.access import Source
from junior_memory.providers import ModelName, embedder_for
from junior_memory.providers.fake import FakeEmbedder
from junior_memory.recall import Recall, RecallRequest, recall
from junior_memory.search import search_memories
from tests.benchmarks.corpus import HIDDEN
from tests.cast import Cast
from tests.factories import make_memory

Asking = Callable[[str], Recall]
HALF_COVERED = "kayak trousers?"
"""One of its two words is held by the memory below."""


@pytest.fixture
def asking(cast: Cast, now: datetime) -> Asking:
    """Ask as alice, who has one memory."""

    def ask(text: str) -> Recall:
        return recall(
            RecallRequest(
                viewer=access.Viewer(user=cast.alice, agent=cast.agent),
                agent=cast.agent,
                conversation_id="gate",
                source=Source(platform="web", visibility="private"),
                text=text,
                deadline_ms=8_000,
            ),
            now=now,
        )

    return ask


@pytest.fixture
def embedder(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEmbedder]:
    """The fake one, with cutoffs that a test sets."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    found = embedder_for(ModelName.read("fake"))
    assert isinstance(found, FakeEmbedder)
    for name in ("cutoff", "nameless_cutoff", "failing"):
        monkeypatch.setattr(found, name, getattr(found, name), raising=False)
    vector.query_vectors.clear()
    yield found
    vector.query_vectors.clear()


def test_a_text_that_names_somebody_is_held_to_the_stricter_distance(
    cast: Cast, now: datetime, embedder: FakeEmbedder, asking: Asking
) -> None:
    make_memory(content="alpha beta gamma delta", owner=cast.alice, now=now)
    embedder.cutoff, embedder.nameless_cutoff = 0.01, 1.9
    assert len(asking("what is unrelated to this?").memories) == 1
    assert asking("what is unrelated to Zoe?").memories == ()
    embedder.cutoff, embedder.nameless_cutoff = 1.9, 0.01
    assert asking("what is unrelated to this?").memories == ()
    assert len(asking("what is unrelated to Zoe?").memories) == 1


def test_beside_vectors_words_must_speak_for_themselves(
    cast: Cast, now: datetime, embedder: FakeEmbedder, asking: Asking
) -> None:
    make_memory(content="Keeps the kayak in the garage.", owner=cast.alice, now=now)
    embedder.cutoff = embedder.nameless_cutoff = 0.01
    assert asking(HALF_COVERED).memories == ()
    assert len(asking("kayak garage?").memories) == 1


def test_without_vectors_half_of_the_words_are_enough(
    cast: Cast, now: datetime, asking: Asking
) -> None:
    make_memory(content="Keeps the kayak in the garage.", owner=cast.alice, now=now)
    assert len(asking(HALF_COVERED).memories) == 1
    assert asking("trousers and ironing?").memories == ()


def test_a_vector_leg_that_fails_leaves_the_gate_to_the_words(
    cast: Cast, now: datetime, embedder: FakeEmbedder, asking: Asking
) -> None:
    make_memory(content="Keeps the kayak in the garage.", owner=cast.alice, now=now)
    embedder.cutoff = embedder.nameless_cutoff = 0.01
    embedder.failing = True
    vector.query_vectors.clear()
    found = asking(HALF_COVERED)
    assert len(found.memories) == 1
    assert found.degraded == (vector.VECTOR,)


@pytest.fixture
def local(settings: Any) -> None:
    """Use the local embedder's vectors."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}
    vector.query_vectors.clear()


def test_few_memories_are_recalled_by_their_meaning_alone(
    cast: Cast, now: datetime, local: None, asking: Asking
) -> None:
    for each in HIDDEN:
        make_memory(content=each.text, owner=cast.alice, now=now)
    for each in HIDDEN:
        for text in (each.words, each.meaning, each.both):
            assert asking(text).memories[0].content == each.text, text
    for text in ("What is the interest rate of my savings account?", "Did Zoe like the opera?"):
        assert asking(text).memories == (), text


def test_the_fewer_memories_the_further_may_one_be(db: None, local: None, now: datetime) -> None:
    model = embedding_models.adopt(now=now)
    assert model is not None

    def cutoff(among: int | None, *, named: bool = True) -> float:
        found = embedding_models.cutoff_of(model, names_somebody=named, among=among)
        assert found is not None
        return found

    some = [cutoff(count) for count in (0, 1, 3, 10, 100, 255)]
    assert some == sorted(some, reverse=True)
    assert some[0] < 1
    assert cutoff(256) == cutoff(100_000) == cutoff(None) < some[-1]
    assert cutoff(3, named=False) > cutoff(3)


def test_other_peoples_rows_are_held_to_the_stricter_distance(
    cast: Cast, now: datetime, local: None, asking: Asking
) -> None:
    first = HIDDEN[0]
    make_memory(content=first.text, visibility="public", now=now)
    assert asking(first.meaning).memories == ()
    make_memory(content=first.text, owner=cast.alice, now=now)
    (recalled,) = asking(first.meaning).memories
    assert recalled.visibility == "private"


@pytest.mark.parametrize(("fusion", "first"), [("measured", "kin"), ("original", "newest")])
def test_a_relative_of_an_unheard_word_decides_between_equals(
    cast: Cast, now: datetime, settings: Any, fusion: str, first: str
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"fusion": fusion}
    rows = {
        "kin": make_memory(
            content="Weekend shift at the pharmacy.",
            owner=cast.alice,
            now=now,
            observed_at=now - timedelta(days=400),
        ),
        "newest": make_memory(
            content="Weekend shift at the bakery.", owner=cast.alice, now=now, observed_at=now
        ),
    }
    found = search_memories(access.person(cast.alice), "pharmacist weekend", now=now).hits
    assert found[0].memory == rows[first]
    assert set(found[0].legs) == {search.LEXICAL}


def test_the_closer_look_never_sees_what_the_viewer_may_not(
    cast: Cast, now: datetime, embedder: FakeEmbedder
) -> None:
    make_memory(content="The vault code is 1234.", owner=cast.bob, now=now)
    mine = make_memory(content="The vault is blue.", owner=cast.alice, now=now)
    assert embedder.model
    found = search_memories(access.person(cast.alice), "vault code", now=now)
    assert [hit.memory for hit in found.hits] == [mine]
    assert {"late interaction", "topic"} <= set(found.hits[0].ranks)
