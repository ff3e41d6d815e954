"""System checks of the database: its version, its extensions, and whether it answers at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections
from django.db.utils import Error as DatabaseError

MIN_SERVER = 15
MIN_VECTOR = (0, 8)
CONTRIB = ("pg_trgm", "btree_gin", "unaccent")

# What the server offers and what this database has: an installed extension may be older than the
# one on the server's disk, until ALTER EXTENSION … UPDATE.
EXTENSIONS_SQL = """
    SELECT name, COALESCE(installed_version, default_version)
    FROM pg_available_extensions WHERE name = ANY(%s)
"""


# With these, what people wrote stays out of the server's log: parameters of failed statements,
# the row in an error's DETAIL. The embedded server is started with them.
QUIET_LOG = {
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
LOG_SQL = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"


@dataclass(frozen=True)
class Facts:
    """What a server said about itself: `server` as 180006, extensions by name with version."""

    server: int
    extensions: Mapping[str, str]
    log: Mapping[str, str]


def read_facts(alias: str) -> Facts:
    """Ask the server of a connection; raises Django's database errors."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int")
        server = cursor.fetchone()[0]
        cursor.execute(EXTENSIONS_SQL, [["vector", *CONTRIB]])
        extensions = dict(cursor.fetchall())
        cursor.execute(LOG_SQL, [list(QUIET_LOG)])
        return Facts(server=server, extensions=extensions, log=dict(cursor.fetchall()))


def judge(facts: Facts) -> list[CheckMessage]:
    """Name everything that this server lacks for Junior Memory."""
    found: list[CheckMessage] = []
    if facts.server < MIN_SERVER * 10_000:
        found.append(
            Error(
                f"PostgreSQL {facts.server // 10_000} is too old: {MIN_SERVER} or newer is needed.",
                hint="Upgrade the server, or unset DATABASE_URL to use the embedded one.",
                id="junior_memory.E010",
            )
        )
    vector = facts.extensions.get("vector")
    if vector is None:
        found.append(
            Error(
                "The extension pgvector is not available on this PostgreSQL.",
                hint="Install pgvector 0.8 or newer on the server (postgresql-NN-pgvector).",
                id="junior_memory.E011",
            )
        )
    elif _version(vector) < MIN_VECTOR:
        found.append(
            Error(
                f"pgvector {vector} is too old: 0.8 or newer is needed.",
                hint="Install a newer pgvector on the server, then: ALTER EXTENSION vector UPDATE;",
                id="junior_memory.E012",
            )
        )
    missing = [name for name in CONTRIB if name not in facts.extensions]
    if missing:
        found.append(
            Error(
                f"These PostgreSQL extensions are not available: {', '.join(missing)}.",
                hint="Install the server's contrib package (Debian: postgresql-contrib).",
                id="junior_memory.E013",
            )
        )
    loud = [name for name, quiet in QUIET_LOG.items() if facts.log.get(name) != quiet]
    if loud:
        found.append(
            Warning(
                f"This server's log may show what people wrote: {', '.join(loud)}.",
                hint="; ".join(f"ALTER SYSTEM SET {name} = '{QUIET_LOG[name]}'" for name in loud)
                + "; SELECT pg_reload_conf();",
                id="junior_memory.W015",
            )
        )
    return found


@register(Tags.database)
def check_database(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Check each database that Django asks about (`check --database default`, `migrate`)."""
    found: list[CheckMessage] = []
    for alias in databases or ():
        try:
            facts = read_facts(alias)
        except DatabaseError as error:
            found.append(
                Error(
                    f"The database does not answer: {_one_line(error)}",
                    hint="Check DATABASE_URL and that the server accepts connections.",
                    id="junior_memory.E014",
                )
            )
        else:
            found += judge(facts)
    return found


def _version(text: str) -> tuple[int, ...]:
    """Read "0.8.6" as (0, 8, 6); what is not a number counts as 0."""
    return tuple(int(part) if part.isdecimal() else 0 for part in text.split("."))


def _one_line(error: DatabaseError) -> str:
    """An error's text on one line, or its class; no traceback, no credentials."""
    return " ".join(str(error).split()) or type(error).__name__
