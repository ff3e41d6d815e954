"""What follows "I am" and "I have": roles, traits, what goes on for long, what somebody owns or
has lived through.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import aims, canonical, marks, refusals, words
from junior_memory.heuristics.statements import Family

_PLACE_STATE = re.compile(
    r"^(?:at|in|on|off|out|with|under|behind|between|near|outside|inside|over|up|down|after"
    r"|by|the one|about|just|through|not sure|to)\b",
    re.I,
)
_DURABLE_PREPOSITION = re.compile(
    r"^(?:from|into|on (?:a|an|the) (?:\w+[- ]){0,2}(?:diet|team|board|committee"
    r"|medication)|in charge of|in my (?:\w+ )?(?:twenties|thirties|forties|fifties"
    r"|sixties|\d0s)|in (?:the|my) (?:\w+ )?(?:\w+ )?(?:year|grade|band|choir|team"
    r"|military|army|navy|class|club|program|programme|course|league)\b|off to [A-Z]\w+"
    r"|in the middle of (?!(?:it|this|that|something|the)\b)\w+"
    r"|in (?:a )?(?:relationship|recovery|remission|therapy)|in (?:utc|gmt|cet|est|pst"
    r"|the \w+ time ?zone)|on [A-Z]\w+ time|against|for (?:a )?(?:four-day|remote)|in"
    r" love with|with the (?:\w+ )?team|about to (?:become|move|retire|graduate))\b"
)
_NATIONALITY = re.compile(
    r"^(?:half[- ])?[A-Z][a-z]+(?:ian|ish|ese|an|ch|ic|sh|man|i|Swiss|Greek|Thai|Dutch|Welsh"
    r"|Czech)\b(?! \w+ing)|^(?:half[- ])?(?:Swiss|Greek|Thai|Dutch|Welsh|Czech|French)\b"
)
_AGE = re.compile(
    r"^(?:a )?(?:\d{1,3}|\w+teen|twenty|thirty|forty|fifty|sixty)(?:[- ](?:one|two|three|four"
    r"|five|six|seven|eight|nine))?(?:[ -]years?[ -]old\b|$)",
    re.I,
)
_ARTICLE = re.compile(r"^(?:a|an|the|one of|part of|my|our) ", re.I)
_EMPTY_NOUN = re.compile(
    r"^(?:a|an|the|one) (?:bit|little|mess|wreck|while|tad|few|idiot|fool|one|same|only one"
    r"|first|last|next|person (?:here|asking)|day|way|lot|loss|hurry|rush|meeting|point|bus"
    r"|train|plane|office|airport)\b",
    re.I,
)
_LIKES_ROLE = re.compile(r"^(?:a |an )?(?:\w+ )?(?:fan|sucker|lover)\b", re.I)


def read_state(after: list[str], *, marked: bool, whole: str) -> tuple[Family | None, str | None]:
    """What follows "I am": a role, an origin, a trait, something that goes on for long."""
    nothing: tuple[Family | None, str | None] = (None, None)
    adverbs, rest = canonical.split_adverbs(after)
    denied = rest[:1] == ["not"]
    if denied:
        _, rest = canonical.split_adverbs(rest[1:])
    while (
        rest
        and rest[0].lower()
        in {"so", "very", "pretty", "quite", "super", "too", "really", "extremely", "a", "such"}
        and len(rest) > 1
    ):
        if rest[0].lower() == "a":
            break
        rest = rest[1:]
    if not rest:
        return nothing
    verb = rest[0].lower().strip(",")
    tail = " ".join(rest)
    beyond = " ".join(rest[1:])
    words_after = ["am", *(["not"] if denied else []), *adverbs, *rest]
    text = canonical.third_person_predicate(words_after)
    if verb in {"gonna", "going"} and (verb == "gonna" or beyond.startswith("to ")):
        aim = beyond.removeprefix("to ")
        if denied or not aims.aims_at_life(aim):
            return nothing
        return Family.GOAL, f"plans to {aim}"
    if {"always"} & set(adverbs) and re.match(r"^looking for (?!(?:it|that)\b)\w+ \w+", tail):
        return Family.PREFERENCE, text
    if verb.endswith("ing") and verb not in {"willing", "king", "sibling"}:
        return (
            (Family.ONGOING, text)
            if goes_on(verb, beyond, marked=marked, whole=whole, denied=denied)
            else nothing
        )
    if verb in words.DURABLE_STATES:
        if verb in {"scared", "afraid", "terrified", "proud"} and not beyond.startswith(
            ("of ", "to ")
        ):
            return nothing
        if beyond and marks.PRONOUN_OBJECT.match(beyond):
            return nothing
        return Family.ATTRIBUTE, text
    if (
        _AGE.match(tail)
        or _NATIONALITY.match(tail)
        or (_DURABLE_PREPOSITION.match(tail) and not marks.PRONOUN_OBJECT.match(beyond))
    ):
        return Family.ATTRIBUTE, text
    if _ARTICLE.match(tail) and not _EMPTY_NOUN.match(tail) and not marks.is_task(tail):
        if (
            denied
            and not _LIKES_ROLE.match(tail)
            and not re.match(
                r"^an? (?:\w+ )?(?:person|speaker|smoker|drinker|eater|reader|gamer|developer"
                r"|programmer|driver|swimmer|cook|citizen)\b",
                tail,
            )
        ):
            return nothing
        if refusals.speaks_of_now(whole) or re.match(r"^(?:my|our) ", tail, re.I):
            return nothing
        return (Family.PREFERENCE if _LIKES_ROLE.match(tail) else Family.ATTRIBUTE), text
    if marked and verb not in words.TRANSIENT_STATES and not _PLACE_STATE.match(tail):
        return Family.ATTRIBUTE, text
    if re.match(r"^(?:always )?on the lookout for (?!(?:it|that)\b)\w+", tail, re.I):
        return Family.PREFERENCE, text
    if (
        verb in {"good", "bad", "terrible", "great", "decent"}
        and beyond.startswith(("at ", "with "))
        and not marks.PRONOUN_OBJECT.match(beyond)
    ):
        return Family.ATTRIBUTE, text
    if {"always"} & set(adverbs) and re.match(
        r"^(?:excited|happy|eager|ready|keen|up|down) (?:to|for) (?!(?:hear|see|help|it"
        r"|that)\b)\w+ \w+",
        tail,
    ):
        return Family.ATTRIBUTE, text
    if (
        re.match(
            r"^(?:ready|eager|determined|excited|hoping) to (?!(?:hear|see|help you|it)\b)\w+", tail
        )
        and len(rest) >= 5
        and aims.aims_at_life(" ".join(rest[2:]))
    ):
        return Family.GOAL, text
    if re.match(
        r"^(?:much |way |a lot )?(?:happier|better off|healthier|more \w+) (?:being|when|with"
        r"|around|since|without|because)\b",
        tail,
    ):
        return Family.FEELING, text
    if (
        verb
        in {
            "excited",
            "thankful",
            "grateful",
            "happy",
            "stoked",
            "thrilled",
            "nervous",
            "lucky",
            "blessed",
            "overwhelmed",
            "inspired",
        }
        and len(rest) >= 6
    ):
        if marks.PRONOUN_OBJECT.match(beyond) or beyond.startswith(
            (
                "it's",
                "they",
                "you",
                "for it",
                "about it",
                "to hear",
                "to see",
                "that",
                "to help",
                "for your",
                "for you",
                "we",
                "i ",
            )
        ):
            return nothing
        return Family.FEELING, text
    return nothing


def goes_on(verb: str, beyond: str, *, marked: bool, whole: str, denied: bool) -> bool:
    """Whether "I am …ing" says something that goes on for weeks or more."""
    if (
        denied
        or verb not in words.ONGOING_VERBS
        or not beyond
        or marks.PRONOUN_OBJECT.match(beyond)
    ):
        return False
    if marks.is_task(beyond) and not marked:
        return False
    if refusals.speaks_of_now(whole):
        return False
    if verb == "going":
        return (
            bool(
                re.match(
                    r"^(?:to (?:a|the|my) |on (?:a|vacation|holiday)|back to (?:school|college"
                    r"|university))",
                    beyond,
                    re.I,
                )
            )
            and len(beyond.split()) >= 4
        )
    if verb == "having":
        return bool(
            re.match(
                r"^an? (?:\w+ ){0,3}(?:show|party|baby|wedding|reunion|exhibition|concert"
                r"|ceremony|festival|barbecue|cookout)\b",
                beyond,
                re.I,
            )
        )
    if verb == "expecting":
        return bool(re.match(r"^(?:a (?:baby|child|boy|girl|second|third)|twins|our|my)\b", beyond))
    if verb in {"enjoying", "loving"}:
        return not marks.SELF_OBJECT.match(beyond) and len(beyond.split()) >= 2
    if verb == "putting":
        return beyond.startswith("together ")
    if verb == "getting":
        return bool(
            re.match(
                r"^(?:married|divorced|my |into |a (?:degree|dog|cat|master|tattoo|new)|better at"
                r"|ready for)",
                beyond,
                re.I,
            )
        )
    if verb == "thinking":
        return bool(re.match(r"^(?:of|about) \w+ing\b", beyond, re.I)) and aims.aims_at_life(
            aims.stem_ing(beyond.split(" ", 1)[1])
        )
    if verb in {
        "looking",
        "trying",
        "hoping",
        "planning",
        "making",
        "doing",
        "giving",
        "seeing",
        "taking",
        "running",
    }:
        return _continues(verb, beyond)
    if verb == "working" and not re.match(
        r"^(?:on (?!it|this|that|the\b)|as|at|for|towards?|with|in|from|part|full|hard (?:to"
        r"|on)|remotely)",
        beyond,
        re.I,
    ):
        return False
    return len(beyond.split()) >= 1


def _continues(verb: str, beyond: str) -> bool:
    if verb == "looking":
        return bool(
            re.match(
                r"^(?:forward to (?!it\b|that\b|hearing|seeing you|your)|into (?:\w+ing|\w+)|to"
                r" (?:become|move|buy|learn|start|adopt|get|(?:add|eat|include|cut|reduce)"
                r" (?:more|less|fewer|down)\b))",
                beyond,
                re.I,
            )
        )
    if verb == "trying":
        aim = beyond.removeprefix("to ")
        first = aim.split(" ", 1)[0].lower()
        return (
            first in words.ENDEAVOUR_VERBS and len(aim.split()) > 1 and not marks.is_task(aim)
        ) or beyond.startswith("out ")
    if verb in {"hoping", "planning"}:
        return (
            aims.aims_at_life(beyond.removeprefix("to "))
            if beyond.startswith("to ")
            else len(beyond.split()) >= 2
            and not marks.is_task(beyond)
            and not beyond.startswith(("that", "for you", "it", "you", "the ", "this "))
        )
    if verb == "seeing":
        return bool(
            re.match(
                r"^(?:a|my) (?:therapist|counsel\w+|psychologist|girl|guy|someone)", beyond, re.I
            )
        )
    return len(beyond.split()) >= 2 or (
        verb == "doing"
        and (beyond.endswith("ing") or beyond in {"yoga", "pilates", "karate", "judo"})
    )


def past_state(tail: str) -> Family | None:
    """The family of what follows "I was": a turn in a life, a role once held, a lasting feeling."""
    if re.match(
        r"^(?:born|raised|diagnosed|adopted|promoted|accepted|elected|selected|invited|named"
        r"|awarded|brought up)\b",
        tail,
        re.I,
    ):
        return Family.EVENT
    if (
        re.match(r"^(?:a|an|the|in the|on the|part of) [\w -]{4,}", tail, re.I)
        and not _EMPTY_NOUN.match(tail)
        and len(tail.split()) >= 3
    ):
        return Family.EVENT
    if re.match(r"^(?:in|at|near) (?:the )?[A-Z]\w+", tail):
        return Family.EVENT
    if re.match(
        r"^(?:able to|finally able to|lucky (?:enough )?to|excited to (?:attend|meet|join"
        r"|go)) \w+ (?!it\b|that\b|you\b)",
        tail,
        re.I,
    ):
        return Family.EVENT
    words_in = tail.split()
    if len(words_in) >= 6 and re.match(
        r"^(?:so |really |very |super )?(?:happy|proud|grateful|thankful|inspired|nervous"
        r"|scared|sad|thrilled|amazed|excited|hooked|overwhelmed|moved|touched)\b",
        tail,
        re.I,
    ):
        return Family.FEELING
    return None
