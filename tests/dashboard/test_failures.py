"""What people see when something fails."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest
from django.test import Client, RequestFactory

from dashboard.middleware import FailureMiddleware
from dashboard.views import errors
from junior_memory.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    JuniorMemoryError,
    NotFound,
    RateLimited,
    Unavailable,
)

SECRET = "row (42, 'Drinks oolong.')"


def answer(path: str, exception: Exception) -> Any:
    """Return what the middleware makes of an exception."""
    middleware = FailureMiddleware(lambda request: errors.not_found(request, Http404()))
    return middleware.process_exception(RequestFactory().get(path), exception)


@pytest.mark.parametrize("failure", [OperationalError, InterfaceError])
def test_database_gone_is_503_in_our_shape_and_tells_nothing(
    failure: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        page = answer("/memories", failure(SECRET))
        call = answer("/api/plugins/memory/memories", failure(SECRET))
    for response in (page, call):
        assert response.status_code == 503
        assert response["Cache-Control"] == "no-store"
        assert response["Retry-After"] == "5"
        assert SECRET not in response.content.decode()
    assert "Nothing is lost" in page.content.decode()
    assert json.loads(call.content)["error"]["code"] == "unavailable"
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (NotFound(), 404),
        (Forbidden(), 403),
        (Conflict(), 409),
        (InvalidInput(), 422),
        (RateLimited(retry_after_seconds=3), 429),
        (Unavailable(), 503),
    ],
)
def test_each_kind_of_error_has_its_status(failure: JuniorMemoryError, status: int) -> None:
    assert answer("/memories", failure).status_code == status
    assert answer("/api/plugins/memory/memories", failure) is None


@pytest.mark.parametrize(("seconds", "said"), [(3, "in 1 minute."), (61, "in 2 minutes.")])
def test_who_must_wait_is_told_how_long(seconds: int, said: str) -> None:
    page = answer("/sign-in", RateLimited(retry_after_seconds=seconds))
    assert page is not None
    assert page["Retry-After"] == str(seconds)
    assert f"It works again {said}" in page.content.decode()


def test_what_is_not_ours_is_left_to_django() -> None:
    assert answer("/memories", ValueError(SECRET)) is None


def test_a_fault_outside_of_a_view_tells_nothing() -> None:
    request = RequestFactory().get("/memories")
    try:
        raise OperationalError(SECRET)
    except OperationalError:
        assert errors.server_error(request).status_code == 503
    try:
        raise ValueError(SECRET)
    except ValueError:
        page = errors.server_error(request)
    assert page.status_code == 500
    assert SECRET not in page.content.decode()


@pytest.mark.parametrize(
    ("view", "status"),
    [
        (errors.bad_request, 400),
        (errors.forbidden, 403),
        (errors.not_found, 404),
        (errors.csrf_failure, 403),
        (errors.unavailable, 503),
        (errors.server_error, 500),
    ],
)
def test_error_pages_ask_nobody(view: Any, status: int) -> None:
    """No database here: a query would fail this test."""
    for path in ("/memories", "/api/x"):
        request: HttpRequest = RequestFactory().get(path)
        response = view(request)
        assert response.status_code == status
        assert response["Cache-Control"] == "no-store"
        body = response.content.decode()
        assert ("<h1>" in body) is (path == "/memories")


def test_an_unknown_address_is_a_page_of_ours(db: None) -> None:
    response = Client().get("/nowhere")
    assert response.status_code == 404
    assert "Nothing here" in response.content.decode()


def test_permission_denied_is_a_page_of_ours(rf: RequestFactory) -> None:
    page = errors.forbidden(rf.get("/overview"), PermissionDenied())
    assert "Not allowed" in page.content.decode()
