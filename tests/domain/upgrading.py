"""A database beside the tests' own, for migrations that go back and forth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker


@contextmanager
def database_at(
    place: tuple[str, str], alias: str, blocker: DjangoDbBlocker
) -> Iterator[MigrationExecutor]:
    """Make an empty database with the schema of a migration, known by an alias in the block."""
    name = f"test_{alias}_{os.getpid()}"
    with blocker.unblock():
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
        connections.settings[alias] = {**connection.settings_dict, "NAME": name}
        executor = MigrationExecutor(connections[alias])
        executor.migrate([place])
        yield executor
        connections[alias].close()
        del connections[alias]
        del connections.settings[alias]
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name}")
