"""A caller of the REST interface, and the shape that every failure has."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from junior_memory.models import User
from tests import tally
from tests.cast import Cast
from tests.factories import make_agent_token, make_personal_token

BASE = "/api/plugins/memory"


class Caller:
    """Calls the interface with a token, as somebody signed in, or as nobody."""

    def __init__(self, *, token: str = "", user: User | None = None) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        if user is not None:
            self.client.force_login(user)

    def call(
        self, method: str, path: str, body: object = None, *, headers: dict[str, str] | None = None
    ) -> HttpResponse:
        """Make one call; `path` is below the base unless it begins with /api or /."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body)
        response: HttpResponse = self.client.generic(  # type: ignore[assignment]
            method,
            path if path.startswith("/") else f"{BASE}/{path}",
            data,
            content_type="application/json" if body is not None else "",
            headers=self.headers | (headers or {}),
        )
        return response

    def get(self, path: str) -> HttpResponse:
        return self.call("GET", path)

    def post(self, path: str, body: object = None) -> HttpResponse:
        return self.call("POST", path, body)

    def patch(self, path: str, body: object) -> HttpResponse:
        return self.call("PATCH", path, body)

    def delete(self, path: str) -> HttpResponse:
        return self.call("DELETE", path)


def json_of(response: HttpResponse, status: int = 200) -> Any:
    """Return an answer's body after checking its status and that nobody may store it."""
    assert response.status_code == status, response.content
    assert response.headers["Cache-Control"] == "no-store"
    return json.loads(response.content)


def assert_fails(response: HttpResponse, status: int, code: str = "") -> dict[str, Any]:
    """Check that a failure has our shape, and says when to come again; return its error."""
    body = json_of(response, status)
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert set(error) <= {"code", "message", "fields"}
    assert error["code"]
    assert error["message"]
    if code:
        assert error["code"] == code
    if status in {429, 503}:
        assert int(response["Retry-After"]) > 0
    return error


@pytest.fixture
def alice(cast: Cast) -> Caller:
    return Caller(token=make_personal_token(cast.alice))


@pytest.fixture
def bob(cast: Cast) -> Caller:
    return Caller(token=make_personal_token(cast.bob))


@pytest.fixture
def charlie(cast: Cast) -> Caller:
    return Caller(token=make_personal_token(cast.charlie))


@pytest.fixture
def root(cast: Cast) -> Caller:
    return Caller(token=make_personal_token(cast.root, "read", "write", "report"))


@pytest.fixture
def nobody(db: None) -> Caller:
    return Caller()


@pytest.fixture
def host(cast: Cast) -> Caller:
    return Caller(token=make_agent_token(cast.agent, organization=cast.org)[1])


@pytest.fixture
def unhurried(settings: Any) -> None:
    """Let one caller call as often as a made-up input wants, so that none is turned away unread."""
    often = {"token_writes_per_minute": 1_000_000, "token_reads_per_minute": 1_000_000}
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | often


@pytest.fixture(scope="package", autouse=True)
def _tally() -> Iterator[None]:
    """Say at the end how many inputs were made up."""
    yield
    for line in tally.summary():
        sys.stdout.write(f"{line}\n")
