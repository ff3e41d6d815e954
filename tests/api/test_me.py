"""GET and PATCH /me; GET, POST /tokens, DELETE /tokens/{id}."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from junior_memory.models import ApiToken, User
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_memory_detail import ABSENT
from tests.cast import Cast
from tests.factories import make_memory, make_personal_token


class Browser(Caller):
    """Somebody signed in whose calls carry the CSRF token."""

    def __init__(self, user: User) -> None:
        super().__init__(user=user)
        self.client.get("/api/docs")
        self.headers = {"X-CSRFToken": self.client.cookies["csrftoken"].value}


@pytest.fixture
def browser(cast: Cast) -> Browser:
    return Browser(cast.alice)


def test_me_shows_preferences_identities_organizations_and_quota(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice)
    me = json_of(alice.get("me"))
    assert (me["email"], me["learning"], me["recall"]) == ("alice@example.com", True, True)
    assert me["publicUse"] == "preferences"
    assert {one["subject"] for one in me["identities"]} == {"UALICE", "alice"}
    assert me["organizations"] == [{"slug": "acme", "name": "Acme team"}]
    assert me["quota"] == {"limit": 5000, "agents": [{"agent": "default", "use": 1}]}


def test_what_is_left_out_stays_and_what_is_sent_changes(alice: Caller, cast: Cast) -> None:
    changed = json_of(
        alice.patch("me", {"learning": False, "neverLearnTopics": [" my  health ", "pay"]})
    )
    assert (changed["learning"], changed["recall"]) == (False, True)
    assert changed["neverLearnTopics"] == ["my health", "pay"]
    assert json_of(alice.patch("me", {}))["learning"] is False
    changed = json_of(alice.patch("me", {"learning": True, "recall": False, "publicUse": "none"}))
    assert (changed["learning"], changed["recall"], changed["publicUse"]) == (True, False, "none")
    assert json_of(alice.get("me")) == changed
    assert json_of(alice.patch("me", {"neverLearnTopics": []}))["neverLearnTopics"] == []


def test_what_does_not_fit_changes_nothing(alice: Caller, cast: Cast) -> None:
    before = json_of(alice.get("me"))
    wrong: list[dict[str, Any]] = [
        {"learning": "yes"},
        {"publicUse": "some"},
        {"neverLearnTopics": "pay"},
        {"neverLearnTopics": ["x"] * 51},
        {"neverLearnTopics": ["x" * 101]},
        {"neverLearnTopics": [5]},
        {"neverLearnTopics": ["\ud800"]},
        {"displayName": "x" * 121},
        {"email": "root@example.com"},
        {"isStaff": True},
    ]
    for body in wrong:
        assert_fails(alice.patch("me", body), 422)
    assert json_of(alice.get("me")) == before
    assert_fails(alice.post("me", {}), 405)


def test_tokens_are_managed_by_cookie_alone(alice: Caller, host: Caller) -> None:
    for caller in (alice, host):
        assert_fails(caller.get("tokens"), 403)
        assert_fails(caller.post("tokens", {"scopes": ["read"]}), 403)
        assert_fails(caller.delete(f"tokens/{ABSENT}"), 403)


def test_a_token_is_shown_once_and_works_until_it_is_revoked(browser: Browser) -> None:
    body = {"scopes": ["read"], "label": "my script"}
    made = json_of(browser.post("tokens", body), 201)
    assert made["token"].startswith("jmp_")
    assert made["token"].startswith(made["prefix"])
    listed = browser.get("tokens")
    assert made["token"] not in listed.content.decode()
    (one,) = json_of(listed)["tokens"]
    assert one == {key: value for key, value in made.items() if key != "token"}
    caller = Caller(token=made["token"])
    json_of(caller.get("memories"))
    assert_fails(caller.post("memories", {"content": "x"}), 403)
    for _ in range(2):
        assert browser.delete(f"tokens/{made['id']}").status_code == 204
    assert_fails(caller.get("memories"), 401)
    (one,) = json_of(browser.get("tokens"))["tokens"]
    assert one["revokedAt"].endswith("Z")


def test_somebody_elses_token_is_404(browser: Browser, cast: Cast) -> None:
    make_personal_token(cast.bob)
    token = ApiToken.objects.get(user=cast.bob)
    assert_fails(browser.delete(f"tokens/{token.pk}"), 404)
    assert_fails(browser.delete(f"tokens/{ABSENT}"), 404)
    assert_fails(browser.delete("tokens/x"), 404)
    assert json_of(browser.get("tokens"))["tokens"] == []
    token.refresh_from_db()
    assert token.revoked_at is None


def test_a_token_that_does_not_fit_is_refused(browser: Browser) -> None:
    past = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    wrong: list[dict[str, Any]] = [
        {},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"scopes": ["report"]},
        {"scopes": ["recall"]},
        {"scopes": ["read"], "expiresAt": past},
        {"scopes": ["read"], "label": "x" * 101},
        {"scopes": ["read"], "user": "bob"},
    ]
    for body in wrong:
        assert_fails(browser.post("tokens", body), 422)
    assert not ApiToken.objects.exists()


def test_staff_may_make_a_reporting_token(cast: Cast) -> None:
    made = json_of(Browser(cast.root).post("tokens", {"scopes": ["report"]}), 201)
    caller = Caller(token=made["token"])
    json_of(caller.get("report"))
    assert_fails(caller.get("memories"), 403)


def test_a_token_that_expires_stops(browser: Browser) -> None:
    soon = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    made = json_of(browser.post("tokens", {"scopes": ["read"], "expiresAt": soon}), 201)
    caller = Caller(token=made["token"])
    json_of(caller.get("me"))
    ApiToken.objects.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert_fails(caller.get("me"), 401)


@pytest.mark.parametrize(
    "key", ["learning", "recall", "publicUse", "neverLearnTopics", "displayName"]
)
def test_null_is_no_choice(alice: Caller, key: str) -> None:
    assert_fails(alice.patch("me", {key: None}), 422)
