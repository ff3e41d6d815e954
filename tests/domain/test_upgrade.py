"""A deployment of the first release is upgraded with everything in it, and can be taken back.

A database of its own is migrated to the oldest schema that upgrades start from, gets rows in every
table, and is migrated to the newest and back. A column that a later release drops has to be named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps as present
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from tests.domain.upgrading import database_at

ALIAS = "upgrade"
OLDEST = ("junior_memory", "0002_initial")
APP = "junior_memory"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TEXT = "Rides the night train, “window” seat – ✓."

DERIVED = {"junior_memory_memoryembedding"}
"""Made again by the worker: an upgrade may empty it."""

DROPPED: set[tuple[str, str]] = set()
"""Columns, by table, that a later release gave up on purpose."""


@pytest.fixture
def old(django_db_blocker: DjangoDbBlocker) -> Iterator[MigrationExecutor]:
    """An empty database beside the others, with the oldest schema."""
    with database_at(OLDEST, ALIAS, django_db_blocker) as executor:
        yield executor


def historical(executor: MigrationExecutor) -> Any:
    """Return the models as they were, after what is applied."""
    executor.loader.build_graph()
    return executor.loader.project_state([OLDEST]).apps


def fill(models: Any, *, but: str = "") -> None:
    """Write at least one row of every table of the first release, as its processes did."""

    def add(name: str, /, **fields: Any) -> Any:
        if name == but:
            return None
        return models.get_model(APP, name).objects.using(ALIAS).create(**fields)

    ada = add("User", email="ada@example.com", password="!", never_learn_topics=["my health"])
    bob = add("User", email="bob@example.com", password="!", is_staff=True)
    team = add("Organization", slug="acme", name="Acme")
    add("Membership", organization=team, user=ada)
    agent = add("Agent", name="default", extract=True)
    actor = add("Identity", provider="web", tenant="app", subject="ada", user=ada)
    add("LinkingCode", user=ada, code_hash="c" * 64, expires_at=NOW)
    token = add("ApiToken", kind="personal", prefix="jmp_abc", token_hash="t" * 64, user=ada)
    place = add("Location", provider="web", tenant="app", key="c-1", label="Chat")
    session = add(
        "CompletedSession",
        agent=agent,
        session_id="s-1",
        conversation_id="c-1",
        owner=ada,
        actor=actor,
        source_platform="web",
        source_key="c-1",
        source_visibility="private",
        transcript=[{"type": "message", "role": "user", "text": TEXT}],
        body_hash="k1$b",
        lock_key="owner:ada",
        completed_at=NOW,
        created_at=NOW,
    )
    batch = add("ForgetBatch", kind="bulk", user=ada, forgotten=1)

    def remember(content: str, fingerprint: str, **fields: Any) -> Any:
        given = {
            "kind": "preference",
            "visibility": "private",
            "owner": ada,
            "subject_type": "general",
            "origin": "explicit",
            "observed_at": NOW,
            "created_at": NOW,
            "evidence_fingerprints": ["k1$e"],
        }
        return add(
            "Memory",
            content=content,
            agent=agent,
            source_platform="web",
            fingerprint=fingerprint,
            **given | fields,
        )

    kept = remember(TEXT, "k1$1", session=session, location=place, learned_from=actor)
    remember("Prefers trains.", "k1$1", superseded_at=NOW, superseded_by=kept)
    forgotten = remember(
        "Prefers tea.",
        "k1$2",
        archived_at=NOW,
        archive_reason="user_removed",
        forget_batch=batch,
        purge_at=NOW + timedelta(days=30),
    )
    remember(
        "", "k1$3", archived_at=NOW, archive_reason="user_removed", purge_at=NOW, purged_at=NOW
    )
    public = remember("The office has a piano.", "k1$4", visibility="public", owner=None)
    remember("Meets on Tuesdays.", "k1$5", visibility="org", org=team)
    remember("Is in a hurry.", "k1$6", visibility="session", conversation_id="c-1")
    remember("Is held.", "k1$7", held_at=NOW, held_reason="hostile")
    add("RetryKey", key_hash="k1$key", memory=kept, created_at=NOW)
    add(
        "Tombstone",
        fingerprint="k1$t",
        of="content",
        memory=forgotten,
        person=ada,
        created_at=NOW,
    )
    add("MemoryReport", memory=public, reporter=ada, reason="outdated", created_at=NOW)
    add("Conflict", first=kept, second=forgotten, created_at=NOW)
    event = add(
        "ConversationEvent",
        name="memories_recalled",
        version=1,
        conversation_id="c-1",
        agent=agent,
        owner=ada,
        session=session,
        payload={"memories": [{"id": str(kept.pk), "rank": 1}]},
        cost_usd=Decimal("0.000012345678"),
        created_at=NOW,
    )
    add(
        "MemoryUse",
        memory=kept,
        event=event,
        viewer=ada,
        conversation_id="c-1",
        rank=1,
        leg="lexical",
        used_at=NOW,
    )
    add(
        "ModelCall",
        operation="extraction",
        provider="openai",
        model="gpt-5-nano",
        cost_usd=Decimal("0.000012345678"),
        outcome="ok",
        event=event,
        session=session,
        created_at=NOW,
    )
    add("AuditEntry", action="forgot", actor=ada, token=token, via="api", created_at=NOW)
    add("ErasureReceipt", memory_id=kept.pk, person=ada, places=[], erased_at=NOW)
    add("AdminRead", staff=bob, person=ada, reason="asked", created_at=NOW, expires_at=NOW)
    add("RateWindow", bucket="read:token:1", window_started_at=NOW, count=3)
    add(
        "MemoryEmbedding",
        memory=kept,
        provider="local",
        model="small",
        dimensions=3,
        content_hash="k1$h",
        vector=[0.1, 0.2, 0.3],
        created_at=NOW,
    )
    with connections[ALIAS].cursor() as cursor:
        cursor.execute("UPDATE junior_memory_memory SET search_vector = 'night:1 train:2'")


def tables() -> dict[str, list[str]]:
    """Return the product's tables and their columns, as they are now."""
    with connections[ALIAS].cursor() as cursor:
        cursor.execute(
            "SELECT table_name, array_agg(column_name::text ORDER BY column_name)"
            " FROM information_schema.columns WHERE table_schema = 'public'"
            " AND table_name LIKE 'junior_memory_%%' GROUP BY table_name"
        )
        return dict(cursor.fetchall())


