"""Every page: nothing that axe-core objects to, no sideways scrolling, large text."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import resolve, reverse
from django.urls.converters import IntConverter, PathConverter, StringConverter, UUIDConverter
from playwright.sync_api import expect

from dashboard import urls
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

ELSEWHERE = {"oidc", "oidc_callback"}
"""Not pages: they lead to where people sign in, and back."""

COVERED = """() => document.querySelector('.shell').getBoundingClientRect().bottom
  - document.querySelector('.toast').getBoundingClientRect().top"""
"""By how many pixels a toast lies over the page, scrolled to its end."""


@needs_axe
def test_no_page_has_anything_that_axe_objects_to(cast: Cast, visit: Visit) -> None:
    pages = live(cast)
    page = visit(cast.root)
    found = {}
    for name, path in pages.items():
        page.goto(path)
        if path.partition("?")[0] == "/overview":
            page.locator(".chart-canvas[data-drawn]").last.wait_for()
        found[name] = objections(page)
    page.emulate_media(media="print")
    page.goto(pages["paper"])
    found["paper, printed"] = objections(page)
    assert {name: said for name, said in found.items() if said} == {}
    visit.forgive(404)


@needs_axe
def test_neither_has_what_is_seen_from_outside(cast: Cast, visit: Visit) -> None:
    pages = outside(cast)
    page = visit(None)
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
    assert {name: said for name, said in found.items() if said} == {}
    visit.forgive(404)


@needs_axe
def test_neither_has_what_appears_after_a_move(cast: Cast, visit: Visit) -> None:
    live(cast)
    page = visit(cast.root)
    found = {}
    page.locator(".memory", has_text="Fact number 3").get_by_role("button", name="Forget").click()
    page.locator(".toast").hover()
    found["forgotten, with the way back"] = objections(page)
    expect(page.locator(".toast")).to_be_visible()
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


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_no_page_scrolls_sideways_on_narrow_and_broad_screens_also_with_large_text(
    cast: Cast, visit: Visit, locale: str
) -> None:
    pages = live(cast)
    page = visit(cast.root, locale=locale)
    found = {}
    for name, path in pages.items():
        page.goto(path)
        found[name] = too_wide(page)
    assert {name: wide for name, wide in found.items() if wide} == {}
    visit.forgive(404)


def test_neither_does_what_is_seen_from_outside(cast: Cast, visit: Visit) -> None:
    pages = outside(cast)
    page = visit(None)
    found = {}
    for name, path in pages.items():
        page.goto(path)
        found[name] = too_wide(page)
    assert {name: wide for name, wide in found.items() if wide} == {}
    visit.forgive(404)


def test_no_page_is_left_out(cast: Cast, client: Client) -> None:
    client.force_login(cast.root)
    paths = {**live(cast), **outside(cast)}.values()
    seen = {resolve(path.partition("?")[0]).url_name for path in paths if path != "/nowhere"}
    left = {}
    for name, path in addresses().items():
        if name not in seen | ELSEWHERE:
            answer = client.get(path)
            if answer.status_code in {200, 404} and "html" in answer.get("Content-Type", ""):
                left[name] = path
    assert left == {}


def addresses() -> dict[str, str]:
    """Return an address of every view of the dashboard, of things that need not be there."""
    made_up: dict[type[object], object] = {
        UUIDConverter: "00000000-0000-4000-8000-000000000000",
        IntConverter: 1,
        StringConverter: "x",
        PathConverter: "x",
    }
    return {
        one.name: reverse(
            one.name, kwargs={n: made_up[type(c)] for n, c in one.pattern.converters.items()}
        )
        for one in urls.urlpatterns
        if one.name
    }


def test_what_appears_after_a_move_does_not_scroll_sideways(cast: Cast, visit: Visit) -> None:
    live(cast)
    page = visit(cast.root, viewport=NARROW)
    page.evaluate(ENLARGE, "200%")
    row(page, "Fact number 3").get_by_role("button", name="Forget").click()
    page.locator(".toast").wait_for()
    assert page.evaluate(OVER) <= 0, "the toast"
    page.locator(".toast").hover()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    assert page.evaluate(COVERED) <= 0, "what was just done lies over the end of the page"
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
