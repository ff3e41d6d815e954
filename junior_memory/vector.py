"""The vector leg: which rows are near a query, among what a viewer may see.

Nearness narrows and orders; who may see what is said by `visible_to` alone, around every statement.
Own and organization rows are compared one by one. Over public rows an approximate index proposes,
and a list that comes out short is completed exactly, so that it never under-returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from junior_memory import embedding_models, embeddings
from junior_memory.access import Viewer
from junior_memory.beside import beside
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.legs import Leg, LegAnswer, LegFailed, may_part
from junior_memory.lexical.census import Scored
from junior_memory.lexical.leg import best
from junior_memory.model_calls import OnBehalf
from junior_memory.models import EmbeddingModel
from junior_memory.parts import PRESENT, TRUE, Fragment, Part, fetch
from junior_memory.providers import EmbeddingFailed, UnusableEmbedder, Vector
from junior_memory.querysets import MemoryQuerySet
from junior_memory.remembered import Remembered
from junior_memory.vector_index import index_name

VECTOR = "vector"
PRIVATE_VECTOR = "private vector"

EF_SEARCH = 250
"""Candidates that the approximate index keeps over DENSITY_ROWS rows or fewer; as many more for
ten times the rows, since the same depth finds less in a larger graph.

Nearly all of the leg's time. Of what 180 questions should find among everything visible, in a
store of a million rows of which 200,000 are public (`tests/benchmarks/scale.py`): .982 of the ten
nearest at 150, .988 at 200, .993 at 300, .996 at 500; over 100,000 English sentences, asked for by
others, .993 at 100 and .997 at 200.
"""

DENSITY_ROWS = 20_000

OVERFETCH = (1.25, 16)
"""How many times the list's length is proposed, before everything is compared."""

MAX_PROPOSED = 1_000

QUERY_ATTEMPTS = 2
"""A connection that was dropped in between costs no search its meaning."""

CACHED_QUERIES = 2_048


query_vectors: Remembered[Vector] = Remembered(CACHED_QUERIES)
"""Vectors of the latest queries, by text and model."""


@dataclass(slots=True)
class Query:
    """A text on its way to a vector."""

    model: EmbeddingModel
    text: str
    timeout_seconds: float
    on_behalf: OnBehalf = field(default_factory=OnBehalf)
    asking: Callable[[], AbstractContextManager[None]] = nullcontext
    """Entered while a model is asked and what that cost is written down."""
    vector: Vector = ()
    _written: Callable[[], None] = lambda: None

    def embed(self) -> None:
        """Find the vector, in the cache or by the model; raises LegFailed."""
        known = query_vectors.get(self.text, str(self.model.pk))
        if known is not None:
            self.vector = known
            return
        try:
            with self.asking():
                vectors = embeddings.embed_texts(
                    self.model,
                    [self.text],
                    timeout_seconds=self.timeout_seconds,
                    attempts=QUERY_ATTEMPTS,
                    on_behalf=self.on_behalf,
                    put_down=self._put_down,
                )
        except EmbeddingFailed as failure:
            raise LegFailed(failure.reason) from None
        except UnusableEmbedder:
            raise LegFailed("unusable") from None
        self.vector = vectors[0]
        query_vectors.put(self.text, self.vector, str(self.model.pk))

    def wait_for_record(self) -> None:
        """Return once what the vector cost is on the record."""
        self._written()

    def _put_down(self, record: Callable[[], object]) -> None:
        """Write beside the search what the vector cost; a transaction keeps to one connection."""
        if not may_part() or embedding_models.embedder_of(self.model).is_local:
            record()
            return
        still = ExitStack()
        still.enter_context(self.asking())

        def write() -> None:
            with still:
                record()

        self._written = beside(write)


