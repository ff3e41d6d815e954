"""First-person statements: "I prefer tabs over spaces" → "Prefers tabs over spaces."

A clause is read by its verb. What its verb does not mark as lasting (a taste, an identity, a habit, a
possession, a plan, something that happened in the person's own life) is not read at all: silence is the default.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, refusals, words
from junior_memory.heuristics.clauses import Clause, split_clauses
from junior_memory.heuristics.statements import Family, Reading

_PRONOUN_OBJECT = re.compile(
    r"^(?:(?:to|of|on|in|at|for|with|about|from|doing|seeing|having|trying|using|all|both|up|out|so|as) ){0,2}"
    r"(?:it|that|this|them|they|these|those|one|ones|him|her|so|there|here)\b(?! (?:\w+ing|\w+s?) (?:and|is|of|in|for|with|from|group|book|club|class))(?: |,|$)",
    re.IGNORECASE,
)
_HABIT_MARK = re.compile(
    r"\b(?:always|never|usually|often|sometimes|rarely|mostly|generally|typically|normally|regularly|every|each|daily|weekly|monthly|yearly|nightly"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|satur|sun)days|weekends|weekdays|mornings|evenings|afternoons"
    r"|in the (?:morning|evening|afternoon)|at night|(?:once|twice|\w+ times) (?:a|per|every) (?:day|week|month|year)|before (?:i|work|bed|we|breakfast|starting|committing|merging|pushing)"
    r"|after (?:work|dinner|lunch|school)|when(?:ever)? (?:i|we)|instead of|for (?:work|fun|breakfast|lunch|dinner|everything|all my)|rather than|first thing|since (?:\d{4}|i was|childhood))\b",
    re.IGNORECASE,
)
_DURATION = re.compile(r"\b(?:for (?:the (?:past|last) )?(?:\w+ ){1,2}(?:years?|months|decades?)|since (?:\d{4}|i was|childhood|college|high school)|all my life|my whole life|lately|recently|these days|for a while)\b", re.I)
_NEED = re.compile(r"^(?:a |an |my |large |larger |high |step-?free )?(?:wheelchair|glasses|hearing|captions?|subtitles|screen reader|large|larger|high[- ]contrast|gluten|dark mode|insulin|step-?free|ramp|quiet|at least \w+ hours of sleep)\b", re.I)
_PLACE_STATE = re.compile(r"^(?:at|in|on|off|out|with|under|behind|between|near|outside|inside|over|up|down|after|by|the one|about|just|through|not sure|to)\b", re.I)
_DURABLE_PREPOSITION = re.compile(
    r"^(?:from|into|on (?:a|an|the) (?:\w+[- ]){0,2}(?:diet|team|board|committee|medication)|in charge of|in my (?:\w+ )?(?:twenties|thirties|forties|fifties|sixties|\d0s)|in (?:the|my) (?:\w+ )?(?:\w+ )?(?:year|grade|band|choir|team|military|army|navy|class|club)\b"
    r"|in (?:a )?(?:relationship|recovery|remission|therapy)|in (?:utc|gmt|cet|est|pst|the \w+ time ?zone)|on [A-Z]\w+ time|against|for (?:a )?(?:four-day|remote)|in love with|with the (?:\w+ )?team|about to (?:become|move|retire|graduate))\b"
)
_NATIONALITY = re.compile(r"^(?:half[- ])?[A-Z][a-z]+(?:ian|ish|ese|an|ch|ic|sh|man|i|Swiss|Greek|Thai|Dutch|Welsh|Czech)\b(?! \w+ing)|^(?:half[- ])?(?:Swiss|Greek|Thai|Dutch|Welsh|Czech|French)\b")
_AGE = re.compile(r"^(?:a )?(?:\d{1,3}|\w+teen|twenty|thirty|forty|fifty|sixty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?(?:[ -]years?[ -]old\b|$)", re.I)
_ARTICLE = re.compile(r"^(?:a|an|the|one of|part of|my|our) ", re.I)
_EMPTY_NOUN = re.compile(r"^(?:a|an|the|one) (?:bit|little|mess|wreck|while|tad|few|idiot|fool|one|same|only one|first|last|next|person (?:here|asking)|day|way|lot|loss|hurry|rush|meeting|point|bus|train|plane|office|airport)\b", re.I)
_LIKES_ROLE = re.compile(r"^(?:a |an )?(?:\w+ )?(?:fan|sucker|lover)\b", re.I)
_WOULD_KEEP = re.compile(r"^(?:(?:much|always) )?(?:rather|prefer|never|love to|like to|love (?!it|that|this)\w+ing)\b", re.I)
_SKILL = re.compile(r"^(?:(?:fluently|barely|also) )?(?:speak|play|cook|swim|drive|ride|read|write|code|juggle|sing|knit|type|ski|surf|sew|draw|sign|understand)\b", re.I)
_CANNOT = re.compile(r"^(?:(?:really|even) )?(?:eat|drink|have|stand|drive|swim|tolerate|digest|hear|walk|fly|live without|work (?:without|on|before|after)|sleep (?:without|on)|read (?:small|music)|do (?:mornings|gluten|dairy))\b", re.I)
_DAYDREAM = re.compile(r"^(?:wait|believe|imagine|thank|help|tell|say|see|remember|think|find|get|seem|figure|agree)\b", re.I)
_LISTENER = re.compile(r"\b(?:you|your|you're|you've|you'll|you'd|yours|yourself|ya|y'all)\b", re.I)
_OPINION = re.compile(r"^(?:that )?(?:.{3,200})$", re.I)
_EVALUATES = re.compile(r"\b(?:important|essential|better|best|worse|worst|overrated|underrated|crucial|key|vital|matters?|powerful|great|good|bad|useful|useless|harmful|healthy|unhealthy|beautiful|ugly|necessary|worth|valuable|fair|unfair|should|clearer|easier|faster|cleaner|nicer|prettier|too)\b", re.I)
_MY = re.compile(r"^(?:my|our) (?P<noun>[\w' -]{2,60}?) (?P<verb>is|are|was|were|has|have|lives?|works?|runs?|starts?|ends?|means?|teaches|teach|stud(?:y|ies)|passed away|died|broke down|grew up|comes?|came|moved|makes?|helps?|got|gave|turned|speaks?|uses|includes?|plays?|takes?)\b (?P<rest>.{1,220})$", re.I)
_MY_S = re.compile(r"^(my|our) ([\w -]{2,40})'s (?=(?:a|an|the|called|named|from|in|on|allergic|[A-Z]|\d)\b|[A-Z])", re.I)
_NAMED = re.compile(r"^(?:is|are|was) (?:called|named) |^'s name is ", re.I)
_PET_NAME = re.compile(r"^(?:my|our) (?P<noun>[\w -]{2,30})(?:'s name is|s' names are| is called| is named|, named) (?P<name>[A-Z][\w-]{1,20}(?: and [A-Z][\w-]{1,20})?)", re.I)
_MIND_OF_OTHERS = re.compile(r"\b(?:hates?|likes?|loves?|prefers?|dislikes?|enjoys?|thinks?|feels?|wants?|is (?:depressed|sick|ill|angry|upset|sad|divorced|divorcing|pregnant|gay|broke|unemployed|cheating|drunk|dying|in (?:debt|hospital|rehab))|lost (?:his|her|their) job|divorce|cancer|diagnos\w+|salary|fired|arrested|affair|allergic)\b", re.I)
_AND_I = re.compile(r"^(?P<who>(?:(?:my|our) [\w' -]{2,40}?|[A-Z][a-z]{1,14}(?: and my [\w ]{2,20})?)) and I (?P<rest>(?:\w+[' ]?).{2,220})$")
_INFLUENCE = re.compile(
    r"^(?P<subject>[\w' -]{3,90}?) (?P<verb>(?:really |always |has |have |also |definitely |truly )?(?:helps?|helped|makes?|made|gives?|gave|given|brings?|brought|inspires?|inspired|keeps?|kept|motivates?|motivated|relaxes|calms|taught|teaches|means?|lets?|allows?|reminds?|reminded|encouraged|pushed|changed)) (?P<rest>(?:me|my|us|a lot to me|so much to me|the world to me|everything to me)\b.{0,200})$",
    re.I,
)
_WEAK_SUBJECT = re.compile(r"^(?:it|that|this|they|these|those|he|she|you|there|which|who|what|and|but|so|seeing (?:it|that|them)|knowing|hearing|being there|your|i|we|everyone|everything|someone|something|nothing|just|having (?:you|it|them)|thing|doing (?:it|that|this)|all|hope|wish|glad|let|please)\b", re.I)
_IS_MY = re.compile(r"^(?P<subject>[A-Z\"][\w\"' .-]{1,60}?)(?:'s| is| are| was) (?P<only>(?:definitely |still |probably |by far |always )?(?:my|our) (?P<what>(?:all[- ]time )?(?:favou?rites?|fave|go-to|passion|hobby|dream|comfort|happy place|escape|outlet|motto|rock|thing|goal|first language|native language|mother tongue|home town|hometown|birthday|editor of choice)[\w ]{0,60}))\b", re.I)
_FAVOURITE = re.compile(r"^(?P<kind>(?:my|our) .{3,80})$", re.I)


def read_first_person(text: str) -> list[Reading]:
    """The facts that one sentence of the speaker states about the speaker, as canonical texts, in order."""
    found: list[Reading] = []
    for clause in split_clauses(text):
        reading = _read_clause(clause)
        if reading is not None:
            found.append(reading)
    return found


def _read_clause(clause: Clause) -> Reading | None:
    said = f"{clause.adverbial} {clause.text}".strip()
    text = canonical.trim_tail(clause.text)
    adverbial = clause.adverbial
    if _LISTENER.search(adverbial):
        adverbial = ""
    if _LISTENER.search(text):
        text = _before_listener(text)
    if not text or refusals.is_hypothetical(text) or refusals.is_unsure(text) or refusals.is_reported(text):
        return None
    together = _AND_I.match(text)
    if together:
        companion = together["who"]
        text = f"I {together['rest']}"
        adverbial = f"with {companion}{' ' + adverbial if adverbial else ''}"
    expanded = canonical.expand_subject(text)
    head, _, rest = expanded.partition(" ")
    if head.lower() in {"i", "we"} and rest:
        family, predicate = _read_predicate(rest.split(), whole=said, plural=head.lower() == "we")
        if family is None or predicate is None:
            return None
        return _finish(family, predicate, adverbial=adverbial, said=said)
    return _read_possessive(text, adverbial=adverbial, said=said) or _read_influence(text, said=said)


def _before_listener(text: str) -> str:
    """The part of a clause before it turns to the listener, when that part can stand alone; else nothing."""
    match = _LISTENER.search(text)
    head = text[: match.start()] if match else text
    cut = max(head.rfind(", "), head.rfind(" and "), head.rfind(" but "), head.rfind(" so "), head.rfind(" if "))
    head = head[:cut].strip(" ,") if cut > 0 else ""
    return head if len(head.split()) >= 4 else ""


def _finish(family: Family, predicate: str, *, adverbial: str, said: str) -> Reading | None:
    if adverbial:
        first = adverbial[0]
        lowered = first.lower() if not adverbial.startswith(("I ", "I'")) and not adverbial[:2].isupper() else first
        predicate = f"{predicate} {lowered}{adverbial[1:]}"
    content = canonical.finish(canonical.to_third_person(predicate))
    if not content or len(content) > canonical.MAX_CONTENT or canonical.has_person(content):
        return None
    return Reading(family=family, content=content, said=said)


def _read_predicate(tokens: list[str], *, whole: str, plural: bool) -> tuple[Family | None, str | None]:
    """The family of what follows "I" or "we", and that in the third person; (None, None) when it is not a fact."""
    nothing: tuple[Family | None, str | None] = (None, None)
    adverbs, rest = canonical.split_adverbs(tokens)
    if not rest:
        return nothing
    verb = rest[0].lower().strip(",.")
    after = rest[1:]
    later, after_adverbs = canonical.split_adverbs(after)
    tail = " ".join(after_adverbs)
    marked = bool(_HABIT_MARK.search(whole)) or not words.HABIT_ADVERBS.isdisjoint({*adverbs, *later})
    family: Family | None = None
    if verb in {"am", "are"}:
        return _read_state(after, marked=marked, whole=whole, plural=plural)
    if verb in {"was", "were"}:
        family = _past_state(tail)
    elif verb in {"have"}:
        return _read_have(tokens, after_adverbs, marked=marked, adverbs=[*adverbs, *later])
    elif verb in {"had"}:
        family = None if _possesses_moment(tail) or _PRONOUN_OBJECT.match(tail) else Family.EVENT
    elif verb in {"don't", "dont", "do"}:
        if verb == "do" and after[:1] != ["not"]:
            family = Family.HABIT if marked and tail and not _PRONOUN_OBJECT.match(tail) else None
        else:
            family = _denied(" ".join(after_adverbs[1:] if after_adverbs[:1] == ["not"] else after_adverbs))
    elif verb in {"can't", "cant", "cannot"}:
        family = Family.BEING if _CANNOT.match(tail) and not _PRONOUN_OBJECT.match(" ".join(after_adverbs[1:])) else None
    elif verb == "can":
        family = Family.BEING if _SKILL.match(tail) else None
    elif verb == "would":
        family = Family.PREFERENCE if _WOULD_KEEP.match(" ".join(after)) and not _task_aim(" ".join(after)) else None
        if family and after and after[0] in {"like", "love"} and not _goal_after_to(after):
            family = None
    elif verb in {"will"}:
        family = Family.GOAL if after_adverbs[:1] and re.match(r"^(?:be (?:moving|starting|studying|graduating|retiring|attending|teaching|living)|move|retire|graduate|become)\b", tail, re.I) else None
    elif verb in {"haven't", "havent", "didn't", "didnt", "won't", "wont", "wasn't", "weren't", "hadn't"}:
        family = _past_denied(verb, tail)
    elif verb in {"want", "wanna", "hope", "plan", "intend", "aim", "aspire", "dream", "wish"}:
        if verb == "wanna":
            rest = ["want", "to", *after]
        family = _wish(" ".join(rest[1:]))
        tokens = [*adverbs, *rest]
    elif verb == "need":
        family = Family.BEING if _NEED.match(tail) else None
    elif verb in {"think", "believe", "feel", "find", "consider"} and (plural is False):
        family = _opinion(verb, tail, marked=marked)
    elif verb == "used" and after[:1] == ["to"]:
        family = Family.EVENT
    elif verb == "started" or verb == "began":
        family = None if _task(tail) or _PRONOUN_OBJECT.match(tail) else Family.EVENT
    else:
        family = _lexical(verb, tail, marked=marked, whole=whole)
    if family is None:
        return nothing
    return family, canonical.third_person_predicate(tokens)


def _task(text: str) -> bool:
    return refusals.is_about_work(text)


def _possesses_moment(text: str) -> bool:
    nouns = refusals.words_of(text)[:5]
    nouns = nouns[1:] if nouns[:1] and nouns[0] in {"a", "an", "the", "my", "some", "no", "another"} else nouns
    return not nouns or nouns[0] in words.MEALS or (len(nouns) > 1 and nouns[1] in words.MEALS and len(nouns) < 4)


def _read_state(after: list[str], *, marked: bool, whole: str, plural: bool) -> tuple[Family | None, str | None]:
    """What follows "I am": a role, an origin, a trait, something that goes on for long."""
    nothing: tuple[Family | None, str | None] = (None, None)
    adverbs, rest = canonical.split_adverbs(after)
    denied = rest[:1] == ["not"]
    if denied:
        _, rest = canonical.split_adverbs(rest[1:])
    while rest and rest[0].lower() in {"so", "very", "pretty", "quite", "super", "too", "really", "extremely", "a", "such"} and len(rest) > 1:
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
        if denied or not _aims(aim):
            return nothing
        return Family.GOAL, f"plans to {aim}" if not plural else f"plans to {aim}"
    if verb.endswith("ing") and verb not in {"willing", "king", "sibling"}:
        return (Family.ONGOING, text) if _goes_on(verb, beyond, marked=marked, whole=whole, denied=denied) else nothing
    if verb in words.DURABLE_STATES:
        if verb in {"scared", "afraid", "terrified", "proud"} and not beyond.startswith(("of ", "to ")):
            return nothing
        if beyond and _PRONOUN_OBJECT.match(beyond):
            return nothing
        return Family.ATTRIBUTE, text
    if _AGE.match(tail) or _NATIONALITY.match(tail) or (_DURABLE_PREPOSITION.match(tail) and not _PRONOUN_OBJECT.match(beyond)):
        return Family.ATTRIBUTE, text
    if _ARTICLE.match(tail) and not _EMPTY_NOUN.match(tail) and not _task(tail):
        if refusals.speaks_of_now(whole) or re.match(r"^(?:my|our) ", tail, re.I):
            return nothing
        return (Family.PREFERENCE if _LIKES_ROLE.match(tail) else Family.ATTRIBUTE), text
    if marked and verb not in words.TRANSIENT_STATES and not _PLACE_STATE.match(tail):
        return Family.ATTRIBUTE, text
    if verb in {"good", "bad", "terrible", "great", "decent"} and beyond.startswith(("at ", "with ")) and not _PRONOUN_OBJECT.match(beyond):
        return Family.ATTRIBUTE, text
    if verb in {"excited", "thankful", "grateful", "happy", "glad", "stoked", "thrilled", "nervous", "lucky", "blessed", "amazed", "feeling"} and len(rest) >= 6:
        if _PRONOUN_OBJECT.match(beyond) or beyond.startswith(("to hear", "to see", "that", "to help", "for your", "for you", "we", "i ")):
            return nothing
        return Family.FEELING, text
    return nothing


def _goes_on(verb: str, beyond: str, *, marked: bool, whole: str, denied: bool) -> bool:
    if denied or verb not in words.ONGOING_VERBS or not beyond or _PRONOUN_OBJECT.match(beyond):
        return False
    if _task(beyond) and not marked:
        return False
    if refusals.speaks_of_now(whole):
        return False
    if verb == "going":
        return bool(re.match(r"^(?:to (?:a|the|my) |on (?:a|vacation|holiday)|back to (?:school|college|university))", beyond, re.I)) and len(beyond.split()) >= 4
    if verb == "getting":
        return bool(re.match(r"^(?:married|divorced|my |into |a (?:degree|dog|cat|master|tattoo|new)|better at|ready for)", beyond, re.I))
    if verb == "thinking":
        return bool(re.match(r"^(?:of|about) \w+ing\b", beyond, re.I)) and _aims(_stem_ing(beyond.split(" ", 1)[1]))
    if verb in {"looking", "trying", "hoping", "planning", "making", "doing", "giving", "seeing", "taking", "running"}:
        return _continues(verb, beyond)
    if verb == "working" and not re.match(r"^(?:on (?!it|this|that|the\b)|as|at|for|towards?|with|in|from|part|full|hard (?:to|on)|remotely)", beyond, re.I):
        return False
    return len(beyond.split()) >= 1


def _continues(verb: str, beyond: str) -> bool:
    if verb == "looking":
        return bool(re.match(r"^(?:forward to (?!it\b|that\b|hearing|seeing you|your)|into (?:\w+ing|\w+)|to (?:become|move|buy|learn|start|adopt|get))", beyond, re.I))
    if verb == "trying":
        aim = beyond.removeprefix("to ")
        first = aim.split(" ", 1)[0].lower()
        return (first in words.ENDEAVOUR_VERBS and len(aim.split()) > 1 and not _task(aim)) or beyond.startswith("out ")
    if verb in {"hoping", "planning"}:
        return _aims(beyond.removeprefix("to ")) if beyond.startswith("to ") else len(beyond.split()) >= 2 and not _task(beyond) and not beyond.startswith(("that", "for you", "it", "you"))
    if verb == "seeing":
        return bool(re.match(r"^(?:a|my) (?:therapist|counsel\w+|psychologist|girl|guy|someone)", beyond, re.I))
    return len(beyond.split()) >= 2


def _stem_ing(text: str) -> str:
    first, _, rest = text.partition(" ")
    base = first[:-3]
    if base and base[-1:] == base[-2:-1]:
        base = base[:-1]
    for guess in (base, base + "e"):
        if guess.lower() in words.GOAL_VERBS:
            return f"{guess} {rest}".strip()
    return text


def _aims(aim: str) -> bool:
    """Whether "I want to …" is about the person's life and not about the task at hand."""
    parts = [part for part in aim.split() if part.lower() not in words.FILLERS and part.lower() not in {"all", "always", "still", "both", "finally", "someday", "one", "day,"}]
    if len(parts) < 2:
        return False
    verb = parts[0].lower()
    beyond = " ".join(parts[1:])
    if verb not in words.GOAL_VERBS or _task(aim) or _PRONOUN_OBJECT.match(beyond) or refusals.speaks_of_now(aim):
        return False
    if verb == "be" and re.match(r"^(?:clear|honest|sure|fair|precise|able to (?:see|find|run|open))", beyond, re.I):
        return False
    if verb in {"get", "go", "have", "do", "see", "make", "give", "keep", "read", "write", "share", "put", "start", "use", "finish", "stop", "set", "build", "help"} and len(parts) < 4:
        return bool(re.match(r"^(?:married|a (?:dog|cat|tattoo|degree|phd|pilot)|back to school|vegan|to [A-Z])", beyond)) or len(parts) == 3 and verb in {"build", "write", "start", "help", "read"}
    return True


