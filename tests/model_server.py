"""An endpoint of OpenAI's language on this machine: what it answers, and when, a test decides.

It serves chat completions and embeddings over HTTP, keeps what it was asked, and has a ledger of
what it would put on the bill.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from junior_memory.providers.fake import FakeEmbedder

Json = dict[str, Any]
Text = str | Callable[[Json], str]

CHAT_PRICES = {"input": Decimal("0.40"), "cached": Decimal("0.10"), "output": Decimal("1.60")}
"""US dollars for a million tokens of gpt-4.1-mini, as OpenAI publishes them."""

EMBEDDING_PRICE = Decimal("0.02")
"""US dollars for a million tokens of text-embedding-3-small."""

CHAT_MODEL = "gpt-4.1-mini"
EMBEDDING_MODEL = "text-embedding-3-small"
MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Reply:
    """How one request is answered. `text` may be made of the request; usage goes on the bill.

    `too_late` says that whoever asked will not wait for `delay_seconds`; `hangs` answers nothing
    until the server ends; `drops_after` cuts the line after so many bytes of the body; `drips`
    sends it byte by byte; `raw` is a body as it is.
    """

    text: Text = "{}"
    input_tokens: int = 100
    cached_tokens: int = 0
    output_tokens: int = 20
    reasoning_tokens: int = 0
    with_usage: bool = True
    status: int = 200
    error: Json = field(default_factory=lambda: {"message": "no", "type": "t", "code": "c"})
    headers: dict[str, str] = field(default_factory=dict)
    finish: str = "stop"
    refusal: str | None = None
    delay_seconds: float = 0
    too_late: bool = False
    hangs: bool = False
    drops_after: int | None = None
    drips: bool = False
    raw: bytes | None = None

    @property
    def tells(self) -> bool:
        """True when whoever asked learns what it cost."""
        is_whole = self.raw is None and self.drops_after is None
        return self.with_usage and is_whole and not (self.too_late or self.hangs)


@dataclass(frozen=True, slots=True)
class Billed:
    """One line of the bill. `was_told` is False when the answer did not reach whoever asked."""

    kind: Literal["chat", "embeddings"]
    model: str
    input_tokens: int
    cached_tokens: int = 0
    output_tokens: int = 0
    was_told: bool = True

    @property
    def usd(self) -> Decimal:
        """What the line comes to, by the prices above."""
        if self.kind == "embeddings":
            return self.input_tokens * EMBEDDING_PRICE / MILLION
        fresh = self.input_tokens - self.cached_tokens
        return (
            fresh * CHAT_PRICES["input"]
            + self.cached_tokens * CHAT_PRICES["cached"]
            + self.output_tokens * CHAT_PRICES["output"]
        ) / MILLION


@dataclass
class ModelServer:
    """The double. `replies` are used up one by one, then `always`; embeddings have their own.

    `refuses` names parameters, or types and keys of response format, that it does not know.
    """

    replies: list[Reply] = field(default_factory=list)
    always: Reply = field(default_factory=Reply)
    by_schema: dict[str, list[Reply]] = field(default_factory=dict)
    """Replies to questions of one schema name; they come before `replies`."""
    embedding_replies: list[Reply] = field(default_factory=list)
    embedding_always: Reply = field(default_factory=Reply)
    embedding_answer: Json | None = None
    dimensions: int = 48
    refuses: frozenset[str] = frozenset()
    refusal_status: int = 400
    refusal_says_why: bool = True
    asked: list[Json] = field(default_factory=list)
    embedded: list[Json] = field(default_factory=list)
    bill: list[Billed] = field(default_factory=list)
    url: str = ""
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def told_usd(self) -> Decimal:
        """What the bill comes to, as far as anybody was told."""
        with self.lock:
            return sum((line.usd for line in self.bill if line.was_told), Decimal(0))

    @property
    def untold(self) -> int:
        """Lines of the bill that nobody was told of."""
        with self.lock:
            return sum(not line.was_told for line in self.bill)

    def chat(self, body: Json) -> Reply:
        """Choose the reply to a chat request, and put it on the bill."""
        with self.lock:
            self.asked.append(body)
            if refused := self._refused(body):
                return refused
            reply = self._next(body)
            if reply.status == 200:
                self.bill.append(
                    Billed(
                        "chat",
                        body["model"],
                        reply.input_tokens,
                        reply.cached_tokens,
                        reply.output_tokens,
                        reply.tells,
                    )
                )
            return reply

    def _next(self, body: Json) -> Reply:
        scripted = self.by_schema.get(schema_name(body))
        if scripted:
            return scripted.pop(0)
        return self.replies.pop(0) if self.replies else self.always

    def _refused(self, body: Json) -> Reply | None:
        shape = body.get("response_format", {})
        for name in sorted(self.refuses):
            if name not in body and name not in shape and name != shape.get("type"):
                continue
            where = "response_format." if name == "schema" else ""
            said = f"Unsupported parameter: '{where}{name}'"
            error = {"message": said if self.refusal_says_why else "bad request", "code": None}
            return Reply(status=self.refusal_status, error=error)
        return None

    def embed(self, body: Json) -> tuple[Reply, Json]:
        """Choose the reply to an embeddings request and its vectors, and put it on the bill."""
        with self.lock:
            self.embedded.append(body)
            replies = self.embedding_replies
            reply = replies.pop(0) if replies else self.embedding_always
            used = sum(len(text.split()) for text in body["input"])
            if reply.status == 200:
                line = Billed("embeddings", body["model"], used, was_told=reply.tells)
                self.bill.append(line)
        return reply, self.embedding_answer or self._vectors(body, used, reply)

    def _vectors(self, body: Json, used: int, reply: Reply) -> Json:
        """Answer as the real one does, the rows in an order that means nothing."""
        size = body.get("dimensions") or self.dimensions
        vectors = FakeEmbedder(f"fake-{size}").embed(body["input"]).vectors
        rows = [
            {"object": "embedding", "index": place, "embedding": list(vector)}
            for place, vector in enumerate(vectors)
        ]
        answer: Json = {"object": "list", "model": body["model"], "data": rows[::-1]}
        if reply.with_usage:
            answer["usage"] = {"prompt_tokens": used, "total_tokens": used}
        return answer


def schema_name(body: Json) -> str:
    """Return the name of the schema that a chat request asks for; empty without one."""
    shape = body.get("response_format", {}).get("json_schema", {})
    return str(shape.get("name", ""))


def prompt(body: Json) -> str:
    """Return everything a chat request tells the model, as one text."""
    return "\n".join(message["content"] for message in body["messages"])


def completion(body: Json, reply: Reply) -> Json:
    """Return a chat completion as OpenAI writes it."""
    text = reply.text if isinstance(reply.text, str) else reply.text(body)
    message = {
        "role": "assistant",
        "content": None if reply.refusal else text,
        "refusal": reply.refusal,
    }
    answer: Json = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    }
    if reply.with_usage:
        answer["usage"] = {
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": reply.reasoning_tokens},
        }
    return answer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        double = self.server.double
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/embeddings"):
            reply, answer = double.embed(body)
        else:
            reply = double.chat(body)
            answer = completion(body, reply) if reply.status == 200 else {}
        if reply.status != 200:
            answer = {"error": reply.error}
        raw = json.dumps(answer).encode() if reply.raw is None else reply.raw
        double.ended.wait(3600 if reply.hangs else reply.delay_seconds)
        with suppress(OSError):  # The caller did not wait.
            self._send(reply, raw)

    def _send(self, reply: Reply, raw: bytes) -> None:
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if reply.drops_after is not None:
            self.wfile.write(raw[: reply.drops_after])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif reply.drips:
            for place in range(len(raw)):
                self.wfile.write(raw[place : place + 1])
                self.wfile.flush()
                if self.server.double.ended.wait(0.05):
                    return
        else:
            self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, double: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.double = double


@contextmanager
def model_server(double: ModelServer | None = None) -> Iterator[ModelServer]:
    """Serve a double until the block ends."""
    double = double or ModelServer()
    server = _Server(double)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    double.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield double
    finally:
        double.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
