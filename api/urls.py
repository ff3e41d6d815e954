"""The REST interface: every call, and the one place that makes every failure ours.

Ninja lets unknown query keys pass, answers 405 in plain text, broken JSON with 400 and parses
`text/plain`; what it does not promise is done here and by the gates of `auth`.
"""

import logging
from collections.abc import Iterable

from django.core.exceptions import SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.http import require_GET
from ninja.errors import HttpError, ValidationError

from api import (
    chat,
    conversations,
    decisions,
    exchange,
    identities,
    me,
    memories,
    moderation,
    origins,
    recall,
    records,
    reporting,
    sessions,
    tools,
)
from api.bodies import BodyParser
from api.docs import DescribedAPI, LocalSwagger
from api.edge import guarded
from api.failures import Refused, answer_domain_error, answer_failure, answer_refusal
from api.schemas import field_errors
from junior_memory.errors import JuniorMemoryError

logger = logging.getLogger(__name__)

BASE = "/plugins/memory"
CHAT = "/chat"

api = DescribedAPI(
    title="Junior Memory",
    version="1",
    description="Long-term memory for assistants, in the hands of the people it is about.",
    urls_namespace="api",
    parser=BodyParser(),
    docs=LocalSwagger(),
    docs_url="/docs",
    docs_decorator=require_GET,
)
for module in (
    memories,
    origins,
    decisions,
    moderation,
    records,
    exchange,
    conversations,
    me,
    reporting,
    recall,
    sessions,
    identities,
    tools,
):
    api.add_router(BASE, module.router)
api.add_router(CHAT, chat.router)


@api.exception_handler(Refused)
def on_refused(_request: HttpRequest, refused: Refused) -> HttpResponse:
    """Answer what the edge turned away."""
    return answer_refusal(refused)


@api.exception_handler(JuniorMemoryError)
def on_domain_error(_request: HttpRequest, error: JuniorMemoryError) -> HttpResponse:
    """Answer what the domain refused."""
    return answer_domain_error(error)


@api.exception_handler(ValidationError)
def on_invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Answer parameters that do not fit."""
    fields = field_errors(error.errors)
    return answer_failure(
        422, "invalid", "The request does not fit what is asked for.", fields=fields
    )


@api.exception_handler(HttpError)
def on_http_error(_request: HttpRequest, error: HttpError) -> HttpResponse:
    """Answer what Ninja refuses by itself: a body that our parser could not read."""
    cause = error.__cause__
    if isinstance(cause, Refused):
        return answer_refusal(cause)
    return answer_failure(error.status_code, "invalid", "The request does not fit.")


@api.exception_handler(Http404)
def on_absent(_request: HttpRequest, _error: Http404) -> HttpResponse:
    """Answer an address that leads nowhere."""
    return answer_failure(404, "not_found", "Nothing here under that address.")


@api.exception_handler(SuspiciousOperation)
def on_suspicious(_request: HttpRequest, _error: SuspiciousOperation) -> HttpResponse:
    """Answer a request that Django itself distrusts."""
    return answer_failure(422, "malformed", "The request cannot be read.")


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def on_database_gone(_request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer while the database does not."""
    logger.error("the database does not answer (%s)", type(error).__name__)
    return answer_failure(503, "unavailable", "The service cannot answer just now; try again.")


@api.exception_handler(Exception)
def on_bug(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer a fault of ours: its class is logged, its text may hold content and is not."""
    got_request_exception.send(sender=None, request=request)
    logger.error("a call failed (%s)", type(error).__name__)
    return answer_failure(500, "internal", "Something went wrong here; nothing of yours was shown.")


@guarded
def nowhere(_request: HttpRequest) -> HttpResponse:
    """Answer any other address under /api/."""
    return answer_failure(404, "not_found", "Nothing here under that address.")


def _guarded_patterns(
    patterns: Iterable[URLPattern | URLResolver],
) -> list[URLPattern | URLResolver]:
    kept: list[URLPattern | URLResolver] = []
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            # Ninja keeps an address for the root only to know its path.
            is_root = pattern.name == "api-root"
            pattern.callback = nowhere if is_root else guarded(pattern.callback)
        kept.append(pattern)
    return kept


_patterns, _app_name, _namespace = api.urls
urlpatterns = [
    path("", include((_guarded_patterns(_patterns), _app_name), namespace=_namespace)),
    re_path(r"^[\s\S]*\Z", nowhere),
]