def _wish(rest: str) -> Family | None:
    aim = re.sub(r"^(?:to |of |on )", "", rest, count=1)
    if not rest.startswith(("to ", "of ", "on ")):
        return None
    if rest.startswith(("of ", "on ")):
        aim = _stem_ing(aim)
    return Family.GOAL if _aims(aim) else None


def _goal_after_to(after: list[str]) -> bool:
    return len(after) > 2 and after[1] == "to" and _aims(" ".join(after[2:]))


def _task_aim(text: str) -> bool:
    return bool(re.match(r"^(?:like|love|prefer|rather) (?:to )?(?:" + "|".join(sorted(words.TASK_OBJECT_VERBS)) + r")\b", text, re.I)) and _task(text)


def _denied(tail: str) -> Family | None:
    """What somebody does not do, like, have: kept with its "not"."""
    verb, _, rest = tail.partition(" ")
    verb = verb.lower().strip(",")
    if not rest and verb not in words.DIET_VERBS | {"drive", "swim", "cook"}:
        return None
    if _PRONOUN_OBJECT.match(rest):
        return None
    if verb in {"like", "enjoy", "trust", "believe", "care", "want", "eat", "drink", "smoke", "drive", "own", "use", "speak", "live", "work", "celebrate", "watch", "wear", "do", "mind", "swim", "cook", "deploy", "tolerate", "play"}:
        if verb in {"want", "mind", "care", "believe", "do"} and (verb != "do" or rest.split(" ")[0] in {"anything", "that", "much", "well", "the"}):
            return None if verb != "care" or not rest.startswith(("for ", "about ")) else Family.PREFERENCE
        if verb in {"work", "use", "play", "live"} and refusals.is_about_work(rest) and not _HABIT_MARK.search(rest):
            return None
        return Family.PREFERENCE
    if verb == "have":
        first = refusals.words_of(rest)[:2]
        return Family.POSSESSION if first and not words.PASSING_POSSESSIONS & set(first) and first[0] in {"a", "any", "kids", "children", "pets", "siblings"} else None
    return None


