"""Sentences → clauses: greetings, vocatives and announcements off, a fronted "when …" behind its
main clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_CLAUSES = 6

_INTERJECTION = (
    r"(?:hey|hi|hello|hiya|yo|wow|whoa|woah|"
    r"(?:oh|ah|aw) (?:yeah|yes|no|man|wow|boy|well)|oh|ooh|ah|aw+|ha(?:ha)*|lol|yeah|yep|yes|yup"
    r"|yea|no|nope|nah|sure|okay|ok|well|so"
    r"|thanks|thank you|thx|cheers|cool|great|awesome|nice|sweet|amazing|wonderful"
    r"|fantastic|perfect|right|exactly|totally"
    r"|absolutely|definitely|for sure|of course|true|agreed|indeed|anyway|anyways"
    r"|actually|honestly|seriously|btw|fyi|ps|p\.s"
    r"|by the way|to be honest|tbh|in fact|as a matter of fact|fun fact|also|plus|and|but"
    r"|speaking of(?: which)?|oops|sorry|alright|hmm+|um+|uh+"
    r"|look|listen|guess what|you know what|you know|i mean|good question|thanks for"
    r" asking|glad you asked|congrats"
    r"|not really|not much|no worries|no problem|same here|me too|likewise|correction"
    r"|wait|unfortunately|luckily|fortunately"
    r"|sadly|thankfully|happily|sometimes i feel like|good news|big news|great news"
    r"|update|for the record|just so you know"
    r"|as you know|as i said|like i said|as mentioned|in general|in short|overall"
    r"|personally|remember|note|reminder|first|first of all|firstly|second|secondly|third"
    r"|finally|lastly|then|now|still|besides|otherwise)"
)
_LEADER = re.compile(
    rf"^{_INTERJECTION}(?:[,!.:]+ *| +(?=(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our|it was"
    rf"|it's)\b))",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:hey|hi|hello|thanks|thank you|wow|yeah|yep|yes|sure|aw+|oh|no|nope|congrats"
    r"|cheers|sorry|good morning|good evening)"
    r"(?: so much| a lot| a million| there| again)?,? +(?:[A-Z][a-z]{1,14}|there|all"
    r"|everyone|team|folks|buddy|man|bro|dude|mate|girl)(?:[,!.:]+ *| +(?=(?:I|I'm|I've"
    r"|My|my|We)\b))"
)
_VOCATIVE = re.compile(
    r"^[A-Z][a-z]{1,14}, (?=(?:i|i'm|i've|i'd|my|we|we're|we've)\b)", re.IGNORECASE
)
_TRAILING_VOCATIVE = re.compile(r", (?:[A-Z][a-z]{1,14}|buddy|man|bro|dude|mate|girl|folks|team)$")
_ANNOUNCEMENT = re.compile(
    r"^(?:(?:i(?:'m| am)|we(?:'re| are)) (?:so |really |super |very |just |also"
    r" )?(?:excited|happy|thrilled|glad|pleased|proud|stoked|pumped) to"
    r" (?:tell|share|say|announce|report)(?: with)?(?: you| everyone)?(?: all| guys)?(?: that)?,?"
    r"|(?:i )?(?:just )?(?:wanted|want|have|had|gotta|got|need|should|must|can|would like"
    r"|'d like) to (?:tell|share|let|say|mention|admit|add|note|point out)(?: with)?(?:"
    r" you)?(?: all)?(?: know)?(?: some (?:\w+ ){0,2}news)?(?: that\b|:|,)?"
    r"|i (?:must|should) (?:say|admit|mention|add)(?: that)?,?"
    r"|(?:just )?so (?:that )?you know,?|it's (?:a pity|a shame|too bad)(?: that)?"
    r"|you should know(?: that)?|let me tell you(?:"
    r" that)?,?|did i (?:tell|mention)(?: you)?(?: that)?"
    r"|(?:please )?(?:remember|note|keep in mind|bear in mind|be aware|don't forget|do"
    r" not forget|never forget)(?: for (?:later|the future|next time))?(?: that\b|:|,)"
    r"|(?:please )?(?:save|store|record|memorize|memorise|make a note|take note)(?:"
    r" (?:this|it|of this|to memory))?(?: for (?:later|the future|next time))?(?: that\b"
    r"|:)"
    r"|for (?:your|future) (?:information|reference),?|the (?:thing|truth|fact|problem"
    r"|point) is(?: that)?,?|turns out(?: that)?,?|it turns out(?: that)?,?"
    r"|as (?:for me|i (?:told|mentioned|said)[^,]{0,40}),|for me personally,|if (?:you"
    r" must know|i'm honest|i am honest),|last but not least,"
    r"|since (?:we|our|the)(?: last)? ?(?:last |chat|talk|spoke|met"
    r"|conversation)[^,]{0,40}?(?:,|(?= (?:i|i've|i'm) ))|guess what(?: i did(?: this"
    r" week)?)?,?)\s+",
    re.IGNORECASE,
)
_NEWS = re.compile(r"^[^,:]{0,60}\bnews[:,]? (?=(?:i|i'm|i've|my|we)\b)", re.IGNORECASE)
REMEMBER = re.compile(
    r"^(?:(?:hey|hi|ok|okay|also|and|so|oh|please|pls|can you|could you|would you|will"
    r" you|you should|i want you to|i'd like you to)[, ]+){0,3}"
    r"(?:remember|note|keep in mind|bear in mind|don't forget|do not forget|never forget"
    r"|make a note|take note|memorize|memorise|save|store|add to (?:your )?memory|be"
    r" aware|for future reference)"
    r"(?: (?:this|it|down|of this|to memory|for (?:later|the future|next time)))*(?:"
    r" that\b|[:,]| (?=(?:i|i'm|my|we|our|the)\b))\s*",
    re.IGNORECASE,
)
"""An explicit wish to have something kept; what follows is the fact."""

_TIME_FRONT = re.compile(
    r"^((?:last|next|this past|this) (?:night|week|weekend|month|year|summer|winter"
    r"|spring|fall|autumn|mon|tues?|wed|thurs?|fri|sat|sun|\w+day)"
    r"|yesterday(?: morning| afternoon| evening)?|today|tomorrow|recently|lately|nowadays"
    r"|these days|currently|sometimes|usually|normally|typically|generally|often|mostly"
    r"|every (?:(?:single|other|second|few) )?(?:day|night|week|weekend|month|year|summer"
    r"|winter|spring|fall|autumn|morning|evening|afternoon|time|\w+day)(?: (?:morning"
    r"|evening|night|afternoon))?|(?:about |around )?(?:a|an|one|two|three|four|five|six"
    r"|seven|\d{1,2}|a few|a couple of|several) (?:day|week|month|year)s? ago"
    r"|(?:in|back in|since) (?:\d{4}|january|february|march|april|may|june|july|august"
    r"|september|october|november|december)(?: \d{4})?"
    r"|(?:on|at) (?:mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays"
    r"|weekends|weekdays|nights?)|(?:for|over|during) the (?:last|past) (?:\w+ ){0,2}\w+"
    r"|growing up|as a (?:kid|child|teenager|student|rule)|back then|in the (?:mornings?"
    r"|evenings?|afternoons?|past|future|meantime)|at (?:home|work|night|school|uni)|for"
    r" (?:work|fun|breakfast|lunch|dinner)|most (?:mornings|days|evenings|nights"
    r"|weekends)),? +(?=(?:i|i'm|i've|i'd|we|we're|we've|my)\b)",
    re.IGNORECASE,
)
_SUBORDINATE_FRONT = re.compile(
    r"^((?:when|whenever|while|since|after|before|because|although|though|once|until"
    r"|during|in|on|at|for|with|as|growing up|by|apart from|besides|instead of|aside from"
    r"|thanks to|due to|outside of|over)"
    r" [^,]{2,110}), (?=(?:i|i'm|i've|i'd|we|we're|we've|my)\b)",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r",? (?:and|but|so|plus|except(?: that)?|and so|and then|then|yet) "
    r"(?=(?:i|i'm|i've|i'd|we|we're"
    r"|we've)\b(?! (?:guess|suppose|bet)\b)|my \w+ (?:is|are|was|has|runs|lives|works"
    r"|means|starts)\b|my (?:[\w-]+"
    r" ){1,3}(?:invited|gave|offered|taught|introduced) me\b|(?:last|next) \w+,? (?:i"
    r"|we)\b|now (?:i|i'm|we|we're)\b)"
    r"|,? (?:but|and|so) (?=it(?:'s| was| is|'s been) \w+)|,? (?:but|so)"
    r" (?=[a-z]+ing\b[^,]{0,60} (?:helps|makes|gives|brings|keeps) (?:me|us)\b)"
    r"|, (?=(?:i|i'm|i've|we're|we've)\b)"
    r"|\s?[-\u2013\u2014]+ (?=(?:i|i'm|i've|we|we're|we've)\b)"
    r"|: (?=(?:i|i'm|i've|my|we)\b)|, (?=just"
    r" (?:finished|started|bought|got) )|, (?=just (?:learning|working on|practi[cs]ing"
    r"|studying|reading|training|writing|finishing|starting) )|, (?=got (?:married"
    r"|engaged|promoted|hired|accepted)\b)",
    re.IGNORECASE,
)
_COMPANION = re.compile(r"^(?:(?:my|our) [\w'-]+(?: [\w'-]+)?|[A-Z][a-z]+(?: and my \w+)?)$")
_SUBORDINATORS = re.compile(
    r"\b(?:when|whenever|while|because|if|that|since|after|before|until|where|which|who|as"
    r"|than|unless|what|how)$",
    re.IGNORECASE,
)
_ELLIPTIC = (
    (
        re.compile(
            r"^(?:just |still |super |really )?busy with (?!it\b|that\b|this\b|them\b)\w+", re.I
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"^(?:definitely )?adding (?!it\b|that\b|this\b|them\b|one\b)"
            r"[\w' -]{2,40} to my (?:\w+ )?list",
            re.I,
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"^gonna (?!be\b)|^going to (?!be\b)(?!.* (?:is|was|are|has|have|helps|helped|made"
            r"|makes|gives|gave|can|sounds)\b)|^(?:planning (?:to|on)|hoping to|thinking (?:of"
            r"|about)|looking forward to|trying to|working on|learning (?!.*\b(?:is|was|are|has"
            r"|have|helps|made|makes|gives|gave|can|sounds|takes)\b))",
            re.I,
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"^just (?:learning|working on|practi[cs]ing|studying|reading|training|writing"
            r"|finishing|starting) \w+",
            re.I,
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"^(?:(?:so|super|really|very|also|still|just|and) )*(?:excited|thrilled|happy|proud"
            r"|grateful|thankful|stoked|pumped|nervous|lucky|fortunate|blessed|eager|keen|ready"
            r"|determined|passionate|obsessed|hooked) (?:to|about|for|of|on|that i|with) (?!hear"
            r"|see|it\b|that\b|this\b|them\b|you)\w+",
            re.I,
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"^(?:currently|now|mostly|just|still|also) (?!being|having|saying|checking|asking"
            r"|wondering|looking|seeing|hearing|getting|going|waiting)[a-z]+ing (?!it\b|that\b"
            r"|this\b|them\b|you)\w+ \w+",
            re.I,
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"^can't wait to (?!see\b|hear\b|know\b|talk\b|chat\b|catch\b|meet you|find out|go\b"
            r"|it\b)\w+ (?!it\b|that\b|this\b|them\b|you)\w+ \w+",
            re.I,
        ),
        "I ",
    ),
    (re.compile(r"^(?:been \w+ing|always been|always wanted|never been)\b", re.I), "I've "),
    (
        re.compile(
            r"^(?:just |recently |finally |also |even )?(?:started|joined|went|got (?:a|an|my|to"
            r"|back|into|some)|bought|finished|took|adopted|signed up|visited|decided|began|spent"
            r"|grew up|used to)\b(?! (?:by|me)\b)",
            re.I,
        ),
        "I ",
    ),
    (
        re.compile(
            r"^just (?:[a-z]{3,}ed|got|had|saw|met|read|went|came|took|made|bought|found|won"
            r"|signed) (?!it\b|that\b|this(?! \w+ (?:of|about|for)\b)|by\b)",
            re.I,
        ),
        "I ",
    ),
    (
        re.compile(
            r"^(?:just |recently |finally |also |even )?(?:[a-z]{3,}ed|made|met|moved|ran|won"
            r"|broke|wrote|read|lost|saw|had|taught|built|drove|flew|rode) (?:my|our) ",
            re.I,
        ),
        "I ",
    ),
    (
        re.compile(
            r"^(?:just |recently |finally )?got (?:married|engaged|promoted|hired|accepted"
            r"|divorced)\b",
            re.I,
        ),
        "I ",
    ),
    (
        re.compile(
            r"^(?:researching|studying|training for|saving for|preparing for|volunteering"
            r"|practicing|teaching myself) (?!.* (?:is|was|are|can|has|helps|makes|takes)\b)\w+",
            re.I,
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"^(?:love|hate|prefer|can't stand|don't (?:like|eat|drink)|really (?:love|like"
            r"|enjoy))\b(?! (?:and|is|was|has|makes|can|it|that|this|the|those|these|your?|how|what"
            r"|when|to (?:see|hear|know)|seeing|hearing you)\b)",
            re.I,
        ),
        "I ",
    ),
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause with the adverbial that stood before it ("when …", "last Friday"), without its
    comma.
    """

    text: str
    adverbial: str = ""


