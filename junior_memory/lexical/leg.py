"""The full-text leg: which rows hold what a query asks for, ranked by idf coverage.

Own and organization rows are ranked exactly, all of them. Over a large public set a row must hold
one of the query's rarer terms. Never a window of the newest matches.

Coverage is the share of the query's idf mass that a row holds, idf counted over what the viewer may
see. Beside it stands a list by characters: for short queries, scripts without spaces, and chunks
that no row holds as a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from uuid import UUID

from junior_memory.lexical import census
from junior_memory.lexical.census import COMMON_AT, LARGE_AT, Counted, Scored, any_of, holds
from junior_memory.lexical.folding import fold
from junior_memory.lexical.queries import Chunk, QueryTerms, Unit, quote_lexeme
from junior_memory.parts import FALSE, Fragment, Part, fetch_all, fetch_prepared
from junior_memory.ranking import SCORE_DIGITS

RARE_ROWS = 3_000
"""Public rows that the chosen rarer terms may select together."""

MAX_PAIRED = 6
"""Common units of which a row must hold two, when a query has no rarer one."""

BACKGROUND_ROWS = 100
"""Rows added to everybody's count, so that a word is no less telling to who has few memories."""

NEEDED_UNITS = 3
"""The evidence that a long text can ask for: that many words that nobody has."""

NAME_WEIGHT = 2
"""A name that no row holds speaks against every row, this many words' worth."""

MAX_LOOKED_FOR = 8
"""Chunks that one query looks for by characters."""

# The folding of both sides is the database's own: case, accents and width aside. Plain ASCII has
# neither accents nor width, and is told by its length; the whole way costs twenty times as much.
_FOLDED = "unaccent(lower(normalize({}, NFKC)))"
_FOLDED_CONTENT = (
    "CASE WHEN octet_length(content) = char_length(content)"
    f""" THEN lower(content COLLATE "C") ELSE {_FOLDED.format("content")} END"""
)


def _contains(text: str) -> Fragment:
    """Whether the content contains a text; no character of it is a wildcard."""
    wanted = _FOLDED.format("%s::text")
    return Fragment(f"strpos({_FOLDED_CONTENT}, {wanted}) > 0", (text,))


