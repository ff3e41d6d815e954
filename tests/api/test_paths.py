"""Addresses as they were sent: an encoded slash belongs to an id, a plain one ends it."""

from __future__ import annotations

from io import BytesIO
from urllib.parse import unquote

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.test import RequestFactory

from api.paths import checked_id, ends_with
from junior_memory.errors import NotFound


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
