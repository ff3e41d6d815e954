"""What people do on the pages, and what several journeys look for."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from junior_memory.models import Conflict, Memory, User
from tests.factories import make_memory

FACTS = ("Never deploys on Fridays.", "Drinks oolong before noon.", "Keeps a paper notebook.")

PASSWORD = "correct horse"

with_and_without_scripts = pytest.mark.parametrize("scripts", [True, False])

UNANSWERED = ("net", "htmx:sendError", "htmx:afterRequest")
"""What a console says of a request that nobody answers."""

NAME = """() => (document.activeElement.labels?.[0] ?? document.activeElement).innerText
  || document.activeElement.ariaLabel || ''"""


def remember(user: User, *more: str) -> None:
    """Let a person have a few memories."""
    for content in (*FACTS, *more):
        make_memory(content=content, owner=user)


def disagree(user: User) -> None:
    """Let two memories of a person disagree."""
    first = make_memory(owner=user, content="Lives in Husum.")
    second = make_memory(owner=user, content="Lives in Kiel.")
    Conflict.objects.create(first=first, second=second, created_at=timezone.now())


def is_active(content: str) -> bool:
    """True while a memory with this text is remembered."""
    return Memory.objects.active(timezone.now()).filter(content=content).exists()


def row(page: Page, content: str) -> Locator:
    """Return the row of a list in which this is said."""
    return page.locator(".memory", has_text=content)


def forget(page: Page, content: str) -> None:
    """Forget one memory of a list, and see the way back in its place."""
    row(page, content).get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator("[data-state='forgotten-now']")).to_be_visible()


def sign_in(page: Page, user: User, *, password: str = PASSWORD) -> None:
    """Fill in the form of the sign-in page and send it."""
    page.get_by_label("E-mail").fill(user.email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def tab_to(page: Page, name: str) -> None:
    """Press Tab until what is called so has the focus."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if str(page.evaluate(NAME)).strip().startswith(name):
            return
    raise AssertionError(f"{name} is not reached by Tab")


def assert_whole(page: Page, title: str) -> None:
    """Assert that this is a page and no fragment of one."""
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator(".nav")).to_be_visible()
    expect(page.locator("main")).to_have_count(1)


def mailed_link(to: str) -> str:
    """Return the link of the last mail, which went to this address."""
    letter = mail.outbox[-1]
    assert letter.to == [to]
    found = re.search(r"http://\S+", str(letter.body))
    assert found is not None
    return found[0]
