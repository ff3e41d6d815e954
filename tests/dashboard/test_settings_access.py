"""/settings: linked accounts and tokens."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory import people
from junior_memory.audit import Doer
from junior_memory.candidates import ActorRef
from junior_memory.models import ApiToken, Identity, Memory
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_agent_token, make_memory

URL = "/settings"
CODE = re.compile(r'id="linking-code">([A-Z2-9-]+)<')
SECRET = re.compile(r'id="new-token">(jmp_[\w-]+)<')


# Linked accounts.


def test_a_code_is_shown_once_and_links_an_account(cast: Cast, alice_client: Client) -> None:
    response = alice_client.post("/settings/linking-code")
    assert response.status_code == 200
    assert "no-store" in response["cache-control"]
    found = CODE.search(text(response))
    assert found is not None
    page = text(alice_client.get(URL))
    assert found[1] not in page
    assert "A new one replaces it." in page
    token, _ = make_agent_token(cast.agent, "sessions")
    actor = ActorRef(provider="slack", tenant="T1", subject="UALICETWO")
    people.redeem_linking_code(
        found[1], actor, token=token, source_is_private=True, doer=Doer(token=token, via="api")
    )
    assert "UALICETWO" in text(alice_client.get(URL))


def test_a_code_is_in_no_session(alice_client: Client) -> None:
    response = alice_client.post("/settings/linking-code", headers=HTMX)
    found = CODE.search(text(response))
    assert found is not None
    assert text(response).lstrip().startswith('<section class="setting" id="identities"')
    assert found[1] not in str(dict(alice_client.session))


def test_asking_for_codes_is_slowed_down(alice_client: Client) -> None:
    answers = {alice_client.post("/settings/linking-code").status_code for _ in range(20)}
    assert answers == {200}
    assert alice_client.post("/settings/linking-code").status_code == 429


def test_unlinking_ends_the_link_and_keeps_the_memory(cast: Cast, alice_client: Client) -> None:
    memory = make_memory(owner=cast.alice)
    url = f"/settings/identities/{cast.alice_slack.pk}/unlink"
    response = alice_client.post(url)
    assert response["location"] == "/settings#identities"
    assert Identity.objects.get(pk=cast.alice_slack.pk).user is None
    assert Memory.objects.get(pk=memory.pk).owner == cast.alice
    assert "You unlinked an account from you, on this site" in text(alice_client.get(URL))
    assert alice_client.post(url).status_code == 404


def test_a_stranger_unlinks_nothing(cast: Cast, charlie_client: Client) -> None:
    theirs = charlie_client.post(f"/settings/identities/{cast.alice_slack.pk}/unlink")
    absent = charlie_client.post(f"/settings/identities/{uuid4()}/unlink")
    assert theirs.status_code == absent.status_code == 404
    assert theirs.content == absent.content
    assert Identity.objects.get(pk=cast.alice_slack.pk).user == cast.alice


# Tokens.


def test_a_token_is_shown_once_and_works(cast: Cast, alice_client: Client) -> None:
    response = alice_client.post(
        "/settings/tokens", {"label": "Backup", "scopes": ["read", "write"]}
    )
    assert response.status_code == 200
    assert "no-store" in response["cache-control"]
    found = SECRET.search(text(response))
    assert found is not None
    token = people.find_token(found[1])
    assert token is not None
    assert (token.user, token.scopes, token.label) == (cast.alice, ["read", "write"], "Backup")
    page = text(alice_client.get(URL))
    assert found[1] not in page
    assert token.prefix in page
    assert "last used" in page
    assert found[1] not in str(dict(alice_client.session))


def test_a_token_ends_with_the_day_that_was_chosen(cast: Cast, alice_client: Client) -> None:
    on = timezone.now().date() + timedelta(days=3)
    alice_client.post("/settings/tokens", {"scopes": ["read"], "expires_on": on.isoformat()})
    token = ApiToken.objects.get(user=cast.alice)
    assert token.expires_at is not None
    assert token.expires_at.date() == on


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"scopes": ["everything"]},
        {"scopes": ["report"]},
        {"scopes": ["read"], "expires_on": "2020-01-01"},
        {"scopes": ["read"], "expires_on": "soon"},
        {"scopes": ["read"], "label": "x" * 101},
    ],
)
def test_a_token_that_may_not_be_is_not_made(
    cast: Cast, alice_client: Client, data: dict[str, object]
) -> None:
    response = alice_client.post("/settings/tokens", data)
    assert response.status_code == 422
    assert not ApiToken.objects.filter(user=cast.alice).exists()


def test_only_staff_may_make_a_token_for_reports(cast: Cast, sign_in: SignIn) -> None:
    assert 'value="report"' not in text(sign_in(cast.alice).get(URL))
    client = sign_in(cast.root)
    assert 'value="report"' in text(client.get(URL))
    assert client.post("/settings/tokens", {"scopes": ["report"]}).status_code == 200
    assert ApiToken.objects.get(user=cast.root).scopes == ["report"]


def test_the_fifty_first_token_is_refused(cast: Cast, alice_client: Client) -> None:
    for number in range(people.MAX_TOKENS):
        people.create_personal_token(cast.alice, scopes=["read"], label=f"{number}", doer=BY_TEST)
    response = alice_client.post("/settings/tokens", {"scopes": ["read"]})
    assert response.status_code == 422
    assert "At most 50 tokens" in text(response)


def test_a_revoked_token_stops_working_and_leaves_the_list(
    cast: Cast, alice_client: Client
) -> None:
    token, secret = people.create_personal_token(cast.alice, scopes=["read"], doer=BY_TEST)
    url = f"/settings/tokens/{token.pk}/revoke"
    part = text(alice_client.post(url, headers=HTMX))
    assert part.lstrip().startswith('<section class="setting" id="tokens"')
    assert f"<code>{token.prefix}…</code>" not in part
    assert people.find_token(secret) is None
    assert alice_client.post(url).status_code == 302


def test_a_stranger_revokes_nothing(cast: Cast, charlie_client: Client) -> None:
    token, secret = people.create_personal_token(cast.alice, scopes=["read"], doer=BY_TEST)
    theirs = charlie_client.post(f"/settings/tokens/{token.pk}/revoke")
    absent = charlie_client.post(f"/settings/tokens/{uuid4()}/revoke")
    assert theirs.status_code == absent.status_code == 404
    assert theirs.content == absent.content
    assert people.find_token(secret) is not None


def test_ids_that_are_no_ids_are_nowhere(alice_client: Client) -> None:
    for url in ("/settings/tokens/x/revoke", "/settings/identities/1/unlink"):
        assert alice_client.post(url).status_code == 404


@pytest.mark.parametrize("what", ["tokens/{}/revoke", "identities/{}/unlink"])
def test_addresses_with_an_id_take_posts_alone(alice_client: Client, what: str) -> None:
    url = f"/settings/{what.format(uuid4())}"
    for method in ("get", "put", "patch", "delete"):
        assert getattr(alice_client, method)(url).status_code == 405
