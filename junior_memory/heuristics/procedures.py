"""Procedures: "for X do Y", "to X, run Y", "when X, do Y": reusable steps with a task and an
action.
"""

from __future__ import annotations

import re

from junior_memory.heuristics import canonical, refusals
from junior_memory.heuristics.clauses import strip_leaders
from junior_memory.heuristics.statements import Family, Reading

_ACTION = (
    r"(?:always |never |first |just |then |do not |don't )?(?:run|use|call|set|restart"
    r"|check|open|apply|execute|start|stop|rotate|deploy|tag|merge|rebase|squash|push"
    r"|pull|create|add|file|go|follow|"
    r"ask|ping|page|notify|escalate|clear|flush|delete|remove|disable|enable|update|bump"
    r"|edit|rename|copy|export|import|generate|build|test|pass|commit|branch|log|connect"
    r"|ssh|install|configure|switch|point|scale|drain|roll|revert|"
    r"click|select|choose|visit|read|look|verify|validate|wait|post|submit|request|reset"
    r"|reload|kill|mount|attach|invalidate|purge|seed|migrate|stick|prefer|avoid|make"
    r" sure|ensure|keep|do|put|type|press|press|fill|sign|book|contact|email|mail|cc"
    r"|archive|back up|lint|format|pin|warm|boil|bake|mix|preheat|water|feed|print|send"
    r"|reuse|answer|page|offer|forward|append|give"
    r"|return|enter|record|charge|refund|name|stick|ship|block|approve|assign|close"
    r"|unplug|turn|take|bring|hand)"
)
TO_DO = re.compile(
    rf"^(?:in order )?to (?P<task>(?!me\b|be honest|be fair|be clear|be able|my\b|your\b|sum"
    rf"|summari[sz]e|answer)[\w`'./@ -]{{3,110}}?)(?:, | (?![^,]{{0,100}},))(?:you"
    rf" (?:need to|have to|must|should"
    rf"|can|just|first|always|only need to|'ll need to|will need to)? ?|we (?:always |usually"
    rf" |first |just )?|one (?:must|should|has to) |i (?:always |usually |just )?|simply "
    rf"|just |please )?(?P<action>{_ACTION}\b.{{2,260}})$",
    re.I,
)
_FOR_DO = re.compile(
    rf"^(?:for|with|on) (?P<task>(?!me\b|my\b|you\b|your\b|now\b|today|tomorrow|this\b|that\b"
    rf"|these|those|it\b|example|instance|fun|some|later|reference|context|free|sure|real"
    rf"|what)[\w`'./@ -]{{3,90}}?)(?:, | (?![^,]{{0,100}},))(?:you (?:need to |have to "
    rf"|must |should |can |always )"
    rf"|we (?:always |usually |first |just )?|please |always"
    rf" )?(?P<action>{_ACTION}\b.{{2,260}})$",
    re.I,
)
_WHEN_DO = re.compile(
    rf"^(?P<when>(?:when(?:ever)?|before|after|if|once|every time|each time|as soon as"
    rf"|until|unless) (?!you(?:'re| are| have|'ve| can| could| get| finish| need| want|"
    rf" see| don't)\b|i\b|i'm|we\b(?! (?:deploy|release|ship|tag|merge|migrate|rotate"
    rf"|onboard))|this\b|that\b|it\b|possible|necessary|so\b|not\b|needed|ready|done\b"
    rf"|he\b|she\b|they\b)[^,]{{3,110}}), (?:then )?(?:you (?:need to |have to |must "
    rf"|should |can |always )|we (?:always |usually |first |just )?|please |always"
    rf" )?(?P<action>{_ACTION}\b.{{2,260}})$",
    re.I,
)
_WHEN_IT_FAILS = re.compile(
    r"\b(?:fails?|failed|hangs?|crash\w*|breaks?|broken|errors?|times? out|timeouts?"
    r"|stuck|missing|down|full|expired?|refuses?|runs? out|slow|rejected|leaks?|loses"
    r"|lost|unavailable|unhealthy|red|pages?|alerts?|locked|corrupt\w*|outage|incident"
    r"|flaky|stops?|goes)\b",
    re.I,
)
_WHEN_YOU_DO = re.compile(
    rf"^(?P<when>(?:when(?:ever)?|before|after|once) (?:you )(?P<verb>deploy|release|merge"
    rf"|rotate|migrate|ship|commit|push|tag|upgrade|restart|rebase|onboard|restore|publish"
    rf"|roll back|cut)\b[^,]{{0,90}}), (?:then )?(?:you (?:need to |have to |must |should "
    rf"|can |always )|please |always )?(?P<action>{_ACTION}\b.{{2,260}})$",
    re.I,
)
_RULE_DO = re.compile(
    rf"^(?P<rule>(?:always|never|do not|don't ever)"
    rf" (?P<action>(?:{_ACTION})\b.{{2,200}}?\b(?:before|after|when|without|unless|on (?:mon"
    rf"|tues|wednes|thurs|fri|satur|sun)days?|in (?:production|prod|staging|main)|to (?:main"
    rf"|master|production|prod|staging)|from (?:main|master|a|the)|for (?!me\b)|with"
    rf"|until)\b.{{2,160}}))$",
    re.I,
)
_DO_TO = re.compile(
    r"^(?P<action>(?:run|use|call|execute|restart) [`\w./@:=-]+(?: [`\w./@:=-]+){0,6}?)"
    r" (?P<task>(?:to|for|before|after|when(?:ever)?) (?!me\b|my\b|this\b|that\b|it\b|see\b"
    r"|now\b|check\b)[\w`'./@ -]{4,140})$",
    re.I,
)
_HOW_TO = re.compile(
    r"^the (?:way|trick|steps?|process|procedure|right way|correct way|easiest way|command)"
    r" (?:to|for) (?P<task>[\w`'./@ -]{4,110}?)(?: here)? is (?:to )?(?P<action>.{4,260})$",
    re.I,
)
_ONE_OFF = re.compile(
    r"\b(?:this (?:pr|ticket|time|one|task|file|bug|issue|report|question|request|email"
    r"|document|code|function|week|sprint|morning|afternoon)|the (?:above|following"
    r"|attached|report|email|summary|draft|document|text|essay|story|answer|question"
    r"|presentation|slides|list|table|letter|poem)|tomorrow|today|now|tonight|for me|tell"
    r" me|let me|give me|show me|send me|remind|asap|next (?:week|sprint|meeting)|later"
    r"|let us know|my)\b",
    re.I,
)
_YOUR = re.compile(r"\b(?:your|our)\b", re.I)
_SECOND = re.compile(
    r"\b(?P<lead>before|after|when|whenever|once|while) you (?P<verb>deploy|release|merge|rotate"
    r"|migrate|ship|commit|push|tag|upgrade|restart|rebase|onboard|restore|publish|cut|add|delete)\b",
    re.I,
)
_DOUBLED = frozenset({"ship", "commit", "tag", "cut"})


