"""Every text of the table is found by each of its queries, and by nothing of its neighbours."""

from __future__ import annotations

import uuid
from datetime import datetime

import pytest

from junior_memory import lexical
from junior_memory.access import Viewer, person
from junior_memory.models import Memory
from junior_memory.search import highlight_spans, search_memories
from tests.cast import Cast
from tests.domain.search_rows import TABLE

PAIRS = [(sought.text, query) for sought in TABLE for query in sought.queries]


def remember(cast: Cast, texts: list[str], now: datetime, **fields: object) -> list[Memory]:
    """Insert texts as they are; the analysis, not the lifecycle, is under test."""
    common = {
        "kind": "knowledge",
        "visibility": "private",
        "owner": cast.alice,
        "agent": cast.agent,
        "subject_type": "general",
        "origin": "explicit",
        "source_platform": "api",
        "observed_at": now,
        "created_at": now,
    }
    return Memory.objects.bulk_create(
        [
            Memory(
                content=text,
                fingerprint=str(uuid.uuid4()),
                search_vector=lexical.vector_of(text),
                **(common | fields),
            )
            for text in texts
        ]
    )


@pytest.fixture
def alice(cast: Cast, now: datetime) -> Viewer:
    """Return a viewer to whom the whole table belongs."""
    remember(cast, [sought.text for sought in TABLE], now)
    return person(cast.alice)


def test_table_is_large_enough() -> None:
    assert len(TABLE) >= 60
    assert len(PAIRS) >= 120


def test_every_query_finds_its_text_and_only_its_text(alice: Viewer, now: datetime) -> None:
    wrong = []
    for text, query in PAIRS:
        result = search_memories(alice, query, limit=50, now=now)
        found = [
            hit.memory.content for hit in result.hits if hit.match.words or hit.match.characters
        ]
        if found != [text] or len(result.hits) != 1 or result.total != 1:
            wrong.append((query, text, found, result.total))
    assert wrong == []


def test_every_query_marks_something_in_its_text() -> None:
    unmarked = [
        (query, text)
        for text, query in PAIRS
        if not all(0 <= a < b <= len(text) for a, b in highlight_spans(text, query))
        or not highlight_spans(text, query)
    ]
    assert unmarked == []
