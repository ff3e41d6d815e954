"""Vectors as short codes in memory: which of very many are near another, in a few milliseconds.

Every row has two codes. Its signs, a bit for each dimension about the rows' common centre, are
compared with the query's by counting bits that differ; the rows that differ least are then compared
by their values, rounded to 8 bits. Both are known practice (binary and scalar quantization, the
coarse code first), and so is turning the vectors before signs are taken (RaBitQ, Gao and Long
2024): models put most of what they tell into some dimensions, and a sign tells as much of a poor
one as of a rich one. Whoever asks compares what is named by its full vector.

Of 200,000 rows of 256 dimensions from a corpus harder than what people write (`tests/benchmarks/
scale.py`) .998 of the ten nearest and .989 of the forty nearest are named so in 2 to 3 ms. A graph
(pgvector's HNSW, m = 24) took 18 ms for .996 of the ten: it reads from all over memory, this from
one end to the other. Without the turn .87 are named of vectors whose dimensions' spread falls with
the root of their number, 1.0 with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ids = NDArray[np.bytes_]
"""Memories' ids, 16 bytes each."""

AT_ONCE = 8_192
COUNTED_AT_ONCE = 32_768
COMPARED_AT_ONCE = 512
"""Rows that are worked on together, while codes are made, by their signs and by their values: what
they take on the way stays in the processor's cache."""

COMPARED = 2_000
COMPARED_SHARE = 0.02
"""Rows compared by their values: so many, and at least this share of all. Of the forty nearest
among 200,000 .989 are left so, .984 by a thousand less."""

TRIED = 64
TRIED_AMONG = 8_000_000
TRIED_NEAREST = 10
NEEDED_FOR = 0.95
"""How large the share has to be is tried with some of the rows themselves, among rows of so many
dimensions together: so much of what is nearest to each has to be left. .016 in that corpus; of
vectors that point anywhere at random .2."""

SAMPLED = 16
"""One row of so many tells how the others differ."""

