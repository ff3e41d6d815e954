"""Everything at once, for a while: is anything wrong, lost, double, leaked, slower or larger?

    python tests/benchmarks/load.py [--memories 100000] [--people 1000] [--minutes 10] [--rate 15]
    python tests/benchmarks/load.py --knee

A store of made-up rows (`corpus.py`), a web process and a worker of the product, and this process,
which acts as people and as their assistant over HTTP: lists, searches, recalls, sessions, new
memories, forgets, tool calls, some of them twice. Calls begin at their time whether earlier ones
have ended or not, and are timed from when they should have begun. First each call is made by
itself; figures are ratios to that, in the same run. Everything that is written carries a mark of
its owner and number, by which rows that are lost, double or shown to somebody else are found in the
end. `--knee` raises the rate until calls wait for one another.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

import django
from django.conf import settings

settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}
settings.DATABASES["default"]["TEST"] = {"NAME": f"bench_load_{os.getpid()}"}
django.setup()

from django.db import connection  # noqa: E402

from junior_memory import clock, embedding_models, people, vector_index  # noqa: E402
from junior_memory.audit import Doer  # noqa: E402
from junior_memory.models import (  # noqa: E402
    CompletedSession,
    ConversationEvent,
    Identity,
    Memory,
    User,
)
from tests import processes  # noqa: E402
from tests.benchmarks import loading  # noqa: E402
from tests.benchmarks.corpus import NOW, Corpus  # noqa: E402

BASE = "/api/plugins/memory"
MARK = re.compile(r"mark(\d+)n\d+")
ALONE = 15
"""Calls of each sort that are made by themselves, before and after a warm-up of as many."""

MIX = {"list": 25, "search": 20, "recall": 25, "session": 10, "create": 8, "forget": 5, "tool": 7}
AGAIN = 0.1
"""Share of writes that are sent twice."""

DRAIN_SECONDS = 180
IDLE_SECONDS = 2.0
"""After which a connection is not used again: the web server closes them after 5 s."""

LATE = 5.0
"""The knee: the rate at which p95 is more than this many times the call alone."""


@dataclass
class Tally:
    """What happened. Guarded by its lock."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    degraded: int = 0
    leaks: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    sessions: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Traffic:
    """People and their assistant."""

    def __init__(self, corpus: Corpus, acting: int, port: int) -> None:
        self.corpus, self.port = corpus, port
        agent, _ = people.agent_named("default")
        agent.extract = True
        agent.save(update_fields=["extract"])
        doer = Doer(via="command")
        _, self.host = people.create_agent_token(
            agent, scopes=["recall", "sessions", "tools"], doer=doer
        )
        self.people = list(range(min(acting, corpus.owners)))
        users = User.objects.in_bulk([corpus.owner_id(number) for number in self.people])
        self.tokens = {}
        for number in self.people:
            user = users[corpus.owner_id(number)]
            Identity.objects.create(provider="web", tenant="load", subject=str(number), user=user)
            _, self.tokens[number] = people.create_personal_token(
                user, scopes=["read", "write"], doer=doer
            )
        # Whose each row is, for the leak check.
        self.owners = dict(Memory.objects.filter(owner__isnull=False).values_list("id", "owner_id"))
        self.tally = Tally()
        self.made: dict[int, list[tuple[str, str]]] = defaultdict(list)
        self.numbers = iter(range(1, 10**9))
        self._local = threading.local()

    def act(self, sort: str) -> None:
        """Do one thing as one person, and look at the answer."""
        chance = random.Random(f"act {next(self.numbers)}")  # noqa: S311
        getattr(self, f"do_{sort}")(chance.choice(self.people), chance)

    # What people do.

    def do_list(self, who: int, chance: random.Random) -> None:
        kind = chance.choice(("", "&kind=knowledge", "&visibility=private"))
        self._seen(who, self.call("GET", f"/memories?limit=25{kind}", self.tokens[who]))

    def do_search(self, who: int, chance: random.Random) -> None:
        text = self.corpus.question(chance.randrange(self.corpus.rows))
        self._seen(who, self.call("GET", f"/memories?q={quote(text[:200])}", self.tokens[who]))

    def do_create(self, who: int, chance: random.Random) -> None:
        mark = self._mark(who)
        body = {"content": f"Keeps {mark} on the shelf.", "idempotencyKey": mark}
        answer = self.call("POST", "/memories", self.tokens[who], body, ok=(201,))
        if chance.random() < AGAIN:
            self.call("POST", "/memories", self.tokens[who], body, ok=(200,))
        if answer:
            with self.tally.lock:
                self.tally.written[mark] = answer["id"]
                self.made[who].append((mark, answer["id"]))

    def do_forget(self, who: int, chance: random.Random) -> None:
        with self.tally.lock:
            mine = self.made[who]
            mark, memory_id = mine.pop() if mine else ("", "")
        if not mark:
            self.do_create(who, chance)
            return
        path = f"/memories/{memory_id}"
        self.call("DELETE", path, self.tokens[who], ok=(204,))
        self.call("GET", path, self.tokens[who], ok=(404,))
        with self.tally.lock:
            self.tally.forgotten.add(mark)

    # What their assistant does.

    def do_recall(self, who: int, chance: random.Random) -> None:
        text = self.corpus.question(chance.randrange(self.corpus.rows))
        body = {**self._turn(who), "text": text}
        self._seen(who, self.call("POST", "/recall", self.host, body))

    def do_tool(self, who: int, chance: random.Random) -> None:
        mark = self._mark(who)
        if chance.random() < 0.5:
            arguments: dict[str, Any] = {"query": self.corpus.question(chance.randrange(100))}
            body = {**self._turn(who), "arguments": arguments}
            self._seen(who, self.call("POST", "/tools/searchMemories", self.host, body))
            return
        arguments = {"content": f"Keeps {mark} in the cellar.", "kind": "knowledge"}
        body = {**self._turn(who), "arguments": arguments, "toolCallId": mark}
        answer = self.call("POST", "/tools/createMemory", self.host, body)
        if chance.random() < AGAIN:
            self.call("POST", "/tools/createMemory", self.host, body)
        if answer:
            with self.tally.lock:
                self.tally.written[mark] = ""

    def do_session(self, who: int, chance: random.Random) -> None:
        mark = self._mark(who)
        turn = self._turn(who)
        body = {
            **turn,
            "sessionId": mark,
            "actors": [turn["actor"]],
            "completedAt": clock.now().isoformat(),
            "transcript": [
                {
                    "type": "message",
                    "role": "user",
                    "authority": "instruction",
                    "actor": turn["actor"],
                    "text": f"I prefer {mark} tea in the morning.",
                }
            ],
        }
        answer = self.call("POST", "/sessions", self.host, body, ok=(202,))
        if chance.random() < AGAIN:
            self.call("POST", "/sessions", self.host, body, ok=(200,))
        if answer:
            with self.tally.lock:
                self.tally.sessions[mark] = mark

    def _turn(self, who: int) -> dict[str, Any]:
        return {
            "conversationId": f"c-{who}",
            "source": {"platform": "web", "key": f"c-{who}", "visibility": "private"},
            "actor": {"provider": "web", "tenant": "load", "subject": str(who)},
        }

    def _mark(self, who: int) -> str:
        return f"mark{who}n{next(self.numbers)}"

    def _seen(self, who: int, answer: Any) -> None:
        """Note what somebody was shown that is not theirs to see."""
        if not answer:
            return
        mine = self.corpus.owner_id(who)
        if answer.get("degraded"):
            with self.tally.lock:
                self.tally.degraded += 1
        for row in answer.get("memories", answer.get("results", [])):
            owner = self.owners.get(UUID(row["id"]), mine)
            marks = {int(found) for found in MARK.findall(row["content"])}
            if owner != mine or marks - {who}:
                with self.tally.lock:
                    self.tally.leaks.append(row["id"])

    def call(
        self,
        method: str,
        path: str,
        token: str,
        body: Any = None,
        *,
        ok: tuple[int, ...] = (200,),
    ) -> Any:
        """Make one call on this thread's connection; an answer but the expected is an error."""
        kept = self._connection()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            kept.request(method, BASE + path, json.dumps(body) if body else None, headers)
            answer = kept.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            kept.close()
            self._fault(method, path, type(error).__name__)
            return None
        if answer.status not in ok:
            self._fault(method, path, str(answer.status))
            return None
        return json.loads(text) if text else {"id": ""}

    def _connection(self) -> http.client.HTTPConnection:
        """Return this thread's connection, a new one when the server may have closed it."""
        kept: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if kept is None:
            kept = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self._local.connection = kept
        if time.monotonic() - getattr(self._local, "used_at", 0.0) > IDLE_SECONDS:
            kept.close()  # It connects again by itself.
        self._local.used_at = time.monotonic()
        return kept

    def _fault(self, method: str, path: str, what: str) -> None:
        place = re.sub("[0-9a-f-]{36}", "ID", path.partition("?")[0])
        with self.tally.lock:
            self.tally.errors[f"{method} {place} {what}"] += 1