def rows_of(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return every row, as JSON of these columns, in a fixed order: what an upgrade must keep."""
    found = {}
    with connections[ALIAS].cursor() as cursor:
        for table, names in columns.items():
            cursor.execute(f"SELECT to_json(r)::text FROM {table} AS r")  # noqa: S608
            found[table] = as_json([row[0] for row in cursor.fetchall()], names)
    return found


def as_json(rows: list[str], columns: list[str]) -> list[str]:
    """Return rows with these columns alone, in an order that both schemas share."""
    return sorted(
        json.dumps({name: json.loads(row)[name] for name in columns}, sort_keys=True)
        for row in rows
    )


def test_upgrade_keeps_every_row_of_every_table_and_can_be_taken_back(
    old: MigrationExecutor,
) -> None:
    fill(historical(old))
    columns = tables()
    before = rows_of(columns)
    assert [table for table, rows in before.items() if not rows and "user_" not in table] == []

    newest = MigrationExecutor(connections[ALIAS])
    newest.migrate(newest.loader.graph.leaf_nodes())
    assert (
        MigrationExecutor(connections[ALIAS]).migration_plan(newest.loader.graph.leaf_nodes()) == []
    )
    now_there = tables()
    gone = {
        (table, name)
        for table, names in columns.items()
        if table not in DERIVED
        for name in names
        if name not in now_there.get(table, [])
    }
    assert gone == DROPPED
    kept = {
        table: [name for name in names if (table, name) not in DROPPED]
        for table, names in columns.items()
        if table not in DERIVED
    }
    assert rows_of(kept) == {table: as_json(before[table], kept[table]) for table in kept}

    memory = present.get_model(APP, "Memory").objects.using(ALIAS)
    assert memory.active(NOW).count() == 4
    assert memory.get(content=TEXT).search_vector == "'night':1 'train':2"
    assert present.get_model(APP, "User").objects.using(ALIAS).get(email="ada@example.com")

    back = MigrationExecutor(connections[ALIAS])
    back.migrate([OLDEST])
    assert tables() == columns
    again = rows_of(columns)
    assert {t: r for t, r in again.items() if t not in DERIVED} == {
        t: r for t, r in before.items() if t not in DERIVED
    }


def test_processes_of_the_release_before_go_on_writing(old: MigrationExecutor) -> None:
    models = historical(old)
    newest = MigrationExecutor(connections[ALIAS])
    newest.migrate(newest.loader.graph.leaf_nodes())
    # Not vectors: 0004 made their table anew, before there was a release to keep running.
    fill(models, but="MemoryEmbedding")
    assert models.get_model(APP, "Memory").objects.using(ALIAS).count() == 8
