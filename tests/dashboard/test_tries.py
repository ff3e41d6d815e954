"""Guessing is slowed down, and nobody can be locked out by it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.http.response import HttpResponseBase
from django.test import Client

from dashboard import tries
from dashboard.mail import PostedAfter
from junior_memory.models import RateWindow
from tests.cast import Cast

PASSWORD = "correct horse"
ALICE = "alice@example.com"


def attempt(client: Client, email: str, password: str, **more: Any) -> HttpResponseBase:
    return client.post("/sign-in", {"email": email, "password": password}, **more)


def guess_out(email: str = ALICE) -> None:
    """Use up what strangers have, as an attacker does."""
    stranger = Client()
    while attempt(stranger, email, "wrong").status_code != 429:
        pass


def test_who_signed_in_here_before_is_not_locked_out_by_strangers(cast: Cast) -> None:
    hers = Client()
    assert attempt(hers, ALICE, PASSWORD).status_code == 302
    hers.post("/sign-out")
    guess_out()
    assert attempt(hers, ALICE, PASSWORD).status_code == 302
    new = Client()
    refused = attempt(new, ALICE, PASSWORD)
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 600


def test_who_is_new_here_gets_in_by_a_link_while_strangers_guess(cast: Cast) -> None:
    guess_out()
    new = Client()
    assert new.post("/sign-in/link", {"email": ALICE}).status_code == 302
    path = str(mail.outbox[0].body).split("http://testserver")[1].split()[0]
    assert new.post(path).status_code == 302


def test_one_place_does_not_use_up_everybodys_mails(cast: Cast) -> None:
    for path in ("/sign-in/link", "/reset-password"):
        mail.outbox.clear()
        answers = [Client().post(path, {"email": ALICE}).status_code for _ in range(30)]
        assert answers.count(302) == tries.MAILS_FROM_ONE_PLACE == len(mail.outbox)
        elsewhere = Client(REMOTE_ADDR="203.0.113.7")
        assert elsewhere.post(path, {"email": ALICE}).status_code == 302
        # Many places together do not flood somebody's mailbox either.
        for number in range(10):
            Client(REMOTE_ADDR=f"198.51.100.{number}").post(path, {"email": ALICE})
            Client(REMOTE_ADDR=f"198.51.100.{number}").post(path, {"email": ALICE})
        assert len(mail.outbox) == tries.MAILS_TO_ONE


def test_a_known_browser_has_tries_of_its_own_and_no_more(cast: Cast) -> None:
    hers = Client()
    attempt(hers, ALICE, PASSWORD)
    hers.post("/sign-out")
    statuses = [attempt(hers, ALICE, "wrong").status_code for _ in range(tries.TRIES + 1)]
    assert statuses == [422] * tries.TRIES + [429]
    assert attempt(Client(), ALICE, PASSWORD).status_code == 302, "strangers' tries are untouched"


def test_a_known_browser_is_known_for_its_person_alone(cast: Cast) -> None:
    hers = Client()
    attempt(hers, ALICE, PASSWORD)
    hers.post("/sign-out")
    guess_out("bob@example.com")
    assert attempt(hers, "bob@example.com", PASSWORD).status_code == 429


@pytest.mark.parametrize("value", ["", "x", "x:y:z", "é" * 2_000])
def test_a_made_up_mark_is_a_stranger(cast: Cast, value: str) -> None:
    guess_out()
    client = Client()
    client.cookies["known"] = value
    assert attempt(client, ALICE, PASSWORD).status_code == 429


def test_one_place_may_not_try_everybody(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "TRIES_FROM_ONE_PLACE", 5)
    statuses = [attempt(Client(), f"p{n}@example.com", "x").status_code for n in range(6)]
    assert statuses == [422] * 5 + [429]
    elsewhere = attempt(Client(REMOTE_ADDR="203.0.113.7"), ALICE, PASSWORD)
    assert elsewhere.status_code == 302


def test_no_address_is_kept_where_tries_are_counted(cast: Cast) -> None:
    attempt(Client(), ALICE, "wrong")
    Client().post("/sign-in/link", {"email": ALICE})
    buckets = " ".join(RateWindow.objects.values_list("bucket", flat=True))
    assert "alice" not in buckets
    assert "127.0.0.1" not in buckets


def test_staff_come_in_by_the_same_door(cast: Cast) -> None:
    client = Client()
    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0] == "/sign-in?next=%2Fadmin%2F"
    body = {"username": "root@example.com", "password": PASSWORD}
    assert client.post("/admin/login/", body).status_code == 405
    attempt(client, ALICE, PASSWORD)
    assert client.get("/admin/", follow=True).status_code == 403


def test_mail_leaves_after_the_answer(cast: Cast) -> None:
    """So that the time of the answer does not tell who is known."""
    response = PostedAfter("/sign-in?sent")
    response.post(cast.alice, "Hello", "registration/sign_in_email.txt", url="https://x.example/")
    assert not mail.outbox
    response.close()
    response.close()
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("path", ["/sign-in/link", "/reset-password"])
def test_in_production_no_host_header_gets_into_a_mail(
    cast: Cast, settings: Any, path: str
) -> None:
    settings.PRODUCTION = True
    settings.ALLOWED_HOSTS = ["*"]
    Client().post(path, {"email": ALICE}, headers={"host": "evil.example"})
    body = str(mail.outbox[0].body)
    assert "http://127.0.0.1:8000/" in body
    assert "evil" not in body


@pytest.mark.parametrize(
    "wanted",
    [
        "http://testserver//evil.example",
        "http://testserver///evil.example/x",
        "http://testserver/\\evil.example",
        "//evil.example",
        "/\\evil.example",
        "///evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "http://testserver@evil.example/",
        "\t//evil.example",
        "/\t/evil.example",
        "%2F%2Fevil.example",
    ],
)
def test_signing_in_never_leads_away(cast: Cast, wanted: str) -> None:
    body = {"email": ALICE, "password": PASSWORD, "next": wanted}
    location = Client().post("/sign-in", body).headers["Location"]
    assert location.startswith("/")
    assert location[1:2] not in {"/", "\\"}
    assert not {"\t", "\r", "\n"} & set(location)
