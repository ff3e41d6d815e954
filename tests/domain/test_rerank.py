"""The further lists over the fused top: pure, so vectors are made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
import pytest

from junior_memory.providers.base import Matrix
from junior_memory.ranking import RankList, competition_ranks
from junior_memory.rerank import (
    LATE_INTERACTION,
    SPELLING,
    TOPIC,
    Asked,
    bare,
    lists_by_spelling,
    lists_by_vectors,
    words_of,
)

A, B, C = (UUID(int=n) for n in range(1, 4))
NOBODY: frozenset[UUID] = frozenset()

NEAR = {
    "dog": (1.0, 0.0, 0.0),
    "puppy": (0.9, 0.1, 0.0),
    "tax": (0.0, 1.0, 0.0),
    "invoice": (0.1, 0.9, 0.0),
}


def by_hand(words: Sequence[str]) -> Matrix:
    """Vectors of four words; every other word points somewhere else."""
    return np.array([NEAR.get(word, (0.0, 0.0, 1.0)) for word in words], dtype=np.float32)


def named(lists: Sequence[RankList], name: str) -> dict[UUID, float]:
    return next(dict(each.scores) for each in lists if each.name == name)


def test_a_word_counts_by_its_nearest_word_in_the_memory() -> None:
    texts = {A: "Bought a puppy.", B: "Paid an invoice.", C: "Nothing at all."}
    lists = lists_by_vectors("any dog?", [Asked("dog", 4.0, NOBODY)], texts, by_hand)
    late = named(lists, LATE_INTERACTION)
    assert competition_ranks(late) == {A: 1, B: 2, C: 3}
    assert late[A] == pytest.approx(0.9 / np.hypot(0.9, 0.1), abs=1e-5)
    assert late[C] == 0


def test_a_row_that_holds_the_word_counts_it_whole_whatever_the_vectors_say() -> None:
    texts = {A: "Bought a puppy.", B: "Hounds everywhere."}
    asked = [Asked("dog", 4.0, frozenset([B]))]
    assert named(lists_by_vectors("dog", asked, texts, by_hand), LATE_INTERACTION)[B] == 1


def test_the_rarer_word_decides() -> None:
    texts = {A: "puppy", B: "invoice"}
    asked = [Asked("dog", 1.0, NOBODY), Asked("tax", 5.0, NOBODY)]
    late = named(lists_by_vectors("dog tax", asked, texts, by_hand), LATE_INTERACTION)
    assert late[B] > late[A]


def test_topic_prefers_a_memory_that_speaks_of_nothing_else() -> None:
    texts = {A: "puppy invoice tax", B: "puppy dog"}
    topic = named(lists_by_vectors("dog", [Asked("dog", 4.0, NOBODY)], texts, by_hand), TOPIC)
    assert topic[B] > topic[A]


def test_words_of_other_scripts_are_compared_exactly_alone() -> None:
    texts = {A: "備份", B: "设置"}
    asked = [Asked("设置", 4.0, frozenset([B]))]
    late = named(lists_by_vectors("设置", asked, texts, by_hand), LATE_INTERACTION)
    assert late == {A: 0.0, B: 1.0}


@pytest.mark.parametrize("text", ["", "!?", "🎉"])
def test_texts_without_words_are_no_error(text: str) -> None:
    asked = [Asked("dog", 4.0, NOBODY)]
    assert lists_by_vectors("dog", asked, {A: text}, by_hand) == []
    lists = lists_by_vectors("dog", asked, {A: text, B: "a dog"}, by_hand)
    assert set(named(lists, LATE_INTERACTION)) == {B}


def test_a_query_that_asks_for_nothing_gives_no_list() -> None:
    assert lists_by_vectors("the of", [], {A: "a dog"}, by_hand) == []
    assert lists_by_spelling([], {A: "a dog"}) == []


def test_spelling_finds_relatives_of_a_word_and_not_strangers() -> None:
    texts = {A: "Went on a photography course.", B: "Went to the dentist.", C: "Took photographs."}
    asked = [Asked("photographer", 4.0, NOBODY)]
    scores = named(lists_by_spelling(asked, texts), SPELLING)
    assert min(scores[A], scores[C]) > 0.5
    assert scores[B] == 0


def test_spelling_counts_an_exact_holder_whole() -> None:
    asked = [Asked("went", 1.0, frozenset([A])), Asked("dentist", 3.0, NOBODY)]
    scores = named(lists_by_spelling(asked, {A: "gone", B: "a dentist"}), SPELLING)
    assert scores == {A: pytest.approx(0.25), B: pytest.approx(0.75)}


def test_words_come_once_in_lower_case_without_possessive_endings() -> None:
    assert words_of("Anna's dog, the dogs' bowl; ANNA don’t") == (
        ("anna", "dog", "the", "dogs", "bowl", "don’t")
    )
    assert bare("Melody’s") == "melody"


def test_static_vectors_of_many_words_are_those_of_each_word_alone() -> None:
    pytest.importorskip("wordllama")
    from junior_memory.providers.local import word_vectors

    words = ["photography", "naïve", "x", "pneumonoultramicroscopic", "设置", "42", "don't"]
    together = word_vectors(words)
    assert together.shape == (len(words), 256)
    for place, word in enumerate(words):
        assert together[place] == pytest.approx(word_vectors([word])[0], abs=1e-5), word
    assert word_vectors([]).shape == (0, 256)


def test_static_vectors_know_what_is_alike() -> None:
    pytest.importorskip("wordllama")
    from junior_memory.providers.local import word_vectors

    texts = {A: "Adopted a puppy.", B: "Filed the invoice."}
    lists = lists_by_vectors("dog", [Asked("dog", 4.0, NOBODY)], texts, word_vectors)
    for name in (LATE_INTERACTION, TOPIC):
        assert competition_ranks(named(lists, name)) == {A: 1, B: 2}
