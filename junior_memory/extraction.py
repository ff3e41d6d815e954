"""Completed session → candidates, and the evidence that each of them needs.

The extractor proposes; `route` decides by evidence alone, deterministically (DESIGN 5.3). What does
not fit is dropped, never downgraded to another kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from junior_memory import fingerprints, heuristics
from junior_memory.candidates import (
    MAX_CANDIDATES,
    MAX_EVIDENCE,
    MEMORY_TOOLS,
    ActorRef,
    Authority,
    Candidate,
    Entry,
    EntryType,
    Role,
    bare_tool_name,
)

MIN_ECHO_LENGTH = 12
"""Characters from which a recalled text inside an entry counts as an echo of the recall."""


class Extractor(Protocol):
    """Reads one session and proposes candidates, best first."""

    def __call__(self, entries: Sequence[Entry]) -> tuple[Candidate, ...]:
        """Return at most five candidates a window; an empty answer is a good answer."""


SPARE_CANDIDATES = 2 * MAX_CANDIDATES
"""What the heuristics may propose: evidence drops some, and five that hold may be left."""


def extract_by_heuristics(entries: Sequence[Entry]) -> tuple[Candidate, ...]:
    """Propose candidates without a model, best first, with some to spare for routing."""
    return heuristics.extract_candidates(entries, limit=SPARE_CANDIDATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What routing needs to know of a session."""

    has_linked_user: bool
    actor: ActorRef | None
    actors: tuple[ActorRef, ...]
    entries: tuple[Entry, ...]
    echoed: frozenset[int] = frozenset()

    @property
    def has_one_human(self) -> bool:
        """True when exactly one actor took part and it is a person, the session's own actor."""
        people = set(self.actors)
        return (
            len(people) == 1 and self.actor in people and bool(self.actor and self.actor.is_human)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """A candidate that its evidence carries."""

    candidate: Candidate
    cited: tuple[Entry, ...]
    teller: ActorRef | None
    observed_at: datetime | None

    @property
    def is_own_word(self) -> bool:
        """True when all of its evidence is what the session's own actor told the assistant."""
        return all(map(_is_own_word, self.cited))


def echoes(entries: Sequence[Entry], recalled: Sequence[str]) -> frozenset[int]:
    """Return the entries that repeat what memory gave the host: by recall, or by our own tools.

    A private memory that a tool read in a public conversation must not be learned there again.
    """
    texts = [
        folded for text in recalled if len(folded := fingerprints.fold(text)) >= MIN_ECHO_LENGTH
    ]
    return frozenset(
        entry.index
        for entry in entries
        if bare_tool_name(entry.tool_name) in MEMORY_TOOLS
        or (texts and any(text in fingerprints.fold(entry.text) for text in texts))
    )


def route(
    candidates: Sequence[Candidate], run: Run, *, limit: int = MAX_CANDIDATES
) -> list[Routed]:
    """Return the candidates whose evidence proves them, best first, at most `limit`."""
    routed: list[Routed] = []
    for candidate in candidates:
        cited = _cited(candidate, run)
        if cited is None:
            continue
        if candidate.kind == "preference":
            proven = run.has_linked_user and run.has_one_human and all(map(_is_own_word, cited))
        else:
            proven = all(map(_proves_shared_fact, cited))
        if proven:
            moments = [entry.at for entry in cited if entry.at is not None]
            routed.append(
                Routed(
                    candidate=candidate,
                    cited=cited,
                    teller=next((e.actor for e in cited if e.actor is not None), run.actor),
                    observed_at=max(moments) if moments else None,
                )
            )
    return routed[:limit]


def _cited(candidate: Candidate, run: Run) -> tuple[Entry, ...] | None:
    """Return the cited entries; None when one is missing, echoed, or there are too many."""
    indices = dict.fromkeys(candidate.evidence)
    if not 1 <= len(indices) <= MAX_EVIDENCE:
        return None
    known = {entry.index: entry for entry in run.entries if entry.index not in run.echoed}
    if any(index not in known for index in indices):
        return None
    return tuple(known[index] for index in indices)


def _is_own_word(entry: Entry) -> bool:
    return (
        entry.type is EntryType.MESSAGE
        and entry.role is Role.USER
        and entry.authority is Authority.INSTRUCTION
        and entry.is_run_actor
    )


def _proves_shared_fact(entry: Entry) -> bool:
    if entry.type is EntryType.TOOL_RESULT:
        return not entry.is_error and bool(entry.text.strip())
    if entry.role is not Role.USER:
        return False
    return entry.authority is not Authority.INSTRUCTION or entry.actor is not None
