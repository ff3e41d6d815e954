"""Fusion by rank: pure, so everything is a table."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

import pytest

from junior_memory.ranking import (
    Fusion,
    RankList,
    TieFacts,
    age_bucket,
    competition_ranks,
    fuse,
    order,
    preset,
)

A, B, C, D = (UUID(int=n) for n in range(1, 5))
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def test_equal_scores_share_a_rank_and_the_next_takes_its_place() -> None:
    assert competition_ranks({A: 0.5, B: 0.5, C: 0.4}) == {A: 1, B: 1, C: 3}


def test_scores_equal_up_to_rounding_noise_are_equal() -> None:
    assert competition_ranks({A: 0.1 + 0.2, B: 0.3}) == {A: 1, B: 1}


def test_two_lists_beat_the_top_of_one() -> None:
    lists = [RankList("lexical", {A: 9.0, B: 8.0}), RankList("vector", {C: 0.9, B: 0.8})]
    assert fuse(lists, Fusion(k=8))[0].id == B


def test_raw_scores_are_never_added() -> None:
    loud = RankList("lexical", {A: 1_000_000.0, B: 1.0})
    quiet = RankList("vector", {B: 0.02, A: 0.01})
    assert {round(fused.score, 12) for fused in fuse([loud, quiet], Fusion(k=8))} == {
        round(1 / 9 + 1 / 10, 12)
    }


def test_original_preset_lets_a_lexical_top_win_over_a_vector_top_in_recall() -> None:
    lists = [RankList("lexical", {A: 1.0}), RankList("vector", {B: 1.0})]
    fused = fuse(lists, preset("original", "recall"))
    assert [each.id for each in fused] == [A, B]
    assert fused[0].score == pytest.approx(1 / 61)
    assert fused[1].score == pytest.approx(0.85 / 61)


def test_a_model_that_reads_counts_more_except_where_the_preset_says() -> None:
    lists = [RankList("lexical", {A: 1.0}), RankList("vector", {B: 1.0})]
    purposes: tuple[Literal["search", "recall"], ...] = ("search", "recall")
    for purpose in purposes:
        reads = fuse(lists, preset("measured", purpose, vector_weight=1.7))
        assert [each.id for each in reads] == [B, A]
        assert preset("original", purpose, vector_weight=1.7).weight_of("vector") <= 1
    assert preset("measured", "recall", vector_weight=1.7).weight_of("private vector") == 1.7
    assert preset("measured", "recall").weight_of("late interaction") == 1.5


@pytest.mark.parametrize("weight", [0.0, -1.0, math.inf, math.nan])
def test_a_weight_that_is_no_positive_number_counts_as_one(weight: float) -> None:
    assert Fusion(k=60, weights={"lexical": weight}).weight_of("lexical") == 1.0


def test_unknown_preset_is_an_error() -> None:
    with pytest.raises(KeyError):
        preset("fashionable", "search")


@pytest.mark.parametrize(
    ("days", "bucket"),
    [(-3, 3), (0, 3), (7, 3), (7.01, 2), (30, 2), (30.01, 1), (90, 1), (90.01, 0), (4000, 0)],
)
def test_age_buckets(days: float, bucket: int) -> None:
    assert age_bucket(NOW - timedelta(days=days), NOW) == bucket


def test_ties_go_to_private_then_fresh_then_newer_then_id() -> None:
    facts = {
        A: TieFacts(False, NOW - timedelta(days=1)),
        B: TieFacts(True, NOW - timedelta(days=200)),
        C: TieFacts(False, NOW - timedelta(days=40)),
        D: TieFacts(False, NOW - timedelta(days=1)),
    }
    fused = fuse([RankList("lexical", dict.fromkeys(facts, 1.0))], Fusion(k=8))
    found = order(fused, facts=facts.__getitem__, now=NOW)
    assert [each.id for each in found] == [B, A, D, C]


def test_tie_facts_never_overrule_a_better_score() -> None:
    facts = {A: TieFacts(True, NOW), B: TieFacts(False, NOW - timedelta(days=500))}
    fused = fuse([RankList("lexical", {A: 0.4, B: 0.5})], Fusion(k=8))
    assert order(fused, facts=facts.__getitem__, now=NOW)[0].id == B


def test_within_a_bucket_the_newer_observation_wins() -> None:
    facts = {A: TieFacts(False, NOW - timedelta(days=6)), B: TieFacts(False, NOW)}
    fused = fuse([RankList("lexical", {A: 1.0, B: 1.0})], Fusion(k=8))
    assert order(fused, facts=facts.__getitem__, now=NOW)[0].id == B
