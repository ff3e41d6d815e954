"""Codes of vectors: they name what is near, whatever the vectors are."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from junior_memory import vector_codes
from junior_memory.vector_codes import COMPARED, COMPARED_SHARE, Codes

DIMENSIONS = (3, 64, 100, 256, 384, 1536)
"""Whole words of 64 bits, and not."""

Floats = NDArray[np.float32]


def ids_of(count: int, *, first: int = 0) -> NDArray[np.bytes_]:
    """Ids that begin with their row's number; half of them end in bytes that are 0."""
    raw = [
        (first + row).to_bytes(8) + (bytes(8) if row % 2 else b"a" * 8)
        for row in range(count)
    ]  # fmt: skip
    return np.array(raw, "S16")


def rows_of(named: Sequence[str], *, first: int = 0) -> list[int]:
    """Which rows were named; an id that is cut short is none."""
    assert all(uuid.UUID(one).hex == one for one in named)
    return [int(one[:16], 16) - first for one in named]


def random_vectors(count: int, dimensions: int, *, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)


def clustered_vectors(count: int, dimensions: int) -> Floats:
    """A few subjects, each with many rows around it, all on one side of the space."""
    dice = np.random.default_rng(2)
    subjects = dice.standard_normal((12, dimensions)) + 2
    rows = subjects[dice.integers(12, size=count)] + dice.standard_normal((count, dimensions)) / 3
    return rows.astype(np.float32)


def nearest(vectors: Floats, asked: Floats, count: int) -> list[int]:
    """The true order, by the full vectors."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return [int(row) for row in np.argsort(-(unit @ asked), kind="stable")[:count]]


@pytest.mark.parametrize("make", [random_vectors, clustered_vectors])
@pytest.mark.parametrize("dimensions", DIMENSIONS[1:])
def test_the_true_nearest_are_named(make: Any, dimensions: int) -> None:
    vectors = make(6_000, dimensions)
    codes = Codes.of(ids_of(len(vectors)), vectors)
    dice = np.random.default_rng(3)
    hit = asked = 0
    for row in dice.integers(len(vectors), size=10):
        query = vectors[row] + dice.standard_normal(dimensions).astype(np.float32) / 10
        named = rows_of(codes.near(query.tolist(), 40))
        assert len(set(named)) == 40
        wanted = nearest(vectors, query, 10)
        assert wanted[0] in named
        hit += len(set(wanted) & set(named))
        asked += len(wanted)
    assert hit / asked >= 0.97


@pytest.mark.parametrize("make", [random_vectors, clustered_vectors])
@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_few_that_are_named_are_as_near_as_the_nearest_but_for_rounding(
    make: Any, dimensions: int
) -> None:
    vectors = make(COMPARED, dimensions)
    codes = Codes.of(ids_of(len(vectors)), vectors)
    query = random_vectors(1, dimensions, seed=4)[0]
    query /= np.linalg.norm(query)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    furthest = float((unit @ query)[nearest(vectors, query, 20)].min())
    for row in rows_of(codes.near(query.tolist(), 20)):
        assert float(unit[row] @ query) >= furthest - 0.02


@pytest.mark.parametrize("count", [5, 6, 1_000])
def test_all_are_named_when_there_are_no_more(count: int) -> None:
    codes = Codes.of(ids_of(5), random_vectors(5, 8))
    assert sorted(rows_of(codes.near([1.0] * 8, count))) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_no_more_are_named_than_were_asked_for(count: int) -> None:
    codes = Codes.of(ids_of(5), random_vectors(5, 8))
    assert len(codes.near([1.0] * 8, count)) == count


def test_without_rows_none_is_named() -> None:
    none = Codes.of(ids_of(0), random_vectors(0, 100))
    assert (len(none), none.near([1.0] * 100, 3)) == (0, [])
    some = none.with_more(Codes.of(ids_of(70), random_vectors(70, 100)))
    assert rows_of(some.near(random_vectors(70, 100)[7].tolist(), 1)) == [7]
    left = some.only(np.zeros(70, np.bool_))
    assert (len(left), left.near([1.0] * 100, 3)) == (0, [])


def test_rows_and_queries_without_direction_do_no_harm() -> None:
    vectors = random_vectors(300, 64)
    vectors[::3] = 0
    codes = Codes.of(ids_of(300), vectors)
    assert rows_of(codes.near(vectors[10].tolist(), 1)) == [10]
    assert len(codes.near([0.0] * 64, 7)) == 7
    nothing = Codes.of(ids_of(3), np.zeros((3, 64), np.float32))
    assert len(nothing.near([0.0] * 64, 2)) == 2


@pytest.mark.parametrize("dimensions", [256, 1536])
def test_opposites_differ_in_every_sign(dimensions: int) -> None:
    """More than fits in one byte."""
    one = np.ones(dimensions, np.float32)
    vectors = np.concatenate([np.tile(one, (40, 1)), np.tile(-one, (40, 1))])
    codes = Codes.of(ids_of(80), vectors)
    assert set(rows_of(codes.near(one.tolist(), 30))) <= set(range(40))
    assert set(rows_of(codes.near((-one).tolist(), 30))) <= set(range(40, 80))
    unit = vector_codes.unit(one[None])
    differing = codes._differing(codes.frame.bits(unit)[0])
    assert differing[:40].max() < 4
    assert differing[40:].min() > dimensions - 4


def test_length_does_not_matter() -> None:
    vectors = random_vectors(500, 64)
    long = vectors * np.linspace(1e-3, 1e3, 500, dtype=np.float32)[:, None]
    for row in (0, 250, 499):
        query = vectors[row].tolist()
        assert rows_of(Codes.of(ids_of(500), long).near(query, 1)) == [row]


@pytest.mark.parametrize("more", [100, 1_400])
def test_added_rows_are_found_whether_the_centre_is_kept_or_taken_anew(more: int) -> None:
    vectors = clustered_vectors(1_000 + more, 100)
    first = Codes.of(ids_of(1_000), vectors[:1_000])
    rest = Codes.of(ids_of(more, first=1_000), vectors[1_000:])
    both = first.with_more(rest)
    assert len(both) == 1_000 + more
    assert (both.frame is first.frame) == (more == 100)
    assert both.frame.rows == (1_000 if more == 100 else 1_000 + more)
    for row in (0, 999, 1_000, 999 + more):
        assert row in rows_of(both.near(vectors[row].tolist(), 10))
    assert len(first) == 1_000, "what others read is not changed"
    assert rows_of(first.near(vectors[3].tolist(), 1)) == [3]


def test_what_is_dropped_is_named_no_more() -> None:
    vectors = random_vectors(500, 100)
    codes = Codes.of(ids_of(500), vectors)
    kept = np.ones(500, np.bool_)
    kept[::7] = False
    left = codes.only(kept)
    assert len(left) == kept.sum()
    for row in range(50):
        named = rows_of(left.near(vectors[row].tolist(), 3))
        assert all(kept[named])
        assert (row in named) == kept[row]
    assert left.size_bytes < codes.size_bytes
    assert codes.size_bytes == 500 * (16 + 100 + 4 + 2 * 8)


def test_pieces_that_are_worked_on_apart_make_one_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered_vectors(700, 100)
    whole = Codes.of(ids_of(700), vectors)
    for name, size in (("AT_ONCE", 64), ("COUNTED_AT_ONCE", 100), ("COMPARED_AT_ONCE", 33)):
        monkeypatch.setattr(vector_codes, name, size)
    pieces = Codes.of(ids_of(700), vectors)
    np.testing.assert_allclose(pieces.frame.centre, whole.frame.centre, atol=1e-6)
    for row in range(0, 700, 50):
        query = vectors[row].tolist()
        assert set(pieces.near(query, 20)) == set(whole.near(query, 20))


def found_of_ten(vectors: Floats, codes: Codes, *, apart: NDArray[np.floating]) -> float:
    """The share of the ten nearest that is named, asked from near rows of all over the space."""
    dice = np.random.default_rng(5)
    hit = 0
    for row in dice.integers(len(vectors), size=30):
        query = vectors[row] + dice.standard_normal(len(apart)).astype(np.float32) * apart
        hit += len(set(nearest(vectors, query, 10)) & set(rows_of(codes.near(query.tolist(), 20))))
    return hit / 300


@pytest.mark.parametrize("falls", [0.5, 1.0])
def test_dimensions_that_tell_little_are_no_louder_than_those_that_tell_much(falls: float) -> None:
    """As models spread what they tell: most of it lies in a few dimensions."""
    spread: Floats = np.power(np.arange(1, 257, dtype=np.float32), -falls)
    vectors = random_vectors(20_000, 256) * spread
    codes = Codes.of(ids_of(len(vectors)), vectors)
    assert found_of_ten(vectors, codes, apart=spread / 3) >= 0.98
    assert codes.share < 0.05, "by comparing many"


def test_that_all_lie_on_one_side_makes_signs_tell_no_less() -> None:
    """As a model's vectors do: what they have in common tells nothing of one."""
    spread: Floats = np.power(np.arange(1, 257, dtype=np.float32), -0.5)
    vectors = random_vectors(20_000, 256) * spread + spread * 3
    codes = Codes.of(ids_of(len(vectors)), vectors)
    assert found_of_ten(vectors, codes, apart=spread / 3) >= 0.98
    assert codes.share < 0.15, "by comparing many"


