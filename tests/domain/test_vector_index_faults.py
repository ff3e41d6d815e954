"""Codes of public vectors in memory: what fails around them leaves a search as it was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from junior_memory import (
    forgetting,
    vector,
    vector_index,
)
from junior_memory.access import person
from junior_memory.deadlines import statement_limit
from junior_memory.errors import Unavailable
from junior_memory.models import MemoryEmbedding
from junior_memory.models.embeddings import IN_NO_BATCH
from junior_memory.parts import MAX_PREPARED, Fragment
from junior_memory.vector_codes import Codes
from tests.cast import Cast
from tests.domain.coded import (
    BATCH,
    TEXT,
    asked,
    at_the_same_time,
    coded,
    exact,
    in_the_open,
    leg_of,
    load,
    model_in_use,
    near,
    pack,
    run,
    small_batches,
    stock,
)
from tests.factories import BY_TEST


@pytest.fixture(autouse=True)
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with small_batches(settings, monkeypatch):
        yield


def slow(pieces: Callable[[Sequence[Any]], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the statement of these pieces take ten seconds."""
    proposed = vector._Near._proposed

    def sleeping(self: Any, given: Sequence[Any]) -> Fragment:
        found = proposed(self, given)
        if not pieces(given):
            return found
        sql = f"SELECT found.* FROM ({found.sql}) AS found, pg_sleep(10)"  # noqa: S608
        return Fragment(sql, found.values)

    monkeypatch.setattr(vector._Near, "_proposed", sleeping)


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def stock_and_load(cast: Cast, now: datetime) -> None:
    """Public vectors whose codes are loaded, some of one person's own, a question that is known."""
    stock(5 * BATCH, now)
    stock(5, now, seed=2, visibility="private", owner=cast.alice)
    load()
    asked()


@pytest.mark.parametrize("is_shared", [False, True])
@in_the_open
def test_a_leg_that_is_cut_off_leaves_its_connection_as_it_was(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch, is_shared: bool
) -> None:
    stock_and_load(cast, now)
    viewer = person(cast.alice)
    wanted, pid = near(viewer, now), backend()
    with monkeypatch.context() as patch:
        slow(lambda pieces: pieces[0].scope.is_shared == is_shared, patch)
        answer = run(leg_of(viewer, now), limit_ms=300)
        assert (answer.degraded, answer.late) == (("vector",), ("vector",))
    for _ in range(2):
        assert near(viewer, now) == wanted
    assert backend() == pid


@in_the_open
def test_a_statement_that_is_not_even_read_in_time_is_read_the_next_time(
    cast: Cast, now: datetime
) -> None:
    """Its table is locked, as by a migration: the server stops before it has prepared it."""
    stock_and_load(cast, now)
    viewer = person(cast.alice)
    wanted = exact(viewer, now, 10)
    pid = backend()
    locked, release = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE junior_memory_memoryembedding IN ACCESS EXCLUSIVE MODE")
            locked.set()
            release.wait(20)

    leg = leg_of(viewer, now)
    with at_the_same_time(lock):
        assert locked.wait(10)
        assert run(leg, limit_ms=300).degraded == ("vector",)
        assert run(leg, limit_ms=300).degraded == ("vector",)
        release.set()
    for _ in range(2):
        assert near(viewer, now) == wanted
    assert backend() == pid


@in_the_open
def test_a_connection_that_is_lost_while_codes_are_compared_is_replaced(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock_and_load(cast, now)
    viewer = person(cast.alice)
    wanted, pid = near(viewer, now), backend()
    compare = Codes.near

    def killed(self: Codes, *given: Any) -> list[str]:
        def kill() -> None:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])

        with at_the_same_time(kill):
            pass
        return compare(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Codes, "near", killed)
        with pytest.raises(Unavailable):
            run(leg_of(viewer, now))
    for _ in range(2):
        assert near(viewer, now) == wanted
    assert backend() != pid


@in_the_open
def test_what_is_prepared_outlives_a_migration(cast: Cast, now: datetime) -> None:
    stock_and_load(cast, now)
    viewer = person(cast.alice)
    wanted, pid = near(viewer, now), backend()

    def migrate(statement: str) -> Callable[[], None]:
        def execute() -> None:
            with connection.cursor() as cursor:
                cursor.execute(statement)

        return execute

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        assert cursor.fetchone()[0] >= 2
    try:
        for statement in (
            "ALTER TABLE junior_memory_memoryembedding ADD COLUMN later integer DEFAULT 3",
            "ALTER TABLE junior_memory_memory ADD COLUMN later integer DEFAULT 3",
            "ANALYZE",
        ):
            with at_the_same_time(migrate(statement)):
                pass
            assert near(viewer, now) == wanted
    finally:
        for table in ("memoryembedding", "memory"):
            drop = f"ALTER TABLE junior_memory_{table} DROP COLUMN IF EXISTS later"
            with at_the_same_time(migrate(drop)):
                pass
    assert near(viewer, now) == wanted
    assert backend() == pid


