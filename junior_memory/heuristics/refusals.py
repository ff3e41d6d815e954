"""What is never a fact about a person or a team, whatever its words: decided on the sentence,
before any rewording.
"""

from __future__ import annotations

import re

from junior_memory.heuristics.words import (
    NOW_PHRASES,
    OPERATIONS,
    OWN_WORK_NOUNS,
    STATUS,
    UNSURE_WORDS,
    WORK_NOUNS,
    WORK_OBJECTS,
)

_WORD = re.compile(r"[\w'+#-]+")
_QUESTION_START = re.compile(
    r"^(?:(?:and|but|so|ok|okay|hey|hi|also|well|um+|hmm+|quick question|question)[,:]? )?(?:"
    r"(?:what|who|whom|where|which|whose)(?:'s|'re|'d)?\b(?! i (?:love|like|enjoy|hate"
    r"|prefer|need)\b)"
    r"|why\b|how(?:'s)? (?:about|come|do|does|did|can|could|would|should|is|are|was|were"
    r"|much|many|long|often|to|has|have|am|will)\b"
    r"|when (?:is|are|do|does|did|will|can|should|was|were)\b"
    r"|(?:do|does|did|can|could|would|should|shall|is|are|am|was|were|will|have|has|had"
    r"|may|isn't|aren't|don't|doesn't|didn't|can't|couldn't|wouldn't|won't) "
    r"(?:you|i|we|they|he|she|it|there|this|that|these|those|anyone|anybody|someone"
    r"|somebody|the|my|our|your|people)\b"
    r"|any (?:idea|ideas|chance|tips|advice|thoughts|suggestions|recommendations)\b"
    r"|anyone\b|wanna\b|want to join)",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"^(?:(?:but|and|so|well|ok|okay|now|then)[, ]+)?(?:if|suppose|supposing|imagine"
    r"|assuming|assume|let's (?:say|assume|pretend|suppose)|say (?:i|we|you|my)\b|pretend"
    r"|what if|unless"
    r"|in case|in theory|theoretically|hypothetically|for (?:example|instance)|e\.g|in a"
    r" perfect world|had i|were i|as an example|in (?:this|the|my) (?:story|scenario"
    r"|example|game|novel|role-?play|book)|in an ideal world|example)\b"
    r"|\bi wish\b|\bif i (?:was|were|had|could|won|did)\b|\bwould(?:'ve| have)\b|\bcould"
    r" have\b|\bas if i\b|\bif only\b|\bwould be (?:nice|great|cool|good|better)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:said|says|told (?:me|us|him|her|them)|claims?|claimed|mentioned that|asked"
    r" (?:me|us|if|whether)|according to|reportedly|rumou?r|heard (?:that|from)|reckons"
    r"|keeps saying|apparently|quote"
    r"|wrote that|writes that|insists|insisted that|thinks (?:i|that i|we)|believes (?:i"
    r"|that i)|calls me|call me (?:a|the)\b)\b",
    re.IGNORECASE,
)
_QUOTED_SPEECH = re.compile(
    r"\"(?=[^\"]* )[^\"]{0,400}\b(?:I|I'm|I've|my|me|you|your|we|our)\b[^\"]{0,400}\""
)
_ALL_QUOTED = re.compile(r"^[\"'].{3,}[\"']$")
_SECRET = re.compile(
    r"\b(?:pass ?word|passphrase|passwort|contrase\u00f1a|mot de passe|api[ -]?key|secret"
    r" key|access key|private key|access token"
    r"|auth token|credit card|card number|cvv|iban|ssn|social security number|pin|otp"
    r"|one-time code|verification code)\b"
    r"(?: \w+){0,3} ?(?:is|was|are|ist|est|es|:|=)(?: |$)|\bbearer [\w.-]{16,}",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:" + "|".join(re.escape(phrase) for phrase in NOW_PHRASES) + r")\b", re.IGNORECASE
)
_THREAD = re.compile(
    r"\b(?:this (?:thread|chat|conversation|channel|message|session)|above|below|see"
    r" (?:attached|link)|attached|as discussed|pasted|my (?:last|previous) (?:message"
    r"|question|prompt)|previous answer|your (?:last|previous) \w+)\b",
    re.IGNORECASE,
)
_METRIC = re.compile(
    r"(?:\b\d[\d.,]* ?(?:%|percent|ms|kb|mb|gb|tb|errors?|failures?|requests|tickets|users"
    r"|visitors|points|commits)(?!\w)|\$ ?\d|\u20ac ?\d|\d ?[\u20ac$])",
    re.IGNORECASE,
)


def words_of(text: str) -> list[str]:
    """The words of a sentence in lower case, "C#" and "on-call" whole."""
    return [word.lower().strip("-'") for word in _WORD.findall(text)]


def is_question(text: str, *, asks: bool) -> bool:
    """A question by its mark, or by its word order when the mark was left out."""
    return asks or bool(_QUESTION_START.match(text))


def is_hypothetical(text: str) -> bool:
    """A condition that is not met, an example, a story, a wish against the facts."""
    return bool(_HYPOTHETICAL.search(text))


def is_unsure(text: str) -> bool:
    """Speculation: the speaker does not vouch for it."""
    lowered = f" {text.lower()} "
    if (
        " not sure" in lowered
        or " no idea" in lowered
        or "might be" in lowered
        or " could be " in lowered
    ):
        return True
    return not UNSURE_WORDS.isdisjoint(words_of(text))


def is_reported(text: str) -> bool:
    """Somebody else's words: reported, quoted, or a quotation as a whole."""
    return bool(_REPORTED.search(text) or _QUOTED_SPEECH.search(text) or _ALL_QUOTED.match(text))


def names_secret(text: str) -> bool:
    """A sentence that hands over a credential: left out here, whatever the later check makes of
    its value.
    """
    return bool(_SECRET.search(text))


def speaks_of_now(text: str) -> bool:
    """A state at the time of speaking or a matter of today: over before it could be recalled."""
    return bool(_NOW.search(text))


def speaks_of_thread(text: str) -> bool:
    """Refers to this conversation itself: not self-contained outside of it."""
    return bool(_THREAD.search(text))


def holds_metric(text: str) -> bool:
    """A measured amount that will be another tomorrow."""
    return bool(_METRIC.search(text))


def is_about_work(text: str) -> bool:
    """Names a thing at hand in the work: a ticket, a build, a log."""
    found = words_of(text)
    if not WORK_OBJECTS.isdisjoint(found):
        return True
    return any(
        (word in WORK_NOUNS and place and found[place - 1] in _POINTERS)
        or (word in OWN_WORK_NOUNS and place and found[place - 1] in _ARTICLES)
        for place, word in enumerate(found)
    )


_POINTERS = frozenset({"the", "this", "that", "unit", "failing"})
_ARTICLES = _POINTERS | {"a", "an", "my", "another", "some", "our", "your", "its"}


def is_operational(text: str) -> bool:
    """Uses the words that a team describes its way of working with."""
    return not OPERATIONS.isdisjoint(words_of(text))


def gives_status(text: str) -> bool:
    """Says what state something is in: "is down", "are green", "has failed"."""
    words = words_of(text)
    return any(
        word
        in {
            "is",
            "are",
            "was",
            "were",
            "looks",
            "seems",
            "keeps",
            "has",
            "have",
            "be",
            "been",
            "still",
            "it's",
        }
        and not STATUS.isdisjoint(words[place + 1 : place + 3])
        for place, word in enumerate(words)
    ) or not STATUS.isdisjoint(words[-1:])
