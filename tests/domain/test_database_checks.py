"""What the system check says about a PostgreSQL, from its answers and from real servers."""

from pathlib import Path

import pytest
from django.core.checks import Tags, registry
from django.db import connections
from pytest_django import DjangoDbBlocker

from junior_memory.checks_database import (
    QUIET_LOG,
    Facts,
    check_database,
    judge,
    read_facts,
)

EXTENSIONS = {"vector": "0.8.0", "pg_trgm": "1.6", "btree_gin": "1.3", "unaccent": "1.1"}


def facts(
    *,
    server: int = 150_004,
    without: tuple[str, ...] = (),
    vector: str = "0.8.0",
    **log: str,
) -> Facts:
    extensions = {**EXTENSIONS, "vector": vector}
    return Facts(
        server=server,
        extensions={name: have for name, have in extensions.items() if name not in without},
        log={**QUIET_LOG, **log},
    )


@pytest.mark.parametrize(
    ("answers", "ids", "words"),
    [
        (facts(), [], ""),
        (facts(server=180_006, vector="0.10.0"), [], ""),
        (facts(server=140_019), ["junior_memory.E010"], "PostgreSQL 14 is too old"),
        (facts(without=("vector",)), ["junior_memory.E011"], "pgvector is not available"),
        (facts(vector="0.7.4"), ["junior_memory.E012"], "pgvector 0.7.4 is too old"),
        (
            facts(without=("pg_trgm", "unaccent")),
            ["junior_memory.E013"],
            "pg_trgm, unaccent",
        ),
        (facts(log_error_verbosity="default"), ["junior_memory.W015"], "log_error_verbosity"),
    ],
)
def test_check_names_what_a_server_lacks(answers: Facts, ids: list[str], words: str) -> None:
    found = judge(answers)
    assert [message.id for message in found] == ids
    assert words in "".join(message.msg for message in found)
    assert all(message.hint for message in found)


def test_check_names_everything_at_once() -> None:
    found = judge(facts(server=130_000, without=tuple(EXTENSIONS)))
    assert [message.id for message in found] == [f"junior_memory.E01{n}" for n in (0, 1, 3)]


@pytest.mark.django_db
def test_database_in_use_passes() -> None:
    assert read_facts("default").server >= 150_000
    assert [found for found in check_database(databases=["default"]) if found.is_serious()] == []


def test_no_database_is_asked_unless_django_says_so() -> None:
    assert check_database(databases=None) == []


def test_check_runs_among_the_database_checks() -> None:
    assert check_database in registry.registry.registered_checks
    assert Tags.database in check_database.tags


def test_unreachable_database_is_one_line_without_credentials(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> None:
    connections.settings["elsewhere"] = {
        **connections["default"].settings_dict,
        "EMBEDDED_DIR": "",
        "HOST": str(tmp_path),
        "USER": "me",
        "PASSWORD": "hunter2",
    }
    try:
        with django_db_blocker.unblock():
            (found,) = check_database(databases=["elsewhere"])
    finally:
        del connections["elsewhere"]
        del connections.settings["elsewhere"]
    assert found.id == "junior_memory.E014"
    assert "\n" not in found.msg
    assert "hunter2" not in f"{found.msg}{found.hint}"
