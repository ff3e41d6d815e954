"""Wording: from what a person said to the sentence that stands on their memory page.

Canonical text drops the subject ("Prefers tabs over spaces."), holds no first or second person,
closes with a full stop and says no more than the evidence.
"""

from __future__ import annotations

import re

from junior_memory.heuristics.inflection import NEGATIONS, finite, third_person
from junior_memory.heuristics.words import FILLERS, KEPT_ADVERBS

MAX_CONTENT = 240
"""A stated fact longer than this is a paragraph, not the smallest assertion; it is dropped."""

PREFERRED_CONTENT = 160
"""Past this length a trailing clause is cut when there is a place to cut."""

_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|im|ive|me|my|mine|myself|we|we're|we've|we'll|we'd|ours?|ourselves"
    r"|you|you're|you've|you'll|you'd|your|yours|yourself|yourselves|y'all|ya|u|ur|let's|lets)\b",
    re.IGNORECASE,
)
_US = re.compile(r"\b(?:us|Us)\b")
_ROMAN = re.compile(
    r"\b(?:World War|War|Part|Type|Phase|Level|Chapter|Book|Vol\.?|Volume|Mark|Grade|Act) I\b"
)

_SUBSTITUTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\b(?:i|we)(?:'m| am|'re| are)\b", "they are"),
        (r"\b(?:i|we) was\b", "they were"),
        (r"\b(?:i|we)'ve\b", "they have"),
        (r"\b(?:i|we)'d\b", "they would"),
        (r"\b(?:i|we)'ll\b", "they will"),
        (r"\b(?:i|we)\b(?!\.)", "they"),
        (r"\bmyself\b|\bourselves\b", "themselves"),
        (r"\bmine\b|\bours\b", "theirs"),
        (r"\bmy own\b|\bour own\b", "their own"),
        (r"\bmy\b|\bour\b", "their"),
        (r"\bme\b", "them"),
    )
)
_CONTRACTED = (
    (re.compile(r"^i'm\b|^im\b", re.IGNORECASE), "I am"),
    (re.compile(r"^i've\b|^ive\b", re.IGNORECASE), "I have"),
    (re.compile(r"^i'll\b", re.IGNORECASE), "I will"),
    (re.compile(r"^we're\b", re.IGNORECASE), "we are"),
    (re.compile(r"^we've\b|^weve\b", re.IGNORECASE), "we have"),
    (re.compile(r"^we'll\b", re.IGNORECASE), "we will"),
)
_HAD = re.compile(
    r"^(I|we)'d (?=(?:never |always |already |just )?(?:been|\w+ed|gone|had|taken|wanted)\b)", re.I
)
_WOULD = re.compile(r"^(I|we)'d ", re.IGNORECASE)

_COORDINATED = frozenset(
    "use love hate prefer eat drink live work write read avoid enjoy play run drive "
    "teach study speak own"
    " listen watch keep make take go get have do start try find believe want hope plan "
    "feel collect help"
    " spend think support cook paint sing dance swim walk ride buy meet visit organize "
    "organise manage"
    " dislike switch turn need rely trust plan host hold know share volunteer bake deploy test "
    "review push tag merge ship wear commute follow".split()
)
_ONLY_VERBS = frozenset(
    {"use", "hate", "prefer", "avoid", "eat", "enjoy", "dislike", "speak", "teach", "commute"}
)
_INFINITIVE = re.compile(
    r"\b(?:to|can|will|would|could|should|must|may|let|make|makes|help|helps|not)\b", re.I
)
_AFTER_VERB = re.compile(
    r"^(?:a|an|the|my|our|their|to|in|at|on|with|for|as|from|it|them|that|about|all|some"
    r"|every|no|only|most|up|out)$",
    re.I,
)

