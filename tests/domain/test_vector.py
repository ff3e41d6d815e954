"""The vector leg: what is near, for whom, and that it never comes out short."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from junior_memory.access import person
from junior_memory.search import search_memories
from tests.cast import Cast
from tests.factories import make_memory


@pytest.fixture(autouse=True)
def _local(settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}


def test_what_is_near_in_meaning_is_found_without_a_shared_word(cast: Cast, now: datetime) -> None:
    pet = make_memory(content="Rex the beagle barks at night.", owner=cast.alice, now=now)
    make_memory(content="Invoices are due on Fridays.", owner=cast.alice, now=now)
    hits = search_memories(person(cast.alice), "dog", now=now)
    assert hits.hits[0].memory == pet
    assert hits.hits[0].match.words == ()
    assert hits.hits[0].match.meaning is not None
    assert hits.hits[0].legs == ("vector",)
    assert (hits.total, hits.degraded) == (0, ())