def _past_denied(verb: str, tail: str) -> Family | None:
    if verb in {"haven't", "havent"} and re.match(r"^(?:eaten|drunk|smoked|owned|driven|used) \w+ (?:meat |alcohol )?(?:in|for|since)\b|^been to [A-Z]", tail):
        return Family.HABIT
    if verb in {"didn't", "didnt"} and re.match(r"^(?:go to (?:college|university)|grow up|finish (?:high school|college|school|university)|learn)\b", tail, re.I):
        return Family.EVENT
    return None


def _read_have(tokens: list[str], after: list[str], *, marked: bool, adverbs: list[str]) -> tuple[Family | None, str | None]:
    """ "I have": a possession, or the perfect of something that happened or goes on."""
    nothing: tuple[Family | None, str | None] = (None, None)
    if not after:
        return nothing
    text = canonical.third_person_predicate(tokens)
    first = after[0].lower().strip(",")
    beyond = " ".join(after[1:])
    lasting = marked or bool({"always", "never", "ever"} & set(adverbs)) or bool(_DURATION.search(" ".join(after)))
    if first == "got" and after[1:2] and after[1].lower() not in {"to", "married", "engaged", "into"}:
        if _holds(after[1:]):
            return Family.POSSESSION, f"has {beyond}"
        return nothing
    if first == "to" or first == "not":
        return nothing
    if first == "been":
        second = after[1].lower() if len(after) > 1 else ""
        later = " ".join(after[2:])
        if second.endswith("ing"):
            good = _goes_on(second, later, marked=True, whole="", denied=False) or (lasting and len(after) > 2 and second not in words.TRANSIENT_STATES and second not in {"having", "getting", "waiting", "wondering"})
            return (Family.ONGOING, text) if good and not _task(later) else nothing
        if lasting or re.match(r"^(?:to [A-Z]|a |an |into |vegetarian|vegan|married|sober|together)", beyond):
            if second in words.TRANSIENT_STATES and not {"always", "never"} & set(adverbs):
                return nothing
            return Family.EVENT, text
        return nothing
    if _is_participle(first):
        if _PRONOUN_OBJECT.match(beyond) or (not lasting and (first in words.WORK_STEP_VERBS or first in words.NEW_ONLY_VERBS or first in {"noticed", "seen", "run", "had", "gotten", "finished"} and len(after) < 5)):
            return nothing
        if _task(beyond) and not lasting or len(after) < 2:
            return nothing
        return Family.EVENT, text
    if _holds(after):
        return Family.POSSESSION, text
    return nothing


