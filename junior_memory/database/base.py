"""The database backend of Junior Memory: Django's for PostgreSQL, and two things more.

With `EMBEDDED_DIR` in its settings (and no HOST) the embedded server of that directory is started
the first time anyone asks where the database is. Nothing is started before that, not by settings
and not by imports.

And its errors name the class and the constraint, never the row: see `WithoutValues`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg
from django.db.backends.postgresql import base as postgresql
from django.db.backends.postgresql.client import DatabaseClient as PostgreSQLClient
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property

from junior_memory.database import embedded


class DatabaseWrapper(postgresql.DatabaseWrapper):
    """PostgreSQL, embedded when the settings say where its data belongs."""

    @property
    def embedded_directory(self) -> Path | None:
        """Where the embedded server keeps its data; None with a server of one's own."""
        directory = self.settings_dict.get("EMBEDDED_DIR")
        return Path(directory) if directory else None

    def get_connection_params(self) -> dict[str, Any]:
        """As Django's, with the address of the embedded server, which runs afterwards."""
        params: dict[str, Any] = super().get_connection_params()
        directory = self.embedded_directory
        if directory is None:
            return params
        server = embedded.use_server(
            directory, options=self.settings_dict.get("EMBEDDED_OPTIONS")
        )
        if self.settings_dict["NAME"]:
            embedded.create_database_if_absent(server, self.settings_dict["NAME"])
        return params | {"host": server.host, "port": server.port, "user": server.user}
