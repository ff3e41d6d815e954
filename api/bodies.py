"""Reading what was sent: type, size, JSON. Everything that is not right is an error of ours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from django.http import HttpRequest, UnreadablePostError
from ninja.parser import Parser

from api.failures import Refused, malformed

MEGABYTE = 1024 * 1024
JSON_TYPES = frozenset({"application/json"})
NDJSON_TYPES = frozenset({"application/x-ndjson"})


@dataclass(frozen=True, slots=True)
class Intake:
    """What a call takes in: media types, most bytes, and whether a body belongs to it at all."""

    types: frozenset[str] = JSON_TYPES
    max_bytes: int = MEGABYTE
    is_expected: bool = True
    is_streamed: bool = False


NO_BODY = Intake(is_expected=False)
JSON_BODY = Intake()
SESSION_BODY = Intake(max_bytes=2 * MEGABYTE)
IMPORT_BODY = Intake(types=NDJSON_TYPES, max_bytes=50 * MEGABYTE, is_streamed=True)


def take_body(request: HttpRequest, intake: Intake) -> None:
    """Read the body within its limit. Raises Refused: 413 too large, 415 not JSON, 422 broken.

    A streamed body is only checked here; its view reads it by `read_streamed`.
    """
    declared = _declared_length(request)
    if declared == 0:
        return
    if declared is not None and declared > intake.max_bytes:
        raise _too_large(intake)
    if intake.is_streamed:
        _check_type(request, intake)
        return
    body = _read(request, intake)
    if not body:
        return
    _check_type(request, intake)
    if not intake.is_expected and parse_json(body) != {}:
        raise malformed("This call takes no body.")


def read_streamed(request: HttpRequest, intake: Intake) -> bytes:
    """Return a body that `take_body` left to the view. Raises Refused when it is too large."""
    return _read(request, intake)


def _declared_length(request: HttpRequest) -> int | None:
    text = str(request.META.get("CONTENT_LENGTH") or "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _check_type(request: HttpRequest, intake: Intake) -> None:
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        # Nothing is unpacked here: a few bytes could become any number.
        raise Refused(415, "unsupported_media_type", "Send the body as it is, not compressed.")
    if request.content_type not in intake.types:
        wanted = " or ".join(sorted(intake.types))
        raise Refused(415, "unsupported_media_type", f"Send {wanted}.")


def _read(request: HttpRequest, intake: Intake) -> bytes:
    # Reading through the stream instead of `request.body` bounds a body without a length; whoever
    # asks for `request.body` afterwards, or once more here, gets what was read.
    if not hasattr(request, "_body"):
        try:
            request._body = request.read(intake.max_bytes + 1)
        except UnreadablePostError as error:
            raise malformed("The body broke off.") from error
    if len(request.body) > intake.max_bytes:
        raise _too_large(intake)
    return bytes(request.body)


def _too_large(intake: Intake) -> Refused:
    return Refused(
        413, "too_large", f"The body may have {intake.max_bytes // MEGABYTE} MB at most."
    )


def parse_json(body: bytes) -> Any:
    """Return the parsed body. Raises Refused for anything that is not one JSON text in UTF-8."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise malformed("The body is not valid JSON.") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


class BodyParser(Parser):
    """Ninja's way to our JSON rules."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Parse what `take_body` has read."""
        return parse_json(request.body)