_TAILS = (
    re.compile(
        r",? (?:so no [\w -]{3,40} (?:then|there)$|(?:so |and )?(?:(?<=, )(?:don't|do"
        r" not)|please|help me|can you"
        r"|could you|give me|add (?:a|an|one"
        r"|the)|make (?:it|them|the|me)"
        r"|show me|tell me|remind me|check (?:it|them|this|the)|por favor|bitte|s'il"
        r" (?:te|vous) pla\u00eet)\b.{0,120})$",
        re.I,
    ),
    re.compile(
        r",? (?:so|but|and),? (?:what|why|how|which|who|where|when|can|could|do|does|is there"
        r"|are there|any)\b.{0,200}$",
        re.I,
    ),
    re.compile(
        r",? (?:so|but|and) (?:maybe|perhaps|let's|hopefully|please|let me|probably|i guess|i"
        r" think|we can|we should|i hope)\b.{0,200}$",
        re.I,
    ),
    re.compile(
        r",? (?:so|and|but|though|which|because|as|since|if|when|and so)\b[^,]{0,160}\b(?:you"
        r"|your|you're|you've|ya)\b.*$",
        re.I,
    ),
    re.compile(
        r",? (?:if (?:that helps|it matters|possible|needed)|you know|I (?:think|guess"
        r"|suppose|believe|mean)|"
        r"to be honest|tbh|imo|imho|lol|haha+|btw|by the way|for sure|too|as well"
        r"|of course|after all|"
        r"actually|anyway|though|in fact|hands down|I must say|I have to say|(?:so"
        r" )?check (?:it|them|this|that) out|take a look|have a look|look at"
        r" (?:this|that|it)|see|as usual|from now on|now|any ?more|nowadays|these days|like (?:that"
        r"|this)|then|strange as (?:that|it) is|(?:funny|weird|silly) as (?:that|it) (?:is"
        r"|sounds)|strange as (?:that|it) sounds|for (?:example"
        r"|instance)|at all times please|please|thanks|thank you)$",
        re.I,
    ),
    re.compile(
        r"(?<=\w{3}),? (?:and|but|so) (?:it|they|he|she|that|this|there)(?:'s|'re|'ve|'d)?"
        r" \w+.{0,160}$",
        re.I,
    ),
    re.compile(
        r", (?:it|that|this|they)(?:'s|'re| is| are| was| were| has| have|'ve) .{0,80}$", re.I
    ),
    re.compile(r", (?:sounds|looks|seems) (?:like|so|really|very|great|fun|good)\b.{0,80}$", re.I),
    re.compile(r", which (?:is|isn't|was|wasn't|has|hasn't|have|haven't) .{0,80}$", re.I),
    re.compile(
        r",? and (?:something|everything|everyone|nothing|the (?:view|views|weather|food|vibe"
        r"|vibes|atmosphere)) .{0,80}$",
        re.I,
    ),
    re.compile(
        r",? (?:and|but|which|so) (?:it|that|this|they|he|she|everything|everyone)?(?:'s| is|"
        r" was| were|'ve| has been|'s been| have been| went| felt)"
        r" (?:\w+ ){0,4}(?:amazing|awesome|great|cool|fun|nice|good|fantastic"
        r"|wonderful|incredible|powerful|perfect"
        r"|lovely|super|rewarding|inspiring|exciting|crazy|wild|tough|hard|special"
        r"|beautiful|delicious|epic|unreal"
        r"|blast|ride|experience|happy|worth it|a lot of fun)\b.{0,60}$",
        re.I,
    ),
)
_SUBORDINATE_HEAD = re.compile(
    r"^(?:when|whenever|if|even (?:though|when|if)|although|though|while|because|since|as"
    r"|after|before|with|for)\b[^,]*$",
    re.I,
)
_CUTS = re.compile(
    r", (?:which|so|but|and|because|as|since|though|although|where|while|especially|it|they"
    r"|that)\b| because | so that | and (?=it|they|that|this|the)\b| although | though |, "
)


def has_person(text: str) -> bool:
    """Whether a first or second person is left in `text`; the country "US" and "World War I" are
    none.
    """
    cleaned = _ROMAN.sub("", text)
    return bool(_PERSON.search(cleaned) or _US.search(cleaned))


def to_third_person(text: str) -> str:
    """References to the speaker inside a clause become "they", "them", "their": grammatical after
    any verb.
    """
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    return _US.sub("them", text)


def expand_subject(clause: str) -> str:
    """ "I'm", "I've", "we're", "I'd been" at the head of a clause, written out."""
    for pattern, replacement in _CONTRACTED:
        clause = pattern.sub(replacement, clause)
    clause = _HAD.sub(r"\1 had ", clause)
    return _WOULD.sub(r"\1 would ", clause)


