"""The vector leg: which rows are near a query, among what a viewer may see.

Nearness narrows and orders; who may see what is said by `visible_to` alone, around every statement.
Own and organization rows are compared one by one. Over public rows an approximate index proposes,
and a list that comes out short is completed exactly, so that it never under-returns.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from junior_memory import embeddings
from junior_memory.access import Viewer
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.legs import Leg, LegAnswer, LegFailed
from junior_memory.lexical.leg import Scored
from junior_memory.model_calls import OnBehalf
from junior_memory.models import EmbeddingModel
from junior_memory.parts import TRUE, Fragment, Part, fetch, fetch_all, parts_of
from junior_memory.providers import EmbeddingFailed, UnusableEmbedder, Vector
from junior_memory.querysets import MemoryQuerySet
from junior_memory.vector_index import index_name

VECTOR = "vector"
PRIVATE_VECTOR = "private vector"

EF_SEARCH = 250
"""Candidates that the approximate index keeps over DENSITY_ROWS rows or fewer; as many more for
ten times the rows, since the same depth finds less in a larger graph."""

DENSITY_ROWS = 20_000

OVERFETCH = (2, 16)
"""How many times the list's length is proposed, before everything is compared."""

MAX_PROPOSED = 1_000

QUERY_ATTEMPTS = 2
"""A connection that was dropped in between costs no search its meaning."""

CACHED_QUERIES = 2_048


