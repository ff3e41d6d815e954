"""Taking everything out, putting memories in."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Router

from api.auth import ApiRequest, may_read, may_write
from api.bodies import IMPORT_BODY, read_streamed
from api.failures import malformed
from api.schemas import Out
from junior_memory import exchange

router = Router(tags=["exchange"], by_alias=True)

LINES_AT_ONCE = 200


class ImportRefusalOut(Out):
    """One line that was left out, and why."""

    line: int
    code: str


class ImportedOut(Out):
    """What an import came to."""

    imported: int
    existing: int
    blocked: int
    refused: list[ImportRefusalOut]


def _chunks(lines: Iterator[str]) -> Iterator[str]:
    while chunk := "".join(islice(lines, LINES_AT_ONCE)):
        yield chunk


async def _chunks_from_thread(lines: Iterator[str]) -> AsyncIterator[str]:
    """Read in the request's own thread, which holds its database connection."""
    chunks = _chunks(lines)
    while chunk := await sync_to_async(lambda: next(chunks, ""))():
        yield chunk


def stream_lines(request: HttpRequest, lines: Iterator[str]) -> StreamingHttpResponse:
    """Send lines as they are made, under WSGI and ASGI alike."""
    parts = _chunks_from_thread(lines) if isinstance(request, ASGIRequest) else _chunks(lines)
    return StreamingHttpResponse(parts, content_type="application/x-ndjson")


@router.get(
    "/export",
    auth=may_read(),
    openapi_extra={
        "responses": {
            200: {
                "description": "One JSON object a line; the last one holds count and checksum",
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
            }
        }
    },
)
def get_export(request: ApiRequest) -> StreamingHttpResponse:
    """Take out everything held about you, with its state; the read is audited."""
    lines = exchange.export_lines(request.auth.user, doer=request.auth.doer)
    response = stream_lines(request, lines)
    response.headers["Content-Disposition"] = 'attachment; filename="junior-memory.ndjson"'
    return response


@router.post(
    "/import",
    auth=may_write(IMPORT_BODY),
    response=ImportedOut,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        }
    },
)
def post_import(request: ApiRequest) -> ImportedOut:
    """Put the active memories of an export in: always private, new ids, twice changes nothing."""
    try:
        text = read_streamed(request, IMPORT_BODY).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise malformed("The body is not text in UTF-8.") from error
    result = exchange.import_lines(request.auth.viewer, text.split("\n"), doer=request.auth.doer)
    return ImportedOut(
        imported=result.imported,
        existing=result.existing,
        blocked=result.blocked,
        refused=[ImportRefusalOut(line=one.line, code=one.code) for one in result.refused or []],
    )
