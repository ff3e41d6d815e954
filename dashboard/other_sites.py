"""What a page of another site may make a browser do here: follow a link, and nothing else.

The second net under CSRF tokens and SameSite cookies, by what the browser itself says about a
request (Fetch Metadata, Origin). Who sends a bearer token is no browser led astray: no other site
knows one.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.deprecation import MiddlewareMixin

from dashboard.views import errors

OURS = frozenset({"same-origin", "none"})
SAFE_METHODS = frozenset({"GET", "HEAD"})
KEPT_TO_US = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class OtherSites(MiddlewareMixin):
    """Refuses what another site started, unless MEMORY_TRUSTED_ORIGINS names that site."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Answer 403 before anything is read; None lets the request pass."""
        if any("\x00" in value for value in request.COOKIES.values()):
            # A quoted cookie may spell one; no key of a session can be looked up by it.
            return errors.bad_request(request)
        if _has_token(request) or _is_welcome(request):
            return None
        return errors.foreign(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Let no other site embed an answer, and no cache keep one that says nothing about it."""
        del request
        response.headers.setdefault("Cache-Control", "no-store")
        for name, value in KEPT_TO_US.items():
            response.headers.setdefault(name, value)
        return response


def _has_token(request: HttpRequest) -> bool:
    """True for a bearer's. Name and password from an address are sent by a browser led astray."""
    return request.headers.get("Authorization", "").strip().lower().startswith("bearer ")


def _is_welcome(request: HttpRequest) -> bool:
    is_safe = request.method in SAFE_METHODS
    has_origin = "Origin" in request.headers
    if has_origin and _is_ours_or_trusted(request):
        return True
    if has_origin and not is_safe:
        return False
    if request.headers.get("Sec-Fetch-Site", "none") in OURS:
        return True
    return (
        is_safe
        and request.headers.get("Sec-Fetch-Mode") == "navigate"
        and request.headers.get("Sec-Fetch-Dest") == "document"
    )


def _is_ours_or_trusted(request: HttpRequest) -> bool:
    """Ask Django's own reading of Origin, so that both nets agree about who is trusted."""
    guard = CsrfViewMiddleware(lambda _: HttpResponse())
    return bool(guard._origin_verified(request))  # type: ignore[attr-defined]
