"""What pages of other sites can make a browser do here, by what the browser says about them."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as configured
from django.test import Client

from tests.api.conftest import BASE
from tests.cast import Cast
from tests.dashboard.conftest import SignIn
from tests.factories import make_personal_token

ELSEWHERE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
NEXT_DOOR = ELSEWHERE | {"sec-fetch-site": "same-site"}
LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
FRAME = LINK | {"sec-fetch-dest": "iframe"}
OWN = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
TYPED = LINK | {"sec-fetch-site": "none"}

PATHS = ("/memories", "/settings/export", f"{BASE}/memories", "/admin/", "/api/openapi.json")


@pytest.mark.parametrize("path", PATHS)
def test_another_site_may_link_here_and_take_nothing(
    cast: Cast, sign_in: SignIn, path: str
) -> None:
    client = sign_in(cast.root)
    for headers in (LINK, OWN, TYPED, {}):
        assert client.get(path, headers=headers).status_code == 200
    for headers in (ELSEWHERE, NEXT_DOOR, FRAME):
        answer = client.get(path, headers=headers)
        assert answer.status_code == 403
        if path.startswith("/api/"):
            assert answer.json()["error"]["code"] == "origin"


@pytest.mark.parametrize(
    "headers",
    [
        ELSEWHERE,
        LINK,
        {"origin": "https://evil.example"},
        {"origin": "null"},
        OWN | {"origin": "https://evil.example"},
    ],
)
def test_another_site_posts_nothing_even_with_a_good_token(
    cast: Cast, sign_in: SignIn, headers: dict[str, str]
) -> None:
    client = sign_in(cast.alice)
    for path in ("/memories/new", "/sign-out", f"{BASE}/memories", "/sign-in"):
        answer = client.post(path, {"content": "Likes evil."}, headers=headers)
        assert answer.status_code == 403, path
    assert client.get("/memories").status_code == 200


def test_a_trusted_origin_may_post(cast: Cast, sign_in: SignIn, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://friend.example"]
    headers = LINK | {"origin": "https://friend.example"}
    assert sign_in(cast.alice).post("/sign-out", headers=headers).status_code == 302


def test_a_program_with_a_token_is_no_browser_led_astray(cast: Cast) -> None:
    bearer = {"authorization": f"Bearer {make_personal_token(cast.alice)}"}
    answer = Client().get(f"{BASE}/memories", headers=ELSEWHERE | bearer)
    assert answer.status_code == 200


def test_a_name_and_password_in_the_address_open_no_way_around(cast: Cast, sign_in: SignIn) -> None:
    basic = {"authorization": "Basic bWU6c2VjcmV0"}
    answer = sign_in(cast.alice).get("/settings/export", headers=ELSEWHERE | basic)
    assert answer.status_code == 403


@pytest.mark.parametrize("path", [*PATHS, "/sign-in", "/nowhere", "/healthz", "/reset-password"])
def test_every_answer_says_who_may_frame_embed_and_keep_it(
    cast: Cast, sign_in: SignIn, path: str
) -> None:
    answer = sign_in(cast.root).get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "form-action 'self'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    kept = answer.headers["Cache-Control"]
    assert "no-store" in kept or path.startswith("/admin")
    assert "no-cache" in kept or "no-store" in kept


def test_an_address_by_another_name_is_not_answered(cast: Cast) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:8000@127.0.0.1"):
        assert Client().get("/sign-in", headers={"host": host}).status_code == 400


def test_a_nul_spelled_in_a_cookie_is_no_fault_of_ours(cast: Cast) -> None:
    client = Client()
    client.cookies["sessionid"] = "a\x00b"
    assert client.get("/memories").status_code == 400


def test_cookies_are_kept_from_scripts_and_other_sites(cast: Cast) -> None:
    assert configured.SESSION_COOKIE_HTTPONLY
    client = Client()
    client.post("/sign-in", {"email": "alice@example.com", "password": "correct horse"})
    for name in ("sessionid", "known"):
        assert client.cookies[name]["httponly"]
        assert client.cookies[name]["samesite"] == "Lax"


def test_signing_in_takes_a_session_that_nobody_else_can_know(cast: Cast) -> None:
    client = Client()
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    before = client.cookies["sessionid"].value
    client.post("/sign-in", {"email": "alice@example.com", "password": "correct horse"})
    assert client.cookies["sessionid"].value != before
