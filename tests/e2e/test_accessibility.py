"""Every page: nothing that axe-core objects to, no sideways scrolling, large text."""

from __future__ import annotations

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.cast import Cast
from tests.e2e.accessible import (
    ENLARGE,
    NARROW,
    OPEN_EVERYTHING,
    OVER,
    needs_axe,
    objections,
    too_wide,
)
from tests.e2e.acts import row, sign_in
from tests.e2e.conftest import Visit
from tests.e2e.lived_in import live, outside

BROAD: ViewportSize = {"width": 1280, "height": 740}


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_anything_that_axe_objects_to(cast: Cast, visit: Visit, scheme: str) -> None:
    pages = live(cast)
    page = visit(cast.root, color_scheme=scheme)
    found = {}
    for name, path in pages.items():
        page.goto(path)
        if "/overview" in path:
            page.locator(".chart-canvas[data-drawn]").last.wait_for()
        found[name] = objections(page)
    page.emulate_media(media="print")
    page.goto(pages["paper"])
    found["paper, printed"] = objections(page)
    assert {name: said for name, said in found.items() if said} == {}
    visit.forgive(404)


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_neither_has_what_is_seen_from_outside(cast: Cast, visit: Visit, scheme: str) -> None:
    pages = outside(cast)
    page = visit(None, color_scheme=scheme)
    found = {}
    for name, path in pages.items():
        page.goto(path)
        assert page.url.endswith(path), f"{name} is not seen from outside"
        found[name] = objections(page)
    page.goto(pages["sign-in"])
    sign_in(page, cast.alice, password="wrong horse")
    page.get_by_role("alert").wait_for()
    found["sign-in, mistaken"] = objections(page)
    page.goto(pages["join"])
    page.get_by_label("Password").fill("short")
    page.get_by_role("button", name="Join").click()
    page.locator(".field-error").wait_for()
    found["join, mistaken"] = objections(page)
    page = visit(cast.alice, "/system", color_scheme=scheme)
    expect(page.locator("h1")).to_have_text("Not allowed")
    found["refused"] = objections(page)
    assert {name: said for name, said in found.items() if said} == {}
    visit.forgive(403, 404)


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_neither_has_what_appears_after_a_move(cast: Cast, visit: Visit, scheme: str) -> None:
    live(cast)
    page = visit(cast.root, color_scheme=scheme)
    found = {}
    page.locator(".memory", has_text="Fact number 3").get_by_role("button", name="Forget").click()
    page.locator(".toast").wait_for()
    found["forgotten, with the way back"] = objections(page)
    assert page.locator(".toast").count() == 1, "the toast was gone before it was looked at"
    page.locator(".memory", has_text="Fact number 4").get_by_role("link", name="Correct").click()
    page.locator("[data-editing]").wait_for()
    found["correcting"] = objections(page)
    page.goto("/memories")
    page.keyboard.press("j")
    page.keyboard.press("?")
    found["keys"] = objections(page)
    page.goto("/memories/new")
    page.locator("#id_content").fill("x" * 4001)
    page.get_by_role("button", name="Remember this").click()
    page.locator(".field-error").first.wait_for()
    found["a form with a mistake"] = objections(page)
    page.goto("/inbox")
    page.get_by_role("button", name="Keep this one").first.click()
    page.locator("[data-state='decided']").wait_for()
    found["decided"] = objections(page)
    page.goto("/recall")
    page.locator("#id_text").fill("Shall we deploy the billing service on Friday?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="Switch off").first.click()
    page.locator("#off").wait_for()
    found["what-if"] = objections(page)
    page.goto("/system")
    page.get_by_role("button", name="Test it now").click()
    page.locator("#self-test table").wait_for(state="attached")
    found["isolation tested"] = objections(page)
    assert {name: said for name, said in found.items() if said} == {}


def test_no_page_scrolls_sideways_at_360_pixels_nor_with_text_twice_as_large(
    cast: Cast, visit: Visit
) -> None:
    pages = live(cast)
    page = visit(cast.root, viewport=NARROW)
    assert too_wide(page, pages, "100%", "200%") == {}
    visit.forgive(404)


def test_no_page_scrolls_sideways_on_a_broad_screen_nor_with_text_twice_as_large(
    cast: Cast, visit: Visit
) -> None:
    pages = live(cast)
    page = visit(cast.root, viewport=BROAD)
    assert too_wide(page, pages, "100%", "200%") == {}
    visit.forgive(404)


def test_no_page_that_is_seen_from_outside_scrolls_sideways(cast: Cast, visit: Visit) -> None:
    pages = outside(cast)
    page = visit(None, viewport=NARROW)
    assert too_wide(page, pages, "100%", "200%") == {}
    page = visit(cast.alice, viewport=NARROW)
    assert too_wide(page, {"refused": "/system"}, "100%", "200%") == {}
    visit.forgive(403, 404)


def test_what_appears_after_a_move_does_not_scroll_sideways(cast: Cast, visit: Visit) -> None:
    live(cast)
    page = visit(cast.root, viewport=NARROW)
    page.evaluate(ENLARGE, "200%")
    row(page, "Fact number 3").get_by_role("button", name="Forget").click()
    page.locator(".toast").wait_for()
    assert page.evaluate(OVER) <= 0, "the toast"
    page.get_by_role("button", name="Close").click()
    row(page, "Fact number 4").get_by_role("link", name="Correct").click()
    page.locator("[data-editing]").wait_for()
    row(page, "Fact number 5").get_by_role("checkbox").check()
    assert page.evaluate(OVER) <= 0, "the list"
    page.goto("/recall")
    page.evaluate(ENLARGE, "200%")
    page.locator("#id_text").fill("Shall we deploy the billing service on Friday?")
    page.get_by_role("button", name="Ask").click()
    page.get_by_role("button", name="Switch off").first.click()
    page.locator("#off").wait_for()
    page.evaluate(OPEN_EVERYTHING)
    assert page.evaluate(OVER) <= 0, "what-if"
    page.goto("/settings")
    page.evaluate(ENLARGE, "200%")
    page.evaluate(OPEN_EVERYTHING)
    page.get_by_role("button", name="Make token").click()
    page.locator("#new-token").wait_for()
    page.get_by_role("button", name="Make a linking code").click()
    page.locator("#linking-code").wait_for()
    assert page.evaluate(OVER) <= 0, "settings"
