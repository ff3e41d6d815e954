"""Text → tokens with their place: words, exact tokens, runs without spaces, emoji.

One tokenizer for memories and queries, so that what is stored and what is asked for always agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from junior_memory.lexical.folding import GRAM, GRAM_CLASS, WORD_CLASS, fold, lower

MAX_TOKEN_LENGTH = 100
"""Folded characters of one exact token; longer ones are found by their parts."""


class Kind(Enum):
    """What sort of token it is; the order is that of their places."""

    WORD = "word"
    EXACT = "exact"
    RUN = "run"
    EMOJI = "emoji"


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text; `start` and `end` are offsets in the text as it stands.

    `lowered` has its accents (stemmers want them), `folded` has none. An exact token names the
    words inside it.
    """

    kind: Kind
    start: int
    end: int
    surface: str
    lowered: str
    folded: str
    inside: tuple[Token, ...] = field(default=())


_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe"
    "\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
_TONE = "\U0001f3fb-\U0001f3ff"
_UNIT = f"[{_PICTURE}][\ufe0e\ufe0f]?[{_TONE}]?[\U000e0020-\U000e007f]*"
EMOJI = re.compile(
    f"[\U0001f1e6-\U0001f1ff]{{1,2}}|[0-9#*]\ufe0f?\u20e3|{_UNIT}(?:\u200d{_UNIT})*|[{_TONE}]"
)
_TONES = re.compile(f"[{_TONE}]")
_PRESENTATION = re.compile("[\ufe0e\ufe0f]")

_BREAKS = r"\s,;\"“”„«»‹›()\[\]{}<>|…、。「」『』【】（）！？：；，．・〜～"
_SPACED = re.compile(f"[^{_BREAKS}{GRAM_CLASS}]+")
_RUN = re.compile(f"[{WORD_CLASS}]*[{GRAM_CLASS}][{WORD_CLASS}]*")
_LEADING = re.compile(r"^(?:[:!?'‘’*`=¿¡·•–—-]+(?=\w|[./~#@\\])|\.{2,}(?=\w))+")
_TRAILING = re.compile(r"[.:!?'‘’*`·•–—=\\-]+$|(?<=\w)/$")
_APOSTROPHES = "'’ʼ"
_WORD = re.compile(rf"(?:(?!_)[{WORD_CLASS}])+(?:[{_APOSTROPHES}](?:(?!_)[{WORD_CLASS}])+)*")
_CONNECTOR = re.compile(f"[^{WORD_CLASS}{_APOSTROPHES}]|_")
_DIGIT_AND_LETTER = re.compile(r"(?=.*\d)(?=.*[^\W\d_])")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SYMBOL = re.compile(r"(?<![\w])([A-Za-z]\w{0,15}?(?:\+\+|#))(?![A-Za-z_+#])")
SHORT_SYMBOL = re.compile(r"[a-z]{1,2}(?:\+{1,2}|#)|\.[a-z]\w*")
"""`C++`, `C#`, `.NET`: the letters alone would mean something else."""


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text from left to right; exact tokens come with the words in them."""
    for match in EMOJI.finditer(text):
        yield _emoji(match)
    text = EMOJI.sub(lambda found: " " * len(found[0]), text)
    runs = [(match.start(), match.end(), match[0]) for match in _RUN.finditer(text)]
    for start, _, run in runs:
        yield _token(Kind.RUN, run, start)
    for match in _SPACED.finditer(text):
        for token in _spaced(match[0], match.start()):
            if token.kind is Kind.WORD and any(a <= token.start < b for a, b, _ in runs):
                continue
            yield token


def _token(kind: Kind, surface: str, start: int, inside: tuple[Token, ...] = ()) -> Token:
    lowered = lower(surface)
    return Token(kind, start, start + len(surface), surface, lowered, fold(surface), inside)


def _emoji(match: re.Match[str]) -> Token:
    shape = _PRESENTATION.sub("", match[0])
    return Token(Kind.EMOJI, match.start(), match.end(), match[0], shape, shape)


def emoji_parts(shape: str) -> set[str]:
    """Return what an emoji sequence is also found by: without skin tones, and its pictures."""
    bare = _TONES.sub("", shape)
    return {part for part in (bare, *bare.split("\u200d")) if part}


def _spaced(chunk: str, offset: int) -> Iterator[Token]:
    """Tokens of a run of characters between spaces."""
    lead = _LEADING.match(chunk)
    start = lead.end() if lead else 0
    core = chunk[start:]
    while (shorter := _TRAILING.sub("", core)) != core and shorter:
        core = shorter
    words = tuple(
        _token(Kind.WORD, match[0], offset + start + match.start())
        for match in _WORD.finditer(core)
    )
    if not _CONNECTOR.search(core) and len(words) == 1:
        yield words[0]
        return
    if not words and not SHORT_SYMBOL.fullmatch(core.lower()):
        return
    token = _token(Kind.EXACT, core, offset + start, words)
    if len(token.folded) > MAX_TOKEN_LENGTH:
        yield from words
        return
    yield token


def symbols_in(core: str) -> set[str]:
    """Return `c++` and its like inside a longer exact token (`C++17`, `C++/Rust`)."""
    return {fold(found) for found in _SYMBOL.findall(core)}


def camel_parts(word: str) -> list[str]:
    """Split `getUserName` and `HTTPServer2`; a word without inner capitals has no parts."""
    if word.islower() or not word.isascii() or not any(c.isupper() for c in word[1:]):
        return []
    parts = _CAMEL.findall(word)
    return [part for part in parts if len(part) > 1] if len(parts) > 1 else []


def is_compound_of_words(token: Token) -> bool:
    """True for `self-care` and `and/or`: letters joined by hyphens or slashes, no code in it."""
    return (
        len(token.inside) > 1
        and not any(c.isdigit() for c in token.folded)
        and re.fullmatch(r"[^\W_].*[^\W_]", token.folded) is not None
        and all(c.isalnum() or c in "-/'&" or not c.isascii() for c in token.folded)
    )


def is_code_like(text: str) -> bool:
    """True when a part of an exact token is worth a term of its own."""
    return bool(_CONNECTOR.search(text) or _DIGIT_AND_LETTER.search(text))


def has_grams(text: str) -> bool:
    """True when the text is in a script that is found by characters."""
    return GRAM.search(text) is not None
