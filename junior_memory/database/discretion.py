"""Database errors and query logs without the values they are about.

PostgreSQL's errors quote the row (`DETAIL: Key (content)=(…)`) and often the value (`invalid input
syntax for type uuid: "…"`), and Django's query log lists the parameters. Whoever logs, prints or
shows one of them would publish a memory. Here an error keeps its class, its SQLSTATE and the names
of the table, column and constraint; a statement keeps its placeholders.
"""

import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import psycopg
from django.db.backends.utils import CursorDebugWrapper
from django.db.utils import DatabaseErrorWrapper
from psycopg.pq import DiagnosticField

# SQLSTATE classes whose primary message names objects and states, never a value: connection,
# unsupported, transaction state, authorization, missing catalog, rollback, access rule or missing
# object, resources, limits, prerequisites, intervention, system.
OPEN_CLASSES = frozenset({"08", "0A", "25", "28", "3D", "40", "42", "53", "54", "55", "57", "58"})
# A tsquery or jsonpath that does not parse is a syntax error too, and is quoted whole.
STATEMENT_SYNTAX = re.compile(r'syntax error at (?:or near "[^"]*"|end of input)')
# The queue reads the name of a taken lock out of the detail; its rows hold ids, not content.
QUEUE_TABLES = "procrastinate_"


def describe(error: psycopg.Error) -> str:
    """Say what went wrong without a value: class, SQLSTATE and the names that it concerns."""
    diagnosis = error.diag
    state = diagnosis.sqlstate or error.sqlstate
    if state is None:
        # Not from the server's handling of a statement: connecting, or psycopg's own usage errors.
        return str(error).partition("\nDETAIL:")[0]
    message = diagnosis.message_primary or ""
    if state == "42601":
        shown = STATEMENT_SYNTAX.fullmatch(message) is not None
    else:
        shown = state[:2] in OPEN_CLASSES
    names = (
        ("table", diagnosis.table_name),
        ("column", diagnosis.column_name),
        ("constraint", diagnosis.constraint_name),
        ("type", diagnosis.datatype_name),
    )
    concerned = ", ".join(f"{label} {name}" for label, name in names if name)
    text = message if shown and message else type(error).__name__
    return f"{text} [{state}{': ' if concerned else ''}{concerned}]"


def withhold_values(error: psycopg.Error) -> None:
    """Reduce an error, in place, to what `describe` says; `error.diag` keeps the names."""
    description = describe(error)
    diagnosis = error.diag
    error.args = (description,)
    if diagnosis.sqlstate is None or (diagnosis.table_name or "").startswith(QUEUE_TABLES):
        return
    kept = {
        DiagnosticField.SEVERITY: diagnosis.severity,
        DiagnosticField.SQLSTATE: diagnosis.sqlstate,
        DiagnosticField.MESSAGE_PRIMARY: description,
        DiagnosticField.SCHEMA_NAME: diagnosis.schema_name,
        DiagnosticField.TABLE_NAME: diagnosis.table_name,
        DiagnosticField.COLUMN_NAME: diagnosis.column_name,
        DiagnosticField.DATATYPE_NAME: diagnosis.datatype_name,
        DiagnosticField.CONSTRAINT_NAME: diagnosis.constraint_name,
    }
    # What psycopg itself puts here when an error is pickled.
    error._info = {int(field): text.encode() for field, text in kept.items() if text is not None}
    error._encoding = "utf-8"


def _chain(error: BaseException | None) -> Iterator[psycopg.Error]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, psycopg.Error):
            yield error
        error = error.__cause__ or error.__context__


class DiscreetErrors(DatabaseErrorWrapper):
    """Django's translation of driver errors, after their values are withheld."""

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for error in _chain(exc_value):
            withhold_values(error)
        super().__exit__(exc_type, exc_value, traceback)


class DiscreetDebugCursor(CursorDebugWrapper):
    """Django's recording cursor; it keeps and logs statements without their parameters."""

    def debug_sql(
        self,
        sql: Any = None,
        params: Any = None,  # noqa: ARG002 - this is what is left out
        use_last_executed_query: bool = False,
        many: bool = False,
    ) -> Any:
        """As Django's, told of no parameters."""
        return super().debug_sql(
            sql, None, use_last_executed_query=use_last_executed_query, many=many
        )
