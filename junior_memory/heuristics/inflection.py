"""English verbs from the first person to the third: "use" → "uses", "do not" → "does not", "went"
stays.
"""

from __future__ import annotations

import re

_IRREGULAR_PAST = frozenset(
    "went got had was were took made met saw bought found began ran won gave came felt "
    "did wrote left lost"
    " taught told grew knew thought heard kept spent sold built brought caught chose "
    "drank drove ate fell"
    " fought flew forgot held led lent paid rode rose sang sat sent shot slept spoke "
    "stood stole swam threw"
    " understood woke wore hung dug drew broke became bent bit blew hid dealt dreamt "
    "learnt burnt meant"
    " shook struck stuck swore tore overcame retook mistook redid undertook overslept "
    "rewrote withdrew fled forgave froze laid lay lit"
    " sought shone shrank spun sprang swept swung wept wound bred fed bled said used "
    "could would".split()
)
_ENDS_IN_ED_BUT_BASE = frozenset(
    "need feed speed bleed breed seed exceed proceed succeed embed heed weed shed wed shred".split()
)
_SAME_IN_PAST = frozenset(
    "read put set cut hit let quit cost shut hurt bet spread split cast beat".split()
)
_PAST_TIME = re.compile(
    r"\b(?:yesterday|ago|last (?:night|week|weekend|month|year|summer|winter|spring|fall"
    r"|autumn|time|\w+day)"
    r"|earlier|back in|in (?:19|20)\d\d|when i was|once|finally|just|recently)\b",
    re.IGNORECASE,
)
_THIRD = {
    "have": "has",
    "do": "does",
    "go": "goes",
    "am": "is",
    "are": "is",
    "were": "was",
    "be": "is",
    "workout": "works out",
}
_NOT_VERBS = frozenset("and or the a an to of in on at with for by from".split())

NEGATIONS = {
    "don't": "does not",
    "dont": "does not",
    "didn't": "did not",
    "didnt": "did not",
    "can't": "cannot",
    "cant": "cannot",
    "won't": "will not",
    "wont": "will not",
    "haven't": "has not",
    "havent": "has not",
    "hadn't": "had not",
    "wasn't": "was not",
    "weren't": "was not",
    "aren't": "is not",
    "wouldn't": "would not",
    "couldn't": "could not",
    "shouldn't": "should not",
    "mustn't": "must not",
}
"""Contracted negations after "I" or "we", as they read in the third person singular."""


def is_past(verb: str, clause: str) -> bool:
    """Whether the finite verb of `clause` is in the past tense; words with one form for both ask
    the clause.
    """
    verb = verb.lower()
    if verb in _SAME_IN_PAST:
        return bool(_PAST_TIME.search(clause))
    if verb in _IRREGULAR_PAST:
        return True
    return len(verb) > 3 and verb.endswith("ed") and verb not in _ENDS_IN_ED_BUT_BASE


def third_person(verb: str) -> str:
    """Third person singular of a verb in its base form: "use" → "uses", "carry" → "carries"."""
    lowered = verb.lower()
    if lowered in _THIRD:
        return _THIRD[lowered]
    if lowered in _NOT_VERBS or not lowered.isascii() or not lowered.replace("-", "").isalpha():
        return verb
    if lowered.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if lowered.endswith("y") and len(lowered) > 1 and lowered[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def finite(verb: str, clause: str) -> str:
    """The third person of a finite verb as it stands after "I" or "we": past forms stay as they
    are.
    """
    lowered = verb.lower()
    if lowered in _THIRD:
        return _THIRD[lowered]
    return verb if is_past(verb, clause) else third_person(verb)
