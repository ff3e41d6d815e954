"""Error pages.

None of them asks the database, the session or the person, which may be what failed.
"""

from __future__ import annotations

import sys
from math import ceil

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from dashboard.amounts import number
from dashboard.http import wants_part

SAID = {"HX-Reswap": "none", "Cache-Control": "no-store"}
"""A whole page would be swapped into the place that was clicked, and stand inside the page."""


def _answer(
    request: HttpRequest, *, status: int, code: str, message: str, page: str
) -> HttpResponse:
    response: HttpResponse
    if request.path.startswith(("/api/", "/mcp")):
        response = JsonResponse({"error": {"code": code, "message": message}}, status=status)
    else:
        body = render_to_string(f"errors/{page}.html", {"message": _(message)})
        response = HttpResponse(body, status=status)
    add_never_cache_headers(response)
    response["Cache-Control"] = "no-store"
    return response


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """400: the request could not be read."""
    message = gettext_noop("That request could not be understood.")
    return _answer(request, status=400, code="bad_request", message=message, page="400")


def refused(request: HttpRequest, message: str, *, status: int, page: str = "400") -> HttpResponse:
    """409, 422 or 429: understood and not done, with the reason; to htmx it is said in a toast."""
    if wants_part(request):
        body = render_to_string("errors/_refused.html", {"message": _(message)})
        return HttpResponse(body, status=status, headers=SAID)
    return _answer(request, status=status, code="refused", message=message, page=page)


def too_many(request: HttpRequest, *, wait_seconds: int) -> HttpResponse:
    """429: tried too often; says how long to wait."""
    minutes = ceil(wait_seconds / 60)
    wait = ngettext(
        "That was tried too often. It works again in {n} minute.",
        "That was tried too often. It works again in {n} minutes.",
        minutes,
    )
    response = refused(request, wait.format(n=number(minutes)), status=429, page="429")
    response["Retry-After"] = str(wait_seconds)
    return response


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """403: known, but not allowed."""
    message = gettext_noop("You may not do that.")
    return _answer(request, status=403, code="forbidden", message=message, page="403")


def foreign(request: HttpRequest) -> HttpResponse:
    """403: started by a page of another site."""
    message = gettext_noop("You may not do that.")
    return _answer(request, status=403, code="origin", message=message, page="403")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001
    """403: the form is too old, or came from another site."""
    message = gettext_noop("This form is no longer valid. Go back, reload the page and try again.")
    return _answer(request, status=403, code="csrf", message=message, page="403")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """404: absent, or somebody else's: the same answer for both."""
    message = gettext_noop("There is nothing here.")
    return _answer(request, status=404, code="not_found", message=message, page="404")


def unavailable(request: HttpRequest) -> HttpResponse:
    """503: what is remembered cannot be reached just now."""
    message = gettext_noop("The memory store does not answer just now. Try again in a moment.")
    response = _answer(request, status=503, code="unavailable", message=message, page="503")
    response["Retry-After"] = "5"
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 when what failed outside of a view was the database."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return unavailable(request)
    message = gettext_noop("Something went wrong on our side. Nothing was lost.")
    return _answer(request, status=500, code="error", message=message, page="500")
