"""Decorators by which each view checks for itself who asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast
from urllib.parse import urlencode, urlsplit

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from dashboard.http import redirect_to, wants_part
from dashboard.languages import read_as
from junior_memory.models import User

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def login_required(view: View) -> View:
    """Send whoever is not signed in to the sign-in page and back afterwards.

    A part that htmx asks for after the session ended moves the whole page there.
    """

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if isinstance(request.user, User):
            read_as(request.user)
            return view(request, *args, **kwargs)
        return redirect_to(request, f"{reverse('sign_in')}?{urlencode({'next': _here(request)})}")

    return cast(View, checked)


def staff_required(view: View) -> View:
    """As `login_required`, and 403 for people who are not staff."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not cast(User, request.user).is_staff:
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return cast(View, login_required(checked))


def _here(request: HttpRequest) -> str:
    """Return the page that the person is on: for a part, the one around it; for a post, none."""
    if wants_part(request):
        parts = urlsplit(request.headers.get("HX-Current-URL", ""))
        return parts.path + (f"?{parts.query}" if parts.query else "")
    return request.get_full_path() if request.method in {"GET", "HEAD"} else reverse("memories")
