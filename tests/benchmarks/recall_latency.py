"""How much recall and search add to the models that they wait for.

    python tests/benchmarks/recall_latency.py [--runs 40] [--rows 2000]

Three processes, as in use: a web server as the README starts it, an endpoint of OpenAI's language
that sleeps before it answers (200 ms for the vector of a message, 200 ms for a selection, 300 ms
for the vector of a search), and this one, which asks over a connection that it keeps. In turns, so
that a busy machine is busy for all of them: *models alone* asks both models in sequence and does
nothing else; *recall* goes through POST /recall, with and without the sleep; *search* through
GET /memories?q= the same. Every call asks for something new, so that no cache answers. Then either
model hangs, and the answer's time is printed beside its deadline.

Milliseconds are this machine's; read the ratios to what the models sleep.

Measured on two quiet cores, 2,000 memories, nine runs: recall 436 to 442 ms for 400 slept (x1.09 to
1.105; models alone 404), 42 to 50 without the sleep; search 330 to 335 for 300 (x1.10 to 1.115), 47
to 52 without. The machine is slower in some runs than in others, and all rows move together. Of
recall's 37: 5 until the vector is asked for, 3 for each model's answer to come and go, 5 comparing
vectors, 7 ranking, reading and judging, 2 recording, 2 reading again, 3 the event. Tried without
gain: another event loop and HTTP parser, a shorter interval between threads, freezing what the
collector looks at.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import socket
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

import django
from django.conf import settings

DATABASE: dict[str, Any] = settings.DATABASES["default"]
DATABASE["TEST"] = {"NAME": f"bench_latency_{os.getpid()}"}
django.setup()

from django.db import connection  # noqa: E402
from django.test.utils import override_settings  # noqa: E402

from junior_memory import clock, embedding_models, embeddings, lexical, people  # noqa: E402
from junior_memory.audit import Doer  # noqa: E402
from junior_memory.models import Identity, Memory, ModelCall, User  # noqa: E402
from tests import processes  # noqa: E402
from tests.benchmarks.corpus import Corpus  # noqa: E402
from tests.model_server import ModelServer, Reply, model_server  # noqa: E402

EMBEDDING_SECONDS = 0.2
SELECTION_SECONDS = 0.2
SEARCH_SECONDS = 0.3
DEADLINE_MS = 1_500
HANGS = 6
WARM_UP = 5
SELECTED = '{"relevant": [1, 2]}'
KNOBS = {
    "MEMORY_EMBEDDER": "openai",
    "MEMORY_EMBEDDING_MODEL": "bench-embedding",
    "OPENAI_API_KEY": "none",
    "AI_MEMORY_MODEL": "gpt-4.1-mini",
}


class Keeper:
    """A connection that is kept from call to call, as a host's is."""

    def __init__(self, address: str) -> None:
        self._line = http.client.HTTPConnection(address, timeout=30)

    def call(self, method: str, path: str, body: str = "", **headers: str) -> dict[str, Any]:
        """Return the answer's object; ends the run when it is none."""
        headers = {"content-type": "application/json"} | headers
        self._line.request(method, path, body or None, headers)
        response = self._line.getresponse()
        raw = response.read()
        if response.status != 200:
            raise SystemExit(f"{method} {path}: {response.status}")
        answer: dict[str, Any] = json.loads(raw)
        return answer


