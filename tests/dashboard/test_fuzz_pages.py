"""Every address of the pages with made-up queries and forms, as everybody: no fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern
from hypothesis import given
from hypothesis import strategies as st

from dashboard.urls import urlpatterns
from tests import tally
from tests.cast import Cast
from tests.dashboard.conftest import HTMX
from tests.factories import make_memory
from tests.made_up import short, some

FIELDS = (
    "action after agent ask_model chosen confirm content cursor days display_name email expires_on"
    " file filter format ids keep key kind label language learning limit name new_password1"
    " new_password2 next origin password person present public_use q reason recall scopes session"
    " sort staff state team text theme time_zone topics version visibility where without"
).split()
GOOD = ("1", "on", "90", "csv", "preference", "private", "held", "default", "2027-01-01", "first")
ROUTES_AT_ONCE = 20
ROUTES = [pattern for pattern in urlpatterns if isinstance(pattern, URLPattern)]

forms = st.dictionaries(
    st.sampled_from(FIELDS), st.one_of(st.sampled_from(GOOD), short), max_size=8
)


def addresses(memory_id: str) -> Iterator[tuple[str, str]]:
    """Yield every address, with ids that lead to something and ids that do not."""
    for pattern in ROUTES:
        route = str(pattern.pattern)
        for value in (memory_id, str(uuid4())) if "<" in route else ("",):
            filled = re.sub(r"<uuid:\w+>", value, route)
            filled = re.sub(r"<int:\w+>", "1", filled)
            filled = re.sub(r"<(str|path):\w+>", "x-1", filled)
            yield f"/{filled}", str(pattern.name)


def test_every_address_of_the_pages_is_tried() -> None:
    assert len(ROUTES) > 50
    assert {"memories", "people", "system_audit", "settings_import"} <= {r.name for r in ROUTES}


@pytest.fixture(autouse=True)
def _unread(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is turned away for asking too often before their form was read."""
    for name in ("TRIES", "TRIES_FROM_ONE_PLACE", "MAILS_TO_ONE", "MAILS_FROM_ONE_PLACE"):
        monkeypatch.setattr(f"dashboard.tries.{name}", 1_000_000)


@pytest.mark.parametrize("who", ["nobody", "alice", "root"])
@given(data=st.data(), sent=forms, asked=forms)
@some
def test_no_page_breaks_over_any_form_or_query(
    cast: Cast, who: str, data: Any, sent: dict[str, str], asked: dict[str, str]
) -> None:
    memory = make_memory(owner=cast.alice, content=f"Keeps {uuid4()} bees.")
    first = data.draw(st.integers(0, len(ROUTES) - 1))
    for address, name in islice(addresses(str(memory.pk)), first, first + ROUTES_AT_ONCE):
        client = Client()
        if who != "nobody":
            client.force_login(getattr(cast, who))
        headers = HTMX if data.draw(st.booleans()) else {}
        answers = [
            client.get(address, asked, headers=headers),
            client.post(address, sent, headers=headers),
        ]
        for answer in answers:
            tally.count(f"pages by {who}", answer.status_code)
            is_odd_agent = name == "system_model_check"
            assert answer.status_code < 500 or is_odd_agent, (address, answer.status_code)


@given(text=short, raw=st.binary(max_size=200))
@some
def test_no_address_breaks_whatever_it_reads(cast: Cast, text: str, raw: bytes) -> None:
    client = Client()
    client.force_login(cast.alice)
    path = "".join(f"%{byte:02x}" for byte in text.encode()[:300])
    wild = "".join(f"%{byte:02x}" for byte in raw)
    for address in (
        f"/{path}",
        f"/conversations/{path}",
        f"/sign-in/{path}/{path}/",
        f"/invitations/{path}/",
        f"/reset-password/{path}/{path}/",
        f"/memories/{path}",
        f"/conversations/{wild}",
        f"/memories?q={wild}&cursor={wild}",
        f"/recall?text={wild}",
        f"/static/{path}",
        f"/admin/{path}",
        f"/api/{wild}",
    ):
        answer = client.get(address)
        tally.count("addresses", answer.status_code)
        assert answer.status_code < 500, address


@given(name=short, raw=st.binary(max_size=500), text=short)
@some
def test_an_upload_of_anything(cast: Cast, name: str, raw: bytes, text: str) -> None:
    client = Client()
    client.force_login(cast.alice)
    for body in (raw, text.encode(), b"\x1f\x8b" + raw, b"[" * 50_000, b""):
        upload = SimpleUploadedFile(name.replace("\x00", "") or "x", body)
        answer = client.post("/settings/import", {"file": upload})
        tally.count("uploads", answer.status_code)
        assert answer.status_code < 500


@given(cookie=short)
@some
def test_cookies_of_anything(cast: Cast, cookie: str) -> None:
    for name in ("sessionid", "csrftoken", "theme", "known", "messages", "django_language"):
        client = Client()
        client.cookies[name] = cookie.encode("utf-8").decode("latin-1")
        answer = client.get("/sign-in")
        tally.count("cookies", answer.status_code)
        assert answer.status_code == (400 if "\x00" in cookie else 200)
