"""Ways through the pages: by keyboard, without scripts, over a failing connection."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from junior_memory import capture
from junior_memory.models import AuditEntry, MemoryReport
from tests.cast import Cast
from tests.e2e.acts import FACTS, PASSWORD, UNANSWERED, disagree, is_active, remember, tab_to
from tests.e2e.conftest import Visit
from tests.factories import make_memory


@pytest.fixture
def facts(cast: Cast) -> None:
    """Let Alice have a few memories, two of which disagree."""
    remember(cast.alice)
    disagree(cast.alice)


@pytest.mark.usefixtures("facts")
def test_a_person_gets_everywhere_by_keyboard_alone(cast: Cast, visit: Visit) -> None:
    page = visit(None, "/sign-in")
    expect(page.locator("input[name=email]")).to_be_focused()
    page.keyboard.type(cast.alice.email)
    page.keyboard.press("Tab")
    expect(page.locator("input[name=password]")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Memories")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    page.keyboard.type("oolong")
    expect(page).to_have_url(re.compile("q=oolong"))
    page.wait_for_load_state("networkidle")
    expect(page.locator(".memory")).to_have_count(1)
    tab_to(page, "Drinks oolong")
    page.keyboard.press("c")
    expect(page.locator("textarea[name=content]").last).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("Drinks oolong in the evening.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".memory")).to_contain_text("evening")
    expect(page.locator(".memory")).to_be_focused()
    page.keyboard.press("f")
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    page.keyboard.press("u")
    expect(page.locator(".memory")).to_contain_text("evening")
    assert is_active("Drinks oolong in the evening.")
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#shortcuts")).not_to_be_visible()
    tab_to(page, "Inbox")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Inbox")
    page.keyboard.press("j")
    expect(page.locator(".pair")).to_be_focused()
    tab_to(page, "Both are wrong")
    page.keyboard.press("Enter")
    expect(page.locator("[data-state='decided'] button")).to_be_focused()
    assert not is_active("Lives in Kiel.")
    page.keyboard.press("u")
    expect(page.locator(".pair-sides")).to_be_visible()
    assert is_active("Lives in Kiel.")


def test_the_next_rows_come_when_the_last_one_is_passed(cast: Cast, visit: Visit) -> None:
    for number in range(27):
        make_memory(content=f"Fact number {number}.", owner=cast.alice)
    page = visit(cast.alice)
    page.locator(".memory").nth(24).evaluate("row => { row.tabIndex = -1; row.focus(); }")
    page.keyboard.press("j")
    expect(page.locator(".memory")).to_have_count(27)
    expect(page.locator(".memory").nth(25)).to_be_focused()


@pytest.mark.usefixtures("facts")
def test_an_answer_that_is_lost_changes_nothing_twice(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice)

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/forget", lose)
    row = page.locator(".memory", has_text="oolong")
    row.get_by_role("button", name="Forget").click()
    expect(page.locator(".toast")).to_contain_text("No answer.")
    expect(row).to_be_visible()
    page.unroute("**/forget")
    row.get_by_role("button", name="Forget").click()
    expect(page.locator("[data-state='forgotten-now']")).to_be_visible()
    assert AuditEntry.objects.filter(action="forgot").count() == 1
    visit.forgive(*UNANSWERED)


@pytest.mark.usefixtures("facts")
def test_a_server_that_restarts_mid_click_is_said_and_the_next_click_works(
    cast: Cast, visit: Visit
) -> None:
    page = visit(cast.alice)
    page.route("**/forget", lambda route: route.fulfill(status=502, body="restarting"))
    row = page.locator(".memory", has_text="oolong")
    row.get_by_role("button", name="Forget").click()
    expect(page.locator(".toast")).to_contain_text("nothing was changed")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".toast")).to_have_count(0)
    assert is_active(FACTS[1])
    page.unroute("**/forget")
    row.get_by_role("button", name="Forget").click()
    expect(page.locator("[data-state='forgotten-now']")).to_be_visible()
    assert not is_active(FACTS[1])
    visit.forgive(502)


@pytest.mark.usefixtures("facts")
def test_without_a_connection_the_page_says_so(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice)
    page.context.set_offline(True)
    page.locator(".chip", has_text="Private").click()
    expect(page.locator(".toast")).to_contain_text("Check your connection")
    page.context.set_offline(False)
    page.locator(".chip", has_text="Private").click()
    expect(page).to_have_url(re.compile("visibility=private"))
    visit.forgive(*UNANSWERED)


@pytest.mark.usefixtures("facts")
def test_the_inbox_and_the_what_if_work_without_scripts(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice, "/inbox", java_script_enabled=False)
    page.get_by_role("button", name="Keep this one").first.click()
    expect(page.locator("body")).to_contain_text("Nothing waits for you.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".pair")).to_be_visible()
    page.goto("/recall")
    page.get_by_label("A message to the assistant").fill("May I deploy on Fridays?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="Switch off").first.click()
    expect(page.locator("#off")).to_have_text("Switched off for this question")
    page.get_by_role("button", name="Switch on").click()
    expect(page.locator("#off")).to_have_count(0)


def test_staff_moderate_and_read_without_scripts(cast: Cast, visit: Visit) -> None:
    fact = make_memory(content="It closes at noon.", visibility="public", owner=cast.alice)
    reason = capture.HELD_UNLINKED
    make_memory(content="The lobby has a piano.", visibility="public", held_reason=reason)
    page = visit(cast.alice, f"/memories/{fact.pk}", java_script_enabled=False)
    page.get_by_text("Report this memory").click()
    page.get_by_label("Why?").fill("It closes at four.")
    page.get_by_role("button", name="Report").click()
    expect(page.locator(".toast")).to_contain_text("Reported:")
    assert MemoryReport.objects.get().reason == "It closes at four."
    page = visit(cast.root, "/inbox", java_script_enabled=False)
    row = page.locator(".memory", has_text="noon")
    expect(row).to_contain_text("It closes at four.")
    row.get_by_role("button", name="Approve").click()
    expect(row).to_have_count(0)
    assert is_active("It closes at noon.")
    page.goto(f"/memories/{fact.pk}")
    page.get_by_text("Remove for everyone").click()
    page.get_by_label("Why?").last.fill("Out of date.")
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Removed for everyone.")
    assert not is_active("It closes at noon.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("Back: everyone sees it again.")
    assert is_active("It closes at noon.")
    page.goto("/system")
    page.get_by_label("Whose memory").fill(cast.alice.email)
    page.get_by_label("Why?").fill("A ticket of theirs.")
    page.get_by_role("button", name="Read for 15 minutes").click()
    expect(page.locator("h1")).to_contain_text(cast.alice.email)
