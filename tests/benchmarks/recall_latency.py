"""How much recall and search add to the models that they wait for.

    python tests/benchmarks/recall_latency.py [--runs 40] [--rows 2000]

An endpoint of OpenAI's language on this machine sleeps before it answers, 200 ms for the vector of
a message and 200 ms for a selection. In turns, so that a busy machine is busy for all of them:
*models alone* asks both in sequence with the product's own client and does nothing else; *recall*
goes through POST /recall, with and without the sleep; *search* through GET /memories?q= the same,
beside a vector that takes 300 ms. Every call asks for something new, so that no cache answers.
Then either model hangs, and the answer's time, as the server's clock has it, is printed beside its
deadline.

Milliseconds are this machine's; read the ratios to what the models take.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

import django
from django.conf import settings

# A web process's connections.
DATABASE: dict[str, Any] = settings.DATABASES["default"]
DATABASE["OPTIONS"] |= {"pool": settings.WEB_CONNECTION_POOL}
DATABASE |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False}
DATABASE["TEST"] = {"NAME": f"bench_latency_{os.getpid()}"}
django.setup()

from django.db import close_old_connections, connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import override_settings  # noqa: E402

from junior_memory import clock, embedding_models, embeddings, lexical, people  # noqa: E402
from junior_memory.audit import Doer  # noqa: E402
from junior_memory.model_calls import OnBehalf  # noqa: E402
from junior_memory.models import Identity, Memory, ModelCall, User  # noqa: E402
from junior_memory.relevance import select_relevant  # noqa: E402
from tests.benchmarks.corpus import Corpus  # noqa: E402
from tests.model_server import ModelServer, Reply, model_server  # noqa: E402

EMBEDDING_SECONDS = 0.2
SELECTION_SECONDS = 0.2
SEARCH_SECONDS = 0.3
DEADLINE_MS = 1_500
HANGS = 6
SELECTED = '{"relevant": [1, 2]}'


class Bench:
    """One person with memories, two tokens, and questions that nobody asked before."""

    def __init__(self, rows: int) -> None:
        self.corpus = Corpus(rows)
        self.agent, _ = people.agent_named("default")
        self.user = User.objects.create_user(
            f"{uuid.uuid4().hex}@bench.example", email_verified_at=clock.now()
        )
        actor = {"provider": "web", "tenant": "bench", "subject": "one"}
        Identity.objects.create(**actor, user=self.user)
        doer = Doer(via="command")
        _, self.personal = people.create_personal_token(self.user, scopes=["read"], doer=doer)
        _, self.host = people.create_agent_token(self.agent, scopes=["recall"], doer=doer)
        self.actor = actor
        self.asked = 0
        self.client = Client(headers={"host": "localhost"})
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

    def recall(self) -> dict[str, Any]:
        """Ask as a host does."""
        body = {
            "conversationId": "bench",
            "source": {"platform": "web", "key": "bench", "visibility": "private"},
            "actor": self.actor,
            "text": self.question(),
            "deadlineMs": DEADLINE_MS,
        }
        return self._call(self.host, "POST", "recall", json.dumps(body))

    def search(self) -> dict[str, Any]:
        """Ask as a person's script does."""
        return self._call(self.personal, "GET", f"memories?q={quote(self.question())}&limit=10")

    def models_alone(self) -> None:
        """Ask both models in sequence with the product's client, and nothing else."""
        model = embedding_models.in_use()
        if model is None:
            raise LookupError("no embedding model")
        embeddings.embed_texts(model, [self.question()], timeout_seconds=5)
        offered = [(uuid.uuid4(), self.corpus.draft(number).content) for number in range(20)]
        select_relevant(self.question(), offered, payer=OnBehalf(self.agent), timeout_seconds=5)

    def _call(self, token: str, method: str, path: str, body: str = "") -> dict[str, Any]:
        response = self.client.generic(
            method,
            f"/api/plugins/memory/{path}",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        if response.status_code != 200:
            raise SystemExit(f"{method} {path}: {response.status_code}")
        answer: dict[str, Any] = json.loads(response.content)
        return answer


def timed(work: Callable[[], Any]) -> float:
    """Return milliseconds; the connection goes back to the pool as after a request."""
    begun = time.perf_counter()
    work()
    took = (time.perf_counter() - begun) * 1000
    close_old_connections()
    return took


@contextmanager
def prepared(rows: int) -> Iterator[tuple[Bench, ModelServer]]:
    """Make a database and an endpoint for the run, and drop both."""
    before = str(settings.DATABASES["default"]["NAME"])
    with model_server(ModelServer(dimensions=256, always=Reply(text=SELECTED))) as double:
        knobs = settings.JUNIOR_MEMORY | {
            "embedder": "openai",
            "embedding_model": "bench-embedding",
            "openai_base_url": double.url,
            "openai_api_key": "none",
            "ai_model": "gpt-4.1-mini",
        }
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            with override_settings(JUNIOR_MEMORY=knobs):
                embedding_models.adopt()
                yield Bench(rows), double
        finally:
            connection.close_pool()  # type: ignore[attr-defined]
            connection.creation.destroy_test_db(before, verbosity=0)


def sleep(double: ModelServer, *, embedding: float, selection: float) -> None:
    """Let the endpoint take its time."""
    double.embedding_always = Reply(delay_seconds=embedding)
    double.always = Reply(text=SELECTED, delay_seconds=selection)


def measure(bench: Bench, double: ModelServer, runs: int) -> dict[str, list[float]]:
    """Time every way in turns."""
    ways: dict[str, tuple[float, float, Callable[[], Any]]] = {
        "models alone": (EMBEDDING_SECONDS, SELECTION_SECONDS, bench.models_alone),
        "recall": (EMBEDDING_SECONDS, SELECTION_SECONDS, bench.recall),
        "recall, no sleep": (0, 0, bench.recall),
        "search": (SEARCH_SECONDS, 0, bench.search),
        "search, no sleep": (0, 0, bench.search),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs + 3):
        for name, (embedding, selection, work) in ways.items():
            sleep(double, embedding=embedding, selection=selection)
            taken[name].append(timed(work))
    return {name: values[3:] for name, values in taken.items()}


def _keep(answers: list[dict[str, Any]], bench: Bench) -> None:
    answers.append(bench.recall())


def print_hanging(bench: Bench, double: ModelServer) -> None:
    """Let either model hang and print how long the answer took."""
    for name, hanging in (("embedding", True), ("selection", False)):
        sleep(double, embedding=0, selection=0)
        if hanging:
            double.embedding_always = Reply(hangs=True)
        else:
            double.always = Reply(text=SELECTED, hangs=True)
        answers: list[dict[str, Any]] = []
        taken = [timed(partial(_keep, answers, bench)) for _ in range(HANGS)]
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
    with prepared(arguments.rows) as (bench, double):
        taken = measure(bench, double, arguments.runs)
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
        print_hanging(bench, double)
        owned = ModelCall.objects.filter(operation="relevance", event__isnull=True)
        print(f"  selections that no event owns: {owned.exclude(recall_id=None).count()}")


if __name__ == "__main__":
    main()
