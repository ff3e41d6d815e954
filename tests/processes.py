"""Other processes of the product on the test's own database."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlencode

from django.db import connection

ROOT = Path(__file__).resolve().parents[1]


def environment(**extra: str) -> dict[str, str]:
    """Return an environment in which a process uses the database of this test run."""
    params = connection.get_connection_params()
    query = {"host": params["host"]}
    port = f":{params['port']}" if params.get("port") else ""
    url = f"postgres://{quote(params['user'])}@localhost{port}/{params['dbname']}"
    return os.environ | {"DATABASE_URL": f"{url}?{urlencode(query)}", **extra}


def manage(*arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run one management command to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def start(*arguments: str, **extra: str) -> subprocess.Popen[bytes]:
    """Start one management command; the test stops it by its id."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(**extra),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(condition: Callable[[], bool], *, seconds: float = 30) -> None:
    """Wait until something is so; fails when it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
