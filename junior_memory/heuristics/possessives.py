"""What is the speaker's own: "My sister lives in Leeds", "My favourite editor is Vim"."""

from __future__ import annotations

import re

from junior_memory.heuristics import marks, refusals, words
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import reading_of

_MY = re.compile(
    r"^(?:my|our) (?P<noun>[\w' -]{2,60}?)(?:, the one [\w' ]{3,40},)? (?P<verb>is|are|was"
    r"|were|has|have|lives?|works?|runs?|starts?|ends?|means?|teaches|teach|stud(?:y|ies)"
    r"|passed away|died|broke down|lost|grew up|comes?|came|moved|makes?|helps?|got|gave"
    r"|turned|speaks?|uses|includes?|plays?|takes?)\b(?P<rest>(?: .{1,220})?)$",
    re.I,
)
_MY_S = re.compile(
    r"^(my|our) ([\w -]{2,40})'s (?=(?:a|an|the|called|named|from|in|on|allergic|[A-Z]|\d)\b"
    r"|[A-Z])",
    re.I,
)
_PET_NAME = re.compile(
    r"^(?:my|our) (?P<noun>[\w -]{2,30})(?:'s name is|s' names are| is called| is named|,"
    r" named) (?P<name>[A-Z][\w-]{1,20}(?: and [A-Z][\w-]{1,20})?)",
    re.I,
)
_MIND_OF_OTHERS = re.compile(
    r"\b(?:hates?|likes?|loves?|prefers?|dislikes?|enjoys?|thinks?|feels?|wants?|is"
    r" (?:depressed|sick|ill|angry|upset|sad|divorced|divorcing|pregnant|gay|broke|unemployed"
    r"|cheating|drunk|dying|in (?:debt|hospital|rehab))|lost (?:his|her|their) job|divorce"
    r"|cancer|diagnos\w+|salary|fired|arrested|affair|allergic)\b",
    re.I,
)
TOGETHER = re.compile(
    r"^(?P<who>(?:(?:my|our) [\w' -]{2,40}?|[A-Z][a-z]{1,14}(?: and my [\w ]{2,20})?)) and I"
    r" (?P<rest>(?:\w+[' ]?).{2,220})$"
)


_PASSING = words.PASSING_POSSESSIONS - words.DREAMS
_DOING = re.compile(
    r"^(?!(?:learning|studying|training|retiring|expecting)\b)[a-z]+ing\b(?! (?:is|was)\b)", re.I
)


_OF_KIN = frozenset({"is", "lives", "works", "has", "teaches", "studies", "plays", "runs"})
_KIN_NAMED = re.compile(
    rf"^(?P<kin>{'|'.join(sorted(words.KIN, key=len, reverse=True))}) (?P<name>[A-Z][a-z]+)$"
)


def read_possessive(text: str, *, adverbial: str, said: str) -> Reading | None:
    """ "My sister lives in Leeds", "My favourite editor is Vim": what is the speaker's own, without
    the "my".
    """
    named = _PET_NAME.match(text)
    if named and named["noun"].lower() not in {"name", "team"}:
        noun = named["noun"].strip()
        if set(noun.lower().split()) & (words.OTHERS | words.TEAM_ONLY):
            return None
        article = (
            ""
            if noun.lower().endswith("s") and not noun.lower().endswith("ss")
            else ("an " if noun[0].lower() in "aeiou" else "a ")
        )
        return reading_of(
            Family.POSSESSION, f"has {article}{noun} named {named['name']}", adverbial="", said=said
        )
    text = _MY_S.sub(r"\1 \2 is ", text)
    match = _MY.match(text)
    if not match:
        return None
    noun, verb, rest = match["noun"], match["verb"], match["rest"].strip()
    if not rest and verb.lower() not in {"broke down", "passed away", "died"}:
        return None
    nouns = set(noun.lower().replace("'s", "").split())
    if nouns & words.OTHERS or nouns & words.TEAM_ONLY or "and i" in noun.lower() or len(nouns) > 6:
        return None
    if nouns & _PASSING or (verb.lower() in {"is", "are"} and _DOING.match(rest)):
        return None
    if refusals.speaks_of_now(said):
        return None
    if (
        marks.is_task(f"my {noun}")
        or refusals.gives_status(f"{verb} {rest}")
        or marks.PRONOUN_OBJECT.match(rest)
    ):
        return None
    if nouns & {
        "question",
        "problem",
        "issue",
        "guess",
        "point",
        "bad",
        "mistake",
        "understanding",
        "plan",
        "apologies",
        "god",
        "concern",
        "idea",
        "answer",
        "request",
        "boss",
        "phone",
        "laptop",
        "computer",
        "code",
        "screen",
        "battery",
        "internet",
        "wifi",
        "day",
        "week",
        "head",
        "back",
    } and verb not in {"has"}:
        return None
    if nouns & words.KIN and _MIND_OF_OTHERS.search(f"{verb} {rest}"):
        return None
    if (
        nouns & {"aim", "goal", "idea", "intention"} and verb.lower() in {"was", "were"}
    ) or re.match(r"^like (?:that|this)\b", rest, re.I):
        return None
    if re.match(
        r"^(?:so |really |very |pretty |always |just )*(?:awesome|great|amazing|cool|good"
        r"|fine|nice|lovely|wonderful|the best|fantastic|incredible|everything|doing|with"
        r"|here|back|ok|okay|happy|proud|excited|killing)\b",
        rest,
        re.I,
    ):
        return None
    if rest.lower().startswith(
        ("going", "doing", "getting", "not ", "so ", "really ", "being", "killing", "hurting")
    ) and not nouns & {"goal", "dream"}:
        return None
    relative = _KIN_NAMED.match(noun)
    if relative and verb.lower() in _OF_KIN:
        article = "an" if noun[0].lower() in "aeiou" else "a"
        return reading_of(
            Family.POSSESSION,
            f"has {article} {relative['kin']} named {relative['name']} who {verb} {rest}",
            adverbial=adverbial,
            said=said,
        )
    if (
        nouns & words.KIN
        and not {"family", "kids", "parents"} & nouns
        and verb.lower() in {"is", "lives", "works", "has", "teaches", "studies", "plays", "runs"}
        and len(nouns) == 1
        and not noun.lower().endswith("s")
    ):
        article = "an" if noun[0].lower() in "aeiou" else "a"
        return reading_of(
            Family.POSSESSION,
            f"has {article} {noun} who {verb} {rest}",
            adverbial=adverbial,
            said=said,
        )
    return reading_of(Family.ATTRIBUTE, f"{noun} {verb} {rest}", adverbial=adverbial, said=said)
