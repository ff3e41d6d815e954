"""Signing in by an OpenID Connect issuer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.admin import site
from django.http.response import HttpResponseBase
from django.test import Client

from junior_memory import invitations
from junior_memory.audit import Doer
from junior_memory.checks import check_issuer
from junior_memory.models import Identity, User
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.issuer import CLIENT, CODE, FakeIssuer, issuer

ALICE = {"email": "Alice@Example.com", "email_verified": True, "name": "Alice"}


@pytest.fixture
def fake(settings: Any) -> Iterator[FakeIssuer]:
    """Run an issuer that the deployment is configured for."""
    with issuer() as running:
        settings.OIDC = running.settings()
        yield running


def come(
    client: Client, fake: FakeIssuer, claims: dict[str, Any] | None = None, **more: str
) -> HttpResponseBase:
    """Go to the issuer and come back."""
    fake.claims = dict(claims or {})
    params = fake.read_request(client.get("/sign-in/oidc", more)["Location"])
    back = {"code": CODE, "state": params["state"]}
    return client.get("/sign-in/oidc/callback", back)


def signed_in_as(client: Client) -> str:
    """Return whom this browser is signed in as."""
    key = client.session.get("_auth_user_id")
    return User.objects.get(pk=key).email if key else ""


def test_a_verified_address_signs_its_person_in(cast: Cast, fake: FakeIssuer) -> None:
    client = Client()
    assert "Sign in with Example ID" in text(client.get("/sign-in"))
    response = come(client, fake, ALICE, next="/memories?q=tea")
    assert response["Location"] == "/memories?q=tea"
    assert signed_in_as(client) == "alice@example.com"
    identity = Identity.objects.get(provider="oidc")
    assert (identity.tenant, identity.subject, identity.user) == (fake.url, "s-1", cast.alice)


def test_the_address_to_come_back_to_stays_here(cast: Cast, fake: FakeIssuer) -> None:
    response = come(Client(), fake, ALICE, next="https://evil.example/")
    assert response["Location"] == "/memories"


def test_the_userinfo_is_asked_when_the_token_names_no_address(
    cast: Cast, fake: FakeIssuer
) -> None:
    fake.userinfo = {"sub": "s-1"} | ALICE
    client = Client()
    assert come(client, fake).status_code == 302
    assert signed_in_as(client) == "alice@example.com"
    fake.userinfo = {"sub": "s-2"} | ALICE
    assert come(Client(), fake).status_code == 403


def test_a_connected_account_signs_in_whatever_its_address_becomes(
    cast: Cast, fake: FakeIssuer
) -> None:
    come(Client(), fake, ALICE)
    client = Client()
    come(client, fake, ALICE | {"email": "bob@example.com"})
    assert signed_in_as(client) == "alice@example.com"
    stranger = Client()
    assert come(stranger, fake, ALICE | {"sub": "s-2"}).status_code == 403
    assert not signed_in_as(stranger)


Change = Callable[[FakeIssuer, dict[str, Any]], None]


def _other_key(fake: FakeIssuer, claims: dict[str, Any]) -> None:
    fake.signs_with = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _said(**changes: Any) -> Change:
    return lambda _, claims: claims.update(changes)


def _set(**changes: Any) -> Change:
    def change(fake: FakeIssuer, claims: dict[str, Any]) -> None:
        for name, value in changes.items():
            setattr(fake, name, value)

    return change


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_said(email_verified=False), id="address not verified"),
        pytest.param(_said(email_verified="false"), id="address not verified, as a word"),
        pytest.param(_said(email_verified=None), id="nothing about the address"),
        pytest.param(_said(email=""), id="no address"),
        pytest.param(_said(email="nobody@example.com"), id="nobody here"),
        pytest.param(_said(email="root@example.com"), id="staff who never connected it"),
        pytest.param(_said(aud="another"), id="for another service"),
        pytest.param(_said(aud=[CLIENT, "another"], azp="another"), id="given to another"),
        pytest.param(_said(iss="https://evil.example"), id="of another issuer"),
        pytest.param(_said(nonce="another"), id="for another request"),
        pytest.param(_said(exp=1), id="too old"),
        pytest.param(_set(drop=("exp",)), id="for ever"),
        pytest.param(_set(drop=("sub",)), id="about nobody"),
        pytest.param(_set(drop=("id_token",)), id="no signed token"),
        pytest.param(_set(algorithm="HS256"), id="signed by a shared secret"),
        pytest.param(_set(algorithm="none"), id="not signed"),
        pytest.param(_other_key, id="signed by another key"),
        pytest.param(_set(token_status=500), id="the issuer fails"),
    ],
)
def test_everything_else_is_refused(cast: Cast, fake: FakeIssuer, change: Change) -> None:
    claims: dict[str, Any] = dict(ALICE)
    change(fake, claims)
    people = User.objects.count()
    client = Client()
    response = come(client, fake, claims)
    assert response.status_code == 403
    assert not signed_in_as(client)
    assert User.objects.count() == people
    assert not Identity.objects.filter(provider="oidc", user__isnull=False).exists()


def test_a_state_of_another_browser_is_refused(cast: Cast, fake: FakeIssuer) -> None:
    client, other = Client(), Client()
    fake.claims = dict(ALICE)
    params = fake.read_request(client.get("/sign-in/oidc")["Location"])
    back = {"code": CODE, "state": params["state"]}
    assert other.get("/sign-in/oidc/callback", back).status_code == 403
    assert client.get("/sign-in/oidc/callback", back | {"state": "x"}).status_code == 403
    assert client.get("/sign-in/oidc/callback", {"code": CODE}).status_code == 403
    assert "/token" not in fake.asked
    assert client.get("/sign-in/oidc/callback", back).status_code == 302
    assert client.get("/sign-in/oidc/callback", back).status_code in {302, 403}
    assert fake.asked.count("/token") == 1


def test_changing_ones_mind_there_is_no_fault(cast: Cast, fake: FakeIssuer) -> None:
    client = Client()
    params = fake.read_request(client.get("/sign-in/oidc")["Location"])
    back = {"error": "access_denied", "state": params["state"]}
    assert client.get("/sign-in/oidc/callback", back).status_code == 403


def test_a_document_of_another_issuer_sends_nobody_away(cast: Cast, fake: FakeIssuer) -> None:
    fake.published = {"issuer": "https://evil.example"}
    assert Client().get("/sign-in/oidc").status_code == 403


def test_an_issuer_that_is_down_is_said_and_no_error(cast: Cast, settings: Any) -> None:
    with issuer() as gone:
        url = gone.url
    settings.OIDC = {
        "name": "Gone", "issuer": url, "client_id": "a", "client_secret": "b", "sign_up": False,
    }  # fmt: skip
    response = Client().get("/sign-in/oidc")
    assert response.status_code == 403
    assert "did not work" in text(response)


def test_staff_connect_it_while_they_are_signed_in(
    cast: Cast, fake: FakeIssuer, sign_in: SignIn
) -> None:
    root = ALICE | {"email": "root@example.com"}
    assert come(Client(), fake, root).status_code == 403
    assert come(sign_in(cast.root), fake, root)["Location"] == "/settings#identities"
    client = Client()
    come(client, fake, root)
    assert signed_in_as(client) == "root@example.com"


def test_nobody_connects_an_account_with_another_address(
    cast: Cast, fake: FakeIssuer, sign_in: SignIn
) -> None:
    client = sign_in(cast.bob)
    response = come(client, fake, ALICE)
    assert response["Location"] == "/settings#identities"
    assert "another e-mail address" in text(client.get("/settings"))
    assert not Identity.objects.filter(provider="oidc").exists()
    assert signed_in_as(client) == "bob@example.com"


def test_everybody_joins_only_where_that_is_turned_on(
    cast: Cast, fake: FakeIssuer, settings: Any
) -> None:
    claims = ALICE | {"email": "Nora@example.com", "name": "Nora"}
    assert come(Client(), fake, claims).status_code == 403
    settings.OIDC = settings.OIDC | {"sign_up": True}
    client = Client()
    assert come(client, fake, claims).status_code == 302
    nora = User.objects.get(email="nora@example.com")
    assert (nora.display_name, nora.is_staff, nora.has_usable_password()) == ("Nora", False, False)


def test_the_invited_join_by_it_but_never_as_staff(cast: Cast, fake: FakeIssuer) -> None:
    cast.root.is_superuser = True
    root = Doer(user=cast.root, via="page")
    invitations.invite("nora@example.com", doer=root)
    invitations.invite("sam@example.com", doer=root, staff=True)
    assert come(Client(), fake, ALICE | {"email": "nora@example.com"}).status_code == 302
    sam = ALICE | {"email": "sam@example.com", "sub": "s-2"}
    assert come(Client(), fake, sam).status_code == 403
    assert not User.objects.filter(email="sam@example.com").exists()


def test_who_was_turned_off_stays_out(cast: Cast, fake: FakeIssuer) -> None:
    come(Client(), fake, ALICE)
    User.objects.filter(pk=cast.alice.pk).update(is_active=False)
    client = Client()
    assert come(client, fake, ALICE).status_code == 403
    assert not signed_in_as(client)


def test_another_site_sends_nobody_there(cast: Cast, fake: FakeIssuer) -> None:
    link = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    headers = link | {"Sec-Fetch-Site": "cross-site"}
    assert Client().get("/sign-in/oidc", headers=headers)["Location"] == "/sign-in"
    image = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert Client().get("/sign-in/oidc", headers=image).status_code == 403
    assert not fake.asked


@pytest.mark.parametrize("missing", ["name", "issuer", "client_id", "client_secret"])
def test_without_all_four_settings_there_is_nothing(
    cast: Cast, fake: FakeIssuer, settings: Any, missing: str
) -> None:
    settings.OIDC = settings.OIDC | {missing: ""}
    assert Client().get("/sign-in/oidc").status_code == 404
    assert Client().get("/sign-in/oidc/callback").status_code == 404
    assert "/sign-in/oidc" not in text(Client().get("/sign-in"))


def test_a_half_configured_issuer_is_said_before_it_serves(settings: Any) -> None:
    assert check_issuer() == []
    settings.OIDC = settings.OIDC | {"issuer": "http://id.example.com", "name": "Example ID"}
    assert [one.id for one in check_issuer()] == ["junior_memory.E032"]
    settings.OIDC = settings.OIDC | {"client_id": "a", "client_secret": "b"}
    assert check_issuer() == []
    settings.PRODUCTION = True
    assert [one.id for one in check_issuer()] == ["junior_memory.E033"]


@pytest.mark.parametrize(
    "path",
    ["/accounts/login/", "/accounts/signup/", "/oidc/oidc/login/", "/accounts/password/reset/"],
)
def test_no_page_of_the_library_has_an_address(db: None, path: str) -> None:
    assert Client().get(path).status_code == 404
    assert not [model for model in site._registry if model.__module__.startswith("allauth")]
