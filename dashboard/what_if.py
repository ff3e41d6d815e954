"""What would be recalled for a message, in words: the answer of the code that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from dashboard.amounts import decimal, percent, usd
from dashboard.query import ACTIVE
from dashboard.rows import Row, read_rows
from junior_memory import clock
from junior_memory.access import Source, Viewer
from junior_memory.conf import conf
from junior_memory.gates import NEAR_BEST, Candidate, Gate
from junior_memory.models import Agent, Memory, Organization, PublicUse, SourcePlatform, User
from junior_memory.recall import RecallExplanation, RecallRequest, Silence, explain_recall

CONVERSATION = "what-if"
"""Stands for the conversation; nothing is stored under it."""

DEADLINE_MS = 5_000
"""A person waits longer for an explanation than a run for its memory."""

MAX_OFF = 50
"""Memories that may be switched off at once."""

SILENCES = {
    Silence.BLANK: gettext_lazy("There is no message to recall for."),
    Silence.MODE: gettext_lazy("Recall is off in this conversation."),
    Silence.DEPLOYMENT: gettext_lazy("Recall is turned off for everyone here."),
    Silence.AGENT: gettext_lazy("This agent does not use memory."),
    Silence.PERSON: gettext_lazy("You turned recall off in your settings."),
    Silence.CONSENT: gettext_lazy(
        "Whoever runs this service does not allow memory in this conversation."
    ),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A message as an assistant might get it, where, and which memories are switched off."""

    text: str
    agent: Agent
    visibility: str
    org: Organization | None
    ask_model: bool = False
    without: frozenset[UUID] = frozenset()
    before: frozenset[UUID] = frozenset()
    """What was given before the last switch, to show what it changed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate as the page draws it."""

    row: Row
    gate: str
    fits: int
    found: str
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer to a what-if."""

    prompt: str
    given: Sequence[Judged]
    stopped: Sequence[Judged]
    off: Sequence[Row]
    change: str
    silence: str
    late: bool
    note: str
    """How the model comes in, where one selects."""


def has_model() -> bool:
    """True when a chat model selects what an assistant is given, so that it can be asked here."""
    return bool(conf().ai_model)


def ask_what_if(user: User, question: Question) -> WhatIf:
    """Explain a recall for a person in a conversation of this visibility; writes nothing.

    With `ask_model` the chat model selects as in a recall, which costs what a recall costs. The
    viewer is the one that a host's token for this agent (and organization) would have.
    """
    source = Source(platform=SourcePlatform.WEB, visibility=question.visibility)
    viewer = Viewer(
        user=user,
        agent=question.agent,
        org=question.org,
        conversation_id=CONVERSATION,
        private_use=PublicUse.ALL if source.is_private else PublicUse(user.public_use),
    )
    request = RecallRequest(
        viewer=viewer,
        agent=question.agent,
        conversation_id=CONVERSATION,
        source=source,
        text=question.text,
        limit=question.agent.limit,
        deadline_ms=DEADLINE_MS,
    )
    ask_model = question.ask_model and has_model()
    answer = explain_recall(request, ask_model=ask_model, without=question.without)
    seen = replace(viewer, agent=None, private_use=PublicUse.ALL)
    given = _judged(seen, answer.recalled, answer, question)
    failed = answer.timed_out or (bool(answer.degraded) and not given and not answer.reason)
    return WhatIf(
        prompt=answer.prompt or "",
        given=given,
        stopped=_judged(seen, answer.stopped, answer, question),
        off=_switched_off(seen, question.without),
        change=_change(given, question),
        silence=str(SILENCES.get(answer.silence, "")),
        late=failed,
        note=_note(answer),
    )


def _switched_off(viewer: Viewer, ids: frozenset[UUID]) -> list[Row]:
    """Return what is switched off, as far as the viewer may see it."""
    now = clock.now()
    found = Memory.objects.visible_to(viewer).active(now).filter(pk__in=list(ids)[:MAX_OFF])
    return read_rows(viewer, list(found.newest_first().for_list()), state=ACTIVE, now=now)


def _change(given: Sequence[Judged], question: Question) -> str:
    """Say what the last switch changed."""
    if not question.before:
        return ""
    now = {judged.row.memory.pk for judged in given}
    more = len(now - question.before)
    less = len(question.before - now - question.without)
    if not more and not less:
        return _("Nothing else changes.")
    parts = []
    if more:
        said = ngettext("{n} more memory is given.", "{n} more memories are given.", more)
        parts.append(said.format(n=more))
    if less:
        said = ngettext("{n} fewer memory is given.", "{n} fewer memories are given.", less)
        parts.append(said.format(n=less))
    return " ".join(parts)


def _note(answer: RecallExplanation) -> str:
    if not has_model() or answer.silence:
        return ""
    if not answer.asked_model:
        return _("A model would choose among these for the assistant; it was not asked.")
    cost = _("Its price is unknown.")
    if answer.cost_usd is not None:
        cost = _("Asking it cost {usd}.").format(usd=usd(answer.cost_usd))
    said = _("Chosen by the model, as for the assistant.")
    if answer.reason:
        said = _("The model that chooses gave no usable answer, so nothing would be given.")
    return f"{said} {cost}"


def _judged(
    viewer: Viewer, candidates: Sequence[Candidate], answer: RecallExplanation, question: Question
) -> list[Judged]:
    memories = [candidate.hit.memory for candidate in candidates]
    rows = read_rows(viewer, memories, state=ACTIVE, now=clock.now())
    return [
        Judged(
            row=row,
            gate=gate_in_words(candidate, answer, question.agent),
            fits=round(100 * candidate.strength),
            found=found_in_words(candidate, answer.cutoff),
            is_new=bool(question.before) and row.memory.pk not in question.before,
        )
        for row, candidate in zip(rows, candidates, strict=True)
    ]


def gate_in_words(candidate: Candidate, answer: RecallExplanation, agent: Agent) -> str:
    """Say what stopped a candidate, with the number that did."""
    fits = floor(100 * candidate.strength)
    best = max((one.strength for one in answer.candidates), default=0.0)
    place = answer.candidates.index(candidate) + 1
    match candidate.gate:
        case Gate.NONE:
            return ""
        case Gate.TOO_FAR:
            far, most = candidate.hit.match.meaning or 0.0, answer.cutoff or 0.0
            said = _("too far in meaning: distance {far}, and {most} is the most that counts")
            return said.format(far=decimal(far, 2), most=decimal(most, 2))
        case Gate.BELOW_MIN_SCORE:
            said = _("fits {fits}, and “{agent}” asks for {least}")
            return said.format(
                fits=percent(fits), agent=agent, least=percent(_at_least(agent.min_score))
            )
        case Gate.WEAKER_THAN_BEST:
            least = _at_least(NEAR_BEST * best)
            said = _("fits {fits}; beside the best one’s {best} it takes {least}")
            return said.format(
                fits=percent(fits), best=percent(round(100 * best)), least=percent(least)
            )
        case Gate.OVER_LIMIT:
            return _("no. {place}, and {limit} are given").format(place=place, limit=answer.limit)
    return str(GATES[candidate.gate])


GATES = {
    Gate.NOT_RELEVANT: gettext_lazy("does not fit the message well enough; nothing does"),
    Gate.NOT_SELECTED: gettext_lazy("not chosen by the model"),
    Gate.SECRET: gettext_lazy("looks as if it held a password, key or token"),
    Gate.NO_ROOM: gettext_lazy("finds no room left in the prompt"),
    Gate.ABOUT_SOMEBODY_ELSE: gettext_lazy("is about somebody else"),
    Gate.PRIVATE_HERE: gettext_lazy(
        "is private, and you keep that out of conversations like this one"
    ),
}


def _at_least(share: float) -> int:
    """Return a bound in percent, rounded up: what missed it by less than one never reads as it."""
    return ceil(round(100 * share, 6))


def found_in_words(candidate: Candidate, cutoff: float | None) -> str:
    """Say what found it: its words, how near it is in meaning, or its characters."""
    match = candidate.hit.match
    ways = []
    if match.words:
        words = ", ".join(_("“{word}”").format(word=word) for word in match.words[:6])
        ways.append(_("by {words}").format(words=words))
    if match.meaning is not None and candidate.gate is not Gate.TOO_FAR:
        said = _("by meaning, distance {far}")
        if cutoff:
            said = _("by meaning, distance {far} of at most {most}")
        ways.append(said.format(far=decimal(match.meaning, 2), most=decimal(cutoff or 0, 2)))
    if match.characters:
        ways.append(_("by characters"))
    return "; ".join(ways)
