"""Every call of the OpenAPI document with made-up input, by everybody: no fault, and our shape.

By both kinds of token, by a browser's session with its CSRF token, and by nobody. More of it:
`JUNIOR_FUZZ_EXAMPLES=200 pytest -s tests/api/test_fuzz.py`, which says how many inputs there were.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.middleware.csrf import _get_new_csrf_string
from django.test import Client
from hypothesis import HealthCheck, Phase, settings

from tests import tally
from tests.cast import Cast
from tests.factories import make_agent_token, make_memory, make_personal_token

EXAMPLES = int(os.environ.get("JUNIOR_FUZZ_EXAMPLES", "4"))
IS_LONG = EXAMPLES > 10
"""Then every boundary that the document names is tried as well, some 200 for each call."""

FAILURES = frozenset({400, 401, 403, 404, 405, 409, 413, 415, 422, 429})
PATIENCE_MS = 10_000


@schemathesis.serializer("application/x-ndjson")
def as_lines(_context: Any, value: Any) -> bytes:
    """Send what was made up as lines of JSON."""
    rows = value if isinstance(value, list) else [value]
    return b"\n".join(json.dumps(row).encode() for row in rows)


schema = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())
# A made-up credential comes before a browser's session, and one left out takes a token along.
schema.config.generation.update(with_security_parameters=False)
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate] if IS_LONG else [Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=not IS_LONG,
)


@pytest.fixture(autouse=True)
def _one_connection() -> Iterator[None]:
    """Keep the test's transaction: a served request would hang up when it ends."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def callers(cast: Cast, unhurried: None) -> dict[str, dict[str, Any]]:
    """Return what each kind of caller sends, and make something for each to find."""
    for number in range(3):
        make_memory(content=f"Prefers tea number {number}.", owner=cast.alice)
    make_memory(content="The office has three floors.", visibility="public")
    scopes = ("read", "write", "report")
    bearers = {
        "person": make_personal_token(cast.alice),
        "staff": make_personal_token(cast.root, *scopes),
        "host": make_agent_token(cast.agent, organization=cast.org)[1],
    }
    client, csrf = Client(), _get_new_csrf_string()
    client.force_login(cast.root)
    cookies = {"sessionid": client.cookies["sessionid"].value, "csrftoken": csrf}
    return {
        **{who: {"headers": {"Authorization": f"Bearer {it}"}} for who, it in bearers.items()},
        "browser": {"headers": {"X-CSRFToken": csrf}, "cookies": cookies},
        "nobody": {},
    }


def let_through(case: Any) -> None:
    """Give recall the time to look for the text: a deadline of 50 ms may pass before it does."""
    if case.path.endswith("/recall") and isinstance(case.body, dict):
        asked = case.body.get("deadlineMs", PATIENCE_MS)
        if isinstance(asked, int) and 50 <= asked <= PATIENCE_MS:
            case.body["deadlineMs"] = PATIENCE_MS


def check(case: Any, who: str, sent: dict[str, Any]) -> None:
    """Call, and look at the status and the shape alone: the rest has tests of its own."""
    let_through(case)
    answer = case.call(**sent)
    tally.count(f"REST by {who}", answer.status_code)
    assert answer.status_code < 400 or answer.status_code in FAILURES, answer.status_code
    if who == "nobody":
        assert answer.status_code in {401, 404, 405}, answer.status_code
    else:
        assert answer.status_code != 401, "not the caller that was meant"
    assert answer.headers["cache-control"] == ["no-store"]
    if answer.status_code >= 400 and case.method.upper() != "HEAD":
        error = json.loads(answer.content)["error"]
        assert error["code"]
        assert error["message"]
        assert "Traceback" not in error["message"]


@pytest.mark.parametrize("who", ["person", "staff", "host", "browser", "nobody"])
@schema.parametrize()
@fuzzed
def test_made_up_input_is_answered_in_our_shape(
    case: Any, who: str, callers: dict[str, dict[str, Any]]
) -> None:
    check(case, who, callers[who])
