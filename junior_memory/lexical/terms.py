"""Text → terms: the one analysis behind what is indexed, what is asked for and what is highlighted.

A word is a term as it stands (folded) and as its stems; an exact token (id, path, version, error
code, address, hashtag) is a term whole, beside its parts; a run of a script without spaces is a term
for every character and every pair of neighbours, across script changes; an emoji sequence is a term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from junior_memory.lexical import languages
from junior_memory.lexical.folding import GRAM_CLASS, UNSPACED, fold, lower
from junior_memory.lexical.tokens import (
    SHORT_SYMBOL,
    Kind,
    Token,
    camel_parts,
    emoji_parts,
    is_code_like,
    is_compound_of_words,
    symbols_in,
    tokens,
)

GRAM_MARK = "¦"
"""Starts the terms made of characters, so that the pair `in` is not the word `in`."""

MAX_TERMS = 12_000
"""Terms of one row: 4,000 characters of Chinese make under 8,000."""

MAX_UNITS = 32
"""Things one query asks for; of a longer text the rarest-looking ones."""

MAX_TERM_LENGTH = 200
"""Characters of one term; PostgreSQL allows 2,046 bytes."""

SHORT_TEXT_WORDS = 16
"""Below this many words a text whose language nothing tells is stemmed in every likely one."""

_WHOLE_RUN = {True: 12, False: 6}
"""Characters of a run that are asked for together: Thai and its like spell words longer."""

_POSSESSIVE = re.compile(r"'s?$")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu|dell|nell|sull|all|dall|un)'(?=\w{2})")
_SEGMENT = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\u3005-\u3007]+"
    "|[\u30a0-\u30ff\u31f0-\u31ff]+|[\u3040-\u309f]+"
    "|[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+"
    f"|[{GRAM_CLASS}]+"
    f"|[^{GRAM_CLASS}]+"
)
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_LONG_SPELLED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_CJK_PARTICLES = frozenset("的了吗呢吧是在和也都很")


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing a query asks for.

    A row holds it when it holds every term of any one of `any_of`. `parts` are asked for instead
    when no row holds the whole.
    """

    surface: str
    any_of: tuple[tuple[str, ...], ...]
    parts: tuple[Unit, ...] = ()
    start: int = 0

    def tsquery(self) -> str:
        """Spell the unit in PostgreSQL's tsquery notation."""
        return " | ".join(
            "(" + " & ".join(quote_lexeme(term) for term in terms) + ")"
            for terms in self.any_of
        )


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query, analysed: what is asked for by words, and the chunks to look for by characters."""

    units: tuple[Unit, ...]
    chunks: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        """True for up to three characters, where words say little."""
        return sum(map(len, self.chunks)) <= 3

    @property
    def has_characters(self) -> bool:
        """True when some chunk is in a script without spaces."""
        return any(UNSPACED.search(chunk) for chunk in self.chunks)


def quote_lexeme(term: str) -> str:
    """Return a term as a quoted lexeme; nothing in it acts."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def index_terms(content: str) -> list[str]:
    """Return the distinct terms of a memory, sorted; at most MAX_TERMS of MAX_TERM_LENGTH."""
    found = list(tokens(content))
    latin = _latin_languages(content, found)
    terms: set[str] = set()
    for token in found:
        terms |= _index_terms_of(token, latin)
    return sorted(term for term in terms if 0 < len(term) <= MAX_TERM_LENGTH)[
        :MAX_TERMS
    ]


def query_terms(query: str) -> QueryTerms:
    """Analyse a query; function words ask for nothing."""
    found = sorted(tokens(query), key=lambda token: (token.start, -token.end))
    guessed = _guess(query, found, confident=True)
    latin = languages.stem_languages(guessed, short=True)
    spoken = guessed or ("english",)
    units = _distinct(_units(found, latin, spoken))
    if not units:
        # "war" and "die" are words in English, whatever they are elsewhere.
        units = _distinct(_units(found, latin, ("english",)))
    chunks = tuple(dict.fromkeys(chunk for chunk in fold(query).split() if chunk))
    return QueryTerms(units=_bounded(units), chunks=chunks)


def token_terms(token: Token, latin: Sequence[str]) -> set[str]:
    """Return every term that one token puts into the index."""
    return _index_terms_of(token, latin)


