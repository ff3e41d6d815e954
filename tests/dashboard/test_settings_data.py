"""/settings: everything held about a person: out, in, and gone."""

from __future__ import annotations

import asyncio
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.http import StreamingHttpResponse
from django.test import AsyncClient, Client
from django.utils import timezone

from junior_memory import forgetting, people
from junior_memory.access import person
from junior_memory.models import AuditEntry, ForgetBatch, Memory, User
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, text
from tests.factories import BY_TEST, make_memory

SENTENCE = {"confirm": "forget everything"}


def active_of(user: User) -> list[str]:
    """Return the texts a person owns."""
    rows = Memory.objects.own(person(user)).active(timezone.now())
    return sorted(rows.values_list("content", flat=True))


def exported(client: Client) -> bytes:
    """Return the file that a person downloads."""
    response = client.get("/settings/export")
    assert isinstance(response, StreamingHttpResponse)
    return b"".join(response)


def upload(data: bytes) -> dict[str, SimpleUploadedFile]:
    """Return a form with a file."""
    return {"file": SimpleUploadedFile("export.ndjson", data)}


def test_the_export_holds_what_is_held_and_says_whether_it_is_whole(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.")
    gone = make_memory(owner=cast.alice, content="Lives in Utrecht.")
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST)
    make_memory(owner=cast.bob, content="Prefers coffee.")
    response = alice_client.get("/settings/export")
    assert response["content-type"].startswith("application/x-ndjson")
    assert response["content-disposition"].startswith('attachment; filename="junior-memory-')
    assert "no-store" in response["cache-control"]
    *lines, closing = exported(alice_client).splitlines(keepends=True)
    records = [json.loads(line) for line in lines]
    states = {row["content"]: row["state"] for row in records if row["type"] == "memory"}
    assert states == {"Prefers tea.": "active", "Lives in Utrecht.": "forgotten"}
    assert json.loads(closing)["sha256"] == hashlib.sha256(b"".join(lines)).hexdigest()
    assert AuditEntry.objects.filter(action="exported", person=cast.alice, via="page").exists()


@pytest.mark.django_db(transaction=True)
def test_the_export_streams_line_by_line_on_an_asynchronous_server(cast: Cast) -> None:
    for number in range(3):
        make_memory(owner=cast.alice, content=f"Likes island number {number}.")
    client = AsyncClient()
    client.force_login(cast.alice)

    async def download() -> list[bytes]:
        response: Any = await client.get("/settings/export")
        assert response.is_async
        found = [part async for part in response.streaming_content]
        await sync_to_async(connections.close_all)()
        return found

    # In a thread of its own: the browser tests leave a running loop in this one.
    with ThreadPoolExecutor(max_workers=1) as elsewhere:
        parts = elsewhere.submit(asyncio.run, download()).result(timeout=30)
    assert len(parts) > 5
    assert json.loads(parts[-1])["type"] == "end"


def test_an_import_brings_an_export_in_once(
    cast: Cast, alice_client: Client, charlie_client: Client
) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.")
    data = exported(alice_client)
    first = charlie_client.post("/settings/import", upload(data))
    assert first.status_code == 200
    assert "<b>1</b> imported" in text(first)
    assert active_of(cast.charlie) == ["Prefers tea."]
    second = charlie_client.post("/settings/import", upload(data), headers=HTMX)
    assert "<b>0</b> imported, <b>1</b> remembered already" in text(second)
    assert text(second).lstrip().startswith('<section class="setting" id="data"')
    assert active_of(cast.charlie) == ["Prefers tea."]


def test_an_import_says_which_lines_it_refused_and_nothing_of_them(alice_client: Client) -> None:
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    line = {"type": "memory", "state": "active", "kind": "knowledge", "content": f"Key {key}"}
    body = (json.dumps(line) + "\n").encode()
    end = {"type": "end", "lines": 1, "sha256": hashlib.sha256(body).hexdigest()}
    page = text(alice_client.post("/settings/import", upload(body + json.dumps(end).encode())))
    assert "<b>1</b> refused" in page
    assert "Line 1" in page
    assert "looks like a password, key or token" in page
    assert key not in page


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{", b"\xff\xfe{}", b'{"type":"memory"}\n', b"[]", b'{"type":"end"}']
)
def test_a_damaged_file_imports_nothing(cast: Cast, alice_client: Client, data: bytes) -> None:
    response = alice_client.post("/settings/import", upload(data))
    assert response.status_code == 422
    assert 'id="import_file_error"' in text(response)
    assert active_of(cast.alice) == []


def test_no_file_is_a_mistake_and_no_crash(alice_client: Client) -> None:
    assert alice_client.post("/settings/import").status_code == 422