def alone(traffic: Traffic) -> dict[str, float]:
    """Return the median seconds of each sort of call, one at a time, warm."""
    found = {}
    for sort in MIX:
        times = []
        for number in range(2 * ALONE):
            began = time.perf_counter()
            traffic.act(sort)
            if number >= ALONE:
                times.append(time.perf_counter() - began)
        found[sort] = statistics.median(times)
    return found


def press(traffic: Traffic, *, rate: float, seconds: float, every: Callable[[], None]) -> int:
    """Send `rate` things a second for a while; returns how many."""
    traffic.tally.times.clear()
    order = random.Random("order")  # noqa: S311
    due = iter(order.choices(list(MIX), list(MIX.values()), k=int(rate * seconds)))
    began, count, lock = time.perf_counter(), 0, threading.Lock()

    def work() -> None:
        nonlocal count
        while True:
            with lock:
                sort = next(due, None)
                at, count = began + count / rate, count + 1
            if sort is None:
                return
            time.sleep(max(0.0, at - time.perf_counter()))
            traffic.act(sort)
            with traffic.tally.lock:
                traffic.tally.times[sort].append(time.perf_counter() - at)

    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        every()
        threads[0].join(5)
        time.sleep(1)
    return sum(map(len, traffic.tally.times.values()))


