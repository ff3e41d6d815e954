"""Everything at once, for a while: is anything wrong, lost, double, leaked, slower or larger?

    python tests/benchmarks/load.py [--memories 100000] [--people 1000] [--minutes 10] [--keep]
    python tests/benchmarks/load.py --knee

A store of made-up rows (`corpus.py`), a web process and a worker of the product, and this process,
which acts as people and as their assistant over HTTP: lists, searches, recalls, sessions, new
memories, forgets (some brought back), tool calls, some of them twice. Calls begin at their time
whether earlier ones have ended or not, and are timed from when they should have begun. First each
call is made by itself; figures are ratios to that, in the same run. Everything that is written
carries a mark of its owner and number, by which rows are found that are lost, double, shown to
somebody else or shown after their forgetting was answered. `--knee` lets 1, 2, 4 … callers call
without a pause and says who used the processors. `--keep` leaves the loaded store; every run works
in a copy of it.

Measured on two quiet cores, 100,000 memories, 1,000 people, 10 minutes at 8 a second, 4,800 calls:
0 errors, lost, double, leaked, shown again. p95 / p99 of the median alone: create x1.4 / 1.9,
forget 4.2 / 5.6, list 1.9 / 2.1, recall 1.7 / 2.4, search 1.6 / 3.5, session 1.7 / 2.2, tool 1.6 /
2.0. Web 202 to 219 MB, while the vectors of 2,048 questions are kept (8 kB each), worker 184 to
184, connections 9 to 10. The knee: 21 calls a second with one caller, 28 with four and with
thirty-two, the web process at .8 to .9 of a core.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

import django
from django.conf import settings

settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}
settings.DATABASES["default"]["TEST"] = {"NAME": f"bench_load_{os.getpid()}"}
django.setup()

from django.db import connection  # noqa: E402

from junior_memory import embedding_models, people, vector_index  # noqa: E402
from junior_memory.models import (  # noqa: E402
    CompletedSession,
    ConversationEvent,
    Memory,
    User,
)
from tests import processes  # noqa: E402
from tests.benchmarks import loading  # noqa: E402
from tests.benchmarks.corpus import NOW, Corpus  # noqa: E402
from tests.benchmarks.traffic import Traffic  # noqa: E402
from tests.marks import fates_of_rows, fates_of_sessions  # noqa: E402

ALONE = 15
"""Calls of each sort that are made by themselves, before and after a warm-up of as many."""

MIX = {"list": 25, "search": 20, "recall": 25, "session": 10, "create": 8, "forget": 5, "tool": 7}
DRAIN_SECONDS = 180
CALLERS = (1, 2, 4, 8, 16, 32)
STEP_SECONDS = 10


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


def knee(traffic: Traffic, web: int, worker: int) -> None:
    """Print, for more and more callers without a pause, throughput, latency and processors used."""
    order = random.Random("knee")  # noqa: S311
    for callers in CALLERS:
        traffic.tally.times.clear()
        until = time.perf_counter() + STEP_SECONDS
        sorts = [order.choices(list(MIX), list(MIX.values()), k=10_000) for _ in range(callers)]

        def work(mine: list[str], until: float = until) -> None:
            for sort in mine:
                began = time.perf_counter()
                if began >= until:
                    return
                traffic.act(sort)
                with traffic.tally.lock:
                    traffic.tally.times[sort].append(time.perf_counter() - began)

        used = worked_seconds(web), worked_seconds(worker), time.process_time()
        began = time.perf_counter()
        threads = [threading.Thread(target=work, args=(mine,)) for mine in sorts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        now = worked_seconds(web), worked_seconds(worker), time.process_time()
        shares = [(after - before) / seconds for before, after in zip(used, now, strict=True)]
        times = [each for sort in traffic.tally.times.values() for each in sort]
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        print(
            f"{callers:>3} callers: {len(times) / seconds:6.1f} a second, p50 {cuts[49] * 1000:.0f}"
            f" p95 {cuts[94] * 1000:.0f} p99 {cuts[98] * 1000:.0f} ms; processors: web"
            f" {shares[0]:.2f}, worker {shares[1]:.2f}, callers {shares[2]:.2f}; load average"
            f" {os.getloadavg()[0]:.1f}, {connections()} connections",
            flush=True,
        )


def worked_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    """Return what a process holds of memory, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def database_mb() -> float:
    """Return what the processes of the database hold of their own, in MB; shared buffers once."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity")
        found = [int(pid) for (pid,) in cursor.fetchall()]
    total = 0.0
    for pid in found:
        with suppress(OSError):  # It has ended meanwhile.
            pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
            total += (int(pages[1]) - int(pages[2])) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return total


def growth_per_minute(values: list[tuple[float, float]]) -> float:
    """Return the slope of (seconds, value) after the warm-up, by least squares, a minute."""
    kept = values[len(values) // 5 :]
    if len(kept) < 3:
        return 0.0
    slope, _ = statistics.linear_regression(*zip(*kept, strict=True))
    return slope * 60


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
    marked = Memory.objects.filter(content__contains="mark")
    rows = fates_of_rows(
        ((text, at is None) for text, at in marked.values_list("content", "archived_at")),
        kept=(tally.written.keys() | tally.sessions.keys()) - tally.forgotten,
        forgotten=tally.forgotten,
    )
    events: Counter[str] = Counter(
        ConversationEvent.objects.filter(name="memories_captured").values_list(
            "session__session_id", flat=True
        )
    )
    sessions = fates_of_sessions(tally.sessions.values(), events)
    return {
        "errors": sum(tally.errors.values()),
        "leaks": len(tally.leaks),
        "forgotten and shown again": len(tally.seen_again),
        "rows lost": rows.lost,
        "rows double": rows.double,
        "forgotten and still active": rows.back,
        "sessions lost": sessions.lost,
        "sessions told twice": sessions.double,
    }


@contextmanager
def store(corpus: Corpus, *, keep: bool) -> Iterator[None]:
    """A database of its own, loaded, and dropped in the end.

    Kept, it is left as loaded under the name of its size: the run goes on in a copy of it.
    """
    run = f"bench_load_{os.getpid()}"
    loaded = f"bench_load_{corpus.rows}" if keep else run
    connection.settings_dict["TEST"]["NAME"] = loaded
    before = str(connection.settings_dict["NAME"])
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False, keepdb=keep)
    try:
        if not Memory.objects.exists():
            fill(corpus)
        if keep:
            use(run, made_from=loaded)
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)


def use(name: str, *, made_from: str) -> None:
    """Go on in a copy of a database that nobody is connected to."""
    connection.close()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{made_from}"')
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name


def fill(corpus: Corpus) -> None:
    """Load every row, build the indexes and look after them."""
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
    vector_index.pack(model)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


@contextmanager
def service(port: int) -> Iterator[tuple[int, int]]:
    """A web process and a worker on the store, logging to `load.log`; yields their process ids."""
    limits = {
        "MEMORY_EMBEDDER": "local",
        "MEMORY_ACTIVE_QUOTA": "100000",  # The largest owner is loaded past the default.
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


def show(traffic: Traffic, by_itself: dict[str, float]) -> None:
    """Print each call's percentiles as ratios to the median of the call alone."""
    print(f"{'call':<9}{'times':>7}{'alone':>10}{'p50':>8}{'p95':>8}{'p99':>8}")
    for sort, times in sorted(traffic.tally.times.items()):
        if len(times) < 2:
            continue
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        p50, p95, p99 = (cuts[place] / by_itself[sort] for place in (49, 94, 98))
        alone_ms = by_itself[sort] * 1000
        print(f"{sort:<9}{len(times):>7}{alone_ms:>7.1f} ms{p50:>7.1f}×{p95:>7.1f}×{p99:>7.1f}×")


