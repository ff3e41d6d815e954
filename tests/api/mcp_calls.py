"""Ways to speak the Model Context Protocol in tests: by hand, and by its official client."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryFile
from typing import IO, Any, TextIO, TypeVar

import anyio
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.api.conftest import Caller, json_of
from tests.processes import ROOT, environment, wait_for

T = TypeVar("T")
Work = Callable[[Client], Awaitable[T]]

LATEST = "2026-07-28"
OLD = "2025-11-25"
ALICE = "slack/T1/UALICE"
PRIVATE = "slack/private/C1"

NO_MODELS = {"MEMORY_EMBEDDER": "none", "AI_MEMORY_MODEL": "", "MEMORY_LOG_LEVEL": "DEBUG"}


def request(method: str, params: dict[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
    """Return a request as clients write it."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def tool(
    name: str, arguments: dict[str, Any] | None = None, *, call_id: str | None = None
) -> dict[str, Any]:
    """Return a call of a tool."""
    params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
    if call_id is not None:
        params["_meta"] = {"toolCallId": call_id}
    return request("tools/call", params)


def stateless(message: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a message and the headers of the era without a handshake."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {**message["params"], "_meta": {**message["params"].get("_meta", {}), **meta}}
    headers = {"MCP-Protocol-Version": LATEST, "Mcp-Method": message["method"]}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return {**message, "params": params}, headers


def acting(actor: str = "", source: str = "", conversation: str = "") -> dict[str, str]:
    """Return the headers by which a host says for whom."""
    said = {
        "X-Memory-Actor": actor,
        "X-Memory-Source": source,
        "X-Memory-Conversation": conversation,
    }
    return {name: value for name, value in said.items() if value}


def ask(caller: Caller, message: object, headers: dict[str, str] | None = None) -> Any:
    """Send one message by hand and return the JSON that came with 200."""
    return json_of(caller.call("POST", "/mcp", message, headers=headers))


def use(caller: Caller, message: object, headers: dict[str, str] | None = None) -> Any:
    """Call a tool by hand; return what it gave, and fail when it gave an error."""
    result = ask(caller, message, headers)["result"]
    assert result["isError"] is False, result
    return result["structuredContent"]


def refusal(caller: Caller, message: object, headers: dict[str, str] | None = None) -> Any:
    """Call a tool by hand; return the error that its model reads."""
    result = ask(caller, message, headers)["result"]
    assert result["isError"] is True, result
    error = result["structuredContent"]["error"]
    assert error["code"]
    assert error["message"]
    return error


@contextmanager
def web_processes(count: int = 1) -> Iterator[tuple[str, IO[bytes]]]:
    """Serve from this many processes on one port; yield the address and their stderr."""
    with socket.socket() as door, TemporaryFile() as log:
        door.bind(("127.0.0.1", 0))
        door.listen(64)
        port = door.getsockname()[1]
        command = [sys.executable, "-m", "uvicorn", "junior_memory.asgi:application"]
        started = [
            subprocess.Popen(
                [*command, "--fd", str(door.fileno()), "--no-access-log"],
                cwd=ROOT,
                env=environment(**NO_MODELS),
                stdout=log,
                stderr=log,
                pass_fds=[door.fileno()],
            )
            for _ in range(count)
        ]
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(lambda: _answers(url), seconds=60)
            yield url, log
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(timeout=20)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/healthz", timeout=5).status_code == 200
    except httpx2.TransportError:
        return False


def apart(run: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run in a thread of its own: a browser's tests leave a loop running in this one."""
    with ThreadPoolExecutor(1) as elsewhere:
        return elsewhere.submit(anyio.run, run).result()


def over_http(
    url: str,
    token: str,
    work: Work[T],
    *,
    headers: dict[str, str] | None = None,
    mode: str = "auto",
) -> T:
    """Let the official client work over HTTP. `mode` is "auto" or "legacy" (with a handshake)."""

    async def run() -> T:
        with_token = {"Authorization": f"Bearer {token}"} | (headers or {})
        async with httpx2.AsyncClient(headers=with_token, timeout=30) as web:
            transport = streamable_http_client(f"{url}/mcp", http_client=web)
            async with Client(transport, mode=mode) as client:
                return await work(client)

    return apart(run)


def over_stdio(
    token: str,
    work: Work[T],
    *,
    said_for: dict[str, str] | None = None,
    mode: str = "auto",
    errors: TextIO | None = None,
) -> T:
    """Let the official client start `manage.py mcp` and work with it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp"],
        cwd=str(ROOT),
        env=environment(**NO_MODELS, MEMORY_TOKEN=token, **(said_for or {})),
    )

    async def run() -> T:
        transport = stdio_client(server, errlog=errors or sys.stderr)
        async with Client(transport, mode=mode) as client:
            return await work(client)

    return apart(run)


@contextmanager
def stdio_process(token: str, **said_for: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start `manage.py mcp` to be spoken to by hand; what is left of it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "mcp"],
        cwd=ROOT,
        env=environment(**NO_MODELS, MEMORY_TOKEN=token, **said_for),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


async def call(client: Client, name: str, **arguments: Any) -> Any:
    """Call a tool through the official client; return what it gave."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    return result.structured_content


def calling(name: str, **arguments: Any) -> Work[Any]:
    """Return work that is one call."""
    return partial(call, name=name, **arguments)