def rss_mb(pid: int) -> float:
    """Return what a process holds of memory, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def connections() -> int:
    """Return how many connections the database has, but this one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
        )
        return int(cursor.fetchone()[0])


def drain() -> bool:
    """Wait until every session is finished."""
    deadline = time.monotonic() + DRAIN_SECONDS
    waiting = CompletedSession.objects.filter(state__in=["queued", "processing"])
    while waiting.exists() and time.monotonic() < deadline:
        time.sleep(0.5)
    return not waiting.exists()


def judge(traffic: Traffic) -> dict[str, int]:
    """Compare what was answered with what is there."""
    tally = traffic.tally
    rows: Counter[str] = Counter()
    active: Counter[str] = Counter()
    marked = Memory.objects.filter(content__contains="mark")
    for content, archived in marked.values_list("content", "archived_at"):
        for mark in {found[0] for found in re.finditer(r"mark\d+n\d+", content)}:
            rows[mark] += 1
            active[mark] += archived is None
    wanted = (tally.written.keys() | tally.sessions.keys()) - tally.forgotten
    events: Counter[str] = Counter(
        ConversationEvent.objects.filter(name="memories_captured").values_list(
            "session__session_id", flat=True
        )
    )
    return {
        "errors": sum(tally.errors.values()),
        "leaks": len(tally.leaks),
        "rows lost": sum(active[mark] == 0 for mark in wanted),
        "rows double": sum(count > 1 for count in rows.values()),
        "forgotten and still active": sum(active[mark] > 0 for mark in tally.forgotten),
        "sessions lost": sum(events[mark] == 0 for mark in tally.sessions),
        "sessions told twice": sum(events[mark] > 1 for mark in tally.sessions),
    }


@contextmanager
def store(corpus: Corpus) -> Iterator[None]:
    """A database of its own, loaded, and dropped in the end."""
    before = str(connection.settings_dict["NAME"])
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        model = embedding_models.adopt(now=NOW)
        if model is None:
            raise SystemExit("there is no embedder")
        agent, _ = people.agent_named("default")
        User.objects.bulk_create(
            (
                User(
                    id=corpus.owner_id(number),
                    email=f"owner{number}@bench.example",
                    email_verified_at=NOW,
                    password="!",
                )
                for number in range(corpus.owners)
            ),
            batch_size=2_000,
        )
        with loading.built_afterwards():
            loading.load(corpus, loading.Target(loading.address(), agent.pk, model.pk))
        vector_index.ensure_index(model)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)


