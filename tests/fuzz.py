"""Made-up input against a web process that really serves, for as long as one likes.

    python -m tests.fuzz [--minutes 10] [--port 8931]

A database of its own, a web process and a worker of the product. In turn: every call of the OpenAPI
document, fitting and not fitting, by both kinds of token, staff, a browser's session and nobody,
half of the time with ids that exist; texts that nobody writes in every place that takes one; pages
and forms by a browser; bytes that are hardly HTTP. Wrong is: a status of 500 or more, a failure in
another shape than ours, a caller taken for another, an answer with a mark of somebody else's
memory, a fault in the log, a web process that has died. Prints the figures; exit code 1 when
anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

import django
from django.conf import settings as configured

django.setup()

import requests  # noqa: E402
import schemathesis  # noqa: E402
from django.db import connection  # noqa: E402
from django.middleware.csrf import _get_new_csrf_string  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402

from dashboard.urls import urlpatterns  # noqa: E402
from junior_memory import forgetting  # noqa: E402
from junior_memory.access import person  # noqa: E402
from junior_memory.models import ApiToken, Conflict, Memory, Tombstone  # noqa: E402
from tests import processes, tally  # noqa: E402
from tests.api.bodies import ALICE, question, said, session, source  # noqa: E402
from tests.cast import Cast, make_cast  # noqa: E402
from tests.factories import (  # noqa: E402
    BY_TEST,
    make_agent_token,
    make_memory,
    make_personal_token,
)
from tests.made_up import sayable, sealed, texts, values  # noqa: E402

API = "/api/plugins/memory"
MARK = "zqbobx"
"""In every private memory of somebody who never calls."""
EACH = 6
"""Inputs for one call and one caller in a row."""
PATIENCE_MS = 10_000
PASSWORDS = re.compile(r"(password|sign-out|sign-in|sessions/retry)")
"""Forms that would end the browser's own session, and what is tried without one elsewhere."""

LISTS = (
    *(f"{API}/{name}" for name in "memories held tombstones activity costs receipts".split()),
    *(f"/{name}" for name in "memories inbox recall overview people system/audit".split()),
    "/settings/activity",
    "/api/chat/memory",
    f"{API}/conversations/x/events",
)
ODD_HEADS = tuple(
    line.encode("latin-1")
    for line in (
        "POST /api/plugins/memory/memories HTTP/1.1",
        "GET /memories HTTP/1.1",
        "GET http://evil.example/memories HTTP/1.1",
        "POST /mcp HTTP/1.0",
        "GET / HTTP/9.9",
        "TRACE /sign-in HTTP/1.1",
        "GET /%00%ff/../memories HTTP/1.1",
        "GET /memories?q=%ED%A0%80 HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "\x16\x03\x01",
    )
)
ODD_LINES = tuple(
    line.encode("latin-1")
    for line in (
        *(f"Content-Length: {value}" for value in ("5", "0", "-1", "9e9", "5, 6")),
        *(f"Transfer-Encoding: {value}" for value in ("chunked", "xchunked", "gzip, chunked")),
        *(f"Host: {value}" for value in ("evil.example", "localhost", "a b")),
        "Content-Encoding: gzip",
        "Content-Type: application/json",
        "Authorization: Bearer \xff",
        "Cookie: sessionid=\x01",
        "X-Forwarded-For: 1.2.3.4",
        " folded",
        "Expect: 100-continue",
        "Upgrade: h2c",
    )
)


@dataclass
class Run:
    """Where to ask, as whom, with which ids, until when; and what was wrong."""

    base: str
    until: float
    callers: dict[str, dict[str, Any]]
    ids: dict[str, list[str]]
    wrong: Counter[str] = field(default_factory=Counter)
    part: str = ""
    dice: random.Random = field(default_factory=random.Random)

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def judge(self, what: str, who: str, answer: Any, *, is_api: bool = True) -> None:
        """Count an answer, and what is wrong with it."""
        status = answer.status_code
        tally.count(f"{self.part} by {who}", status)
        body = answer.content
        if status >= 500:
            self.wrong[f"{status} to {what} by {who}"] += 1
        if MARK.encode() in body:
            self.wrong[f"somebody else's memory in {what} by {who}"] += 1
        if not is_api:
            return
        if who == "nobody" and status not in {400, 401, 404, 405}:
            self.wrong[f"{status} to {what} by nobody"] += 1
        if who != "nobody" and status == 401:
            self.wrong[f"401 to {what} by {who}"] += 1
        if status >= 400 and answer.request.method != "HEAD":
            with suppress(ValueError, KeyError, TypeError):
                if json.loads(body)["error"]["code"]:
                    return
            self.wrong[f"{status} to {what} by {who} in another shape"] += 1


