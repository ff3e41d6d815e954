"""No column can hold text without somebody having said what stands in it."""

from __future__ import annotations

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse

from junior_memory.models import CompletedSession, Location, Memory, MemoryReport, User
from junior_memory.text_columns import (
    COLUMNS,
    NEVER_WRITTEN,
    Holds,
    columns_that_can_hold_text,
)
from tests.cast import Cast
from tests.factories import make_memory

SENTINEL = "quizzacious"
pytestmark = pytest.mark.django_db


def test_every_column_that_can_hold_text_is_on_the_list_and_no_other() -> None:
    found = columns_that_can_hold_text()
    assert found - set(COLUMNS) == set(), "say in text_columns.py what stands there"
    assert set(COLUMNS) - found == set(), "there is no such column"


@pytest.mark.parametrize("kind", ["text", "varchar(9)", "jsonb", "bytea", "text[]", "tsvector"])
def test_a_column_that_nobody_named_is_found(kind: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE junior_memory_toolcall ADD COLUMN note {kind}")
        cursor.execute(f"CREATE TABLE scratch (id bigint, note {kind})")
    extra = columns_that_can_hold_text() - set(COLUMNS)
    assert extra == {("junior_memory_toolcall", "note"), ("scratch", "note")}


def test_what_was_said_is_in_no_planners_statistics() -> None:
    said = {place for place, holds in COLUMNS.items() if holds is Holds.SAID}
    said |= {("django_admin_log", "object_repr"), ("django_admin_log", "change_message")}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attrelid::regclass::text, attname FROM pg_attribute WHERE attstattarget = 0"
        )
        quiet = set(cursor.fetchall())
    assert said - quiet <= {("junior_memory_memoryembedding", "vector")}


def test_what_was_said_has_a_place_that_the_purge_empties() -> None:
    emptied = {Memory, CompletedSession, MemoryReport}
    tables = {model._meta.db_table for model in emptied} | {"junior_memory_memoryembedding"}
    assert {table for (table, _), holds in COLUMNS.items() if holds is Holds.SAID} == tables


def test_tables_that_are_said_to_be_empty_are(cast: Cast, client: Client) -> None:
    client.post("/sign-in", {"email": "alice@example.com", "password": "correct horse"})
    tables = {table for table, _ in COLUMNS if table.startswith(NEVER_WRITTEN)}
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
            assert cursor.fetchone() == (0,), table


def test_the_admins_history_holds_ids_and_names_of_fields_alone(cast: Cast, client: Client) -> None:
    User.objects.filter(pk=cast.root.pk).update(is_superuser=True)
    client.force_login(User.objects.get(pk=cast.root.pk))
    fields = {"provider": "slack", "tenant": "T1", "key": "C9", "label": f"#{SENTINEL}"}
    client.post(reverse("admin:junior_memory_location_add"), fields)
    place = Location.objects.get(key="C9")
    address = reverse("admin:junior_memory_location_change", args=[place.pk])
    client.post(address, fields | {"label": f"#{SENTINEL}-2", "url": f"https://x/{SENTINEL}"})
    assert SENTINEL in Location.objects.get(pk=place.pk).label
    client.post(reverse("admin:junior_memory_location_delete", args=[place.pk]), {"post": "yes"})
    client.post(reverse("admin:junior_memory_user_delete", args=[cast.charlie.pk]), {"post": "yes"})
    rows = list(LogEntry.objects.values("object_id", "object_repr", "change_message"))
    assert len(rows) == 4
    assert SENTINEL not in json.dumps(rows)
    assert "@" not in json.dumps(rows)
    client.get(reverse("admin:index"))


def test_what_is_kept_for_the_next_page_holds_no_content(cast: Cast, client: Client) -> None:
    """Flash messages stand in the session, encoded: a dump does not show what is in them."""
    client.force_login(cast.alice)
    memory = make_memory(owner=cast.alice, content=f"Keeps {SENTINEL} bees.")
    other = make_memory(owner=cast.alice, content=f"Sells {SENTINEL} honey.")
    client.get("/memories", {"q": SENTINEL})
    client.post("/recall", {"text": f"What of {SENTINEL}?"})
    client.post(f"/memories/{memory.pk}/correct", {"content": f"{SENTINEL} wasps.", "version": 1})
    client.post("/memories/new", {"content": f"Likes {SENTINEL}.", "kind": "preference"})
    client.post("/memories/forget", {"ids": [str(other.pk)], "chosen": [str(other.pk)]})
    client.post(f"/memories/{other.pk}/forget")
    client.post(f"/memories/{other.pk}/erase", {"confirm": "erase"})
    kept = [row.get_decoded() for row in Session.objects.all()]
    assert "_messages" in json.dumps(kept)
    assert SENTINEL not in json.dumps(kept)
