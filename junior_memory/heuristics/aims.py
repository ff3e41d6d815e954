"""Wishes and plans: whether "I want to …" is about somebody's life or about the task at hand."""

from __future__ import annotations

import re

from junior_memory.heuristics import marks, refusals, words
from junior_memory.heuristics.statements import Family

_NO_VERB = frozenset(
    "a an the my our your this that these those some any all it me us him her them you "
    "more another one two every each and or"
    " community local school church bed town".split()
)


def stem_ing(text: str) -> str:
    """The base form of a gerund phrase: "becoming a pilot" → "become a pilot"."""
    first, _, rest = text.partition(" ")
    base = first[:-3]
    if base and base[-1:] == base[-2:-1]:
        base = base[:-1]
    for guess in (base, base + "e"):
        if guess.lower() in words.GOAL_VERBS:
            return f"{guess} {rest}".strip()
    return text


def aims_at_life(aim: str) -> bool:
    """Whether "I want to …" is about the person's life and not about the task at hand."""
    parts = [
        part
        for part in aim.split()
        if part.lower() not in words.FILLERS
        and not part.endswith("ly")
        and part.lower()
        not in {"all", "always", "still", "both", "finally", "someday", "one", "day,"}
    ]
    if len(parts) < 2:
        return False
    verb = parts[0].lower().strip(",")
    if verb in _NO_VERB:
        return False
    beyond = " ".join(parts[1:])
    if (
        marks.is_task(aim)
        or marks.PRONOUN_OBJECT.match(beyond)
        or refusals.speaks_of_now(aim)
        or verb in words.TASK_OBJECT_VERBS
    ):
        return False
    if verb not in words.GOAL_VERBS and (
        len(parts) < 5
        or re.match(r"^(?:the|this|these|that|those|a list|a copy|more)\b", beyond, re.I)
    ):
        return False
    if re.match(
        r"^(?:an? |some |the |two |three )?(?:\w+ )?(?:table|list|array|file|script|function"
        r"|query|chart|button|form|column|columns|row|rows|field|cell|spreadsheet|regex|loop"
        r"|class|method|pdf|csv|string|text|email|letter|message|reminder|meeting|ticket"
        r"|refund|order|flight|booking|appointment)\b",
        beyond,
        re.I,
    ):
        return False
    if verb == "be" and re.match(
        r"^(?:clear|honest|sure|fair|precise|able to (?:see|find|run|open))", beyond, re.I
    ):
        return False
    if (
        verb
        in {
            "get",
            "go",
            "have",
            "do",
            "see",
            "make",
            "give",
            "keep",
            "read",
            "write",
            "share",
            "put",
            "start",
            "use",
            "finish",
            "stop",
            "set",
            "build",
            "help",
        }
        and len(parts) < 4
    ):
        return bool(
            re.match(
                r"^(?:married|a (?:dog|cat|tattoo|degree|phd|pilot)|back to school|vegan|to"
                r" [A-Z])",
                beyond,
            )
        ) or (len(parts) == 3 and verb in {"build", "write", "start", "help", "read"})
    return True


def read_wish(rest: str) -> Family | None:
    """A goal, when what follows "want" or "plan" aims at life and not at the task."""
    aim = re.sub(r"^(?:to |of |on )", "", rest, count=1)
    if not rest.startswith(("to ", "of ", "on ")):
        return None
    if rest.startswith(("of ", "on ")):
        aim = stem_ing(aim)
    return Family.GOAL if aims_at_life(aim) else None


def goal_after_to(after: list[str]) -> bool:
    """Whether "would like to …" names a goal."""
    return len(after) > 2 and after[1] == "to" and aims_at_life(" ".join(after[2:]))


def is_task_aim(text: str) -> bool:
    """Whether "would rather …" is about a thing at hand in the work."""
    return bool(
        re.match(
            r"^(?:like|love|prefer|rather) (?:to )?(?:"
            + "|".join(sorted(words.TASK_OBJECT_VERBS))
            + r")\b",
            text,
            re.I,
        )
    ) and marks.is_task(text)