@in_the_open
def test_a_connection_keeps_few_statements_however_many_batches_come(
    cast: Cast, now: datetime
) -> None:
    """Each names the last batch; those of the batches before are given back."""
    stock_and_load(cast, now)
    viewer, key = person(cast.alice), int(model_in_use().pk)
    wanted, held = near(viewer, now), vector_index.loaded(model_in_use())
    for later in range(2 * MAX_PREPARED):
        vector_index._loaded[key] = replace(held, to_batch=held.to_batch + later)
        assert near(viewer, now) == wanted
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        assert MAX_PREPARED / 2 < cursor.fetchone()[0] <= MAX_PREPARED + 2


@in_the_open
def test_a_search_misses_nothing_while_vectors_change_their_batches(
    cast: Cast, now: datetime
) -> None:
    stock(15 * BATCH, now)
    stock(5, now, seed=2, visibility="private", owner=cast.alice)
    load()
    asked()
    viewer = person(cast.alice)
    wanted, over = near(viewer, now, size=20), threading.Event()
    loaded: set[int] = set()

    def change() -> None:
        """What is written anew leaves its batch; another takes it in, and is loaded."""
        turn = 0
        while not over.is_set():
            turn += 1
            rows = MemoryEmbedding.objects.filter(visibility="public").order_by("id")
            some = list(rows.values_list("id", flat=True)[turn % 7 :: 7])
            MemoryEmbedding.objects.filter(id__in=some).update(batch=IN_NO_BATCH)
            if turn % 3:
                pack()
            vector_index.refresh(model_in_use())
            loaded.add(len(coded()))

    with at_the_same_time(change):
        try:
            found = [near(viewer, now, size=20) for _ in range(150)]
        finally:
            over.set()
    assert [ids for ids in found if ids != wanted] == []
    assert len(loaded) > 1


@in_the_open
def test_a_process_keeps_on_looking_when_the_database_was_away(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rows = stock(2 * BATCH, now)
    pack()
    ending, refresh_all = threading.Event(), vector_index.refresh_all
    rounds = 0

    def refresh() -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            raise OperationalError(rows[0].content)
        refresh_all()
        ending.set()
        raise OperationalError("the server ends as well")

    monkeypatch.setattr(vector_index, "_ending", ending)
    monkeypatch.setattr(vector_index, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(vector_index, "refresh_all", refresh)
    others = set(threading.enumerate())
    vector_index.keep_loaded()
    for thread in set(threading.enumerate()) - others:
        thread.join(10)
        assert not thread.is_alive(), "goes on when the process ends"
    assert ending.is_set()
    assert len(coded()) == 2 * BATCH
    told = [one.message for one in caplog.records if one.name == "junior_memory.vector_index"]
    assert told == ["the vector index waits (OperationalError)"]


def test_searches_inside_a_transaction_see_what_it_wrote(cast: Cast, now: datetime) -> None:
    """Also through a pipeline, and afterwards the transaction goes on."""
    stock(5 * BATCH, now)
    mine = stock(1, now, seed=2, visibility="private", owner=cast.alice)[0]
    load()
    stored = MemoryEmbedding.objects.get(memory=mine)
    vector.query_vectors.put(TEXT, tuple(stored.vector), str(model_in_use().pk))
    assert near(person(cast.alice), now)[0] == mine.pk
    forgetting.forget(person(cast.alice), mine.pk, doer=BY_TEST, now=now)
    assert mine.pk not in near(person(cast.alice), now)


@pytest.mark.parametrize("fails", [False, True])
def test_a_limit_inside_a_transaction_leaves_its_settings_as_they_were(
    db: None, fails: bool
) -> None:
    def settings_now() -> tuple[str, str]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('statement_timeout'), current_setting('plan_cache_mode')"
            )
            return cursor.fetchone()  # type: ignore[no-any-return]

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '7s'")
        cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
    try:
        with statement_limit(1_000):
            assert settings_now() == ("1s", "force_generic_plan")
            if fails:
                raise LookupError
    except LookupError:
        pass
    assert settings_now() == ("7s", "force_custom_plan")
