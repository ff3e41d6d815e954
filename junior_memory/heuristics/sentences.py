"""Messages → sentences: what is prose and what is not, where one statement ends and the next
begins.

One pass over the characters, so the time is linear in the text whatever it holds. Fenced and
indented code, quoted lines, log lines and stack traces are not prose and are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SENTENCE = 500
"""Longer runs without an end are not sentences that a person states a fact in; they are skipped.
"""

MAX_SENTENCES = 4_000
"""Sentences that are read of one message (a 2 MB paste stays bounded)."""

_APOSTROPHES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u00a0": " "}
)
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00ab": '"', "\u00bb": '"'})
_BACKTICK_APOSTROPHE = re.compile(r"(?<=[A-Za-z])`(?=(?:s|t|m|d|re|ve|ll)\b)")
_BULLET = re.compile(r"^\s{0,8}(?:[-*+\u2022\u2013]|\d{1,3}[.)]|#{1,6})\s+")
_LOG_LINE = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d\b|(?:ERROR|WARN|WARNING|INFO"
    r"|DEBUG|FATAL|TRACE)\b"
    r"|Traceback\b|File \"|at [\w.$<>]{1,200}\(|\$ |>>> |#!/)"
)
_CODE_END = re.compile(r"[;{}]\s*$|=>\s*$")
_CODE_START = re.compile(
    r"^\s*(?:def \w|class \w+[(:]|import \w|from \w[\w.]* import|const \w|let \w+ =|var"
    r" \w|function \w|return\b.*;"
    r"|SELECT .* FROM|INSERT INTO|<\w+[ >/]|</|[\w.]+\(.*\)$|\w+ ?= ?\S)"
)
_ENDS = frozenset(".!?\u2026\u3002\uff01\uff1f\uff61")
_ASKS = frozenset("?\uff1f")
_WIDE_ENDS = frozenset("\u3002\uff01\uff1f\uff61")
_CLOSERS = frozenset("\"')]}\u300d\u300f\u201d\u2019*_~")
_ABBREVIATIONS = frozenset(
    "e.g i.e eg ie mr mrs ms dr prof st vs approx no nr fig dept jr sr inc ltd co corp "
    "ca cf al est min max"
    " jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri a.m p.m"
    " bzw z.b usw d.h ca. ph.d u.s u.k".split()
)
_INITIALS = re.compile(r"^(?:[A-Z]\.)+[A-Z]$")
_TITLES = frozenset("e.g i.e eg ie mr mrs ms dr prof st vs approx no nr fig ca z.b bzw d.h".split())
_OPENING_WORDS = frozenset(
    "i i'm i've i'd i'll we we're we've my our the this that it he she they you and but so".split()
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence without its closing mark; `asks` when it was closed by a question mark."""

    text: str
    asks: bool = False


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of one message in order, at most MAX_SENTENCES, each at most MAX_SENTENCE
    characters.
    """
    found: list[Sentence] = []
    for block in _blocks(text):
        for sentence in _split_block(block):
            found.append(sentence)
            if len(found) >= MAX_SENTENCES:
                return tuple(found)
    return tuple(found)


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs of prose: a wrapped line joins the line before it, a list item stands alone."""
    text = text.translate(_APOSTROPHES).translate(_QUOTES)
    text = _BACKTICK_APOSTROPHE.sub("'", text)
    pending = ""
    fenced = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if fenced or not stripped or _is_not_prose(line):
            if pending:
                yield pending
            pending = ""
            continue
        is_item = bool(_BULLET.match(line[:200]))
        if is_item:
            stripped = _BULLET.sub("", line[:200]).strip() + line[200:].rstrip()
        continues = (
            pending
            and not is_item
            and len(pending) < MAX_SENTENCE
            and pending[-1] not in _ENDS
            and pending[-1] not in ":;"
            and stripped[:1].islower()
            and len(pending) > 40
            and not stripped.startswith(("i ", "i'"))
        )
        if continues:
            pending = f"{pending} {stripped}"
            continue
        if pending:
            yield pending
        pending = stripped
    if pending:
        yield pending


