"""Mail to one person, in the language they read. Without a mail server it is printed here."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.core.mail import send_mail
from django.http import HttpRequest, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.functional import Promise

from dashboard.languages import language_of
from junior_memory.conf import conf
from junior_memory.models import User

_Text = str | Promise
"""A subject, best a lazy one: only that is still open to the language of who gets it."""

logger = logging.getLogger(__name__)


def post(address: str, subject: _Text, template: str, **context: Any) -> bool:
    """Send a text to an address that belongs to nobody here yet, in the language of the request.

    False when the mail server did not take it. Nothing of it is logged.
    """
    return _send(address, str(subject), render_to_string(template, context))


def address_of(request: HttpRequest, path: str) -> str:
    """Return a link for outside the pages: in production never by the host a request names."""
    return f"{conf().base_url}{path}" if settings.PRODUCTION else request.build_absolute_uri(path)


class PostedAfter(HttpResponseRedirect):
    """A redirect that sends a mail once the browser has it.

    Who waits for it cannot tell by the time whether there was a mail to send.
    """

    def __init__(self, redirect_to: str) -> None:
        super().__init__(redirect_to)
        self._mails: list[tuple[str, str, str]] = []

    def post(self, person: User, subject: _Text, template: str, **context: Any) -> None:
        """Write a text, in the person's language, to be sent at the end.

        Somebody else may have asked for it, so the language of the request is only the second best.
        """
        with translation.override(language_of(person) or translation.get_language()):
            self._mails.append((person.email, str(subject), render_to_string(template, context)))

    def close(self) -> None:
        """Send what was written; called by the server after the last byte."""
        super().close()
        while self._mails:
            _send(*self._mails.pop())


def _send(address: str, subject: str, text: str) -> bool:
    try:
        send_mail(subject, text, None, [address])
    except OSError as error:
        logger.error("a mail was not taken (%s)", type(error).__name__)
        return False
    return True
