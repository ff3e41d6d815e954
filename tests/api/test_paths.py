"""Addresses as they were sent: an encoded slash belongs to an id, a plain one ends it."""

from __future__ import annotations

from io import BytesIO
from urllib.parse import unquote

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from api import paths
from api.edge import guarded
from api.paths import checked_id, ends_with
from junior_memory.errors import NotFound
from tests.api.conftest import BASE, Caller, assert_fails, json_of


def asgi(raw: str) -> ASGIRequest:
    scope = {
        "type": "http",
        "method": "GET",
        "path": unquote(raw),
        "raw_path": raw.encode(),
        "query_string": b"",
        "headers": [],
    }
    return ASGIRequest(scope, BytesIO())


@pytest.mark.parametrize(
    ("raw", "is_word"),
    [
        ("/conversations/a/memories", True),
        ("/conversations/a%2Fb/memories", True),
        ("/conversations/a/b/memories", True),
        ("/conversations/a%2Fmemories", False),
        ("/conversations/a%2Fmemories/memories", True),
        ("/conversations/a/%6Demories", True),
        ("/conversations/memories%2F", False),
    ],
)
def test_the_last_plain_step_decides(raw: str, is_word: bool) -> None:
    assert ends_with(asgi(raw), "memories") is is_word


def test_without_the_address_as_sent_the_decoded_one_decides() -> None:
    assert ends_with(RequestFactory().get("/conversations/a%2Fmemories"), "memories")


def test_an_id_that_no_text_can_be_is_absent() -> None:
    for text in ("", "a\x00", "a\nb", "x" * 256, "\ud800"):
        with pytest.raises(NotFound):
            checked_id(text)
    assert checked_id("a/b:c") == "a/b:c"


def test_an_id_that_ends_like_an_address_is_still_an_id(
    root: Caller, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    json_of(alice.get("conversations/a/memories"))
    assert_fails(root.post("sessions/a/retry"), 404)

    def as_sent(request: HttpRequest) -> str:
        return BASE + request.path.removeprefix(BASE).replace("/a/", "/a%2F")

    monkeypatch.setattr(paths, "raw_path", as_sent)
    assert_fails(alice.get("conversations/a/memories"), 404)
    assert_fails(alice.get("conversations/a/events"), 404)
    response = root.post("sessions/a/retry")
    assert_fails(response, 405)
    assert response.headers["Allow"] == "GET, HEAD"


def test_head_has_the_headers_and_no_body() -> None:
    view = guarded(lambda _request: HttpResponse(b"hello"))
    response = view(RequestFactory().head("/"))
    assert isinstance(response, HttpResponse)
    assert response.content == b""
    assert response.headers["Content-Length"] == "5"
