"""What would be recalled for a message, in words: the answer of the code that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from dashboard.query import ACTIVE
from dashboard.rows import Row, read_rows
from dashboard.words import counted
from junior_memory import clock
from junior_memory.access import Source, Viewer
from junior_memory.conf import conf
from junior_memory.gates import NEAR_BEST, Candidate, Gate
from junior_memory.models import Agent, Memory, Organization, PublicUse, SourcePlatform, User
from junior_memory.recall import RecallExplanation, RecallRequest, Silence, explain_recall
from junior_memory.reports import format_usd

CONVERSATION = "what-if"
"""Stands for the conversation; nothing is stored under it."""

DEADLINE_MS = 5_000
"""A person waits longer for an explanation than a run for its memory."""

MAX_OFF = 50
"""Memories that may be switched off at once."""

SILENCES = {
    Silence.BLANK: "There is no message to recall for.",
    Silence.MODE: "Recall is off in this conversation.",
    Silence.DEPLOYMENT: "Recall is turned off for everyone here.",
    Silence.AGENT: "This agent does not use memory.",
    Silence.PERSON: "You turned recall off in your settings.",
    Silence.CONSENT: "Whoever runs this service does not allow memory in this conversation.",
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
        silence=SILENCES.get(answer.silence, ""),
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
        return "Nothing else changes."
    parts = []
    if more:
        parts.append(f"{counted(more, 'memory', 'memories')} more would be given")
    if less:
        parts.append(f"{counted(less, 'memory', 'memories')} less would be given")
    return f"Now {' and '.join(parts)}."


def _note(answer: RecallExplanation) -> str:
    if not has_model() or answer.silence:
        return ""
    if not answer.asked_model:
        return "A model would choose among these for the assistant; it was not asked."
    price = format_usd(answer.cost_usd)
    cost = "Its price is unknown." if answer.cost_usd is None else f"Asking it cost {price}."
    if answer.reason:
        return f"The model that chooses gave no usable answer, so nothing would be given. {cost}"
    return f"Chosen by the model, as for the assistant. {cost}"


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
    fits = round(100 * candidate.strength)
    best = max((one.strength for one in answer.candidates), default=0.0)
    place = answer.candidates.index(candidate) + 1
    match candidate.gate:
        case Gate.NONE:
            return ""
        case Gate.TOO_FAR:
            far, most = candidate.hit.match.meaning or 0.0, answer.cutoff or 0.0
            return f"too far in meaning: distance {far:.2f}, and {most:.2f} is the most that counts"
        case Gate.BELOW_MIN_SCORE:
            return f"fits {fits} %, and “{agent}” asks for {round(100 * agent.min_score)} %"
        case Gate.WEAKER_THAN_BEST:
            least = round(100 * NEAR_BEST * best)
            return f"fits {fits} %; beside the best one’s {round(100 * best)} % it takes {least} %"
        case Gate.OVER_LIMIT:
            return f"no. {place}, and {answer.limit} are given"
    return GATES[candidate.gate]


GATES = {
    Gate.NOT_RELEVANT: "does not fit the message well enough; nothing does",
    Gate.NOT_SELECTED: "not chosen by the model",
    Gate.SECRET: "looks as if it held a password, key or token",
    Gate.NO_ROOM: "finds no room left in the prompt",
    Gate.ABOUT_SOMEBODY_ELSE: "is about somebody else",
    Gate.PRIVATE_HERE: "is private, and you keep that out of conversations like this one",
}


def found_in_words(candidate: Candidate, cutoff: float | None) -> str:
    """Say what found it: its words, how near it is in meaning, or its characters."""
    match = candidate.hit.match
    ways = []
    if match.words:
        ways.append("by " + ", ".join(f"“{word}”" for word in match.words[:6]))
    if match.meaning is not None and candidate.gate is not Gate.TOO_FAR:
        most = f" of at most {cutoff:.2f}" if cutoff else ""
        ways.append(f"by meaning, distance {match.meaning:.2f}{most}")
    if match.characters:
        ways.append("by characters")
    return "; ".join(ways)
