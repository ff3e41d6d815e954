"""First-person statements: "I prefer tabs over spaces" → "Prefers tabs over spaces."

A clause is read by its verb. What its verb does not mark as lasting (a taste, an identity, a
habit, a possession, a plan, something that happened in the person's own life) is not read at
all: silence is the default.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, marks, possessives, predicates, refusals, values
from junior_memory.heuristics.clauses import Clause, split_clauses
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import reading_of

_POINTS_HERE = re.compile(
    r"\b(?:in|for|on|of|with|at) (?:this|that) (?!way\b|kind\b|sort\b|time\b|year\b)\w+$", re.I
)
_TIMELESS = frozenset(
    {
        Family.PREFERENCE,
        Family.BEING,
        Family.ATTRIBUTE,
        Family.POSSESSION,
        Family.HABIT,
        Family.OPINION,
    }
)


def read_first_person(text: str, *, wished: bool = False) -> list[Reading]:
    """The facts that one sentence of the speaker states about the speaker, as canonical texts, in
    order.

    `wished` tells that somebody asked to have it remembered: a plain present tense is then a
    habit.
    """
    found: list[Reading] = []
    for clause in split_clauses(text):
        reading = _read_clause(clause, wished=wished)
        if reading is not None:
            found.append(reading)
    return found


def _read_clause(clause: Clause, *, wished: bool) -> Reading | None:
    said = f"{clause.adverbial} {clause.text}".strip()
    text = canonical.trim_tail(
        _MADE_THIS.sub(_indefinite, _INDEFINITE_THIS.sub(_indefinite, clause.text))
    )
    adverbial = clause.adverbial
    if marks.LISTENER.search(adverbial):
        adverbial = ""
    if marks.LISTENER.search(text):
        text = _before_listener(text)
    if (
        not text
        or refusals.is_hypothetical(text)
        or refusals.is_unsure(text)
        or refusals.is_reported(text)
    ):
        return None
    together = possessives.TOGETHER.match(text)
    if together:
        companion = together["who"]
        text = f"I {together['rest']}"
        adverbial = f"with {companion}{' ' + adverbial if adverbial else ''}"
    expanded = canonical.expand_subject(text)
    head, _, rest = expanded.partition(" ")
    if head.lower() in {"i", "we"} and rest:
        family, predicate = predicates.read_predicate(
            rest.split(), whole=said, plural=head.lower() == "we", wished=wished
        )
        if family is None or predicate is None:
            return None
        if family in _TIMELESS and (refusals.speaks_of_now(said) or _POINTS_HERE.search(said)):
            return None
        return reading_of(family, predicate, adverbial=adverbial, said=said)
    return possessives.read_possessive(
        text, adverbial=adverbial, said=said
    ) or values.read_influence(text, whole=clause.text, said=said)


_INDEFINITE_THIS = re.compile(
    r"\bthis (?=(amazing|awesome|great|cool|new|crazy|nice|lovely|wonderful|incredible"
    r"|fantastic|beautiful|cute|super|really)\b)",
    re.I,
)
_MADE_THIS = re.compile(
    r"(?<=\bmade )this (?=((?!pic\b|photo|picture|one\b|when\b|for\b|with\b|to\b|in\b|at\b"
    r"|last\b|yesterday)[a-z]+) )|(?<=\bmet )this (?=([a-z]+) )|(?<=\bhad )this (?=([a-z]+) )"
    r"|(?<=\bfinished )this (?=([a-z]+) (?:of|for|about)\b)|(?<=\breading )this (?=([a-z]+) )"
    r"|(?<=\bstarted )this (?=((?!last|week|year|month|summer)[a-z]+) )",
    re.I,
)


def _indefinite(match: re.Match[str]) -> str:
    """Chat says "this amazing book" of one it has not spoken of: "an amazing book"."""
    following = next(group for group in match.groups() if group)
    return "an " if following[0].lower() in "aeiou" else "a "


def _before_listener(text: str) -> str:
    """The part of a clause before it turns to the listener, when that part can stand alone; else
    nothing.
    """
    match = marks.LISTENER.search(text)
    head = text[: match.start()] if match else text
    cut = max(
        head.rfind(", "),
        head.rfind(" and "),
        head.rfind(" but "),
        head.rfind(" so "),
        head.rfind(" if "),
    )
    head = head[:cut].strip(" ,") if cut > 0 else ""
    return head if len(head.split()) >= 4 else ""
