"""Later words win: a correction replaces what it corrects, "forget that" takes back what it points
at.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import refusals, words
from junior_memory.heuristics.statements import Family, Statement

_CORRECTS = re.compile(
    r"^(?:(?:oh|oops|wait|hmm+|no|sorry|ah|well|ok|okay|hm)[,.! ]+){0,3}(?:actually"
    r"|correction|i meant|i mean|scratch that|sorry|no,|wait|not anymore|i was wrong|my"
    r" mistake|strike that|let me correct|to correct|update|i misspoke)\b",
    re.I,
)
_CHANGED = re.compile(
    r"\b(?:no longer|not .{0,40} any ?more|any ?more|instead of|switched (?:to|from)|moved"
    r" (?:to|from)|changed (?:my mind|to)|these days i|now i|i now|not .{1,30} but|stopped"
    r"|quit|gave up)\b",
    re.I,
)
_FORGET_ALL = re.compile(
    r"\b(?:forget|don't (?:remember|save|store|keep)|do not (?:remember|save|store|keep)"
    r"|never (?:remember|store|save)) (?:everything|anything|all(?: of)?)\b",
    re.I,
)
_FORGET_ABOUT = re.compile(
    r"\b(?:forget|ignore|disregard|don't (?:remember|save|store)|do not (?:remember|save"
    r"|store)) (?:what i (?:said|told you|wrote|mentioned) (?:about|on)|about|the (?:thing"
    r"|part|bit) about|that i|anything about) (?P<topic>.{2,120})",
    re.I,
)
_FORGET_THAT = re.compile(
    r"^(?:(?:please|pls|ok|okay|actually|oh|sorry|and|no|wait|hmm|hey|but|you know"
    r" what)[, ]+){0,3}(?:forget (?:that|this|it|what i (?:just )?said|the last (?:bit"
    r"|part|thing|message))|scratch that|strike that|disregard (?:that|this)|ignore"
    r" (?:that|this|what i just said)"
    r"|(?:please )?(?:don't|do not) (?:remember|save|store|keep|memori[sz]e|record|learn)"
    r" (?:that|this|it)|delete that|off the record|this is off the record|that's off the"
    r" record|keep (?:that|this) off the record|not for (?:your )?memory)\b",
    re.I,
)
_DO_NOT_KEEP_AHEAD = re.compile(
    r"^(?:.{0,40}\b)?(?:don't|do not) (?:remember|save|store|keep|memori[sz]e|record) (?:this"
    r"|that)\b|\boff the record\b|\bjust between us\b",
    re.I,
)

_REMEMBER = re.compile(r"\b(?:don't|do not|dont|never|please don't) forget\b", re.I)

_SLOTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "home",
            r"^(?:now )?(?:(?-i:Lives|Moved) (?:in|to) (?-i:[A-Z][a-z])|is based"
            r"|relocated|resides)",
        ),
        ("name", r"^(?:wants to be called|name is|is called)\b"),
        ("job", r"^(?:now )?works? (?:as|at|for)\b"),
        ("age", r"^is \d+\b|^is \w+ years old"),
        ("pronouns", r"^uses \w+/\w+ pronouns"),
        ("favourite", r"^favou?rite (\w+) is\b"),
        ("time zone", r"^is in (?:the )?\w+ time"),
        ("birthday", r"^birthday is\b"),
    )
)
_NOT_TOPIC = frozenset(
    "is has does not uses prefers likes loves works lives team the for with over their them "
    "they".split()
)


def slot_of(content: str) -> str:
    """The slot that holds one value at a time (home, job, name …), or an empty string."""
    for name, pattern in _SLOTS:
        match = pattern.search(content)
        if match:
            return f"{name} {match[1].lower()}" if match.groups() else name
    return ""


def corrects(sentence: str) -> bool:
    """Whether a sentence opens by taking something back ("actually", "I meant")."""
    return bool(_CORRECTS.match(sentence))


def is_off_the_record(sentence: str) -> bool:
    """Whether the rest of the message is said under "don't remember this"."""
    return bool(_DO_NOT_KEEP_AHEAD.search(sentence)) and not re.search(
        r"\b(?:don't|do not) forget\b", sentence, re.I
    )


def forget_request(sentence: str) -> tuple[str, str] | None:
    """("all" | "about" | "that", topic) when the sentence asks to forget something; else None."""
    if _REMEMBER.search(sentence):
        return None
    if _FORGET_ALL.search(sentence):
        return "all", ""
    about = _FORGET_ABOUT.search(sentence)
    if about:
        return "about", about["topic"]
    if _FORGET_THAT.match(sentence):
        return "that", ""
    return None


def topic_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, by their stems' first six letters."""
    return frozenset(
        word[:6]
        for word in refusals.words_of(text)
        if len(word) > 2 and word not in words.EMPTY_WORDS and word not in _NOT_TOPIC
    )


