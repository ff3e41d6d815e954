"""Three memories of one person among thousands of other people's: found in every way there is."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from junior_memory import embeddings, lexical, people
from junior_memory.access import person
from junior_memory.models import Memory, User
from junior_memory.search import Hit, search_memories
from tests.benchmarks.corpus import HIDDEN, Corpus
from tests.cast import Cast
from tests.factories import make_memory

OTHERS = 2_000


@pytest.fixture(autouse=True)
def _local(settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}


@pytest.fixture
def hidden(cast: Cast, now: datetime) -> list[Memory]:
    """Return Alice's three rows, older than everybody else's."""
    mine = [make_memory(content=each.text, owner=cast.alice, now=now) for each in HIDDEN]
    Memory.objects.update(observed_at=now.replace(year=2020), created_at=now.replace(year=2020))
    corpus = Corpus(OTHERS, "invented")
    agent, _ = people.agent_named("default")
    User.objects.bulk_create(
        User(id=corpus.owner_id(number), email=f"other{number}@example.com", password="!")
        for number in range(corpus.owners)
    )
    drafts = [corpus.draft(number) for number in range(OTHERS)]
    fresh = (
        Memory(
            id=draft.id,
            content=draft.content,
            kind="knowledge",
            visibility=draft.visibility,
            owner_id=None if draft.owner is None else corpus.owner_id(draft.owner),
            agent=agent,
            subject_type="general",
            origin="import",
            source_platform="api",
            fingerprint=str(draft.id),
            search_vector=lexical.vector_of(draft.content),
            observed_at=draft.created_at,
            created_at=draft.created_at,
        )
        for draft in drafts
    )
    rows = Memory.objects.bulk_create(fresh, batch_size=500)
    assert embeddings.embed_memories([row.pk for row in rows], now=now) == OTHERS
    return mine


def find(cast: Cast, query: str, now: datetime) -> list[Hit]:
    result = search_memories(person(cast.alice), query, limit=10, now=now)
    assert result.degraded == ()
    return list(result.hits)


def test_hidden_rows_are_found_by_words_by_meaning_and_by_both(
    cast: Cast, hidden: list[Memory], now: datetime
) -> None:
    for row, each in zip(hidden, HIDDEN, strict=True):
        by_words = find(cast, each.words, now)[0]
        assert (by_words.memory, "lexical" in by_words.legs) == (row, True), each.words
        by_meaning = {hit.memory: hit for hit in find(cast, each.meaning, now)}
        assert row in by_meaning, each.meaning
        assert by_meaning[row].match.words == (), each.meaning
        assert by_meaning[row].legs == ("vector",), each.meaning
        by_both = find(cast, each.both, now)[0]
        assert by_both.memory == row, each.both
        assert {"lexical", "vector"} <= set(by_both.legs), each.both


def test_hidden_rows_are_found_by_words_when_there_is_no_embedder(
    cast: Cast, hidden: list[Memory], now: datetime, settings: Any
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "none"}
    for row, each in zip(hidden, HIDDEN, strict=True):
        assert find(cast, each.words, now)[0].memory == row, each.words


def test_hidden_rows_stay_hidden_from_everybody_else(
    cast: Cast, hidden: list[Memory], now: datetime
) -> None:
    for each in HIDDEN:
        for query in (each.words, each.meaning, each.both):
            hits = search_memories(person(cast.bob), query, limit=10, now=now).hits
            assert {hit.memory for hit in hits}.isdisjoint(hidden), query
