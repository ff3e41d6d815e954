#!/usr/bin/env python3
"""What the heuristic extractor learns, measured against facts that people wrote down.

usage: python tests/benchmarks/learning.py --data PATH/dev.json [--show N] [--conversation ID]
       [--speaker a|b]

The file holds conversations in the LoCoMo format: `conversation` with `session_N` turns, and
`observation` with the facts per session and speaker, each with the turn it came from. Speaker A
is the person, speaker B plays the assistant (`--speaker b` turns them round: people whom no
weight was fitted to). Precision and recall are by evidence turn: a turn
of speaker A that a stored text cites, against one that a written fact cites. Beside them, in
the same run, the baseline "the five longest first-person statements over 40 characters". No
data is copied into this repository; the file is read where it lies.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from junior_memory.candidates import (
    MAX_CANDIDATES,
    ActorRef,
    Authority,
    Candidate,
    Entry,
    EntryType,
    Role,
)
from junior_memory.heuristics import extract_candidates

BASELINE_LENGTH = 40
"""Characters that a first-person statement of the baseline must exceed."""

_FIRST_PERSON = re.compile(r"\b(?:i|my|we)\b", re.IGNORECASE)
_FIRST_OR_SECOND = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|our|ours|ourselves"
    r"|you|you're|your|yours|yourself)\b|\b(?-i:us)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a person with the facts written down for it."""

    name: str
    entries: tuple[Entry, ...]
    facts: dict[int, tuple[str, ...]]

    @property
    def gold(self) -> frozenset[int]:
        """Indices of the person's own turns that a written fact cites."""
        return frozenset(index for index in self.facts if self.entries[index].role is Role.USER)


@dataclass(slots=True)
class Tally:
    """Turns that were right, chosen and wanted."""

    right: int = 0
    chosen: int = 0
    wanted: int = 0

    def add(self, chosen: frozenset[int], gold: frozenset[int]) -> None:
        """Count one session."""
        self.right += len(chosen & gold)
        self.chosen += len(chosen)
        self.wanted += len(gold)

    @property
    def precision(self) -> float:
        return self.right / self.chosen if self.chosen else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def __str__(self) -> str:
        return f"P {self.precision:.3f}  R {self.recall:.3f}  F1 {self.f1:.3f}"


@dataclass(slots=True)
class Stored:
    """A stored text with the turn it cites and the facts written down for that turn."""

    session: str
    candidate: Candidate
    said: str
    facts: tuple[str, ...]


@dataclass(slots=True)
class Figures:
    """Everything one run measures."""

    heuristic: dict[str, Tally] = field(default_factory=dict)
    baseline: dict[str, Tally] = field(default_factory=dict)
    stored: list[Stored] = field(default_factory=list)
    sessions: int = 0
    seconds: float = 0.0


def read_sessions(sample: dict[str, Any]) -> Iterator[Session]:
    """The sessions of one conversation, speaker A as the acting person."""
    talk = sample["conversation"]
    name = str(sample["sample_id"])
    person = ActorRef(provider="benchmark", tenant="locomo", subject=name)
    number = 1
    while f"session_{number}_date_time" in talk:
        turns = talk.get(f"session_{number}") or []
        if turns:
            yield _session(sample, number, turns, person=person, name=f"{name}-s{number}")
        number += 1


