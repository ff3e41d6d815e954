"""Signing in by an OpenID Connect issuer on another site, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from junior_memory.models import Identity
from tests.cast import Cast
from tests.e2e.acts import assert_whole, remember, with_and_without_scripts
from tests.e2e.conftest import Visit
from tests.issuer import FakeIssuer, issuer


@pytest.fixture
def fake(settings: Any) -> Iterator[FakeIssuer]:
    """Run an issuer that the deployment is configured for, and that knows Alice."""
    with issuer() as running:
        settings.OIDC = running.settings()
        running.claims = {"email": "alice@example.com", "email_verified": True, "name": "Alice"}
        yield running


def go_there(page: Page, name: str = "Sign in with Example ID") -> None:
    """Follow the way to the issuer."""
    page.get_by_role("link", name=name).click()
    expect(page.locator("h1")).to_have_text("Example ID")


@with_and_without_scripts
def test_a_person_signs_in_there_and_comes_back_to_what_they_wanted(
    cast: Cast, visit: Visit, fake: FakeIssuer, scripts: bool
) -> None:
    remember(cast.alice)
    page = visit(None, "/memories?q=oolong", java_script_enabled=scripts)
    go_there(page)
    page.get_by_role("link", name="Continue").click()
    assert_whole(page, "Memories")
    expect(page).to_have_url(f"{visit.url}/memories?q=oolong")
    expect(page.locator(".memory")).to_have_count(1)
    expect(page.locator(".account-email")).to_have_text(cast.alice.email)
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.locator("h1")).to_have_text("Sign in")
    page.goto("/memories")
    expect(page.locator("h1")).to_have_text("Sign in")


def test_who_refuses_there_is_told_and_can_try_again(
    cast: Cast, visit: Visit, fake: FakeIssuer
) -> None:
    page = visit(None, "/sign-in")
    visit.forgive(403)
    go_there(page)
    page.get_by_role("link", name="Refuse").click()
    expect(page.get_by_role("alert")).to_contain_text("Signing in there did not work.")
    go_there(page)
    page.get_by_role("link", name="Continue").click()
    assert_whole(page, "Memories")


def test_whom_nobody_knows_stays_outside_and_is_told_why(
    cast: Cast, visit: Visit, fake: FakeIssuer
) -> None:
    fake.claims["email"] = "nobody@example.com"
    page = visit(None, "/sign-in")
    visit.forgive(403)
    go_there(page)
    page.get_by_role("link", name="Continue").click()
    expect(page.locator("h1")).to_have_text("Sign in")
    expect(page.get_by_role("alert")).to_be_visible()
    page.goto("/memories")
    expect(page.locator("h1")).to_have_text("Sign in")


def test_the_way_back_works_once(cast: Cast, visit: Visit, fake: FakeIssuer) -> None:
    page = visit(None, "/sign-in")
    visit.forgive(403)
    go_there(page)
    used = str(page.get_by_role("link", name="Continue").get_attribute("href"))
    page.get_by_role("link", name="Continue").click()
    assert_whole(page, "Memories")
    page.context.clear_cookies()
    page.goto(used)
    expect(page.get_by_role("alert")).to_contain_text("Signing in there did not work.")


def test_an_account_there_is_connected_on_settings_and_unlinked_again(
    cast: Cast, visit: Visit, fake: FakeIssuer
) -> None:
    fake.claims["email"] = cast.bob.email
    page = visit(cast.bob, "/settings")
    go_there(page, "Connect Example ID")
    page.get_by_role("link", name="Continue").click()
    expect(page).to_have_url(f"{visit.url}/settings#identities")
    linked = page.locator("#identities li", has_text="s-1")
    expect(linked).to_contain_text("Example ID")
    assert Identity.objects.get(provider="oidc").user == cast.bob
    linked.get_by_role("button").click()
    expect(linked).to_have_count(0)