@contextmanager
def service(port: int) -> Iterator[tuple[int, int]]:
    """A web process and a worker on the store, logging to `load.log`; yields their process ids."""
    limits = {
        "MEMORY_EMBEDDER": "local",
        "MEMORY_TOKEN_WRITES_PER_MINUTE": "1000000",
        "MEMORY_TOKEN_READS_PER_MINUTE": "1000000",
    }
    environment = processes.environment(**limits)
    web = "-m uvicorn junior_memory.asgi:application --no-access-log --log-level warning --port"
    log = (Path(settings.DATA_DIR) / "load.log").open("wb")
    running = [
        subprocess.Popen(
            [sys.executable, *command], cwd=processes.ROOT, env=environment, stderr=log, stdout=log
        )
        for command in ([*web.split(), str(port)], ["manage.py", "worker"])
    ]
    try:
        processes.wait_for(lambda: _is_ready(port), seconds=120)
        yield running[0].pid, running[1].pid
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(60)
        log.close()


def _is_ready(port: int) -> bool:
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        asked.request("GET", "/readyz", headers={"Host": "localhost"})
        return asked.getresponse().status == 200
    except OSError:
        return False
    finally:
        asked.close()


def show(traffic: Traffic, by_itself: dict[str, float]) -> float:
    """Print each call's percentiles as ratios to the call alone; returns the worst p95."""
    print(f"{'call':<9}{'times':>7}{'alone':>10}{'p50':>8}{'p95':>8}{'p99':>8}")
    worst = 0.0
    for sort, times in sorted(traffic.tally.times.items()):
        if len(times) < 2:
            continue
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        p50, p95, p99 = (cuts[place] / by_itself[sort] for place in (49, 94, 98))
        worst = max(worst, p95)
        alone_ms = by_itself[sort] * 1000
        print(f"{sort:<9}{len(times):>7}{alone_ms:>7.1f} ms{p50:>7.1f}×{p95:>7.1f}×{p99:>7.1f}×")
    return worst


def main() -> int:
    """Load, measure alone, press, compare; returns 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=1_000, help="who act; at most memories/100")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=15, help="things a second")
    parser.add_argument("--knee", action="store_true", help="raise the rate until calls wait")
    parser.add_argument("--port", type=int, default=8180)
    options = parser.parse_args()
    corpus = Corpus(options.memories)
    with store(corpus), service(options.port) as (web, worker):
        traffic = Traffic(corpus, options.people, options.port)
        print(f"{corpus.rows:,} memories, {len(traffic.people):,} people acting")
        by_itself = alone(traffic)
        samples: list[tuple[float, float, int]] = []

        def sample() -> None:
            samples.append((rss_mb(web), rss_mb(worker), connections()))

        if options.knee:
            rate, worst = options.rate, 0.0
            while worst <= LATE:
                done = press(traffic, rate=rate, seconds=30, every=sample)
                worst = show(traffic, by_itself)
                busy = "the knee" if worst > LATE else "ok"
                print(f"{rate:g} a second, {done} calls: worst p95 {worst:.1f}×, {busy}")
                rate *= 1.5
        else:
            done = press(traffic, rate=options.rate, seconds=options.minutes * 60, every=sample)
            print(f"{done:,} calls in {options.minutes:g} min, {options.rate:g} a second")
            show(traffic, by_itself)
        is_empty = drain()
        # The first tenth is the warm-up: pools fill, caches fill.
        first, last = samples[len(samples) // 10], samples[-1]
        print(
            f"web {first[0]:.0f} → {last[0]:.0f} MB, worker {first[1]:.0f} → {last[1]:.0f} MB,"
            f" connections {first[2]} → {last[2]}"
        )
        found = judge(traffic) | {"queue not empty": int(not is_empty)}
        print(", ".join(f"{count} {what}" for what, count in found.items()))
        for what, count in traffic.tally.errors.most_common(10):
            print(f"  {count} × {what}")
        written = len(traffic.tally.written) + len(traffic.tally.sessions)
        print(
            f"of {written:,} rows written, {len(traffic.tally.forgotten):,} forgotten again;"
            f" {traffic.tally.degraded:,} answers went without a leg"
        )
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
