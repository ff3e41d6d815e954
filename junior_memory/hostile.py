"""Does a text give an assistant orders? By patterns alone: no model, no I/O. Pure.

For what comes from a public place: such text waits for a person instead of being remembered, since
everybody's assistant would read it. Precision comes first, because a wrong hit holds up an ordinary
fact: "Always run make check before pushing" tells people what to do, "ignore your instructions"
tells a machine. Orders are known by whom they address (you, the assistant), by what only a machine
has (instructions, a prompt, memories, tools) and by the marks of a prompt.

Every pattern is bounded, so hostile text costs no more than its length; of very long text the
beginning and the end are read.
"""

from __future__ import annotations

import re
import unicodedata

from junior_memory.hostile_phrases import PHRASES
from junior_memory.lexical.folding import fold

MAX_READ = 20_000
"""Characters read from either end of a text: a third of a second."""

_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_SPELLED = re.compile(r"(?<!\w)\w(?:[ ._*-]\w){5,}(?!\w)")
_SEPARATORS = re.compile(r"[ ._*-]")
_WORD = re.compile(r"[\w$]+")
_LONGEST_WORD = 30
_LOOKALIKES = str.maketrans("авеокмнрстухіѕјοαερτυικχ", "abeokmhpctyxisjoaeptuikx")
_DIGITS_FOR_LETTERS = str.maketrans("0134578$", "oieastbs")
_SPACES = re.compile(r"\s+")


def looks_like_orders(text: str) -> bool:
    """True for text that tells an assistant what to do, say, believe or give away."""
    if len(text) > 2 * MAX_READ:
        text = f"{text[:MAX_READ]} {text[-MAX_READ:]}"
    plain = _plain(text)
    return any(phrase.search(plain) for phrase in PHRASES)


def _plain(text: str) -> str:
    """Return the text as it is meant: folded, without invisible letters, disguises undone."""
    shown = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    joined = _SPELLED.sub(lambda run: _SEPARATORS.sub("", run[0]), shown)
    folded = _SPACES.sub(" ", fold(joined)).strip()
    return _WORD.sub(lambda word: _as_meant(word[0]), folded)


def _as_meant(word: str) -> str:
    """Undo letters of another alphabet inside a Latin word, and digits that stand for letters."""
    if len(word) > _LONGEST_WORD or not any("a" <= letter <= "z" for letter in word):
        return word
    return word.translate(_LOOKALIKES).translate(_DIGITS_FOR_LETTERS)