def read_procedure(text: str) -> Reading | None:
    """ "For X do Y", "to X, run Y", "when X, do Y", "always Y before X": reusable steps with task
    and action.
    """
    said = text
    text = strip_leaders(text)
    if (
        refusals.is_unsure(text)
        or refusals.is_reported(text)
        or refusals.speaks_of_thread(text)
        or _ONE_OFF.search(text)
    ):
        return None
    for pattern, shape in (
        (TO_DO, "To {task}, {action}"),
        (_FOR_DO, "For {task}, {action}"),
        (_WHEN_DO, "{when}, {action}"),
        (_WHEN_YOU_DO, "{when}, {action}"),
        (_HOW_TO, "To {task}, {action}"),
        (_RULE_DO, "{rule}"),
        (_DO_TO, "{action} {task}"),
    ):
        match = pattern.match(text)
        if match:
            return _procedure(match, shape=shape, text=text, said=said)
    return None


def _procedure(match: re.Match[str], *, shape: str, text: str, said: str) -> Reading | None:
    """The matched task and action as one sentence; None for one-off or unfinished instructions."""
    if (
        match.re is _WHEN_DO
        and re.match(r"^(?:if|unless)\b", text, re.I)
        and not _WHEN_IT_FAILS.search(match["when"])
    ):
        return None
    if len(match["action"].split()) < 2 or (
        re.search(r"\b(?:it|this|that)$", match["action"], re.I)
        and len(match["action"].split()) < 3
    ):
        return None
    groups = {name: value for name, value in match.groupdict().items() if value}
    content = canonical.trim_tail(_SECOND.sub(_doing, shape.format(**groups)))
    content = canonical.finish(_impersonal(content))
    if not content or len(content) > canonical.MAX_CONTENT or canonical.has_person(content):
        return None
    return Reading(family=Family.PROCEDURE, content=content, said=said)


def _doing(match: re.Match[str]) -> str:
    """ "before you merge" → "before merging": the doer goes, the step stays."""
    lead, verb = match["lead"], match["verb"].lower()
    stem = verb[:-1] if verb.endswith("e") else verb + verb[-1] if verb in _DOUBLED else verb
    return f"{lead} {stem}ing"


def _impersonal(text: str) -> str:
    """Without "you" and "we" as the doer; "your branch" and "our wiki" become "the branch", "the
    wiki".
    """
    text = re.sub(
        r"\b(?:then|and|so|,) (?:you|we) (?:need to |have to |must |should |can )?",
        lambda match: match[0].split(" ")[0] + " ",
        text,
        flags=re.I,
    )
    return _YOUR.sub("the", text)
