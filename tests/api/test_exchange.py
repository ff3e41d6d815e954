"""GET /export, POST /import."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse

from junior_memory.models import AuditEntry, Memory
from tests.api.conftest import BASE, Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_memory


def export(caller: Caller) -> bytes:
    response = caller.get("export")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert response.headers["Cache-Control"] == "no-store"
    assert isinstance(response, StreamingHttpResponse)
    return b"".join(response.streaming_content)


def put_in(caller: Caller, body: bytes, kind: str = "application/x-ndjson") -> HttpResponse:
    return caller.client.generic(  # type: ignore[return-value]
        "POST", f"{BASE}/import", body, content_type=kind, headers=caller.headers
    )


def whole(*records: dict[str, Any]) -> bytes:
    """Return a file with a closing line that fits."""
    lines = [json.dumps(record) + "\n" for record in records]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    closing = json.dumps({"type": "end", "lines": len(lines), "sha256": digest})
    return ("".join(lines) + closing + "\n").encode()


def memory(content: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "memory",
        "content": content,
        "kind": "knowledge",
        "state": "active",
        "agent": "default",
        **fields,
    }


def test_an_export_holds_everything_about_its_person_and_nothing_of_others(
    alice: Caller, cast: Cast
) -> None:
    make_memory(owner=cast.alice, content="Likes tea.")
    gone = make_memory(owner=cast.alice, content="Likes milk.")
    alice.delete(f"memories/{gone.pk}")
    make_memory(owner=cast.bob, content="Bob's secret.")
    body = export(alice)
    lines = body.decode().splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    states = {r["content"]: r["state"] for r in records if r["type"] == "memory"}
    assert states == {"Likes tea.": "active", "Likes milk.": "forgotten"}
    assert b"Bob" not in body
    closing = records[-1]
    assert closing["type"] == "end"
    assert closing["sha256"] == hashlib.sha256("".join(lines[:-1]).encode()).hexdigest()
    assert AuditEntry.objects.filter(action="exported", person=cast.alice).count() == 1


def test_asking_for_the_headers_of_an_export_reads_nothing(alice: Caller, cast: Cast) -> None:
    response = alice.call("HEAD", "export")
    assert isinstance(response, StreamingHttpResponse)
    assert (response.status_code, b"".join(response.streaming_content)) == (200, b"")
    assert "Content-Length" not in response.headers
    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert not AuditEntry.objects.filter(action="exported").exists()


def test_an_import_is_private_with_new_ids_and_twice_changes_nothing(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    make_memory(owner=cast.alice, content="Likes tea.")
    make_memory(owner=cast.alice, content="Roof opens.", visibility="public")
    body = export(alice)
    first = json_of(put_in(bob, body))
    assert (first["imported"], first["existing"], first["blocked"]) == (2, 0, 0)
    again = json_of(put_in(bob, body))
    assert (again["imported"], again["existing"]) == (0, 2)
    mine = Memory.objects.filter(owner=cast.bob)
    assert {(m.visibility, m.origin) for m in mine} == {("private", "import")}
    assert not set(mine.values_list("pk")) & set(
        Memory.objects.filter(owner=cast.alice).values_list("pk")
    )


def test_what_was_forgotten_is_not_imported_and_refusals_name_their_line(
    alice: Caller, cast: Cast
) -> None:
    gone = make_memory(owner=cast.alice, content="Likes milk.", kind="knowledge")
    alice.delete(f"memories/{gone.pk}")
    key = "AKIA" + "Q3EGRJ7XW2KPLM5N"
    body = whole(
        {"type": "header"},
        memory("Likes milk."),
        memory(f"Key {key}"),
        memory("Old.", state="forgotten"),
        memory("x", kind="gossip"),
        memory("Likes tea."),
    )
    result = json_of(put_in(alice, body))
    assert (result["imported"], result["blocked"]) == (1, 1)
    assert {one["line"] for one in result["refused"]} == {3, 5}


def test_a_damaged_or_foreign_file_is_refused_whole(alice: Caller, cast: Cast) -> None:
    good = whole(memory("Likes tea."))
    for body in (
        b"\n",
        b"hello",
        good.replace(b"tea", b"gin"),
        good.rpartition(b'{"type": "end"')[0],
        b"\xff\xfe" + good,
        b"[1, 2]",
    ):
        assert_fails(put_in(alice, body), 422)
    assert_fails(put_in(alice, good, "application/json"), 415)
    assert_fails(put_in(alice, good, "text/plain"), 415)
    assert not Memory.objects.exists()


def test_an_import_over_its_limit_is_413(alice: Caller) -> None:
    assert_fails(put_in(alice, b"x" * (50 * 1024 * 1024 + 1)), 413)


def test_export_and_import_take_their_own_methods(alice: Caller, host: Caller) -> None:
    assert_fails(alice.post("export"), 405)
    assert_fails(alice.get("import"), 405)
    assert_fails(host.get("export"), 403)
    assert_fails(put_in(host, whole()), 403)
