"""How many questions a page asks of the database: few, and no more for many rows than for some."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from junior_memory.access import person
from junior_memory.memories import correct_memory
from junior_memory.models import Memory
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory

QUESTION = {"text": "May I deploy on Fridays?", "where": "private", "agent": "default"}


def asked(client: Client, path: str) -> int:
    """Return how many queries one page takes, asked for the second time."""
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(path, QUESTION) if path == "/recall" else client.get(path)
    assert answer.status_code == 200
    return len(queries)


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/memories", 24),
        ("/memories?q=deploys", 36),
        ("/memories?state=superseded", 22),
        ("/memories?state=superseded&q=deploys", 36),
        ("/inbox", 18),
        ("/settings", 26),
        ("/settings/paper", 12),
        ("/recall", 60),
    ],
)
def test_many_rows_take_no_more_queries_than_some(
    cast: Cast, alice_client: Client, path: str, most: int
) -> None:
    for number in range(4):
        _live(cast, number)
    few = asked(alice_client, path)
    for number in range(4, 24):
        _live(cast, number)
    many = asked(alice_client, path)
    assert many <= few
    assert few <= most


def _live(cast: Cast, number: int) -> None:
    """Let Alice have another memory, and one that was corrected."""
    make_memory(owner=cast.alice, content=f"Deploys on day {number}.", origin="automatic")
    old = make_memory(owner=cast.alice, content=f"Deploys at {number} o'clock.")
    correct_memory(
        person(cast.alice), old.pk, f"Deploys after {number}.", version=old.version, doer=BY_TEST
    )


def test_a_long_chain_takes_no_more_than_its_links(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(owner=cast.alice, content="Deploys at 0 o'clock.")
    few = asked(alice_client, f"/memories/{memory.pk}")
    for number in range(1, 6):
        memory = _corrected(cast, memory, number)
    assert asked(alice_client, f"/memories/{memory.pk}") <= few + 6
    assert few <= 26


def _corrected(cast: Cast, memory: Memory, number: int) -> Memory:
    text = f"Deploys at {number} o'clock."
    return correct_memory(person(cast.alice), memory.pk, text, version=memory.version, doer=BY_TEST)
