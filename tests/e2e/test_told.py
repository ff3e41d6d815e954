"""What a page tells by itself: in regions that readers of screens listen to, and for how long."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.cast import Cast
from tests.e2e.acts import FACTS, disagree, forget, is_active, remember, row, tab_to
from tests.e2e.conftest import Visit
from tests.factories import make_memory

COUNTDOWN = """toasts => toasts.getAnimations({subtree: true})
  .find(one => one.animationName === 'countdown')"""

STATE = f"toasts => ({COUNTDOWN})(toasts)?.playState"

LISTEN = """() => {
  window.heard = [];
  for (const region of document.querySelectorAll('[aria-live=polite]')) {
    new MutationObserver(() => {
      const said = region.innerText.trim().split('\\n')[0];
      if (said && region.isConnected) window.heard.push(said);
    }).observe(region, {childList: true, characterData: true, subtree: true});
  }
}"""
"""A region is listened to from when it is there: one that is put in with its words says nothing."""


def listen(page: Page) -> None:
    """Hear from now on what the regions of this page say, which no swap may replace."""
    page.evaluate(LISTEN)


def expect_heard(page: Page, *said: str) -> None:
    """Expect that this was said, the one after the other."""
    page.wait_for_function("([n]) => (window.heard || []).length >= n", arg=[len(said)])
    heard: list[str] = page.evaluate("window.heard.splice(0)")
    assert [one for at, one in enumerate(heard) if one not in heard[:at]] == list(said)


def test_whoever_goes_through_the_list_by_keys_is_told_each_step(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    page = visit(cast.alice)
    listen(page)
    page.keyboard.press("j")
    expect_heard(page, "1 of 3. Question mark lists the keys.")
    page.keyboard.press("j")
    expect_heard(page, "2 of 3.")
    page.keyboard.press("k")
    expect_heard(page, "1 of 3.")
    page.keyboard.press("f")
    expect_heard(page, "Forgot 1 memory.")
    expect(page.locator("[data-state='forgotten-now'] button")).to_be_focused()
    page.keyboard.press("u")
    expect(page.locator(".memory").first).to_be_focused()
    expect_heard(page, "Remembered again.")
    page.keyboard.press("x")
    expect(page.locator("[data-selected][role=status]")).to_have_text("1 selected")


def test_what_is_decided_in_the_inbox_by_keys_is_told(cast: Cast, visit: Visit) -> None:
    disagree(cast.alice)
    page = visit(cast.alice, "/inbox")
    listen(page)
    page.keyboard.press("j")
    expect_heard(page, "1 of 1. Question mark lists the keys.")
    tab_to(page, "Both are wrong")
    page.keyboard.press("Enter")
    expect_heard(page, "Forgot both.")
    expect(page.locator("[data-state='decided'] button")).to_be_focused()
    page.keyboard.press("u")
    expect_heard(page, "Taken back: these two wait for your word again.")
    expect(page.locator(".pair")).to_be_focused()


def test_how_many_a_search_and_a_filter_leave_is_told_while_the_focus_stays(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    make_memory(content="The office has a garden.", visibility="public")
    page = visit(cast.alice)
    listen(page)
    page.keyboard.press("/")
    page.locator("#q").fill("oolong")
    expect_heard(page, "1 memory matches, best first.")
    expect(page.locator("#q")).to_be_focused()
    page.locator("#q").fill("zeppelin")
    expect_heard(page, "No memory matches.")
    page.locator("#q").fill("")
    expect_heard(page, "4 memories, newest first.")
    tab_to(page, "Private")
    page.keyboard.press("Enter")
    expect_heard(page, "3 memories, newest first.")
    chosen = page.locator("#filters .chip", has_text="Private")
    expect(chosen).to_have_attribute("aria-current", "true")
    expect(chosen).to_be_focused()


def test_what_fails_is_told(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    page = visit(cast.alice)
    page.route("**/forget", lambda route: route.fulfill(status=503, body="restarting"))
    listen(page)
    page.keyboard.press("j")
    page.keyboard.press("f")
    expect_heard(
        page,
        "1 of 3. Question mark lists the keys.",
        "That did not work, and nothing was changed. Try again.",
    )
    visit.forgive(503)


def test_the_way_back_counts_down_waits_for_who_is_at_it_and_then_goes(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    page = visit(cast.alice)
    forget(page, "oolong")
    toasts, toast = page.locator("#toasts"), page.locator(".toast")
    expect(toast.locator(".countdown")).to_be_visible()
    timing = f"toasts => ({COUNTDOWN})(toasts).effect.getComputedTiming().duration"
    assert toasts.evaluate(timing) >= 10_000
    assert toasts.evaluate(STATE) == "running"
    toast.hover()
    page.wait_for_function(f"({STATE})(document.querySelector('#toasts')) === 'paused'")
    page.mouse.move(1, 1)
    page.wait_for_function(f"({STATE})(document.querySelector('#toasts')) === 'running'")
    toast.get_by_role("button", name="Undo").focus()
    page.wait_for_function(f"({STATE})(document.querySelector('#toasts')) === 'paused'")
    toasts.evaluate(f"toasts => ({COUNTDOWN})(toasts).finish()")
    expect(toast).to_have_count(0)
    expect(page.locator("main")).to_be_focused()
    assert not is_active(FACTS[1])
    page.locator("[data-state='forgotten-now']").get_by_role("button", name="Undo").click()
    expect(row(page, "oolong")).to_be_visible()
    assert is_active(FACTS[1])


def test_the_way_back_stays_for_who_wants_no_motion(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    page = visit(cast.alice, reduced_motion="reduce")
    forget(page, "oolong")
    toast = page.locator(".toast")
    expect(toast).to_be_visible()
    assert page.locator("#toasts").evaluate(STATE) is None
    toast.get_by_role("button", name="Undo").click()
    expect(row(page, "oolong")).to_be_visible()
    assert is_active(FACTS[1])


def test_without_scripts_nothing_counts_down_and_nothing_can_be_closed(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, java_script_enabled=False)
    row(page, "oolong").get_by_role("button", name="Forget", exact=True).click()
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Forgot 1 memory.")
    expect(toast.locator(".countdown")).not_to_be_visible()
    expect(toast.get_by_role("button", name="Close")).not_to_be_visible()
