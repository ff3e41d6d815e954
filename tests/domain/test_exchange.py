"""An import is somebody else's file: each line is taken or refused, and none spoils the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from junior_memory import access, errors, exchange
from junior_memory.models import Memory
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory


def memory(content: object = "Prefers tea.", **fields: Any) -> dict[str, Any]:
    return {
        "type": "memory",
        "state": "active",
        "kind": "preference",
        "content": content,
        "agent": "default",
        "subject": "user",
        **fields,
    }


def closed(*lines: str) -> list[str]:
    digest = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
    return [*lines, json.dumps({"type": "end", "lines": len(lines), "sha256": digest})]


def take(cast: Cast, *lines: str, now: datetime | None = None) -> exchange.Imported:
    viewer = access.person(cast.alice)
    return exchange.import_lines(viewer, closed(*lines), doer=BY_TEST, now=now)


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(memory(observedAt="9999-12-31T23:59:59-14:00")),
        json.dumps(memory(expiresAt="9999-12-31T23:59:59-14:00")),
        json.dumps(memory(expiresAt="0001-01-01T00:00:00+14:00")),
        json.dumps(memory(expiresAt="tomorrow")),
        json.dumps(memory(observedAt="2026-01-01T00:00:00")),
        json.dumps(memory(["Prefers", "tea"])),
        json.dumps(memory(kind="gossip")),
        json.dumps(memory("")),
        json.dumps(memory("\u200b")),
        json.dumps(memory(subject="conversation", conversationId="c\u0000")),
        json.dumps(memory(subject="conversation", conversationId="c" * 256)),
        json.dumps(["not", "an", "object"]),
        '{"type": "memory", "content": ' + "[" * 100_000,
        "{",
    ],
    ids=range(14),
)
def test_line_that_cannot_be_kept_is_refused_and_the_others_are_not(cast: Cast, line: str) -> None:
    outcome = take(cast, line, json.dumps(memory("Likes herons.")))
    assert outcome.imported == 1
    assert [one.line for one in outcome.refused or []] == [1]
    assert Memory.objects.get().content == "Likes herons."
    list(exchange.export_lines(cast.alice, doer=BY_TEST))


def test_moments_to_come_are_clamped(cast: Cast, now: datetime) -> None:
    take(cast, json.dumps(memory(observedAt="2999-12-31T00:00:00Z")), now=now)
    assert Memory.objects.get().observed_at == now


@pytest.mark.parametrize("last", ["[" * 100_000, "{", "{}", "[]", json.dumps(memory())])
def test_file_without_its_closing_line_is_refused_whole(cast: Cast, last: str) -> None:
    with pytest.raises(errors.InvalidInput):
        exchange.import_lines(access.person(cast.alice), [json.dumps(memory()), last], doer=BY_TEST)
    assert not Memory.objects.exists()


def test_damaged_file_is_refused_whole(cast: Cast) -> None:
    lines = closed(json.dumps(memory()))
    lines[0] = lines[0].replace("tea", "pea")
    with pytest.raises(errors.InvalidInput):
        exchange.import_lines(access.person(cast.alice), lines, doer=BY_TEST)


def test_own_export_comes_home_without_a_twin(cast: Cast, now: datetime) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.", now=now - timedelta(days=1))
    make_memory(
        owner=cast.alice,
        content="Deploys on Mondays.",
        kind="knowledge",
        conversation_id="c1",
        subject_type="conversation",
        subject_key="c1",
        now=now - timedelta(days=1),
    )
    lines = list(exchange.export_lines(cast.alice, doer=BY_TEST, now=now))
    home = exchange.import_lines(access.person(cast.alice), lines, doer=BY_TEST, now=now)
    assert (home.imported, home.existing) == (0, 2)
    away = exchange.import_lines(access.person(cast.bob), lines, doer=BY_TEST, now=now)
    assert (away.imported, away.existing) == (2, 0)
    again = exchange.import_lines(access.person(cast.bob), lines, doer=BY_TEST, now=now)
    assert (again.imported, again.existing) == (0, 2)


@pytest.mark.django_db(transaction=True)
def test_an_export_that_is_taken_slowly_holds_no_connection(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else everybody who takes theirs slowly would take a connection from all others."""
    monkeypatch.setattr(exchange, "CHUNK", 3)
    wanted = [make_memory(owner=cast.alice, content=f"Likes island {n}.").content for n in range(8)]
    lent: list[bool] = []
    monkeypatch.setattr(exchange, "lend_connection", lambda: lent.append(True))
    got = []
    for line in exchange.export_lines(cast.alice, doer=BY_TEST):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_cursors WHERE name <> ''")
            assert cursor.fetchone() == (0,)
        connection.close()
        got.append(json.loads(line))
    assert [one["content"] for one in got if one["type"] == "memory"] == wanted
    assert got[-1]["lines"] == len(got) - 1
    assert len(lent) >= 9


@pytest.mark.django_db
def test_an_export_reads_every_row_once_also_those_of_one_moment(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "CHUNK", 2)
    ids = {str(make_memory(owner=cast.alice, content=f"Fact {n}.", now=now).pk) for n in range(7)}
    lines = [json.loads(line) for line in exchange.export_lines(cast.alice, doer=BY_TEST)]
    told = [one["id"] for one in lines if one["type"] == "memory"]
    assert (len(told), set(told)) == (7, ids)


def test_a_persons_imports_take_turns_and_a_process_takes_few_at_once(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may take minutes, and with them a connection that everybody else wants."""
    begun: list[str] = []

    def lines() -> Iterator[str]:
        with pytest.raises(errors.RateLimited):
            take(cast, json.dumps(memory()))
        monkeypatch.setattr(exchange, "IMPORTS_AT_ONCE", 1)
        with pytest.raises(errors.RateLimited):
            exchange.import_lines(access.person(cast.bob), closed(), doer=BY_TEST)
        begun.append("was refused twice")
        yield from closed(json.dumps(memory()))

    done = exchange.import_lines(access.person(cast.alice), lines(), doer=BY_TEST)
    assert (begun, done.imported) == (["was refused twice"], 1)
    assert take(cast, json.dumps(memory())).existing == 1
