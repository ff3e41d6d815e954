"""Reading in another language and another zone, and that nothing is left untranslated."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core import mail
from django.template import Engine
from django.template.base import Lexer, TokenType
from django.test import Client
from django.utils import timezone

from dashboard.catalog import Text, collect, is_current, read_catalog
from dashboard.languages import zones
from junior_memory.access import person
from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.factories import make_memory

TEMPLATES = Path(django_settings.BASE_DIR) / "templates"
NAMES = {"Junior Memory", "UTC", "CSV"}
PLACES = re.compile(r"%\(\w+\)s|\{\w*\}|</?\w+>|%%")
OTHERS = [code for code, _ in django_settings.LANGUAGES if code != "en"]


def _plain(source: str) -> str:
    """Return what of a template a reader sees and nobody can translate."""
    kept, inside = [], 0
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.BLOCK:
            word = token.contents.split()[0]
            inside += word == "blocktrans"
            inside -= word == "endblocktrans"
            kept.append("\x00")
        elif token.token_type == TokenType.TEXT and not inside:
            kept.append(token.contents)
        else:
            kept.append("\x00")
    page = "".join(kept)
    page = re.sub(r"<(code|kbd)\b[^>]*>.*?</\1>", "", page, flags=re.S)
    shown = re.findall(r'\b(?:aria-label|placeholder|title|alt)="([^"]*)"', page)
    return " ".join([re.sub(r"<[^>]*>", "\n", page), *shown])


@pytest.mark.parametrize("language", OTHERS)
def test_every_text_is_translated_and_none_is_left_over(language: str) -> None:
    catalog, texts = read_catalog(language), collect()
    missing = [one for one in sorted(texts) if not all(catalog.get(one) or ("",))]
    assert not missing, "run manage.py translations and write these"
    assert not set(catalog) - texts, "run manage.py translations"
    assert is_current(language), "run manage.py translations"


@pytest.mark.parametrize("language", OTHERS)
def test_translations_name_only_places_that_there_are(language: str) -> None:
    for one, said in read_catalog(language).items():
        places = set(PLACES.findall(one.one + one.many))
        for translated in said:
            assert set(PLACES.findall(translated)) <= places, one
        if not one.many:
            assert len(said) == 1
            assert set(PLACES.findall(said[0])) == places, one


@pytest.mark.parametrize(
    "path", sorted(TEMPLATES.rglob("*.html")), ids=lambda p: str(p.relative_to(TEMPLATES))
)
def test_no_visible_text_is_left_out_of_translation(path: Path) -> None:
    plain = _plain(path.read_text(encoding="utf-8"))
    pieces = (re.sub(r"&\w+;", "", piece).strip(" ·\x00") for piece in re.split(r"[\n\x00]", plain))
    left = [one for one in pieces if re.search(r"[^\W\d_]{2}", one) and one not in NAMES]
    assert not left


def test_a_text_that_nobody_marked_is_noticed() -> None:
    assert "Plain" in _plain('<p title="x">Plain</p>')
    assert "Plain" in _plain('<a aria-label="Plain">{% trans "Marked" %}</a>')
    assert "Marked" not in _plain(
        '<p>{% trans "Marked" %}{% blocktrans %}Marked{% endblocktrans %}'
    )


def test_counted_texts_are_collected_with_both_forms() -> None:
    from dashboard.catalog import texts_of

    template = Engine.get_default().from_string(
        "{% load i18n %}{% blocktrans count n=n %}{{ n }} day{% plural %}{{ n }} days"
        '{% endblocktrans %}{% if n %}{% trans "Once" %}{% endif %}'
    )
    assert set(texts_of(template)) == {Text("%(n)s day", "%(n)s days"), Text("Once")}


def test_the_browser_is_asked_when_nobody_chose(cast: Cast, sign_in: SignIn) -> None:
    german = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
    page = text(Client().get("/sign-in", headers=german))
    assert '<html lang="de"' in page
    assert "Passwort vergessen?" in page
    assert '<html lang="en"' in text(Client().get("/sign-in", headers={"Accept-Language": "fr"}))
    assert "Erinnerungen" in text(sign_in(cast.alice).get("/memories", headers=german))


def test_a_choice_holds_on_every_page_and_ends_with_its_request(
    cast: Cast, sign_in: SignIn
) -> None:
    client = sign_in(cast.alice)
    body = {"language": "de", "time_zone": "Europe/Berlin"}
    assert client.post("/settings/reading", body)["Location"] == "/settings#reading"
    page = text(client.get("/settings"))
    assert "Sprache und Zeit gespeichert." in page
    assert "Einwilligung" in page
    assert '<html lang="en"' in text(Client().get("/sign-in"))
    assert timezone.get_current_timezone_name() == "UTC"
    client.post("/settings/reading", {"language": "", "time_zone": ""})
    assert "Consent" in text(client.get("/settings"))


@pytest.mark.parametrize("body", [{"language": "xx"}, {"time_zone": "Mars/Base"}])
def test_an_unknown_choice_is_refused(cast: Cast, sign_in: SignIn, body: dict[str, str]) -> None:
    assert sign_in(cast.alice).post("/settings/reading", body).status_code == 422


def test_a_choice_that_this_server_lost_counts_as_none(cast: Cast, sign_in: SignIn) -> None:
    cast.alice.language, cast.alice.time_zone = "xx", "Mars/Base"
    cast.alice.save()
    assert '<html lang="en"' in text(sign_in(cast.alice).get("/memories"))


@pytest.mark.parametrize(
    ("zone", "language", "said"),
    [
        ("", "", "20 Nov 2025, 23:30"),
        ("Asia/Tokyo", "", "21 Nov 2025, 08:30"),
        ("America/Los_Angeles", "de", "20. Nov. 2025, 15:30"),
        ("Europe/Berlin", "de", "21. Nov. 2025, 00:30"),
    ],
)
def test_dates_are_in_the_readers_zone_and_order(
    cast: Cast, sign_in: SignIn, zone: str, language: str, said: str
) -> None:
    memory = make_memory(owner=cast.alice)
    moment = datetime(2025, 11, 20, 23, 30, tzinfo=UTC)
    rows = Memory.objects.visible_to(person(cast.alice)).filter(pk=memory.pk)
    rows.update(created_at=moment, observed_at=moment)
    cast.alice.time_zone, cast.alice.language = zone, language
    cast.alice.save()
    assert said in text(sign_in(cast.alice).get(f"/memories/{memory.pk}"))


def test_the_api_goes_on_in_english(cast: Cast, sign_in: SignIn) -> None:
    cast.alice.language = "de"
    cast.alice.save()
    client = sign_in(cast.alice)
    body: Any = client.get("/api/plugins/memory/memories?limit=0").json()
    assert body["error"]["code"] == "invalid"
    assert "german" not in str(body).lower()


def test_zones_are_places() -> None:
    assert {"UTC", "Europe/Berlin", "Asia/Tokyo"} <= zones()
    assert not [name for name in zones() if name.startswith("Etc/")]


@pytest.mark.parametrize("path", ["/sign-in/link", "/reset-password"])
def test_a_mail_is_in_the_language_of_who_gets_it(cast: Cast, path: str) -> None:
    cast.alice.language = "de"
    cast.alice.save()
    for email in (cast.alice.email, cast.bob.email):
        Client(headers={"Accept-Language": "en"}).post(path, {"email": email})
    (german, english) = mail.outbox
    assert "Sie haben" in german.body, "in the language they chose, whoever asks"
    assert not re.search(r"Your|A new", str(german.subject))
    assert english.body.startswith("You asked for"), "in the browser's where they chose none"
