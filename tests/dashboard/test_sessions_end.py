"""How sessions end: here, everywhere else, and what a browser keeps afterwards."""

from __future__ import annotations

import pytest
from django.core import mail
from django.test import Client

from junior_memory.models import AuditEntry
from junior_memory.people import sign_in_token
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text

ADDRESS = "/settings/sign-out-elsewhere"
PASSWORD = "correct horse"


def is_in(client: Client) -> bool:
    return client.get("/settings").status_code == 200


def test_who_has_a_password_ends_the_other_sessions_with_it(cast: Cast, sign_in: SignIn) -> None:
    here, there, bobs = sign_in(cast.alice), sign_in(cast.alice), sign_in(cast.bob)
    path = "/sign-in/{}/{}/".format(*sign_in_token(cast.alice))
    for wrong in ({}, {"present": "wrong"}):
        assert here.post(ADDRESS, wrong).status_code == 422
        assert is_in(there)
    answer = here.post(ADDRESS, {"present": PASSWORD}, headers=HTMX)
    assert answer.status_code == 200
    assert "Other sessions are signed out." in text(answer)
    assert (is_in(here), is_in(there), is_in(bobs)) == (True, False, True)
    assert Client().post(path).status_code == 404, "a link that was mailed before"
    cast.alice.refresh_from_db()
    assert cast.alice.check_password(PASSWORD), "it is the same password"
    assert AuditEntry.objects.get(action="sessions_ended").person_id == cast.alice.pk
    assert "signed out everywhere else" in text(here.get("/settings"))


def test_who_signs_in_by_links_ends_the_other_sessions_too(cast: Cast, sign_in: SignIn) -> None:
    cast.alice.set_unusable_password()
    cast.alice.save()
    here, there = sign_in(cast.alice), sign_in(cast.alice)
    assert 'name="present"' not in here.get("/settings").content.decode()
    assert here.post(ADDRESS).status_code == 302
    assert (is_in(here), is_in(there)) == (True, False)
    Client().post("/sign-in/link", {"email": cast.alice.email})
    path = str(mail.outbox[0].body).split("http://testserver")[1].split()[0]
    assert there.post(path).status_code == 302
    assert (is_in(here), is_in(there)) == (True, True)


def test_guessing_the_password_that_way_is_slowed_down(cast: Cast, sign_in: SignIn) -> None:
    client = sign_in(cast.alice)
    statuses = [client.post(ADDRESS, {"present": "wrong"}).status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]


def test_nobody_ends_sessions_of_others(cast: Cast, sign_in: SignIn) -> None:
    there = sign_in(cast.alice)
    assert Client().post(ADDRESS, {"present": PASSWORD}).status_code == 302
    assert sign_in(cast.bob).post(ADDRESS, {"present": PASSWORD}).status_code == 302
    assert is_in(there)


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_only_a_post_ends_sessions(cast: Cast, sign_in: SignIn, method: str) -> None:
    client = sign_in(cast.alice)
    assert getattr(client, method)(ADDRESS).status_code == 405
    assert is_in(client)


def test_signing_out_makes_the_browser_forget_the_pages_it_holds(
    cast: Cast, sign_in: SignIn
) -> None:
    answer = sign_in(cast.alice).post("/sign-out")
    cleared = answer.headers["Clear-Site-Data"]
    assert {'"cache"', '"storage"'} == set(cleared.split(", "))
    assert "cookies" not in cleared, "the browser stays a known one"
