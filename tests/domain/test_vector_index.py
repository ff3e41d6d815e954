"""Codes of public vectors in memory: whatever of them is loaded, a search finds the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from junior_memory import (
    access,
    embedding_models,
    embeddings,
    forgetting,
    reembedding,
    tasks,
    vector,
    vector_index,
)
from junior_memory.access import Source, person
from junior_memory.conf import conf
from junior_memory.filters import Filters
from junior_memory.models import EmbeddingModel, Memory, MemoryEmbedding
from junior_memory.models.embeddings import IN_NO_BATCH, NEVER_IN_BATCH
from junior_memory.parts import parts_of
from junior_memory.providers import ModelName
from junior_memory.vector_codes import Codes
from tests.cast import Cast
from tests.domain.coded import (
    BATCH,
    TEXT,
    asked,
    at_the_same_time,
    batches,
    coded,
    directions,
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
from tests.factories import make_agent_token


@pytest.fixture(autouse=True)
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with small_batches(settings, monkeypatch):
        yield


# Batches.


def test_nothing_is_packed_before_it_is_worth_it_and_full_batches_afterwards(
    cast: Cast, now: datetime
) -> None:
    stock(10, now)
    model = model_in_use()
    assert vector_index.pack(model, worth_it_at=11) == 0
    assert batches() == {IN_NO_BATCH: 10}
    assert vector_index.pack(model, worth_it_at=10) == 2
    assert batches() == {1: BATCH, 2: BATCH, IN_NO_BATCH: 2}
    stock(1, now, seed=2)
    assert vector_index.pack(model, worth_it_at=10) == 0, "not full"
    stock(18, now, seed=3)
    assert vector_index.pack(model, worth_it_at=1_000) == 5
    assert batches() == {**dict.fromkeys(range(1, 8), BATCH), IN_NO_BATCH: 1}
    model.refresh_from_db()
    assert model.batches == 7


def test_numbers_are_never_used_again(cast: Cast, now: datetime) -> None:
    stock(8, now)
    assert pack() == 2
    MemoryEmbedding.objects.filter(batch=2).delete()
    stock(4, now, seed=2)
    assert pack() == 1
    assert set(batches()) == {1, 3}


def test_public_vectors_alone_are_in_batches(cast: Cast, now: datetime) -> None:
    stock(BATCH, now)
    stock(BATCH, now, seed=2, visibility="private", owner=cast.alice)
    stock(BATCH, now, seed=3, visibility="org", owner=cast.alice, org=cast.org)
    stock(
        BATCH, now, seed=4, visibility="session", owner=cast.alice, conversation_id="c"
    )  # fmt: skip
    load()
    assert batches() == {1: BATCH, NEVER_IN_BATCH: 3 * BATCH}
    # As processes of the release before write them, while a new one is rolled out.
    MemoryEmbedding.objects.exclude(visibility="public").update(batch=IN_NO_BATCH)
    load()
    assert batches() == {1: BATCH, IN_NO_BATCH: 3 * BATCH}
    assert len(coded()) == BATCH


def test_a_public_vector_that_nobody_would_find_is_refused(cast: Cast, now: datetime) -> None:
    stock(1, now)
    with pytest.raises(IntegrityError, match="embedding_public_in_a_batch"):
        MemoryEmbedding.objects.update(batch=NEVER_IN_BATCH)


@in_the_open
def test_packers_at_the_same_time_give_each_row_one_batch(cast: Cast, now: datetime) -> None:
    stock(61, now)
    start = threading.Barrier(2)
    packed: list[int] = []

    def work() -> None:
        start.wait(10)
        packed.append(pack())

    with at_the_same_time(work), at_the_same_time(work):
        pass
    assert sum(packed) == 15
    assert batches() == {**dict.fromkeys(range(1, 16), BATCH), IN_NO_BATCH: 1}
    assert model_in_use().batches == 15


@in_the_open
def test_whoever_writes_vectors_keeps_no_packer_waiting(cast: Cast, now: datetime) -> None:
    rows = stock(3 * BATCH, now)
    done = threading.Event()

    def work() -> None:
        assert pack() == 2
        done.set()

    with transaction.atomic():
        embeddings.embed_with(model_in_use(), [rows[0].pk], now=now)
        forgetting.archive([rows[1].pk], reason="expired", batch=None, now=now)
        with at_the_same_time(work):
            assert done.wait(10), "waits"
    assert batches() == {1: BATCH, 2: BATCH, IN_NO_BATCH: BATCH - 1}


@in_the_open
def test_a_batch_is_seen_after_all_that_have_a_smaller_number(cast: Cast, now: datetime) -> None:
    stock(4 * BATCH, now)
    model = model_in_use()
    second = threading.Event()

    def work() -> None:
        assert pack() == 2
        second.set()

    with ExitStack() as stack, transaction.atomic():
        waiting = MemoryEmbedding.objects.filter(batch=IN_NO_BATCH)
        assert vector_index._pack_some(model, waiting) == 2
        stack.enter_context(at_the_same_time(work))
        assert not second.wait(0.5), "a later batch is not seen before"
    assert sorted(batches()) == [1, 2, 3, 4]


def test_a_vector_written_anew_is_in_no_batch_and_found_as_it_is_now(
    cast: Cast, now: datetime
) -> None:
    rows = stock(3 * BATCH, now)
    load()
    model = model_in_use()
    anew = rows[5]
    MemoryEmbedding.objects.filter(memory=anew).update(content_hash="of another text")
    assert embeddings.repair(now=now) == 1
    assert sorted(batches().values()) == [1, BATCH - 1, BATCH, BATCH]
    assert batches()[IN_NO_BATCH] == 1
    stored = MemoryEmbedding.objects.get(memory=anew)
    assert anew.pk in coded(), "the code of the vector before"
    vector.query_vectors.put(TEXT, tuple(stored.vector), str(model.pk))
    found = run(leg_of(person(cast.charlie), now)).answers["vector"].lists["vector"]
    assert found[0].id == anew.pk
    assert found[0].score == pytest.approx(1, abs=1e-3)
    assert len({row.id for row in found}) == len(found) == 10
    vector_index.refresh(model)
    assert anew.pk not in coded()
    stock(3, now, seed=2)
    load()
    assert sorted(coded()) == sorted(MemoryEmbedding.objects.values_list("memory_id", flat=True))
    assert near(person(cast.charlie), now)[0] == anew.pk


# What is loaded makes no difference.


@in_the_open
def test_nothing_loaded_half_and_everything_find_the_same(cast: Cast, now: datetime) -> None:
    stock(40, now)
    stock(21, now, seed=2, kind="procedure")
    stock(30, now, seed=3, visibility="private", owner=cast.alice)
    stock(9, now, seed=4, visibility="org", owner=cast.bob, org=cast.org)
    token = make_agent_token(cast.agent)[0]
    source = Source(platform="web", key="k", visibility="private")
    viewers = [
        person(cast.alice),
        person(cast.charlie),
        access.host(token, actor=cast.alice_slack, source=source, conversation_id="c"),
        access.host(token, actor=cast.unlinked, source=source, conversation_id="c"),
    ]

    def found() -> list[list[UUID]]:
        return [
            near(viewer, now, size=size, filters=filters)
            for viewer in viewers
            for size in (1, 10, 40)
            for filters in (Filters(), Filters(kind="procedure"))
        ]

    asked()
    nothing = found()
    assert nothing[0] == exact(viewers[0], now, 1)
    assert nothing[4] == exact(viewers[0], now, 40)
    assert nothing[-1] == exact(viewers[-1], now, 40, kind="procedure")
    assert [len(ids) for ids in nothing[:6]] == [1, 1, 10, 10, 40, 21]
    model = model_in_use()
    pack()
    EmbeddingModel.objects.update(batches=7)
    vector_index.refresh(model)
    EmbeddingModel.objects.update(batches=15)
    assert len(coded()) == 7 * BATCH
    assert found() == nothing
    vector_index.refresh(model)
    assert len(coded()) == 15 * BATCH
    assert found() == nothing
    late = stock(2, now, seed=5)
    assert set(near(person(cast.charlie), now, size=63)) >= {row.pk for row in late}


def test_rows_behind_the_last_batch_are_found_at_once(cast: Cast, now: datetime) -> None:
    stock(5 * BATCH, now)
    load()
    late = stock(1, now, seed=2)[0]
    stored = MemoryEmbedding.objects.get(memory=late)
    vector.query_vectors.put(TEXT, tuple(stored.vector), str(model_in_use().pk))
    assert near(person(cast.charlie), now)[0] == late.pk
    stock(3, now, seed=3)
    assert pack() == 1
    assert near(person(cast.charlie), now)[0] == late.pk, "in a batch that is not loaded"


def test_narrow_filters_come_out_full(cast: Cast, now: datetime) -> None:
    stock(150, now)
    few = stock(12, now, seed=2, kind="procedure")
    load()
    direction = directions(150, seed=1)[0]
    # Away from all that is looked for.
    MemoryEmbedding.objects.exclude(memory__in=few).update(vector=direction)
    MemoryEmbedding.objects.filter(memory__in=few).update(vector=[-one for one in direction])
    vector.query_vectors.put(TEXT, tuple(direction), str(model_in_use().pk))
    found = near(person(cast.charlie), now, size=12, filters=Filters(kind="procedure"))
    assert set(found) == {row.pk for row in few}


@pytest.mark.parametrize("cutoff", [0.8, 0.9, 1.0])
def test_recalls_cutoff_holds_whatever_is_loaded(cast: Cast, now: datetime, cutoff: float) -> None:
    stock(80, now)
    direction = asked()
    viewer = person(cast.charlie)
    rows = Memory.objects.visible_to(viewer).active(now)
    public = next(part for part in parts_of(rows, viewer) if part.name == "public")

    def found() -> list[UUID]:
        query = vector.Query(model_in_use(), TEXT, timeout_seconds=5, vector=tuple(direction))
        rows = vector.nearest(public, viewer, query, size=20, cutoff=cutoff)
        assert all(1 - row.score <= cutoff for row in rows)
        return [row.id for row in rows]

    nothing = found()
    load()
    assert len(coded()) == 80
    assert found() == nothing
    assert len(nothing) == (20 if cutoff == 1 else len(nothing))
    assert nothing


@pytest.mark.parametrize("allowed_mb", [0, 512])
def test_memory_that_is_not_allowed_is_not_taken_and_nothing_is_missed(
    cast: Cast, now: datetime, settings: Any, allowed_mb: int
) -> None:
    stock(40, now)
    asked()
    nothing = near(person(cast.charlie), now, size=20)
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"vector_index_mb": allowed_mb}
    conf.cache_clear()
    load()
    assert len(coded()) == (40 if allowed_mb else 0)
    assert near(person(cast.charlie), now, size=20) == nothing


def test_what_finds_no_room_is_told_once(
    cast: Cast, now: datetime, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stock(6 * BATCH, now)
    load()
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"vector_index_mb": 0}
    told = []
    for seed in (2, 3):
        stock(BATCH, now, seed=seed)
        load()
        told.append([one.message for one in caplog.records if "is full" in one.message])
    assert told == [["vector index is full: rows=24"]] * 2
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"vector_index_mb": 512}
    load()
    assert len(coded()) == 8 * BATCH


def test_models_share_the_memory_that_is_allowed(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(2 * BATCH, now)
    load()
    new = embedding_models.prepare(ModelName("fake", "fake-16"), now=now)
    reembedding.write_all(new, now=now)
    vector_index.pack(new, worth_it_at=BATCH)
    codes = vector_index.loaded(model_in_use()).codes
    assert codes is not None
    taken = codes.size_bytes
    monkeypatch.setattr(vector_index, "conf", lambda: SimpleNamespace(vector_index_mb=taken / 1e6))
    vector_index.refresh_all()
    assert len(coded()) == 2 * BATCH
    assert vector_index.loaded(new).codes is None


def test_batches_that_emptied_before_they_were_loaded_are_passed(cast: Cast, now: datetime) -> None:
    rows = stock(6 * BATCH, now)
    pack()
    MemoryEmbedding.objects.filter(batch__lte=5).delete()
    vector_index.refresh(model_in_use())
    assert len(coded()) == BATCH
    assert vector_index.loaded(model_in_use()).to_batch == 6
    assert len(rows) == 6 * BATCH


def test_what_is_written_and_packed_anew_while_batches_are_read_has_one_code(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(6 * BATCH, now)
    pack()
    model = model_in_use()
    batch_one = MemoryEmbedding.objects.filter(batch=1)
    read, moved = vector_index._read, list[UUID]()

    def read_slowly(
        model: EmbeddingModel, after: int, until: int, *, beside: Codes | None
    ) -> Codes:
        codes = read(model, after, until, beside=beside)
        if not moved:
            moved.extend(batch_one.values_list("memory_id", flat=True)[:1])
            embeddings.embed_with(model, moved, now=now)
            stock(BATCH - 1, now, seed=2)
            pack()
        return codes

    with monkeypatch.context() as patch:
        patch.setattr(vector_index, "_read", read_slowly)
        vector_index.refresh(model)
    vector_index.refresh(model)
    assert sorted(coded()) == sorted(MemoryEmbedding.objects.values_list("memory_id", flat=True))
    known = vector_index.loaded(model)
    vector_index.refresh(model)
    assert vector_index.loaded(model).codes is known.codes, "not read every time"


def test_after_a_backup_came_back_its_vectors_are_loaded(cast: Cast, now: datetime) -> None:
    """Its batches have numbers that the process knows, with other vectors."""
    stock(6 * BATCH, now)
    load()
    model = model_in_use()
    for seed, count in ((2, 2 * BATCH), (3, 4 * BATCH)):
        MemoryEmbedding.objects.filter(batch__gt=3).delete()
        EmbeddingModel.objects.update(batches=3)
        later = stock(count, now, seed=seed)
        load()
        assert set(coded()) == set(MemoryEmbedding.objects.values_list("memory_id", flat=True))
        stored = MemoryEmbedding.objects.get(memory=later[0])
        vector.query_vectors.put(TEXT, tuple(stored.vector), str(model.pk))
        assert near(person(cast.charlie), now)[0] == later[0].pk
    MemoryEmbedding.objects.all().delete()
    EmbeddingModel.objects.update(batches=0)
    vector_index.refresh(model)
    assert vector_index.loaded(model) == vector_index.NOTHING


@in_the_open
def test_two_that_refresh_at_the_same_time_load_each_batch_once(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(9 * BATCH, now)
    pack()
    model = model_in_use()
    start, read = threading.Barrier(2), vector_index._read
    after: list[int] = []

    def noting(model: EmbeddingModel, *batches: int, beside: Codes | None) -> Codes:
        after.append(batches[0])
        return read(model, *batches, beside=beside)

    monkeypatch.setattr(vector_index, "_read", noting)

    def work() -> None:
        start.wait(10)
        vector_index.refresh(model)

    with at_the_same_time(work), at_the_same_time(work):
        pass
    assert after == [0, 2, 4, 6, 8]
    assert sorted(coded()) == sorted(MemoryEmbedding.objects.values_list("memory_id", flat=True))


@in_the_open
def test_the_worker_drops_the_graph_that_one_of_an_older_release_built_again(
    cast: Cast, now: datetime
) -> None:
    stock(3, now)
    name = f"embedding_near_{model_in_use().pk}"
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX {name} ON junior_memory_memoryembedding"
            " USING hnsw ((vector::halfvec(64)) halfvec_cosine_ops) WHERE visibility = 'public'"
        )
        tasks.keep_vectors(0)
        tasks.keep_vectors(0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NULL", [name])
        assert cursor.fetchone() == (True,)
