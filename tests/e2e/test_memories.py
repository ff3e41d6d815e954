"""A person and their memories, in a browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from junior_memory.models import User
from tests.cast import Cast
from tests.e2e.acts import is_active, row, sign_in, with_and_without_scripts
from tests.e2e.conftest import Visit
from tests.factories import make_memory

FACTS = (
    "Never deploys on Fridays.",
    "Drinks oolong before noon.",
    "Reviews small changes first.",
    "Keeps a paper notebook.",
)


@pytest.fixture
def page_of_alice(cast: Cast, visit: Visit) -> Page:
    """Return Alice's list with a few memories."""
    for content in FACTS:
        make_memory(content=content, owner=cast.alice)
    return visit(cast.alice)


def test_forget_moves_the_focus_to_the_way_back_and_undo_returns_it(page_of_alice: Page) -> None:
    page = page_of_alice
    page.locator(".memory", has_text="oolong").get_by_role("button", name="Forget").click()
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    expect(page.locator("#nav-count")).to_have_text("3")
    expect(page.locator("#summary")).to_contain_text("3 memories")
    expect(page.locator("[data-state='forgotten-now'] button")).to_be_focused()
    assert not is_active(FACTS[1])
    page.keyboard.press("u")
    expect(page.locator(".memory", has_text="oolong")).to_be_visible()
    expect(page.locator("#nav-count")).to_have_text("4")
    assert is_active(FACTS[1])


AT_ONCE = """() => {
  window.asBefore = true;
  new MutationObserver((_, observer) => {
    const undo = document.querySelector('#toasts [data-key=u]');
    if (undo) { observer.disconnect(); undo.click(); }
  }).observe(document.querySelector('#toasts'), { childList: true, subtree: true });
}"""
"""Press the way back in the moment it is there: no hand is as fast, but a key held down is."""


def test_an_undo_in_the_moment_it_appears_stays_on_the_page(page_of_alice: Page) -> None:
    page = page_of_alice
    page.evaluate(AT_ONCE)
    with page.expect_response(re.compile("/restore")):
        row(page, "oolong").get_by_role("button", name="Forget").click()
    expect(row(page, "oolong")).to_be_visible()
    assert page.evaluate("window.asBefore"), "the page was loaded anew"
    assert is_active(FACTS[1])


def test_several_are_forgotten_and_brought_back_in_one_move(page_of_alice: Page) -> None:
    page = page_of_alice
    for content in FACTS[:3]:
        page.locator(".memory", has_text=content).get_by_role("checkbox").check()
    expect(page.locator("[data-selected]")).to_have_text("3 selected")
    page.get_by_role("button", name="Forget selected").click()
    expect(page.locator(".memory")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory")).to_have_count(4)
    assert all(is_active(content) for content in FACTS)


@with_and_without_scripts
def test_what_is_ticked_is_looked_at_alone_before_it_is_forgotten(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    for content in FACTS:
        make_memory(content=content, owner=cast.alice)
    page = visit(cast.alice, java_script_enabled=scripts)
    alone = page.get_by_label("Show these alone")
    expect(alone).not_to_be_visible()
    for content in FACTS[:2]:
        row(page, content).get_by_role("checkbox").check()
    alone.check()
    shown = page.locator(".memory").filter(visible=True)
    expect(shown).to_have_count(2)
    row(page, FACTS[0]).get_by_role("checkbox").uncheck()
    expect(shown).to_have_count(1)
    expect(row(page, FACTS[1])).to_be_visible()
    alone.uncheck()
    expect(shown).to_have_count(4)
    alone.check()
    page.get_by_role("button", name="Forget selected").click()
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    expect(shown).to_have_count(3)
    assert [is_active(content) for content in FACTS] == [True, False, True, True]


def test_the_last_tick_taken_away_shows_every_row_again(page_of_alice: Page) -> None:
    page = page_of_alice
    row(page, "oolong").get_by_role("checkbox").check()
    page.get_by_label("Show these alone").check()
    shown = page.locator(".memory").filter(visible=True)
    expect(shown).to_have_count(1)
    row(page, "oolong").get_by_role("checkbox").uncheck()
    expect(shown).to_have_count(4)
    row(page, "notebook").get_by_role("checkbox").check()
    expect(shown).to_have_count(1)
    page.get_by_role("button", name="Clear").click()
    expect(shown).to_have_count(4)
    expect(page.locator(".bulk")).not_to_be_visible()


def test_search_answers_while_typing_and_back_returns(page_of_alice: Page) -> None:
    page = page_of_alice
    page.keyboard.press("/")
    page.keyboard.type("deploys")
    expect(page.locator("mark")).to_have_text("deploys")
    expect(page.locator(".memory")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/memories\?q=deploys$"))
    expect(page.locator("#q")).to_be_focused()
    page.locator(".fact a").first.click()
    expect(page.locator("h1")).to_have_text(FACTS[0])
    page.go_back()
    expect(page.locator("#q")).to_have_value("deploys")
    expect(page.locator(".memory")).to_have_count(1)


def test_correct_in_place(page_of_alice: Page) -> None:
    page = page_of_alice
    page.locator(".memory", has_text="oolong").get_by_role("link", name="Correct").click()
    box = page.get_by_label("What should it say instead?")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    page.locator(".memory", has_text="oolong").get_by_role("link", name="Correct").click()
    box.fill("Drinks sencha before noon.")
    page.get_by_role("button", name="Correct").click()
    expect(page.locator(".memory", has_text="sencha")).to_contain_text("in your own words")
    assert is_active("Drinks sencha before noon.")
    assert not is_active(FACTS[1])


def test_two_tabs_that_correct_one_memory_see_the_conflict(
    page_of_alice: Page, visit: Visit
) -> None:
    page = page_of_alice
    other = page.context.new_page()
    other.goto("/memories")
    for tab, content in ((other, "Drinks cocoa before noon."), (page, "Drinks mate before noon.")):
        tab.locator(".memory", has_text="oolong").get_by_role("link", name="Correct").click()
        tab.get_by_label("What should it say instead?").fill(content)
    other.get_by_role("button", name="Correct").click()
    expect(other.locator(".memory", has_text="cocoa")).to_be_visible()
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("alert")).to_contain_text("changed since you read it")
    expect(page.get_by_label("What should it say instead?")).to_have_value(
        "Drinks mate before noon."
    )
    visit.forgive(409)


def test_add_by_keyboard(page_of_alice: Page) -> None:
    page = page_of_alice
    page.keyboard.press("n")
    page.get_by_label("What should be remembered?").fill("Likes the window seat.")
    page.get_by_role("button", name="Remember this").click()
    expect(page.locator(".memory").first).to_contain_text("Likes the window seat.")
    expect(page.locator(".toast")).to_contain_text("Remembered.")


def test_keys_walk_the_list_and_forget(page_of_alice: Page) -> None:
    page = page_of_alice
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".memory").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".memory").nth(0)).to_be_focused()
    page.keyboard.press("f")
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts dl")).to_be_visible()


