"""The official client against real processes: over HTTP, and over stdio."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from tempfile import TemporaryFile
from typing import IO, Any

import anyio
import httpx2
import pytest
from django.db import OperationalError, connection
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from api.mcp.asking import Claims
from api.mcp.stdio import Conversation
from junior_memory import people
from junior_memory.models import ToolCall
from tests.api.mcp_calls import (
    ALICE,
    LATEST,
    OLD,
    PRIVATE,
    acting,
    call,
    calling,
    over_http,
    over_stdio,
    request,
    stdio_process,
    tool,
    web_processes,
)
from tests.cast import Cast, make_cast
from tests.factories import make_agent_token, make_memory, make_personal_token
from tests.processes import ROOT, wait_for

pytestmark = pytest.mark.django_db(transaction=True)

SENTINEL = "zebra-crossing-sentinel"
HERS = f"Alice keeps the {SENTINEL} for herself."
SHARED = f"Everyone may know of the {SENTINEL}."
TOOLS = {"createMemory", "removeMemory", "listMemories", "searchMemories"}
ERAS = pytest.mark.parametrize(("mode", "version"), [("auto", LATEST), ("legacy", OLD)])


@dataclass(frozen=True)
class Web:
    """Where the web processes answer, and what they have printed."""

    url: str
    log: IO[bytes]

    def printed(self) -> str:
        self.log.seek(0)
        return self.log.read().decode()


@pytest.fixture(scope="module")
def web(django_db_setup: None) -> Iterator[Web]:
    """Two processes on one port; they keep nothing, so tests may share them."""
    with web_processes(2) as (url, log):
        yield Web(url, log)


@pytest.fixture
def people_here(transactional_db: None) -> Cast:
    cast = make_cast()
    make_memory(owner=cast.alice, content=HERS)
    make_memory(content=SHARED, visibility="public", subject_type="general")
    return cast


def contents(answer: Any) -> set[str]:
    return {one["content"] for one in answer["memories"]}


async def round_trip(client: Client) -> str:
    """List the tools and use all four; return the version that was spoken."""
    assert {one.name for one in (await client.list_tools()).tools} == TOOLS
    assert contents(await call(client, "listMemories")) == {HERS, SHARED}
    made = await call(client, "createMemory", content=f"Likes tea with {SENTINEL}.")
    found = await call(client, "searchMemories", query="tea")
    assert [one["id"] for one in found["memories"]] == [made["memory"]["id"]]
    assert (await call(client, "removeMemory", id=made["memory"]["id"][:8]))["removed"] is True
    assert contents(await call(client, "listMemories")) == {HERS, SHARED}
    refused = await client.call_tool("createMemory", {"content": ""})
    assert refused.is_error
    assert json.loads(refused.content[0].text)["error"]["code"]  # type: ignore[union-attr]
    with pytest.raises(MCPError):
        await client.call_tool("archiveMemory", {})
    return str(client.protocol_version)


# HTTP.


@ERAS
def test_the_official_client_uses_the_four_tools_over_http(
    people_here: Cast, web: Web, mode: str, version: str
) -> None:
    token = make_personal_token(people_here.alice)
    assert over_http(web.url, token, round_trip, mode=mode) == version
    assert SENTINEL not in web.printed()


def test_over_http_an_agent_sees_its_actor_and_strangers_what_is_public(
    people_here: Cast, web: Web
) -> None:
    agent = make_agent_token(people_here.agent)[1]
    charlie = make_personal_token(people_here.charlie)
    listing = calling("listMemories")
    for_alice = acting(ALICE, PRIVATE, "C1")
    assert contents(over_http(web.url, agent, listing, headers=for_alice)) == {HERS, SHARED}
    for_charlie = acting("slack/T1/UCHARLIE", PRIVATE, "C1")
    assert contents(over_http(web.url, agent, listing, headers=for_charlie)) == {SHARED}
    assert contents(over_http(web.url, agent, listing)) == {SHARED}
    assert contents(over_http(web.url, charlie, listing)) == {SHARED}


@ERAS
def test_the_official_client_shows_what_is_wrong_with_a_header(
    people_here: Cast, web: Web, mode: str, version: str
) -> None:
    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("listMemories", {})
        return str(raised.value)

    agent = make_agent_token(people_here.agent)[1]
    told = over_http(web.url, agent, work, headers=acting("slack"), mode=mode)
    assert "X-Memory-Actor must read provider/tenant/subject" in told


def test_any_process_answers_any_call_and_repeats_at_once_are_one_write(
    people_here: Cast, web: Web
) -> None:
    async def work(client: Client) -> list[Any]:
        made: list[Any] = []

        async def write() -> None:
            made.append(await call(client, "createMemory", content="Likes tea."))

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(write)
        assert len(contents(await call(client, "listMemories"))) == 3
        return made

    made = over_http(web.url, make_personal_token(people_here.alice), work)
    assert Counter(one["created"] for one in made) == {True: 1, False: 19}
    assert len({one["memory"]["id"] for one in made}) == 1
    assert ToolCall.objects.count() == 1


def test_a_slow_call_holds_nobody_up(people_here: Cast, web: Web) -> None:
    token = make_personal_token(people_here.alice)
    writing = calling("createMemory", content="Likes tea.")
    with ThreadPoolExecutor(1) as pool, connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [_lock_of(people_here)])
        try:
            waiting = pool.submit(over_http, web.url, token, writing)
            wait_for(lambda: ToolCall.objects.exists())
            seen = over_http(web.url, token, calling("listMemories"))
            assert contents(seen) == {HERS, SHARED}
            assert not waiting.done()
        finally:
            cursor.execute("SELECT pg_advisory_unlock_all()")
        assert waiting.result(timeout=30)["created"] is True


def _lock_of(cast: Cast) -> str:
    return f"owner:{cast.alice.pk}"


def test_many_calls_at_once_give_their_connections_back(people_here: Cast, web: Web) -> None:
    headers = {"Authorization": f"Bearer {make_personal_token(people_here.alice)}"}
    message = tool("searchMemories", {"query": "tea"})

    def post(_: int) -> httpx2.Response:
        return httpx2.post(f"{web.url}/mcp", json=message, headers=headers, timeout=60)

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(post, range(120)))
    assert Counter(answer.status_code for answer in answers) == {200: 120}
    assert {answer.json()["result"]["isError"] for answer in answers} == {False}


# stdio.


@ERAS
def test_the_official_client_uses_the_four_tools_over_stdio(
    people_here: Cast, mode: str, version: str
) -> None:
    token = make_personal_token(people_here.alice)
    with TemporaryFile("w+") as errors:
        assert over_stdio(token, round_trip, mode=mode, errors=errors) == version
        errors.seek(0)
        assert SENTINEL not in errors.read()


def test_over_stdio_an_agent_sees_its_actor_and_without_one_what_is_public(
    people_here: Cast,
) -> None:
    agent = make_agent_token(people_here.agent)[1]
    listing = calling("listMemories")
    for_alice = {"MEMORY_ACTOR": ALICE, "MEMORY_SOURCE": PRIVATE, "MEMORY_CONVERSATION": "C1"}
    assert contents(over_stdio(agent, listing, said_for=for_alice)) == {HERS, SHARED}
    assert contents(over_stdio(agent, listing)) == {SHARED}


def say(process: subprocess.Popen[bytes], *messages: object) -> None:
    assert process.stdin is not None
    for message in messages:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        process.stdin.write(line + b"\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[bytes]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_stdout_carries_answers_alone_and_the_end_of_input_ends_it(people_here: Cast) -> None:
    token = make_personal_token(people_here.alice)
    with stdio_process(token) as process:
        say(
            process,
            b"{",
            [request("ping")],
            b"",
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"' + b"a" * 2**21 + b'"}}',
            tool("searchMemories", {"query": SENTINEL}),
            request("nothing/here", id="last"),
        )
        out, errors = process.communicate(timeout=60)
    lines = [json.loads(line) for line in out.splitlines()]
    by_code = Counter(line.get("error", {}).get("code") for line in lines)
    assert by_code == {-32700: 1, -32600: 2, -32601: 1, None: 1}
    assert process.returncode == 0
    assert SENTINEL.encode() not in errors


def test_what_is_printed_meanwhile_goes_to_stderr_and_children_hear_nothing() -> None:
    script = (
        "import subprocess, sys\n"
        "from api.mcp.streams import claimed_streams\n"
        "with claimed_streams() as (heard, said):\n"
        "    print('printed', flush=True)\n"
        "    child = \"import sys; print('by a child', len(sys.stdin.read()))\"\n"
        "    subprocess.run([sys.executable, '-c', child])\n"
        "    said.write(heard.readline())\n"
        "print('afterwards')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, input=b"a line\n", capture_output=True, check=True
    )
    assert done.stdout == b"a line\nafterwards\n"
    assert done.stderr == b"printed\nby a child 0\n"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(people_here: Cast, how: signal.Signals) -> None:
    with stdio_process(make_personal_token(people_here.alice)) as process:
        say(process, request("ping"))
        assert hear(process)["result"] == {}
        process.send_signal(how)
        out, errors = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, b"")
    assert b"Traceback" not in errors


def test_a_token_revoked_meanwhile_is_told_so(people_here: Cast) -> None:
    token = make_personal_token(people_here.alice)
    with stdio_process(token) as process:
        say(process, tool("listMemories"))
        assert contents(hear(process)["result"]["structuredContent"]) == {HERS, SHARED}
        row = people.find_token(token)
        assert row is not None
        row.revoked_at = row.created_at
        row.save()
        say(process, tool("listMemories"))
        assert hear(process)["error"]["data"]["code"] == "unauthenticated"


@pytest.mark.parametrize(
    ("where", "error", "code"),
    [
        ("api.mcp.answering.call_tool", OperationalError, -32010),
        ("api.mcp.answering.call_tool", ValueError, -32603),
        ("api.mcp.asking.find_live_token", OperationalError, -32010),
        ("api.mcp.asking.find_live_token", ValueError, -32603),
    ],
)
def test_a_failure_is_answered_without_its_text(
    people_here: Cast,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    where: str,
    error: type[Exception],
    code: int,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error(SENTINEL)

    monkeypatch.setattr(where, fail)
    said = BytesIO()
    heard = BytesIO(json.dumps(tool("listMemories")).encode())
    Conversation(make_personal_token(people_here.alice), Claims(), said).listen(heard)
    answer = json.loads(said.getvalue())
    assert (answer["id"], answer["error"]["code"]) == (1, code)
    assert error.__name__ in caplog.text
    assert SENTINEL not in said.getvalue().decode() + caplog.text


@pytest.mark.parametrize(
    ("token", "said_for", "told"),
    [
        ("", {}, b"MEMORY_TOKEN"),
        ("jmp_made-up", {}, b"unknown"),
        (None, {"MEMORY_ACTOR": "slack"}, b"MEMORY_ACTOR"),
        (None, {"MEMORY_SOURCE": "slack"}, b"MEMORY_SOURCE"),
    ],
)
def test_what_cannot_work_is_said_at_the_start(
    people_here: Cast, token: str | None, said_for: dict[str, str], told: bytes
) -> None:
    secret = make_agent_token(people_here.agent)[1] if token is None else token
    with stdio_process(secret, **said_for) as process:
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, b"")
    assert told in errors
    assert b"Traceback" not in errors
