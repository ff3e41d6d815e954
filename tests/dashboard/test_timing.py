"""What the time of an answer tells about who is known: nothing, by the work that is done."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.cast import Cast
from tests.factories import UserFactory

STRANGER = "nobody.here@example.com"


def test_a_password_is_hashed_once_whoever_is_asked_for(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known, unknown, by links alone, shut out, not verified: the slow part is the same."""
    by_link = UserFactory.create(email="link@example.com")
    by_link.set_unusable_password()
    by_link.save()
    UserFactory.create(email="out@example.com", is_active=False)
    UserFactory.create(email="unverified@example.com", email_verified_at=None)
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: Any, password: str, salt: str) -> str:
        hashed.append(password)
        return str(encode(self, password, salt))

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    for email in (
        "alice@example.com",
        STRANGER,
        "link@example.com",
        "out@example.com",
        "unverified@example.com",
    ):
        hashed.clear()
        answer = Client().post("/sign-in", {"email": email, "password": "wrong"})
        assert answer.status_code == 422
        assert len(hashed) == 1, email


@pytest.mark.parametrize("path", ["/sign-in/link", "/reset-password"])
def test_a_mail_is_asked_for_with_the_same_queries_whoever_is_known(cast: Cast, path: str) -> None:
    asked = []
    for email in ("alice@example.com", STRANGER):
        with CaptureQueriesContext(connection) as queries:
            answer = Client().post(path, {"email": email})
        asked.append((answer.status_code, answer.headers["Location"], len(queries)))
    assert asked[0] == asked[1]