def _is_not_prose(line: str) -> bool:
    if line.startswith(("    ", "\t")) and not _BULLET.match(line[:200]):
        return True
    head = line[:400]
    if head.lstrip().startswith((">", "|", "+---", "diff --git", "@@ ")):
        return True
    if _LOG_LINE.match(head) or _CODE_START.match(head):
        return True
    return bool(_CODE_END.search(line[-10:]))


def _is_emoji(char: str) -> bool:
    if char < "\u2190":
        return False
    if "\U0001f000" <= char <= "\U0001faff" or "\u2600" <= char <= "\u27bf":
        return True
    return char in "\ufe0f\u200d\u2b50\u2b55" or unicodedata.category(char) == "So"


def _split_block(block: str) -> Iterator[Sentence]:
    start = 0
    in_code = False
    position = 0
    size = len(block)
    while position < size:
        char = block[position]
        if char == "`":
            in_code = not in_code and "`" in block[position + 1 : position + 200]
        elif in_code:
            pass
        elif _is_emoji(char):
            yield from _sentence(block[start:position], asks=False)
            while position + 1 < size and _is_emoji(block[position + 1]):
                position += 1
            start = position + 1
        elif char == ";" or (char in "-\u2014\u2013" and _is_dash(block, position)):
            yield from _sentence(block[start:position], asks=False)
            while position + 1 < size and block[position + 1] in "-\u2014\u2013;":
                position += 1
            start = position + 1
        elif char in _ENDS:
            end = position
            while end + 1 < size and block[end + 1] in _ENDS:
                end += 1
            if _is_boundary(block, position, end):
                asks = any(mark in _ASKS for mark in block[position : end + 1])
                tail = end
                while tail + 1 < size and block[tail + 1] in _CLOSERS:
                    tail += 1
                yield from _sentence(block[start:position] + block[end + 1 : tail + 1], asks=asks)
                start = tail + 1
                position = tail
            else:
                position = end
        position += 1
    yield from _sentence(block[start:], asks=False)


def _is_dash(block: str, position: int) -> bool:
    """A dash that parts two thoughts: an em dash, or any dash with a space on both sides or
    doubled.
    """
    char = block[position]
    after = block[position + 1 : position + 2]
    before = block[position - 1 : position]
    if char == "\u2014":
        return True
    if char == "-" and after == "-":
        if block[position + 2 : position + 3].isalnum() and not before.isalnum():
            return False
        return before != "" and (before.isspace() or block[position + 2 : position + 3].isspace())
    following = block[position + 2 : position + 5].lower()
    if (
        char == "-"
        and before.isalpha()
        and after.isspace()
        and following not in {"and", "or ", "to "}
    ):
        return True
    return before.isspace() and after.isspace()


def _is_boundary(block: str, position: int, end: int) -> bool:
    if block[position] in _WIDE_ENDS or any(mark in "!?" for mark in block[position : end + 1]):
        after = block[end + 1 : end + 2]
        return block[position] in _WIDE_ENDS or not after or not after.isalnum()
    rest = block[end + 1 : end + 40]
    tail = rest.lstrip("\"')]}*_~")
    if tail and not tail[0].isspace() and not _is_emoji(tail[0]):
        return False
    following = tail.strip().split(" ", 1)[0] if tail.strip() else ""
    if not following:
        return True
    if end > position or block[position] == "\u2026":
        return not following[:1].islower() or following.lower().rstrip(",") in _OPENING_WORDS
    word = block[max(0, position - 24) : position].rsplit(None, 1)
    last = word[-1].lstrip("(\"'") if word else ""
    if _INITIALS.match(last):
        return following.lower().rstrip(",") in _OPENING_WORDS
    if last.lower() in _ABBREVIATIONS:
        return last.lower() not in _TITLES and following.lower().rstrip(",") in _OPENING_WORDS
    if len(last) == 1 and last.isupper() and last != "I":
        return following.lower().rstrip(",") in _OPENING_WORDS
    numbers_item = last.isdigit() and len(last) <= 2 and position == len(last)
    return not numbers_item


def _sentence(text: str, *, asks: bool) -> Iterator[Sentence]:
    cleaned = " ".join(text.split()).strip(" ,:*_~")
    if 2 <= len(cleaned) <= MAX_SENTENCE:
        yield Sentence(text=cleaned, asks=asks)
