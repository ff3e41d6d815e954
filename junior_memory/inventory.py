"""Every place of the database that can hold a memory's text, and how each is emptied.

Not here, and why: logs hold no content; a process's cache of vectors (`vector.query_vectors`) is of
queries alone, and what it knows to hold no secret (`secrets.py`) is no text at all: both go by
digests under a key that dies with the process; the write-ahead log and backups keep text for as
long as README's "How long is it gone" says. `text_columns.py` says of every column that can hold
text what is in it, and a test fails for one that is not there: sessions and flash messages hold no
content, the admin's history and the jobs ids alone, and allauth's tables are never written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from junior_memory.models import (
    CompletedSession,
    Memory,
    MemoryEmbedding,
    MemoryReport,
)


@dataclass(frozen=True, slots=True)
class Place:
    """One place: its name on the receipt, and what empties it for some memories."""

    name: str
    empty: Callable[[Sequence[UUID]], dict[UUID, int]]


def _counted(ids: Sequence[UUID]) -> dict[UUID, int]:
    counts: dict[UUID, int] = {}
    for memory_id in ids:
        counts[memory_id] = counts.get(memory_id, 0) + 1
    return counts


def _empty_embeddings(ids: Sequence[UUID]) -> dict[UUID, int]:
    rows = MemoryEmbedding.objects.filter(memory_id__in=ids)
    counts = _counted(list(rows.values_list("memory_id", flat=True)))
    rows.delete()
    return counts


def _empty_transcripts(ids: Sequence[UUID]) -> dict[UUID, int]:
    """Erase what is left of the conversations that the memories were captured from."""
    pairs = Memory.objects.filter(pk__in=ids, session__transcript__isnull=False)
    found = list(pairs.values_list("pk", "session_id"))
    CompletedSession.objects.filter(pk__in=[session for _, session in found]).update(
        transcript=None
    )
    return _counted([memory for memory, _ in found])


def _empty_extraction_caches(ids: Sequence[UUID]) -> dict[UUID, int]:
    pairs = Memory.objects.filter(pk__in=ids, session__extraction_cache__isnull=False)
    found = list(pairs.values_list("pk", "session_id"))
    CompletedSession.objects.filter(pk__in=[session for _, session in found]).update(
        extraction_cache=None
    )
    return _counted([memory for memory, _ in found])


def _empty_report_reasons(ids: Sequence[UUID]) -> dict[UUID, int]:
    rows = MemoryReport.objects.filter(memory_id__in=ids).exclude(reason="")
    counts = _counted(list(rows.values_list("memory_id", flat=True)))
    rows.update(reason="")
    return counts


def _empty_terms(ids: Sequence[UUID]) -> dict[UUID, int]:
    rows = Memory.objects.filter(pk__in=ids, search_vector__isnull=False)
    counts = _counted(list(rows.values_list("pk", flat=True)))
    rows.update(search_vector=None, language="")
    return counts


PLACES = (
    Place("vectors", _empty_embeddings),
    Place("transcripts", _empty_transcripts),
    Place("extraction caches", _empty_extraction_caches),
    Place("reports", _empty_report_reasons),
    Place("search terms", _empty_terms),
)
"""Everything but the content itself, which goes with the row's `purged_at` in `forgetting`."""

VACUUMED = (Memory, MemoryEmbedding, CompletedSession, MemoryReport)


def vacuum() -> None:
    """Give back the dead rows that still hold text on disk. Does nothing inside a transaction."""
    if connection.in_atomic_block:
        return
    with connection.cursor() as cursor:
        for model in VACUUMED:
            cursor.execute(f"VACUUM {connection.ops.quote_name(model._meta.db_table)}")