def language_of(content: str) -> str:
    """Return the likeliest language of a text in Latin script, or nothing."""
    guessed = _guess(content, list(tokens(content)), confident=False)
    return _CODES.get(guessed[0], "") if guessed else ""


_CODES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "swedish": "sv",
    "danish": "da",
    "norwegian": "no",
    "finnish": "fi",
    "polish": "pl",
    "turkish": "tr",
    "romanian": "ro",
    "hungarian": "hu",
}


def latin_languages(content: str) -> tuple[str, ...]:
    """Return the languages whose stems a memory is indexed under."""
    return _latin_languages(content, list(tokens(content)))


def _words(found: Iterable[Token]) -> Iterator[Token]:
    for token in found:
        if token.kind is Kind.WORD:
            yield token
        yield from token.inside


def _guess(text: str, found: Sequence[Token], *, confident: bool) -> tuple[str, ...]:
    words = [_bare(token.folded) for token in _words(found)]
    return languages.guess_latin(lower(text), words, least=2 if confident else 1)


def _latin_languages(text: str, found: Sequence[Token]) -> tuple[str, ...]:
    guessed = _guess(text, found, confident=False)
    return languages.stem_languages(guessed, short=len(found) <= SHORT_TEXT_WORDS)


def _bare(word: str) -> str:
    """Drop the possessive, the elided article and inner apostrophes of a folded or lower word."""
    plain = word.replace("’", "'").replace("ʼ", "'")
    if "'" not in plain:
        return plain
    return _ELISION.sub("", _POSSESSIVE.sub("", plain)).replace("'", "")


def _word_terms(token: Token, latin: Sequence[str]) -> set[str]:
    folded = _bare(token.folded)
    return {folded} | languages.stems(_bare(token.lowered), latin) if folded else set()


def _index_terms_of(token: Token, latin: Sequence[str]) -> set[str]:
    match token.kind:
        case Kind.EMOJI:
            return {token.folded} | emoji_parts(token.folded)
        case Kind.RUN:
            return set(_grams(token.folded)) | _whole_words(token.folded, latin)
        case Kind.WORD:
            return _word_terms(token, latin) | _camel_terms(token, latin)
        case Kind.EXACT:
            terms = _exact_forms(token) | _exact_parts(token)
            if not SHORT_SYMBOL.fullmatch(token.folded):
                for word in token.inside:
                    terms |= _index_terms_of(word, latin)
            return terms
    return set()


def _camel_terms(token: Token, latin: Sequence[str]) -> set[str]:
    terms: set[str] = set()
    for part in camel_parts(token.surface):
        terms |= {fold(part)} | languages.stems(lower(part), latin)
    return terms


def _exact_forms(token: Token) -> set[str]:
    """The spellings that count as the same token: scheme, `www.`, a closing slash, a leading v."""
    forms = {token.folded}
    bare = re.sub(r"^[a-z][a-z0-9+.-]*://", "", token.folded)
    bare = re.sub(r"^www\.", "", bare).rstrip("/") if bare != "/" else bare
    forms.add(bare)
    if re.match(r"v\d", bare):
        forms.add(bare[1:])
    if is_compound_of_words(token) and "-" in bare:
        forms.add(bare.replace("-", ""))
    return {form for form in forms if form}


def _exact_parts(token: Token) -> set[str]:
    """What else an exact token is found by: folders, hosts, names of files, keys and values."""
    bare = re.sub(r"^(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?", "", token.folded)
    parts = symbols_in(token.surface)
    pieces = re.split(r"[/\\]", bare)
    for count in range(1, min(len(pieces), 12)):
        parts.add("/".join(pieces[: count + 1]))
    for piece in (*re.split(r"[/\\@=&?#:]", bare), *pieces):
        if is_code_like(piece) or SHORT_SYMBOL.fullmatch(piece):
            parts.add(piece)
            parts.add(piece.strip(".-_~+"))
    return {part for part in parts if part}


def _grams(run: str) -> Iterator[str]:
    """Every character of a script without spaces, and every pair of neighbours, as terms."""
    for place, character in enumerate(run):
        if re.match(f"[{GRAM_CLASS}]", character):
            yield GRAM_MARK + character
        if place + 1 < len(run):
            yield GRAM_MARK + run[place : place + 2]


