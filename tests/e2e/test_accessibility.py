"""Every page: nothing that axe-core objects to, no sideways scrolling, large text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.cast import Cast
from tests.e2e.conftest import Visit
from tests.e2e.lived_in import live

AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
NO_AXE = "axe-core is not installed: npm ci --prefix tests/e2e"

OPEN_EVERYTHING = "document.querySelectorAll('details').forEach(one => { one.open = true })"
SETTLED = """Promise.all(document.getAnimations()
  .filter(one => one.effect.getComputedTiming().endTime < Infinity).map(one => one.finished))"""
"""What fades in is looked at once it is there: half of a colour is no colour that anybody reads."""

CHECK = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations)"

MISSING = "status of 404"
"""What the browser's console says of the page that is not there."""


def objections(page: Page) -> list[str]:
    """Return what axe-core objects to on a page, every part of it opened."""
    page.evaluate(OPEN_EVERYTHING)
    page.evaluate(SETTLED)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(CHECK)
    return [f"{one['id']} {one['nodes'][0]['html'][:200]}" for one in found]


def forget_missing(visit: Visit) -> None:
    """Drop the complaint about the page that is not there."""
    visit.complaints[:] = [said for said in visit.complaints if MISSING not in said]


@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
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
    assert {name: said for name, said in found.items() if said} == {}
    forget_missing(visit)


@pytest.mark.skipif(not AXE.exists(), reason=NO_AXE)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_neither_has_what_appears_after_a_move(cast: Cast, visit: Visit, scheme: str) -> None:
    live(cast)
    page = visit(cast.root, color_scheme=scheme)
    found = {}
    page.locator(".memory", has_text="Fact number 3").get_by_role("button", name="Forget").click()
    page.locator(".toast").wait_for()
    found["forgotten, with the way back"] = objections(page)
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
    page = visit(cast.root, viewport={"width": 360, "height": 740})
    wide = {}
    for name, path in pages.items():
        page.goto(path)
        page.evaluate(OPEN_EVERYTHING)
        for size in ("100%", "200%"):
            page.evaluate("size => { document.documentElement.style.fontSize = size }", size)
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                wide[f"{name}, {size}"] = over
    assert wide == {}
    forget_missing(visit)
