"""From a predicate in the third person to a reading, when nothing in it still speaks of "I" or
"you".
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, refusals, words
from junior_memory.heuristics.statements import Family, Reading

_OPEN = re.compile(
    r"\b(?:it|that|this|there|here|so|one|each other|one another|someone|somebody)\.$"
    r"|\b(?:with|of|about|for|to|on|at|from|in|by|like) (?:it|this|that)\b(?! \w)|\ba bit of"
    r" a\b",
    re.IGNORECASE,
)
_DANGLES = re.compile(
    r"\b(?:of|with|about|for|at) (?:it|these|those)\b(?! \w+ing\b)"
    r"|^(?:is|was) (?:always )?(?:excited|happy|glad|grateful|thankful|willing|ready|eager) "
    r"(?:to|they get to|they got to) \w+ it\b"
    r"|^believes in (?:them|it)\.$|^(?:plans|wants|hopes) to keep \w+ing for them\.$"
    r"|^(?:made|did|took|got|had|saw|found|has) (?:a|an|the|some) (?:piece|thing|bit of work|bit"
    r"|lot|look|point)\.$"
    r"|^(?:loves|likes|enjoys|hates|prefers) (?:\w+ing )?(?:how )?(?:him|her|these|those|they|he"
    r"|she|it)\b"
    r"|\b(?:loves|likes|wants|plans|hopes|has|is|was|\w+ed) to\.$"
    r"|, but(?:, of course)?\.$|\bso excited to\.$|\bpart of something bigger\.$",
    re.IGNORECASE,
)
"""What points at something said elsewhere: no reader of the memory alone could tell what."""

_THIRD_PARTY = re.compile(r"\b(?:he|she|him|his|her|hers|he's|she's)\b", re.IGNORECASE)
_VERY = re.compile(r"\b(is|are|was|were) (?:so|super|really|very|such) (?=\w+\.$)")
_WEIGHED = frozenset(
    {Family.EVENT, Family.ONGOING, Family.TOLD, Family.FEELING, Family.INFLUENCE, Family.ASIDE}
)
_MIN_CONTENT_WORDS = 2
_OPEN_WORDS = 8
_SHORT_NAME = 5


def content_words(text: str) -> int:
    """How many different words of `text` carry a meaning of their own."""
    return len(
        {
            word
            for word in refusals.words_of(text)
            if word not in words.EMPTY_WORDS and len(word) > 2
        }
    )


def reading_of(family: Family, predicate: str, *, adverbial: str, said: str) -> Reading | None:
    """`predicate` with its fronted adverbial behind it, as canonical text; None when it cannot
    stand alone.

    It cannot when a first or second person is left, when it is too long, when it ends on a word
    that points outside of it, or when, telling of a feeling or an event, it says next to
    nothing or is about somebody named "he" or "she".
    """
    if adverbial:
        first = adverbial[0]
        keeps = adverbial.startswith(("I ", "I'")) or adverbial[:2].isupper()
        predicate = f"{predicate} {first if keeps else first.lower()}{adverbial[1:]}"
    content = canonical.finish(canonical.to_third_person(predicate))
    content = _VERY.sub(r"\1 ", content)
    if not content or len(content) > canonical.MAX_CONTENT or canonical.has_person(content):
        return None
    if _OPEN.search(content) and len(content.split()) <= _OPEN_WORDS:
        return None
    if _DANGLES.search(content):
        return None
    if family in _WEIGHED:
        if content_words(content) < _MIN_CONTENT_WORDS and family is not Family.ASIDE:
            return None
        if family not in {Family.EVENT, Family.ONGOING} and _THIRD_PARTY.search(content):
            return None
    return Reading(family=family, content=content, said=said)


_COMMON = frozenset(
    "music nature art reading sports sport family painting gaming yoga friendship "
    "exercise coffee food travel love life work"
    " running swimming writing cooking meditation therapy camping hiking volunteering "
    "dancing singing fitness self-care prayer"
    " faith religion science history football basketball tennis chess poetry literature "
    "fantasy photography knitting baking"
    " the a an my our having being getting playing making taking seeing knowing this "
    "these those some all every each both"
    " one blue red green black white purple pink orange yellow tea chocolate pizza pasta "
    "home community kindness honesty".split()
)


def inside(phrase: str) -> str:
    """A phrase from the head of a sentence as it stands inside of one: "Painting" → "painting",
    "Max" stays.
    """
    first, _, rest = phrase.partition(" ")
    lowered = first.lower().strip(",")
    if (
        first[1:].lower() != first[1:]
        or rest[:1].isupper()
        or rest[:1].isdigit()
        or (first.endswith("'s") and lowered.removesuffix("'s") not in _COMMON)
    ):
        return phrase
    plural = lowered.endswith("s") and not lowered.endswith(("ss", "us", "is"))
    if (
        lowered.removesuffix("'s") in _COMMON
        or (lowered.endswith("ing") and len(lowered) > _SHORT_NAME)
        or plural
        or (rest and not rest.startswith(("and ", "& ")))
        or (rest and lowered.endswith("ing"))
    ):
        return phrase[0].lower() + phrase[1:]
    return phrase
