"""Texts that nobody writes, in every place of the interface that takes one: answered, no fault."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from junior_memory import sessions
from junior_memory.models import CompletedSession
from junior_memory.prompt_block import MAX_BLOCK
from tests import tally
from tests.api.bodies import ALICE, question, said, session, source
from tests.api.conftest import Caller, json_of
from tests.cast import Cast
from tests.factories import make_agent_token, make_memory, make_personal_token
from tests.made_up import sealed, short, some, texts, values

PATIENT = {"deadlineMs": 10_000}
TAKEN = {200, 201, 202, 204}
REFUSED = {400, 401, 403, 404, 409, 413, 415, 422}


@pytest.fixture(autouse=True)
def _plenty(unhurried: None, cast: Cast) -> None:
    make_memory(content="Prefers tea.", owner=cast.alice)


@pytest.fixture
def alice(cast: Cast) -> Caller:
    return Caller(token=make_personal_token(cast.alice))


@pytest.fixture
def host(cast: Cast) -> Caller:
    return Caller(token=make_agent_token(cast.agent, organization=cast.org)[1])


def check(what: str, answer: Any, *also: int) -> Any:
    """Look that an answer is none of a fault, in our shape."""
    tally.count(what, answer.status_code)
    assert answer.status_code in TAKEN | REFUSED | set(also), answer.status_code
    if answer.status_code >= 400:
        error = json.loads(answer.content)["error"]
        assert error["code"]
        assert error["message"]
    return answer


@given(text=texts, kind=texts, key=texts)
@some
def test_a_memory_of_any_text(alice: Caller, text: str, kind: str, key: str) -> None:
    answer = check("content", alice.post("memories", {"content": text}))
    if answer.status_code == 201:
        kept = answer.json()["content"]
        assert kept == " ".join(text.replace("\x00", "").split())
        found = check("content", alice.get(f"memories/{answer.json()['id']}"))
        assert found.json()["content"] == kept
    odd = {"content": "Tea.", "kind": kind, "idempotencyKey": key, "expiresAt": text[:60]}
    check("content", alice.post("memories", odd))


@given(
    text=short, name=st.sampled_from("q limit cursor visibility kind origin agent state".split())
)
@some
def test_any_filter_and_cursor(alice: Caller, text: str, name: str) -> None:
    value = quote(text)
    check("filters", alice.get(f"memories?{name}={value}"))
    check("filters", alice.get(f"memories?q={value}&{name}={value}"))
    check("filters", alice.get(f"activity?cursor={value}"))
    check("filters", alice.get(f"conversations/{value}/memories"))
    check(
        "filters",
        alice.client.generic("GET", f"/api/chat/memory?{name}={value}", headers=alice.headers),
    )


@given(cut=st.integers(0, 400), flip=st.integers(0, 255), text=short)
@some
def test_a_cursor_edited_by_hand(alice: Caller, cast: Cast, cut: int, flip: int, text: str) -> None:
    if not json_of(alice.get("memories?limit=1"))["nextCursor"]:
        make_memory(content="Prefers coffee.", owner=cast.alice)
    cursor = json_of(alice.get("memories?limit=1"))["nextCursor"]
    place = cut % len(cursor)
    for edited in (
        cursor[:place],
        cursor[:place] + chr(flip) + cursor[place + 1 :],
        cursor + text,
        text + cursor,
    ):
        answer = check("cursors", alice.get(f"memories?limit=1&cursor={quote(edited)}"))
        assert answer.status_code == 422 or edited in {cursor, ""}


@given(text=texts, odd=values)
@some
def test_recall_of_any_text(host: Caller, text: str, odd: Any) -> None:
    answer = check("recall", host.post("recall", question(text, **PATIENT)))
    if answer.status_code == 200 and answer.json()["prompt"]:
        assert len(answer.json()["prompt"]) <= MAX_BLOCK
    place = source(location={"provider": "x", "tenant": "y", "key": text[:300], "label": text})
    check("recall", host.post("recall", question("Tea?", source=place, **PATIENT)))
    check("recall", host.post("recall", odd))
    check("recall", host.post("recall", question("Tea?", actor=odd, **PATIENT)))


@given(
    number=st.integers(),
    entries=st.lists(
        st.one_of(
            texts.map(said),
            texts.map(lambda text: {"type": "message", "role": "assistant", "text": text}),
            st.tuples(texts, st.booleans()).map(
                lambda it: {
                    "type": "toolResult",
                    "toolName": "web",
                    "isError": it[1],
                    "text": it[0],
                }
            ),
            values,
        ),
        max_size=6,
    ),
    name=texts,
)
@some
def test_a_transcript_of_anything(host: Caller, number: int, entries: list[Any], name: str) -> None:
    """What is taken in is learned from, too: the worker meets the same text."""
    told = session(sessionId=f"s-{number}", transcript=entries)
    answer = check("transcripts", host.post("sessions", told))
    if answer.status_code in TAKEN:
        row = CompletedSession.objects.get(session_id=f"s-{number}")
        sessions.process_session(row.pk)
        row.refresh_from_db()
        assert row.state in {"processed", "skipped"}
        assert row.transcript is None
    named = {"sessionId": name, "actor": ALICE | {"displayName": name, "email": name}}
    check("transcripts", host.post("sessions", session(**named)))


@given(text=texts, odd=values)
@some
def test_tools_with_any_argument(host: Caller, text: str, odd: Any) -> None:
    around = {"toolCallId": "c-1", "conversationId": "C-1", "source": source(), "actor": ALICE}
    for name, arguments in (
        ("createMemory", {"content": text, "kind": "preference", "expiresAt": None}),
        ("searchMemories", {"query": text, "limit": None}),
        ("removeMemory", {"id": text}),
        ("listMemories", odd),
        ("createMemory", odd),
    ):
        call = around | {"arguments": arguments, "toolCallId": str(hash(repr((text, name))))}
        check("tools", host.post(f"tools/{name}", call), 503)
    check("tools", host.post(f"tools/{quote(text[:8].encode('utf-8', 'replace'))}", around))


@given(text=texts, odd=values)
@some
def test_mcp_with_any_message(alice: Caller, text: str, odd: Any) -> None:
    for params in (
        {"name": "searchMemories", "arguments": {"query": text}},
        {"name": "createMemory", "arguments": {"content": text, "kind": "knowledge"}},
        {"name": text, "arguments": odd},
        odd,
    ):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = alice.call("POST", "/mcp", body)
        tally.count("MCP", answer.status_code)
        assert answer.status_code in {200, 202, 400, 404, 413, 422}
    answer = alice.call("POST", "/mcp", odd)
    tally.count("MCP", answer.status_code)
    assert answer.status_code in {200, 202, 400, 404, 413, 422}


@given(text=short)
@some
def test_mcp_headers_of_any_text(host: Caller, text: str) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "listMemories", "arguments": {}},
    }
    for name in ("X-Memory-Actor", "X-Memory-Source", "X-Memory-Conversation", "Origin"):
        value = text.encode("utf-8", "replace").decode("latin-1")
        answer = host.call("POST", "/mcp", body, headers={name: value})
        tally.count("MCP", answer.status_code)
        assert answer.status_code in {200, 400, 403, 404, 422}


@given(text=texts, odd=values, raw=st.binary(max_size=300))
@some
def test_an_import_of_anything(alice: Caller, text: str, odd: Any, raw: bytes) -> None:
    line = {"type": "memory", "content": text, "state": "active", "kind": "knowledge"}
    fields = "content kind agent subject conversationId observedAt expiresAt".split()
    good = sealed(
        odd,
        line,
        *(line | {"content": f"Tea {n}.", n: odd} for n in fields[1:]),
        line | {"kind": 1},
    )
    dated = sealed(*(line | {"content": f"At {n}.", n: text} for n in fields[4:]))
    torn = f"{json.dumps(line)}\n".encode() + raw
    for body in (good.encode(), dated.encode(), raw, torn, b"[" * 100_000):
        answer = alice.client.generic(
            "POST",
            "/api/plugins/memory/import",
            body,
            content_type="application/x-ndjson",
            headers=alice.headers,
        )
        check("imports", answer)
        if body in {good.encode(), dated.encode()}:
            assert answer.status_code == 200


@given(text=texts, odd=values)
@some
def test_preferences_of_anything(alice: Caller, text: str, odd: Any) -> None:
    for body in ({"topics": [text]}, {"topics": odd}, {"displayName": text}, odd):
        check("preferences", alice.patch("me", body))
    check("preferences", alice.post("memories/forget", {"ids": [text]}))
    check("preferences", alice.post("memories/forget-all", {"confirm": text}))


@given(depth=st.sampled_from([10, 900, 5_000, 200_000]), opening=st.sampled_from(["[", '{"a":']))
@some
def test_json_of_any_depth(alice: Caller, depth: int, opening: str) -> None:
    body = (opening * depth).encode()
    closed = body + b"1" + (b"]" if opening == "[" else b"}") * depth
    for sent in (body, closed):
        assert check("depth", alice.post("memories", sent)).status_code in {413, 422}
