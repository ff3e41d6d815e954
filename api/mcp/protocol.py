"""What passes over the wire of the Model Context Protocol: messages, versions, results, errors.

Two eras are spoken. Up to 2025-11-25 a client begins with `initialize`, and its version is a matter
of that handshake; since 2026-07-28 every request carries its version and nothing is remembered
(modelcontextprotocol.io, specification 2026-07-28: versioning, streamable HTTP). No Django here.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NoReturn

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSION = "2026-07-28"
VERSIONS = (*HANDSHAKE_VERSIONS, STATELESS_VERSION)

VERSION_HEADER = "MCP-Protocol-Version"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"

_RESERVED = "io.modelcontextprotocol/"
VERSION_KEY = f"{_RESERVED}protocolVersion"
CAPABILITIES_KEY = f"{_RESERVED}clientCapabilities"
SERVER_KEY = f"{_RESERVED}serverInfo"

LISTING_TTL_MS = 300_000
"""How long a client may keep a list of tools: it changes with the token alone."""

SERVER = {"name": "junior-memory", "title": "Junior Memory", "version": "1"}


class Code(IntEnum):
    """Error codes of JSON-RPC, those that the protocol adds, and one of ours.

    REFUSED is what HTTP has statuses for, where there is no HTTP; its data names our own code.
    """

    PARSE = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL = -32603
    REFUSED = -32010
    HEADER_MISMATCH = -32020
    UNSUPPORTED_VERSION = -32022


STATUS_OF_CODE = {
    Code.PARSE: 400,
    Code.INVALID_REQUEST: 400,
    Code.METHOD_NOT_FOUND: 404,
    Code.INVALID_PARAMS: 400,
    Code.HEADER_MISMATCH: 400,
    Code.UNSUPPORTED_VERSION: 400,
    Code.INTERNAL: 500,
    Code.REFUSED: 403,
}
"""Statuses since 2026-07-28; before, an error of a readable request goes out with 200."""


class ProtocolError(Exception):
    """A message that is not answered with a result. The text is ours and holds nothing of theirs.

    `status` says by which HTTP status it goes out, when not by that of its code.
    """

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        data: Mapping[str, object] | None = None,
        status: int | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.data = data
        self.status = status
        super().__init__(code.name)


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification when it has no id."""

    method: str
    params: Mapping[str, Any]
    id: str | int | None = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the client says about the request, apart from its parameters."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, Mapping) else {}

    @property
    def is_stateless(self) -> bool:
        """True when the message itself says that it is of the era without a handshake."""
        return VERSION_KEY in self.meta


def read_json(text: bytes) -> Any:
    """Return what a line or a body holds. Raises ProtocolError unless it is one JSON text."""
    try:
        return json.loads(text.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(Code.PARSE, "This is not valid JSON.") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def read_message(value: Any) -> Message:
    """Return the one message that a JSON value is. Raises ProtocolError, also for a batch."""
    if isinstance(value, list):
        raise ProtocolError(Code.INVALID_REQUEST, "Send one message at a time, not a batch.")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise ProtocolError(Code.INVALID_REQUEST, "This is no JSON-RPC 2.0 message.")
    method, params, known = value.get("method"), value.get("params"), readable_id(value)
    if not isinstance(method, str) or not method:
        raise ProtocolError(Code.INVALID_REQUEST, "The message names no method.")
    if params is not None and not isinstance(params, dict):
        raise ProtocolError(Code.INVALID_REQUEST, "`params` must be an object.")
    if "id" in value and known is None:
        raise ProtocolError(Code.INVALID_REQUEST, "`id` must be a string or a whole number.")
    return Message(method=method, params=params or {}, id=known)


def readable_id(value: Any) -> str | int | None:
    """Return the id of whatever was sent, None when it has none that an answer could name."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def check_envelope(message: Message, headers: Mapping[str, str] | None) -> None:
    """Check what a request without handshake says of itself, and that the headers say the same.

    `headers` is None where there are none (stdio). Raises ProtocolError.
    """
    version = message.meta.get(VERSION_KEY)
    if headers is not None:
        header = headers.get(VERSION_HEADER)
        if version is None and header not in VERSIONS:
            raise _unsupported(header or "")
        _check_headers(message, version, headers)
    if not isinstance(version, str):
        raise ProtocolError(Code.INVALID_PARAMS, f"`_meta` must hold {VERSION_KEY}, a string.")
    if not isinstance(message.meta.get(CAPABILITIES_KEY), Mapping):
        raise ProtocolError(
            Code.INVALID_PARAMS, f"`_meta` must hold {CAPABILITIES_KEY}, an object."
        )
    if version != STATELESS_VERSION:
        raise _unsupported(version)


def _unsupported(version: str) -> ProtocolError:
    return ProtocolError(
        Code.UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        data={"supported": list(VERSIONS), "requested": version[:40]},
    )


def _check_headers(message: Message, version: object, headers: Mapping[str, str]) -> None:
    wrong = None
    if headers.get(VERSION_HEADER) != version:
        wrong = VERSION_HEADER
    elif headers.get(METHOD_HEADER) != message.method:
        wrong = METHOD_HEADER
    elif message.method == "tools/call" and _decoded(headers.get(NAME_HEADER)) != (
        message.params.get("name")
    ):
        wrong = NAME_HEADER
    if wrong:
        raise ProtocolError(
            Code.HEADER_MISMATCH, f"The header {wrong} does not say what the body says."
        )


def _decoded(header: str | None) -> str | None:
    """Return a header's value; one that plain ASCII cannot carry is sent as base64."""
    start, end = "=?base64?", "?="
    if header is None or not (header.startswith(start) and header.endswith(end)):
        return header
    try:
        return base64.b64decode(header[len(start) : -len(end)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def settle_version(asked: object) -> str:
    """Return the version that a handshake agrees on: the client's, else our latest of that era."""
    return asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]  # type: ignore[return-value]


def listing(result: Mapping[str, Any]) -> dict[str, Any]:
    """Mark a result that a client may keep for a while, for this token alone."""
    return {**result, "ttlMs": LISTING_TTL_MS, "cacheScope": "private"}


def answer_result(message: Message, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request in the words of its era."""
    if message.is_stateless:
        result = {**result, "resultType": "complete", "_meta": {SERVER_KEY: SERVER}}
    return {"jsonrpc": "2.0", "id": message.id, "result": dict(result)}


def answer_error(id: str | int | None, error: ProtocolError) -> dict[str, Any]:
    """Return the answer that names an error; `id` is None when it could not be read."""
    body: dict[str, Any] = {"code": int(error.code), "message": error.message}
    if error.data is not None:
        body["data"] = dict(error.data)
    return {"jsonrpc": "2.0", "id": id, "error": body}
