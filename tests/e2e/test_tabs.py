"""Two tabs of one person, and a session that ends in the middle of a click."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from junior_memory.models import AuditEntry, User
from tests.cast import Cast
from tests.e2e.acts import (
    FACTS,
    disagree,
    forget,
    is_active,
    remember,
    row,
    sign_in,
)
from tests.e2e.conftest import Visit


def two_tabs(visit: Visit, user: User, path: str = "/memories") -> tuple[Page, Page]:
    """Open two tabs of one browser on one page."""
    one = visit(user, path)
    other = one.context.new_page()
    other.goto(path)
    return one, other


def test_correcting_what_the_other_tab_forgot_is_said_and_changes_nothing(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    one, other = two_tabs(visit, cast.alice)
    row(other, "oolong").get_by_role("link", name="Correct").click()
    other.get_by_label("What should it say instead?").fill("Drinks mate before noon.")
    forget(one, "oolong")
    other.get_by_role("button", name="Correct").click()
    expect(other.locator(".toast[data-tone=error]")).to_contain_text("no longer here")
    expect(other.get_by_label("What should it say instead?")).to_have_value(
        "Drinks mate before noon."
    )
    assert not is_active("Drinks mate before noon.")
    assert not is_active(FACTS[1])
    visit.forgive(404)


def test_a_selection_of_which_the_other_tab_forgot_one_forgets_the_rest(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    one, other = two_tabs(visit, cast.alice)
    for content in ("oolong", "notebook"):
        row(other, content).get_by_role("checkbox").check()
    forget(one, "oolong")
    other.get_by_role("button", name="Forget selected").click()
    expect(other.locator(".toast")).to_contain_text("Forgot 1 memory. 1 could not be forgotten.")
    expect(other.locator(".memory")).to_have_count(1)
    other.locator(".toast").get_by_role("button", name="Undo").click()
    expect(row(other, "notebook")).to_be_visible()
    assert is_active(FACTS[2])
    assert not is_active(FACTS[1])


def test_both_tabs_undo_one_forgetting(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    one, other = two_tabs(visit, cast.alice)
    forget(one, "oolong")
    forget(other, "oolong")
    for tab in (one, other):
        tab.locator("[data-state='forgotten-now']").get_by_role("button", name="Undo").click()
        expect(row(tab, "oolong")).to_be_visible()
    assert is_active(FACTS[1])


def test_undo_after_the_other_tab_erased_it_says_that_it_is_gone(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    one, other = two_tabs(visit, cast.alice)
    forget(one, "oolong")
    other.goto("/memories?state=forgotten")
    row(other, "oolong").get_by_role("link", name="Erase now").click()
    other.get_by_label("Type “erase” to confirm").fill("erase")
    other.get_by_role("button", name="Erase for good").click()
    expect(other.locator("h1")).to_have_text("Erased for good")
    one.keyboard.press("u")
    expect(one.locator(".toast[data-tone=error]")).to_contain_text("no longer here")
    expect(one.locator("body")).not_to_contain_text("oolong")
    visit.forgive(404)


def test_a_conflict_that_the_other_tab_decided_is_not_decided_again(
    cast: Cast, visit: Visit
) -> None:
    disagree(cast.alice)
    one, other = two_tabs(visit, cast.alice, "/inbox")
    one.get_by_role("button", name="Both are true").click()
    expect(one.locator("[data-state='decided']")).to_be_visible()
    other.get_by_role("button", name="Both are wrong").click()
    expect(other.locator(".toast[data-tone=error]")).to_contain_text("decided already")
    expect(other.locator("main")).to_have_count(1)
    expect(other.locator(".pair-sides")).to_be_visible()
    assert is_active("Lives in Husum.")
    assert is_active("Lives in Kiel.")
    visit.forgive(409)


def test_a_forget_after_the_session_ended_asks_to_sign_in_and_is_done_on_the_next_click(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, "/memories?kind=preference")
    Session.objects.all().delete()
    row(page, "oolong").get_by_role("button", name="Forget").click()
    expect(page).to_have_url(re.compile(r"/sign-in\?next=%2Fmemories%3Fkind%3Dpreference"))
    expect(page.locator("body")).not_to_contain_text("oolong")
    assert is_active(FACTS[1])
    sign_in(page, cast.alice)
    expect(page).to_have_url(re.compile(r"/memories\?kind=preference$"))
    forget(page, "oolong")
    assert not is_active(FACTS[1])
    assert AuditEntry.objects.filter(action="forgot").count() == 1


@pytest.mark.parametrize(
    ("path", "act"),
    [
        ("/memories", "search"),
        ("/inbox", "decide"),
        ("/recall", "ask"),
        ("/settings", "token"),
    ],
)
def test_a_click_after_the_session_ended_leads_back_to_the_page(
    cast: Cast, visit: Visit, path: str, act: str
) -> None:
    remember(cast.alice)
    disagree(cast.alice)
    page = visit(cast.alice, path)
    if act == "ask":
        page.get_by_label("A message to the assistant").fill("May I deploy on Fridays?")
    if act == "token":
        page.click("#tokens summary")
    Session.objects.all().delete()
    match act:
        case "search":
            page.locator("#q").fill("oolong")
        case "decide":
            page.get_by_role("button", name="Both are wrong").click()
        case "ask":
            page.get_by_role("button", name="Ask").click()
        case "token":
            page.get_by_role("button", name="Make token").click()
    expect(page.locator("h1")).to_have_text("Sign in")
    sign_in(page, cast.alice)
    expect(page).to_have_url(re.compile(f"{path}$"))
    assert is_active("Lives in Kiel.")


def test_a_tab_from_before_signing_in_again_says_that_it_is_out_of_date(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    one, other = two_tabs(visit, cast.alice)
    one.get_by_role("button", name="Sign out", exact=True).click()
    expect(one.locator("h1")).to_have_text("Sign in")
    sign_in(one, cast.alice)
    expect(one.locator("h1")).to_have_text("Memories")
    row(other, "oolong").get_by_role("button", name="Forget").click()
    expect(other.locator(".toast[data-tone=error]")).to_contain_text("out of date")
    assert is_active(FACTS[1])
    other.reload()
    forget(other, "oolong")
    assert not is_active(FACTS[1])
    visit.forgive(403)


def test_signing_out_in_one_tab_ends_the_other(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    one, other = two_tabs(visit, cast.alice)
    one.get_by_role("button", name="Sign out", exact=True).click()
    expect(one.locator("h1")).to_have_text("Sign in")
    other.locator(".chip", has_text="Private").click()
    expect(other.locator("h1")).to_have_text("Sign in")
    one.go_back()
    expect(one.locator("body")).not_to_contain_text("oolong")