def apply_forgetting(
    statements: list[Statement], *, kind: str, topic: str, before: int
) -> list[Statement]:
    """The statements that stay after a request at place `before` in the session."""
    if kind == "all":
        return [one for one in statements if one.order > before]
    if kind == "about":
        wanted = topic_words(topic)
        return [
            one
            for one in statements
            if one.order > before or not wanted & topic_words(f"{one.content} {one.said}")
        ]
    earlier = [one.order for one in statements if one.order < before]
    if not earlier:
        return statements
    last_message = max(earlier) // 10_000
    if before // 10_000 - last_message > 4:
        return statements
    return [one for one in statements if one.order > before or one.order // 10_000 != last_message]


def let_later_win(statements: list[Statement], *, correcting: frozenset[int]) -> list[Statement]:
    """Statements in order of the session, without those that a later one of the same speaker
    replaces.

    `correcting` holds the places of sentences that open by taking something back.
    """
    matter = {id(one): topic_words(one.said) for one in statements}
    kept: list[Statement] = []
    for later in statements:
        opens = later.order in correcting
        changed = opens or bool(_CHANGED.search(later.said))
        slot = slot_of(later.content)
        replaced: set[int] = set()
        for place, earlier in enumerate(kept):
            if earlier.kind != later.kind or earlier.evidence[-1] > later.evidence[0]:
                continue
            if (
                (slot and slot_of(earlier.content) == slot)
                or (changed and matter[id(earlier)] & matter[id(later)])
                or _opposite(earlier, later)
            ):
                replaced.add(place)
        if opens and not replaced and (later.family is not Family.EVENT or _moves(later)):
            replaced.update(_replaced_without_words(kept, later))
        kept = [one for place, one in enumerate(kept) if place not in replaced]
        kept.append(later)
    return kept


def _replaced_without_words(kept: list[Statement], later: Statement) -> set[int]:
    """The one earlier statement that a correction without a word in common is about: the last one
    of its kind, or for "moved to X" the last that names something in use.
    """
    places = [
        place
        for place, earlier in enumerate(kept)
        if earlier.kind == later.kind and _alike(earlier, later)
    ]
    if _moves(later):
        in_use = [place for place in places if _IN_USE.match(kept[place].content)]
        places = in_use or places
    return set(places[-1:])


_IN_USE = re.compile(
    r"^(?:(?:always|usually|mostly|mainly|normally) )?(?:uses?|prefers?|codes?|writes?"
    r"|likes?|works? with|the team (?:uses|deploys|runs|tracks))\b",
    re.I,
)


def _moves(statement: Statement) -> bool:
    return bool(
        re.match(r"^(?:moved|switched|changed|went back|migrated)\b", statement.content, re.I)
    )


def _alike(earlier: Statement, later: Statement) -> bool:
    """A correction with no word in common still replaces the tool, taste or team practice stated
    last.
    """
    tools = {
        Family.PREFERENCE,
        Family.HABIT,
        Family.BEING,
        Family.TEAM,
        Family.DIRECTIVE,
        Family.ATTRIBUTE,
    }
    return earlier.family in tools and (later.family is earlier.family or _moves(later))


def _opposite(earlier: Statement, later: Statement) -> bool:
    """The same words with and without "not", or a comparison turned round."""
    if earlier.family is not Family.PREFERENCE or later.family is not Family.PREFERENCE:
        return False
    first, second = topic_words(earlier.content), topic_words(later.content)
    if " over " in earlier.content and " over " in later.content:
        return first == second and earlier.content != later.content
    negated = [
        "not" in refusals.words_of(one.content) or "never" in refusals.words_of(one.content)
        for one in (earlier, later)
    ]
    return negated[0] != negated[1] and bool(first) and (first <= second or second <= first)
