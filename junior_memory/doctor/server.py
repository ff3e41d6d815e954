"""The PostgreSQL server: reachable, new enough, discreet, on time, and with our tables in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.core.checks import ERROR
from django.db import Error, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

from junior_memory import clock
from junior_memory.checks_database import QUIET_LOG, judge, read_facts
from junior_memory.doctor.finding import Finding, fail, ok, warn

APART, FAR_APART = timedelta(seconds=5), timedelta(seconds=60)
"""Clocks that differ by more make wrong expiries noticeable, and wrong."""

BUSY_SHARE = 0.8
"""Of the server's connections, from which an operator should look."""

TEXT_COLUMNS = (
    ("junior_memory_memory", "content"),
    ("junior_memory_memory", "search_vector"),
    ("junior_memory_memoryembedding", "vector"),
    ("junior_memory_completedsession", "transcript"),
    ("junior_memory_completedsession", "extraction_cache"),
    ("junior_memory_memoryreport", "reason"),
)
"""Columns of which the planner may keep no sample: it would outlive an erasure."""

LOG_SETTINGS = (
    *QUIET_LOG,
    "log_statement",
    "log_min_duration_statement",
    "log_min_duration_sample",
    "log_transaction_sample_rate",
    "log_min_error_statement",
    "auto_explain.log_min_duration",
)
LOG_SQL = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"
PRINTS_STATEMENTS = {
    "log_statement": {"none", "ddl"},
    "log_min_duration_statement": {"-1"},
    "log_min_duration_sample": {"-1"},
    "log_transaction_sample_rate": {"0"},
}
"""Settings by which a server prints statements, and the values at which it does not."""


def database_answers(_now: datetime) -> Finding:
    """The database can be reached and answers."""
    remedy = "Check DATABASE_URL and that the server runs and accepts connections."
    try:
        connection.ensure_connection()
        _first("SELECT 1")
    except (Error, InterfaceError) as error:
        return fail("database", f"does not answer ({type(error).__name__})", remedy)
    embedded = getattr(connection, "embedded_directory", None)
    return ok("database", "embedded" if embedded else "a server of your own")


def server_is_new_enough(_now: datetime) -> Finding:
    """PostgreSQL, pgvector and the contrib extensions are there, in versions that do."""
    facts = read_facts("default")
    found = [message for message in judge(facts) if message.level >= ERROR]
    if found:
        return fail(
            "server",
            " ".join(message.msg for message in found),
            " ".join(str(message.hint) for message in found),
        )
    version = f"{facts.server // 10_000}.{facts.server % 10_000}"
    return ok("server", f"PostgreSQL {version}, pgvector {facts.extensions['vector']}")


def log_keeps_content_out(_now: datetime) -> Finding:
    """The server's own log prints no row, no parameter and no plan."""
    with connection.cursor() as cursor:
        cursor.execute(LOG_SQL, [list(LOG_SETTINGS)])
        return judge_log(dict(cursor.fetchall()))


def judge_log(log: Mapping[str, str]) -> Finding:
    """Say what a server's settings let into its log."""
    loud: dict[str, str] = {}
    prints = [name for name, quiet in PRINTS_STATEMENTS.items() if log.get(name, "-1") not in quiet]
    if log.get("log_error_verbosity") != "terse":
        loud["log_error_verbosity"] = "terse"
    if log.get("log_parameter_max_length_on_error") != "0":
        loud["log_parameter_max_length_on_error"] = "0"
    if log.get("log_parameter_max_length") != "0" and prints:
        loud["log_parameter_max_length"] = "0"
    if log.get("auto_explain.log_min_duration", "-1") != "-1":
        loud["auto_explain.log_min_duration"] = "-1"
    if loud:
        seen = ", ".join(f"{name} = {log.get(name, 'unknown')}" for name in loud)
        return fail("server log", f"may print what people wrote: {seen}", _alter(loud))
    nearly = {}
    if log.get("log_parameter_max_length") != "0":
        nearly["log_parameter_max_length"] = "0"
    if log.get("log_min_error_statement") not in {"panic", "fatal"}:
        nearly["log_min_error_statement"] = "panic"
    if nearly:
        seen = ", ".join(f"{name} = {log.get(name, 'unknown')}" for name in nearly)
        return warn("server log", f"one setting away from printing rows: {seen}", _alter(nearly))
    said = f" ({', '.join(prints)} print statements without values)" if prints else ""
    return ok("server log", f"holds no content{said}")


def _alter(wanted: Mapping[str, str]) -> str:
    changes = "; ".join(f"ALTER SYSTEM SET {name} = '{value}'" for name, value in wanted.items())
    return f"{changes}; SELECT pg_reload_conf(); and delete the logs written until now."


