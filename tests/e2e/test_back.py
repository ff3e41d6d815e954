"""The back button: after each thing that changes in place, it shows whole pages as they are now."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.cast import Cast
from tests.e2e.acts import assert_whole, disagree, forget, remember, row
from tests.e2e.conftest import Visit
from tests.factories import make_memory

Act = Callable[[Page], None]


def search(page: Page) -> None:
    page.locator("#q").fill("oolong")
    expect(page).to_have_url(re.compile("q=oolong"))
    expect(page.locator("mark")).to_have_text("oolong")


def choose(page: Page) -> None:
    page.locator(".chip", has_text="Private").click()
    expect(page).to_have_url(re.compile("visibility=private"))


def show_more(page: Page) -> None:
    page.get_by_role("link", name="Show more").click()
    expect(page.locator(".memory")).to_have_count(31)


def forget_one(page: Page) -> None:
    forget(page, "oolong")


def undo(page: Page) -> None:
    forget(page, "oolong")
    page.keyboard.press("u")
    expect(row(page, "oolong")).to_be_visible()


def correct(page: Page) -> None:
    row(page, "oolong").get_by_role("link", name="Correct").click()
    page.get_by_label("What should it say instead?").fill("Drinks sencha before noon.")
    page.get_by_role("button", name="Correct").click()
    expect(row(page, "sencha")).to_be_visible()


def begin_to_correct(page: Page) -> None:
    row(page, "oolong").get_by_role("link", name="Correct").click()
    page.locator("[data-editing]").wait_for()


def forget_several(page: Page) -> None:
    for content in ("oolong", "notebook"):
        row(page, content).get_by_role("checkbox").check()
    page.get_by_role("button", name="Forget selected").click()
    expect(row(page, "oolong")).to_have_count(0)


def add(page: Page) -> None:
    page.keyboard.press("n")
    page.get_by_label("What should be remembered?").fill("Likes the window seat.")
    page.get_by_role("button", name="Remember this").click()
    expect(row(page, "window seat")).to_be_visible()


CHANGES = {
    "search": (search, ["oolong"], ["notebook"]),
    "filter": (choose, ["oolong", "notebook"], ["Fact of everyone"]),
    "load more": (show_more, ["notebook"], []),
    "forget": (forget_one, ["notebook"], ["oolong"]),
    "undo": (undo, ["oolong"], []),
    "correct": (correct, ["sencha"], ["oolong"]),
    "begin to correct": (begin_to_correct, ["oolong", "deploys"], []),
    "bulk": (forget_several, ["deploys"], ["oolong", "notebook"]),
    "add": (add, ["window seat"], []),
}
"""What is done on the list, what the list then holds, and what it no longer holds."""


@pytest.mark.parametrize("change", CHANGES)
def test_back_to_the_list_after_a_change_in_place(cast: Cast, visit: Visit, change: str) -> None:
    if change == "load more":
        for number in range(27):
            make_memory(content=f"Fact number {number}.", owner=cast.alice)
    make_memory(content="Fact of everyone.", visibility="public")
    remember(cast.alice)
    act, there, gone = CHANGES[change]
    page = visit(cast.alice)
    act(page)
    page.locator(".fact a", has_text=there[-1]).click()
    expect(page.locator("h1")).to_contain_text(there[-1])
    page.go_back()
    assert_whole(page, "Memories")
    for content in there:
        expect(row(page, content)).to_be_visible()
    for content in gone:
        expect(page.locator(".fact", has_text=content)).to_have_count(0)
    expect(page.locator("[data-editing], [data-state='forgotten-now']")).to_have_count(0)


@pytest.mark.parametrize("act", [choose, add], ids=["filter", "add"])
def test_back_and_forth_through_the_addresses_of_the_list(
    cast: Cast, visit: Visit, act: Act
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, "/memories?kind=preference")
    act(page)
    after = page.url
    assert after != f"{visit.url}/memories?kind=preference"
    page.go_back()
    expect(page).to_have_url(re.compile("kind=preference$"))
    assert_whole(page, "Memories")
    expect(page.locator("#filters .chip[aria-current]")).to_contain_text(["Preference"])
    page.go_forward()
    expect(page).to_have_url(after)
    assert_whole(page, "Memories")


def test_back_after_a_filter_shows_what_was_forgotten_meanwhile_no_more(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    page = visit(cast.alice)
    choose(page)
    forget(page, "oolong")
    page.go_back()
    expect(page).to_have_url(re.compile("/memories$"))
    expect(row(page, "notebook")).to_be_visible()
    expect(page.locator(".memory")).to_have_count(2)
    assert "notebook" not in page.evaluate("JSON.stringify([localStorage, sessionStorage])")


def test_letters_are_one_step_back_and_the_box_says_what_is_listed(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    page = visit(cast.alice)
    choose(page)
    page.locator("#q").press_sequentially("oolong")
    expect(page).to_have_url(re.compile("q=oolong"))
    expect(page.locator("mark")).to_have_text("oolong")
    page.go_back()
    expect(page).to_have_url(re.compile("/memories$"))
    assert_whole(page, "Memories")
    expect(page.locator("#q")).to_have_value("")
    expect(page.locator(".memory")).to_have_count(3)


def test_back_to_a_memory_after_forgetting_and_undoing_it(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    page = visit(cast.alice)
    page.locator(".fact a", has_text="oolong").click()
    address = page.url
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    expect(page).to_have_url(re.compile("/memories$"))
    page.go_back()
    expect(page).to_have_url(address)
    expect(page.locator("#state")).to_contain_text("Forgotten on")
    page.get_by_role("button", name="Bring back").click()
    expect(page.locator("#state")).to_have_count(0)
    page.goto("/settings")
    page.go_back()
    expect(page).to_have_url(address)
    expect(page.locator("#state")).to_have_count(0)
    expect(page.locator("h1")).to_contain_text("oolong")
    expect(page.locator(".nav")).to_be_visible()


@pytest.mark.parametrize("back_first", [False, True], ids=["decided", "reopened"])
def test_back_to_the_inbox_after_a_decision(cast: Cast, visit: Visit, back_first: bool) -> None:
    disagree(cast.alice)
    page = visit(cast.alice, "/inbox")
    page.get_by_role("button", name="Keep this one").first.click()
    page.locator("[data-state='decided']").wait_for()
    if back_first:
        page.keyboard.press("u")
        expect(page.locator(".pair-sides")).to_be_visible()
    page.get_by_role("link", name="Settings").click()
    assert_whole(page, "Settings")
    page.go_back()
    assert_whole(page, "Inbox")
    if back_first:
        expect(page.locator(".pair-sides")).to_be_visible()
    else:
        expect(page.locator("main")).to_contain_text("Nothing waits for you.")


def test_back_to_what_if_after_an_answer(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    page = visit(cast.alice, "/recall")
    page.get_by_label("A message to the assistant").fill("May I deploy on Fridays?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="Switch off").first.click()
    page.locator("#off").wait_for()
    page.get_by_role("link", name="Settings").click()
    assert_whole(page, "Settings")
    page.go_back()
    assert_whole(page, "What would be recalled")
    page.get_by_label("A message to the assistant").fill("May I deploy on Fridays?")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#off")).to_have_count(0)
    expect(page.locator("#given")).to_be_visible()


def test_back_to_settings_after_a_token_does_not_show_it_again(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice, "/settings")
    page.click("#tokens summary")
    page.get_by_role("button", name="Make token").click()
    secret = page.locator("#new-token").inner_text()
    page.get_by_role("link", name="Inbox").click()
    assert_whole(page, "Inbox")
    page.go_back()
    assert_whole(page, "Settings")
    expect(page.locator("#tokens")).to_contain_text(secret[:8])
    expect(page.locator("body")).not_to_contain_text(secret)
