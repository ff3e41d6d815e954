"""What follows "I" or "we": which family of fact it is, by its first verb, and how it reads in the
third person.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import (
    aims,
    canonical,
    holdings,
    marks,
    states,
    verbs,
    words,
)
from junior_memory.heuristics.statements import Family

_NEED = re.compile(
    r"^(?:a |an |my |large |larger |high |step-?free )?(?:wheelchair|glasses|hearing"
    r"|captions?|subtitles|screen reader|large|larger|high[- ]contrast|gluten|dark mode"
    r"|insulin|step-?free|ramp|quiet|at least \w+ hours of sleep)\b",
    re.I,
)
_WOULD_KEEP = re.compile(
    r"^(?:(?:much|always) )?(?:rather|prefer|never|love to|like to|love (?!(?:it|that"
    r"|this)\b)\w+ing)\b",
    re.I,
)
_SKILL = re.compile(
    r"^(?:(?:fluently|barely|also) )?(?:speak|play|cook|swim|drive|ride|read|write|code"
    r"|juggle|sing|knit|type|ski|surf|sew|draw|sign|understand)\b",
    re.I,
)
_CANNOT = re.compile(
    r"^(?:(?:really|even) )?(?:eat|drink|have|stand|drive|swim|tolerate|digest|hear|walk|fly"
    r"|live without|work (?:without|on|before|after)|sleep (?:without|on)|read (?:small"
    r"|music)|do (?:mornings|gluten|dairy))\b",
    re.I,
)


def read_predicate(
    tokens: list[str], *, whole: str, plural: bool, wished: bool
) -> tuple[Family | None, str | None]:
    """The family of what follows "I" or "we", and that in the third person; (None, None) when it
    is not a fact.
    """
    nothing: tuple[Family | None, str | None] = (None, None)
    adverbs, rest = canonical.split_adverbs(tokens)
    if not rest:
        return nothing
    verb = rest[0].lower().strip(",.")
    after = rest[1:]
    later, after_adverbs = canonical.split_adverbs(after)
    tail = " ".join(after_adverbs)
    marked = (
        wished
        or bool(marks.HABIT_MARK.search(whole))
        or not words.HABIT_ADVERBS.isdisjoint({*adverbs, *later})
    )
    family: Family | None = None
    if verb in {"am", "are"}:
        return states.read_state(after, marked=marked, whole=whole)
    if verb in {"was", "were"}:
        family = states.past_state(tail)
    elif verb in {"have"}:
        return holdings.read_have(tokens, after_adverbs, marked=marked, adverbs=[*adverbs, *later])
    elif verb in {"had"}:
        family = (
            None
            if holdings.possesses_moment(tail)
            or marks.PRONOUN_OBJECT.match(tail)
            or marks.is_task(tail)
            else Family.EVENT
        )
    elif verb in {"don't", "dont", "do"}:
        if verb == "do" and after[:1] != ["not"]:
            family = (
                Family.HABIT if marked and tail and not marks.PRONOUN_OBJECT.match(tail) else None
            )
        else:
            family = verbs.read_denied(
                " ".join(after_adverbs[1:] if after_adverbs[:1] == ["not"] else after_adverbs)
            )
    elif verb in {"can't", "cant", "cannot"}:
        family = (
            Family.FEELING
            if re.match(
                r"^wait to (?!(?:see|hear|know|talk|chat|catch|find out|it)\b)\w+ (?!(?:it|that"
                r"|this|them|you)\b)\w+ \w+",
                tail,
            )
            and not marks.is_task(tail)
            else Family.BEING
            if _CANNOT.match(tail) and not marks.PRONOUN_OBJECT.match(" ".join(after_adverbs[1:]))
            else None
        )
    elif verb == "can":
        family = Family.BEING if _SKILL.match(tail) else None
    elif verb == "would":
        family = (
            Family.PREFERENCE
            if _WOULD_KEEP.match(" ".join(after)) and not aims.is_task_aim(" ".join(after))
            else None
        )
        if family and after and after[0] in {"like", "love"} and not aims.goal_after_to(after):
            family = None
        if family and (
            verbs.OF_THE_TASK.match(" ".join(after[1:]))
            or re.search(r"\b(?:this|that|these|it)\b", " ".join(after))
        ):
            family = None
        if family and re.match(
            r"^(?:like|love) to (?:help|see|hear|know|join|share)\b|^rather (?:wait|see"
            r"|hear)\b",
            " ".join(after),
        ):
            family = None
    elif (
        verb == "will"
        and "always" in later
        and after_adverbs[:1]
        and after_adverbs[0].lower() in words.LIKING_VERBS | {"be", "remember", "support"}
    ):
        family = (
            Family.PREFERENCE
            if not marks.SELF_OBJECT.match(" ".join(after_adverbs[1:]))
            and not marks.PRONOUN_OBJECT.match(" ".join(after_adverbs[1:]))
            else None
        )
    elif verb in {"will"}:
        family = (
            Family.GOAL
            if after_adverbs[:1]
            and re.match(
                r"^(?:be (?:moving|starting|studying|graduating|retiring|attending|teaching"
                r"|living)|move|retire|graduate|become)\b",
                tail,
                re.I,
            )
            else None
        )
    elif verb in {
        "haven't",
        "havent",
        "didn't",
        "didnt",
        "won't",
        "wont",
        "wasn't",
        "weren't",
        "hadn't",
    }:
        family = verbs.read_past_denied(verb, tail)
    elif verb in {"want", "wanna", "hope", "intend", "aim", "aspire", "dream", "wish"} or (
        verb == "plan" and after[:1] in (["to"], ["on"])
    ):
        if verb == "wanna":
            rest = ["want", "to", *after]
        family = aims.read_wish(" ".join(rest[1:]))
        tokens = [*adverbs, *rest]
    elif verb == "need":
        family = Family.BEING if _NEED.match(tail) else None
    elif verb in {"think", "believe", "feel", "find", "consider"} and (plural is False):
        family = verbs.read_opinion_verb(verb, tail)
    elif verb == "used" and after[:1] == ["to"]:
        family = Family.EVENT
    elif verb == "started" or verb == "began":
        family = None if marks.is_task(tail) or marks.PRONOUN_OBJECT.match(tail) else Family.EVENT
    else:
        family = verbs.read_verb(
            verb, tail, marked=marked, whole=whole, adverbs=frozenset({*adverbs, *later})
        )
    if family is None:
        return nothing
    return family, canonical.third_person_predicate(tokens)