def connections_are_left(_now: datetime) -> Finding:
    """The server has connections to spare."""
    used, limit = _first(
        "SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),"
        " current_setting('max_connections')::int"
    )
    seen = f"{used} of {limit} in use"
    if used < limit * BUSY_SHARE:
        return ok("connections", seen)
    remedy = "Lower MEMORY_WEB_CONNECTIONS, run fewer processes, or raise max_connections."
    return warn("connections", seen, remedy)


def nothing_holds_the_log(_now: datetime) -> Finding:
    """No forgotten replication slot keeps the write-ahead log, and erased text with it."""
    (held,) = _first("SELECT count(*) FROM pg_replication_slots WHERE NOT active")
    (mode,) = _first("SELECT current_setting('archive_mode')")
    if held:
        return warn(
            "write-ahead log",
            f"{held} replication slots that nobody reads keep it from being recycled",
            "Drop them: SELECT pg_drop_replication_slot(slot_name).",
        )
    archived = mode != "off"
    return ok(
        "write-ahead log",
        "archived: erased text stays as long as the archive does" if archived else "recycled",
    )


def clocks_agree(_now: datetime) -> Finding:
    """This process and the database agree on the time."""
    before = clock.now()
    (theirs,) = _first("SELECT clock_timestamp()")
    middle = before + (clock.now() - before) / 2
    apart = abs(theirs - middle)
    seen = f"{apart.total_seconds():.1f} s apart from the database's"
    remedy = "Set both clocks by NTP: expiries, budgets and undo windows go by them."
    if apart > FAR_APART:
        return fail("clock", seen, remedy)
    return warn("clock", seen, remedy) if apart > APART else ok("clock", seen)


def migrations_are_applied(_now: datetime) -> Finding:
    """The tables are those of this release: not older, not newer."""
    executor = MigrationExecutor(connection)
    # Not the plan to the newest: that one says nothing of a gap before it.
    waiting = sorted(set(executor.loader.graph.nodes) - set(executor.loader.applied_migrations))
    if waiting:
        names = ", ".join(f"{label}.{name}" for label, name in waiting[:3])
        more = f" and {len(waiting) - 3} more" if len(waiting) > 3 else ""
        return fail("migrations", f"not applied: {names}{more}", "Run manage.py migrate.")
    known = set(executor.loader.disk_migrations or ())
    labels = {label for label, _ in known}
    newer = [
        f"{label}.{name}"
        for label, name in executor.loader.applied_migrations
        if label in labels and (label, name) not in known and not _was_squashed(executor, name)
    ]
    if newer:
        return warn(
            "migrations",
            f"the database is newer than this release: {', '.join(sorted(newer)[:3])}",
            "Deploy the newer release here too, or migrate back with it.",
        )
    return ok("migrations", "all applied")


def _was_squashed(executor: MigrationExecutor, name: str) -> bool:
    return any(
        name in {replaced for _, replaced in migration.replaces}
        for migration in executor.loader.replacements.values()
    )


# A column without a target of its own has the default one: NULL since PostgreSQL 17, -1 before.
TARGETS_SQL = """
    SELECT c.relname, a.attname, COALESCE(a.attstattarget, -1),
           EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = n.nspname
                   AND s.tablename = c.relname AND s.attname = a.attname)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = ANY(%s) AND pg_table_is_visible(c.oid)
"""


FORGET_SAMPLE = (
    "DELETE FROM pg_statistic WHERE starelid = '{0}'::regclass AND staattnum = (SELECT attnum"
    " FROM pg_attribute WHERE attrelid = '{0}'::regclass AND attname = '{1}');"
)


def planner_keeps_no_text(_now: datetime) -> Finding:
    """No sample of what people wrote stays in the planner's statistics."""
    with connection.cursor() as cursor:
        cursor.execute(TARGETS_SQL, [[table for table, _ in TEXT_COLUMNS]])
        columns = {(table, column): rest for table, column, *rest in cursor.fetchall()}
    found = {
        place: rest for place in TEXT_COLUMNS if (rest := columns.get(place)) and rest != [0, False]
    }
    if not found:
        return ok("statistics", "none of text columns")
    names = ", ".join(f"{table}.{column}" for table, column in found)
    # ANALYZE leaves what an earlier one sampled, once the column's target is 0.
    changes = [
        f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0;" for table, column in found
    ] + [FORGET_SAMPLE.format(*place) for place, (_, sampled) in found.items() if sampled]
    remedy = f"As the server's superuser: {' '.join(changes)}"
    return fail("statistics", f"samples of {names} may be kept", remedy)


def _first(sql: str) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        row: tuple[Any, ...] = cursor.fetchone()
        return row
