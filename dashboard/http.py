"""How a view answers: the typed request, and the one helper that renders a page or its part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from junior_memory.access import Viewer, person
from junior_memory.audit import Doer
from junior_memory.models import User

UNDO_TAG = "undo:"
"""Before the address that undoes what a message reports."""


COUNTED_BY = "counted_by"
"""Of a request: how the page counts all that its person sees, so that the frame need not again."""

WAITING_BY = "waiting_by"
"""Of a request: how the page counts what waits for its person's word."""


class HtmxHttpRequest(HttpRequest):
    """A request of a signed-in person, with what htmx says about itself."""

    htmx: HtmxDetails
    user: User


View = Callable[..., HttpResponseBase]


def viewer_of(request: HtmxHttpRequest) -> Viewer:
    """Return on whose behalf this page reads."""
    return person(request.user)


def doer_of(request: HtmxHttpRequest) -> Doer:
    """Return who acts, for the audit: the person, through a page."""
    return Doer(user=request.user, via="page")


def wants_part(request: HttpRequest) -> bool:
    """True when htmx asks for the part that changed rather than for a page."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    return htmx is not None and bool(htmx) and not (htmx.boosted or htmx.history_restore_request)


def render(
    request: HttpRequest,
    page: str,
    context: dict[str, Any] | None = None,
    *,
    part: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the page, or its `part` when htmx asks; what was just done rides along with the part.

    The answer varies with HX-Request, so that the back button never shows a fragment, and no cache
    keeps it: it holds memories.
    """
    partial = bool(part) and wants_part(request)
    body = render_to_string(part if partial else page, context, request)
    if partial and request.method == "POST":
        body += render_to_string("dashboard/_changes.html", context, request)
    response = HttpResponse(body, status=status)
    add_never_cache_headers(response)
    patch_vary_headers(response, ["HX-Request"])
    return response


def redirect_to(request: HttpRequest, url: str) -> HttpResponse:
    """Send the browser to a page, also when htmx asked."""
    if wants_part(request):
        return HttpResponseClientRedirect(url)
    return HttpResponseRedirect(url)


def say(
    request: HttpRequest, text: str, *, undo: str = "", target: str = "", failed: bool = False
) -> None:
    """Tell the person what was done, with the address that undoes it. Never memory content.

    `target` selects the element that undoing changes, for htmx.
    """
    level = messages.ERROR if failed else messages.SUCCESS
    tags = f"{UNDO_TAG}{undo} {target}" if undo else ""
    messages.add_message(request, level, _(text), extra_tags=tags)


def next_url(request: HttpRequest, default: str) -> str:
    """Return the local address that a form or link asks to come back to."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    if url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        parts = urlsplit(wanted)
        # Of "http://here//there" the path alone would lead to another host.
        path = "/" + parts.path.lstrip("/\\")
        return path + (f"?{parts.query}" if parts.query else "")
    return default


def by_method(**views: View) -> View:
    """Serve one address with one view per verb; every other verb is 405 with `Allow`.

    `by_method(get=read_form, post=save)`; HEAD is served by GET.
    """
    allowed = {name.upper(): view for name, view in views.items()}
    if "GET" in allowed:
        allowed["HEAD"] = allowed["GET"]

    def dispatch(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        view = allowed.get(request.method or "")
        if view is None:
            return HttpResponseNotAllowed(sorted(allowed))
        return view(request, *args, **kwargs)

    return dispatch
