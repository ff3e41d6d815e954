"""The database backend of Junior Memory: Django's for PostgreSQL, and two things more.

With `EMBEDDED_DIR` in its settings the embedded server of that directory is started the first time
anyone asks where the database is: a cursor, the test runner's, or the queue's own pool, which reads
its parameters here. Nothing is started before that, neither by settings nor by imports.

And no value that people wrote comes back out of it in an error or a query log (`discretion`).
"""

import os
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.db.backends.postgresql import base as postgresql
from django.db.backends.postgresql.client import DatabaseClient as PostgreSQLClient
from django.db.backends.utils import CursorDebugWrapper
from django.utils.functional import cached_property

from junior_memory.database import embedded
from junior_memory.database.discretion import (
    DiscreetDebugCursor,
    DiscreetErrors,
)


class DatabaseClient(PostgreSQLClient):
    """`manage.py dbshell`, also into the embedded server."""

    connection: "DatabaseWrapper"

    def runshell(self, parameters: Iterable[str]) -> None:
        """Open psql of the server's version, or the system's for a server of one's own."""
        if self.connection.embedded_directory is None:
            super().runshell(parameters)
            return
        command = [str(embedded.binary("psql")), *parameters]
        environment = {**os.environ, **self.connection.address()}
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            subprocess.run(command, env=environment, check=True)  # noqa: S603
        finally:
            signal.signal(signal.SIGINT, previous)


class DatabaseWrapper(postgresql.DatabaseWrapper):
    """PostgreSQL, embedded when the settings say where its data belongs."""

    client_class = DatabaseClient

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
        server = embedded.use_server(directory, options=self.settings_dict.get("EMBEDDED_OPTIONS"))
        if self.settings_dict["NAME"]:
            embedded.create_database_if_absent(server, self.settings_dict["NAME"])
        return params | {"host": server.host, "port": server.port, "user": server.user}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """As Django's; with a pool, make sure first that the embedded server still runs.

        A pool asks once where the database is. Without this, a web process would not notice that
        the server went away and start it again.
        """
        directory = self.embedded_directory
        if directory is not None and self.settings_dict["OPTIONS"].get("pool"):
            embedded.use_server(directory, options=self.settings_dict.get("EMBEDDED_OPTIONS"))
        return super().get_new_connection(conn_params)

    def _configure_connection(self, connection: Any) -> bool:
        """As Django's; a new connection also waits for no lock longer than the settings say.

        Whoever serves people answers that it cannot, rather than let them and a connection wait
        for somebody who never lets go.
        """
        limit_ms = int(self.settings_dict.get("LOCK_TIMEOUT_MS") or 0)
        commit: bool = super()._configure_connection(connection)  # type: ignore[misc]
        if limit_ms:
            connection.execute(f"SET lock_timeout = {limit_ms}")
        return commit or bool(limit_ms)

    def set_autocommit(
        self,
        autocommit: bool,
        force_begin_transaction_with_broken_autocommit: bool = False,
    ) -> None:
        """As Django's, without opening a connection only to say how it begins anyway.

        Leaving a transaction whose connection was lost would otherwise wait for a new one, beyond
        any deadline when the server does not answer.
        """
        if autocommit and self.connection is None:
            return
        super().set_autocommit(autocommit, force_begin_transaction_with_broken_autocommit)

    def address(self) -> dict[str, str]:
        """The database as the environment of PostgreSQL's programs (PGHOST, PGDATABASE …).

        With `embedded.binary("pg_dump")` it dumps the very database that this connection uses,
        whether embedded or not; the password is on no command line.
        """
        params = self.get_connection_params()
        names = {
            "PGHOST": "host",
            "PGPORT": "port",
            "PGUSER": "user",
            "PGPASSWORD": "password",
            "PGDATABASE": "dbname",
            "PGSSLMODE": "sslmode",
            "PGSSLROOTCERT": "sslrootcert",
        }
        return {name: str(params[key]) for name, key in names.items() if params.get(key)}

    def make_debug_cursor(self, cursor: Any) -> CursorDebugWrapper:
        """Record statements for query counts, never their parameters."""
        return DiscreetDebugCursor(cursor, self)

    @cached_property
    def wrap_database_errors(self) -> DiscreetErrors:
        """Errors of the driver as Django's, without the row that they are about."""
        return DiscreetErrors(self)
