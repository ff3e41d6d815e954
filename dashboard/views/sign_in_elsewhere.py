"""Signing in by an OpenID Connect issuer, and connecting one's account there on Settings."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_GET

from dashboard import oidc, words
from dashboard.http import say
from dashboard.views import sign_in
from junior_memory.single_sign_on import Refused

OURS = frozenset({"same-origin", "none"})


@require_GET
def leave(request: HttpRequest) -> HttpResponse:
    """Go to the issuer; a page of another site cannot send anybody on that way."""
    if request.headers.get("Sec-Fetch-Site", "none") not in OURS:
        return HttpResponseRedirect(reverse("sign_in"))
    try:
        return oidc.send_away(request, default=_home(request))
    except Refused as error:
        return _refused(request, error)


@require_GET
def come_back(request: HttpRequest) -> HttpResponse:
    """Sign in whom the issuer means, or say why not."""
    try:
        return oidc.take_back(request)
    except Refused as error:
        return _refused(request, error)


def _home(request: HttpRequest) -> str:
    if request.user.is_authenticated:
        return f"{reverse('settings')}#identities"
    return reverse("memories")


def _refused(request: HttpRequest, error: Refused) -> HttpResponse:
    if request.user.is_authenticated:
        say(request, words.refused(error), failed=True)
        return HttpResponseRedirect(_home(request))
    return sign_in.page(request, refusal=words.refused(error), status=403)
