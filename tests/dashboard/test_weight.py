"""What a page weighs: light enough for a slow connection, and our scripts stay few."""

from __future__ import annotations

from pathlib import Path

from django.test import Client

from tests.cast import Cast
from tests.factories import make_memory

SCRIPTS = sorted((Path(__file__).parents[2] / "static/js").glob("*.js"))


def test_a_full_page_of_the_list_stays_under_sixty_kilobytes(
    cast: Cast, alice_client: Client
) -> None:
    for number in range(30):
        content = f"Fact number {number}: " + "the ferry to the island leaves at noon, " * 4
        make_memory(owner=cast.alice, content=content)
    assert len(alice_client.get("/memories").content) < 60_000
    assert len(alice_client.get("/memories?q=ferry").content) < 60_000


def test_our_scripts_stay_few() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    assert sum(len(text.splitlines()) for text in texts) < 150
    assert max(len(text.encode()) for text in texts) < 10_000


def test_charts_are_loaded_where_they_are_drawn_alone(cast: Cast, alice_client: Client) -> None:
    for path in ("/memories", "/inbox", "/recall", "/settings"):
        assert b"plotly" not in alice_client.get(path).content
