"""A forgotten password."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client

from junior_memory.models import AuditEntry
from junior_memory.passwords import reset_token
from junior_memory.people import sign_in_token
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.factories import UserFactory

NEW = "an entirely new sentence"
TWICE = {"new_password1": NEW, "new_password2": NEW}


def asked_for(client: Client, email: str = "alice@example.com") -> str:
    """Ask for a link; returns the mailed path."""
    assert client.post("/reset-password", {"email": email})["Location"] == "/reset-password?sent"
    found = re.search(r"http://testserver(/reset-password/\S+)", str(mail.outbox[-1].body))
    assert found
    return found.group(1)


def test_a_mailed_link_sets_a_new_password_once(cast: Cast, sign_in: SignIn) -> None:
    elsewhere = sign_in(cast.alice)
    uid, token = sign_in_token(cast.alice)
    link = asked_for(Client(), "ALICE@example.com")
    browser = Client()
    assert "alice@example.com" in text(browser.get(link))
    assert elsewhere.get("/memories").status_code == 200
    assert browser.post(link, TWICE)["Location"] == "/sign-in?changed"
    assert elsewhere.get("/memories").status_code == 302
    assert Client().post(f"/sign-in/{uid}/{token}/").status_code == 404
    assert browser.get(link).status_code == 404
    assert browser.post(link, TWICE).status_code == 404
    body = {"email": "alice@example.com", "password": NEW}
    assert browser.post("/sign-in", body).status_code == 302
    entry = AuditEntry.objects.get(action="password_reset")
    assert entry.person_id == cast.alice.pk


def test_a_refused_password_leaves_the_link(cast: Cast) -> None:
    link = asked_for(Client())
    for first, second in (("12345", "12345"), (NEW, "other"), ("", "")):
        body = {"new_password1": first, "new_password2": second}
        assert Client().post(link, body).status_code == 422
    assert Client().post(link, TWICE).status_code == 302


def test_the_answer_does_not_tell_who_is_known(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    UserFactory.create(email="new@example.com", email_verified_at=None)
    UserFactory.create(email="gone@example.com", is_active=False)
    known = ("alice@example.com", "nobody@example.com", "new@example.com", "gone@example.com")
    answers = {Client().post("/reset-password", {"email": one})["Location"] for one in known}
    assert answers == {"/reset-password?sent"}
    assert [message.to for message in mail.outbox] == [["alice@example.com"]]

    def fail(*_: Any) -> int:
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "send_messages", fail)
    answers = {Client().post("/reset-password", {"email": one})["Location"] for one in known}
    assert answers == {"/reset-password?sent"}


@pytest.mark.parametrize("email", ["alice@example.com", "nobody@example.com"])
def test_asking_is_slowed_down_alike_for_known_and_unknown(cast: Cast, email: str) -> None:
    statuses = [Client().post("/reset-password", {"email": email}).status_code for _ in range(6)]
    assert statuses == [302] * 5 + [429]


def test_a_link_ends_by_signing_in_and_by_another_password(cast: Cast) -> None:
    uid, token = reset_token(cast.alice)
    cast.alice.set_password("something else")
    cast.alice.save()
    assert Client().get(f"/reset-password/{uid}/{token}/").status_code == 404
    uid, token = reset_token(cast.alice)
    assert Client().get(f"/reset-password/{uid}/{token}/").status_code == 200
    client = Client()
    client.post("/sign-in", {"email": "alice@example.com", "password": "something else"})
    assert Client().get(f"/reset-password/{uid}/{token}/").status_code == 404


def test_a_sign_in_link_sets_no_password_and_the_other_way_round(cast: Cast) -> None:
    uid, token = sign_in_token(cast.alice)
    assert Client().get(f"/reset-password/{uid}/{token}/").status_code == 404
    uid, token = reset_token(cast.alice)
    assert Client().post(f"/sign-in/{uid}/{token}/").status_code == 404


@pytest.mark.parametrize("path", ["x/y", "MQ/abc-def", "%00/%00", "AAAA/c0ffee-0123456789abcdef"])
def test_a_made_up_link_sets_nothing(db: None, path: str) -> None:
    for response in (
        Client().get(f"/reset-password/{path}/"),
        Client().post(f"/reset-password/{path}/", TWICE),
    ):
        assert response.status_code == 404


def test_the_sign_in_page_leads_there(db: None) -> None:
    assert "/reset-password" in text(Client().get("/sign-in"))
    assert "signed out everywhere" in text(Client().get("/sign-in?changed"))
    assert Client().put("/reset-password").status_code == 405
