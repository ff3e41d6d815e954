"""Query → what is asked for: units to find by terms, chunks to find by characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from junior_memory.lexical import languages
from junior_memory.lexical.folding import GRAM, GRAM_CLASS, fold, lower
from junior_memory.lexical.terms import (
    GRAM_MARK,
    SEGMENT,
    exact_forms,
    grams,
    guess_languages,
    word_terms,
)
from junior_memory.lexical.tokens import (
    SHORT_SYMBOL,
    Kind,
    Token,
    camel_parts,
    emoji_parts,
    is_code_like,
    is_compound_of_words,
    tokens,
)

MAX_UNITS = 32
"""Things one query asks for; of a longer text the rarest-looking ones."""

SHORT_CHARACTERS = 3
"""Up to this many characters a query is also looked for inside words."""

_WHOLE_RUN = 6
_WHOLE_SPELLED_RUN = 12
"""Characters of a run that are asked for together; Thai and its like spell words longer."""

_CHUNK = re.compile(r"\S+")
_EDGES = re.compile(
    r"^[\"'“”‘’«»(\[{<,;:!?¿¡。、「」（）]+|[\"'“”‘’«»)\]}>,;:!?.…。、「」（）！？]+$"
)
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_LONG_SPELLED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_HANGUL_WORD = re.compile("[\uac00-\ud7a3]{2,}")
_LONE_PARTICLES = frozenset("的了吗呢吧是在和也都很")
_FRAME = re.compile(
    r"\b(?:what|which)\s+(kinds?|types?|sorts?)\s+of\b|\bhow\s+(many|much|long|often|far)\b",
    re.IGNORECASE,
)
"""Words that shape an English question and say nothing about its topic."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing a query asks for.

    A row holds it when it holds every term of any one of `any_of`. `parts` are asked for instead
    when no row holds the whole.
    """

    surface: str
    any_of: tuple[tuple[str, ...], ...]
    parts: tuple[Unit, ...] = ()

    def tsquery(self) -> str:
        """Spell the unit in PostgreSQL's tsquery notation."""
        return " | ".join("(" + " & ".join(map(quote_lexeme, terms)) + ")" for terms in self.any_of)

    def is_in(self, terms: set[str]) -> bool:
        """True when a row with these terms holds the unit."""
        return any(terms.issuperset(wanted) for wanted in self.any_of)


@dataclass(frozen=True, slots=True)
class Chunk:
    """What stands between two spaces of a query, without the punctuation around it."""

    text: str
    units: tuple[Unit, ...]

    @property
    def has_characters(self) -> bool:
        """True when some of it is in a script that is found by characters."""
        return GRAM.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query, analysed."""

    units: tuple[Unit, ...]
    chunks: tuple[Chunk, ...]
    names: frozenset[Unit] = frozenset()
    """Units that an English text spells with a capital inside a sentence."""

    @property
    def is_short(self) -> bool:
        """True when words say little: the query is looked for inside words as well."""
        return sum(len(chunk.text) for chunk in self.chunks) <= SHORT_CHARACTERS


def quote_lexeme(term: str) -> str:
    """Return a term as a quoted lexeme; nothing in it acts."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def query_terms(query: str) -> QueryTerms:
    """Analyse a query. Function words ask for nothing, also when there is nothing else."""
    found = sorted(tokens(query), key=lambda token: (token.start, -token.end))
    guessed = guess_languages(query, found, least=2)
    latin = languages.stem_languages(guessed, short=True)
    frame = {
        place
        for match in _FRAME.finditer(query)
        for group, word in enumerate(match.groups(), start=1)
        if word
        for place in range(match.start(group), match.end(group))
    }
    spoken = guessed or ("english",)
    by_token = {
        token: tuple(_units(token, latin, spoken)) for token in found if token.start not in frame
    }
    if not any(by_token.values()):
        # "war" and "die" are words in English, whatever they are elsewhere; so is "kind".
        by_token = {token: tuple(_units(token, latin, ("english",))) for token in found}
    units = _bounded(_distinct(unit for units in by_token.values() for unit in units))
    names = frozenset(
        unit
        for token, asked in by_token.items()
        for unit in asked
        if guessed[:1] == ("english",) and _is_name(query, token)
    )
    return QueryTerms(units=units, chunks=tuple(_chunks(query, by_token)), names=names)


def _is_name(query: str, token: Token) -> bool:
    """True for a capital that no sentence's start explains."""
    before = query[: token.start].rstrip(" \t\n\"'“‘(")
    return token.surface[:1].isupper() and before[-1:] not in {"", ".", "!", "?", "…", ":", "•"}


