"""What is derived from memories agrees with them, and what is gone is gone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Q

from junior_memory import embedding_models, fingerprints, tallies
from junior_memory.conf import conf
from junior_memory.doctor.finding import Finding, fail, ok, warn
from junior_memory.embeddings import wanting
from junior_memory.models import (
    CompletedSession,
    ErasureReceipt,
    Memory,
    MemoryEmbedding,
    SessionState,
)
from junior_memory.providers import configured

SAMPLE = 1_000
"""Memories, the newest, whose digests are computed again; a wrong key shows in every one."""

SOON = timedelta(minutes=10)
"""What the worker does every minute is done by then."""

# What a wrong key id means shows in the ids alone; one pass over an index-only column.
KEY_IDS_SQL = """
    SELECT DISTINCT split_part(fingerprint, '$', 1) FROM junior_memory_tombstone
    UNION SELECT DISTINCT split_part(fingerprint, '$', 1) FROM (
        SELECT fingerprint FROM junior_memory_memory
        WHERE held_at IS NULL AND archived_at IS NULL AND superseded_at IS NULL
        ORDER BY created_at DESC LIMIT %s) AS newest
"""

GHOSTS_SQL = """
    SELECT count(*) FILTER (WHERE memory.held_at IS NOT NULL OR memory.archived_at IS NOT NULL
                            OR memory.superseded_at IS NOT NULL OR memory.expires_at <= %s),
           count(*) FILTER (WHERE vector.visibility <> memory.visibility
               OR vector.owner_id IS DISTINCT FROM
                  CASE WHEN memory.visibility IN ('private', 'session') THEN memory.owner_id END
               OR vector.org_id IS DISTINCT FROM
                  CASE WHEN memory.visibility = 'org' THEN memory.org_id END)
    FROM junior_memory_memoryembedding AS vector
    JOIN junior_memory_memory AS memory ON memory.id = vector.memory_id
"""


def _newest(now: datetime) -> Sequence[Memory]:
    rows = Memory.objects.active(now).order_by("-created_at", "id")
    return list(rows.defer("search_vector", "evidence_fingerprints")[:SAMPLE])


def _is_known(memory: Memory) -> bool:
    """True when a memory's own fingerprint comes out of its text under a configured key."""
    match memory.visibility:
        case "public":
            holder = ""
        case "org":
            holder = str(memory.org_id or "")
        case "session":
            holder = f"{memory.owner_id or ''}/{memory.conversation_id}"
        case _:
            holder = str(memory.owner_id or "")
    parts = fingerprints.duplicate_parts(
        visibility=memory.visibility,
        holder=holder,
        agent_id=memory.agent_id,
        kind=memory.kind,
        subject_type=memory.subject_type,
        subject_key=memory.subject_key,
        content=memory.content,
    )
    return memory.fingerprint in fingerprints.keyed_all("duplicate", *parts)


def key_is_the_one_of_the_data(now: datetime) -> Finding:
    """The fingerprint key is the one under which this data was written."""
    remedy = (
        "Set MEMORY_FINGERPRINT_KEY to the key kept with the backups (old keys after the new one): "
        "until then what was forgotten can be learned again, and facts are stored twice."
    )
    with connection.cursor() as cursor:
        cursor.execute(KEY_IDS_SQL, [SAMPLE])
        used = {row[0] for row in cursor.fetchall()}
    missing = sorted(used - set(conf().fingerprint_keys))
    if missing:
        return fail("fingerprint key", f"no key for the ids {', '.join(missing)}", remedy)
    newest = _newest(now)
    unknown = sum(not _is_known(memory) for memory in newest)
    if newest and unknown == len(newest):
        return fail("fingerprint key", "none of the newest memories is recognised by it", remedy)
    if unknown:
        return warn(
            "fingerprint key",
            f"{unknown} of the newest {len(newest)} memories are not recognised by it",
            "Some rows were written under another key, or past the domain; see README.",
        )
    return ok("fingerprint key", f"recognises the newest {len(newest)} memories")


def vectors_cover_memories(now: datetime) -> Finding:
    """Every active memory has a vector of the model in use."""
    if configured() is None:
        return ok("vectors", "no embedder configured")
    model = embedding_models.in_use()
    active = Memory.objects.active(now)
    total = active.count()
    if model is None:
        if not total:
            return ok("vectors", "none wanted yet")
        return warn("vectors", f"0 of {total} memories", "Start a worker: it writes them.")
    covered = MemoryEmbedding.objects.filter(embedding_model=model)
    lacking = active.exclude(pk__in=covered.values("memory_id"))
    missing = lacking.count()
    seen = f"{total - missing} of {total} memories"
    if missing and lacking.filter(created_at__lte=now - SOON).exists():
        remedy = "The worker writes them every minute; if it does not, see worker and embedder."
        return warn("vectors", seen, remedy)
    return ok("vectors", seen)


