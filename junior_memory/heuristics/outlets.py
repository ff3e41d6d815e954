"""What something is to somebody: "Cooking is therapy for me", "The sea is my way to calm down"."""

from __future__ import annotations

import re

from junior_memory.heuristics import marks
from junior_memory.heuristics.statements import Family, Reading
from junior_memory.heuristics.wording import inside, reading_of

WEAK_SUBJECT = re.compile(
    r"^(?:it|that|this|they|these|those|he|she|you|there|which|who|what|and|but|so|seeing"
    r" (?:it|that|them)|knowing|hearing|being there|your|i|we|everyone|everything|someone"
    r"|something|nothing|just|having (?:you|it|them)|thing|doing (?:it|that|this)|all|hope"
    r"|wish|glad|let|please|her|his|their|its|really|hang|don't|fingers|stuff|to|when|if|wow|take|keep|give|tell|go|enjoy"
    r"|sounds|looks|seems|got|can|cannot|could|would|each|no|not|as|like|love|thank|thanks)\b",
    re.I,
)
"""Heads of a sentence that name nothing a memory could be about."""

_SOME_OF_MY = re.compile(
    r"^(?:one|two|three|some|a few|many) of my (?P<kind>(?:all-time )?(?:favou?rites?|faves?)"
    r"(?: [a-z]+){0,2}) (?:is|are) (?P<what>(?!that\b|when\b|how\b|to\b|because\b|it\b).{3,80})$",
    re.I,
)
_GERUND_IS_MY = re.compile(
    r"^(?P<subject>(?!(?:being there|thing|something|nothing|everything|anything|seeing you)\b)"
    r"[A-Za-z]+ing(?: (?!(?:it|this|that|you|them)\b)[\w'-]+){0,6}?)(?:'s| is)"
    r" (?:also |really |always )?(?:(?P<mine>my (?!(?:problem|job|task|question|goal|plan)\b)"
    r"[\w -]{3,24})|(?P<what>(?!(?:hard|new|not|too|so|fine|ok|good|great|fun|cool)\b)(?:like )?"
    r"[a-z]+(?: [a-z]+)?) (?:for|to) me)$",
    re.I,
)
_MY_WAY = re.compile(
    r"^(?P<subject>[A-Za-z][\w' -]{2,50}?)(?:'s| is| are) (?:also |really |always |such )?"
    r"(?P<what>an? (?:\w+ ){0,2}(?:way|outlet|escape|place|source|reminder) (?:for me )?"
    r"(?:to|of|for|that) .*\b(?:my|me|myself)\b.{0,80})$",
    re.I,
)
_MOST_IMPORTANT = re.compile(
    r"^(?P<subject>[A-Z][\w', -]{3,50}?)(?:'s| is| are) (?:always |definitely )?"
    r"(?P<what>the most (?:important|precious|valuable) thing) (?:to|for|in) (?:me|us|my life)$",
    re.I,
)


def read_outlet(text: str, *, said: str) -> Reading | None:
    """ "Cooking is therapy for me" → "Sees cooking as therapy."; favourites counted likewise."""
    some = _SOME_OF_MY.match(text)
    if some and not marks.is_task(text):
        return reading_of(
            Family.PREFERENCE,
            f"counts {some['what']} among my {some['kind']}",
            adverbial="",
            said=said,
        )
    owned = _GERUND_IS_MY.match(text)
    if owned and not marks.is_task(text):
        return reading_of(
            Family.INFLUENCE,
            f"sees {inside(owned['subject'])} as {owned['mine'] or owned['what']}",
            adverbial="",
            said=said,
        )
    way = _MY_WAY.match(text)
    if way and not WEAK_SUBJECT.match(way["subject"]) and not marks.is_task(text):
        return reading_of(
            Family.INFLUENCE,
            f"sees {inside(way['subject'])} as {way['what'].replace('for me ', '')}",
            adverbial="",
            said=said,
        )
    first = _MOST_IMPORTANT.match(text)
    if first and not WEAK_SUBJECT.match(first["subject"]) and not marks.is_task(text):
        return reading_of(
            Family.INFLUENCE,
            f"sees {inside(first['subject'])} as {first['what']} in life",
            adverbial="",
            said=said,
        )
    return None
