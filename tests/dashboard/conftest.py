"""Browsers of the cast: with and without htmx."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import translation

from junior_memory.models import User
from tests.cast import Cast

HTMX = {"hx-request": "true"}

SignIn = Callable[[User], Client]


def text(response: HttpResponseBase) -> str:
    """Return a response's body."""
    assert isinstance(response, HttpResponse)
    return response.content.decode()


@pytest.fixture(autouse=True)
def _one_language_per_test() -> Iterator[None]:
    """Forget the language of the last request, which would hold for a test that makes none."""
    yield
    translation.deactivate()


@pytest.fixture
def sign_in() -> SignIn:
    """Return a function that gives a person a browser of their own."""

    def browser(user: User) -> Client:
        client = Client(enforce_csrf_checks=False)
        client.force_login(user)
        return client

    return browser


@pytest.fixture
def alice_client(cast: Cast, sign_in: SignIn) -> Client:
    """Return Alice's browser."""
    return sign_in(cast.alice)


@pytest.fixture
def charlie_client(cast: Cast, sign_in: SignIn) -> Client:
    """Return the browser of a person who shares nothing with Alice."""
    return sign_in(cast.charlie)
