"""How the text of a memory is drawn."""

from __future__ import annotations

import pytest

from dashboard.templatetags.memories import fact


@pytest.mark.parametrize(
    ("content", "spans", "drawn"),
    [
        ("Likes tea.", [], "Likes tea."),
        ("Likes tea.", [(6, 9)], "Likes <mark>tea</mark>."),
        ("Likes <b>.", [(6, 9)], "Likes <mark>&lt;b&gt;</mark>."),
        ("Runs `make all`.", [], "Runs <code>make all</code>."),
        ("Runs `make all`.", [(6, 10)], "Runs <code><mark>make</mark> all</code>."),
        ("Runs `make all`.", [(0, 10)], "<mark>Runs `make</mark> all`."),
        ("`<script>`", [], "<code>&lt;script&gt;</code>"),
        ("tea tea", [(0, 3), (2, 5)], "<mark>tea</mark> tea"),
        ("tea", [(1, 99)], "tea"),
        ("tea", [(2, 2)], "tea"),
        ("茶が好き", [(0, 1)], "<mark>茶</mark>が好き"),
        ("a & b", [(2, 3)], "a <mark>&amp;</mark> b"),
    ],
)
def test_marks_and_code_are_drawn_and_everything_is_escaped(
    content: str, spans: list[tuple[int, int]], drawn: str
) -> None:
    assert fact(content, spans) == drawn