_PARTICIPLES = frozenset(
    "gone done seen had taken made met bought found begun run won given come felt written left lost taught told grown known"
    " heard kept spent sold built brought caught chosen drunk driven eaten fallen flown held led ridden risen sung sent slept"
    " spoken stood swum thrown understood woken worn become read put set learnt gotten got started outgrown overcome".split()
)


def _is_participle(word: str) -> bool:
    return word in _PARTICIPLES or (len(word) > 3 and word.endswith("ed") and word not in {"need", "red", "bed"})


def _holds(after: list[str]) -> bool:
    nouns = [word.lower().strip(",.") for word in after[:6]]
    if not nouns:
        return False
    if nouns[0] in {"no", "this", "that", "these", "those", "it", "them", "some", "any", "your", "the", "all", "every", "such", "so", "more", "another", "lots", "plenty"} and nouns[:2] not in (["no", "kids"], ["no", "children"], ["no", "siblings"], ["no", "car"]):
        return False
    body = nouns[1:] if nouns[0] in {"a", "an", "my", "two", "three", "four", "five", "six", "one", "few", "several", "many"} or nouns[0].isdigit() else nouns
    if not body or words.PASSING_POSSESSIONS & set(body[:2]):
        return False
    if not _task(" ".join(nouns)):
        return nouns[0] in {"a", "an", "my", "two", "three", "four", "five", "six", "one", "several", "kids", "children", "no"} or nouns[0].isdigit() or len(after) <= 4
    return False


