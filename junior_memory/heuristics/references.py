""" "It helps me relax": what "it" stands for, when what was said before leaves no doubt."""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, marks, refusals
from junior_memory.heuristics.statements import Family, Reading, Statement
from junior_memory.heuristics.wording import reading_of

_EFFECT = re.compile(
    r"^(?:it|that|this)(?P<have>'s| has)? ?(?P<verb>(?:really |also |always |definitely "
    r"|truly |totally ){0,2}(?:helps?|helped|makes?|made|gives?|given|gave|"
    r"keeps?|kept|lets?|brings?|brought|relaxes|calms|inspires?|inspired|motivates?"
    r"|motivated|allows?|taught|changed|means?)) (?P<rest>(?:me|us|my|so much to me|a lot"
    r" to me)\b.{3,140})$",
    re.IGNORECASE,
)
_WAY = re.compile(
    r"^(?:it|that|this)(?P<be>'s been| has been|'s| is| was)(?: really| also| such|"
    r" always){0,2} (?P<what>an? (?:\w+ )?(?:great|good|nice|fun|amazing|awesome"
    r"|wonderful|perfect|important|big|huge|perfect) "
    r"(?:way|outlet|escape|part of my \w+|place|source|experience|hobby) ?(?:(?:for me"
    r" )?(?:to|of|for) .{3,120})?)$",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"^(?:(?:recently|currently|usually|always|often|also|still) )?(?:has |is |was"
    r" )?(?:been )?(?P<verb>\w+) (?:(?:up for|to|into|in|at|on|out) )?"
    r"(?P<topic>(?:an?|the|their) (?:[\w'-]+ ){0,4}?[\w'-]+|\w+ing(?: (?!(?:for|since|on"
    r"|in|with|and|because|when|last)\b)[\w'-]+){0,4})"
    r"(?=[.,;]| (?:for|since|on|in|with|and|because|when|last|from|at|that|which|to|who"
    r"|named|called|next|again|recently|lately|a few|of|about|by|near)\b)",
)
_SOURCES = frozenset(
    {
        Family.EVENT,
        Family.ONGOING,
        Family.HABIT,
        Family.BEING,
        Family.PREFERENCE,
        Family.GOAL,
        Family.POSSESSION,
    }
)
_NOT_A_TOPIC = re.compile(
    r"^(?:an?|the|their) (?:\w+ )?(?:lot|few|bit|way|time|day|week|month|year|friend|friends"
    r"|family|people|one|man|woman|guy|girl|step|chance|great|it)\b"
)


def topic_of(statement: Statement) -> str:
    """What a later "it" may stand for: the one thing or doing that a statement is about, or
    nothing.
    """
    if statement.family not in _SOURCES:
        return ""
    match = _OBJECT.match(statement.content[0].lower() + statement.content[1:])
    if not match or _NOT_A_TOPIC.match(match["topic"]):
        return ""
    topic = re.sub(r"^an? ", "the ", match["topic"])
    return topic if len(topic.split()) >= 2 else ""


def mentions(text: str, topic: str) -> bool:
    """Whether `text` names the head of `topic` ("the weekend yoga class" → "class" or "yoga")."""
    heads = [word for word in refusals.words_of(topic) if len(word) > 3][-2:]
    said = {word.rstrip("s") for word in refusals.words_of(text)}
    return any(head.rstrip("s") in said for head in heads)


_HOLDS_IT = re.compile(
    r"^(?P<head>(?:i|i'm|i've|we|we're|we've)\b(?: [\w'-]+){1,5}?) (?:it|this"
    r"|that)(?P<rest>$| (?:for|since|on|in|with|because|when|at|every|once|twice|a few|to"
    r"|as|about|again|by|from|all|almost|most)\b.{2,120})$",
    re.IGNORECASE,
)


def fill_object(sentence: str, topic: str) -> str:
    """ "I've been doing it for years" with `topic` for "it", as the speaker would have said it; or
    nothing.
    """
    match = _HOLDS_IT.match(canonical.trim_tail(sentence))
    if not match or marks.LISTENER.search(sentence):
        return ""
    return f"{match['head']} {topic}{match['rest']}"


_I_FIND = re.compile(
    r"^i (?:(?:really|also|always|just) )?(?:find|feel|think)(?: that)? "
    r"(?=it (?:really |also |always )?"
    r"(?:helps?|makes?|gives?|keeps?|lets?|brings?|relaxes|calms)\b)",
    re.IGNORECASE,
)


def resolve(sentence: str, topic: str) -> Reading | None:
    """The fact of a sentence about "it" with `topic` in its place; None when it is of another
    form.
    """
    text = _I_FIND.sub("", canonical.trim_tail(sentence))
    if marks.LISTENER.search(text):
        return None
    effect = _EFFECT.match(text)
    if effect:
        have = "has " if effect["have"] else ""
        return reading_of(
            Family.INFLUENCE,
            f"finds that {topic} {have}{effect['verb']} {effect['rest']}",
            adverbial="",
            said=sentence,
        )
    way = _WAY.match(text)
    if way:
        be = {"'s": "is", "'s been": "has been"}.get(way["be"].lower(), way["be"].strip())
        return reading_of(
            Family.INFLUENCE,
            f"finds that {topic} {be} {way['what'].replace('for me ', '')}",
            adverbial="",
            said=sentence,
        )
    return None
