"""A model reads a finished conversation, window by window, and proposes facts.

It proposes words and cites entries. Whose a fact is, who may see it and whether its evidence holds
is decided elsewhere; here only what cannot be a fact at all is taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from junior_memory import fingerprints, prompts
from junior_memory.adjudication import Known
from junior_memory.asking import ask
from junior_memory.candidates import MAX_CANDIDATES, MAX_EVIDENCE, Candidate, Entry
from junior_memory.claims import UnusableClaim, last_moment, wording
from junior_memory.model_calls import EXTRACTION, OnBehalf
from junior_memory.prompt_block import cut
from junior_memory.providers import ChatModel
from junior_memory.quoting import (
    Answer,
    EmptyIsNull,
    Number,
    at_most,
    block,
    fitting,
    group,
    readable,
)
from junior_memory.windows import Window, model_for, room_beside, window_size, windows_of

MAX_KNOWN = 10
"""Existing memories that go along with one window (CONFORMANCE 1.6)."""

MAX_KNOWN_TOKENS = 1_500
KNOWN_SHARE = 0.2
"""What they may take of a prompt."""

MAX_TOKENS = 1_000
"""Of the answer (CONFORMANCE 1.6)."""

QUERY_LENGTH = 1_500
"""Characters of one search for existing memories: no more of a query is looked at."""

MAX_QUERIES = 12

UNUSABLE = Candidate(kind="knowledge", content="", evidence=())
"""A proposal that cannot be kept. It keeps neither words nor evidence: routing drops and
counts it."""

Kind = Literal["preference", "procedure", "knowledge"]


class Proposal(Answer):
    """One fact as a model proposes it."""

    kind: Kind
    canonical_fact: str
    expires_at: Annotated[str | None, EmptyIsNull] = None
    evidence: Annotated[list[Number], at_most(MAX_EVIDENCE, least=1)]
    touches_topic: Annotated[Number | None, EmptyIsNull] = None
    orders_assistant: bool = False


class SharedProposal(Proposal):
    """One fact where nothing personal may be proposed; one that is all the same is routed away."""

    kind: Annotated[Kind, WithJsonSchema({"type": "string", "enum": ["procedure", "knowledge"]})]


class Found(Answer):
    """The model's answer to one window; a sixth fact makes it unusable."""

    memories: Annotated[list[Proposal], Field(max_length=MAX_CANDIDATES)]


class FoundShared(Answer):
    """The same where nothing personal may be proposed."""

    memories: Annotated[list[SharedProposal], Field(max_length=MAX_CANDIDATES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingContext:
    """What a model is told of a session, and how long each question may take.

    `visibility` is the Source's, for who will read what is learned. `echoed` entries repeat what
    recall gave, and may not be cited.
    """

    has_linked_user: bool
    has_one_human: bool
    visibility: str
    platform: str
    never_learn_topics: tuple[str, ...] = ()
    echoed: frozenset[int] = frozenset()
    timeout_seconds: float = 60

    @property
    def may_be_personal(self) -> bool:
        """True when a preference could be stored at all."""
        return self.has_linked_user and self.has_one_human


def read_session(
    entries: Sequence[Entry],
    *,
    run: ReadingContext,
    existing: Callable[[str], Sequence[Known]],
    done: Mapping[str, tuple[Candidate, ...]],
    keep: Callable[[str, tuple[Candidate, ...]], None],
    payer: OnBehalf,
    now: datetime,
    model: ChatModel | None = None,
) -> tuple[Candidate, ...]:
    """Return what a model proposes, at most five facts a window, each once; raises ModelFailed.

    `existing` finds memories for a text; they go along as context. A window found in `done` is not
    asked about again; `keep` gets each finished one by its key, so that a retry goes on behind it.
    Windows in which nothing new could be cited are not asked about.
    """
    reader = model_for(model)
    prompt = prompts.extraction(
        may_be_personal=run.may_be_personal,
        platform=run.platform,
        readers=run.visibility,
        today=now.date(),
        topics=run.never_learn_topics,
    )
    beside = min(MAX_KNOWN_TOKENS, KNOWN_SHARE * room_beside(prompt, reader))
    size = window_size(prompt, reader, beside=beside)
    shape: type[Found] | type[FoundShared] = Found if run.may_be_personal else FoundShared
    found: dict[tuple[str, str], Candidate] = {}
    unusable = 0
    for window in windows_of(entries, size=size, echoed=run.echoed):
        if not window.has_news:
            continue
        key = f"{prompts.VERSION}:{int(size)}:{window.key}"
        proposed = done.get(key)
        if proposed is None:
            known = _known_for(window, existing, [one.content for one in found.values()])
            said = ask(
                EXTRACTION,
                prompt.filled(*_blocks(window, known, room=beside)),
                shape,
                payer=payer,
                timeout_seconds=run.timeout_seconds,
                max_tokens=MAX_TOKENS,
                model=reader,
            )
            proposed = tuple(_candidate(one, window, run, now=now) for one in said.memories)
            keep(key, proposed)
        for one in proposed:
            if one.evidence:
                found.setdefault((one.kind, fingerprints.fold(one.content)), one)
            else:
                unusable += 1
    return (*found.values(), *[UNUSABLE] * unusable)


def _known_for(
    window: Window, existing: Callable[[str], Sequence[Known]], earlier: Sequence[str]
) -> list[str]:
    """Return what is known of the things a window is about, the nearest to each stretch first.

    The whole window is searched for, a stretch at a time. What earlier windows of this
    conversation gave is known too.
    """
    found: dict[object, str] = {}
    hits = [list(existing(query)) for query in _queries(window.told)]
    for rank in range(MAX_KNOWN):
        for rows in hits:
            if rank < len(rows):
                found.setdefault(rows[rank].id, rows[rank].content)
    return [*earlier[-MAX_KNOWN:], *list(found.values())[:MAX_KNOWN]]


def _queries(text: str) -> list[str]:
    stretches = [
        stretch
        for start in range(0, len(text), QUERY_LENGTH)
        if (stretch := text[start : start + QUERY_LENGTH].strip())
    ]
    if len(stretches) <= MAX_QUERIES:
        return stretches
    step = len(stretches) / MAX_QUERIES
    return [stretches[int(number * step)] for number in range(MAX_QUERIES)]


def _blocks(window: Window, known: Sequence[str], *, room: float) -> list[str]:
    _, lines = fitting(known, [block("fact", cut(readable(one))) for one in known], room=room)
    conversation = group("conversation", [part.shown for part in window.parts])
    return [group("known", [lines]), conversation] if lines else [conversation]


def _candidate(said: Proposal, window: Window, run: ReadingContext, *, now: datetime) -> Candidate:
    """Return a proposal as a candidate, or UNUSABLE."""
    evidence = tuple(dict.fromkeys(said.evidence))
    if not 1 <= len(evidence) <= MAX_EVIDENCE or not window.indices.issuperset(evidence):
        return UNUSABLE
    try:
        content = wording(said.canonical_fact, shown=window.text)
        expires_at = last_moment(said.expires_at, now=now)
    except UnusableClaim:
        return UNUSABLE
    return Candidate(
        kind=said.kind,
        content=content,
        evidence=evidence,
        expires_at=expires_at,
        touches_topic=1 <= (said.touches_topic or 0) <= len(run.never_learn_topics),
        orders_assistant=said.orders_assistant,
    )