def no_ghost_vectors(now: datetime) -> Finding:
    """No vector outlives the activity of its memory, and each says whose it is as its memory."""
    with connection.cursor() as cursor:
        cursor.execute(GHOSTS_SQL, [now - SOON])
        ghosts, strangers = cursor.fetchone()
    if ghosts or strangers:
        return fail(
            "ghost vectors",
            f"{ghosts} of memories that are not active, {strangers} with another owner or tier",
            "Delete them, the worker writes what is missing: DELETE FROM "
            "junior_memory_memoryembedding WHERE memory_id IN (…). Then find what wrote past the "
            "domain.",
        )
    return ok("ghost vectors", "none")


def vectors_are_of_their_text(now: datetime) -> Finding:
    """Vectors were made of what their memories say today, secrets masked."""
    models = embedding_models.kept_up()
    if not models:
        return ok("stale vectors", "no vectors in use")
    texts = {memory.pk: memory.content for memory in _newest(now)}
    held = MemoryEmbedding.objects.filter(memory_id__in=list(texts))
    stale = 0
    for model in models:
        having = set(held.filter(embedding_model=model).values_list("memory_id", flat=True))
        stale += len(wanting(model, {pk: text for pk, text in texts.items() if pk in having}))
    if stale:
        remedy = "The worker makes them again, a window of memories every minute; see worker."
        return warn("stale vectors", f"{stale} of the newest {len(texts)} memories", remedy)
    return ok("stale vectors", f"none among the newest {len(texts)} memories")


def terms_cover_memories(now: datetime) -> Finding:
    """Every active memory can be found by its words."""
    lacking = Memory.objects.active(now).filter(search_vector__isnull=True).count()
    if lacking:
        return fail(
            "search terms",
            f"{lacking} active memories have none: no search by words finds them",
            "They were written past the domain: export them and import the file again.",
        )
    return ok("search terms", "no active memory is without")


def kept_numbers_are_right(_now: datetime) -> Finding:
    """What the database counts by itself is what is there."""
    wrong = tallies.count_wrong()
    if wrong:
        return fail(
            "numbers",
            f"{wrong} sorts of memories, vectors or calls are counted wrong",
            "manage.py recount; then find what wrote past the triggers, as a bulk load may.",
        )
    return ok("numbers", "memories, vectors and calls are counted right")


def erased_is_erased(_now: datetime) -> Finding:
    """Nothing of an erased memory is left where the inventory looks, and each has its receipt."""
    erased = Memory.objects.filter(purged_at__isnull=False)
    vectors = MemoryEmbedding.objects.filter(memory__purged_at__isnull=False).count()
    terms = erased.filter(search_vector__isnull=False).count()
    talks = (
        CompletedSession.objects.filter(pk__in=erased.values("session_id"))
        .filter(Q(transcript__isnull=False) | Q(extraction_cache__isnull=False))
        .count()
    )
    bare = erased.exclude(pk__in=ErasureReceipt.objects.values("memory_id")).count()
    if vectors or terms or talks:
        return fail(
            "erasure",
            f"left of erased memories: {vectors} vectors, {terms} rows of terms, "
            f"{talks} transcripts",
            "Was an older dump restored over newer data? Restore into an empty database, then "
            "manage.py purge.",
        )
    if bare:
        return warn("erasure", f"{bare} erased memories have no receipt", "See the audit.")
    return ok("erasure", "nothing is left of erased memories")


def nothing_is_overdue(now: datetime) -> Finding:
    """What was due has been done: purges, expiries, decisions, old transcripts."""
    edge = now - SOON
    knobs = conf()
    late = {
        "to erase": Memory.objects.to_purge(edge).count(),
        "to expire": Memory.objects.to_expire(edge).count(),
        "to decline": Memory.objects.held()
        .filter(held_at__lte=edge - timedelta(days=knobs.held_days))
        .count(),
        "transcripts": CompletedSession.objects.filter(
            state=SessionState.FAILED,
            transcript__isnull=False,
            finished_at__lte=edge - timedelta(days=knobs.failed_transcript_days),
        ).count(),
    }
    found = [f"{count} {what}" for what, count in late.items() if count]
    if found:
        remedy = "Run manage.py purge, and start a worker, which does it every minute."
        return fail("housekeeping", f"overdue: {', '.join(found)}", remedy)
    return ok("housekeeping", "nothing is overdue")
