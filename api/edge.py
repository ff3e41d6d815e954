"""What every address of the interface has: HEAD, 405 in our shape, and no-store."""

from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from api.failures import answer_failure

View = Callable[..., HttpResponseBase]


def guarded(view: View) -> View:
    """Let HEAD do what GET does, without a body; make 405 ours; forbid storing the answer.

    CSRF is checked by the gates, for callers with a cookie alone.
    """

    @wraps(view)
    def guard(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        is_head = request.method == "HEAD"
        if is_head:
            request.method = "GET"
        response = view(request, *args, **kwargs)
        if response.status_code == 405:
            response = not_allowed(response.headers.get("Allow", ""))
        response.headers["Cache-Control"] = "no-store"
        if is_head:
            request.method = "HEAD"
            return _without_body(request, response)
        return response

    return csrf_exempt(guard)


def not_allowed(allowed: str) -> HttpResponse:
    """Answer a method that an address does not take; where GET works, so does HEAD."""
    methods = {method.strip() for method in allowed.split(",")}
    if "GET" in methods:
        methods.add("HEAD")
    return answer_failure(
        405,
        "method_not_allowed",
        "This address does not take that method.",
        headers={"Allow": ", ".join(sorted(methods))},
    )


def _without_body(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return the same status and headers; a stream is never begun."""
    if isinstance(response, StreamingHttpResponse):
        response.streaming_content = _no_parts() if isinstance(request, ASGIRequest) else iter(())
        return response
    if isinstance(response, HttpResponse):
        response.headers["Content-Length"] = str(len(response.content))
        response.content = b""
    return response


async def _no_parts() -> AsyncIterator[bytes]:
    parts: tuple[bytes, ...] = ()
    for part in parts:
        yield part
