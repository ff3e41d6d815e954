"""Where one sentence ends and the next begins, and what of a message is prose at all."""

from __future__ import annotations

import pytest

from junior_memory.heuristics.sentences import MAX_SENTENCE, split_sentences

SPLIT = [
    ("I like tea. I hate coffee.", ["I like tea", "I hate coffee"]),
    ("I use Python 3.11. It works.", ["I use Python 3.11", "It works"]),
    ("See v2.4.1 at https://example.org/a.b?c=d. Fine.", None),
    ("Dr. Lee lives here. We met.", ["Dr. Lee lives here", "We met"]),
    ("I use tools, e.g. vim. Good.", ["I use tools, e.g. vim", "Good"]),
    ("I moved in Jan. I love it.", ["I moved in Jan", "I love it"]),
    ("A quote by J.K. Rowling helps.", ["A quote by J.K. Rowling helps"]),
    ("Pi is 3.14 today.", ["Pi is 3.14 today"]),
    ("Wow!!! I won.", ["Wow", "I won"]),
    ("I love it 😀 I live here", ["I love it", "I live here"]),
    ("I like tea; he likes coffee", ["I like tea", "he likes coffee"]),
    ("I like tea - it is warm", ["I like tea", "it is warm"]),
    ("A well-known pre-war co-op opened.", ["A well-known pre-war co-op opened"]),
    ("Run `a. b; c` now. Done.", ["Run `a. b; c` now", "Done"]),
    ("私はお茶が好きです。猫も好きです。", ["私はお茶が好きです", "猫も好きです"]),
    ("first line\nSecond line", ["first line", "Second line"]),
    ("- one thing\n- another thing\n3. third thing", ["one thing", "another thing", "third thing"]),
    ("> quoted line\nmy own line", ["my own line"]),
    ("```\nI love code\n```\nafter", ["after"]),
    ("2026-11-01 10:00:00 INFO up\nERROR down\nat foo.bar(Baz)\nreal words", ["real words"]),
    ("x = compute(1);\nreal words", ["real words"]),
    ("I don\u2019t eat \u201cmeat\u201d.", ['I don\'t eat "meat"']),
]


@pytest.mark.parametrize(("text", "expected"), SPLIT)
def test_message_is_split_into_sentences(text: str, expected: list[str] | None) -> None:
    found = [sentence.text for sentence in split_sentences(text)]
    if expected is None:
        expected = ["See v2.4.1 at https://example.org/a.b?c=d", "Fine"]
    assert found == expected


def test_wrapped_line_is_one_sentence() -> None:
    text = "I have been living in the same small village\nnear the sea for ten years."
    assert [sentence.text for sentence in split_sentences(text)] == [
        "I have been living in the same small village near the sea for ten years"
    ]


def test_question_mark_is_kept_as_a_flag() -> None:
    first, second = split_sentences("Do I like tea? I do.")
    assert first.asks
    assert not second.asks


def test_endless_run_is_no_sentence() -> None:
    assert split_sentences("word " * MAX_SENTENCE) == ()