def vector_leg(
    query: Query,
    viewer: Viewer,
    rows: Callable[[], MemoryQuerySet],
    *,
    size: int,
    filters: Filters = NO_FILTERS,
    cutoff: Callable[[], float | None] = lambda: None,
    probe_private: bool = False,
) -> Leg:
    """Return the leg: the query is embedded without a connection, then compared in the database.

    `cutoff` gives the distance beyond which nothing counts, None for an explicit search; it and
    `rows` are asked once the query has its vector.
    """

    def find() -> LegAnswer:
        scopes = _scopes_of(viewer, filters)
        try:
            found = _nearest(scopes, filters.narrow(rows()), query, size=size, cutoff=cutoff())
        finally:
            query.wait_for_record()
        every = [row for scope in found.values() for row in scope]
        lists: dict[str, Sequence[Scored]] = {VECTOR: best(every, size)}
        if probe_private:
            lists[PRIVATE_VECTOR] = found.get("own", [])
        return LegAnswer(lists)

    is_slow = embedding_models.is_remote(query.model)
    return Leg(VECTOR, find, prepare=query.embed, is_slow=is_slow)


def nearest(
    part: Part, viewer: Viewer, query: Query, *, size: int, cutoff: float | None
) -> list[Scored]:
    """Return the nearest rows of one part, all `size` of them when there are that many."""
    scope = _scope(part.name, viewer)
    return _nearest([scope], part.rows, query, size=size, cutoff=cutoff)[part.name]


def _nearest(
    scopes: Sequence[_Scope],
    rows: MemoryQuerySet,
    query: Query,
    *,
    size: int,
    cutoff: float | None,
) -> dict[str, list[Scored]]:
    """Return the nearest of `rows` in each scope; one statement, more for those that come short."""
    near = _Near(query.model, query.vector, cutoff, Part.of("seen", rows))
    found: dict[str, list[Scored]] = {scope.name: [] for scope in scopes}
    short = list(scopes)
    for times in OVERFETCH:
        asked = [scope for scope in short if scope.is_shared or times == OVERFETCH[0]]
        if not asked:
            break
        proposed = min(math.ceil(times * size), MAX_PROPOSED)
        answers = fetch(near.proposed(asked, proposed=proposed))
        has_index = any(row[0] not in found and row[2] for row in answers)
        for scope in asked:
            mine = [row[1:] for row in answers if row[0] == scope.name]
            found[scope.name] = near.scored(mine, scope, size=size)
            # An index may propose less than there is; without one the list is everything.
            is_exact = not (scope.is_shared and has_index)
            if len(found[scope.name]) >= size or near.is_complete(
                mine, is_all=is_exact and len(mine) < proposed
            ):
                short.remove(scope)
    for scope in short:
        found[scope.name] = near.scored(fetch(near.exact(scope, size=size)), scope, size=size)
    return found


@dataclass(frozen=True, slots=True)
class _Scope:
    """Some vectors by the copies beside them, so that an index serves them."""

    name: str
    where: Fragment

    @property
    def is_shared(self) -> bool:
        """True for vectors of rows that everyone sees, which may be very many."""
        return self.name == "public"


