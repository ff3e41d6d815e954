"""Standing wishes about how the assistant behaves: "Always answer in German", "From now on use
metric units".
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, refusals
from junior_memory.heuristics.clauses import strip_leaders
from junior_memory.heuristics.statements import Family, Reading

_LEAD = re.compile(r"^(?:(?:hey|hi|ok|okay|also|and|please|pls)[, ]+){0,3}", re.I)
_STANDING = re.compile(
    r"^(?P<mark>from now on|going forward|in (?:the )?future|by default|in general|for"
    r" all (?:future )?\w+|when(?:ever)? you (?!have|can|get|are|need|want|see|finish"
    r"|could|know|feel)\w+(?: \w+){0,4}|when"
    r" (?:answering|replying|writing|talking|coding|explaining|reviewing)(?: \w+){0,4}),?"
    r" (?:please |always |you should )?(?P<wish>\S+ \S.{2,200})$",
    re.I,
)
_ALWAYS = re.compile(
    r"^(?P<never>always|never|do not ever|don't ever)(?: please)? (?P<wish>\S+ \S.{2,200})$", re.I
)
_ASSISTANT_VERB = re.compile(
    r"^(?:(?:always|never|do not|don't|only|just|not) )?(?:answer|reply|respond|write|use"
    r"|keep|speak|talk|call|address|give|show|include|add|format|explain|start|end|ask"
    r"|suggest|cite|quote|translate|summari[sz]e|send|tell|stop|avoid|be|make|put|skip"
    r"|stick|prefer|apologi[sz]e|round|convert|list|return|assume|refer|say|remind|check"
    r"|double-check|type|sign)\b",
    re.I,
)
_FIXED_MARKS = frozenset(
    {"from now on", "going forward", "in future", "in the future", "by default", "in general"}
)
_TRAILING_MARK = re.compile(
    r"^(?P<wish>.{4,160}?),? (?P<mark>from now on|going forward|in (?:the )?future|by"
    r" default)$",
    re.I,
)
_CALL_ME = re.compile(
    r"^(?:(?:you can|you may|just|please|everyone|people|friends) )*call(?:s)? me"
    r" (?P<name>[A-Z][\w'-]{1,20}(?: [A-Z][\w'-]{1,20})?)$",
    re.I,
)
_PRONOUNS = re.compile(
    r"^(?:my pronouns are|i use|i go by) (?P<set>(?:she|he|they|ze|xe)/\w+(?:/\w+)?)(?:"
    r" pronouns)?$",
    re.I,
)
_GO_BY = re.compile(
    r"^i (?:go by|prefer to be called|like to be called) (?P<name>[A-Z][\w'-]{1,20})$", re.I
)
_ONE_OFF = re.compile(
    r"\b(?:this|that|these|those|it|today|tomorrow|now|above|below|the (?:report|email|file"
    r"|code|function|text|following|attached|draft|summary|list))\b",
    re.I,
)
_WORK_RULE = re.compile(
    r"\b(?:main|master|production|prod|staging|branch|deploy\w*|merg\w+|release\w*|commit\w*"
    r"|push\w*)\b",
    re.I,
)


def read_directive(text: str) -> Reading | None:
    """A wish that holds for every answer to come. A wish for this answer is a task and is not
    read.
    """
    said = text
    text = _LEAD.sub("", strip_leaders(text), count=1)
    for pattern, shape in (
        (_CALL_ME, "wants to be called {name}"),
        (_GO_BY, "wants to be called {name}"),
        (_PRONOUNS, "uses {set} pronouns"),
    ):
        match = pattern.match(text)
        if match:
            value = match.groupdict()
            if value.get("name", "").lower() in {
                "crazy",
                "back",
                "later",
                "when",
                "if",
                "maybe",
                "tomorrow",
                "old-fashioned",
            }:
                return None
            return _reading(shape.format(**value), said=said)
    if refusals.is_unsure(text) or refusals.is_reported(text) or refusals.names_secret(text):
        return None
    trailing = _TRAILING_MARK.match(text)
    if trailing:
        text = f"{trailing['mark']}, {trailing['wish']}"
    standing = _STANDING.match(text)
    always = _ALWAYS.match(text)
    if standing and _ASSISTANT_VERB.match(standing["wish"]):
        mark, wish = standing["mark"], standing["wish"]
        if _ONE_OFF.search(wish) or (mark.lower() not in _FIXED_MARKS and _ONE_OFF.search(mark)):
            return None
        wish, polarity = _polarity(wish)
        when = f" {mark.lower()}" if mark.lower().startswith(("when", "for all")) else ""
        when = re.sub(r"\byou\b", "it", when)
        return _reading(f"wants the assistant {polarity}to {wish}{when}", said=said)
    if (
        always
        and _ASSISTANT_VERB.match(always["wish"])
        and not _ONE_OFF.search(text)
        and not _WORK_RULE.search(text)
    ):
        polarity = "never" if always["never"].lower() != "always" else "always"
        return _reading(f"wants the assistant to {polarity} {always['wish']}", said=said)
    return None


def _polarity(wish: str) -> tuple[str, str]:
    for lead in ("do not ", "don't ", "never ", "not ", "stop "):
        if wish.lower().startswith(lead):
            rest = wish[len(lead) :]
            return (rest if lead != "stop " else wish), ("not " if lead != "stop " else "")
    return re.sub(r"^(?:always|only|just) ", "", wish, flags=re.I), ""


def _reading(content: str, *, said: str) -> Reading | None:
    content = re.sub(
        r"^(wants the assistant (?:always |never |not )?to (?:always |never )?)([A-Z])(?=[a-z])",
        lambda match: match[1] + match[2].lower(),
        content,
    )
    content = canonical.to_third_person(canonical.trim_tail(content))
    content = re.sub(
        r"\byour (?=answers?|repl(?:y|ies)|responses?|messages?|code|explanations?)",
        "its ",
        content,
        flags=re.I,
    )
    text = canonical.finish(content)
    if not text or canonical.has_person(text) or len(text) > canonical.MAX_CONTENT:
        return None
    return Reading(family=Family.DIRECTIVE, content=text, said=said)