def main() -> int:
    """Load, measure alone, press, compare; returns 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=1_000, help="who act; at most memories/100")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=15, help="things a second")
    parser.add_argument("--knee", action="store_true", help="more and more callers")
    parser.add_argument("--keep", action="store_true", help="leave the loaded store, use it again")
    parser.add_argument("--port", type=int, default=8180)
    options = parser.parse_args()
    corpus = Corpus(options.memories)
    with store(corpus, keep=options.keep), service(options.port) as (web, worker):
        traffic = Traffic(corpus, options.people, options.port)
        print(f"{corpus.rows:,} memories, {len(traffic.people):,} people acting")
        by_itself = alone(traffic)
        samples: list[tuple[float, ...]] = []
        began = time.monotonic()

        def sample() -> None:
            at = time.monotonic() - began
            samples.append((at, rss_mb(web), rss_mb(worker), database_mb(), connections()))

        if options.knee:
            sample()
            knee(traffic, web, worker)
            sample()
        else:
            done = press(traffic, rate=options.rate, seconds=options.minutes * 60, every=sample)
            print(f"{done:,} calls in {options.minutes:g} min, {options.rate:g} a second")
            show(traffic, by_itself)
        is_empty = drain()
        # The first fifth is the warm-up: pools fill, caches fill.
        for place, name in enumerate(("web MB", "worker MB", "database MB", "connections"), 1):
            values = [(each[0], each[place]) for each in samples]
            print(
                f"{name}: {values[len(values) // 5][1]:.0f} → {values[-1][1]:.0f}, highest"
                f" {max(each for _, each in values):.0f}, {growth_per_minute(values):+.2f} a minute"
            )
        found = judge(traffic) | {"queue not empty": int(not is_empty)}
        print(", ".join(f"{count} {what}" for what, count in found.items()))
        for what, count in traffic.tally.errors.most_common(10):
            print(f"  {count} × {what}")
        written = len(traffic.tally.written) + len(traffic.tally.sessions)
        print(
            f"of {written:,} rows written, {len(traffic.tally.forgotten):,} forgotten again;"
            f" {traffic.tally.undone:,} forgotten and brought back;"
            f" {traffic.tally.degraded:,} answers went without a leg; load average"
            f" {os.getloadavg()[0]:.1f}"
        )
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
