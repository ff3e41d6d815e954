"""In which language and time zone a person reads: their own choice, else the browser's, and UTC."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin

from junior_memory.models import User


class ForgetZone(MiddlewareMixin):
    """Starts and leaves every request in UTC: a thread serves one person after the other."""

    get_response: Callable[[HttpRequest], HttpResponse]

    def process_request(self, request: HttpRequest) -> None:
        """Begin in UTC; who is signed in is asked by the views that need it, not here."""
        del request
        timezone.deactivate()

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Leave nothing behind."""
        del request
        timezone.deactivate()
        return response


def read_as(user: User) -> None:
    """Go on in what the person chose. A choice that this server does not know counts as none."""
    language = language_of(user)
    if language:
        translation.activate(language)
    if user.time_zone in zones():
        timezone.activate(ZoneInfo(user.time_zone))


def language_of(user: User) -> str:
    """Return the language that the person chose; empty for none, or one that is not spoken here."""
    return user.language if user.language in dict(settings.LANGUAGES) else ""


@lru_cache(maxsize=1)
def zones() -> frozenset[str]:
    """Return the names of places with a time of their own, and UTC."""
    places = (name for name in available_timezones() if "/" in name)
    return frozenset({"UTC", *(p for p in places if not p.startswith(("Etc/", "posix", "right")))})
