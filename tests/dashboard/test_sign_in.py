"""Signing in and out."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.test import Client

from junior_memory.people import sign_in_token
from tests.cast import Cast
from tests.dashboard.conftest import text
from tests.factories import UserFactory

PASSWORD = "correct horse"


def signed_in(client: Client) -> bool:
    """True when this browser is signed in."""
    return client.get("/memories").status_code == 200


def sign_in(client: Client, email: str, password: str = PASSWORD, **more: str) -> int:
    """Fill in the form; returns the status."""
    body = {"email": email, "password": password} | more
    return client.post("/sign-in", body).status_code


@pytest.mark.parametrize("email", ["alice@example.com", "Alice@Example.COM", " alice@example.com "])
def test_sign_in_by_e_mail_whatever_its_case(cast: Cast, email: str) -> None:
    client = Client()
    assert sign_in(client, email) == 302
    assert signed_in(client)


@pytest.mark.parametrize(
    ("email", "password"),
    [("alice@example.com", "wrong"), ("nobody@example.com", PASSWORD), ("alice@example.com", "")],
)
def test_every_failure_has_the_same_answer(cast: Cast, email: str, password: str) -> None:
    client = Client()
    response = client.post("/sign-in", {"email": email, "password": password})
    assert response.status_code == 422
    assert not signed_in(client)
    if password:
        assert "That e-mail and password do not go together." in text(response)


def test_unverified_and_inactive_people_do_not_sign_in(db: None) -> None:
    UserFactory.create(email="new@example.com", email_verified_at=None)
    UserFactory.create(email="gone@example.com", is_active=False)
    client = Client()
    for email in ("new@example.com", "gone@example.com"):
        assert sign_in(client, email) == 422
        assert not signed_in(client)


def test_sign_in_goes_on_to_where_it_was_asked_for_and_never_away(cast: Cast) -> None:
    for wanted, target in (
        ("/memories?q=tea", "/memories?q=tea"),
        ("https://evil.example/", "/memories"),
        ("//evil.example", "/memories"),
    ):
        body = {"email": "alice@example.com", "password": PASSWORD, "next": wanted}
        assert Client().post("/sign-in", body)["Location"] == target


def test_guessing_is_slowed_down(cast: Cast) -> None:
    client = Client()
    statuses = [sign_in(client, "alice@example.com", "wrong") for _ in range(21)]
    assert statuses[:20] == [422] * 20
    assert statuses[20] == 429
    assert sign_in(client, "alice@example.com") == 429
    assert sign_in(Client(), "bob@example.com") == 302


def test_a_link_signs_in_once_and_only_when_confirmed(cast: Cast) -> None:
    uid, token = sign_in_token(cast.alice)
    url = f"/sign-in/{uid}/{token}/"
    client = Client()
    assert "alice@example.com" in text(client.get(url))
    assert not signed_in(client)
    assert client.post(url)["Location"] == "/memories"
    assert signed_in(client)
    again = Client()
    assert again.get(url).status_code == 404
    assert again.post(url).status_code == 404
    assert not signed_in(again)


@pytest.mark.parametrize("path", ["x/y", "MQ/abc-def", "%00/%00", "AAAA/c0ffee-0123456789abcdef"])
def test_a_made_up_link_signs_nobody_in(db: None, path: str) -> None:
    client = Client()
    for response in (client.get(f"/sign-in/{path}/"), client.post(f"/sign-in/{path}/")):
        assert response.status_code == 404
        assert "no longer works" in text(response)


def test_asking_for_a_link_does_not_tell_who_is_known(cast: Cast) -> None:
    UserFactory.create(email="new@example.com", email_verified_at=None)
    client = Client()
    answers = {
        client.post("/sign-in/link", {"email": email})["Location"]
        for email in ("ALICE@example.com", "nobody@example.com", "new@example.com")
    }
    assert answers == {"/sign-in?sent"}
    assert "a link is on its way" in text(client.get("/sign-in?sent"))
    assert [message.to for message in mail.outbox] == [["alice@example.com"]]
    link = re.search(r"http://testserver(/sign-in/\S+)", str(mail.outbox[0].body))
    assert link
    assert client.post(link.group(1)).status_code == 302
    assert signed_in(client)


@pytest.mark.parametrize("email", ["", "nonsense"])
def test_a_link_to_what_is_no_address_is_asked_for_again(db: None, email: str) -> None:
    response = Client().post("/sign-in/link", {"email": email, "password": "x"})
    assert response.status_code == 422
    assert text(response).count('class="field-error"') == 1
    assert mail.outbox == []


def test_one_form_signs_in_by_password_or_link(db: None) -> None:
    page = text(Client().get("/sign-in"))
    assert page.count('name="email"') == page.count("<form") == 1
    assert re.search(r'formaction="/sign-in/link" formnovalidate', page)


def test_sign_out_needs_a_post(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.alice)
    assert client.get("/sign-out").status_code == 405
    assert signed_in(client)
    assert client.post("/sign-out")["Location"] == "/sign-in"
    assert not signed_in(client)


def test_who_is_signed_in_already_goes_on(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.alice)
    assert client.get("/sign-in")["Location"] == "/memories"


def test_theme_is_kept_in_a_cookie_and_auto_forgets_it(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.alice)
    client.post("/theme", {"theme": "dark", "next": "/memories"})
    assert 'data-theme="dark"' in text(client.get("/memories"))
    client.post("/theme", {"theme": "auto"})
    assert "data-theme" not in text(client.get("/memories"))
    client.cookies["theme"] = '"><script>'
    assert "data-theme" not in text(client.get("/memories"))
    assert client.get("/theme").status_code == 405