class _QueryVectors:
    """Vectors of the latest queries, in this process alone, found by a keyed digest of the text."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()

    def _digest(self, model: EmbeddingModel, text: str) -> bytes:
        named = f"{model.pk}\x1f{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(named, key=self._key, digest_size=20).digest()

    def get(self, model: EmbeddingModel, text: str) -> Vector | None:
        digest = self._digest(model, text)
        with self._lock:
            if digest in self._kept:
                self._kept.move_to_end(digest)
            return self._kept.get(digest)

    def put(self, model: EmbeddingModel, text: str, vector: Vector) -> None:
        with self._lock:
            self._kept[self._digest(model, text)] = vector
            while len(self._kept) > CACHED_QUERIES:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


query_vectors = _QueryVectors()


@dataclass(slots=True)
class Query:
    """A text on its way to a vector."""

    model: EmbeddingModel
    text: str
    timeout_seconds: float
    on_behalf: OnBehalf = field(default_factory=OnBehalf)
    vector: Vector = ()

    def embed(self) -> None:
        """Find the vector, in the cache or by the model; raises LegFailed."""
        known = query_vectors.get(self.model, self.text)
        if known is not None:
            self.vector = known
            return
        try:
            vectors = embeddings.embed_texts(
                self.model,
                [self.text],
                timeout_seconds=self.timeout_seconds,
                attempts=QUERY_ATTEMPTS,
                on_behalf=self.on_behalf,
            )
        except EmbeddingFailed as failure:
            raise LegFailed(failure.reason) from None
        except UnusableEmbedder:
            raise LegFailed("unusable") from None
        self.vector = vectors[0]
        query_vectors.put(self.model, self.text, self.vector)


def vector_leg(
    query: Query,
    viewer: Viewer,
    rows: MemoryQuerySet,
    *,
    size: int,
    filters: Filters = NO_FILTERS,
    cutoff: float | None = None,
    probe_private: bool = False,
) -> Leg:
    """Return the leg: the query is embedded without a connection, then compared in the database.

    `cutoff` is the distance beyond which nothing counts; None for an explicit search.
    """

    def find() -> LegAnswer:
        parts = filters.narrow_parts(list(parts_of(rows, viewer)))
        found = nearest_of(parts, viewer, query, size=size, cutoff=cutoff)
        every = [row for part in found.values() for row in part]
        lists: dict[str, Sequence[Scored]] = {VECTOR: _best(every, size)}
        if probe_private:
            lists[PRIVATE_VECTOR] = found.get("own", [])
        return LegAnswer(lists)

    return Leg(VECTOR, find, prepare=query.embed)


def _best(rows: Sequence[Scored], size: int) -> list[Scored]:
    return sorted(rows, key=lambda row: (-row.score, -row.observed_at.timestamp(), row.id))[:size]


def nearest(
    part: Part, viewer: Viewer, query: Query, *, size: int, cutoff: float | None
) -> list[Scored]:
    """Return the nearest rows of one part; see `nearest_of`."""
    return nearest_of([part], viewer, query, size=size, cutoff=cutoff)[part.name]


def nearest_of(
    parts: Sequence[Part], viewer: Viewer, query: Query, *, size: int, cutoff: float | None
) -> dict[str, list[Scored]]:
    """Return the nearest rows of each part, all `size` of them when there are that many.

    One statement for all parts; another one for those that came out short.
    """
    near = _Near(query.model, query.vector, cutoff)
    found: dict[str, list[Scored]] = {part.name: [] for part in parts}
    short = list(parts)
    if any(part.is_shared for part in parts):
        _set_ef_search(query.model, size=size)
    for times in OVERFETCH:
        proposed = min(times * size, MAX_PROPOSED)
        asked = [part for part in short if part.is_shared or times == OVERFETCH[0]]
        if not asked:
            break
        rows = fetch_all(
            [near.proposed(part, viewer, size=size, proposed=proposed) for part in asked]
        )
        for part in asked:
            mine = [row for row in rows if row[-1] == part.name]
            found[part.name] = near.scored(mine, part)
            if len(found[part.name]) >= size or near.is_complete(
                mine, proposed, is_exact=not part.is_shared
            ):
                short.remove(part)
    for part in short:
        found[part.name] = near.scored(fetch(near.exact(part, viewer, size=size)), part)
    return found


def _set_ef_search(model: EmbeddingModel, *, size: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('hnsw.ef_search', least(1000, greatest(%s::int,"
            " (%s::int * (1 + log(greatest(1, coalesce(max(reltuples), 0) / %s::int))))::int"
            "))::text, true), set_config('hnsw.iterative_scan', 'strict_order', true)"
            " FROM pg_class WHERE oid = to_regclass(%s)",
            [2 * size, EF_SEARCH, DENSITY_ROWS, index_name(model)],
        )


@dataclass(frozen=True, slots=True)
class _Near:
    """The statements for one query vector."""

    model: EmbeddingModel
    vector: Vector
    cutoff: float | None

    def scored(self, rows: Sequence[tuple[Any, ...]], part: Part) -> list[Scored]:
        """Read rows, the nearest first; a distance that is no number is no hit."""
        scored = [
            Scored(memory_id, 1 - distance, visibility, observed_at, part.name)
            for memory_id, distance, visibility, observed_at, *_ in rows
            if memory_id is not None and math.isfinite(distance)
        ]
        return _best(scored, len(scored))

    def is_complete(
        self, rows: Sequence[tuple[Any, ...]], proposed: int, *, is_exact: bool
    ) -> bool:
        """True when no row that was not proposed could belong to the list."""
        count, furthest = rows[0][4:6]
        if self.cutoff is not None and furthest is not None and furthest > self.cutoff:
            return True
        return is_exact and bool(count < proposed)

    def proposed(self, part: Part, viewer: Viewer, *, size: int, proposed: int) -> Fragment:
        """The nearest rows by the copies beside the vectors, then those of them that may be seen.

        Always at least one row; its last columns say how many were proposed, how far they go, and
        of which part.
        """
        distance = self._indexed if part.is_shared else self._plain
        scope = _scope(part, viewer)
        seen = part.select(Fragment("id, visibility, observed_at"))
        within = self._within("near.distance")
        sql = f"""
            WITH near AS MATERIALIZED (
                SELECT memory_id, {distance.sql} AS distance
                FROM junior_memory_memoryembedding
                WHERE embedding_model_id = {int(self.model.pk)} AND {scope.sql}
                ORDER BY {distance.sql} LIMIT %s
            )
            SELECT found.*, size.count, size.furthest, '{part.name}'
            FROM (SELECT count(*) AS count, max(distance) AS furthest FROM near) AS size
            LEFT JOIN LATERAL (
                SELECT seen.id, near.distance, seen.visibility, seen.observed_at
                FROM near JOIN ({seen.sql}) AS seen ON seen.id = near.memory_id
                WHERE seen.id = ANY (ARRAY(SELECT memory_id FROM near)) AND {within.sql}
                ORDER BY near.distance, seen.observed_at DESC, seen.id LIMIT %s
            ) AS found ON TRUE
            ORDER BY found.distance
        """  # noqa: S608 - values are bound
        values = (*distance.values, *scope.values, *distance.values, proposed)
        return Fragment(sql, (*values, *seen.values, *within.values, size))

    def exact(self, part: Part, viewer: Viewer, *, size: int) -> Fragment:
        """Everything that may be seen, compared one by one."""
        scope = _scope(part, viewer)
        seen = part.select(Fragment("id, visibility, observed_at"))
        within = self._within("near.distance")
        sql = f"""
            SELECT seen.id, near.distance, seen.visibility, seen.observed_at
            FROM ({seen.sql}) AS seen
            JOIN (
                SELECT memory_id, {self._plain.sql} AS distance
                FROM junior_memory_memoryembedding
                WHERE embedding_model_id = {int(self.model.pk)} AND {scope.sql}
            ) AS near ON near.memory_id = seen.id
            WHERE {within.sql}
            ORDER BY near.distance, seen.observed_at DESC, seen.id LIMIT %s
        """  # noqa: S608 - values are bound
        values = (*seen.values, *self._plain.values, *scope.values, *within.values, size)
        return Fragment(sql, values)

    @property
    def _text(self) -> str:
        return "[" + ",".join(f"{value:.7g}" for value in self.vector) + "]"

    @property
    def _plain(self) -> Fragment:
        """The distance as no index knows it: compared row by row."""
        return Fragment("(vector <=> %s::halfvec)", (self._text,))

    @property
    def _indexed(self) -> Fragment:
        """The distance as the model's approximate index knows it."""
        size = int(self.model.dimensions)
        sql = f"((vector::halfvec({size})) <=> %s::halfvec({size}))"
        return Fragment(sql, (self._text,))

    def _within(self, column: str) -> Fragment:
        return TRUE if self.cutoff is None else Fragment(f"{column} <= %s", (self.cutoff,))


def _scope(part: Part, viewer: Viewer) -> Fragment:
    """Narrow vectors to a part by their copies, so that an index serves it."""
    if part.is_shared:
        return Fragment("visibility = 'public'")
    user: UUID | None = viewer.user.pk if viewer.user else None
    if part.name == "own":
        return Fragment("owner_id = %s", (user,))
    return Fragment(
        "org_id IN (SELECT organization_id FROM junior_memory_membership WHERE user_id = %s)",
        (user,),
    )
