"""Vectors follow every write: there for what is active, gone with it, repaired when missing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from procrastinate.contrib.django.models import ProcrastinateJob

from junior_memory import (
    access,
    embedding_models,
    embeddings,
    forgetting,
    holding,
    memories,
    moderation,
    vector_index,
)
from junior_memory.models import (
    EmbeddingModel,
    ErasureReceipt,
    Memory,
    MemoryEmbedding,
    ModelCall,
    User,
)
from junior_memory.providers import EmbeddingFailed, ModelName, embedder_for
from junior_memory.providers.fake import FakeEmbedder
from tests.cast import Cast
from tests.domain.test_erasure import analyse, dump
from tests.factories import BY_TEST, make_memory


@pytest.fixture(autouse=True)
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    """Configure the deterministic embedder; what a test changes about it is undone."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    embedder = embedder_for(ModelName.read("fake"))
    assert isinstance(embedder, FakeEmbedder)
    for name in ("failing", "is_local", "delay_seconds", "answers_with"):
        monkeypatch.setattr(embedder, name, getattr(embedder, name))
    return embedder


def embedded() -> set[str]:
    """The texts that have a vector."""
    rows = MemoryEmbedding.objects.select_related("memory")
    return {row.memory.content for row in rows}


def test_a_new_memory_has_its_vector_at_once_when_that_is_free(cast: Cast, now: datetime) -> None:
    memory = make_memory(content="Prefers tea.", owner=cast.alice, now=now)
    row = MemoryEmbedding.objects.get(memory=memory)
    assert (row.owner_id, row.org_id, row.visibility) == (cast.alice.pk, None, "private")
    assert row.content_hash == embeddings.content_hash("Prefers tea.")
    model = EmbeddingModel.objects.get()
    assert (str(model), model.dimensions, model.state) == ("fake:fake-64", 64, "in_use")
    assert not ProcrastinateJob.objects.exists()
    assert not ModelCall.objects.exists()


def test_copies_beside_the_vector_say_who_finds_it_without_a_join(
    cast: Cast, now: datetime
) -> None:
    make_memory(content="Org fact", owner=cast.alice, visibility="org", org=cast.org, now=now)
    make_memory(content="Public fact", owner=cast.alice, visibility="public", now=now)
    make_memory(content="Here", owner=cast.bob, visibility="session", conversation_id="c", now=now)
    copies = {(row.visibility, row.owner_id, row.org_id) for row in MemoryEmbedding.objects.all()}
    assert copies == {
        ("org", None, cast.org.pk),
        ("public", None, None),
        ("session", cast.bob.pk, None),
    }


def test_without_an_embedder_nothing_is_embedded(cast: Cast, now: datetime, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "none"}
    make_memory(owner=cast.alice, now=now)
    assert embeddings.repair(now=now) == 0
    assert not MemoryEmbedding.objects.exists()
    assert not ProcrastinateJob.objects.exists()


