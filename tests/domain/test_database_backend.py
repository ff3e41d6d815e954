"""The Django backend: where it connects to, and what its errors and logs keep to themselves."""

import logging
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer

import psycopg
import pytest
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    connections,
    transaction,
)
from django.db.utils import ConnectionHandler
from procrastinate.exceptions import UniqueViolation
from procrastinate.sync_psycopg_connector import wrap_exceptions
from pytest_django import DjangoDbBlocker

from junior_memory.database import embedded
from junior_memory.database.base import DatabaseWrapper

ROOT = Path(__file__).resolve().parents[2]
SENTINEL = "zinnober-4711"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    found = Path(tempfile.mkdtemp(prefix="jm-test-"))
    yield found
    embedded.release_server(found / "p")
    shutil.rmtree(found)


@pytest.fixture
def connection(folder: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[DatabaseWrapper]:
    """A connection of its own to an embedded server of its own, apart from the test database."""
    connection = connect(folder / "p")
    with django_db_blocker.unblock():
        yield connection
        connection.close()


def connect(directory: Path, *, name: str | None = "notes") -> DatabaseWrapper:
    handler = ConnectionHandler(
        {
            "default": {
                "ENGINE": "junior_memory.database",
                "NAME": name,
                "EMBEDDED_DIR": str(directory),
                "EMBEDDED_OPTIONS": {"fsync": "off"},
                "OPTIONS": {"server_side_binding": True},
            }
        }
    )
    connection = handler["default"]
    assert isinstance(connection, DatabaseWrapper)
    return connection


def make_table(connection: DatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE memo (content text CONSTRAINT one_each UNIQUE)")
        cursor.execute("INSERT INTO memo VALUES (%s)", [SENTINEL])


def test_database_is_created_on_first_use_and_again_when_it_is_gone(
    connection: DatabaseWrapper, folder: Path
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        assert cursor.fetchone() == ("notes",)
    connection.close()
    with connection._nodb_cursor() as cursor:
        cursor.execute("DROP DATABASE notes")
    embedded.release_server(folder / "p")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        assert cursor.fetchone() == ("notes",)


def test_connection_parameters_alone_start_the_server(
    connection: DatabaseWrapper, folder: Path
) -> None:
    embedded.release_server(folder / "p")
    params = connection.get_connection_params()
    assert embedded._is_ready(folder / "p")
    assert params["host"] == (folder / "p" / "socket").read_text()
    assert params["dbname"] == "notes"


def test_server_of_ones_own_is_left_alone(tmp_path: Path) -> None:
    connection = connect(tmp_path / "p")
    del connection.settings_dict["EMBEDDED_DIR"]
    connection.settings_dict |= {"HOST": "db.example", "PASSWORD": "hunter2"}
    assert connection.address() == {
        "PGHOST": "db.example",
        "PGPASSWORD": "hunter2",
        "PGDATABASE": "notes",
    }
    assert not (tmp_path / "p").exists()


def test_programs_reach_the_connections_database_through_its_address(
    connection: DatabaseWrapper,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT %s::text AS content", [SENTINEL])
    dump = subprocess.run(
        [embedded.binary("pg_dump"), "--statistics"],
        env={**os.environ, **connection.address()},
        capture_output=True,
        text=True,
        check=True,
    )
    assert SENTINEL in dump.stdout


def test_dbshell_opens_the_embedded_database(folder: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[2]);"
        "from django.conf import settings; settings.configure(DATABASES={'default': {"
        "'ENGINE': 'junior_memory.database', 'NAME': 'notes', 'EMBEDDED_DIR': sys.argv[1]}});"
        "from django.db import connection;"
        "connection.client.runshell(['-Atc', 'SELECT current_database()'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder / "p"), str(ROOT)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "notes"


def test_violated_constraint_names_itself_and_not_the_row(connection: DatabaseWrapper) -> None:
    make_table(connection)
    with connection.cursor() as cursor, pytest.raises(IntegrityError) as caught:
        cursor.execute("INSERT INTO memo VALUES (%s)", [SENTINEL])
    shown = "".join(traceback.format_exception(caught.value))
    assert SENTINEL not in shown
    assert "23505" in str(caught.value)
    cause = caught.value.__cause__
    assert isinstance(cause, psycopg.Error)
    assert cause.diag.constraint_name == "one_each"
    assert cause.diag.table_name == "memo"
    assert cause.diag.message_detail is None
    assert SENTINEL.encode() not in pickle.dumps(cause)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("SELECT %s::uuid", DataError),
        ("SELECT %s::json", DataError),
        ("SELECT to_tsquery('simple', %s || ' & (')", ProgrammingError),
        ("SELECT jsonb_path_query('{}', ('$.' || %s || ' [')::jsonpath)", ProgrammingError),
        ("SELECT 1 WHERE 'x' ~ (%s || '(')", DataError),
    ],
)
def test_value_that_does_not_parse_is_not_repeated(
    connection: DatabaseWrapper, statement: str, kind: type[Exception]
) -> None:
    with connection.cursor() as cursor, pytest.raises(kind) as caught:
        cursor.execute(statement, [SENTINEL])
    assert SENTINEL not in "".join(traceback.format_exception(caught.value))


def test_error_of_a_fetch_is_discreet_too(connection: DatabaseWrapper) -> None:
    make_table(connection)
    connection.set_autocommit(False)
    with connection.chunked_cursor() as cursor:
        cursor.execute("SELECT content::int FROM memo")
        with pytest.raises(DataError) as caught:
            cursor.fetchall()
    connection.rollback()
    assert SENTINEL not in "".join(traceback.format_exception(caught.value))


def test_programming_errors_stay_readable(connection: DatabaseWrapper) -> None:
    with connection.cursor() as cursor, pytest.raises(ProgrammingError, match="nonesuch"):
        cursor.execute("SELECT * FROM nonesuch")
    with connection.cursor() as cursor, pytest.raises(ProgrammingError, match='near "FORM"'):
        cursor.execute("SELECT * FORM memo")


def test_taken_queue_lock_is_still_recognised(connection: DatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE procrastinate_jobs (queueing_lock text)")
        cursor.execute(
            "CREATE UNIQUE INDEX procrastinate_jobs_queueing_lock_idx_v1"
            " ON procrastinate_jobs (queueing_lock)"
        )
        cursor.execute("INSERT INTO procrastinate_jobs VALUES ('purge')")
        with pytest.raises(IntegrityError) as caught:
            cursor.execute("INSERT INTO procrastinate_jobs VALUES ('purge')")
    assert caught.value.__cause__
    with pytest.raises(UniqueViolation) as translated, wrap_exceptions():
        raise caught.value.__cause__
    assert translated.value.queueing_lock == "purge"


def test_unreachable_server_says_why_without_a_password(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> None:
    connection = connect(tmp_path / "p")
    del connection.settings_dict["EMBEDDED_DIR"]
    connection.settings_dict |= {"HOST": str(tmp_path), "USER": "me", "PASSWORD": "hunter2"}
    with (
        django_db_blocker.unblock(),
        pytest.raises(OperationalError, match="connection") as caught,
    ):
        connection.ensure_connection()
    assert "hunter2" not in str(caught.value)


def test_server_that_cannot_start_is_an_operational_error(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> None:
    (tmp_path / "p").write_text("a file where the folder belongs")
    with (
        django_db_blocker.unblock(),
        pytest.raises(OperationalError, match="set DATABASE_URL"),
    ):
        connect(tmp_path / "p").ensure_connection()


def test_connection_recovers_by_itself_after_the_server_crashed(
    connection: DatabaseWrapper, folder: Path
) -> None:
    connection.ensure_connection()
    pid_file = folder / "p" / "cluster" / "postmaster.pid"
    os.kill(int(pid_file.read_text().split("\n")[0]), signal.SIGKILL)
    deadline = time.monotonic() + 5
    while embedded._is_running(folder / "p") and time.monotonic() < deadline:
        time.sleep(0.01)
    with connection.cursor() as cursor, pytest.raises(OperationalError):
        cursor.execute("SELECT 1")
    connection.close_if_unusable_or_obsolete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        assert cursor.fetchone() == ("notes",)


def test_query_log_keeps_placeholders(
    connection: DatabaseWrapper, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "django.db.backends")
    connection.force_debug_cursor = True
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::text", [SENTINEL])
        cursor.executemany("SELECT %s::text", [[SENTINEL], [SENTINEL]])
    assert [query["sql"] for query in connection.queries_log][-2:] == [
        "SELECT %s::text",
        "? times: SELECT %s::text",
    ]
    assert "SELECT %s::text" in caplog.text
    assert SENTINEL not in caplog.text
    assert SENTINEL not in repr([record.__dict__ for record in caplog.records])


def test_servers_log_holds_no_content_after_failures(
    connection: DatabaseWrapper, folder: Path
) -> None:
    make_table(connection)
    for statement in (
        "INSERT INTO memo VALUES (%s)",
        "SELECT %s::uuid",
        "SELECT to_tsquery('simple', %s || ' & (')",
        "SELECT pg_sleep(0), nonesuch(%s)",
        "DO $$ BEGIN RAISE WARNING 'zinnober-4711'; RAISE EXCEPTION 'zinnober-4711'; END $$",
    ):
        with connection.cursor() as cursor, pytest.raises(DatabaseError):
            cursor.execute(statement, [SENTINEL] if "%s" in statement else None)
    log = (folder / "p" / "server.log").read_text()
    assert "ready to accept connections" in log
    assert SENTINEL not in log


def test_servers_log_holds_no_content_after_a_process_of_it_is_killed_amid_a_statement(
    connection: DatabaseWrapper, folder: Path
) -> None:
    """The server tells which statement the dead process was running, with whatever is in it."""
    log, died = folder / "p" / "server.log", "was terminated by signal 9"
    with connection.cursor() as cursor:
        before = log.read_text().count(died)
        cursor.execute("SELECT pg_backend_pid()")
        pid = int(cursor.fetchone()[0])
        Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
        with pytest.raises(OperationalError):
            cursor.execute(f"SELECT '{SENTINEL}', pg_sleep(20)")
    connection.close()
    deadline = time.monotonic() + 10
    while log.read_text().count(died) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert log.read_text().count(died) == before + 1
    assert SENTINEL not in log.read_text()
    # The server begins again after that; the next test would meet it in between.
    while time.monotonic() < deadline:
        with suppress(OperationalError):
            connection.ensure_connection()
            break
        time.sleep(0.05)


@pytest.mark.django_db(transaction=True)
def test_leaving_a_lost_transaction_opens_no_other_connection() -> None:
    default = connections["default"]
    with pytest.raises(OperationalError), transaction.atomic(), default.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    assert default.connection is None, "a server that hangs would be waited for here"
    with default.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