@dataclass(frozen=True, slots=True)
class Text:
    """One row of the fused top; `holds` says which of the plan's units it holds."""

    id: UUID
    content: str
    visibility: str
    holds: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A query against what one viewer may see: what is asked for, and how rare each of it is."""

    weights: tuple[tuple[Unit, float], ...]
    mass: float
    needed: float
    rarer: tuple[Unit, ...]
    looked_for: tuple[Chunk, ...]
    shared_is_large: bool
    holders: frozenset[str]
    """The parts in which some row holds one of the units."""
    counted: Mapping[str, Counted]
    bit_of: Mapping[Unit, int]
    asked: tuple[tuple[Unit, float], ...] = ()
    """Everything asked for with its idf, held by some row or by none."""

    @property
    def units(self) -> tuple[Unit, ...]:
        """What rows may hold."""
        return tuple(unit for unit, _ in self.weights)

    @property
    def finds_nothing(self) -> bool:
        """True when the query asks for nothing that a row could hold."""
        return not self.weights and not self.looked_for

    def strength(self, coverage: float) -> float:
        """Return how well a row fits, 0-1, comparable between queries of any length.

        Coverage of at most NEEDED_UNITS unheard-of words, and less when the query names somebody
        whom no row names.
        """
        return min(1.0, coverage * self.mass / self.needed)

    def matching(self, part: Part) -> Fragment:
        """Rows found by words or characters: what `total` and the filters count."""
        found = [self._has_chunk(chunk, part) for chunk in self.looked_for]
        if self.weights and part.name in self.holders:
            found.append(holds(any_of(self.units)))
        if not found:
            return FALSE
        either = Fragment.join(" OR ", found)
        return Fragment(f"({either.sql})", either.values)

    def rank_words(self, parts: Sequence[Part], *, size: int) -> list[Scored]:
        """Return the rows with the most coverage, 0-1, of each part."""
        if not self.weights:
            return []
        scores = [(holds(unit.tsquery()), weight / self.mass) for unit, weight in self.weights]
        known: list[Scored] = []
        asked = []
        for part in parts:
            required = self._required(part)
            counted = self.counted[part.name]
            bits = self._bits_of(required)
            if bits is not None and counted.covers(part, bits, depth=size):
                known += self._rank_counted(counted, bits, size)
            elif part.name in self.holders and required:
                asked.append(part.having(holds(any_of(required))))
        return best([*known, *_top(asked, lambda _: scores, size=size)], size)

    def _bits_of(self, units: Sequence[Unit]) -> int | None:
        """Return the bits of units as they were counted; None when one was not, being a pair."""
        if not all(unit in self.bit_of for unit in units):
            return None
        return sum(1 << self.bit_of[unit] for unit in units)

    def _rank_counted(self, counted: Counted, required: int, size: int) -> list[Scored]:
        """Rank rows by what they were seen to hold when they were counted."""
        by_score: dict[float, list[tuple[UUID, str, float]]] = {}
        for bits, combination in (counted.combinations or {}).items():
            if bits & required:
                by_score.setdefault(self._score(bits), []).extend(combination.latest)
        found: list[Scored] = []
        for score in sorted(by_score, reverse=True):
            latest = sorted(by_score[score], key=lambda row: (-row[2], row[0]))
            found += [
                Scored(row, score, visibility, datetime.fromtimestamp(at, UTC), counted.part.name)
                for row, visibility, at in latest[:size]
            ]
            if len(found) >= size:
                break
        return found

    def _score(self, bits: int) -> float:
        held = (weight for unit, weight in self.weights if bits >> self.bit_of[unit] & 1)
        return round(sum(held) / self.mass, SCORE_DIGITS)

    def count_known(self, part: Part) -> int | None:
        """Return how many rows of a part match, when counting has told already."""
        counted = self.counted[part.name]
        matching = self._bits_of(self.units) or 0
        if self.looked_for or not counted.covers(part, matching, depth=0):
            return None
        every = (counted.combinations or {}).items()
        return sum(each.count for bits, each in every if bits & matching)

    def rank_characters(self, parts: Sequence[Part], *, size: int) -> list[Scored]:
        """Return the rows that contain most of the looked-for characters, 0-1, of each part."""
        if not self.looked_for:
            return []
        length = sum(len(chunk.text) for chunk in self.looked_for)

        def scores(part: Part) -> list[tuple[Fragment, float]]:
            return [
                (self._has_chunk(chunk, part), len(chunk.text) / length)
                for chunk in self.looked_for
            ]

        asked = []
        for part in parts:
            either = Fragment.join(" OR ", [condition for condition, _ in scores(part)])
            asked.append(part.having(Fragment(f"({either.sql})", either.values)))
        return best(_top(asked, scores, size=size), size)

    def read_texts(self, top: Part) -> list[Text]:
        """Read rows once more, with which of `units` each of them holds."""
        held = [holds(unit.tsquery()) for unit in self.units]
        wanted = Fragment.join(", ", [Fragment("id, content, visibility"), *held])
        return [
            Text(row[0], row[1], row[2], tuple(row[3:]))
            for row in fetch_prepared(top.select(wanted))
        ]

    def _required(self, part: Part) -> tuple[Unit, ...]:
        """The units of which a row must hold one to be ranked."""
        return self.rarer if part.is_shared and self.shared_is_large else self.units

    def _has_chunk(self, chunk: Chunk, part: Part) -> Fragment:
        if part.is_shared and self.shared_is_large:
            # No scan over a large set: words so begun, and the chunk's own units, by the index.
            begun = quote_lexeme(fold(chunk.text)) + ":*"
            return holds(" | ".join([begun, *(unit.tsquery() for unit in chunk.units)]))
        return _contains(chunk.text)


def _top(
    parts: Sequence[Part],
    scores: Callable[[Part], Sequence[tuple[Fragment, float]]],
    *,
    size: int,
) -> list[Scored]:
    """Return the best `size` rows of each part; on ties the newest observed. One statement."""
    tail = Fragment("ORDER BY score DESC, observed_at DESC, id LIMIT %s", (size,))
    statements = []
    for part in parts:
        score = Fragment.join(
            " + ",
            [
                Fragment(
                    f"CASE WHEN {condition.sql} THEN %s::float8 ELSE 0 END",
                    (*condition.values, weight),
                )
                for condition, weight in scores(part)
            ],
        )
        wanted = Fragment(
            f"id, {score.sql} AS score, visibility, observed_at, '{part.name}'", score.values
        )
        statements.append(part.select(wanted, tail))
    return [Scored(*row) for row in fetch_all(statements)]


def best(rows: Sequence[Scored], size: int) -> list[Scored]:
    """Return the best rows; on equal scores private ones first, then the newest observed."""

    def key(row: Scored) -> tuple[float, bool, float, UUID]:
        is_private = row.visibility in {"private", "session"}
        score = round(row.score, SCORE_DIGITS)
        return (-score, not is_private, -row.observed_at.timestamp(), row.id)

    return sorted(rows, key=key)[:size]


def make_plan(
    query: QueryTerms, parts: Sequence[Part], *, by_characters: bool, depth: int = 0
) -> Plan:
    """Count how many of the viewer's rows hold each thing asked for, and weigh it by that.

    One statement: exact over own and organization rows, up to COMMON_AT over public ones. `depth`
    is the length of the lists that will be asked for.
    """
    units = _with_parts(query.units)
    counted = census.take(parts, units, depth=depth)
    visible = sum(each.size for each in counted.values())
    rows_holding = {
        unit: sum(each.held[place] for each in counted.values()) for place, unit in enumerate(units)
    }
    weights: dict[Unit, float] = {}
    asked: dict[Unit, float] = {}
    mass = 0.0
    unheard = _idf(0, visible)
    unheard_names = 0
    for unit in query.units:
        for wanted in _standing_for(unit, rows_holding):
            count = rows_holding[wanted]
            mass += _idf(count, visible)
            asked[wanted] = _idf(count, visible)
            if count:
                weights[wanted] = _idf(count, visible)
            elif unit in query.names:
                unheard_names += 1
    shared = counted.get("public")
    shared_held = shared.held if shared else [0] * len(units)
    return Plan(
        weights=tuple(weights.items()),
        mass=mass or 1.0,
        needed=(min(mass, NEEDED_UNITS * unheard) + NAME_WEIGHT * unheard_names * unheard) or 1.0,
        rarer=_rarer(list(weights), dict(zip(units, shared_held, strict=True))),
        looked_for=_looked_for(query, rows_holding) if by_characters else (),
        shared_is_large=shared is not None and shared.size >= LARGE_AT,
        holders=frozenset(name for name, each in counted.items() if any(each.held)),
        counted=counted,
        bit_of={unit: place for place, unit in enumerate(units)},
        asked=tuple(asked.items()),
    )


def _idf(count: int, visible: int) -> float:
    return math.log((visible + BACKGROUND_ROWS + 1) / (count + 0.5))


def _with_parts(units: Sequence[Unit]) -> list[Unit]:
    return list(dict.fromkeys(each for unit in units for each in (unit, *unit.parts)))


def _standing_for(unit: Unit, rows_holding: dict[Unit, int]) -> tuple[Unit, ...]:
    """The unit itself, or its parts when no row holds the whole and some row holds a part."""
    if rows_holding[unit] or not any(rows_holding[part] for part in unit.parts):
        return (unit,)
    return unit.parts


def _looked_for(query: QueryTerms, rows_holding: dict[Unit, int]) -> tuple[Chunk, ...]:
    """Chunks to find by characters, besides or instead of words."""

    def is_unheard(chunk: Chunk) -> bool:
        if not chunk.units:
            return not query.units
        return not any(rows_holding.get(unit) for unit in chunk.units)

    chosen = [
        chunk
        for chunk in query.chunks
        if query.is_short or chunk.has_characters or is_unheard(chunk)
    ]
    return tuple(chosen[:MAX_LOOKED_FOR])


def _rarer(units: Sequence[Unit], held: dict[Unit, int]) -> tuple[Unit, ...]:
    """What selects few public rows: the rarer units; when all are common, one and every pair."""
    asked = sorted((unit for unit in units if held[unit]), key=lambda unit: held[unit])
    chosen: list[Unit] = []
    selected = 0
    for unit in asked:
        selected += held[unit]
        if held[unit] >= COMMON_AT or (chosen and selected > RARE_ROWS):
            break
        chosen.append(unit)
    if chosen:
        return tuple(chosen)
    pairs = combinations(asked[:MAX_PAIRED], 2)
    return (*asked[:1], *(_both(first, second) for first, second in pairs))


def _both(first: Unit, second: Unit) -> Unit:
    """Return what a row holds when it holds both."""
    return Unit(
        f"{first.surface} {second.surface}",
        tuple((*one, *other) for one in first.any_of for other in second.any_of),
    )
