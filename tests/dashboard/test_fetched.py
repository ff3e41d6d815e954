"""What a browser fetches besides pages, and what the web server writes down about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from tests.deploy_check import PRODUCTION, ROOT

FETCH = """
import json, re, django
django.setup()
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.templatetags.static import static
from django.test import RequestFactory
call_command("collectstatic", interactive=False, verbosity=0)
said = {}
make = RequestFactory()
handler = WSGIHandler()
for name in ("plotly/plotly.min.js", "js/app.js", "css/base.css"):
    address = static(name)
    request = make.get(address, secure=True, headers={"host": "memory.example.com"})
    def begin(status, headers, exc_info=None):
        said[name] = [address, status, {key.lower(): value for key, value in headers}]
    handler(request.environ, begin).close()
print(json.dumps(said))
"""

SERVED = """
import logging
from uvicorn.config import Config
Config("junior_memory.asgi:application", access_log=True).load()
line = '%s - "%s %s HTTP/%s" %d'
access = logging.getLogger("uvicorn.access")
print("loaded", flush=True)
access.info(line, "127.0.0.1:1", "GET", "/memories?q=quetzal&kind=preference", "1.1", 200)
access.info(line, "127.0.0.1:1", "GET", "/sign-in/quetzal/quetzal/", "1.1", 200)
"""


def run(program: str, **environment: str) -> str:
    """Run a program in a process of its own; returns what it said."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "junior_memory.settings"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_scripts_and_styles_are_fetched_once_and_kept(tmp_path: Path) -> None:
    said = json.loads(run(FETCH, **PRODUCTION, MEMORY_DATA_DIR=str(tmp_path)))
    for name, (address, status, headers) in said.items():
        assert status.startswith("200"), name
        assert address != f"/static/{name}", "a new version would have the old one's address"
        assert headers["cache-control"] == "max-age=315360000, public, immutable"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.django_db
def test_where_files_keep_their_names_they_are_asked_for_again_and_not_sent_again() -> None:
    first = Client().get("/static/plotly/plotly.min.js")
    assert first.headers["Referrer-Policy"] == "same-origin"
    kept = {"if-modified-since": first.headers["Last-Modified"]}
    first.close()
    assert Client().get("/static/plotly/plotly.min.js", headers=kept).status_code == 304


def test_the_web_server_writes_no_line_for_a_request_not_even_when_asked_to() -> None:
    """An address holds what was searched for, or signs somebody in."""
    assert run(SERVED) == "loaded\n"