def strip_leaders(text: str) -> str:
    """`text` without greetings, names called, interjections and announcements before it."""
    for _ in range(6):
        before = text
        for pattern in (_GREETING, _LEADER, _VOCATIVE, _ANNOUNCEMENT, _NEWS):
            text = pattern.sub("", text, count=1).lstrip(" ,:")
        if text == before:
            break
    return _TRAILING_VOCATIVE.sub("", text)


def split_clauses(text: str) -> tuple[Clause, ...]:
    """The clauses of one sentence that may stand alone, each with its fronted adverbial, at most
    MAX_CLAUSES.
    """
    text = strip_leaders(text)
    adverbial = ""
    for pattern in (_TIME_FRONT, _SUBORDINATE_FRONT):
        match = pattern.match(text)
        if match:
            adverbial, text = match[1], text[match.end() :]
            break
    pieces: list[str] = []
    start = 0
    for match in _JOINT.finditer(text):
        if (
            len(pieces) >= MAX_CLAUSES - 1
            or _COMPANION.match(text[start : match.start()])
            or _SUBORDINATORS.search(text[start : match.start()])
        ):
            continue
        pieces.append(text[start : match.start()])
        start = match.end()
    pieces.append(text[start:])
    clauses: list[Clause] = []
    for place, piece in enumerate(pieces):
        body = strip_leaders(piece.strip(" ,:"))
        fronted = adverbial if not place else ""
        later = _TIME_FRONT.match(body) if place else None
        if later:
            fronted, body = later[1], body[later.end() :]
        if body:
            clauses.append(Clause(text=_with_subject(body), adverbial=fronted))
    return tuple(clauses)


def _with_subject(text: str) -> str:
    """Chat drops its subject ("Been learning piano"): the speaker's "I" is put back."""
    for pattern, subject in _ELLIPTIC:
        if pattern.match(text):
            return f"{subject}{text[0].lower()}{text[1:]}"
    return text
