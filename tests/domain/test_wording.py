"""The lists over the fused top that go by wording: pure, and what they do to a search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from junior_memory import access
from junior_memory.ranking import RankList, competition_ranks
from junior_memory.rerank import Asked
from junior_memory.search import search_memories
from junior_memory.wording import PHRASES, STATEMENTS, SUBJECT, lists_by_wording
from tests.cast import Cast
from tests.factories import make_memory

A, B, C, D, E = (UUID(int=n) for n in range(1, 6))


def asking(*words: str) -> list[Asked]:
    return [Asked(word, 3.0, frozenset()) for word in words]


def named(lists: Sequence[RankList], name: str) -> dict[UUID, float]:
    return next((dict(each.scores) for each in lists if each.name == name), {})


@pytest.mark.parametrize(
    ("about", "mentions"),
    [
        ("Anna moved to Graz.", "Ben helped Anna to move to Graz."),
        ("Anna: I moved to Graz.", "Ben: Anna moved to Graz."),
        ("anna's sister lives in Graz.", "Lives with Anna in Graz."),
        ("The Anna of the archive sits in Graz.", "The archive of Anna sits in Graz."),
        ("Über die Anna aus Graz.", "Der Umzug von Anna nach Graz."),
    ],
)
def test_what_begins_with_a_word_asked_for_is_about_it(about: str, mentions: str) -> None:
    lists = lists_by_wording("anna", asking("anna"), {A: about, B: mentions})
    assert set(named(lists, SUBJECT)) == {A}


def test_a_text_of_function_words_has_a_subject_all_the_same() -> None:
    lists = lists_by_wording("who", asking("who"), {A: "The Who", B: "It is what it is what it is"})
    assert named(lists, SUBJECT) == {}


def test_neighbours_in_the_query_count_where_they_are_neighbours() -> None:
    texts = {
        A: "Runs the support group on Fridays.",
        B: "Support comes from a group in Linz.",
        C: "The supporting, growing group.",
        D: "No such thing.",
    }
    phrases = named(lists_by_wording("support group", asking("support", "group"), texts), PHRASES)
    assert set(phrases) == {A, C}
    assert competition_ranks(phrases) == {A: 1, C: 1}


def test_more_shared_phrases_rank_higher() -> None:
    texts = {A: "Red night train", B: "A night train", C: "train at night", D: "car", E: "boat"}
    words = asking("red", "night", "train")
    assert named(lists_by_wording("red night train", words, texts), PHRASES) == {A: 2, B: 1}


def test_a_phrase_that_most_texts_share_tells_nothing() -> None:
    texts = {A: "night train one", B: "night train two", C: "day train"}
    assert lists_by_wording("night train", asking("night", "train"), texts) == [
        RankList(SUBJECT, {A: 1.0, B: 1.0})
    ]


def test_words_that_ask_for_nothing_make_no_phrase() -> None:
    texts = {A: "the train", B: "train"}
    assert named(lists_by_wording("the train", asking("train"), texts), PHRASES) == {}


@pytest.mark.parametrize(
    ("query", "is_question"),
    [
        ("Where does Anna live?", True),
        ("where does anna live", True),
        ("Wo wohnt Anna", True),
        ("安娜住在哪里？", True),
        ("Book it. Where does Anna live? Thanks.", True),
        ("anna home", False),
        ("https://example.com/?q=anna", False),
        ("was Anna erzählt", True),
    ],
)
def test_a_question_ranks_what_states_something(query: str, is_question: bool) -> None:
    texts = {A: "Anna: I live in Graz.", B: "Ben: Where do you live?", C: "住在哪里？ "}
    lists = lists_by_wording(query, asking("anna"), texts)
    assert named(lists, STATEMENTS) == ({A: 1.0} if is_question else {})


def test_a_list_without_an_opinion_is_left_out() -> None:
    assert lists_by_wording("tea", asking("tea"), {A: "Drinks coffee."}) == []
    assert lists_by_wording("", [], {}) == []


def test_a_search_puts_what_is_about_somebody_before_what_is_newer_and_mentions_them(
    cast: Cast, now: datetime
) -> None:
    about = make_memory(
        content="Runa keeps bees on the roof.",
        owner=cast.alice,
        now=now,
        observed_at=now - timedelta(days=400),
    )
    make_memory(content="Met bees and Runa on the roof.", owner=cast.alice, now=now)
    first, second = search_memories(access.person(cast.alice), "runa bees", now=now).hits
    assert first.memory == about
    assert first.ranks[SUBJECT] == 1
    assert SUBJECT not in second.ranks


def test_the_hits_say_which_of_it_counted(cast: Cast, now: datetime) -> None:
    make_memory(content="Night trains need a window seat.", owner=cast.alice, now=now)
    make_memory(content="Which night train was late?", owner=cast.alice, now=now)
    for name in ("Slow", "Long"):
        make_memory(content=f"{name} train rides in a dark night.", owner=cast.alice, now=now)
    hits = search_memories(access.person(cast.alice), "Which night train?", now=now).hits
    assert [{SUBJECT, PHRASES, STATEMENTS} & set(hit.ranks) for hit in hits[:2]] == [
        {SUBJECT, PHRASES, STATEMENTS},
        {SUBJECT, PHRASES},
    ]
    assert hits[0].legs == ("lexical",)