@schemathesis.serializer("application/x-ndjson")
def as_lines(_context: Any, value: Any) -> bytes:
    """Send what was made up as lines of JSON."""
    rows = value if isinstance(value, list) else [value]
    return b"\n".join(json.dumps(row).encode() for row in rows)


def some(strategy: Any, act: Callable[[Any], None], *, count: int = EACH) -> None:
    """Act on some made-up values."""

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def each(value: Any) -> None:
        act(value)

    with suppress(Unsatisfiable):  # Of some calls nothing can be made up that does not fit.
        each()


def fuzz_document(run: Run) -> None:
    """Call everything in the document once around, as everybody."""
    schema = schemathesis.openapi.from_url(f"{run.base}/api/openapi.json")
    schema.config.generation.update(with_security_parameters=False)
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
    run.dice.shuffle(operations)
    for operation in operations:
        for mode in schemathesis.GenerationMode:
            strategy = operation.as_strategy(generation_mode=mode)
            for who in run.callers:
                if run.is_over:
                    return
                some(strategy, partial(call_case, run, who))


def call_case(run: Run, who: str, case: Any) -> None:
    """Make one call, half of the time with ids that exist."""
    for name in list(case.path_parameters or {}):
        if run.ids.get(name) and run.dice.random() < 0.5:
            case.path_parameters[name] = run.dice.choice(run.ids[name])
    if case.path.endswith("/recall") and isinstance(case.body, dict):
        asked = case.body.get("deadlineMs", PATIENCE_MS)
        if isinstance(asked, int) and 50 <= asked <= PATIENCE_MS:
            case.body["deadlineMs"] = PATIENCE_MS
    what = f"{case.method.upper()} {case.operation.path}"
    try:
        answer = case.call(timeout=30, **run.callers[who])
    except requests.RequestException as error:
        run.wrong[f"{type(error).__name__} from {what} by {who}"] += 1
        return
    run.judge(what, who, answer)


def fuzz_texts(run: Run) -> None:
    """Put texts that nobody writes where a text is taken."""

    def act(drawn: tuple[str, Any]) -> None:
        text, odd = drawn
        if run.is_over:
            return
        patient = {"deadlineMs": PATIENCE_MS}
        tool = {"conversationId": "C-1", "source": source(), "actor": ALICE}
        new = {"type": "memory", "content": text, "state": "active", "kind": "knowledge"}
        for who, path, body in (
            ("person", "memories", {"content": text, "idempotencyKey": text[:80]}),
            ("person", "me", {"topics": [text]}),
            ("person", "me", odd),
            ("person", "memories/forget", {"ids": [text, odd]}),
            ("person", "import", sealed(odd, new, new | {"expiresAt": text}, new | {"kind": odd})),
            ("host", "recall", question(text, **patient)),
            ("host", "recall", question("Tea?", actor=odd, **patient)),
            ("host", "sessions", session(sessionId=str(uuid4()), transcript=[said(text), odd])),
            ("host", "sessions", session(sessionId=str(uuid4()), transcript=[said(text)])),
            ("host", "sessions", session(sessionId=text, conversationId=text[:200])),
            ("host", "tools/createMemory", tool | {"toolCallId": str(uuid4()), "arguments": odd}),
            ("host", "tools/searchMemories", tool | {"arguments": {"query": text}}),
            ("host", "identities/link", {"code": text, "actor": ALICE, "source": source()}),
        ):
            method = "PATCH" if path == "me" else "POST"
            kind = "application/x-ndjson" if path == "import" else "application/json"
            sent = body if isinstance(body, str) else json.dumps(body)
            headers = run.callers[who]["headers"] | {"Content-Type": kind}
            url = f"{run.base}{API}/{path}"
            answer = requests.request(
                method, url, data=sent.encode("utf-8", "replace"), headers=headers, timeout=60
            )
            run.judge(f"text to {path}", who, answer)

    some(st.tuples(texts, values), act, count=4 * EACH)


