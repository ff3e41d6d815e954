"""No line of the log can carry content: neither ours, nor a library's, nor the database's."""

from __future__ import annotations

import logging
import sys
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from junior_memory.logs import ContentFreeFormatter
from junior_memory.models import Memory
from tests.cast import Cast
from tests.factories import make_memory

SENTINEL = "the marmalade cormorant"


def printed(message: str, *args: Any, exc_info: Any = None) -> str:
    """Return a line as the product prints it."""
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, message, args, exc_info)
    return ContentFreeFormatter().format(record)


def test_an_exception_leaves_its_class_and_nothing_of_its_text() -> None:
    try:
        raise ValueError(SENTINEL)
    except ValueError as error:
        line = printed("it broke: %s", error, exc_info=sys.exc_info())
    assert SENTINEL not in line
    assert "ValueError" in line


def test_a_chain_of_exceptions_leaves_nothing_of_its_text() -> None:
    try:
        try:
            raise KeyError(SENTINEL)
        except KeyError as cause:
            raise RuntimeError(SENTINEL) from cause
    except RuntimeError:
        line = printed("it broke", exc_info=sys.exc_info())
    assert SENTINEL not in line
    assert line.endswith("[RuntimeError]")


def test_a_value_cannot_forge_a_line() -> None:
    line = printed("named %s", "x\n2026-01-01 ERROR root all is lost\r\n")
    assert "\n" not in line
    assert "\r" not in line


def test_the_database_s_own_words_about_a_row_are_kept_back(cast: Cast) -> None:
    """PostgreSQL's DETAIL repeats the row that breaks a constraint."""
    memory = make_memory(content=f"Keeps {SENTINEL}.", owner=cast.alice)
    with pytest.raises(DatabaseError) as failed, transaction.atomic():
        Memory.objects.filter(pk=memory.pk).update(owner=None)
    assert SENTINEL not in str(failed.value)
    assert SENTINEL not in printed("failed: %s", failed.value, exc_info=failed._excinfo)


def test_statements_and_bodies_of_libraries_stay_unprinted_at_every_level(
    cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    """What Django, psycopg and the HTTP clients print at DEBUG is capped by the settings."""
    caplog.set_level(logging.DEBUG)
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::text", [SENTINEL])
    make_memory(content=f"Keeps {SENTINEL}.", owner=cast.alice)
    assert SENTINEL not in caplog.text
    capped: Any = settings.LOGGING["loggers"]
    for name in ("django.db.backends", "psycopg", "openai", "httpx", "httpcore", "procrastinate"):
        assert capped[name]["level"] == "WARNING"
