"""Ordinary verbs: lasting by themselves, by a mark of habit, by their denial, or as an event of
one's own life.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import aims, marks, refusals, words
from junior_memory.heuristics.inflection import is_past
from junior_memory.heuristics.statements import Family

OF_THE_TASK = re.compile(
    r"^(?:the |your )(?:first|second|third|last|other|new|old|previous|former|latter|next"
    r"|current|original|blue|red|green|yellow|black|white|\w+er) (?:option|version|one"
    r"|idea|draft|design|answer|approach"
    r"|suggestion|layout|title|colou?r|variant|example|wording|sentence|paragraph"
    r"|proposal|solution)\b|^the (?:following|same|above|attached)\b",
    re.IGNORECASE,
)
_NOT_ALWAYS = frozenset(
    "know forget think say mean see get need want have had find understand hear feel "
    "seem look wonder ask hope try be"
    " end hate love".split()
)
_UNCOUNTED = re.compile(r"^(?:the|this|that|these|those|your?|it|in|about|that)\b", re.I)


def read_denied(tail: str) -> Family | None:
    """What somebody does not do, like, have: kept with its "not"."""
    verb, _, rest = tail.partition(" ")
    verb = verb.lower().strip(",")
    if not rest and verb not in words.DIET_VERBS | {"drive", "swim", "cook"}:
        return None
    if marks.PRONOUN_OBJECT.match(rest):
        return None
    if verb in {
        "like",
        "enjoy",
        "trust",
        "believe",
        "care",
        "want",
        "eat",
        "drink",
        "smoke",
        "drive",
        "own",
        "use",
        "speak",
        "live",
        "work",
        "celebrate",
        "watch",
        "wear",
        "do",
        "mind",
        "swim",
        "cook",
        "deploy",
        "tolerate",
        "play",
    }:
        if (
            verb == "want"
            and re.match(r"^(?!(?:it|this|that|you|to|them)\b)\w+ (?:\w+ ){0,3}to \w+", rest)
            and not marks.is_task(rest)
        ):
            return Family.PREFERENCE
        if verb in {"want", "mind", "care", "believe", "do"} and (
            verb != "do" or rest.split(" ")[0] in {"anything", "that", "much", "well", "the"}
        ):
            return (
                None
                if verb != "care" or not rest.startswith(("for ", "about "))
                else Family.PREFERENCE
            )
        if (
            verb in {"work", "use", "play", "live"}
            and refusals.is_about_work(rest)
            and not marks.HABIT_MARK.search(rest)
        ):
            return None
        return Family.PREFERENCE
    if verb == "have":
        first = refusals.words_of(rest)[:2]
        return (
            Family.POSSESSION
            if first
            and not words.PASSING_POSSESSIONS & set(first)
            and first[0] in {"a", "any", "kids", "children", "pets", "siblings"}
            else None
        )
    return None


def read_past_denied(verb: str, tail: str) -> Family | None:
    """What somebody never came to do: "did not go to college"."""
    if verb in {"haven't", "havent"} and re.match(
        r"^(?:eaten|drunk|smoked|owned|driven|used) \w+ (?:meat |alcohol )?(?:in|for|since)\b"
        r"|^been to [A-Z]",
        tail,
    ):
        return Family.HABIT
    if verb in {"didn't", "didnt"} and re.match(
        r"^(?:go to (?:college|university)|grow up|finish (?:high school|college|school"
        r"|university)|learn)\b",
        tail,
        re.I,
    ):
        return Family.EVENT
    return None


def read_opinion_verb(verb: str, tail: str) -> Family | None:
    """What follows "I think", "I find", "I feel", when it judges and is no guess about the work."""
    body = tail.removeprefix("that ")
    if verb in {"think", "believe"} and tail.startswith(("in ", "about ")):
        return (
            Family.PREFERENCE
            if verb == "believe" and not marks.PRONOUN_OBJECT.match(tail)
            else None
        )
    if re.match(
        r"^(?:i|we|you|he|she|they|it's (?:a|the) (?:bug|problem)|it is|that|this|so|there)\b",
        body,
        re.I,
    ) and not re.match(
        r"^(?:it's|it is) (?:so |really |very |super )?(?:important|essential|crucial|key"
        r"|vital|better|best|good)\b",
        body,
        re.I,
    ):
        return None
    if (
        re.match(
            r"^(?:it's|it is) (?:so |really |very |super )?(?:important|essential|crucial|key"
            r"|vital|better|best|good|necessary)\b",
            body,
            re.I,
        )
        and len(body.split()) >= 6
    ):
        return Family.OPINION
    if verb == "feel" and re.match(
        r"^(?:a strong \w+ to|drawn to|passionate(?:ly)? about|strongly about|connected to"
        r"|called to|at home in) (?!(?:it|this|that|you)\b)\w+",
        body,
        re.I,
    ):
        return Family.PREFERENCE
    if verb == "feel":
        return (
            Family.FEELING
            if len(body.split()) >= 5
            and re.match(
                r"^(?:so |really |very |most |more )?(?:\w+(?:ed|ful|ive|ious|y|ong|lish))"
                r" (?:when|about|by|to|while|after|that|on|in)\b",
                body,
                re.I,
            )
            else None
        )
    if verb == "find":
        return (
            Family.OPINION
            if re.match(
                r"^(?!it\b|that\b|this\b|them\b|the\b|a\b)[\w -]{3,40} (?:to be |so |really |very"
                r" |too )*(?:an? (?:great|good|nice|useful|fun|relaxing|wonderful) |relaxing"
                r"|boring|hard|easy|useful|confusing|distracting|inspiring|calming|helpful"
                r"|annoying|difficult|tedious|fascinating|interesting|soothing|therapeutic"
                r"|\w+ing)\b",
                body,
                re.I,
            )
            else None
        )
    if refusals.is_about_work(body) and not marks.EVALUATES.search(body):
        return None
    if len(body.split()) < 4 or refusals.gives_status(body) or refusals.speaks_of_now(body):
        return None
    return Family.OPINION if marks.EVALUATES.search(body) else None


def read_verb(
    verb: str, tail: str, *, marked: bool, whole: str, adverbs: frozenset[str] = frozenset()
) -> Family | None:
    """A clause with an ordinary verb: lasting by the verb, by a mark of habit, or as an event of
    one's own life.
    """
    first = refusals.words_of(tail)[:1]
    dangling = bool(
        marks.PRONOUN_OBJECT.match(re.sub(r"^(?:so|really|very|super) (?!much\b)", "", tail))
    )
    if (
        verb == "try"
        and tail.startswith("to ")
        and len(tail.split()) >= 4
        and not dangling
        and not marks.is_task(tail)
        and tail.split()[1] in words.ENDEAVOUR_VERBS | words.GOAL_VERBS
    ):
        return Family.HABIT
    if (
        verb in words.PLAIN_HABITS
        and len(tail.split()) >= 4
        and not dangling
        and not marks.is_task(tail)
        and not _UNCOUNTED.match(tail)
    ):
        return Family.HABIT
    if verb == "see" and tail.startswith("my ") and marked:
        return Family.HABIT
    always = not {"always", "never", "usually", "no longer"}.isdisjoint(adverbs)
    if (
        always
        and verb not in _NOT_ALWAYS
        and len(tail.split()) >= 2
        and not dangling
        and not is_past(verb, whole)
    ):
        return Family.HABIT
    if verb in {"stay", "keep"} and re.match(
        r"^(?:in shape|fit|positive|healthy|active|motivated|calm|organi[sz]ed|sane|busy)\b", tail
    ):
        return Family.HABIT
    if is_past(verb, whole):
        if verb in {"learned", "learnt", "realized", "realised", "discovered"} and re.match(
            r"^that (?!it|this|that|they|he|she|you|we|i\b|there|the)\w+", tail
        ):
            return Family.EVENT
        if verb == "got" and re.match(
            r"^(?:married|engaged|promoted|hired|accepted|divorced|laid off)\b", tail
        ):
            return Family.EVENT
        if verb == "wanted" and re.match(
            r"^to try (?:a|an|some|out) (?!\w+ (?:approach|query|command|fix|version)\b)\w+", tail
        ):
            return Family.GOAL
        if verb == "wanted" and tail.startswith("to "):
            return Family.GOAL if aims.aims_at_life(tail[3:]) else None
        if verb == "changed" and re.match(
            r"^my (?:diet|job|career|name|major|routine|lifestyle|habits|field)\b", tail
        ):
            return Family.EVENT
        if verb == "felt" and re.match(r"^that (?:i|we) (?:wanted|needed) to \w+ \w+", tail, re.I):
            return Family.FEELING
        if verb == "heard" and re.match(
            r"^(?:a|an|some) (?!rumou?r|noise|voice)\w+ (?:\w+ )?(?:from|by|at)\b", tail
        ):
            return Family.EVENT
        if verb == "asked" and re.match(r"^(?:my|our|family|friends) \w+", tail):
            return Family.EVENT
        if (
            verb == "told"
            and re.match(r"^(?:my|our) \w+", tail)
            and len(tail.split()) >= 4
            and not marks.is_task(tail)
        ):
            return Family.EVENT
        if (
            verb == "tried"
            and tail.startswith("to ")
            and tail.split()[1:2]
            and tail.split()[1] in words.ENDEAVOUR_VERBS
            and len(tail.split()) >= 5
            and not marks.is_task(tail)
        ):
            return Family.EVENT
        if verb == "made" and re.match(r"^it (?:to|through|into) (?:the|my|a) \w+", tail):
            return Family.EVENT
        if (
            verb == "tried"
            and re.match(r"^\w+ing (?!it\b|this (?!week|year|summer)|that\b|to\b)", tail)
            and tail.split()[0].lower() not in marks.AT_HAND
        ):
            return Family.EVENT
        if verb == "got" and re.match(
            r"^the (?:idea|chance|impression|feeling|point|message)\b", tail
        ):
            return None
        if not tail or dangling or verb in words.WORK_STEP_VERBS:
            return None
        if (
            verb in words.NEW_ONLY_VERBS
            and not re.match(r"^(?:out |a |an |some |my |our |this new |new |up |how |[A-Z])", tail)
        ) or len(tail.split()) < 2:
            return None
        if marks.is_task(tail) or re.match(
            r"^(?:back(?! (?:from|into|to) (?:an?|my|our|the)\b)|up(?! (?:to|in|on|with|near"
            r"|outside|speaking|around)\b)|here|there|home|stuck|lost|an? (?:email|message"
            r"|error|404|500|warning|reply|notification|call))\b",
            tail,
            re.I,
        ):
            return None
        if (
            verb in {"got", "loved", "liked", "enjoyed", "felt", "saw", "made", "used"}
            and len(tail.split()) < 3
        ):
            return None
        if verb == "felt" and not re.search(
            r"\b(?:when|about|by|that|because|to|while|after|like|being|for|at|\w+ing)\b", tail
        ):
            return None
        return Family.FEELING if verb in {"felt", "loved", "liked", "enjoyed"} else Family.EVENT
    if verb == "take" and re.match(r"^my \w+ (?:with|without|black|decaf)\b", tail):
        return Family.HABIT
    if OF_THE_TASK.match(tail) or (
        verb in {"use", "run", "have"} and re.match(r"^(?:this|that|these|those)\b", tail, re.I)
    ):
        return None
    if verb in {"get", "see", "hit", "find", "have", "need"} and marks.is_task(tail):
        return None
    if verb in words.LIKING_VERBS:
        if (
            not tail
            or dangling
            or (
                first
                and first[0] in {"how", "what", "when", "your", "you", "the"}
                and verb in {"love", "like"}
                and len(tail.split()) < 3
            )
        ):
            return None
        if marks.SELF_OBJECT.match(tail) or re.match(
            r"^to (?:ask|say|bother|admit|break|interrupt)\b", tail
        ):
            return None
        if verb in {"tend", "belong"} and first != ["to"]:
            return None
        if verb in {"love", "like"} and re.match(
            r"^(?:to (?:know|see|hear)|seeing|hearing|how|what|when) (?:you|your|that|it)\b"
            r"|^the (?:idea|photo|pic|picture|color|colors|look|sound)\b",
            tail,
            re.I,
        ):
            return None
        return Family.PREFERENCE
    if verb in words.DIET_VERBS and tail and not dangling:
        return Family.HABIT
    if verb in words.BEING_VERBS:
        if dangling or not tail:
            return None
        if verb == "work" and not re.match(
            r"^(?:as|at|for|in|with|from|on (?!it|this|that)|part|full|remotely|night|nights"
            r"|shifts|mostly|\w+ly|mondays|four|4|best|better)\b",
            tail,
            re.I,
        ):
            return None
        if verb in {"come"} and not tail.lower().startswith("from"):
            return None
        if (
            verb
            in {
                "run",
                "play",
                "make",
                "drive",
                "use",
                "lead",
                "manage",
                "train",
                "stream",
                "major",
                "maintain",
                "support",
                "hold",
            }
            and marks.is_task(tail)
            and not marked
            and verb not in {"use", "manage", "lead", "maintain"}
        ):
            return None
        return Family.BEING if not marked else Family.HABIT
    if verb == "go" and not re.match(
        r"^(?:to|for|on|\w+ing|out|by|without|through|back|home|there)\b", tail, re.I
    ):
        return None
    if (
        marked
        and verb in words.HABIT_VERBS
        and tail
        and not dangling
        and verb not in {"feel", "look", "want", "need"}
        and (verb != "think" or re.match(r"^(?:about|of) (?:my|the|how) \w+ \w+", tail))
    ):
        return Family.HABIT
    return None