def fuzz_queries(run: Run) -> None:
    """Ask with any filter, cursor and page of a list, in pages and by REST."""
    names = st.sampled_from("q limit cursor visibility kind origin agent state days after".split())
    paths = st.sampled_from(LISTS)
    queries = st.dictionaries(names, sayable.map(lambda text: text[:1_500]), max_size=4)

    def act(drawn: tuple[str, dict[str, str]]) -> None:
        path, query = drawn
        if run.is_over:
            return
        answer = requests.get(
            f"{run.base}{path}", params=query, timeout=60, **run.callers["browser"]
        )
        run.judge("any query", "browser", answer, is_api=path.startswith("/api"))

    some(st.tuples(paths, queries), act, count=10 * EACH)


def fuzz_pages(run: Run) -> None:
    """Fill any form of any page with anything."""
    routes = [str(one.pattern) for one in urlpatterns if hasattr(one, "callback")]
    routes = [route for route in routes if not PASSWORDS.search(route)]
    names = (
        "content kind version keep confirm reason text email staff days agent action ids next name"
        " public_use topics language time_zone display_name theme q chosen scopes label"
    ).split()
    forms = st.dictionaries(
        st.sampled_from(names),
        st.one_of(st.sampled_from(["1", "on", "all", "default", "erase"]), sayable),
        max_size=6,
    )

    def act(drawn: tuple[str, dict[str, str], bool]) -> None:
        route, form, is_part = drawn
        if run.is_over:
            return
        known = run.ids["memory_id"]
        path = re.sub(r"<uuid:\w+>", lambda _: run.dice.choice([*known, str(uuid4())]), route)
        path = re.sub(r"<int:\w+>", "1", re.sub(r"<(str|path):\w+>", "x-1", path))
        browser = run.callers["browser"]
        headers = browser["headers"] | ({"HX-Request": "true"} if is_part else {})
        short = {name: value[:100_000] for name, value in form.items()}
        answer = requests.post(
            f"{run.base}/{path}",
            data=short,
            headers=headers,
            cookies=browser["cookies"],
            allow_redirects=False,
            timeout=60,
        )
        run.judge("any form", "browser", answer, is_api=False)

    some(st.tuples(st.sampled_from(routes), forms, st.booleans()), act, count=10 * EACH)


def fuzz_bytes(run: Run) -> None:
    """Send what is hardly HTTP; the process has to answer 4xx or hang up, and go on."""
    host, port = run.base.removeprefix("http://").split(":")
    token = run.callers["person"]["headers"]["Authorization"].encode()
    lines = st.sampled_from((*ODD_LINES, b"Authorization: " + token))
    heads = st.sampled_from(ODD_HEADS)
    bodies = st.one_of(st.binary(max_size=200), st.just(b'{"content": "Tea."}'))

    def act(drawn: tuple[bytes, list[bytes], bytes]) -> None:
        head, more, body = drawn
        if run.is_over:
            return
        with socket.create_connection((host, int(port)), timeout=10) as line:
            line.sendall(b"\r\n".join((head, *more, b"Connection: close", b"", body)))
            line.shutdown(socket.SHUT_WR)
            got = b""
            with suppress(OSError):
                while part := line.recv(65_536):
                    got += part
        found = re.match(rb"HTTP/1\.1 (\d+)", got)
        status = int(found[1]) if found else 0
        tally.count("bytes", status)
        if status >= 500 or MARK.encode() in got:
            run.wrong[f"{status} to bytes"] += 1

    some(st.tuples(heads, st.lists(lines, max_size=6), bodies), act, count=10 * EACH)


def try_out(run: Run, part: Callable[[Run], None]) -> None:
    """Do one part; an answer that does not come is wrong, and so is a fault of this program."""
    run.part = str(part.__name__).removeprefix("fuzz_")
    try:
        part(run)
    except Exception as error:  # noqa: BLE001 - the other parts go on
        run.wrong[f"{type(error).__name__} in {run.part}"] += 1


def furnish(cast: Cast) -> dict[str, list[str]]:
    """Make something of everything; return the ids by the names of parameters."""
    soon = timezone.now() + timedelta(days=1)
    mine = [make_memory(content=f"Prefers tea number {n}.", owner=cast.root) for n in range(6)]
    hers = [make_memory(content=f"Prefers cake number {n}.", owner=cast.alice) for n in range(20)]
    for number in range(5):
        make_memory(content=f"Bob hides {MARK} number {number}.", owner=cast.charlie)
    public = make_memory(content="The office has three floors.", visibility="public")
    held = make_memory(content="Waits for a word.", owner=cast.alice, held_reason="unlinked")
    ending = make_memory(content="Ends tomorrow.", owner=cast.alice, expires_at=soon)
    now = timezone.now()
    conflict = Conflict.objects.create(first=hers[0], second=hers[1], created_at=now)
    viewer = person(cast.alice)
    batch = forgetting.forget_many(viewer, [one.pk for one in hers[2:6]], doer=BY_TEST)
    rows = [*mine, *hers, public, held, ending, *Memory.objects.filter(owner=cast.charlie)[:1]]
    return {
        "memory_id": [str(row.pk) for row in rows],
        "conflict_id": [str(conflict.pk)],
        "batch_id": [str(batch.batch_id)],
        "mark_id": [str(pk) for pk in Tombstone.objects.values_list("pk", flat=True)],
        "identity_id": [str(cast.charlie_slack.pk)],
        "conversation_id": ["C-1", "C-9"],
        "session_id": ["session-1"],
        "name": ["createMemory", "searchMemories", "listMemories", "removeMemory"],
    }