def test_a_model_that_costs_is_asked_by_the_worker(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    fake.is_local = False
    calls = fake.calls
    memory = make_memory(owner=cast.alice, now=now)
    assert fake.calls == calls, "asked while writing"
    assert not MemoryEmbedding.objects.exists()
    job = ProcrastinateJob.objects.get()
    assert (job.task_name, job.args) == ("embed_memories", {"memory_ids": [str(memory.pk)]})
    assert embeddings.embed_memories([memory.pk], now=now) == 1
    assert embeddings.embed_memories([memory.pk], now=now) == 0, "a job that runs twice"
    assert embedded() == {memory.content}
    assert ModelCall.objects.filter(operation="embed", provider="fake").count() == 1


def test_an_embedder_that_fails_never_fails_the_write(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    fake.failing = True
    memory = make_memory(owner=cast.alice, now=now)
    assert Memory.objects.filter(pk=memory.pk).exists()
    assert not MemoryEmbedding.objects.exists()
    with pytest.raises(EmbeddingFailed):
        embeddings.repair(now=now)
    fake.failing = False
    assert embeddings.repair(now=now) == 1
    assert embedded() == {memory.content}


def test_vectors_of_another_length_are_not_stored(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    make_memory(content="Good", owner=cast.alice, now=now)
    fake.answers_with = 32
    make_memory(content="Bad", owner=cast.alice, now=now)
    assert embedded() == {"Good"}
    assert Memory.objects.count() == 2


def correct(cast: Cast, memory: Memory, now: datetime) -> None:
    viewer = access.person(cast.alice)
    memories.correct_memory(viewer, memory.pk, "Prefers coffee.", version=1, doer=BY_TEST, now=now)


def forget(cast: Cast, memory: Memory, now: datetime) -> None:
    forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST, now=now)


def erase(cast: Cast, memory: Memory, now: datetime) -> None:
    forgetting.erase(access.person(cast.alice), memory.pk, doer=BY_TEST, now=now)


def delete_person(cast: Cast, memory: Memory, now: datetime) -> None:
    forgetting.delete_person(User.objects.get(pk=cast.alice.pk), doer=BY_TEST, now=now)


@pytest.mark.parametrize(
    ("leave", "left"),
    [
        (correct, {"Prefers coffee."}),
        (forget, set()),
        (erase, set()),
        (delete_person, set()),
    ],
)
def test_whatever_leaves_the_active_set_loses_its_vectors(
    cast: Cast,
    now: datetime,
    leave: Callable[[Cast, Memory, datetime], None],
    left: set[str],
) -> None:
    memory = make_memory(content="Prefers tea.", owner=cast.alice, now=now)
    other = embedding_models.prepare(ModelName("fake", "fake-16"), now=now)
    embeddings.embed_with(other, [memory.pk], now=now)
    assert MemoryEmbedding.objects.count() == 2
    leave(cast, memory, now)
    assert embedded() == left


def test_expired_rows_lose_their_vectors(cast: Cast, now: datetime) -> None:
    make_memory(owner=cast.alice, now=now, expires_at=now + timedelta(days=1))
    forgetting.expire_due(now=now + timedelta(days=2))
    assert embedded() == set()


def test_undoing_makes_the_vector_again(cast: Cast, now: datetime) -> None:
    viewer = access.person(cast.alice)
    memory = make_memory(content="Prefers tea.", owner=cast.alice, now=now)
    forgetting.forget(viewer, memory.pk, doer=BY_TEST, now=now)
    forgetting.restore(viewer, memory.pk, doer=BY_TEST, now=now)
    assert embedded() == {"Prefers tea."}


def test_held_rows_have_no_vector_until_they_are_approved(cast: Cast, now: datetime) -> None:
    fact = make_memory(content="Rooms are booked by mail.", visibility="public", now=now)
    mine = make_memory(content="The lift is slow.", visibility="public", owner=cast.alice, now=now)
    viewer = access.person(cast.alice)
    holding.report_public(viewer, mine.pk, reason="untrue", doer=BY_TEST, now=now)
    assert embedded() == {fact.content}
    holding.approve_held(access.person(cast.root), mine.pk, doer=BY_TEST, now=now)
    assert embedded() == {fact.content, mine.content}
    make_memory(content="Held.", owner=cast.alice, held_reason="instruction", now=now)
    assert "Held." not in embedded()


def test_what_is_forgotten_while_the_model_answers_gets_no_vector(
    cast: Cast, now: datetime, fake: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.is_local = False
    memory = make_memory(owner=cast.alice, now=now)
    answer = embeddings.embed_texts

    def slowly(*args: Any, **kwargs: Any) -> Any:
        found = answer(*args, **kwargs)
        forget(cast, memory, now)
        return found

    monkeypatch.setattr(embeddings, "embed_texts", slowly)
    assert embeddings.embed_memories([memory.pk], now=now) == 0
    assert embedded() == set()


def test_erasing_counts_the_vectors_on_the_receipt(cast: Cast, now: datetime) -> None:
    memory = make_memory(owner=cast.alice, now=now)
    erase(cast, memory, now)
    receipt = ErasureReceipt.objects.get(memory_id=memory.pk)
    assert {"name": "vectors", "rows": 1} in receipt.places


def test_repair_writes_what_is_missing_and_replaces_what_is_of_another_text(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "REPAIR_WINDOW", 4)
    rows = [make_memory(content=f"Fact {n}", owner=cast.alice, now=now) for n in range(10)]
    whole = dict(MemoryEmbedding.objects.values_list("memory_id", "content_hash"))
    MemoryEmbedding.objects.filter(memory__in=rows[:3]).delete()
    MemoryEmbedding.objects.filter(memory=rows[5]).update(content_hash="of another text")
    for _ in range(4):
        embeddings.repair(now=now)
    assert dict(MemoryEmbedding.objects.values_list("memory_id", "content_hash")) == whole
    assert [embeddings.repair(now=now) for _ in range(4)] == [0] * 4


def test_models_being_prepared_follow_every_write(cast: Cast, now: datetime) -> None:
    make_memory(content="Before", owner=cast.alice, now=now)
    other = embedding_models.prepare(ModelName("fake", "fake-16"), now=now)
    make_memory(content="After", owner=cast.alice, now=now)
    rows = MemoryEmbedding.objects.filter(embedding_model=other).select_related("memory")
    assert [row.memory.content for row in rows] == ["After"]
    assert embeddings.repair(now=now) == 1


def test_columns_of_vectors_keep_no_statistics_and_no_side_table(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attstattarget, attstorage FROM pg_attribute"
            " WHERE attrelid = 'junior_memory_memoryembedding'::regclass AND attname = 'vector'"
        )
        assert cursor.fetchone() == (0, "p")


@pytest.mark.django_db(transaction=True)
def test_erased_vectors_are_in_no_dump(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "_loaded", {})
    monkeypatch.setattr(vector_index, "BATCH", 5)
    for number in range(39):
        make_memory(content=f"Public fact {number}", visibility="public", now=now)
    mine = make_memory(content="quizzacious herons", owner=cast.alice, now=now)
    shared = make_memory(content="borborygmic otters", visibility="public", now=now)
    model = embedding_models.in_use()
    assert model is not None
    assert vector_index.pack(model, worth_it_at=10) == 8
    vector_index.refresh(model)
    analyse()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT vector::text FROM junior_memory_memoryembedding WHERE memory_id = ANY(%s)",
            [[mine.pk, shared.pk]],
        )
        vectors = [text.strip("[]") for (text,) in cursor.fetchall()]
    before = dump()
    assert [vector in before for vector in vectors] == [True, True]
    forgetting.erase(access.person(cast.alice), mine.pk, doer=BY_TEST, now=now)
    staff = access.person(cast.root)
    moderation.remove_public(staff, shared.pk, reason="untrue", doer=BY_TEST, now=now)
    assert forgetting.purge_due(now=now + timedelta(days=31)) == 1
    vector_index.refresh(model)
    left = dump()
    assert [vector in left for vector in vectors] == [False, False]
    codes = vector_index.loaded(model).codes
    assert codes is not None
    assert len(codes) == 39
    assert shared.pk.hex not in codes.near([1.0] * 64, 40)
