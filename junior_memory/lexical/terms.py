"""Text → terms: the one analysis behind what is indexed, what is asked for and what is highlighted.

A word is a term as it stands (folded) and as its stems; an exact token (id, path, version, error
code, address, hashtag) is a term whole, beside its parts; a run of a script without spaces is a
term for every character and every pair of neighbours, across script changes; an emoji sequence is
a term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from junior_memory.lexical import languages
from junior_memory.lexical.folding import GRAM_CLASS, fold, lower
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

MAX_TERM_LENGTH = 200
"""Characters of one term; PostgreSQL allows 2,046 bytes."""

MAX_FOLDERS = 12
"""Leading folders of a path that are terms of their own."""

SHORT_TEXT_WORDS = 16
"""Below this many words a text whose language nothing tells is stemmed in every likely one."""

SEGMENT = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\u3005-\u3007]+"
    "|[\u30a0-\u30ff\u31f0-\u31ff]+|[\u3040-\u309f]+"
    "|[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]+"
    f"|[{GRAM_CLASS}]+"
    f"|[^{GRAM_CLASS}]+"
)
"""The stretches of one script inside a run without spaces."""

_POSSESSIVE = re.compile(r"'s?$")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu|dell|nell|sull|all|dall|un)'(?=\w{2})")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://")
_GRAM_CHARACTER = re.compile(f"[{GRAM_CLASS}]")
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


def index_terms(content: str) -> list[str]:
    """Return the distinct terms of a memory, sorted; at most MAX_TERMS of MAX_TERM_LENGTH."""
    found = list(tokens(content))
    latin = stem_languages(content, found)
    terms: set[str] = set()
    for token in found:
        terms |= token_terms(token, latin)
    return sorted(term for term in terms if 0 < len(term) <= MAX_TERM_LENGTH)[:MAX_TERMS]


def token_terms(token: Token, latin: Sequence[str]) -> set[str]:
    """Return every term that one token puts into the index."""
    match token.kind:
        case Kind.EMOJI:
            return {token.folded} | emoji_parts(token.folded)
        case Kind.RUN:
            return set(grams(token.folded)) | _words_in_run(token.folded, latin)
        case Kind.WORD:
            return word_terms(token, latin) | _camel_terms(token, latin)
    terms = exact_forms(token) | _exact_parts(token)
    if not SHORT_SYMBOL.fullmatch(token.folded):
        for word in token.inside:
            terms |= token_terms(word, latin)
    return terms


def stem_languages(content: str, found: Sequence[Token]) -> tuple[str, ...]:
    """Return the Latin-script languages whose stems a memory is indexed under."""
    guessed = guess_languages(content, found, least=1)
    return languages.stem_languages(guessed, short=len(found) <= SHORT_TEXT_WORDS)


def guess_languages(text: str, found: Iterable[Token], *, least: int) -> tuple[str, ...]:
    """Guess by function words; see `languages.guess_latin`."""
    words = [
        _bare(word.folded)
        for token in found
        for word in (token, *token.inside)
        if word.kind is Kind.WORD
    ]
    return languages.guess_latin(lower(text), words, least=least)


def language_of(content: str) -> str:
    """Return the likeliest language of a text in Latin script as a two-letter code, or nothing."""
    guessed = guess_languages(content, list(tokens(content)), least=1)
    return _CODES[guessed[0]] if guessed else ""


def word_terms(token: Token, latin: Sequence[str]) -> set[str]:
    """Return a word as it stands and its stems."""
    folded = _bare(token.folded)
    return {folded} | languages.stems(_bare(token.lowered), latin) if folded else set()


def may_hold(token: Token, starts: set[str]) -> bool:
    """Tell cheaply whether a word can have a term that starts so; True when in doubt.

    English stems start like their word; what has inner capitals, an apostrophe or another script
    is not told.
    """
    word = token.folded
    if not word.isascii() or not word.isalpha() or camel_parts(token.surface):
        return True
    return word[:2] in starts or languages.regular_form(word)[:2] in starts


def exact_forms(token: Token) -> set[str]:
    """Return the spellings that count as the same token.

    With and without scheme, `www.`, a closing slash, a version's v; `e-mail` and `email`.
    """
    bare = _SCHEME.sub("", token.folded).removeprefix("www.")
    bare = bare.rstrip("/") or bare
    forms = {token.folded, bare}
    if re.match(r"v\d", bare):
        forms.add(bare[1:])
    if is_compound_of_words(token) and "-" in bare:
        forms.add(bare.replace("-", ""))
    return forms


def grams(run: str) -> Iterator[str]:
    """Yield every character of a script without spaces, and every pair of neighbours, as terms."""
    for place, character in enumerate(run):
        if _GRAM_CHARACTER.match(character):
            yield GRAM_MARK + character
        if place + 1 < len(run):
            yield GRAM_MARK + run[place : place + 2]


def _bare(word: str) -> str:
    """Drop the possessive, the elided article and inner apostrophes of a folded or lower word."""
    plain = word.replace("’", "'").replace("ʼ", "'")
    if "'" not in plain:
        return plain
    return _ELISION.sub("", _POSSESSIVE.sub("", plain)).replace("'", "")


def _camel_terms(token: Token, latin: Sequence[str]) -> set[str]:
    terms: set[str] = set()
    for part in camel_parts(token.surface):
        terms |= {fold(part)} | languages.stems(lower(part), latin)
    return terms


def _exact_parts(token: Token) -> set[str]:
    """What else an exact token is found by: folders, hosts, names of files, keys and values."""
    bare = _SCHEME.sub("", token.folded).removeprefix("www.")
    parts = symbols_in(token.surface)
    folders = re.split(r"[/\\]", bare)
    for count in range(1, min(len(folders), MAX_FOLDERS)):
        parts.add("/".join(folders[: count + 1]))
    for piece in (*re.split(r"[/\\@=&?#:]", bare), *folders):
        if is_code_like(piece) or SHORT_SYMBOL.fullmatch(piece):
            parts |= {piece, piece.strip(".-_~+")}
    return {part for part in parts if part}


def _words_in_run(run: str, latin: Sequence[str]) -> set[str]:
    """Words that stand between characters (`GitHub` in a Chinese sentence), and Korean words."""
    terms: set[str] = set()
    for segment in SEGMENT.findall(run):
        is_korean = "\uac00" <= segment[0] <= "\ud7a3"
        if is_korean or (len(segment) > 1 and not _GRAM_CHARACTER.match(segment)):
            terms |= {segment} | languages.stems(segment, latin)
    return terms
