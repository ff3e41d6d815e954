"""Opening a page as somebody, in a browser whose complaints fail the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from junior_memory.models import User

Visit = Callable[..., Page]
PATIENCE_MS = 8_000

FORM_REFUSED = "status of 422"
"""A form with a mistake is answered by 422, which the browser reports as a failed load."""


@contextmanager
def visits(browser: Browser, base_url: str) -> Iterator[Visit]:
    """Give a function that opens an address as a person: `visit(user, "/settings")`.

    Whatever the browser complains about fails at the end, a blocked style or script included.
    Keywords go to the browser's context: `viewport`, `color_scheme`, `java_script_enabled`.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and FORM_REFUSED not in message.text:
            complaints.append(message.text)

    def visit(user: User, path: str, **options: Any) -> Page:
        context = browser.new_context(base_url=base_url, **options)
        contexts.append(context)
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": base_url}])
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not complaints
