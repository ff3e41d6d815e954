"""A real browser on a real server: the system's Chromium, found on the path."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, expect
from pytest_django.live_server_helper import LiveServer

from junior_memory.models import User
from tests.cast import Cast, make_cast

# Playwright keeps an event loop in the test's thread, where Django would refuse the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

PATIENCE_MS = 20_000
"""How long a page may take to show what a test waits for; nothing waits longer than it must."""

expect.set_options(timeout=PATIENCE_MS)

FORM_REFUSED = "status of 422"
"""A form with a mistake is answered by 422, which the browser reports as a failed load."""

NewContext = Callable[..., BrowserContext]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark these tests, and skip them where there is no browser."""
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.e2e)
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Start the system's browser without its services."""
    return browser_type_launch_args | {"executable_path": CHROMIUM, "args": list(QUIET)}


@pytest.fixture(scope="session")
def base_url() -> None:
    """Addresses are the live server's; the plugin's own fixture is of a kind pytest gives up."""


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """Return the people of the tests, committed, so that the server sees them."""
    return make_cast()


class Visit:
    """Opens pages and listens to what their browsers complain about."""

    def __init__(self, new_context: NewContext, url: str) -> None:
        self._new_context = new_context
        self.url = url
        self.complaints: list[str] = []
        self._forgiven: list[re.Pattern[str]] = []

    def __call__(self, user: User | None, path: str = "/memories", **options: Any) -> Page:
        context = self._new_context(base_url=self.url, **options)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if user is not None:
            self._sign_in(page, user)
        page.goto(path)
        return page

    def forgive(self, *words: str | int) -> None:
        """Expect complaints with one of these words or statuses, which the test provokes.

        A console is heard a moment after the page shows what happened; so this holds for the test.
        """
        self._forgiven += [re.compile(rf"\b{re.escape(str(word))}\b") for word in words]

    def unforgiven(self) -> list[str]:
        """Return what no test asked for."""
        return [
            said for said in self.complaints if not any(one.search(said) for one in self._forgiven)
        ]

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and FORM_REFUSED not in message.text:
            self.complaints.append(message.text)

    def _sign_in(self, page: Page, user: User) -> None:
        """Hand over the cookie of a session; the form has a test of its own."""
        client = Client()
        client.force_login(user)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        page.context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": cookie.value, "url": self.url}]
        )


@pytest.fixture
def visit(cast: Cast, new_context: NewContext, live_server: LiveServer) -> Iterator[Visit]:
    """Return a function that opens a page for a person, signed in, in a browser of their own.

    Further arguments are those of Playwright's contexts (`java_script_enabled`, `viewport`, …).
    What a browser complains about in its console fails the test, unless the test forgives it.
    """
    visiting = Visit(new_context, live_server.url)
    yield visiting
    assert not visiting.unforgiven()
