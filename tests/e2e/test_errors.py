"""Pages of refusals and failures: said, read in both themes, and left again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import OperationalError
from playwright.sync_api import Page, expect

from dashboard import tries
from junior_memory import records
from junior_memory.models import User
from tests.cast import Cast
from tests.e2e.accessible import needs_axe, objections, too_wide
from tests.e2e.acts import assert_whole, remember, sign_in
from tests.e2e.conftest import Visit

Provoke = Callable[[Page, pytest.MonkeyPatch], None]


def send_what_cannot_be_read(page: Page, _: pytest.MonkeyPatch) -> None:
    odd = {"name": "odd", "value": '"\\000"', "url": page.url}
    page.context.add_cookies([odd])  # type: ignore[list-item]
    page.goto("/memories")
    page.context.clear_cookies(name="odd")


def ask_for_what_is_not_allowed(page: Page, _: pytest.MonkeyPatch) -> None:
    page.goto("/system")


def ask_for_what_is_not_there(page: Page, _: pytest.MonkeyPatch) -> None:
    page.goto("/nowhere")


def try_too_often(page: Page, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tries, "TRIES", 0)
    page.context.clear_cookies()
    page.goto("/sign-in")
    sign_in(page, User(email="bob@example.com"), password="wrong horse")


def fail(error: Exception) -> Provoke:
    def broken(*_: object, **__: object) -> None:
        raise error

    def provoke(page: Page, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(records, "activity_of", broken)
        page.goto("/settings/activity")

    return provoke


ERRORS: dict[int, tuple[str, Provoke]] = {
    400: ("That did not work", send_what_cannot_be_read),
    403: ("Not allowed", ask_for_what_is_not_allowed),
    404: ("Nothing here", ask_for_what_is_not_there),
    429: ("Too many tries", try_too_often),
    500: ("Something went wrong", fail(RuntimeError("broken on purpose"))),
    503: ("One moment", fail(OperationalError("the database is away"))),
}
"""By status: what the page is called, and how it comes up."""


@needs_axe
@pytest.mark.parametrize("status", ERRORS)
def test_a_page_that_says_no_can_be_read_by_everyone(
    cast: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    title, provoke = ERRORS[status]
    page = visit(cast.alice, "/settings")
    with page.expect_response(lambda answer: answer.status == status):
        provoke(page, monkeypatch)
    expect(page.locator("h1")).to_have_text(title)
    assert objections(page) == []
    assert too_wide(page) == {}
    visit.forgive(status)


@pytest.mark.parametrize("status", [status for status in ERRORS if status != 429])
def test_there_is_a_way_on_from_a_page_that_says_no(
    cast: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    remember(cast.alice)
    title, provoke = ERRORS[status]
    page = visit(cast.alice, "/settings", java_script_enabled=False)
    provoke(page, monkeypatch)
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator("body")).not_to_contain_text("on purpose")
    monkeypatch.undo()
    page.locator("main").get_by_role("link").click()
    assert_whole(page, "Activity" if status == 503 else "Memories")
    visit.forgive(status)
