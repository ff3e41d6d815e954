"""How much of a request the web server hands on, whoever sends it and whatever for.

Django keeps a whole body on disk before it asks anybody who calls, so without a limit here a
stranger could fill the disk. The calls have narrower limits of their own (`api/bodies.py`).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

MEGABYTE = 1024 * 1024
LIMIT = 5 * MEGABYTE
IMPORT_LIMIT = 51 * MEGABYTE
"""An import of 50 MB, with what a form writes around it."""
IMPORTS = frozenset({"/api/plugins/memory/import", "/settings/import"})

ANSWER = json.dumps(
    {"error": {"code": "too_large", "message": "The body is larger than anything taken here."}}
).encode()


class _TooLarge(Exception):
    """More came than was declared or is taken."""


class BodyLimit:
    """Answers 413 to a body that is too large, declared or not, and reads no further."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        limit = IMPORT_LIMIT if scope["path"] in IMPORTS else LIMIT
        if _declared(scope) > limit:
            await _refuse(send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise _TooLarge
            return message

        try:
            await self.application(scope, counted, send)
        except _TooLarge:
            # Django reads the whole body before it answers anything.
            await _refuse(send)


def _declared(scope: dict[str, Any]) -> int:
    values = [value for name, value in scope["headers"] if name == b"content-length"]
    return max((int(value) for value in values if value.isdigit()), default=0)


async def _refuse(send: Send) -> None:
    headers = {
        b"content-type": b"application/json",
        b"content-length": str(len(ANSWER)).encode(),
        b"cache-control": b"no-store",
        b"connection": b"close",
    }
    await send({"type": "http.response.start", "status": 413, "headers": list(headers.items())})
    await send({"type": "http.response.body", "body": ANSWER})
