""" "How long have you been painting?" "Seven years now.": short answers, read with the question
they answer.

The answer is the person's own statement; of the question only its verb and object are taken, and
only in a few fixed forms.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, marks, refusals, words
from junior_memory.heuristics.clauses import strip_leaders
from junior_memory.heuristics.sentences import split_sentences
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import reading_of

_MAX_ASKED = 8
"""Words of a question that go into the fact; a longer one is a story of its own."""

_SPAN = (
    r"(?P<span>(?:for |since )(?!sure\b|example\b|it\b|that\b|now\b)[^,;]{3,60}"
    r"|(?:(?:about|around|almost|nearly|over|maybe|roughly|like) )?"
    r"(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|a few|a couple(?: of)?"
    r"|several|many) (?:\w+ )?(?:years?|months?|weeks|decades?)(?: or so)?)"
)
_OFTEN = (
    r"(?P<often>(?:(?:about|around|at least|usually|maybe|roughly) )?"
    r"(?:(?:once|twice|(?:two|three|four|five|six|\d|a few|several)(?: or \w+| to \w+)? times)"
    r" (?:a|per|every|each) (?:day|week|month|year)"
    r"|every (?:other |single )?(?:day|week|weekend|month|year|summer|winter|morning|evening"
    r"|night|\w+day)|daily|weekly|monthly))"
)
_ASKS_HOW_LONG = re.compile(
    r"\bhow long have you (?:guys )?been (?P<doing>[a-z]+ing(?: [\w' -]{2,60})?)$", re.IGNORECASE
)
_HOW_LONG = re.compile(
    rf"^(?:(?:i have |i've )?(?:actually |now )?been (?:at it|[a-z]+ing(?: (?:it|this|that|them"
    rf"|[\w' -]{{3,30}}?))?) )?{_SPAN}(?: now)?(?:,? (?:and|but|so) .*| - .*|, .*)?$",
    re.IGNORECASE,
)
_ASKS_HOW_OFTEN = re.compile(
    r"\bhow often do you (?:guys |all |usually |normally )?(?P<do>[a-z]+(?: [\w' -]{2,60})?)$",
    re.IGNORECASE,
)
_HOW_OFTEN = re.compile(
    rf"^(?:i (?:usually |try to |normally )?[a-z]+(?: (?:it|there|them|that)| [\w' -]{{3,30}}?)? )?"
    rf"{_OFTEN}(?:[,;:]? (?:and|but|so|it|which|because)\b.*| - .*|[,;] .*)?$",
    re.IGNORECASE,
)
_ASKS_FAVOURITE = re.compile(
    r"\b(?:(?:what|which|who)(?:'s| is| are) your|do you have an?(?:y)?) "
    r"(?P<what>(?:all-time )?favou?rite [\w' -]{3,50})$",
    re.IGNORECASE,
)
_ASKS_WHERE = re.compile(
    r"\bwhere (?:do|are) you (?P<verb>from|live|living|work|based)(?: now| currently)?$",
    re.IGNORECASE,
)
_ASKS_KIND = re.compile(
    r"\b(?:what|which) (?:kind|kinds|type|types|sort|sorts|genre|genres) of [\w -]{3,30} do you "
    r"(?:usually |normally |mostly |like to )?(?P<verb>play|read|watch|cook|write|paint|make"
    r"|collect|listen to|teach|like|enjoy|prefer)$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^(?:(?:definitely|probably|easily|mostly|mainly|usually) |i'd say |i would say |it's "
    r"|that would be |that'd be |it has to be |gotta be |it would be )*"
    r"(?P<name>\"[^\"]{2,60}\"|[\w'&.-]+(?:,? [\w'&.-]+){0,6}?)"
    r"(?:,? (?:of course|for sure|hands down|by far))?(?:[,;] .*| - .*)?$",
    re.IGNORECASE,
)
_NOT_NAMED = re.compile(
    r"\b(?:i|i'm|i've|i'd|my|we|you|your|it|it's|that|that's|this|they|he|she|them|one|ones|none"
    r"|both|all|any|hard|tough|tricky|difficult|good|great|nice|question|depends|yes|no|not|nope"
    r"|yeah|yep|sure|is|are|was|were|be|have|has|had|do|does|did|can|will|would|love|like|think"
    r"|here|there|these|those|thanks|many|lots|lot|choose|pick|maybe|something|anything"
    r"|everything|wow|hmm|well|let|look|check|same)\b",
    re.IGNORECASE,
)
_ASKS_NAMES = re.compile(
    r"\bwhat(?:'s| is| are| were) (?:the )?(?:names? of your (?P<of>[a-z]+(?: [a-z]+)?)"
    r"|your (?P<whose>[a-z]+(?: [a-z]+)?)(?:'s|s') names?)$",
    re.IGNORECASE,
)
_NAMES = re.compile(
    r"^(?:(?:(?:his|her|its|their|His|Her|Its|Their) names?(?:'s| is| are)"
    r"|(?:[Hh]e|[Ss]he|[Tt]hey|[Ii]t)(?:'s|'re| is| are) called|[Tt]hey're|[Ii]t's) )?"
    r"(?P<names>[A-Z][a-z]{1,14}(?:(?:, | and |, and )[A-Z][a-z]{1,14}){0,3})"
    r"(?:,? (?:and|but|so|who)\b.*|[,;] .*| - .*)?$"
)
_PETS = frozenset(
    "pet dog cat puppy pup kitten rabbit parrot hamster turtle horse bird fish pig".split()
)
_LIKE_THAT = re.compile(r" like (?:that|this|these|those)\b", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:it|this|that|these|those|them|there|here|one|so|he|she|his|her|him|they)\b",
    re.IGNORECASE,
)


def read_answer(asked: str, sentence: str) -> Reading | None:
    """What `sentence` says as the answer to the last question of the message `asked`; None when
    either has another form.
    """
    questions = [one.text for one in split_sentences(asked) if one.asks]
    answer = canonical.trim_tail(strip_leaders(sentence)).strip(" .!")
    if not questions or not answer or marks.LISTENER.search(answer):
        return None
    if (
        refusals.is_unsure(answer)
        or refusals.is_hypothetical(answer)
        or refusals.is_reported(answer)
    ):
        return None
    question = _LIKE_THAT.sub("", questions[-1].strip(" ?!."))
    names = next((m for one in questions if (m := _ASKS_NAMES.search(one.strip(" ?!.")))), None)
    if names:
        return _read_names((names["of"] or names["whose"]).lower(), strip_leaders(sentence))
    return (
        _read_span(question, answer)
        or _read_often(question, answer)
        or _read_named(question, answer)
    )


def _usable(asked: str) -> bool:
    return len(asked.split()) <= _MAX_ASKED and not (
        _POINTS.search(asked) or marks.is_task(asked) or refusals.speaks_of_now(asked)
    )


def _theirs(asked: str) -> str:
    return re.sub(r"\byour\b", "their", asked.strip(), flags=re.IGNORECASE)


def _read_span(question: str, answer: str) -> Reading | None:
    asks, says = _ASKS_HOW_LONG.search(question), _HOW_LONG.match(answer)
    if not asks or not says or not _usable(asks["doing"]):
        return None
    span = says["span"].strip()
    span = re.sub(r"^(?:maybe|like) ", "about ", span, flags=re.IGNORECASE)
    span = span[0].lower() + span[1:]
    if not span.startswith(("for ", "since ")):
        span = f"for {span}"
    doing = _theirs(asks["doing"])
    return reading_of(Family.ONGOING, f"has been {doing} {span}", adverbial="", said=answer)


def _read_often(question: str, answer: str) -> Reading | None:
    asks, says = _ASKS_HOW_OFTEN.search(question), _HOW_OFTEN.match(answer)
    if not asks or not says or not _usable(asks["do"]):
        return None
    does = canonical.third_person_predicate(_theirs(asks["do"]).split())
    often = says["often"][0].lower() + says["often"][1:]
    return reading_of(Family.HABIT, f"{does} {often}", adverbial="", said=answer) if does else None


def _read_names(who: str, answer: str) -> Reading | None:
    says = _NAMES.match(answer.strip(" .!"))
    kin = who.rsplit(" ", 1)[-1]
    if not says or not {kin, kin.removesuffix("s")} & (words.KIN | _PETS):
        return None
    several = " and " in says["names"] or "," in says["names"]
    if several:
        held = who if who.endswith("s") or who in {"children", "kids"} else f"{who}s"
    else:
        one = who.removesuffix("s")
        held = f"an {one}" if one[0] in "aeiou" else f"a {one}"
    return reading_of(
        Family.POSSESSION, f"has {held} named {says['names']}", adverbial="", said=answer
    )


def _read_named(question: str, answer: str) -> Reading | None:
    says = _NAMED.match(answer)
    if not says or _NOT_NAMED.search(says["name"]):
        return None
    name = says["name"]
    asks = _ASKS_FAVOURITE.search(question)
    if asks and _usable(asks["what"]):
        be = "are" if asks["what"].endswith("s") and not asks["what"].endswith("ss") else "is"
        return reading_of(
            Family.PREFERENCE, f"{_theirs(asks['what'])} {be} {name}", adverbial="", said=answer
        )
    where = _ASKS_WHERE.search(question)
    place = re.sub(r"^(?:in|from|at|near) ", "", name, flags=re.IGNORECASE)
    if where and place[:1].isupper():
        verb = {"from": "is from", "work": "works at"}.get(where["verb"].lower(), "lives in")
        return reading_of(Family.BEING, f"{verb} {place}", adverbial="", said=answer)
    kind = _ASKS_KIND.search(question)
    if kind:
        verb, _, beyond = kind["verb"].lower().partition(" ")
        does = canonical.third_person_predicate([verb, *beyond.split()])
        named = name[0].lower() + name[1:] if name[1:].islower() and " " not in name else name
        return reading_of(Family.PREFERENCE, f"{does} {named}", adverbial="", said=answer)
    return None
