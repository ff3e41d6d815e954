"""Vectors of the release before get along with batches, and its graphs go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from tests.domain.upgrading import database_at

ALIAS = "batches"
APP = "junior_memory"
BEFORE = (APP, "0016_about")
AFTER = (APP, "0018_batches_found")
IN_NO_BATCH = 2_147_483_647
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def before(django_db_blocker: DjangoDbBlocker) -> Iterator[MigrationExecutor]:
    """A database beside the others, as the release before left it."""
    with database_at(BEFORE, ALIAS, django_db_blocker) as executor:
        executor.loader.build_graph()
        yield executor


def models_at(executor: MigrationExecutor, place: tuple[str, str]) -> Any:
    return executor.loader.project_state([place]).apps


def run(statement: str) -> list[tuple[Any, ...]]:
    with connections[ALIAS].cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


def indexes() -> set[str]:
    rows = run("SELECT indexname FROM pg_indexes WHERE tablename = 'junior_memory_memoryembedding'")
    return {name for (name,) in rows}


def migrate(place: tuple[str, str]) -> None:
    executor = MigrationExecutor(connections[ALIAS])
    executor.migrate([place])


def fill(models: Any) -> dict[str, int]:
    """Write vectors of every visibility by two models, and a graph over the public ones of each."""

    def add(name: str, /, **fields: Any) -> Any:
        return models.get_model(APP, name).objects.using(ALIAS).create(**fields)

    ada = add("User", email="ada@example.com", password="!")
    team = add("Organization", slug="acme", name="Acme")
    agent = add("Agent", name="default")
    kinds = {
        "private": {"owner": ada},
        "session": {"owner": ada, "conversation_id": "c"},
        "org": {"owner": ada, "org": team},
        "public": {},
    }
    for number, (model, dimensions, state) in enumerate(
        [("small", 3, "in_use"), ("large", 5, "preparing")]
    ):
        one = add(
            "EmbeddingModel",
            provider="local",
            model=model,
            dimensions=dimensions,
            state=state,
            created_at=NOW,
        )
        for visibility, fields in kinds.items():
            memory = add(
                "Memory",
                content=f"Fact {number} {visibility}",
                kind="knowledge",
                visibility=visibility,
                agent=agent,
                subject_type="general",
                origin="explicit",
                source_platform="api",
                fingerprint=f"k1${number}{visibility}",
                observed_at=NOW,
                created_at=NOW,
                **fields,
            )
            add(
                "MemoryEmbedding",
                memory=memory,
                embedding_model=one,
                visibility=visibility,
                owner_id=ada.pk if visibility in {"private", "session"} else None,
                org_id=team.pk if visibility == "org" else None,
                content_hash="k1$h",
                vector=[0.1] * dimensions,
                created_at=NOW,
            )
        run(
            f"CREATE INDEX embedding_near_{one.pk} ON junior_memory_memoryembedding"
            f" USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)"
            f" WITH (m = 24) WHERE embedding_model_id = {one.pk} AND visibility = 'public'"
        )
    return dict.fromkeys(kinds, 2)


def test_vectors_of_the_release_before_are_in_no_batch_and_its_graphs_are_gone(
    before: MigrationExecutor,
) -> None:
    written = fill(models_at(before, BEFORE))
    had = indexes()
    graphs = {name for name in had if name.startswith("embedding_near_")}
    assert len(graphs) == 2
    vectors = run("SELECT id, vector::text FROM junior_memory_memoryembedding ORDER BY id")

    untouched = run(
        "SELECT ctid::text FROM junior_memory_memoryembedding WHERE visibility = 'public'"
    )
    migrate(AFTER)
    assert untouched == run(
        "SELECT ctid::text FROM junior_memory_memoryembedding WHERE visibility = 'public'"
    ), "rows that a graph has"
    assert run(
        "SELECT convalidated FROM pg_constraint WHERE conname = 'embedding_public_in_a_batch'"
    ) == [(True,)]
    models = models_at(before, AFTER)
    rows = models.get_model(APP, "MemoryEmbedding").objects.using(ALIAS)
    assert Counter(rows.values_list("visibility", "batch")) == {
        (visibility, IN_NO_BATCH if visibility == "public" else 0): count
        for visibility, count in written.items()
    }
    counted = models.get_model(APP, "EmbeddingModel").objects.using(ALIAS)
    assert set(counted.values_list("batches", flat=True)) == {0}
    assert run("SELECT id, vector::text FROM junior_memory_memoryembedding ORDER BY id") == vectors
    assert indexes() == had - graphs - {"embedding_public"} | {"embedding_batches"}

    rows.filter(visibility="public").update(batch=1)
    migrate(BEFORE)
    assert indexes() == had - graphs
    assert run("SELECT id, vector::text FROM junior_memory_memoryembedding ORDER BY id") == vectors
    migrate(AFTER)
    assert set(rows.filter(visibility="public").values_list("batch", flat=True)) == {IN_NO_BATCH}


def test_processes_of_the_release_before_go_on_writing_vectors(before: MigrationExecutor) -> None:
    models = models_at(before, BEFORE)
    migrate(AFTER)
    fill(models)
    rows = models_at(before, AFTER).get_model(APP, "MemoryEmbedding").objects.using(ALIAS)
    assert set(rows.filter(visibility="public").values_list("batch", flat=True)) == {IN_NO_BATCH}
    assert rows.count() == 8


def test_graphs_of_no_vectors_go_as_well(before: MigrationExecutor) -> None:
    """Also one whose building was cut off, and no index of somebody else's."""
    for name in ("embedding_near_7", "far_away"):
        run(
            f"CREATE INDEX {name} ON junior_memory_memoryembedding"
            " USING hnsw ((vector::halfvec(3)) halfvec_cosine_ops)"
        )
    run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'embedding_near_7'::regclass")
    migrate(AFTER)
    assert "embedding_near_7" not in indexes()
    assert "far_away" in indexes()
    migrate(AFTER)
