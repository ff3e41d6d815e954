"""Whatever an address asks for: no page answers with a fault."""

from __future__ import annotations

import itertools

import pytest
from django.test import Client

from tests.cast import Cast
from tests.dashboard.conftest import SignIn
from tests.factories import make_memory

PAGES = (
    "/memories",
    "/inbox",
    "/recall",
    "/overview",
    "/people",
    "/system",
    "/system/audit",
    "/system/public",
    "/system/reads",
    "/conversations/c-1",
    "/settings",
    "/settings/activity",
    "/settings/receipts",
    "/settings/paper",
    "/sign-in",
    "/reset-password",
)
NAMES = ("q", "text", "state", "agent", "cursor", "after", "days", "next", "without")
VALUES = ("%00", "%ED%A0%80", "a" * 5_000, "-1")


@pytest.fixture
def staff(cast: Cast, sign_in: SignIn) -> Client:
    make_memory(owner=cast.root, content="Keeps bees.")
    return sign_in(cast.root)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_breaks_over_what_its_address_asks(staff: Client, page: str) -> None:
    for name, value in itertools.product(NAMES, VALUES):
        answer = staff.get(f"{page}?{name}={value}")
        assert answer.status_code < 500, f"{name}={value[:20]}"
