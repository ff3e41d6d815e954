"""What follows "I have": what somebody owns, what they have lived through, what has gone on for
long.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, marks, refusals, states, words
from junior_memory.heuristics.statements import Family


def possesses_moment(text: str) -> bool:
    """Whether "had …" names a meal, a meeting or a mood: nothing to keep."""
    nouns = refusals.words_of(text)[:5]
    if (
        re.match(
            r"^(?:a |an |so much |lots of |the )?(?:\w+ )?(?:blast|fun|chance|opportunity|time"
            r"|day|week|weekend|night|conversation|chat|party|dinner|lunch|meeting|experience)"
            r" (?:last \w+ |this \w+ )?(?:at|with|in|to|on|about|during|for|visiting|camping"
            r"|hiking|seeing|playing)\b",
            text,
            re.I,
        )
        and len(text.split()) >= 5
    ):
        return False
    nouns = (
        nouns[1:]
        if nouns[:1] and nouns[0] in {"a", "an", "the", "my", "some", "no", "another"}
        else nouns
    )
    return (
        not nouns
        or nouns[0] in words.MEALS
        or (len(nouns) > 1 and nouns[1] in words.MEALS and len(nouns) < 4)
    )


def read_have(
    tokens: list[str], after: list[str], *, marked: bool, adverbs: list[str]
) -> tuple[Family | None, str | None]:
    """ "I have": a possession, or the perfect of something that happened or goes on."""
    nothing: tuple[Family | None, str | None] = (None, None)
    if not after:
        return nothing
    text = canonical.third_person_predicate(tokens)
    first = after[0].lower().strip(",")
    beyond = " ".join(after[1:])
    lasting = (
        marked
        or bool({"always", "never", "ever"} & set(adverbs))
        or bool(marks.DURATION.search(" ".join(after)))
    )
    if (
        first == "got"
        and after[1:2]
        and after[1].lower() not in {"to", "married", "engaged", "into"}
    ):
        if _holds(after[1:]):
            return Family.POSSESSION, f"has {beyond}"
        return nothing
    if first == "to" or first == "not":
        return nothing
    if first == "been":
        second = after[1].lower() if len(after) > 1 else ""
        later = " ".join(after[2:])
        if second.endswith("ing"):
            if re.match(r"^(?:for|since|so|really|pretty)\b", later) and second in {
                "playing",
                "doing",
                "using",
                "making",
                "taking",
                "watching",
                "reading",
                "having",
                "thinking",
            }:
                return nothing
            good = (
                states.goes_on(second, later, marked=True, whole="", denied=False)
                or (
                    lasting
                    and len(after) > 2
                    and second not in words.TRANSIENT_STATES
                    and second not in {"having", "getting", "waiting", "wondering"}
                )
                or (second not in marks.AT_HAND and len(after) > 3)
            )
            if second == "thinking":
                good = bool(
                    re.match(
                        r"^(?:(?:of|about) \w+ing|about how (?!(?:it|this|that|to)\b)\w+) \w+",
                        later,
                    )
                )
            good = good and not marks.PRONOUN_OBJECT.match(later)
            return (Family.ONGOING, text) if good and not marks.is_task(later) else nothing
        if (
            second.endswith("ed")
            and len(after) >= 6
            and second not in {"told", "asked"}
            and not marks.is_task(beyond)
        ):
            return Family.FEELING, text
        if lasting or re.match(
            r"^(?:to [A-Z]|a |an |into |vegetarian|vegan|married|sober|together)", beyond
        ):
            if second in words.TRANSIENT_STATES and not {"always", "never"} & set(adverbs):
                return nothing
            return Family.EVENT, text
        return nothing
    if first in {"found", "learned", "learnt", "realized", "realised", "discovered"} and re.match(
        r"^that (?!it|this|that|they|he|she|the|you|we|i\b|there)\w+ing\b", beyond
    ):
        return Family.OPINION, text
    if marks.is_participle(first):
        if marks.PRONOUN_OBJECT.match(beyond) or (
            not lasting
            and (
                first in words.WORK_STEP_VERBS
                or first in words.NEW_ONLY_VERBS
                or (
                    first in {"noticed", "seen", "run", "had", "gotten", "finished"}
                    and len(after) < 5
                )
            )
        ):
            return nothing
        if (marks.is_task(beyond) and not lasting) or len(after) < 2:
            return nothing
        return Family.EVENT, text
    if _holds(after):
        return Family.POSSESSION, text
    return nothing


def _holds(after: list[str]) -> bool:
    nouns = [word.lower().strip(",.") for word in after[:6]]
    if not nouns:
        return False
    if nouns[0] == "some" and len(after) >= 6 and not words.PASSING_POSSESSIONS & set(nouns):
        return True
    if nouns[0] in {
        "no",
        "this",
        "that",
        "these",
        "those",
        "it",
        "them",
        "some",
        "any",
        "your",
        "the",
        "all",
        "every",
        "such",
        "so",
        "more",
        "another",
        "plenty",
    } and nouns[:2] not in (["no", "kids"], ["no", "children"], ["no", "siblings"], ["no", "car"]):
        return False
    body = (
        nouns[2:]
        if nouns[:2] == ["lots", "of"]
        else nouns[1:]
        if nouns[0]
        in {"a", "an", "my", "two", "three", "four", "five", "six", "one", "few", "several", "many"}
        or nouns[0].isdigit()
        else nouns
    )
    if not body or words.PASSING_POSSESSIONS & set(body[:2]):
        return False
    if not marks.is_task(" ".join(nouns)):
        return (
            nouns[0]
            in {
                "a",
                "an",
                "my",
                "two",
                "three",
                "four",
                "five",
                "six",
                "one",
                "several",
                "kids",
                "children",
                "no",
                "lots",
            }
            or nouns[0].isdigit()
            or len(after) <= 4
        )
    return False