class _Near:
    """The statements for one query vector: what is near of `seen`, the rows that may be seen."""

    def __init__(
        self, model: EmbeddingModel, vector: Vector, cutoff: float | None, seen: Part
    ) -> None:
        text = "[" + ",".join([f"{value:.7g}" for value in vector]) + "]"
        size = int(model.dimensions)
        self._model_id = int(model.pk)
        self._index = index_name(model)
        self._cutoff = cutoff
        # As a number: reading a hundred times with their zone takes longer than all the rest.
        self._seen = seen.select(
            Fragment("id, visibility, extract(epoch FROM observed_at)::float8 AS observed")
        )
        # As no index knows it, compared row by row; and as the model's approximate index knows it.
        self._plain = Fragment("(vector <=> %s::halfvec)", (text,))
        self._indexed = Fragment(f"((vector::halfvec({size})) <=> %s::halfvec({size}))", (text,))

    def scored(self, rows: Sequence[tuple[Any, ...]], scope: _Scope, *, size: int) -> list[Scored]:
        """Read the nearest `size` rows; a distance that is no number is no hit."""
        seen = sorted(
            (distance, -observed, memory_id, visibility)
            for memory_id, distance, visibility, observed in rows
            if memory_id is not None and math.isfinite(distance)
        )
        return [
            Scored(
                memory_id,
                1 - distance,
                visibility,
                datetime.fromtimestamp(-newest, UTC),
                scope.name,
            )
            for distance, newest, memory_id, visibility in seen[:size]
        ]

    def is_complete(self, rows: Sequence[tuple[Any, ...]], *, is_all: bool) -> bool:
        """True when no row that was not proposed could belong to the list."""
        furthest = max((row[1] for row in rows), default=0.0)
        return is_all or (self._cutoff is not None and furthest > self._cutoff)

    def proposed(self, scopes: Sequence[_Scope], *, proposed: int) -> Fragment:
        """The nearest of each scope by the copies beside the vectors; of these what may be seen.

        A row for each that was proposed; one that may not be seen has no id.
        """
        pieces = [self._nearest_of(scope, proposed=proposed) for scope in scopes]
        if any(scope.is_shared for scope in scopes):
            # First, because the pieces of a UNION ALL are read one after the other.
            pieces = [self._search_depth(proposed), *pieces]
        near = Fragment.join(" UNION ALL ", pieces)
        within = self._within
        sql = f"""
            WITH near AS MATERIALIZED ({near.sql})
            SELECT near.scope, seen.id, near.distance, seen.visibility, seen.observed
            FROM near LEFT JOIN ({self._seen.sql}) AS seen
            ON seen.id = near.memory_id AND {within.sql}
        """  # noqa: S608 - values are bound
        return Fragment(sql, (*near.values, *self._seen.values, *within.values))

    def _search_depth(self, proposed: int) -> Fragment:
        """Say how many candidates the index keeps; a row that is no vector's.

        Its distance is 0 where there is no index yet.
        """
        sql = """
            SELECT NULL::uuid AS memory_id, count(*)::float8 AS distance,
            set_config('hnsw.ef_search', least(%s, greatest(%s::int,
            (%s::int * (1 + log(greatest(1, coalesce(max(reltuples), 0) / %s::int))))::int
            ))::text, true) AS scope
            FROM pg_class WHERE oid = to_regclass(%s)
        """
        return Fragment(sql, (MAX_PROPOSED, proposed, EF_SEARCH, DENSITY_ROWS, self._index))

    def _nearest_of(self, scope: _Scope, *, proposed: int) -> Fragment:
        distance = self._indexed if scope.is_shared else self._plain
        sql = f"""
            (SELECT memory_id, {distance.sql} AS distance, '{scope.name}' AS scope
            FROM junior_memory_memoryembedding
            WHERE embedding_model_id = {self._model_id} AND {scope.where.sql}
            ORDER BY distance LIMIT %s)
        """  # noqa: S608 - values are bound
        return Fragment(sql, (*distance.values, *scope.where.values, proposed))

    def exact(self, scope: _Scope, *, size: int) -> Fragment:
        """Everything that may be seen of a scope, compared one by one."""
        within = self._within
        sql = f"""
            SELECT seen.id, near.distance, seen.visibility, seen.observed
            FROM ({self._seen.sql}) AS seen
            JOIN (
                SELECT memory_id, {self._plain.sql} AS distance
                FROM junior_memory_memoryembedding
                WHERE embedding_model_id = {self._model_id} AND {scope.where.sql}
            ) AS near ON near.memory_id = seen.id
            WHERE {within.sql}
            ORDER BY near.distance, seen.observed DESC, seen.id LIMIT %s
        """  # noqa: S608 - values are bound
        seen, where = self._seen.values, scope.where.values
        return Fragment(sql, (*seen, *self._plain.values, *where, *within.values, size))

    @property
    def _within(self) -> Fragment:
        if self._cutoff is None:
            return TRUE
        return Fragment("near.distance <= %s", (self._cutoff,))


def _scopes_of(viewer: Viewer, filters: Filters) -> list[_Scope]:
    """Return where near rows may be, of what a viewer may see; `rows` decide."""
    names = []
    if viewer.user is not None:
        names.append("own")
        if viewer.agent is None or viewer.org is not None:
            names.append("org")
    if not viewer.sees_nothing:
        names.append("public")
    return [_scope(name, viewer) for name in names if filters.admits_part(name)]


def _scope(name: str, viewer: Viewer) -> _Scope:
    user: UUID | None = viewer.user.pk if viewer.user else None
    match name:
        case "own":
            return _Scope(name, Fragment("owner_id = %s", (user,)))
        case "org":
            return _Scope(name, Fragment(f"org_id IN ({PRESENT})", (user,)))
    return _Scope(name, Fragment("visibility = 'public'"))
