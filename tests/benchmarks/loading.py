"""A fast way in, for benchmarks only: rows by COPY, past every rule that memories are made by.

Nothing here checks, deduplicates or records. Terms and vectors are the product's own; the indexes
that do not guard anything are dropped before and built again afterwards.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from django.db import connection
from pgvector import HalfVector, Vector
from pgvector.psycopg import register_vector

from junior_memory import tallies
from junior_memory.lexical import terms
from junior_memory.lexical.tokens import tokens
from junior_memory.models.embeddings import IN_NO_BATCH, NEVER_IN_BATCH
from tests.benchmarks.corpus import NOW, Corpus, Draft

BATCH = 2_000
CHUNK = 10_000
TABLES = ("junior_memory_memory", "junior_memory_memoryembedding")

MEMORY_COLUMNS = (
    "id content kind visibility owner_id agent_id subject_type origin source_platform source_key"
    " fingerprint evidence_fingerprints search_vector language held_reason archive_reason version"
    " observed_at created_at"
).split()
EMBEDDING_COLUMNS = (
    "memory_id embedding_model_id owner_id visibility content_hash vector batch created_at"
).split()


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows go; `beside` is a table of the benchmark's for full-precision vectors."""

    address: dict[str, Any]
    agent_id: int | UUID
    model_id: int
    beside: str = ""


def address() -> dict[str, Any]:
    """Return how to reach the database of this run without Django."""
    parameters = connection.get_connection_params()
    return {name: parameters[name] for name in ("host", "port", "user", "dbname")}


def load(
    corpus: Corpus, target: Target, *, workers: int = 2, say: Callable[[str], None] = print
) -> float:
    """Write every row of a corpus with its terms and vectors; returns seconds."""
    began = time.perf_counter()
    asked_for = Corpus(corpus.rows, corpus.words)
    spans = [(at, min(at + CHUNK, corpus.rows)) for at in range(0, corpus.rows, CHUNK)]
    done = 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        asked = [pool.submit(_load_span, asked_for, span, target) for span in spans]
        for future in as_completed(asked):
            done += future.result()
            if done % 100_000 == 0:
                say(f"  loaded {done:,} rows after {time.perf_counter() - began:.0f} s")
    # No trigger counted them.
    tallies.recount()
    return time.perf_counter() - began


@contextmanager
def built_afterwards() -> Iterator[None]:
    """Drop the indexes of both tables that guard nothing, and build them again in the end."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indrelid = ANY(%s::text[]::regclass[]) AND indexrelid NOT IN"
            " (SELECT conindid FROM pg_constraint)",
            [list(TABLES)],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET maintenance_work_mem = '1GB'")
            for _, definition in indexes:
                cursor.execute(definition)
            cursor.execute("RESET maintenance_work_mem")


_known: dict[Corpus, Corpus] = {}


def _load_span(asked: Corpus, span: tuple[int, int], target: Target) -> int:
    """Write a span of rows, in a process of its own, which has set Django up on its way here."""
    corpus = _known.setdefault(asked, asked)
    with psycopg.connect(**target.address, autocommit=True) as raw:
        register_vector(raw)
        # The rows are whole by construction: no foreign key is looked up.
        raw.execute("SET session_replication_role = replica")
        raw.execute("SET synchronous_commit = off")
        for at in range(span[0], span[1], BATCH):
            drafts = [corpus.draft(number) for number in range(at, min(at + BATCH, span[1]))]
            _copy(raw, corpus, drafts, target)
    return span[1] - span[0]


# The same words come again and again here: what they are found by is worked out once.
_words_of = lru_cache(maxsize=200_000)(lambda chunk: tuple(tokens(chunk)))
_terms_of = lru_cache(maxsize=200_000)(terms.token_terms)


def index_terms(content: str) -> list[str]:
    """Return `lexical.index_terms` of a text of plain words, faster."""
    found = [token for chunk in content.split(" ") for token in _words_of(chunk)]
    latin = terms.stem_languages(content, found)
    return sorted(set[str]().union(*(_terms_of(token, latin) for token in found)))


def embed(texts: Sequence[str]) -> np.ndarray:
    """Return the product's own vectors of these texts, normalised, many at once."""
    from junior_memory.providers import local

    found: np.ndarray = local._weights().embed(list(texts), norm=True, batch_size=64)
    return found.astype(np.float32)


def _copy(
    raw: psycopg.Connection[Any], corpus: Corpus, drafts: Sequence[Draft], target: Target
) -> None:
    from junior_memory import embeddings

    vectors = embed([draft.content for draft in drafts])
    owners = {
        draft.owner: corpus.owner_id(draft.owner) for draft in drafts if draft.owner is not None
    }
    owners_of = [None if draft.owner is None else owners[draft.owner] for draft in drafts]
    with raw.cursor() as cursor:
        columns = ", ".join(MEMORY_COLUMNS)
        with cursor.copy(f"COPY junior_memory_memory ({columns}) FROM STDIN") as copy:
            for draft, owner in zip(drafts, owners_of, strict=True):
                copy.write_row(
                    (
                        draft.id,
                        draft.content,
                        "knowledge",
                        draft.visibility,
                        owner,
                        target.agent_id,
                        "general",
                        "import",
                        "api",
                        "",
                        f"bulk {draft.id}",
                        "{}",
                        " ".join(map(_quoted, index_terms(draft.content))),
                        "en",
                        "",
                        "",
                        1,
                        draft.created_at,
                        draft.created_at,
                    )
                )
        columns = ", ".join(EMBEDDING_COLUMNS)
        statement = f"COPY junior_memory_memoryembedding ({columns}) FROM STDIN (FORMAT BINARY)"
        with cursor.copy(statement) as copy:
            copy.set_types("uuid int8 uuid varchar varchar halfvec int4 timestamptz".split())
            for draft, owner, vector in zip(drafts, owners_of, vectors, strict=True):
                copy.write_row(
                    (
                        draft.id,
                        target.model_id,
                        owner,
                        draft.visibility,
                        embeddings.content_hash(draft.content),
                        HalfVector(vector),
                        IN_NO_BATCH if draft.visibility == "public" else NEVER_IN_BATCH,
                        NOW,
                    )
                )
        if target.beside:
            statement = (
                f"COPY {target.beside} (memory_id, owner_id, visibility, vector)"
                " FROM STDIN (FORMAT BINARY)"
            )
            with cursor.copy(statement) as copy:
                copy.set_types("uuid uuid varchar vector".split())
                for draft, owner, vector in zip(drafts, owners_of, vectors, strict=True):
                    copy.write_row((draft.id, owner, draft.visibility, Vector(vector)))


def _quoted(term: str) -> str:
    """Spell a lexeme as the text form of a tsvector."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