def _session(
    sample: dict[str, Any],
    number: int,
    turns: Sequence[dict[str, Any]],
    *,
    person: ActorRef,
    name: str,
) -> Session:
    talk = sample["conversation"]
    moment = re.sub(r"\b[ap]m\b", lambda half: half[0].upper(), talk[f"session_{number}_date_time"])
    began = datetime.strptime(moment, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    entries: list[Entry] = []
    index_of: dict[str, int] = {}
    for turn in turns:
        text = (turn.get("text") or "").strip()
        if not text:
            continue
        own = turn["speaker"] == talk["speaker_a"]
        index_of[turn["dia_id"]] = len(entries)
        entries.append(
            Entry(
                index=len(entries),
                type=EntryType.MESSAGE,
                text=text,
                role=Role.USER if own else Role.ASSISTANT,
                authority=Authority.INSTRUCTION if own else None,
                actor=person if own else None,
                is_run_actor=own,
                at=began + timedelta(minutes=len(entries)),
            )
        )
    facts: dict[int, tuple[str, ...]] = {}
    observed = sample.get("observation", {}).get(f"session_{number}_observation", {})
    for fact, source in observed.get(talk["speaker_a"], []):
        for dia in [source] if isinstance(source, str) else source:
            if dia in index_of:
                facts[index_of[dia]] = (*facts.get(index_of[dia], ()), fact)
    return Session(name=name, entries=tuple(entries), facts=facts)


def baseline_turns(session: Session) -> frozenset[int]:
    """The five longest first-person statements over 40 characters."""
    statements = [
        entry
        for entry in session.entries
        if entry.role is Role.USER
        and len(entry.text) > BASELINE_LENGTH
        and _FIRST_PERSON.search(entry.text.replace("\u2019", "'"))
    ]
    statements.sort(key=lambda entry: (-len(entry.text), entry.index))
    return frozenset(entry.index for entry in statements[:MAX_CANDIDATES])


def measure(samples: Sequence[dict[str, Any]], *, conversation: str | None = None) -> Figures:
    """Run the extractor and the baseline over every session of `samples`."""
    figures = Figures()
    for sample in samples:
        name = str(sample["sample_id"])
        if conversation and name != conversation:
            continue
        label = f"{name} ({sample['conversation']['speaker_a']})"
        ours = figures.heuristic.setdefault(label, Tally())
        theirs = figures.baseline.setdefault(label, Tally())
        for session in read_sessions(sample):
            began = time.perf_counter()
            candidates = extract_candidates(session.entries)
            figures.seconds += time.perf_counter() - began
            figures.sessions += 1
            ours.add(frozenset(i for one in candidates for i in one.evidence), session.gold)
            theirs.add(baseline_turns(session), session.gold)
            for one in candidates:
                turn = one.evidence[0]
                figures.stored.append(
                    Stored(
                        session=session.name,
                        candidate=one,
                        said=" | ".join(session.entries[i].text for i in one.evidence),
                        facts=session.facts.get(turn, ()),
                    )
                )
    return figures


def token_f1(text: str, fact: str) -> float:
    """Overlap of two texts' words, the way question answering is scored."""
    ours, theirs = (Counter(word.lower() for word in _WORD.findall(one)) for one in (text, fact))
    shared = sum((ours & theirs).values())
    if not shared:
        return 0.0
    precision, recall = shared / sum(ours.values()), shared / sum(theirs.values())
    return 2 * precision * recall / (precision + recall)


def _total(tallies: dict[str, Tally]) -> Tally:
    return Tally(
        right=sum(one.right for one in tallies.values()),
        chosen=sum(one.chosen for one in tallies.values()),
        wanted=sum(one.wanted for one in tallies.values()),
    )


def _share(texts: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(1 for text in texts if not pattern.search(text)) / len(texts) if texts else 1.0


def report(figures: Figures) -> str:
    """The figures as lines to read."""
    lines = [f"{'conversation':<22}{'heuristic':<36}baseline"]
    for label, tally in figures.heuristic.items():
        lines.append(f"{label:<22}{tally!s:<36}{figures.baseline[label]}")
    ours, theirs = _total(figures.heuristic), _total(figures.baseline)
    lines.append(f"{'total':<22}{ours!s:<36}{theirs}")
    ratio = ours.f1 / theirs.f1 if theirs.f1 else float("inf")
    lines.append(
        f"F1 {ours.f1 - theirs.f1:+.3f} against the baseline (ratio {ratio:.3f}), "
        f"precision {ours.precision - theirs.precision:+.3f}, "
        f"recall {ours.recall - theirs.recall:+.3f}"
    )
    texts = [one.candidate.content for one in figures.stored]
    lengths = [len(text) for text in texts] or [0]
    matched = [
        max(token_f1(one.candidate.content, fact) for fact in one.facts)
        for one in figures.stored
        if one.facts
    ]
    lines.append(
        f"stored {len(texts)} texts of {figures.sessions} sessions: "
        f"{_share(texts, _FIRST_OR_SECOND):.3f} without first or second person, "
        f"{_share(texts, re.compile(r'[?]')):.3f} without questions, "
        f"median length {statistics.median(lengths):.0f}, longest {max(lengths)}"
    )
    lines.append(
        f"token F1 against the written fact of the cited turn: "
        f"{statistics.mean(matched) if matched else 0.0:.3f} over {len(matched)} texts"
    )
    speed = figures.sessions / figures.seconds if figures.seconds else 0.0
    lines.append(f"{speed:.0f} sessions a second")
    return "\n".join(lines)


def show(figures: Figures, *, count: int) -> str:
    """`count` stored texts, spread over the run, each with the turn it rests on and the facts
    written for it.
    """
    step = max(1, len(figures.stored) // count) if count else 1
    blocks = []
    for one in figures.stored[::step][:count]:
        facts = " / ".join(one.facts) or "(no fact written for this turn)"
        blocks.append(
            f"{one.session} [{one.candidate.kind}] {one.candidate.content}\n"
            f"    said: {one.said}\n    fact: {facts}"
        )
    return "\n".join(blocks)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line entry; prints the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", required=True, type=Path, help="a file in the LoCoMo format")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="also print N stored texts"
    )
    parser.add_argument("--conversation", help="only this conversation")
    parser.add_argument(
        "--speaker", choices=("a", "b"), default="a", help="whose memories are learned"
    )
    options = parser.parse_args(arguments)
    samples = json.loads(options.data.read_text(encoding="utf-8"))
    if options.speaker == "b":
        for sample in samples:
            talk = sample["conversation"]
            talk["speaker_a"], talk["speaker_b"] = talk["speaker_b"], talk["speaker_a"]
    figures = measure(samples, conversation=options.conversation)
    if options.show:
        sys.stdout.write(show(figures, count=options.show) + "\n\n")
    sys.stdout.write(report(figures) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
