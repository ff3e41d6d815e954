"""Signing up, which is by invitation alone."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client

from junior_memory import invitations
from junior_memory.audit import Doer
from junior_memory.logs import ContentFreeFormatter
from junior_memory.models import AuditEntry, Invitation, User
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.factories import UserFactory


@pytest.fixture
def root_client(cast: Cast, sign_in: SignIn, settings: Any) -> Client:
    """Return the browser of staff, on a deployment that sends mail."""
    settings.EMAIL_HOST = "mail.example.com"
    return sign_in(cast.root)


def invite(client: Client, email: str = "Nora@Example.com", **more: str) -> str:
    """Invite somebody; returns the path of the mailed link."""
    response = client.post("/people/invite", {"email": email} | more)
    assert response.status_code == 302, text(response)
    found = re.search(r"http://testserver(/invitations/\S+)", str(mail.outbox[-1].body))
    assert found
    return found.group(1)


def test_the_invited_join_by_their_link_once(root_client: Client) -> None:
    link = invite(root_client)
    assert mail.outbox[-1].to == ["nora@example.com"]
    browser = Client()
    assert "nora@example.com" in text(browser.get(link))
    assert not User.objects.filter(email="nora@example.com").exists()
    body = {"display_name": "Nora", "password": "a long sentence"}
    assert browser.post(link, body)["Location"] == "/memories"
    assert browser.get("/memories").status_code == 200
    nora = User.objects.get(email="nora@example.com")
    assert nora.email_verified_at
    assert (nora.display_name, nora.is_staff) == ("Nora", False)
    assert nora.check_password("a long sentence")
    again = Client()
    assert again.get(link).status_code == 404
    assert again.post(link, body).status_code == 404
    assert again.get("/memories").status_code == 302


def test_without_a_password_they_sign_in_by_links(root_client: Client) -> None:
    link = invite(root_client)
    assert Client().post(link, {}).status_code == 302
    assert not User.objects.get(email="nora@example.com").has_usable_password()


def test_a_weak_password_is_refused_and_the_link_goes_on_working(root_client: Client) -> None:
    link = invite(root_client)
    browser = Client()
    assert browser.post(link, {"password": "12345"}).status_code == 422
    assert not User.objects.filter(email="nora@example.com").exists()
    assert browser.post(link, {}).status_code == 302


def test_a_new_link_ends_the_one_before(root_client: Client) -> None:
    first = invite(root_client)
    row = Invitation.objects.get()
    assert root_client.post(f"/people/invitations/{row.pk}/send").status_code == 302
    assert Client().get(first).status_code == 404
    second = invite(root_client, "nora@example.com")
    assert Invitation.objects.count() == 1
    assert len(mail.outbox) == 3
    assert Client().get(second).status_code == 200


def test_a_link_ends_after_its_days(cast: Cast, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"invitation_days": 2}
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    _, token = invitations.invite(
        "nora@example.com", doer=Doer(user=cast.root, via="page"), now=now
    )
    in_time = now + timedelta(days=2, seconds=-1)
    assert invitations.find_invitation(token, now=in_time)
    assert invitations.find_invitation(token, now=now + timedelta(days=2)) is None
    assert Client().post(f"/invitations/{token}/", {}).status_code == 404


def test_withdrawing_ends_the_link_and_drops_the_address(root_client: Client) -> None:
    link = invite(root_client)
    row = Invitation.objects.get()
    assert root_client.post(f"/people/invitations/{row.pk}/withdraw").status_code == 302
    assert not Invitation.objects.exists()
    assert Client().post(link, {}).status_code == 404
    assert root_client.post(f"/people/invitations/{row.pk}/withdraw").status_code == 404
    assert root_client.post(f"/people/invitations/{row.pk}/send").status_code == 404
    assert "nora" not in str(list(AuditEntry.objects.values()))


def test_nobody_but_staff_invites(alice_client: Client) -> None:
    assert alice_client.get("/people").status_code == 403
    assert alice_client.post("/people/invite", {"email": "a@example.com"}).status_code == 403
    assert Client().post("/people/invite", {"email": "a@example.com"}).status_code == 302
    assert Client().get("/people")["Location"].startswith("/sign-in")
    assert not Invitation.objects.exists()


def test_only_who_may_make_staff_invites_staff(cast: Cast, root_client: Client) -> None:
    invite(root_client, staff="on")
    assert Invitation.objects.get().staff is False
    cast.root.is_superuser = True
    cast.root.save()
    link = invite(root_client, "sam@example.com", staff="on")
    assert Client().post(link, {}).status_code == 302
    assert User.objects.get(email="sam@example.com").is_staff


def test_who_has_an_account_is_not_invited(cast: Cast, root_client: Client) -> None:
    response = root_client.post("/people/invite", {"email": "ALICE@example.com"})
    assert response.status_code == 422
    assert "has an account already" in text(response)
    assert not mail.outbox


def test_an_invitation_opens_nobodys_account(root_client: Client) -> None:
    link = invite(root_client)
    nora = UserFactory.create(email="nora@example.com")
    before = nora.password
    response = Client().post(link, {"password": "a long sentence"})
    assert response.status_code == 422
    assert "Sign in instead" in text(response)
    nora.refresh_from_db()
    assert nora.password == before


def test_without_a_mail_server_the_link_is_shown_once(cast: Cast, sign_in: SignIn) -> None:
    client = sign_in(cast.root)
    response = client.post("/people/invite", {"email": "nora@example.com"})
    found = re.search(r"http://testserver(/invitations/[\w-]+/)", text(response))
    assert found
    assert Client().get(found.group(1)).status_code == 200
    assert "/invitations/" not in text(client.get("/people")).replace("/people/invitations/", "")


def test_a_mail_server_that_fails_loses_no_invitation(
    root_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> int:
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "send_messages", fail)
    response = root_client.post("/people/invite", {"email": "nora@example.com"})
    assert response.status_code == 200
    assert "invitation-link" in text(response)


def test_one_address_is_not_flooded(root_client: Client) -> None:
    statuses = [
        root_client.post("/people/invite", {"email": "nora@example.com"}).status_code
        for _ in range(6)
    ]
    assert statuses == [302] * 5 + [429]


@pytest.mark.parametrize("path", ["/invitations/x/", "/invitations/%00/", "/invitations/é/"])
def test_a_made_up_invitation_makes_nobody(db: None, path: str) -> None:
    before = User.objects.count()
    assert Client().get(path).status_code == 404
    assert Client().post(path, {"display_name": "X"}).status_code == 404
    assert User.objects.count() == before


def test_no_link_is_in_the_log(root_client: Client, caplog: pytest.LogCaptureFixture) -> None:
    link = invite(root_client)
    with caplog.at_level(logging.DEBUG):
        Client().post(link, {"password": "1"})
        Client().put(link)
        Client(enforce_csrf_checks=True).post(link, {})
    lines = [ContentFreeFormatter().format(record) for record in caplog.records]
    assert any("/invitations/" in line for line in lines)
    assert not [line for line in lines if link.split("/")[2] in line]


def test_the_page_says_who_is_invited_and_finds_people(cast: Cast, root_client: Client) -> None:
    invite(root_client)
    Invitation.objects.update(expires_at=datetime(2026, 1, 1, tzinfo=UTC))
    page = text(root_client.get("/people"))
    assert "nora@example.com" in page
    assert "expired" in page
    found = text(root_client.get("/people?q=ALICE"))
    assert "alice@example.com" in found
    assert "bob@example.com" not in found


def test_people_takes_the_same_queries_however_many_there_are(
    root_client: Client, django_assert_max_num_queries: Any
) -> None:
    UserFactory.create_batch(30)
    with django_assert_max_num_queries(12):
        root_client.get("/people")


def test_staff_get_no_new_link_to_an_account_of_staff_that_an_administrator_offered(
    cast: Cast, sign_in: SignIn, settings: Any
) -> None:
    settings.EMAIL_HOST = ""
    chief = UserFactory.create(is_staff=True, is_superuser=True)
    row, token = invitations.invite(
        "nora@example.com", doer=Doer(user=chief, via="page"), staff=True
    )
    User.objects.filter(pk=cast.root.pk).update(is_superuser=False)
    browser = sign_in(cast.root)
    again = f"/people/invitations/{row.pk}/send"
    assert again not in text(browser.get("/people")), "what is refused is not offered"
    assert again in text(sign_in(chief).get("/people"))
    answer = browser.post(again)
    assert "/invitations/" not in answer.content.decode()
    assert invitations.find_invitation(token) == row, "the first link still works"
    assert invitations.invite_again(row.pk, doer=Doer(user=chief, via="page"))[0] == row