def _chunks(query: str, by_token: dict[Token, tuple[Unit, ...]]) -> Iterator[Chunk]:
    seen: set[str] = set()
    for match in _CHUNK.finditer(query):
        text = _EDGES.sub("", match[0]) or match[0]
        folded = fold(text)
        if not folded or folded in seen:
            continue
        seen.add(folded)
        inside = (
            unit
            for token, units in by_token.items()
            if match.start() <= token.start < match.end()
            for unit in units
        )
        yield Chunk(text, tuple(inside))


def _units(token: Token, latin: Sequence[str], spoken: Sequence[str]) -> Iterator[Unit]:
    match token.kind:
        case Kind.EMOJI:
            shapes = sorted(emoji_parts(token.folded) - {token.folded})
            parts = tuple(Unit(shape, ((shape,),)) for shape in shapes)
            yield Unit(token.surface, ((token.folded,),), parts)
        case Kind.RUN:
            yield from _run_units(token, latin)
        case Kind.WORD:
            yield from _word_units(token, latin, spoken)
        case Kind.EXACT:
            yield from _exact_units(token, latin, spoken)


def _exact_units(token: Token, latin: Sequence[str], spoken: Sequence[str]) -> Iterator[Unit]:
    """An exact token is asked for whole, its words if nobody has it; `self-care` both ways."""
    words = is_compound_of_words(token)
    inside = tuple(
        unit
        for word in token.inside
        if words or len(word.folded) > 1
        for unit in _word_units(word, latin, spoken)
    )
    whole = tuple((form,) for form in sorted(exact_forms(token)))
    if words:
        yield from inside
        yield Unit(token.surface, whole)
    else:
        yield Unit(token.surface, whole, () if SHORT_SYMBOL.fullmatch(token.folded) else inside)


def _word_units(token: Token, latin: Sequence[str], spoken: Sequence[str]) -> Iterator[Unit]:
    terms = word_terms(token, latin)
    if not terms or languages.is_function_word(fold(token.surface), spoken):
        return
    parts = tuple(_plain_unit(part, latin) for part in camel_parts(token.surface))
    yield Unit(token.surface, tuple((term,) for term in sorted(terms)), parts)


def _plain_unit(word: str, latin: Sequence[str]) -> Unit:
    terms = {fold(word)} | languages.stems(lower(word), latin)
    return Unit(word, tuple((term,) for term in sorted(terms)))


def _run_units(token: Token, latin: Sequence[str]) -> Iterator[Unit]:
    """A short run is asked for whole; a long one by its segments, those by their pairs."""
    run = token.folded
    limit = _WHOLE_SPELLED_RUN if _LONG_SPELLED.search(run) else _WHOLE_RUN
    if len(run) > limit:
        yield from _segment_units(run, latin)
        return
    every = tuple(dict.fromkeys(grams(run)))
    pairs = tuple(gram for gram in every if len(gram) > len(GRAM_MARK) + 1)
    stems = languages.stems(run, latin) if _HANGUL_WORD.fullmatch(run) else set()
    any_of = (pairs or every, *((stem,) for stem in sorted(stems)))
    yield Unit(token.surface, any_of, tuple(_segment_units(run, latin)))


def _segment_units(run: str, latin: Sequence[str]) -> Iterator[Unit]:
    for segment in SEGMENT.findall(run):
        if not re.match(f"[{GRAM_CLASS}]", segment):
            if len(segment) > 1:
                yield _plain_unit(segment, latin)
        elif len(segment) == 1:
            if len(run) == 1 or not (_HIRAGANA.match(segment) or segment in _LONE_PARTICLES):
                yield Unit(segment, ((GRAM_MARK + segment,),))
        else:
            for place in range(len(segment) - 1):
                pair = segment[place : place + 2]
                if len(run) <= len(pair) or not _HIRAGANA.fullmatch(pair):
                    yield Unit(pair, ((GRAM_MARK + pair,),))


def _distinct(units: Iterable[Unit]) -> tuple[Unit, ...]:
    first: dict[tuple[tuple[str, ...], ...], Unit] = {}
    for unit in units:
        first.setdefault(unit.any_of, unit)
    return tuple(first.values())


def _bounded(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Keep the units that look rarest: exact tokens, then names, then long words."""
    if len(units) <= MAX_UNITS:
        return units
    places = sorted(
        range(len(units)),
        key=lambda place: (
            not is_code_like(units[place].surface),
            not units[place].surface[:1].isupper(),
            -len(units[place].surface),
        ),
    )
    return tuple(units[place] for place in sorted(places[:MAX_UNITS]))
