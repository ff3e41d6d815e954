"""Characters: how they are folded, which scripts they belong to, which ones stand inside words."""

from __future__ import annotations

import re
import sys
import unicodedata

_JOINERS = "\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f"
"""Invisible characters that people paste with a word: soft hyphens, joiners, marks of direction."""


def _mark_ranges(limit: int) -> str:
    """Spell the combining marks below `limit` as the inside of a character class.

    `\\w` leaves them out, which would cut Hindi, Thai and decomposed Latin words into pieces.
    """
    ranges: list[str] = []
    start = -1
    for code in range(limit + 1):
        inside = code < limit and unicodedata.category(chr(code)) in {"Mn", "Mc"}
        if inside and start < 0:
            start = code
        elif not inside and start >= 0:
            ranges.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = -1
    return "".join(ranges)


MARKS = _mark_ranges(min(sys.maxunicode, 0x12000))
WORD_CLASS = rf"\w{MARKS}{_JOINERS}"
"""The inside of a character class: letters, digits, underscore, marks, invisible joiners."""

UNSPACED_CLASS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana, iteration marks
    "\u3100-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff"  # Myanmar
    "\u1780-\u17ff\u19e0-\u19ff"  # Khmer
    "\u1980-\u19df\u1a20-\u1aaf"  # Tai Lue, Tai Tham
)
"""Scripts that put no spaces between words."""

HANGUL_CLASS = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3\ua960-\ua97f\ud7b0-\ud7ff"
GRAM_CLASS = UNSPACED_CLASS + HANGUL_CLASS
"""Scripts that are found by characters as well: unspaced ones and Korean, whose particles cling."""

UNSPACED = re.compile(f"[{UNSPACED_CLASS}]")
GRAM = re.compile(f"[{GRAM_CLASS}]")

_DROPPED = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u0483-\u0489"  # Latin, Greek, Cyrillic accents
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0640"  # Arabic vowel signs, tatweel
    f"{_JOINERS}]"
)
_INVISIBLE = re.compile(f"[{_JOINERS}]")
_LETTERS = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ħ": "h",
        "ŧ": "t",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "ĸ": "k",
        "ŋ": "n",
        "ß": "ss",
        # Arabic letters that are typed one way or another.
        "آ": "ا",
        "أ": "ا",
        "إ": "ا",
        "ٱ": "ا",
        "ى": "ي",
        "ی": "ي",
        "ک": "ك",
        # Typographic twins.
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "‐": "-",
        "‑": "-",
        "−": "-",
    }
)


def lower(text: str) -> str:
    """Return the compatible, caseless form with its accents: what stemmers expect."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", folded))


def fold(text: str) -> str:
    """Return `lower` without accents: what terms and characters are compared in.

    Marks that are letters of their own (Hindi and Thai vowels, the dots of が) stay.
    """
    folded = lower(text)
    if folded.isascii():
        return folded
    bare = _DROPPED.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare).translate(_LETTERS)
