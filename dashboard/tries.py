"""How often somebody may try to sign in, without a way to lock out whose address is known.

Tries from a browser that has signed in as this person before count for that browser alone; all
others share the person's. So whoever guesses ends only the tries of strangers, links by mail are
counted apart from passwords, and a person goes on from where they have been. No address is kept:
buckets hold keyed digests.
"""

from __future__ import annotations

import secrets
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from junior_memory.fingerprints import keyed
from junior_memory.models import User
from junior_memory.people import spend_rate

TRIES, TRIES_SECONDS = 20, 600
"""Wrong or right, by password: for one browser that is known, or for all strangers together."""
TRIES_FROM_ONE_PLACE = 300
"""Tries from one network address at any number of people."""
MAILS_TO_ONE, MAILS_FROM_ONE_PLACE, MAILS_SECONDS = 20, 5, 3600
"""Links that strangers may have mailed to one address, and from one place to it."""

COOKIE, COOKIE_SECONDS = "known", 365 * 24 * 3600
SALT = "junior_memory.known-browser"


def spend_try(request: HttpRequest, email: str) -> None:
    """Count a try at a password. Raises RateLimited."""
    browser = known_browser(request, email)
    if browser:
        spend_rate(f"sign-in-known:{browser}", limit=TRIES, window_seconds=TRIES_SECONDS)
        return
    place = _digest(_place(request))
    spend_rate(f"sign-in-from:{place}", limit=TRIES_FROM_ONE_PLACE, window_seconds=TRIES_SECONDS)
    spend_rate(f"sign-in:{_digest(email)}", limit=TRIES, window_seconds=TRIES_SECONDS)


def spend_mail(request: HttpRequest, email: str, *, of: str) -> None:
    """Count a link that is mailed, known address or not; `of` names its kind. RateLimited."""
    browser = known_browser(request, email)
    if browser:
        bucket = f"{of}-known:{browser}"
        spend_rate(bucket, limit=MAILS_FROM_ONE_PLACE, window_seconds=MAILS_SECONDS)
        return
    address, place = _digest(email), _digest(_place(request))
    # First the narrow one: who is past it must not use up what others have.
    bucket = f"{of}:{address}:{place}"
    spend_rate(bucket, limit=MAILS_FROM_ONE_PLACE, window_seconds=MAILS_SECONDS)
    spend_rate(f"{of}:{address}", limit=MAILS_TO_ONE, window_seconds=MAILS_SECONDS)


def known_browser(request: HttpRequest, email: str) -> str:
    """Return which browser of this person's asks, or nothing for one that never signed in so."""
    try:
        said = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=COOKIE_SECONDS)
        person, browser = UUID(said[0]), str(said[1])
    except (signing.BadSignature, ValueError, TypeError, IndexError, KeyError, AttributeError):
        return ""
    is_theirs = User.objects.filter(pk=person, email=email.strip().lower()).exists()
    return browser if is_theirs else ""


class KnownBrowsers(MiddlewareMixin):
    """Leaves a mark in a browser that has just signed in. It opens nothing by itself."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the cookie, after whichever way of signing in."""
        user: User | None = getattr(request, "signed_in_now", None)
        if user is not None and not known_browser(request, user.email):
            response.set_cookie(
                COOKIE,
                signing.dumps([str(user.pk), secrets.token_urlsafe(12)], salt=SALT),
                max_age=COOKIE_SECONDS,
                httponly=True,
                samesite="Lax",
                secure=settings.SESSION_COOKIE_SECURE,
            )
        return response


@receiver(user_logged_in, dispatch_uid="dashboard.tries")
def note_sign_in(request: Any, user: Any, **_: Any) -> None:
    """Remember for the answer who has just signed in."""
    if isinstance(request, HttpRequest) and isinstance(user, User):
        request.signed_in_now = user  # type: ignore[attr-defined]


def _digest(text: str) -> str:
    return keyed("rate", text.strip().lower()).rpartition("$")[2][:32]


def _place(request: HttpRequest) -> str:
    """Return where a request comes from; for IPv6 the network that one household gets."""
    address = str(request.META.get("REMOTE_ADDR") or "")
    return ":".join(address.split(":")[:4]) if ":" in address else address
