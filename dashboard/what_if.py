"""What would be recalled for a message, in words: the answer of the code that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dashboard.query import ACTIVE
from dashboard.rows import Row, read_rows
from junior_memory import clock
from junior_memory.access import Source, Viewer
from junior_memory.conf import conf
from junior_memory.gates import Candidate, Gate
from junior_memory.models import Agent, Organization, PublicUse, SourcePlatform, User
from junior_memory.recall import RecallExplanation, RecallRequest, Silence, explain_recall
from junior_memory.search import CHARACTERS, LEXICAL

CONVERSATION = "what-if"
"""Stands for the conversation; nothing is stored under it."""

DEADLINE_MS = 5_000
"""A person waits longer for an explanation than a run for its memory."""

GATES = {
    Gate.NOT_RELEVANT: "does not fit the message well enough; nothing does",
    Gate.BELOW_MIN_SCORE: "fits less than this agent asks for",
    Gate.WEAKER_THAN_BEST: "fits much less than the best one",
    Gate.NOT_SELECTED: "was not selected by the model",
    Gate.SECRET: "looks as if it held a password, key or token",
    Gate.NO_ROOM: "finds no room left in the prompt",
    Gate.OVER_LIMIT: "comes after the number of memories that are given",
    Gate.ABOUT_SOMEBODY_ELSE: "is about somebody else",
    Gate.PRIVATE_HERE: "is private, and you keep that out of conversations like this one",
}
LISTS = {
    LEXICAL: "by words",
    f"private {LEXICAL}": "of your own by words",
    CHARACTERS: "by characters",
}
SILENCES = {
    Silence.BLANK: "There is no message to recall for.",
    Silence.MODE: "Recall is off in this conversation.",
    Silence.DEPLOYMENT: "Recall is turned off for everyone here.",
    Silence.AGENT: "This agent does not use memory.",
    Silence.PERSON: "You turned recall off in your settings.",
    Silence.CONSENT: "Whoever runs this service does not allow memory in this conversation.",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """One candidate as the page draws it."""

    row: Row
    gate: str
    fits: int
    found: str


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer to a what-if."""

    prompt: str
    given: Sequence[Judged]
    stopped: Sequence[Judged]
    silence: str
    late: bool
    degraded: tuple[str, ...]
    note: str
    """How the model comes in, where one selects."""


def has_model() -> bool:
    """True when a chat model selects what an assistant is given, so that it can be asked here."""
    return bool(conf().ai_model)


def ask_what_if(
    user: User,
    *,
    text: str,
    agent: Agent,
    visibility: str,
    org: Organization | None,
    ask_model: bool = False,
) -> WhatIf:
    """Explain a recall for a person in a conversation of this visibility; writes nothing.

    `ask_model` asks the chat model as a recall would, which costs what a recall costs.

    The viewer is the one that a host's token for this agent (and organization) would have.
    """
    source = Source(platform=SourcePlatform.WEB, visibility=visibility)
    viewer = Viewer(
        user=user,
        agent=agent,
        org=org,
        conversation_id=CONVERSATION,
        private_use=PublicUse.ALL if source.is_private else PublicUse(user.public_use),
    )
    request = RecallRequest(
        viewer=viewer,
        agent=agent,
        conversation_id=CONVERSATION,
        source=source,
        text=text,
        limit=agent.limit,
        deadline_ms=DEADLINE_MS,
    )
    ask_model = ask_model and has_model()
    return _in_words(viewer, explain_recall(request, ask_model=ask_model), asked=ask_model)


def _in_words(viewer: Viewer, answer: RecallExplanation, *, asked: bool) -> WhatIf:
    seen = replace(viewer, agent=None, private_use=PublicUse.ALL)
    return WhatIf(
        prompt=answer.prompt or "",
        given=_judged(seen, answer.recalled),
        stopped=_judged(seen, answer.stopped),
        silence=SILENCES.get(answer.silence, ""),
        late=answer.timed_out,
        degraded=answer.degraded,
        note=_note(answer, asked=asked),
    )


def _note(answer: RecallExplanation, *, asked: bool) -> str:
    if not has_model() or answer.silence:
        return ""
    if not asked:
        return "The model that selects for the assistant was not asked: this is by rank alone."
    if answer.reason:
        return "The model that selects did not answer, so the assistant would be given nothing."
    return "Selected by the model, as for the assistant."


def _judged(viewer: Viewer, candidates: Sequence[Candidate]) -> list[Judged]:
    memories = [candidate.hit.memory for candidate in candidates]
    rows = read_rows(viewer, memories, state=ACTIVE, now=clock.now())
    return [
        Judged(
            row=row,
            gate=GATES.get(candidate.gate, ""),
            fits=round(100 * candidate.strength),
            found=_found(candidate),
        )
        for row, candidate in zip(rows, candidates, strict=True)
    ]


def _found(candidate: Candidate) -> str:
    """Say what found it and at which place of each list."""
    words = ", ".join(f"“{word}”" for word in candidate.hit.match.words[:6])
    ranks = candidate.hit.ranks.items()
    places = ", ".join(f"no. {rank} {LISTS.get(name, name)}" for name, rank in ranks)
    return f"{words} ({places})" if words and places else words or places
