"""The heuristic extractor: a completed session → durable facts, without a model.

Pure: no Django, no I/O, no clock; the same entries give the same candidates. Reads English; of
German, French, Spanish, Japanese and Chinese a few safe first-person forms; of every other
language nothing, rather than something odd.
"""

from __future__ import annotations

from collections.abc import Sequence

from junior_memory.candidates import MAX_CANDIDATES, Candidate, Entry
from junior_memory.heuristics.session import read_session

__all__ = ["extract_candidates"]


def extract_candidates(
    entries: Sequence[Entry], *, limit: int = MAX_CANDIDATES
) -> tuple[Candidate, ...]:
    """At most `limit` facts that the session states, best first, each citing the entries it rests
    on.

    A preference cites only instructions of the run's own actor; team facts and procedures may
    also rest on context, on other people's attributed messages and on successful tool results.
    Nothing rests on what an assistant said. An empty tuple is a normal answer.
    """
    return read_session(entries, limit=limit)
