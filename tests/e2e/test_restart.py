"""A real web process that is stopped and started again while a page acts."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from playwright.sync_api import Page, expect

from junior_memory.locks import lock, owner_lock
from junior_memory.models import AuditEntry, User
from tests.cast import Cast
from tests.e2e.acts import FACTS, is_active, remember, row
from tests.e2e.conftest import NewContext, Visit
from tests.processes import ROOT, environment, wait_for

NO_MODELS = {"MEMORY_EMBEDDER": "none", "AI_MEMORY_MODEL": ""}

WAITS = """SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND NOT granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


class Web:
    """One web process on a port that stays its own while it is away."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Serve, and return once it answers."""
        command = [sys.executable, "-m", "uvicorn", "junior_memory.asgi:application"]
        self._process = subprocess.Popen(
            [*command, "--port", str(self.port), "--no-access-log", "--log-level", "critical"],
            cwd=ROOT,
            env=environment(**NO_MODELS),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(self._answers, seconds=60)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "the web process ended instead of serving"
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def ask_to_stop(self) -> None:
        """Send it the signal of a restart; what it has begun it may finish."""
        assert self._process is not None
        self._process.terminate()

    def kill(self) -> None:
        """End it at once, whatever it was doing."""
        assert self._process is not None
        self._process.kill()
        self.wait()

    def wait(self) -> None:
        """Return when it is gone."""
        assert self._process is not None
        self._process.wait(timeout=30)
        self._process = None

    def is_running(self) -> bool:
        """True until it is gone."""
        return self._process is not None


@pytest.fixture
def web(transactional_db: None) -> Iterator[Web]:
    """Return a web process that serves."""
    served = Web()
    served.start()
    yield served
    if served.is_running():
        served.kill()


@pytest.fixture
def page(cast: Cast, web: Web, new_context: NewContext) -> Page:
    """Return Alice's list, served by the process."""
    remember(cast.alice)
    return Visit(new_context, web.url)(cast.alice)


def click_forget(page: Page) -> None:
    """Click, and return without waiting for the answer."""
    row(page, "oolong").get_by_role("button", name="Forget").click()


@contextmanager
def in_the_middle_of_a_click(page: Page, user: User) -> Iterator[None]:
    """Click, and hold the server at what it does for the click until the block is left."""
    with transaction.atomic():
        lock([owner_lock(user.pk)])
        click_forget(page)
        wait_for(server_is_at_it)
        yield


def server_is_at_it() -> bool:
    """True while a request of the process waits for the lock that the test holds."""
    with connection.cursor() as cursor:
        cursor.execute(WAITS)
        found = cursor.fetchone()
    return bool(found and found[0])


def assert_said_and_retried(page: Page, web: Web) -> None:
    """Assert that the page says what happened, and that the same click works once it serves."""
    toast = page.locator(".toast[data-tone=error]")
    expect(toast).to_contain_text("No answer. Check your connection and try again.")
    expect(row(page, "oolong")).to_be_visible()
    assert is_active(FACTS[1])
    web.start()
    click_forget(page)
    expect(page.locator("[data-state='forgotten-now']")).to_be_visible()
    expect(toast).to_have_count(0)
    assert not is_active(FACTS[1])
    assert AuditEntry.objects.filter(action="forgot").count() == 1


def test_a_click_while_the_server_is_away_is_said_and_works_once_it_is_back(
    page: Page, web: Web
) -> None:
    web.ask_to_stop()
    web.wait()
    click_forget(page)
    assert_said_and_retried(page, web)


def test_a_server_killed_in_the_middle_of_a_click_has_done_nothing(
    cast: Cast, page: Page, web: Web
) -> None:
    with in_the_middle_of_a_click(page, cast.alice):
        web.kill()
        expect(page.locator(".toast[data-tone=error]")).to_be_visible()
    wait_for(lambda: not server_is_at_it())
    assert_said_and_retried(page, web)


def test_a_server_that_is_restarted_first_answers_the_click_that_it_took(
    cast: Cast, page: Page, web: Web
) -> None:
    with in_the_middle_of_a_click(page, cast.alice):
        web.ask_to_stop()
    expect(page.locator("[data-state='forgotten-now']")).to_be_visible()
    web.wait()
    assert not is_active(FACTS[1])
    page.keyboard.press("u")
    expect(page.locator(".toast[data-tone=error]")).to_contain_text("No answer.")
    web.start()
    page.locator("[data-state='forgotten-now']").get_by_role("button", name="Undo").click()
    expect(row(page, "oolong")).to_be_visible()
    assert is_active(FACTS[1])


def test_typing_goes_on_after_a_restart(page: Page, web: Web) -> None:
    web.ask_to_stop()
    web.wait()
    page.locator("#q").press_sequentially("ool")
    expect(page.locator(".toast[data-tone=error]")).to_contain_text("No answer.")
    expect(page.locator(".memory")).to_have_count(3)
    web.start()
    page.locator("#q").press_sequentially("ong")
    expect(page.locator("mark")).to_have_text("oolong")
    expect(page.locator(".memory")).to_have_count(1)
