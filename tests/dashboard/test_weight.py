"""What a page weighs: light enough for a slow connection, and our scripts stay few."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.test import Client
from django.utils import timezone

from dashboard.listing import PAGE_SIZE
from dashboard.templatetags.memories import EXCERPT, fact_in_brief
from junior_memory.access import person
from junior_memory.memories import correct_memory
from junior_memory.models.memory import MAX_CONTENT_LENGTH
from tests.cast import Cast
from tests.dashboard.conftest import text
from tests.factories import BY_TEST, AgentFactory, make_memory

MAX_PAGE = 60_000
SCRIPTS = sorted((Path(__file__).parents[2] / "static/js").glob("*.js"))


LONGEST = "The ferry to the island leaves at noon & <early> on \"Sundays\", says 'Ada'; "
"""A text with characters that HTML writes longer than they are."""


def longest(number: int) -> str:
    """Return a text of the longest that is allowed."""
    start = f"Fact number {number}: "
    return (start + LONGEST * 60)[: MAX_CONTENT_LENGTH - 1] + "."


def test_a_full_page_of_the_list_stays_under_sixty_kilobytes(
    cast: Cast, alice_client: Client
) -> None:
    for number in range(30):
        content = f"Fact number {number}: " + "the ferry to the island leaves at noon, " * 4
        make_memory(owner=cast.alice, content=content)
    for address in ("/memories", "/memories?q=ferry", "/memories?kind=preference&origin=explicit"):
        assert len(alice_client.get(address).content) < MAX_PAGE


def test_full_pages_of_the_longest_texts_stay_under_sixty_kilobytes(
    cast: Cast, alice_client: Client
) -> None:
    """In the worst case: every row was corrected, said another day, used, and is of some agent."""
    agents = [cast.agent, AgentFactory.create(name="a" * 60)]
    for number in range(30):
        made = make_memory(
            owner=cast.alice,
            content=longest(number),
            agent=agents[number % 2],
            expires_at=timezone.now() + timedelta(days=9),
            observed_at=timezone.now() - timedelta(days=9),
        )
        better = longest(100 + number)
        correct_memory(person(cast.alice), made.pk, better, version=made.version, doer=BY_TEST)
    for address in (
        "/memories",
        "/memories?q=ferry",
        "/memories?q=e",
        "/memories?kind=preference&origin=explicit&agent=default",
        "/memories?state=superseded",
    ):
        page = alice_client.get(address).content
        assert page.count(b"data-row") == PAGE_SIZE or b"agent=default" in page
        assert len(page) < MAX_PAGE, f"{address}: {len(page)} bytes"


def test_our_scripts_stay_few() -> None:
    texts = [path.read_text(encoding="utf-8") for path in SCRIPTS]
    assert sum(len(text.splitlines()) for text in texts) < 150
    assert max(len(text.encode()) for text in texts) < 10_000


def test_charts_are_loaded_where_they_are_drawn_alone(cast: Cast, alice_client: Client) -> None:
    for path in ("/memories", "/inbox", "/recall", "/settings"):
        assert b"plotly" not in alice_client.get(path).content


def test_a_long_text_is_drawn_in_brief_from_where_it_matched(
    cast: Cast, alice_client: Client
) -> None:
    made = make_memory(
        owner=cast.alice, content=longest(1)[:-60] + " and the zebra sleeps at home."
    )
    short = make_memory(owner=cast.alice, content="Keeps a zebra & a dog.")
    page = text(alice_client.get("/memories"))
    assert "Fact number 1: The ferry" in page
    assert "zebra sleeps" not in page
    assert "Keeps a zebra &amp; a dog." in page
    found = text(alice_client.get("/memories?q=zebra"))
    assert f'id="memory-{made.pk}"' in found
    assert f'id="memory-{short.pk}"' in found
    assert "<mark>zebra</mark> sleeps at home." in found
    assert "zebra sleeps at home." in text(alice_client.get(f"/memories/{made.pk}"))


def test_a_brief_text_ends_after_a_whole_word_and_says_that_more_follows() -> None:
    words = "harbour " * 200
    brief = fact_in_brief(words)
    assert brief.endswith("harbour …")
    assert len(brief.encode()) <= EXCERPT + 10
    assert fact_in_brief("漢" * 1_000) == "漢" * (EXCERPT // 3) + " …"
    assert fact_in_brief("Prefers tea.", [(8, 11)]) == "Prefers <mark>tea</mark>."
    assert fact_in_brief("<b>") == "&lt;b&gt;"