def _past_state(tail: str) -> Family | None:
    if re.match(r"^(?:born|raised|diagnosed|adopted|promoted|accepted|elected|selected|invited|named|awarded|brought up)\b", tail, re.I):
        return Family.EVENT
    if re.match(r"^(?:a|an|the|in the|on the|part of) [\w -]{4,}", tail, re.I) and not _EMPTY_NOUN.match(tail) and len(tail.split()) >= 3:
        return Family.EVENT
    if re.match(r"^(?:able to|finally able to|lucky (?:enough )?to|excited to (?:attend|meet|join|go)) \w+ (?!it\b|that\b|you\b)", tail, re.I):
        return Family.EVENT
    words_in = tail.split()
    if len(words_in) >= 6 and re.match(r"^(?:so |really |very |super )?(?:happy|proud|grateful|thankful|inspired|nervous|scared|sad|thrilled|amazed|excited|hooked|overwhelmed|moved|touched)\b", tail, re.I):
        return Family.FEELING
    return None


def _opinion(verb: str, tail: str, *, marked: bool) -> Family | None:
    body = tail.removeprefix("that ")
    if verb in {"think", "believe"} and tail.startswith(("in ", "about ")):
        return Family.PREFERENCE if verb == "believe" and not _PRONOUN_OBJECT.match(tail) else None
    if re.match(r"^(?:i|we|you|he|she|they|it's (?:a|the) (?:bug|problem)|it is|that|this|so|there)\b", body, re.I) and not re.match(r"^(?:it's|it is) (?:so |really |very |super )?(?:important|essential|crucial|key|vital|better|best|good)\b", body, re.I):
        return None
    if verb == "feel":
        return Family.FEELING if len(body.split()) >= 5 and re.match(r"^(?:so |really |very |most |more )?(?:\w+(?:ed|ful|ive|ious|y|ong|lish)) (?:when|about|by|to|while|after|that|on|in)\b", body, re.I) else None
    if verb == "find":
        return Family.OPINION if re.match(r"^(?!it\b|that\b|this\b|them\b|the\b|a\b)[\w -]{3,40} (?:to be |so |really |very |too )?(?:relaxing|boring|hard|easy|useful|confusing|distracting|inspiring|calming|helpful|annoying|difficult|tedious|fascinating|interesting|soothing|therapeutic|\w+ing)\b", body, re.I) else None
    if refusals.is_about_work(body) and not _EVALUATES.search(body):
        return None
    if len(body.split()) < 4 or refusals.gives_status(body) or refusals.speaks_of_now(body):
        return None
    return Family.OPINION if _EVALUATES.search(body) else None