_MANNER = re.compile(r"^(?!(?:ap|re|sup|multip|comp|imp)ply$|rely$|ally$|bully$)[a-z]{3,}ly$")
_ALL_OF_US = re.compile(
    r"(?!(?:the|of|my|our|their|these|those|this|that|kinds?|sorts?|types?|about|in|over|day|night"
    r"|year|week|set|right|good|for|to|on|at|and|or|things?)\b)[a-z]+\b(?! of\b)",
    re.IGNORECASE,
)
"""What follows "all" in "we all …": "all" says who, and goes; in "have all the keys" it stays."""


def split_adverbs(words: list[str]) -> tuple[list[str], list[str]]:
    """Leading adverbs of a predicate and the rest: fillers are dropped, those that belong to the
    fact are kept.
    """
    kept: list[str] = []
    position = 0
    while position < len(words) and position < 4:
        word = words[position].lower()
        if word == "no" and words[position + 1 : position + 2] == ["longer"]:
            kept.append("no longer")
            position += 2
            continue
        if word in FILLERS or (word == "all" and _ALL_OF_US.match(" ".join(words[position + 1 :]))):
            position += 1
        elif word in KEPT_ADVERBS or (_MANNER.match(word) and position + 1 < len(words)):
            kept.append(word)
            position += 1
        else:
            break
    return kept, words[position:]


def third_person_predicate(words: list[str]) -> str | None:
    """What follows "I" or "we", in the third person: ["always", "use", "vim"] → "always uses vim".

    None when there is no verb to turn.
    """
    adverbs, rest = split_adverbs(words)
    if not rest or not rest[0][:1].isalpha():
        return None
    clause = " ".join(words)
    verb, tail = rest[0], rest[1:]
    lowered = verb.lower()
    if lowered in NEGATIONS:
        head = NEGATIONS[lowered]
        return " ".join([*adverbs, head, *tail])
    if (
        lowered
        in {"do", "am", "are", "was", "were", "have", "had", "can", "could", "would", "will"}
        and tail
    ):
        later, more = split_adverbs(tail)
        if more:
            tail = [*later, *more]
    head = "cannot" if lowered == "cannot" else finite(verb, clause)
    if lowered in {"can", "could", "will", "would", "should", "may", "might", "must"}:
        head = lowered
    if head != lowered and tail:
        tail = _inflect_coordinated(tail)
    return " ".join([*adverbs, head, *tail])


def _inflect_coordinated(words: list[str]) -> list[str]:
    """ "prefers tabs and use vim" → "prefers tabs and uses vim", unless an infinitive is what is
    joined.
    """
    done: list[str] = []
    for place, word in enumerate(words):
        before = words[place - 1].lower().strip(",") if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        bare = word.lower().strip(",")
        joins = before in {"and", "but", "or", "then"} and bare in _COORDINATED
        plain = bare in _ONLY_VERBS or bool(_AFTER_VERB.match(after.strip(",")))
        if joins and after and plain and not _INFINITIVE.search(" ".join(words[:place])):
            done.append(third_person(word))
        else:
            done.append(word)
    return done


def trim_tail(text: str) -> str:
    """Without what is said to the listener, or only about how it felt, at the end of a sentence."""
    for _ in range(3):
        before = text
        for pattern in _TAILS:
            shorter = pattern.sub("", text).rstrip(" ,-:")
            shorter = re.sub(r" (?:lately|recently|now|again) to$", "", shorter)
            if len(shorter.split()) >= 3 and not _SUBORDINATE_HEAD.match(shorter):
                text = shorter
        if text == before:
            break
    return text


def finish(text: str) -> str:
    """Tidied, capitalised, closed with a full stop, and shortened at a clause when it runs long."""
    text = " ".join(text.split()).strip(" ,;:-\u2013\u2014")
    text = _shorten(text)
    if not text:
        return ""
    text = text[0].upper() + text[1:]
    return text if text[-1] in ".!\u2026\u3002" else f"{text}."


def _shorten(text: str) -> str:
    if len(text) <= PREFERRED_CONTENT:
        return text
    places = [
        match.start() for match in _CUTS.finditer(text) if 50 <= match.start() <= PREFERRED_CONTENT
    ]
    return text[: places[-1]].rstrip(" ,") if places else text
