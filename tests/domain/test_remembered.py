"""What is remembered about texts, and that it is not the texts."""

from __future__ import annotations

import pickle

from junior_memory import secrets
from junior_memory.remembered import Remembered


def test_a_finding_is_of_its_text_and_of_what_it_is_about() -> None:
    known: Remembered[str] = Remembered(10)
    known.put("the oolong", "green", "tea")
    assert known.get("the oolong", "tea") == "green"
    assert known.get("the oolong", "coffee") is None
    assert known.get("the oolong ", "tea") is None


def test_the_text_asked_for_longest_ago_makes_room() -> None:
    known: Remembered[int] = Remembered(2)
    known.put("first", 1)
    known.put("second", 2)
    assert known.get("first") == 1
    known.put("third", 3)
    assert (known.get("first"), known.get("second"), known.get("third")) == (1, None, 3)
    assert len(known) == 2


def test_what_is_kept_holds_no_text_and_is_another_in_every_process() -> None:
    one: Remembered[bool] = Remembered(2)
    other: Remembered[bool] = Remembered(2)
    for known in (one, other):
        known.put("sentinel-of-a-person", True)
    assert b"sentinel" not in pickle.dumps(dict(one._kept))
    assert set(one._kept) != set(other._kept)


def test_a_text_that_cannot_be_written_down_is_remembered_too() -> None:
    known: Remembered[bool] = Remembered(2)
    known.put("half a pair \ud83d", True)
    assert known.get("half a pair \ud83d") is True


def test_only_what_holds_no_secret_is_known_again() -> None:
    secrets._known_clean.clear()
    card = "my card is 4111 1111 1111 1111"
    for _ in range(2):
        assert secrets.contains_secret(card)
        assert not secrets.contains_secret("my card is in the drawer")
    assert len(secrets._known_clean) == 1