def _lexical(verb: str, tail: str, *, marked: bool, whole: str) -> Family | None:
    """A clause with an ordinary verb: lasting by the verb, by a mark of habit, or as an event of one's own life."""
    from junior_memory.heuristics.inflection import is_past

    first = refusals.words_of(tail)[:1]
    dangling = bool(_PRONOUN_OBJECT.match(tail))
    if is_past(verb, whole):
        if not tail or dangling or verb in words.WORK_STEP_VERBS:
            return None
        if (verb in words.NEW_ONLY_VERBS and not re.match(r"^(?:out |a |an |some |my |this new |new |that |up )", tail, re.I)) or len(tail.split()) < 2:
            return None
        if _task(tail) or re.match(r"^(?:back|up|here|there|home|stuck|lost|an? (?:email|message|error|404|500|warning|reply|notification|call))\b", tail, re.I):
            return None
        if verb in {"got", "loved", "liked", "enjoyed", "felt", "saw", "made", "used"} and len(tail.split()) < 3:
            return None
        return Family.FEELING if verb in {"felt", "loved", "liked", "enjoyed"} else Family.EVENT
    if verb in words.LIKING_VERBS:
        if not tail or dangling or (first and first[0] in {"how", "what", "when", "your", "you", "the"} and verb in {"love", "like"} and len(tail.split()) < 3):
            return None
        if verb in {"tend", "belong"} and first != ["to"]:
            return None
        if verb in {"love", "like"} and re.match(r"^(?:to (?:know|see|hear)|seeing|hearing|how|what|when) (?:you|your|that|it|the)\b|^the (?:idea|photo|pic|picture|color|colors|look|sound)\b", tail, re.I):
            return None
        return Family.PREFERENCE
    if verb in words.DIET_VERBS and tail and not dangling:
        return Family.HABIT
    if verb in words.BEING_VERBS:
        if dangling or not tail:
            return None
        if verb == "work" and not re.match(r"^(?:as|at|for|in|with|from|on (?!it|this|that)|part|full|remotely|night|nights|shifts|mostly|\w+ly|mondays|four|4|best|better)\b", tail, re.I):
            return None
        if verb in {"come"} and not tail.lower().startswith("from"):
            return None
        if verb in {"run", "play", "make", "drive", "use", "lead", "manage", "train", "stream", "major", "maintain", "support", "hold"} and _task(tail) and not marked and verb not in {"use", "manage", "lead", "maintain"}:
            return None
        return Family.BEING if not marked else Family.HABIT
    if marked and verb in words.HABIT_VERBS and tail and not dangling and verb not in {"think", "feel", "look", "want", "need"}:
        return Family.HABIT
    return None


