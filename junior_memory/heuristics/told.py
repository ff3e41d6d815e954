"""What somebody tells of themselves beside tastes, habits and events: the widest reading, for long
personal talk only.

Weak by itself: it is kept beside firmer statements of the same person and never in a session
about work.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, marks, refusals
from junior_memory.heuristics.clauses import Clause, split_clauses
from junior_memory.heuristics.inflection import is_past
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import reading_of

_OPEN_WORDS = 8
MIN_WORDS = 3
"""Words after the subject that such a statement has at least."""

_NOT_TOLD = frozenset(
    "think guess know hope wish mean agree see understand appreciate suppose bet will "
    "would should may might shall can could"
    " need gotta got-to look looks hear heard figure figured recommend suggest advise "
    "say said tell told ask asked thank forgot"
    " forget remember-to imagine doubt wonder promise admit swear recall notice noticed "
    "wanna done don't dont didn't can't couldn't wouldn't won't shouldn't haven't hadn't "
    "gonna been sound seem agree ought must have-to try-to say".split()
)
_PASSING_STATE = re.compile(
    r"^(?:not |all |just |so |really |very |super |also |still |always |more |most "
    r"|totally |definitely )*(?:glad|sure|sorry|here|there|gonna|going|fine|ok|okay|good"
    r"|great|well|"
    r"curious|certain|serious|kidding|right|jealous|envious|proud of you|done|late|early"
    r"|home|cheering|rooting|hoping|wondering|having|doing|afraid|"
    r"happy (?:for|to (?:hear|see|help))|excited (?:for|to (?:see|hear|know))|looking"
    r" (?:for|at)|thinking (?:it|that)|feeling (?:it|good|great|ok)|in (?:next|this|that)"
    r"|off to (?:go|do|bed|work)|down for|up to)\b",
    re.IGNORECASE,
)
_ENDS_OPEN = re.compile(
    r"\b(?:it|that|this|there|them|those|these|one|so|too|him|her|to|of|with|for|about"
    r"|something|anything|things?|stuff|time|else|way|lot)$",
    re.IGNORECASE,
)
_OPENS_OPEN = re.compile(r"\b(?:it|them|him|that|this|those|these)\b", re.IGNORECASE)
_ABOUT_TALK = re.compile(
    r"\b(?:chat|talk|talking|conversation|pics?|photos?|pictures?|message|question|link|news"
    r"|suggestion|kind words|kindness|game night|lol|haha)\b",
    re.IGNORECASE,
)


def read_told(text: str) -> Reading | None:
    """The first clause of a sentence that tells something of its speaker in enough words to stand
    alone.
    """
    for clause in split_clauses(text):
        reading = _read_clause(clause)
        if reading is not None:
            return reading
    return None


def _read_clause(clause: Clause) -> Reading | None:
    said = f"{clause.adverbial} {clause.text}".strip()
    text = canonical.trim_tail(clause.text)
    if (
        marks.LISTENER.search(text)
        or refusals.is_unsure(text)
        or refusals.is_hypothetical(text)
        or refusals.is_reported(text)
    ):
        return None
    if marks.is_task(text) or refusals.speaks_of_now(said) or _ABOUT_TALK.search(text):
        return None
    head, _, rest = canonical.expand_subject(text).partition(" ")
    if head.lower() not in {"i", "we"} or len(rest.split()) < MIN_WORDS:
        return None
    _, tokens = canonical.split_adverbs(rest.split())
    if len(tokens) < MIN_WORDS - 1 or not _may_tell(tokens, whole=said):
        return None
    predicate = canonical.third_person_predicate(rest.split())
    adverbial = "" if marks.LISTENER.search(clause.adverbial) else clause.adverbial
    return reading_of(Family.TOLD, predicate, adverbial=adverbial, said=said) if predicate else None


def _may_tell(tokens: list[str], *, whole: str) -> bool:
    verb = tokens[0].lower().strip(",.")
    tail = " ".join(tokens[1:])
    if (
        verb in _NOT_TOLD
        or not verb.isalpha()
        or (_ENDS_OPEN.search(tail) and len(tokens) <= _OPEN_WORDS)
    ):
        return False
    if verb in {"am", "are", "was", "were"}:
        return (
            not _PASSING_STATE.match(tail)
            and not marks.SELF_OBJECT.match(tail)
            and not marks.PRONOUN_OBJECT.match(" ".join(tokens[2:]))
        )
    if marks.PRONOUN_OBJECT.match(tail) or marks.SELF_OBJECT.match(tail):
        return False
    if verb == "have":
        if re.search(r"\b(?:it|them|him|her|this|that)\b", " ".join(tokens[1:5])):
            return False
        return (
            tokens[1].lower() not in {"to", "got", "no", "not", "heard", "seen", "been"}
            or len(tokens) >= 6
        )
    if _OPENS_OPEN.search(" ".join(tokens[1:3])):
        return False
    return is_past(verb, f"yesterday {whole}") or len(tokens) > MIN_WORDS
