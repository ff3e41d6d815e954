"""Small signs that several readers look for: a dangling object, a mark of habit, a listener spoken
to.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import refusals

PRONOUN_OBJECT = re.compile(
    r"^(?:(?:to|of|on|in|at|for|with|about|from|doing|seeing|having|trying|using|all|both"
    r"|up|out|so|as) ){0,2}"
    r"(?:it|them|they|ones|him|her|so|there|here|some (?:to|of|for)|a similar|the same"
    r"|(?:that|this|these|those)(?! (?!(?:it|this|he|she|they|we|you|i|is|was|are|were"
    r"|the|way|one|kind|sort|time|stuff|thing|pic|photo|picture|and|in|on|at|for|to|with"
    r"|from|of)\b)\w+ \w+)|one(?= (?:in|for|to|that|who|at|on|with|from)\b|,|$)"
    r"|another)\b(?! of (?:my|our|the)\b)(?! time\b)(?: |,|$)",
    re.IGNORECASE,
)
SELF_OBJECT = re.compile(
    r"^(?:(?:in|with|about) )?(?:us|me|you|myself|ourselves|each other|everyone|everything)\b", re.I
)
HABIT_MARK = re.compile(
    r"\b(?:always|never|usually|often|sometimes|rarely|mostly|generally|typically"
    r"|normally|regularly|every|each|daily|weekly|monthly|yearly|nightly"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days|weekends|weekdays|mornings|evenings|afternoons"
    r"|in the (?:morning|evening|afternoon)|at night|during the (?:holidays|week|summer"
    r"|winter)|at christmas|by \w+ing|(?:once|twice|\w+ times) (?:a|per|every) (?:day"
    r"|week|month|year)|before (?:i|work|bed|we|breakfast|starting|committing|merging"
    r"|pushing)"
    r"|after (?:work|dinner|lunch|school)|when(?:ever)? (?:i|we)|instead of|for (?:work"
    r"|fun|breakfast|lunch|dinner|everything|all my)|rather than|first thing|since"
    r" (?:\d{4}|i was|childhood))\b",
    re.IGNORECASE,
)
DURATION = re.compile(
    r"\b(?:for (?:the (?:past|last) )?(?:\w+ ){1,2}(?:years?|months|decades?)|since (?:\d{4}"
    r"|i was|childhood|college|high school)|all my life|my whole life|lately|recently|these"
    r" days|for a while)\b",
    re.I,
)
LISTENER = re.compile(r"\b(?:you|your|you're|you've|you'll|you'd|yours|yourself|ya|y'all)\b", re.I)
EVALUATES = re.compile(
    r"\b(?:important|essential|better|best|worse|worst|overrated|underrated|crucial|key|vital"
    r"|matters?|powerful|great|good|bad|useful|useless|harmful|healthy|unhealthy|beautiful"
    r"|ugly|necessary|worth|valuable|impact|difference|matter|fair|unfair|should|clearer"
    r"|easier|faster|cleaner|nicer|prettier|too)\b",
    re.I,
)
TURN_IN_LIFE = re.compile(
    r"\b(?:moved (?:to|from)|switched from|married|engaged|divorced|born|raised|grew up"
    r"|graduated|adopted"
    r"|retired|quit|founded|started (?:a|my|their|at|working|learning|playing|taking"
    r"|running)|joined (?!the (?:call|meeting|chat|channel|room|stream|session|wifi"
    r"|server)\b)|became|used to"
    r"|studied|(?:was|got|been) (?:promoted|hired|accepted|invited)|diagnosed|published"
    r"|immigrated|emigrated|enlisted|served"
    r"|(?:ran|finished) (?:a|their) (?:\w+ )?(?:marathon|triathlon)|bought (?:a|an|their)"
    r" (?:\w+ )?(?:house|car|flat|apartment|boat|bike|piano|guitar|home|farm)"
    r"|learning|studying|training for|volunteering|expecting|saving (?:up )?for|raising"
    r"|writing a (?:book|novel)|working (?:as|at|for|part|full|remotely|in|from|towards?)"
    r"|living|moving to|getting (?:married|divorced)|planning to|thinking of \w+ing"
    r"|hoping to|vegan|vegetarian|sober"
    r"|for (?:\w+ ){1,3}years|since (?:(?:19|20)\d\d|they were)|has (?:always|never|been to|lived"
    r"|worked|played|owned)|switched to|changed their)\b",
    re.IGNORECASE,
)
"""A turn in a life, which is worth keeping even when it is told in passing."""

AT_HAND = frozenset(
    "debugging fixing testing deploying waiting getting having seeing looking trying "
    "running asking calling wondering struggling"
    " told given asked getting working going using feeling being migrating refactoring "
    "checking investigating chasing-up pinging"
    " staring googling searching rebasing merging pushing reviewing compiling rerunning "
    "hearing telling saying meaning".split()
)
PARTICIPLES = frozenset(
    "gone done seen had taken made met bought found begun run won given come felt "
    "written left lost taught told grown known"
    " heard kept spent sold built brought caught chosen drunk driven eaten fallen flown "
    "held led ridden risen sung sent slept"
    " spoken stood swum thrown understood woken worn become read put set learnt gotten "
    "got started outgrown overcome".split()
)


def is_participle(word: str) -> bool:
    """Whether a word can follow "have" as the perfect of a verb."""
    return word in PARTICIPLES or (
        len(word) > 3 and word.endswith("ed") and word not in {"need", "red", "bed"}
    )


def is_task(text: str) -> bool:
    """Whether a clause is about a thing at hand in the work."""
    return refusals.is_about_work(text)
