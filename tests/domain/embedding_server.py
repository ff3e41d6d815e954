"""An endpoint of OpenAI's language on this machine, whose answers a test decides."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from junior_memory.providers.fake import FakeEmbedder


@dataclass
class Double:
    """What was asked, and what is answered: `statuses` first, then vectors of `dimensions`."""

    dimensions: int = 48
    statuses: list[int] = field(default_factory=list)
    delay_seconds: float = 0
    with_usage: bool = True
    answer: dict[str, Any] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def embed(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answer as the real one does, the rows in an order that means nothing."""
        size = body.get("dimensions") or self.dimensions
        vectors = FakeEmbedder(f"fake-{size}").embed(body["input"]).vectors
        rows = [
            {"object": "embedding", "index": place, "embedding": list(vector)}
            for place, vector in enumerate(vectors)
        ]
        answer: dict[str, Any] = {"object": "list", "model": body["model"], "data": rows[::-1]}
        if self.with_usage:
            tokens = sum(len(text.split()) for text in body["input"])
            answer["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
        return answer


@contextmanager
def embedding_server(double: Double) -> Iterator[Double]:
    """Serve a double until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            double.asked.append(body)
            time.sleep(double.delay_seconds)
            status = double.statuses.pop(0) if double.statuses else 200
            answer: Any = {"error": {"message": "no", "type": "t", "code": "c"}}
            if status == 200:
                answer = double.answer or double.embed(body)
            raw = json.dumps(answer).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            except OSError:
                return  # The caller did not wait.

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    double.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
