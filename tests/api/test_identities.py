"""POST /identities/link, POST /me/linking-code, DELETE /me/identities/{id}."""

from __future__ import annotations

import pytest

from junior_memory.models import AuditEntry, Identity, LinkingCode
from tests.api.bodies import BOB, UNKNOWN, said, session, source
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_memory_detail import ABSENT
from tests.cast import Cast
from tests.factories import make_agent_token


def link(code: str, **fields: object) -> dict[str, object]:
    return {"code": code, "actor": UNKNOWN, "source": source(), **fields}


def new_code(caller: Caller) -> str:
    answer = json_of(caller.post("me/linking-code"))
    assert set(answer) == {"code", "expiresAt"}
    return str(answer["code"])


def test_a_code_links_an_account_once_and_shows_nobody_whose_it_is(
    host: Caller, alice: Caller, cast: Cast
) -> None:
    code = new_code(alice)
    response = host.post("identities/link", link(code.lower().replace("-", " ")))
    assert json_of(response) == {
        "provider": "slack",
        "tenant": "T1",
        "subject": "UNEVERSEEN",
        "linked": True,
    }
    assert "alice" not in response.content.decode()
    assert Identity.objects.get(subject="UNEVERSEEN").user == cast.alice
    assert AuditEntry.objects.filter(action="identity_linked", person=cast.alice).exists()
    assert_fails(host.post("identities/link", link(code)), 404)


def test_only_a_private_source_may_carry_a_code(host: Caller, alice: Caller) -> None:
    code = new_code(alice)
    for visibility in ("public", "org", "secret", None):
        body = link(code, source=source(visibility=visibility))
        assert_fails(host.post("identities/link", body), 403)
    assert not Identity.objects.filter(subject="UNEVERSEEN", user__isnull=False).exists()
    json_of(host.post("identities/link", link(code)))


def test_a_newer_code_ends_the_older_and_time_ends_both(host: Caller, alice: Caller) -> None:
    old, new = new_code(alice), new_code(alice)
    assert_fails(host.post("identities/link", link(old)), 404)
    LinkingCode.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert_fails(host.post("identities/link", link(new)), 404)


def test_the_sixth_try_after_five_wrong_codes_waits(host: Caller, alice: Caller) -> None:
    for number in range(5):
        assert_fails(host.post("identities/link", link(f"AAAA{number}")), 404)
    response = host.post("identities/link", link(new_code(alice)))
    assert_fails(response, 429, "rate_limited")
    assert 1 <= int(response.headers["Retry-After"]) <= 600


def test_an_account_of_somebody_else_is_409(host: Caller, alice: Caller, cast: Cast) -> None:
    body = link(new_code(alice), actor=BOB)
    assert_fails(host.post("identities/link", body), 409, "identity_linked")
    assert Identity.objects.get(subject="UBOB").user == cast.bob


def test_a_token_links_for_its_providers_alone(cast: Cast, alice: Caller) -> None:
    bound = Caller(token=make_agent_token(cast.agent, providers=["slack/T2"])[1])
    assert_fails(bound.post("identities/link", link(new_code(alice))), 403)


def test_what_does_not_fit_is_refused(host: Caller, alice: Caller) -> None:
    for change in ({"code": ""}, {"code": 5}, {"code": "x" * 65}, {"actor": None}, {"user": "a"}):
        assert_fails(host.post("identities/link", link("AAA") | change), 422)
    assert_fails(host.get("identities/link"), 405)
    assert_fails(alice.post("identities/link", link("AAA")), 403)
    assert_fails(host.post("me/linking-code"), 403)


def test_unlinking_is_its_own_persons(alice: Caller, bob: Caller, cast: Cast) -> None:
    mine = cast.alice_slack.pk
    assert_fails(bob.delete(f"me/identities/{mine}"), 404)
    assert_fails(alice.delete(f"me/identities/{ABSENT}"), 404)
    assert_fails(alice.delete("me/identities/x"), 404)
    assert_fails(alice.get(f"me/identities/{mine}"), 405)
    assert alice.delete(f"me/identities/{mine}").status_code == 204
    assert_fails(alice.delete(f"me/identities/{mine}"), 404)
    assert Identity.objects.get(pk=mine).user is None


@pytest.mark.parametrize("provider", ["oidc", "junior-memory"])
def test_an_account_that_signs_in_or_is_made_here_is_no_hosts_to_link(
    host: Caller, root: Caller, cast: Cast, provider: str
) -> None:
    """Whoever holds an agent's token would else sign in as a person who read out a code."""
    theirs = {"provider": provider, "tenant": "https://issuer.example", "subject": "s-1"}
    code = new_code(root)
    assert_fails(host.post("identities/link", link(code, actor=theirs)), 403)
    assert not Identity.objects.filter(provider=provider, user__isnull=False).exists()
    assert json_of(host.post("identities/link", link(code)))["linked"], "the code is not used up"


@pytest.mark.parametrize("provider", ["oidc", "junior-memory"])
def test_a_verified_address_links_no_account_that_signs_in_or_is_made_here(
    cast: Cast, provider: str
) -> None:
    trusted = Caller(token=make_agent_token(cast.agent, trust_email=True)[1])
    theirs = {"provider": provider, "tenant": "https://issuer.example", "subject": "s-1"}
    actor = {**theirs, "email": cast.alice.email, "emailVerified": True}
    body = session(actor=actor, actors=[theirs], transcript=[said("I like tea.", actor=theirs)])
    assert trusted.post("sessions", body).status_code == 202
    assert Identity.objects.get(provider=provider).user is None