def test_forgetting_everything_takes_what_is_ones_own_and_undo_brings_it_back(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.")
    make_memory(owner=cast.alice, visibility="org", org=cast.org, content="Standup is at nine.")
    make_memory(owner=cast.bob, visibility="org", org=cast.org, content="Retro is on Friday.")
    make_memory(owner=cast.alice, visibility="public", content="The office is closed on Sundays.")
    page = text(alice_client.get("/settings"))
    assert "This would forget <b>2</b> memories." in page
    response = alice_client.post("/settings/forget-everything", SENTENCE)
    assert response["location"] == "/settings#forget"
    assert active_of(cast.alice) == []
    assert active_of(cast.bob) == ["Retro is on Friday."]
    page = text(alice_client.get("/settings"))
    assert "Forgot everything: 2 memories." in page
    batch = ForgetBatch.objects.get(user=cast.alice)
    undo = f"/forget-batches/{batch.pk}/restore"
    assert page.count(f'action="{undo}"') == 2
    alice_client.post(undo, {"next": "/settings"})
    assert active_of(cast.alice) == ["Prefers tea.", "Standup is at nine."]
    assert undo not in text(alice_client.get("/settings"))


@pytest.mark.parametrize("typed", ["", "forget", "forget everything!", "yes", "delete everything"])
def test_anything_but_the_sentence_forgets_nothing(
    cast: Cast, alice_client: Client, typed: str
) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.")
    response = alice_client.post("/settings/forget-everything", {"confirm": typed})
    assert response.status_code == 422
    assert "Nothing was forgotten." in text(response)
    assert active_of(cast.alice) == ["Prefers tea."]
    assert not ForgetBatch.objects.exists()


def test_the_sentence_counts_whatever_its_case(cast: Cast, alice_client: Client) -> None:
    make_memory(owner=cast.alice)
    typed = {"confirm": " Forget   EVERYTHING "}
    assert alice_client.post("/settings/forget-everything", typed).status_code == 302
    assert active_of(cast.alice) == []


def test_forgetting_one_agents_memories_leaves_the_others(cast: Cast, alice_client: Client) -> None:
    other, _ = people.agent_named("helper")
    make_memory(owner=cast.alice, content="Prefers tea.")
    make_memory(owner=cast.alice, content="Prefers mail.", agent=other)
    alice_client.post("/settings/forget-everything", SENTENCE | {"agent": "helper"})
    assert active_of(cast.alice) == ["Prefers tea."]


def test_an_unknown_agent_never_means_all(cast: Cast, alice_client: Client) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.")
    data = SENTENCE | {"agent": "nobody"}
    assert alice_client.post("/settings/forget-everything", data).status_code == 422
    assert active_of(cast.alice) == ["Prefers tea."]


def test_forgetting_everything_twice_says_that_there_was_nothing(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(owner=cast.alice)
    for _ in range(2):
        assert alice_client.post("/settings/forget-everything", SENTENCE).status_code == 302
    page = text(alice_client.get("/settings"))
    assert "There is nothing of yours to forget." in page
    assert "Forgot everything: 0 memories." in page


def test_forgetting_everything_works_for_htmx_too(cast: Cast, alice_client: Client) -> None:
    make_memory(owner=cast.alice)
    response = alice_client.post("/settings/forget-everything", SENTENCE, headers=HTMX)
    assert response["hx-refresh"] == "true"
    wrong: Any = alice_client.post("/settings/forget-everything", headers=HTMX)
    assert wrong.status_code == 422
    assert text(wrong).lstrip().startswith('<section class="setting" id="forget"')


def test_everything_held_is_on_one_page_to_print_and_nothing_of_others(
    cast: Cast, alice_client: Client
) -> None:
    make_memory(owner=cast.alice, content="Keeps bees.")
    gone = make_memory(owner=cast.alice, content="Rows on Sundays.")
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST)
    about: Any = {"subject_type": "user", "subject_key": str(cast.alice.pk)}
    make_memory(content="Alice leads the choir.", visibility="public", **about)
    make_memory(content="The office has a garden.", visibility="public")
    make_memory(owner=cast.bob, content="Has a red canoe.")
    page = text(alice_client.get("/settings/paper"))
    assert "3 memories of alice@example.com" in page
    remembered, forgotten = page.split("Forgotten, not erased yet")
    assert "Keeps bees." in remembered
    assert "Alice leads the choir." in remembered
    assert "Rows on Sundays." in forgotten
    for other in ("garden", "canoe"):
        assert other not in page, "leaked"
    assert Client().get("/settings/paper").status_code == 302
