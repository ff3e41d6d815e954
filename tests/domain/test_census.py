"""What rows hold is read in several ways; the answer is the same."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from junior_memory.access import person
from junior_memory.lexical import census
from junior_memory.lexical.common_terms import common_terms, many_rows
from junior_memory.search import search_memories
from tests.cast import Cast
from tests.factories import make_memory

TEXTS = [
    f"harbour {place} {'lighthouse' if place % 3 == 0 else 'quay'} {'gull' * (place % 2)}"
    for place in range(24)
]
QUERY = "gull lighthouse harbour"


@pytest.fixture(autouse=True)
def _unknown() -> Any:
    common_terms.clear()
    many_rows.clear()
    yield
    common_terms.clear()
    many_rows.clear()


def ask(cast: Cast, now: datetime) -> tuple[list[UUID], int]:
    found = search_memories(person(cast.alice), QUERY, limit=50, now=now)
    return [hit.memory.pk for hit in found.hits], found.total


@pytest.mark.parametrize("visibility", ["private", "public"])
def test_rows_are_the_same_however_they_are_read(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch, visibility: str
) -> None:
    for age, text in enumerate(TEXTS):
        make_memory(
            content=text,
            visibility=visibility,
            owner=cast.alice if visibility == "private" else None,
            now=now,
            observed_at=now - timedelta(days=age),
        )
    make_memory(content="Gull of somebody else", owner=cast.bob, now=now)
    by_reading_all = ask(cast, now)
    assert by_reading_all[1] == len(TEXTS)

    # By the words of the index, once it is known that there are many.
    monkeypatch.setattr(census, "LARGE_AT", 5)
    ask(cast, now)
    assert ask(cast, now) == by_reading_all

    # One by one, when there are more units than combinations can tell.
    monkeypatch.setattr(census, "MAX_COMBINED", 1)
    assert ask(cast, now) == by_reading_all


def test_too_many_rows_of_rarer_words_are_counted_word_by_word(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in TEXTS:
        make_memory(content=text, visibility="public", now=now)
    before = ask(cast, now)
    monkeypatch.setattr(census, "MAX_READ", 10)
    assert ask(cast, now) == before
