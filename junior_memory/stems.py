"""Content stems: what two wordings of one fact have in common. For tombstones and topics."""

from __future__ import annotations

import re
import unicodedata

import snowballstemmer

_WORD = re.compile(r"[^\W_]+")
# Thai, Lao, Myanmar, Khmer, kana, Han, Hangul: scripts in which words run together.
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_STEMMER = snowballstemmer.stemmer("english")
_COMMON = frozenset(
    (
        "a about an and any are as at be by can do does for from had has have "
        "he her him his i if in is it its me my no not nothing of on or our own "
        "she so that the their them they this to us use used uses using was we were when which "
        "who will with you your"
    ).split()
)
_NEGATIONS = frozenset(["not", "never", "no", "nothing", "cannot", "without", "t"])


def _plain_words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(c for c in folded if not unicodedata.combining(c)))


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry the meaning; accents and case are folded."""
    words = [word for word in _plain_words(text) if word not in _COMMON]
    return frozenset(_STEMMER.stemWords(words))


def is_negated(text: str) -> bool:
    """True when the text denies something: "drinks no coffee" is not "drinks coffee"."""
    return any(word in _NEGATIONS for word in _plain_words(text))


def touches(text: str, topic: str) -> bool:
    """True when the text holds any word of the topic, after folding and stemming.

    In scripts without spaces the topic counts as a run of characters.
    """
    if _UNSPACED.search(topic):
        return "".join(_plain_words(topic)) in "".join(_plain_words(text))
    return bool(content_stems(topic) & content_stems(text))
