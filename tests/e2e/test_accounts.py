"""Coming in: signing in, invitations, a forgotten password, and the page where staff invite."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from junior_memory.models import Invitation, User
from tests.cast import Cast
from tests.e2e.acts import (
    PASSWORD,
    assert_whole,
    mailed_link,
    sign_in,
    tab_to,
    with_and_without_scripts,
)
from tests.e2e.conftest import Visit

NEW_PASSWORD = "battery staple 9"


def be_sent_a_link(page: Page, user: User) -> str:
    """Ask on this page for a link by mail, and return it."""
    page.get_by_label("E-mail").fill(user.email)
    page.get_by_role("button", name="Send me a link").click()
    expect(page.get_by_role("status")).to_contain_text("a link is on its way")
    return mailed_link(user.email)


def invite_dora(page: Page) -> str:
    """Invite somebody new on the page where staff do, and return the link that it shows."""
    page.get_by_label("E-mail").fill("dora@example.com")
    page.get_by_role("button", name="Invite").click()
    return page.locator("#invitation-link").inner_text()


@with_and_without_scripts
def test_a_person_signs_in_comes_back_to_where_they_were_and_signs_out(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    page = visit(None, "/settings/activity", java_script_enabled=scripts)
    sign_in(page, cast.alice, password="wrong horse")
    expect(page.get_by_role("alert")).to_contain_text("do not go together")
    expect(page.get_by_label("E-mail")).to_have_value(cast.alice.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    assert_whole(page, "Activity")
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.locator("h1")).to_have_text("Sign in")
    page.goto("/memories")
    expect(page.locator("h1")).to_have_text("Sign in")


@with_and_without_scripts
def test_a_mailed_link_signs_in_once(cast: Cast, visit: Visit, scripts: bool) -> None:
    page = visit(None, "/sign-in?next=/settings", java_script_enabled=scripts)
    link = be_sent_a_link(page, cast.alice)
    page.goto(link)
    expect(page.locator("main")).to_contain_text(cast.alice.email)
    page.get_by_role("button", name="Sign in").click()
    assert_whole(page, "Settings")
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.locator("h1")).to_have_text("Sign in")
    page.goto(link)
    expect(page.locator("h1")).to_have_text("This link no longer works")
    visit.forgive(404)


@with_and_without_scripts
def test_staff_invite_somebody_who_joins_by_the_link(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    page = visit(cast.root, "/people", java_script_enabled=scripts)
    link = invite_dora(page)
    expect(page.locator("main")).to_contain_text("works until")
    page.goto("/people")
    expect(page.locator("body")).not_to_contain_text(link)
    joining = visit(None, link, java_script_enabled=scripts)
    expect(joining.locator("main")).to_contain_text("dora@example.com")
    joining.get_by_label("Name").fill("Dora")
    joining.get_by_label("Password").fill("short")
    joining.get_by_role("button", name="Join").click()
    expect(joining.locator(".field-error, [role=alert]").first).to_be_visible()
    joining.get_by_label("Password").fill(NEW_PASSWORD)
    joining.get_by_role("button", name="Join").click()
    assert_whole(joining, "Memories")
    assert User.objects.get(email="dora@example.com").display_name == "Dora"
    joining.goto(link)
    expect(joining.locator("h1")).to_have_text("This invitation no longer works")
    page.reload()
    expect(page.locator("main")).to_contain_text("Dora")
    expect(page.locator("main")).not_to_contain_text("works until")
    visit.forgive(404)


@with_and_without_scripts
def test_an_invitation_is_sent_again_and_withdrawn(cast: Cast, visit: Visit, scripts: bool) -> None:
    page = visit(cast.root, "/people", java_script_enabled=scripts)
    first = invite_dora(page)
    page.get_by_role("button", name="Send again").click()
    expect(page.locator("#invitation-link")).not_to_have_text(first)
    second = page.locator("#invitation-link").inner_text()
    guest = visit(None, first, java_script_enabled=scripts)
    expect(guest.locator("h1")).to_have_text("This invitation no longer works")
    guest.goto(second)
    expect(guest.locator("h1")).to_have_text("Welcome")
    page.get_by_role("button", name="Withdraw the invitation of dora@example.com").click()
    expect(page.locator(".toast")).to_contain_text("Invitation withdrawn.")
    expect(page.locator("main")).not_to_contain_text("dora@example.com")
    guest.reload()
    expect(guest.locator("h1")).to_have_text("This invitation no longer works")
    assert not Invitation.objects.exists()
    visit.forgive(404)


@with_and_without_scripts
def test_people_are_found_by_a_part_of_their_address(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    page = visit(cast.root, "/people", java_script_enabled=scripts)
    accounts = page.get_by_role("region", name="Accounts")
    expect(accounts.locator("li")).to_have_count(4)
    page.get_by_label("Find by address or name").fill("char")
    page.keyboard.press("Enter")
    expect(accounts.locator("li")).to_have_count(1)
    expect(accounts).to_contain_text(cast.charlie.email)
    page.go_back()
    expect(accounts.locator("li")).to_have_count(4)


def test_somebody_who_is_not_staff_sees_no_page_of_staff(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice)
    for title in ("People", "Overview", "System"):
        expect(page.get_by_role("link", name=title)).to_have_count(0)
    for path in ("/people", "/overview", "/system", "/system/audit"):
        page.goto(path)
        expect(page.locator("h1")).to_have_text("Not allowed")
        expect(page.locator("body")).not_to_contain_text(cast.bob.email)
    visit.forgive(403)


@with_and_without_scripts
def test_a_forgotten_password_is_set_anew_and_ends_every_session(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    elsewhere = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page = visit(None, "/sign-in", java_script_enabled=scripts)
    page.get_by_role("link", name="Forgotten your password?").click()
    link = be_sent_a_link(page, cast.alice)
    page.goto(link)
    first, second = page.locator("input[type=password]").all()
    first.fill(NEW_PASSWORD)
    second.fill("something else 9")
    page.get_by_role("button", name="Set the new password").click()
    expect(page.locator(".field-error")).to_be_visible()
    for box in page.locator("input[type=password]").all():
        box.fill(NEW_PASSWORD)
    page.get_by_role("button", name="Set the new password").click()
    expect(page.get_by_role("status")).to_contain_text("Your password is changed")
    sign_in(page, cast.alice, password=NEW_PASSWORD)
    assert_whole(page, "Memories")
    elsewhere.reload()
    expect(elsewhere.locator("h1")).to_have_text("Sign in")
    page.goto(link)
    expect(page.locator("h1")).to_have_text("This link no longer works")
    visit.forgive(404)


def test_people_and_joining_work_by_keyboard_alone(cast: Cast, visit: Visit) -> None:
    page = visit(cast.root, "/memories")
    tab_to(page, "People")
    page.keyboard.press("Enter")
    assert_whole(page, "People")
    tab_to(page, "E-mail")
    page.keyboard.type("dora@example.com")
    tab_to(page, "Invite")
    page.keyboard.press("Enter")
    link = page.locator("#invitation-link").inner_text()
    page.goto("/memories")
    tab_to(page, "Sign out")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Sign in")
    page.goto(link)
    tab_to(page, "Your name")
    page.keyboard.type("Dora")
    tab_to(page, "A password, if you want one")
    page.keyboard.type(NEW_PASSWORD)
    page.keyboard.press("Enter")
    assert_whole(page, "Memories")
    assert User.objects.get(email="dora@example.com").display_name == "Dora"
