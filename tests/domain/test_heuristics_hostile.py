"""Text that means harm, or nothing: the extractor answers in time and needs no Django."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from junior_memory.candidates import ActorRef, Authority, Entry, EntryType, Role
from junior_memory.heuristics import extract_candidates
from junior_memory.heuristics.canonical import MAX_CONTENT, has_person

SECONDS_FOR_100_KB = 10
SIZE = 100_000
ROOT = Path(__file__).resolve().parents[2]
PERSON = ActorRef(provider="chat", tenant="acme", subject="ana")

HOSTILE = {
    "one word": "I ",
    "one letter": "a",
    "brackets": "((((",
    "quotes": '"',
    "apostrophes": "I'm ",
    "short sentences": "I am a b. ",
    "lines": "I love a b c\n",
    "commas": "I love a, ",
    "conjunctions": "I love a and ",
    "spaces": " ",
    "line ends": "\n",
    "dots": ".",
    "dashes": "- ",
    "backticks": "`",
    "emoji": "😀",
    "chinese": "我喜欢",
    "japanese": "私は",
    "direction marks": "\u202e",
    "subordinate clauses": "When I, ",
    "long words": "I love " + "x" * 480 + ". ",
    "task without action": "To " + "a " * 200 + ", run b. ",
    "task of many words": "For " + "a-b " * 100 + "use x. ",
    "subject of many words": "The staging " + "of the " * 60 + "is on x. ",
    "names": "Ab cd " * 70 + "helps me x. ",
    "quoted speech": '"I ' * 120 + '". ',
    "numbers": "I have 1 2 3 4 5 6 7 8 9 ",
}


def entry_of(text: str) -> Entry:
    """Return one instruction of the session's own actor."""
    return Entry(
        index=0,
        type=EntryType.MESSAGE,
        text=text,
        role=Role.USER,
        authority=Authority.INSTRUCTION,
        actor=PERSON,
        is_run_actor=True,
    )


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_hundred_kilobytes_of_hostile_text_are_read_in_time(piece: str) -> None:
    text = piece * (SIZE // len(piece))
    began = time.perf_counter()
    extract_candidates([entry_of(text)])
    assert time.perf_counter() - began < SECONDS_FOR_100_KB


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=600))
def test_any_text_gives_bounded_candidates_without_a_first_person(text: str) -> None:
    for candidate in extract_candidates([entry_of(text)]):
        assert 0 < len(candidate.content) <= MAX_CONTENT
        assert not has_person(candidate.content)
        assert candidate.evidence == (0,)


WORDS = (
    "I we my our you love prefer use don't never always deploy moved went started am was have had "
    "to the a in from with when because and but , . ? ! it that tea Berlin main yesterday today"
).split()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40))
def test_shuffled_words_give_well_formed_candidates(words: list[str]) -> None:
    for candidate in extract_candidates([entry_of(" ".join(words))]):
        assert not has_person(candidate.content)
        assert "?" not in candidate.content
        assert candidate.content[0] == candidate.content[0].upper()
        assert candidate.content.endswith(".")


def test_many_messages_of_many_statements_stay_bounded() -> None:
    entries = [
        Entry(
            index=index,
            type=EntryType.MESSAGE,
            text=f"Actually I prefer thing{index} over thing{index + 1}. I own boat{index}. " * 3,
            role=Role.USER,
            authority=Authority.INSTRUCTION,
            actor=PERSON,
            is_run_actor=True,
        )
        for index in range(600)
    ]
    began = time.perf_counter()
    found = extract_candidates(entries)
    assert len(found) == 5
    assert all(len(candidate.evidence) <= 10 for candidate in found)
    assert time.perf_counter() - began < SECONDS_FOR_100_KB


def test_extractor_loads_without_django() -> None:
    code = (
        "import sys; import junior_memory.heuristics; "
        "sys.exit(any(name == 'django' or name.startswith('django.') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=60)
    assert done.returncode == 0
