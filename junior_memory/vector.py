"""The vector leg: which rows are near a query, among what a viewer may see.

Nearness narrows and orders; who may see what is said by `visible_to` alone, around every statement.
Own and organization rows are compared one by one. Over public rows an approximate index proposes
(`vector_index.py`), what it does not have is compared one by one as well, and a list that comes out
short is completed exactly, so that it never under-returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from junior_memory import embedding_models, embeddings, vector_index
from junior_memory.access import Viewer
from junior_memory.beside import beside
from junior_memory.filters import NO_FILTERS, Filters
from junior_memory.legs import Leg, LegAnswer, LegFailed, may_part
from junior_memory.lexical.census import Scored
from junior_memory.lexical.leg import best
from junior_memory.model_calls import OnBehalf
from junior_memory.models import EmbeddingModel
from junior_memory.parts import PRESENT, TRUE, Fragment, Part, fetch, fetch_prepared
from junior_memory.providers import EmbeddingFailed, UnusableEmbedder, Vector
from junior_memory.querysets import MemoryQuerySet
from junior_memory.remembered import Remembered

VECTOR = "vector"
PRIVATE_VECTOR = "private vector"

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
    found: dict[str, list[Scored]] = {}
    short = list(scopes)
    for times in OVERFETCH:
        asked = [scope for scope in short if scope.is_shared or not found]
        for piece, mine in near.look(asked, proposed=min(math.ceil(times * size), MAX_PROPOSED)):
            scope = piece.scope
            found[scope.name] = near.scored(mine, scope, size=size)
            if len(found[scope.name]) >= size or near.is_complete(piece, mine):
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


@dataclass(frozen=True, slots=True)
class _Piece:
    """The vectors of a scope that are compared; the nearest `proposed` of them are looked at."""

    scope: _Scope
    compared: Fragment
    proposed: int
    leaves_out: bool = False
    """True when some of the scope are not compared."""


class _Near:
    """The statements for one query vector: what is near of `seen`, the rows that may be seen."""

    def __init__(
        self, model: EmbeddingModel, vector: Vector, cutoff: float | None, seen: Part
    ) -> None:
        self._vector = vector
        self._model_id = int(model.pk)
        self._index = vector_index.loaded(model)
        self._cutoff = cutoff
        # As a number: reading a hundred times with their zone takes longer than all the rest.
        self._seen = seen.select(
            Fragment("id, visibility, extract(epoch FROM observed_at)::float8 AS observed")
        )
        text = "[" + ",".join([f"{value:.7g}" for value in vector]) + "]"
        self._asked = Fragment("SELECT %s::halfvec AS vector", (text,))

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

    def look(
        self, scopes: Sequence[_Scope], *, proposed: int
    ) -> list[tuple[_Piece, list[tuple[Any, ...]]]]:
        """Return each scope's piece with what was proposed of it.

        Codes of shared rows are compared here while the database compares the others.
        """
        exact = [self._piece_of(scope, proposed) for scope in scopes if not scope.is_shared]
        shared: list[_Piece] = []

        def compare_codes() -> None:
            shared.extend(self._piece_of(scope, proposed) for scope in scopes if scope.is_shared)

        answers: list[tuple[Any, ...]] = []
        if exact and self._index.codes is not None:
            answers += fetch_prepared(self._proposed(exact), meanwhile=compare_codes)
            if shared:
                answers += fetch_prepared(self._proposed(shared))
        else:
            compare_codes()
            if exact or shared:
                answers += fetch_prepared(self._proposed([*exact, *shared]))
        return [
            (piece, [row[1:] for row in answers if row[0] == piece.scope.name])
            for piece in (*exact, *shared)
        ]

    def _piece_of(self, scope: _Scope, proposed: int) -> _Piece:
        """Return what is compared of a scope: all of it but for what the index has and not names.

        It names as many as are proposed, so that the nearest of these and of what it has not are
        the nearest of all, as far as it knows.
        """
        everything = self._distances(scope, TRUE)
        codes = self._index.codes
        if not scope.is_shared or codes is None:
            return _Piece(scope, everything, proposed)
        named = codes.near(self._vector, proposed)
        listed = "{" + ",".join(named) + "}"
        # The number is spelled out: how few rows are behind it decides how they are found.
        last = self._index.to_batch
        among = Fragment(f"batch <= {last} AND memory_id = ANY(%s::uuid[])", (listed,))
        behind = Fragment(f"batch > {last}")
        both = [self._distances(scope, among), self._distances(scope, behind)]
        compared = Fragment.join(" UNION ALL ", both)
        return _Piece(scope, compared, proposed, leaves_out=len(named) < len(codes))

    def is_complete(self, piece: _Piece, rows: Sequence[tuple[Any, ...]]) -> bool:
        """True when nothing that was not looked at could belong to the list."""
        if len(rows) < piece.proposed and not piece.leaves_out:
            return True
        furthest = max((row[1] for row in rows), default=0.0)
        return self._cutoff is not None and furthest > self._cutoff

    def _proposed(self, pieces: Sequence[_Piece]) -> Fragment:
        """The nearest of each piece by the copies beside the vectors; of these what may be seen.

        A row for each that was proposed; one that may not be seen has no id.
        """
        near = Fragment.join(" UNION ALL ", [self._nearest_of(piece) for piece in pieces])
        within, asked = self._within, self._asked
        sql = f"""
            WITH asked AS MATERIALIZED ({asked.sql}), near AS MATERIALIZED ({near.sql})
            SELECT near.scope, seen.id, near.distance, seen.visibility, seen.observed
            FROM near LEFT JOIN ({self._seen.sql}) AS seen
            ON seen.id = near.memory_id AND {within.sql}
        """  # noqa: S608 - values are bound
        return Fragment(sql, (*asked.values, *near.values, *self._seen.values, *within.values))

    def _nearest_of(self, piece: _Piece) -> Fragment:
        sql = f"""
            (SELECT memory_id, distance, '{piece.scope.name}' AS scope
            FROM ({piece.compared.sql}) AS compared ORDER BY distance LIMIT %s)
        """  # noqa: S608 - values are bound
        return Fragment(sql, (*piece.compared.values, piece.proposed))

    def _distances(self, scope: _Scope, narrowed: Fragment) -> Fragment:
        sql = f"""
            SELECT memory_id, vector <=> (SELECT vector FROM asked) AS distance
            FROM junior_memory_memoryembedding
            WHERE embedding_model_id = {self._model_id} AND {scope.where.sql} AND {narrowed.sql}
        """  # noqa: S608 - values are bound
        return Fragment(sql, (*scope.where.values, *narrowed.values))

    def exact(self, scope: _Scope, *, size: int) -> Fragment:
        """Everything that may be seen of a scope, compared one by one."""
        within, everything, asked = self._within, self._distances(scope, TRUE), self._asked
        sql = f"""
            WITH asked AS MATERIALIZED ({asked.sql})
            SELECT seen.id, near.distance, seen.visibility, seen.observed
            FROM ({self._seen.sql}) AS seen
            JOIN ({everything.sql}) AS near ON near.memory_id = seen.id
            WHERE {within.sql}
            ORDER BY near.distance, seen.observed DESC, seen.id LIMIT %s
        """  # noqa: S608 - values are bound
        seen, compared = self._seen.values, everything.values
        return Fragment(sql, (*asked.values, *seen, *compared, *within.values, size))

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