STRETCHED_TO = 1.5
"""How many times the rows the centre was taken of there may be before it is taken anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What signs are taken of: vectors about the centre of some rows, turned."""

    centre: Floats
    rows: int
    """How many it is the centre of."""

    @classmethod
    def around(cls, values: NDArray[np.int8], scales: Floats) -> Frame:
        """Return the frame around rows."""
        total = np.zeros(values.shape[1], np.float64)
        for at in range(0, len(values), AT_ONCE):
            total += (scales[at : at + AT_ONCE, None] * values[at : at + AT_ONCE]).sum(axis=0)
        return cls((total / max(1, len(values))).astype(np.float32), len(values))

    def bits(self, vectors: Floats) -> NDArray[np.uint64]:
        """Return the signs of vectors of length 1: words of 64, the last one's rest alike."""
        about = vectors - self.centre
        turn = _turn(len(self.centre))
        turned = np.vecdot(turn, about[0])[None] if len(about) == 1 else about @ turn.T
        return _packed(turned > 0)

    def signs(self, values: NDArray[np.int8], scales: Floats) -> tuple[NDArray[np.uint64], ...]:
        """Return the signs of rows, column by column."""
        words = [
            self.bits(values[at : at + AT_ONCE] * scales[at : at + AT_ONCE, None])
            for at in range(0, len(values), AT_ONCE)
        ]
        every = np.concatenate(words) if words else _packed(np.zeros((0, len(self.centre)), bool))
        return tuple(np.ascontiguousarray(every[:, place]) for place in range(every.shape[1]))


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """The codes of some memories; not changed once made, so that any thread may read them."""

    ids: Ids
    values: NDArray[np.int8]
    """A row's dimensions, at length 1, in units of its own `scales`."""
    scales: Floats
    signs: tuple[NDArray[np.uint64], ...]
    """64 dimensions each, of all rows."""
    frame: Frame
    share: float = COMPARED_SHARE
    """Of the rows, that are compared by their values."""

    @classmethod
    def of(cls, ids: Ids, vectors: NDArray[np.floating], *, beside: Codes | None = None) -> Codes:
        """Make the codes of rows; vectors that are all 0 have no direction.

        `beside` are the codes that they will join, whose frame serves.
        """
        values = np.empty(vectors.shape, np.int8)
        scales = np.empty(len(vectors), np.float32)
        for at in range(0, len(vectors), AT_ONCE):
            some = unit(vectors[at : at + AT_ONCE].astype(np.float32))
            scale = np.maximum(np.abs(some).max(axis=1, initial=0), np.float32(1e-30)) / 127
            values[at : at + AT_ONCE] = np.rint(some / scale[:, None])
            scales[at : at + AT_ONCE] = scale
        if beside is None:
            return cls._framed(ids, values, scales)
        signs = beside.frame.signs(values, scales)
        return cls(ids, values, scales, signs, beside.frame, beside.share)

    @classmethod
    def _framed(cls, ids: Ids, values: NDArray[np.int8], scales: Floats) -> Codes:
        frame = Frame.around(values, scales)
        codes = cls(ids, values, scales, frame.signs(values, scales), frame)
        return replace(codes, share=max(COMPARED_SHARE, codes._share_needed()))

    def _share_needed(self) -> float:
        """Try on some of the rows how many signs have to leave for most of the nearest to be left.

        Of a few thousand rows even the nearest are further away than of all: no share too small.
        """
        every = max(1, -(-len(self) * self.values.shape[1] // TRIED_AMONG))
        vectors = self.values[::every] * self.scales[::every, None]
        signs = np.stack([column[::every] for column in self.signs], axis=1)
        needed: list[float] = []
        for place in range(0, len(vectors), max(1, len(vectors) // TRIED)):
            scores = np.vecdot(vectors, vectors[place])
            scores[place] = -np.inf
            near = np.argpartition(-scores, min(TRIED_NEAREST, len(scores) - 1))[:TRIED_NEAREST]
            differing = np.bitwise_count(signs ^ signs[place]).sum(axis=1, dtype=np.uint16)
            upto = np.searchsorted(np.sort(differing), differing[near], side="right")
            needed += (upto / len(vectors)).tolist()
        return float(np.quantile(needed, NEEDED_FOR)) if needed else 0.0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def size_bytes(self) -> int:
        """Memory that they take."""
        arrays = (self.ids, self.values, self.scales, *self.signs)
        return sum(array.nbytes for array in arrays)

    def with_more(self, more: Codes) -> Codes:
        """Return these and more."""
        ids = np.concatenate([self.ids, more.ids])
        values = np.concatenate([self.values, more.values])
        scales = np.concatenate([self.scales, more.scales])
        if len(ids) > STRETCHED_TO * self.frame.rows:
            return self._framed(ids, values, scales)
        is_alike = more.frame is self.frame
        added = more.signs if is_alike else self.frame.signs(more.values, more.scales)
        pairs = zip(self.signs, added, strict=True)
        signs = tuple(np.concatenate(pair) for pair in pairs)
        return Codes(ids, values, scales, signs, self.frame, self.share)

    def only(self, kept: NDArray[np.bool_]) -> Codes:
        """Return those that are kept."""
        signs = tuple(column[kept] for column in self.signs)
        return Codes(
            self.ids[kept], self.values[kept], self.scales[kept], signs, self.frame, self.share
        )

    def near(self, vector: Sequence[float], count: int) -> list[str]:
        """Name the `count` nearest memories, as far as codes tell, by their ids in hexadecimal.

        In no order; all of them when there are no more.
        """
        if count >= len(self):
            return _hexadecimal(self.ids)
        asked = unit(np.asarray([vector], np.float32))
        differing = self._differing(self.frame.bits(asked)[0])
        compared = min(len(self), max(COMPARED + int(self.share * len(self)), 4 * count))
        places = np.flatnonzero(differing <= _upto(differing, compared))
        scores = self._scores(places, asked[0])
        best = places[np.argpartition(-scores, min(count, len(places)) - 1)[:count]]
        return _hexadecimal(self.ids[best])

    def _differing(self, bits: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Count the signs in which each row differs; in pieces that stay in the cache."""
        found = np.empty(len(self), np.uint16)
        words, counts = np.empty(COUNTED_AT_ONCE, np.uint64), np.empty(COUNTED_AT_ONCE, np.uint8)
        for at in range(0, len(self), COUNTED_AT_ONCE):
            some = found[at : at + COUNTED_AT_ONCE]
            word, count = words[: len(some)], counts[: len(some)]
            some[:] = 0
            for column, asked in zip(self.signs, bits, strict=True):
                np.bitwise_xor(column[at : at + COUNTED_AT_ONCE], asked, out=word)
                np.bitwise_count(word, out=count)
                some += count
        return found

    def _scores(self, places: NDArray[np.intp], asked: Floats) -> Floats:
        """Return how near some rows are, a few at a time: what is read once stays in the cache.

        Not as a product of matrices: its threads would spin beside the database's.
        """
        scores = np.empty(len(places), np.float32)
        for at in range(0, len(places), COMPARED_AT_ONCE):
            some = places[at : at + COMPARED_AT_ONCE]
            values = self.values[some].astype(np.float32)
            np.vecdot(values, asked, out=scores[at : at + COMPARED_AT_ONCE])
        scores *= self.scales[places]
        return scores


def _hexadecimal(ids: Ids) -> list[str]:
    digits = ids.tobytes().hex()
    return [digits[at : at + 32] for at in range(0, len(digits), 32)]


def _upto(differing: NDArray[np.uint16], count: int) -> int:
    """Return up to how many bits about `count` rows differ, judged by a sample of them."""
    if count >= len(differing):
        return int(differing.max())
    sample = differing[::SAMPLED]
    place = min(count // SAMPLED, len(sample) - 1)
    return int(np.partition(sample, place)[place])


def unit(vectors: Floats) -> Floats:
    """Return vectors at length 1; one that is all 0 stays as it is."""
    lengths: Floats = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    lengths[lengths == 0] = 1
    found: Floats = vectors / lengths
    return found


@lru_cache(maxsize=2)
def _turn(dimensions: int) -> Floats:
    """Return a rotation to a random position, the same in every process; a row for each axis."""
    chance = np.random.default_rng(dimensions)
    turn = np.linalg.qr(chance.standard_normal((dimensions, dimensions)))[0]
    return np.ascontiguousarray(turn, np.float32)


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Put bits into words of 64; the last word's rest is the same for all."""
    rest = -bits.shape[1] % 64
    whole = np.pad(bits, ((0, 0), (0, rest))) if rest else bits
    return np.packbits(whole, axis=1).view(np.uint64)
