"""What the pages weigh and cost when a person has thousands of memories and the store a million.

    python tests/benchmarks/pages.py [--rows 1000000] [--own 5000] [--keep] [--strict]

A store of made-up rows (`corpus.py`, loaded as `scale.py` does and shared with it by `--keep`), and
in it one person with rows in every state, a team, months of use, and staff (`large_account.py`).
Every page and part that such a person or staff opens goes through Django's own handler, with all
middleware, a session, and its connections from the pool. For each: kilobytes, queries, the slowest
of them, the server's time, and that time as a multiple of a view that renders the same template
with the same rows when they are constants: what was read once is kept, and nothing is asked but who
calls. Pages and constants take turns, so that both meet the same machine; where others use it too,
read processor time, this process's and that of the database's that serve it, and its ratio.

Then what a browser fetches besides: our own scripts and styles, plotly, and what is said of caching
and of the referrer. `--strict` fails when a bar is missed.

Measured on two busy cores, a million rows of which 5,000 are one's own: `/memories` 32 kB, with
filters up to 51; 9 statements, the slowest 10 ms of work; the server's work 2.5 times that of the
constant rows, its time 2.1 times. `/overview` 127 ms of work, `/system` 86, REST `/dashboard` 57:
no statement looks at all rows. Above 50 ms of work is a search for one letter, which 34,000 public
rows hold; a search's vectors take 24, and more on the clock where others use the machine.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks import scale  # noqa: I001 - configures Django, and so comes first

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.handlers.wsgi import WSGIHandler
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.urls import include, path

from dashboard import http as pages_http
from dashboard.context import Shell
from junior_memory import clock, tallies
from junior_memory.models import User
from tests.benchmarks.corpus import Corpus
from tests.benchmarks.large_account import Account, close_account, open_account

MAX_PAGE_KB = 60
MAX_SCRIPT_KB = 10
MAX_TIMES = 3
"""Of what the same template takes with constant rows."""
MAX_QUERY_MS = 50
HTMX = {"HTTP_HX_REQUEST": "true"}
TOKEN = "a" * 32


class ConstantShell(Shell):
    """The frame with numbers that nobody counts."""

    memory_count = "6,000+"
    waiting_count = "50"


@dataclass
class Kept:
    """What a view rendered last: template and context, their rows read already."""

    template: str = ""
    context: dict[str, Any] = field(default_factory=dict)


KEPT: dict[int, Kept] = defaultdict(Kept)


def constant(request: HttpRequest, number: int) -> HttpResponse:
    """Render what was kept: the same template, the same rows, nothing read."""
    kept = KEPT[number]
    context = kept.context | {"shell": ConstantShell(request)}
    return HttpResponse(render_to_string(kept.template, context, request))


urlpatterns = [path("constant/<int:number>", constant), path("", include("junior_memory.urls"))]


class Took(NamedTuple):
    """Milliseconds of the clock, and of the processors that worked meanwhile."""

    clock: float
    worked: float


def median(taken: Sequence[Took]) -> Took:
    """Return the median of each."""
    return Took(
        statistics.median(took.clock for took in taken),
        statistics.median(took.worked for took in taken),
    )


def _worked_by(connection: Any) -> float:
    """Return the processor milliseconds of the process that serves a connection, on Linux."""
    with suppress(OSError, AttributeError):
        pid = connection.connection.info.backend_pid
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e6
    return 0.0


@dataclass
class Page:
    """One address as one person opens it, and what it took, round by round."""

    number: int
    title: str
    address: str
    user: User
    part: bool = False
    posted: dict[str, str] = field(default_factory=dict)
    is_list: bool = False
    size: int = 0
    taken: list[Took] = field(default_factory=list)
    constant: list[Took] = field(default_factory=list)
    statements: dict[tuple[int, str], list[Took]] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)

    @property
    def slowest(self) -> tuple[Took, str]:
        """The statement with the largest median on the clock, and that."""
        each = ((median(took), sql) for (_, sql), took in self.statements.items())
        return max(each, default=(Took(0.0, 0.0), ""))

    @property
    def times(self) -> Took | None:
        """The server's time as a multiple of the constant view's: clock and processor."""
        if not self.constant:
            return None
        mine, theirs = median(self.taken), median(self.constant)
        return Took(mine.clock / theirs.clock, mine.worked / max(0.1, theirs.worked))


class Browser:
    """Opens pages by Django's handler, signed in, and says what each took."""

    def __init__(self) -> None:
        self.handler = WSGIHandler()
        self.took: list[tuple[str, Took]] = []
        self.sessions: dict[Any, str] = {}
        connection_created.connect(self._listen)

    def _listen(self, connection: Any, **_: Any) -> None:
        if self._time not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._time)

    def _time(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        mine, connection = self.took, context["connection"]
        worked, began = _worked_by(connection), time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            clock_ms = (time.perf_counter() - began) * 1000
            mine.append((sql, Took(clock_ms, _worked_by(connection) - worked)))

    def _cookies(self, user: User) -> str:
        if user.pk not in self.sessions:
            client = Client()
            client.force_login(user)
            self.sessions[user.pk] = client.cookies[settings.SESSION_COOKIE_NAME].value
        session = f"{settings.SESSION_COOKIE_NAME}={self.sessions[user.pk]}"
        return f"{session}; {settings.CSRF_COOKIE_NAME}={TOKEN}"

    def open(
        self, address: str, user: User, *, part: bool = False, posted: dict[str, str] | None = None
    ) -> tuple[bytes, dict[str, str], Took]:
        """Return an answer's body, its headers, and what it took until it was whole."""
        extra = {"HTTP_COOKIE": self._cookies(user), **(HTMX if part else {})}
        make = RequestFactory()
        request = (
            make.post(address, posted, headers={"x-csrftoken": TOKEN}, **extra)  # type: ignore[arg-type]
            if posted
            else make.get(address, **extra)  # type: ignore[arg-type]
        )
        said: dict[str, str] = {}
        status = ""

        def begin(line: str, headers: Sequence[tuple[str, str]], *_: Any) -> Any:
            nonlocal status
            status = line
            said.update({name.lower(): value for name, value in headers})

        self.took = []
        worked, began = time.process_time(), time.perf_counter()
        answer = self.handler(request.environ, begin)
        body = b"".join(answer)
        clock_ms = (time.perf_counter() - began) * 1000
        of_database = sum(took.worked for _, took in self.took)
        took = Took(clock_ms, (time.process_time() - worked) * 1000 + of_database)
        answer.close()
        if not status.startswith("200"):
            raise SystemExit(f"{address}: {status} {body[:300]!r}")
        return body, said, took

    def visit(self, page: Page) -> bytes:
        """Open a page and keep what it rendered."""
        kept = KEPT[page.number]

        def keep(template: str, context: Any, request: Any) -> str:
            if not template.endswith("_changes.html"):
                kept.template, kept.context = template, dict(context or {})
            return render_to_string(template, context, request)

        with mock.patch.object(pages_http, "render_to_string", keep):
            body, _, _ = self.open(page.address, page.user, part=page.part, posted=page.posted)
        page.size = len(body)
        return body

    def measure(self, page: Page) -> None:
        """Open a page, and the view of constants beside it."""
        _, _, took = self.open(page.address, page.user, part=page.part, posted=page.posted)
        page.taken.append(took)
        page.counts.append(len(self.took))
        seen: dict[str, int] = defaultdict(int)
        for sql, each in self.took:
            seen[sql] += 1
            page.statements.setdefault((seen[sql], sql), []).append(each)
        if KEPT[page.number].template:
            address = f"/constant/{page.number}"
            page.constant.append(self.open(address, page.user, part=page.part)[2])


def next_address(body: bytes) -> str:
    """Return where the list goes on."""
    found = re.search(rb'id="more"><a class="button" href="([^"]+)"', body)
    assert found is not None, "the list has no next page"
    return found.group(1).decode().replace("&amp;", "&")


def make_pages(browser: Browser, account: Account) -> list[Page]:
    """Return everything that the person and staff open."""
    made: list[Page] = []

    def add(title: str, address: str, user: User = account.person, **more: Any) -> Page:
        page = Page(len(made), title, address, user, **more)
        made.append(page)
        return page

    words = account.memory.content.split()
    rare, common = " ".join(words[2:6]), "the garden"
    add("memories", "/memories", is_list=True)
    first = browser.visit(made[0])
    add("  next page, part", next_address(first), part=True)
    for address in (
        "visibility=private",
        "visibility=session",
        "visibility=org",
        "visibility=public",
        "kind=preference",
        "kind=knowledge",
        "kind=procedure&visibility=public",
        "origin=explicit",
        "origin=import&kind=procedure",
        "agent=coding",
        "state=forgotten",
        "state=superseded",
        "state=expired",
    ):
        add(f"  {address}", f"/memories?{address}", is_list=True)
    add("  filter, part", "/memories?kind=preference", part=True)
    for title, asked in (("words of a row", rare), ("common words", common), ("character", "q")):
        address = f"/memories?q={asked.replace(' ', '+')}"
        add(f"  search, {title}", address, is_list=True)
        add(f"  search, {title}, part", address, part=True)
    add("  search and filter", f"/memories?q={common.replace(' ', '+')}&kind=procedure")
    add("  search, replaced ones", f"/memories?state=superseded&q={common.replace(' ', '+')}")
    memory = account.memory.pk
    add("one memory", f"/memories/{memory}")
    add("  correct, part", f"/memories/{memory}/correct", part=True)
    add("  erase", f"/memories/{memory}/erase")
    add("conversation", f"/conversations/{account.conversation}")
    add("inbox", "/inbox")
    add("recall", "/recall")
    posted = {"text": f"what about {rare}?", "where": "private", "agent": "default"}
    add("  what-if, part", "/recall", part=True, posted=posted)
    add("settings", "/settings")
    for name in ("never-learn-again", "activity", "receipts", "paper"):
        add(f"  {name}", f"/settings/{name}")
    base = "/api/plugins/memory"
    add("REST memories", f"{base}/memories")
    add("REST search", f"{base}/memories?q={rare.replace(' ', '+')}")
    add("REST dashboard", f"{base}/dashboard")
    for address in ("overview", "system", "people", "system/audit", "system/public", "inbox"):
        add(f"staff {address}", f"/{address}", account.staff)
    return made


def _brief(sql: str) -> str:
    """Name a statement by its beginning and its end."""
    words = " ".join(sql.split())
    return words if len(words) < 150 else f"{words[:90]} … {words[-55:]}"


def print_pages(pages: Sequence[Page]) -> list[str]:
    """Print what each page took; returns which bars were missed."""
    missed: list[str] = []
    print(
        f"\n{'':34} {'':>6} {'':>7} {'slowest query':>15} {'server':>15} {'x constant':>13}\n"
        f"{'page':34} {'kB':>6} {'queries':>7} {'ms':>7} {'worked':>7} {'ms':>7} {'worked':>7}"
        f" {'ms':>6} {'worked':>6}"
    )
    for page in pages:
        (clock_ms, worked_ms), sql = page.slowest
        took, times, kilobytes = median(page.taken), page.times, page.size / 1000
        ratio = f"{times.clock:6.1f} {times.worked:6.1f}" if times else ""
        print(
            f"{page.title:34} {kilobytes:6.1f} {max(page.counts):7d} {clock_ms:7.1f}"
            f" {worked_ms:7.1f} {took.clock:7.1f} {took.worked:7.1f} {ratio}"
        )
        name = page.title.strip()
        if page.is_list and kilobytes >= MAX_PAGE_KB:
            missed.append(f"{name}: {kilobytes:.1f} kB")
        if page.number == 0 and times and times.clock > MAX_TIMES:
            missed.append(f"{name}: {times.clock:.1f} times the view of constant rows")
        if clock_ms > MAX_QUERY_MS:
            missed.append(f"{name}: {clock_ms:.0f} ms ({worked_ms:.0f} of work): {_brief(sql)}")
    return missed


def print_files(browser: Browser, pages: Sequence[Page]) -> list[str]:
    """Print what a page brings along; returns which bars were missed."""
    missed: list[str] = []
    root = Path(__file__).resolve().parents[2] / "static"
    for kind in ("js", "css"):
        sizes = {each.name: each.stat().st_size / 1000 for each in sorted(root.rglob(f"*.{kind}"))}
        print(f"own {kind}: " + ", ".join(f"{name} {size:.1f} kB" for name, size in sizes.items()))
        if kind == "js":
            missed += [f"{n}: {s:.1f} kB" for n, s in sizes.items() if s > MAX_SCRIPT_KB]
    drawn = []
    for page in pages:
        body, said, _ = browser.open(page.address, page.user, part=page.part, posted=page.posted)
        if b"plotly" in body:
            drawn.append(page.title.strip())
        if said.get("referrer-policy") != "same-origin":
            missed.append(f"{page.title.strip()}: referrer policy {said.get('referrer-policy')}")
    print(f"plotly is loaded by: {', '.join(drawn)}")
    if any("overview" not in title for title in drawn):
        missed.append("plotly is loaded where no chart is")
    plotly = next(iter(finders.find("plotly/plotly.min.js", find_all=True)))
    print(f"plotly: {Path(plotly).stat().st_size / 1000:,.0f} kB")
    return missed


@contextmanager
def prepared(rows: int, own: int, workers: int, *, keep: bool) -> Iterator[Account]:
    """Load the store and open the account, or take those that were kept."""
    corpus = Corpus(rows)
    with scale.database(corpus, keep=keep):
        scale.prepare(corpus, workers)
        began = time.perf_counter()
        account = open_account(corpus, rows=own, now=clock.now())
        print(f"account of {own:,} memories: {time.perf_counter() - began:.0f} s")
        # Rows that came by COPY went past the numbers that the database keeps.
        tallies.recount()
        scale.run("VACUUM ANALYZE")
        try:
            yield account
        finally:
            if keep:
                close_account()


def main() -> int:
    """Load, open every page, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--own", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="leave the database, use it again")
    parser.add_argument("--only", help="pages whose title holds this pattern alone")
    parser.add_argument("--strict", action="store_true", help="fail when a bar is missed")
    arguments = parser.parse_args()
    settings.ROOT_URLCONF = __name__
    browser = Browser()
    with prepared(arguments.rows, arguments.own, arguments.workers, keep=arguments.keep) as account:
        pages = make_pages(browser, account)
        if arguments.only:
            pages = [page for page in pages if re.search(arguments.only, page.title)]
        for page in pages:
            browser.visit(page)
        for done in range(arguments.rounds):
            for page in pages:
                # A page of seconds is read off a few rounds.
                if done < 3 or median(page.taken).clock < 1_000:
                    browser.measure(page)
        missed = print_pages(pages) + print_files(browser, pages)
    print("\nmissed: " + ("\n  ".join(["", *missed]) if missed else "nothing"))
    return 1 if missed and arguments.strict else 0


if __name__ == "__main__":
    sys.exit(main())