def _whole_words(run: str, latin: Sequence[str]) -> set[str]:
    """Words that stand between characters (`GitHub` in a Chinese sentence), and Korean words."""
    terms: set[str] = set()
    for segment in _SEGMENT.findall(run):
        if re.match("[\uac00-\ud7a3]", segment):
            terms |= {segment} | languages.stems(segment, latin)
        elif not re.match(f"[{GRAM_CLASS}]", segment) and len(segment) > 1:
            terms |= {segment} | languages.stems(segment, latin)
    return terms


def _units(
    found: Iterable[Token], latin: Sequence[str], spoken: Sequence[str]
) -> Iterator[Unit]:
    for token in found:
        match token.kind:
            case Kind.EMOJI:
                parts = sorted(emoji_parts(token.folded) - {token.folded})
                yield Unit(
                    token.surface,
                    ((token.folded,),),
                    tuple(Unit(part, ((part,),)) for part in parts),
                )
            case Kind.RUN:
                yield from _run_units(token, latin)
            case Kind.WORD:
                yield from _word_units(token, latin, spoken)
            case Kind.EXACT:
                inner = tuple(
                    unit
                    for word in token.inside
                    for unit in _word_units(word, latin, spoken)
                    if len(word.folded) > 1 or is_compound_of_words(token)
                )
                whole = tuple((form,) for form in sorted(_exact_forms(token)))
                if is_compound_of_words(token):
                    yield from inner
                    yield Unit(token.surface, whole)
                else:
                    parts = () if SHORT_SYMBOL.fullmatch(token.folded) else inner
                    yield Unit(token.surface, whole, parts)


def _word_units(
    token: Token, latin: Sequence[str], spoken: Sequence[str]
) -> Iterator[Unit]:
    folded = _bare(token.folded)
    if not folded or languages.is_function_word(folded, spoken):
        return
    parts = tuple(
        Unit(
            part,
            tuple(
                (term,)
                for term in sorted({fold(part)} | languages.stems(lower(part), latin))
            ),
        )
        for part in camel_parts(token.surface)
    )
    yield Unit(
        token.surface,
        tuple((term,) for term in sorted(_word_terms(token, latin))),
        parts,
    )


def _run_units(token: Token, latin: Sequence[str]) -> Iterator[Unit]:
    """A short run is asked for whole; a long one by its segments, those by their pairs."""
    run = token.folded
    if len(run) <= _WHOLE_RUN[_LONG_SPELLED.search(run) is not None]:
        yield _whole_run(run, latin, parts=tuple(_segment_units(run, latin)))
        return
    yield from _segment_units(run, latin)


def _whole_run(run: str, latin: Sequence[str], *, parts: tuple[Unit, ...] = ()) -> Unit:
    grams = tuple(
        dict.fromkeys(gram for gram in _grams(run) if len(gram) > 2)
    ) or tuple(_grams(run))
    any_of = [grams]
    any_of += (
        [(term,) for term in sorted(languages.stems(run, latin))]
        if _is_korean(run)
        else []
    )
    return Unit(run, tuple(any_of), parts, characters=True)


def _is_korean(run: str) -> bool:
    return re.fullmatch("[\uac00-\ud7a3]{2,}", run) is not None


def _segment_units(run: str, latin: Sequence[str]) -> Iterator[Unit]:
    for segment in _SEGMENT.findall(run):
        if not re.match(f"[{GRAM_CLASS}]", segment):
            if len(segment) > 1:
                terms = sorted({segment} | languages.stems(segment, latin))
                yield Unit(segment, tuple((term,) for term in terms))
        elif len(segment) == 1:
            if segment != run and (
                _HIRAGANA.match(segment) or segment in _CJK_PARTICLES
            ):
                continue
            yield Unit(segment, ((GRAM_MARK + segment,),), characters=True)
        else:
            for place in range(len(segment) - 1):
                pair = segment[place : place + 2]
                if _HIRAGANA.fullmatch(pair) and len(run) > 2:
                    continue
                yield Unit(pair, ((GRAM_MARK + pair,),), characters=True)


def _distinct(units: Iterable[Unit]) -> tuple[Unit, ...]:
    return tuple({unit.any_of: unit for unit in reversed(list(units))}.values())[::-1]


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