def callers_of(cast: Cast) -> dict[str, dict[str, Any]]:
    """Return what each kind of caller sends."""
    bearers = {
        "person": make_personal_token(cast.alice),
        "staff": make_personal_token(cast.root, "read", "write", "report"),
        "host": make_agent_token(cast.agent, organization=cast.org)[1],
    }
    client, csrf = Client(), _get_new_csrf_string()
    client.force_login(cast.root)
    cookies = {"sessionid": client.cookies["sessionid"].value, "csrftoken": csrf}
    return {
        **{who: {"headers": {"Authorization": f"Bearer {it}"}} for who, it in bearers.items()},
        "browser": {"headers": {"X-CSRFToken": csrf}, "cookies": cookies},
        "nobody": {"headers": {}},
    }


@contextmanager
def served(port: int) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A web process and a worker, logging to `fuzz.log`; yields the former, and the log."""
    log = Path(configured.DATA_DIR) / "fuzz.log"
    often = "1000000"
    environment = processes.environment(
        MEMORY_TOKEN_WRITES_PER_MINUTE=often,
        MEMORY_TOKEN_READS_PER_MINUTE=often,
        MEMORY_ACTIVE_QUOTA=often,
        MEMORY_EMBEDDER="none",
    )
    web = "-m uvicorn junior_memory.asgi:application --no-access-log --log-level warning --port"
    with log.open("wb") as out:
        running = [
            subprocess.Popen(
                [sys.executable, *command],
                cwd=processes.ROOT,
                env=environment,
                stderr=out,
                stdout=out,
            )
            for command in ([*web.split(), str(port)], ["manage.py", "worker"])
        ]
        try:
            processes.wait_for(lambda: _answers(port), seconds=120)
            yield running[0], log
        finally:
            for process in running:
                process.terminate()
            for process in running:
                process.wait(60)


def _answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/readyz", timeout=10).status_code == 200
    except OSError:
        return False


def memory_mb(pid: int) -> float:
    """Return what a process holds of memory."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return int(found[1]) / 1024 if found else 0.0


def main() -> int:
    """Serve, try, judge; returns 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--port", type=int, default=8931)
    asked = parser.parse_args()
    connection.settings_dict["TEST"]["NAME"] = f"fuzz_{os.getpid()}"
    before = str(connection.settings_dict["NAME"])
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        cast = make_cast()
        ids = furnish(cast)
        callers = callers_of(cast)
        make_personal_token(cast.bob)
        ids["token_id"] = [
            str(pk) for pk in ApiToken.objects.filter(user=cast.bob).values_list("pk", flat=True)
        ]
        with served(asked.port) as (web, log):
            until = time.monotonic() + asked.minutes * 60
            run = Run(f"http://127.0.0.1:{asked.port}", until, callers, ids)
            first = memory_mb(web.pid)
            while not run.is_over:
                for part in (fuzz_texts, fuzz_queries, fuzz_pages, fuzz_bytes, fuzz_document):
                    try_out(run, part)
            if web.poll() is not None:
                run.wrong["the web process died"] += 1
            else:
                sys.stdout.write(f"web: {first:.0f} MB at first, {memory_mb(web.pid):.0f} now\n")
        # A line of Django's about a request ends with its address, which may say anything.
        said = [
            line
            for line in log.read_text("utf-8", "replace").splitlines()
            if " django.request " not in line
        ]
        faults = [line for line in said if "fail" in line]
        run.wrong.update(f"in the log: {line[-120:]}" for line in faults)
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)
    for line in [*tally.summary(), *(f"WRONG {n}: {what}" for what, n in run.wrong.items())]:
        sys.stdout.write(f"{line}\n")
    return 1 if run.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