def test_what_came_since_the_last_visit_is_marked_until_the_next(cast: Cast, visit: Visit) -> None:
    now = timezone.now()
    for content, days in (("Came long ago.", 3), ("Came meanwhile.", 1), ("Came, too.", 1)):
        moment = now - timedelta(days=days)
        make_memory(content=content, owner=cast.alice, origin="automatic", now=moment)
    User.objects.update(last_visit_at=now - timedelta(days=2))
    page = visit(cast.alice)
    expect(page.locator(".news")).to_contain_text("2 new since your last visit")
    expect(page.locator(".label-new")).to_have_count(2)
    expect(row(page, "Came long ago.").locator(".label-new")).to_have_count(0)
    row(page, "Came, too.").get_by_role("button", name="Forget").click()
    expect(page.locator(".news")).to_contain_text("1 new since your last visit")
    page.keyboard.press("u")
    expect(row(page, "Came, too.").locator(".label-new")).to_be_visible()
    page.locator(".fact a", has_text="meanwhile").click()
    page.get_by_role("link", name="Memories").first.click()
    expect(page.locator(".label-new")).to_have_count(2)
    User.objects.update(last_visit_at=now - timedelta(minutes=31))
    page.reload()
    expect(page.locator(".memory")).to_have_count(3)
    expect(page.locator(".label-new, .news")).to_have_count(0)


def test_show_more_goes_on_where_it_stopped(cast: Cast, visit: Visit) -> None:
    for number in range(30):
        make_memory(content=f"Fact number {number}.", owner=cast.alice)
    page = visit(cast.alice)
    expect(page.locator(".memory")).to_have_count(25)
    page.get_by_role("link", name="Show more").click()
    expect(page.locator(".memory")).to_have_count(30)
    expect(page.locator(".memory").nth(25)).to_be_focused()
    facts = page.locator(".fact").all_inner_texts()
    assert len(set(facts)) == 30


def test_everything_works_without_scripts(cast: Cast, visit: Visit) -> None:
    for content in FACTS:
        make_memory(content=content, owner=cast.alice)
    page = visit(None, java_script_enabled=False)
    sign_in(page, cast.alice)
    page.locator("#q").fill("deploys")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("mark")).to_have_text("deploys")
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory")).to_have_count(1)
    page.goto("/memories")
    for content in FACTS[:2]:
        page.locator(".memory", has_text=content).get_by_role("checkbox").check()
    page.get_by_role("button", name="Forget selected").click()
    expect(page.locator(".memory")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory")).to_have_count(4)
    page.locator(".memory", has_text="notebook").get_by_role("link", name="Correct").click()
    page.get_by_label("What should it say instead?").fill("Keeps two notebooks.")
    page.get_by_role("button", name="Correct").click()
    expect(page.locator(".toast")).to_contain_text("Corrected.")
    assert is_active("Keeps two notebooks.")
    page.goto("/memories/new")
    page.get_by_label("What should be remembered?").fill("Likes the window seat.")
    page.get_by_role("button", name="Remember this").click()
    expect(page.locator(".toast")).to_contain_text("Remembered.")
    assert is_active("Likes the window seat.")
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