def test_where_signs_tell_little_more_rows_are_compared_by_their_values() -> None:
    """Whatever the dimensions tell, as many are compared as it takes for rows of that kind."""
    vectors = random_vectors(40_000, 64)
    codes = Codes.of(ids_of(len(vectors)), vectors)
    assert COMPARED_SHARE * 2 < codes.share < 1
    assert found_of_ten(vectors, codes, apart=np.float32(0.25) * np.ones(64, np.float32)) >= 0.95
    clustered = clustered_vectors(20_000, 256)
    assert Codes.of(ids_of(20_000), clustered).share < codes.share


def test_many_that_are_the_same_come_out_full() -> None:
    vectors = np.tile(random_vectors(1, 64), (9_000, 1))
    codes = Codes.of(ids_of(len(vectors)), vectors)
    assert len(set(codes.near(vectors[0].tolist(), 1_000))) == 1_000


@given(
    rows=st.lists(
        st.lists(st.integers(-5, 5), min_size=5, max_size=5), min_size=1, max_size=80
    ),
    asked=st.lists(st.integers(-5, 5), min_size=5, max_size=5),
    share=st.floats(0, 1.2),
)  # fmt: skip
@settings(deadline=None)
def test_whatever_the_rows_as_many_come_out_each_once(
    rows: list[list[int]], asked: list[int], share: float
) -> None:
    vectors, count = np.array(rows, np.float32), int(share * len(rows))
    codes = Codes.of(ids_of(len(rows)), vectors)
    named = rows_of(codes.near([float(one) for one in asked], count))
    assert len(named) == len(set(named)) == min(count, len(rows))
    assert set(named) <= set(range(len(rows)))