def _read_possessive(text: str, *, adverbial: str, said: str) -> Reading | None:
    """ "My sister lives in Leeds", "My favourite editor is Vim": what is the speaker's own, without the "my"."""
    named = _PET_NAME.match(text)
    if named and named["noun"].lower() not in {"name", "team"}:
        noun = named["noun"].strip()
        if set(noun.lower().split()) & (words.OTHERS | words.TEAM_ONLY):
            return None
        article = "" if noun.lower().endswith("s") and not noun.lower().endswith("ss") else ("an " if noun[0].lower() in "aeiou" else "a ")
        return _finish(Family.POSSESSION, f"has {article}{noun} named {named['name']}", adverbial="", said=said)
    text = _MY_S.sub(r"\1 \2 is ", text)
    match = _MY.match(text)
    if not match:
        return None
    noun, verb, rest = match["noun"], match["verb"], match["rest"]
    nouns = set(noun.lower().replace("'s", "").split())
    if nouns & words.OTHERS or nouns & words.TEAM_ONLY or "and i" in noun.lower() or len(nouns) > 6:
        return None
    if _task(noun) or refusals.gives_status(f"{verb} {rest}") or _PRONOUN_OBJECT.match(rest):
        return None
    if nouns & {"question", "problem", "issue", "guess", "point", "bad", "mistake", "understanding", "plan", "apologies", "god", "concern", "idea", "answer", "request", "boss", "phone", "laptop", "computer", "code", "screen", "battery", "internet", "wifi", "day", "week", "head", "back"} and verb not in {"has"}:
        return None
    if nouns & words.KIN and _MIND_OF_OTHERS.search(f"{verb} {rest}"):
        return None
    if rest.lower().startswith(("going", "doing", "getting", "not ", "so ", "really ", "being", "killing", "hurting")) and not nouns & {"goal", "dream"}:
        return None
    if nouns & words.KIN and not {"family", "kids", "parents"} & nouns and verb.lower() in {"is", "lives", "works", "has", "teaches", "studies", "plays", "runs"} and len(nouns) == 1 and not noun.lower().endswith("s"):
        article = "an" if noun[0].lower() in "aeiou" else "a"
        return _finish(Family.POSSESSION, f"has {article} {noun} who {verb} {rest}", adverbial=adverbial, said=said)
    return _finish(Family.ATTRIBUTE, f"{noun} {verb} {rest}", adverbial=adverbial, said=said)


def _read_influence(text: str, *, said: str) -> Reading | None:
    """ "Painting helps me relax" → "Finds that painting helps them relax."; "Blue is my favourite colour" likewise."""
    own = _IS_MY.match(text)
    if own and not _WEAK_SUBJECT.match(own["subject"]):
        return _finish(Family.PREFERENCE, f"{own['what']} is {own['subject']}", adverbial="", said=said)
    match = _INFLUENCE.match(text)
    if not match or _WEAK_SUBJECT.match(match["subject"]) or _task(text):
        return None
    subject, verb, rest = match["subject"], match["verb"], match["rest"]
    if " " not in rest:
        return None
    if subject[:1].isupper() and not subject.split(" ")[0].isupper() and subject.split(" ")[0].lower() not in {"my", "our"}:
        subject = subject[0].lower() + subject[1:]
    return _finish(Family.INFLUENCE, f"finds that {subject} {verb} {rest}", adverbial="", said=said)