class Models:
    """The endpoint, in a process of its own."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=serve_models, args=(theirs,), daemon=True)
        self._process.start()
        self.url: str = self._line.recv()

    def sleep(self, *, embedding: float = 0, selection: float = 0, hangs: str = "") -> None:
        """Let it take its time; seconds. `hangs` names what never answers."""
        self._line.send((embedding, selection, hangs))
        self._line.recv()

    def stop(self) -> None:
        """End the process."""
        self._line.send(None)
        self._process.join(10)


def serve_models(line: Connection) -> None:
    """Be the endpoint until told to stop."""
    with model_server(ModelServer(dimensions=256, always=Reply(text=SELECTED))) as double:
        line.send(double.url)
        while (asked := line.recv()) is not None:
            embedding, selection, hangs = asked
            double.embedding_always = Reply(delay_seconds=embedding, hangs=hangs == "embedding")
            double.always = Reply(
                text=SELECTED, delay_seconds=selection, hangs=hangs == "selection"
            )
            line.send(True)


class Bench:
    """One person with memories, two tokens, and questions that nobody asked before."""

    def __init__(self, rows: int, models: Models) -> None:
        self.corpus = Corpus(rows)
        self.models = models
        self.agent, _ = people.agent_named("default")
        self.user = User.objects.create_user(
            f"{uuid.uuid4().hex}@bench.example", email_verified_at=clock.now()
        )
        self.actor = {"provider": "web", "tenant": "bench", "subject": "one"}
        Identity.objects.create(**self.actor, user=self.user)
        doer = Doer(via="command")
        _, self.personal = people.create_personal_token(self.user, scopes=["read"], doer=doer)
        _, self.host = people.create_agent_token(self.agent, scopes=["recall"], doer=doer)
        self.asked = 0
        self._load()

    def _load(self) -> None:
        drafts = [self.corpus.draft(number) for number in range(self.corpus.rows)]
        made = Memory.objects.bulk_create(
            (
                Memory(
                    content=draft.content,
                    kind="knowledge",
                    visibility="private",
                    owner=self.user,
                    agent=self.agent,
                    subject_type="general",
                    origin="import",
                    source_platform="api",
                    fingerprint=str(draft.id),
                    search_vector=lexical.vector_of(draft.content),
                    observed_at=draft.created_at,
                    created_at=draft.created_at,
                )
                for draft in drafts
            ),
            batch_size=500,
        )
        embeddings.embed_memories([row.pk for row in made])
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")

    def question(self) -> str:
        """Return a question that was not asked before."""
        self.asked += 1
        return f"{self.corpus.question(self.asked % self.corpus.rows)} {self.asked}"

    def recall(self, web: Keeper) -> dict[str, Any]:
        """Ask as a host does."""
        body = {
            "conversationId": "bench",
            "source": {"platform": "web", "key": "bench", "visibility": "private"},
            "actor": self.actor,
            "text": self.question(),
            "deadlineMs": DEADLINE_MS,
        }
        token = f"Bearer {self.host}"
        path = "/api/plugins/memory/recall"
        return web.call("POST", path, json.dumps(body), authorization=token)

    def search(self, web: Keeper) -> dict[str, Any]:
        """Ask as a person's script does."""
        path = f"/api/plugins/memory/memories?q={quote(self.question())}&limit=10"
        return web.call("GET", path, authorization=f"Bearer {self.personal}")

    def models_alone(self) -> None:
        """Ask both models in sequence, and nothing else."""
        where = urlsplit(self.models.url)
        for path, body in (
            ("embeddings", {"model": "bench-embedding", "input": [self.question()]}),
            ("chat/completions", {"model": "gpt-4.1-mini", "messages": []}),
        ):
            Keeper(where.netloc).call("POST", f"{where.path}/{path}", json.dumps(body))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return milliseconds and what was answered."""
    begun = time.perf_counter()
    answer = work()
    return (time.perf_counter() - begun) * 1000, answer


@contextmanager
def web_server(url: str) -> Iterator[str]:
    """Start the web server on the run's database; returns its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = "-m uvicorn junior_memory.asgi:application --no-access-log --log-level warning"
    server = subprocess.Popen(
        [sys.executable, *command.split(), "--port", str(port)],
        cwd=processes.ROOT,
        env=processes.environment(**KNOBS, OPENAI_BASE_URL=url),
    )

    def answers() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    try:
        processes.wait_for(answers, seconds=60)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def prepared(rows: int) -> Iterator[tuple[Bench, str]]:
    """Make a database, an endpoint and a web server for the run, and take them away again."""
    before = str(settings.DATABASES["default"]["NAME"])
    with ExitStack() as stack:
        models = Models()
        stack.callback(models.stop)
        models.sleep()
        knobs = settings.JUNIOR_MEMORY | {
            "embedder": "openai",
            "embedding_model": KNOBS["MEMORY_EMBEDDING_MODEL"],
            "openai_base_url": models.url,
            "openai_api_key": "none",
        }
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        stack.callback(connection.creation.destroy_test_db, before, verbosity=0)
        with override_settings(JUNIOR_MEMORY=knobs):
            embedding_models.adopt()
            bench = Bench(rows, models)
        yield bench, stack.enter_context(web_server(models.url))


def measure(bench: Bench, web: Keeper, runs: int) -> dict[str, list[float]]:
    """Time every way in turns."""
    ways: dict[str, tuple[float, float, Callable[[], Any]]] = {
        "models alone": (EMBEDDING_SECONDS, SELECTION_SECONDS, bench.models_alone),
        "recall": (EMBEDDING_SECONDS, SELECTION_SECONDS, lambda: bench.recall(web)),
        "recall, no sleep": (0, 0, lambda: bench.recall(web)),
        "search": (SEARCH_SECONDS, 0, lambda: bench.search(web)),
        "search, no sleep": (0, 0, lambda: bench.search(web)),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(runs + WARM_UP):
        for name, (embedding, selection, work) in ways.items():
            bench.models.sleep(embedding=embedding, selection=selection)
            took, _ = timed(work)
            if turn >= WARM_UP:
                taken[name].append(took)
    return taken


def print_hanging(bench: Bench, web: Keeper) -> None:
    """Let either model hang and print how long the answer took."""
    for name in ("embedding", "selection"):
        bench.models.sleep(hangs=name)
        taken, answers = zip(*(timed(lambda: bench.recall(web)) for _ in range(HANGS)), strict=True)
        spoke = sum(bool(answer["memories"]) for answer in answers)
        print(
            f"  {name} hangs: at most {max(taken) / DEADLINE_MS:.3f} of the deadline of "
            f"{DEADLINE_MS} ms; {spoke} of {HANGS} answers held memories, degraded "
            f"{sorted({each for answer in answers for each in answer['degraded']})}, timed out "
            f"{sum(answer['timedOut'] for answer in answers)}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--rows", type=int, default=2_000)
    arguments = parser.parse_args()
    with prepared(arguments.rows) as (bench, address):
        web = Keeper(address)
        taken = measure(bench, web, arguments.runs)
        waited = {
            "models alone": 1000 * (EMBEDDING_SECONDS + SELECTION_SECONDS),
            "recall": 1000 * (EMBEDDING_SECONDS + SELECTION_SECONDS),
            "search": 1000 * SEARCH_SECONDS,
        }
        print(f"{arguments.rows} memories of one person; {arguments.runs} calls of each")
        for name, values in taken.items():
            p50 = statistics.median(values)
            p95 = sorted(values)[int(0.95 * (len(values) - 1))]
            ratio = (
                f", x{p50 / waited[name]:.3f} of what the models sleep" if name in waited else ""
            )
            print(f"  {name:<17} p50 {p50:6.1f} ms  p95 {p95:6.1f} ms{ratio}")
        alone = statistics.median(taken["models alone"])
        print(f"  recall over models alone: x{statistics.median(taken['recall']) / alone:.3f}")
        print_hanging(bench, web)
        unowned = ModelCall.objects.filter(operation="relevance", event__isnull=True)
        print(f"  selections that no event owns: {unowned.exclude(recall_id=None).count()}")


if __name__ == "__main__":
    main()
