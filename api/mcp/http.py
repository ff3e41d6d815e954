"""`POST /mcp`: one message in, one answer out, nothing kept between them.

What is wrong before a message is read (who calls, from where, how often, how much) is an HTTP
failure in the shape of every other call; what is wrong with the message is the protocol's error.
"""

import logging
from urllib.parse import urlsplit

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.http import is_same_domain

from api.auth import bearer_secret
from api.bodies import SESSION_BODY, take_body
from api.edge import guarded, not_allowed
from api.failures import (
    Refused,
    answer_domain_error,
    answer_failure,
    answer_refusal,
    forbidden,
)
from api.mcp.answering import answer
from api.mcp.asking import Asker, Claims, admit
from api.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    STATUS_OF_CODE,
    VERSION_HEADER,
    Code,
    ProtocolError,
    answer_error,
    answer_result,
    check_envelope,
    read_json,
    read_message,
    readable_id,
)
from junior_memory.errors import JuniorMemoryError

logger = logging.getLogger(__name__)


@guarded
def endpoint(request: HttpRequest) -> HttpResponse:
    """Answer one message; there is no stream to open and no session to end."""
    if request.method != "POST":
        return not_allowed("POST")
    try:
        check_origin(request)
        claims = Claims(
            actor=request.headers.get("X-Memory-Actor", "").strip(),
            source=request.headers.get("X-Memory-Source", "").strip(),
            conversation=request.headers.get("X-Memory-Conversation", "").strip(),
        )
        asker = admit(bearer_secret(request), claims)
        asker.spend(is_write=False)
        take_body(request, SESSION_BODY)
        return _answer_body(request, asker)
    except Refused as refused:
        return answer_refusal(refused)
    except JuniorMemoryError as error:
        return answer_domain_error(error)
    except (OperationalError, InterfaceError) as error:
        logger.error("the database does not answer (%s)", type(error).__name__)
        return answer_failure(503, "unavailable", "The service cannot answer just now; try again.")


def check_origin(request: HttpRequest) -> None:
    """Refuse a browser's request from another site; whoever is no browser sends no Origin."""
    origin = request.headers.get("Origin")
    if origin is None or origin == f"{request.scheme}://{request.get_host()}":
        return
    if not _is_trusted(origin):
        raise forbidden("Requests from this origin are not taken.", code="origin")


def _is_trusted(origin: str) -> bool:
    """True for an origin of MEMORY_TRUSTED_ORIGINS, which may begin with a wildcard."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        found = urlsplit(origin)
    except ValueError:
        return False
    return any(
        found.scheme == scheme and is_same_domain(found.netloc, domain.lstrip("*"))
        for scheme, _, domain in (one.partition("://") for one in settings.CSRF_TRUSTED_ORIGINS)
        if domain.startswith("*")
    )


def _answer_body(request: HttpRequest, asker: Asker) -> HttpResponse:
    value: object = None
    is_old = request.headers.get(VERSION_HEADER, HANDSHAKE_VERSIONS[0]) in HANDSHAKE_VERSIONS
    try:
        value = read_json(request.body)
        message = read_message(value)
        if message.id is None:
            return HttpResponse(status=202)
        is_old = is_old and not message.is_stateless
        if not is_old:
            check_envelope(message, request.headers)
        return JsonResponse(answer_result(message, answer(message, asker)))
    except ProtocolError as error:
        return JsonResponse(
            answer_error(readable_id(value), error), status=_status(error, is_old=is_old)
        )


def _status(error: ProtocolError, *, is_old: bool) -> int:
    """Return the status of an error; older clients take only 200 for what they could have meant."""
    if error.status is not None:
        return error.status
    unreadable = error.code in {Code.PARSE, Code.INVALID_REQUEST}
    return 200 if is_old and not unreadable else STATUS_OF_CODE[error.code]
