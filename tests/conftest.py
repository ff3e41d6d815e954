"""Fixtures for every test: real PostgreSQL, no network, a clock of one's own."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.models.signals import post_save

from junior_memory import vector_index
from junior_memory.conf import conf
from junior_memory.logs import ContentFreeFormatter
from junior_memory.models import CompletedSession, Memory
from junior_memory.providers import chat_model_in_use
from junior_memory.providers.fake import FakeChatModel
from tests.cast import Cast, make_cast

TELLING = 10
"""Characters from which a stored text is looked for in the log; shorter ones are words."""

LOOPBACK = {"127.0.0.1", "::1", "localhost", None, ""}


def pytest_configure() -> None:
    """Let an interrupt reach the processes that tests start, also when a script runs them.

    A shell without a terminal starts what it puts into the background deaf to it, and so are all
    that come from there: a test that interrupts one would wait for ever. Importing the web
    application keeps codes of vectors loaded beside it: not in the middle of a test.
    """
    vector_index.EVERY_SECONDS = 86_400
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _test_settings() -> None:
    """Hash passwords fast, and embed nothing unless a test asks for it, whatever `.env` says.

    What a busy machine keeps waiting is not late: tests of deadlines name their own.
    """
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.JUNIOR_MEMORY["embedder"] = "none"
    settings.JUNIOR_MEMORY["ai_model"] = ""
    settings.JUNIOR_MEMORY["retrieve_timeout_ms"] = 10_000
    conf.cache_clear()


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Give every run a database of its own, so that two runs never meet."""
    connection.settings_dict["TEST"]["NAME"] = f"test_junior_memory_{os.getpid()}"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Hang up on whoever is still connected, so that the run's database can be dropped.

    Asked from beside it, as the last test may have cut the run's own connection, and closed to
    everybody first: threads that outlive a test come back by themselves.
    """
    yield
    name = connection.settings_dict["NAME"]
    with django_db_blocker.unblock():
        connection.close()
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s",
                [name],
            )


@pytest.fixture(autouse=True)
def _fresh_queue(request: pytest.FixtureRequest, django_db_blocker: Any) -> Iterator[None]:
    """Empty the queue's own tables after a test that committed: Django's flush leaves them."""
    yield
    marker = request.node.get_closest_marker("django_db")
    committed = bool(marker and marker.kwargs.get("transaction"))
    if committed or {"transactional_db", "live_server"} & set(request.fixturenames):
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute("TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE")


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Refuse connections to anywhere but this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in LOOPBACK:
            raise AssertionError("a test reached for the network")
        connect(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded)
    yield
    patch.undo()


class _Overheard(logging.Handler):
    """Keeps every line as the product would print it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(ContentFreeFormatter())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(autouse=True)
def _no_content_in_the_log() -> Iterator[None]:
    """Whatever a test stores, no line at any level repeats it (DESIGN promise 10)."""
    told: set[str] = set()

    def listen(sender: type[Any], instance: Any, **_: Any) -> None:
        if sender is Memory:
            told.add(instance.content)
        elif sender is CompletedSession:
            told.update(str(entry.get("text")) for entry in instance.transcript or [])

    heard = _Overheard()
    loggers = [logging.getLogger(), logging.getLogger("junior_memory")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    logging.getLogger("factory").setLevel(logging.WARNING)
    loggers[0].addHandler(heard)
    post_save.connect(listen)
    yield
    post_save.disconnect(listen)
    loggers[0].removeHandler(heard)
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)
    known = [text for text in told if len(text) >= TELLING]
    leaked = [line for line in heard.lines if any(text in line for text in known)]
    assert not leaked, f"content in the log: {leaked[0]}"


@pytest.fixture
def now() -> datetime:
    """Return one fixed moment; pass it wherever a clock is an argument."""
    return datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def chat_model(settings: Any) -> FakeChatModel:
    """Configure a chat model and return it, for the test to write its script."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"ai_model": "fake:scripted"}
    model = chat_model_in_use()
    assert isinstance(model, FakeChatModel)
    model.script, model.asked, model.delay_seconds = ["{}"], [], 0
    return model


@pytest.fixture
def cast(db: None) -> Cast:
    """Return the people of the tests; see `cast.py`."""
    return make_cast()
