"""A change of the embedding model on a running service: does one search fail, or go without a leg?

    python tests/benchmarks/reembed.py [--memories 5000] [--seconds 60] [--rounds 1] [--late-ms 20]

A web process and a worker of the product, people who search, recall and remember over HTTP without
a pause, and an endpoint of OpenAI's language with vectors of another length, `--late-ms` late.
Then, as README says: `manage.py reembed --to openai:MODEL --switch`, and `reembed --rollback`.
Searches of each phase are counted: how many failed, named a leg in `degraded`, came short of ten
rows or found none by meaning. In the end every memory has a vector of the model in use. Returns 1
when anything of this was not so.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.load import service, store

# isort: split
# `load` has set Django up.
from junior_memory import embedding_models, people, reembedding
from junior_memory.audit import Doer
from junior_memory.models import Identity, User
from tests import processes
from tests.benchmarks.corpus import Corpus
from tests.benchmarks.traffic import BASE
from tests.model_server import ModelServer, Reply, model_server

HOSTED = "openai:another-model"
DIMENSIONS = 384
SEARCHING = 2
"""People who search at the same time."""

LIMIT = 10
WAIT_SECONDS = 900


@dataclass
class Phase:
    """What came of the calls that began in one phase."""

    calls: int = 0
    failed: int = 0
    degraded: int = 0
    short: int = 0
    without_meaning: int = 0
    by_words: int = 0
    """Of which, asked again at once, none was found by meaning either: words found ten."""
    recalls: int = 0
    recalls_failed: int = 0
    remembered: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """True when nothing was missing."""
        missing = self.failed + self.degraded + self.short + self.without_meaning
        return bool(self.calls) and not missing + self.recalls_failed


class Callers:
    """People who never stop to search, to be reminded and to remember, until the block ends."""

    def __init__(self, corpus: Corpus, port: int) -> None:
        self._corpus, self._port = corpus, port
        agent, _ = people.agent_named("default")
        doer = Doer(via="command")
        _, self._host = people.create_agent_token(agent, scopes=["recall"], doer=doer)
        self._tokens = {}
        for number in range(SEARCHING):
            user = User.objects.get(pk=corpus.owner_id(number))
            Identity.objects.create(provider="web", tenant="bench", subject=str(number), user=user)
            _, self._tokens[number] = people.create_personal_token(
                user, scopes=["read", "write"], doer=doer
            )
        self.phases: dict[str, Phase] = defaultdict(Phase)
        self.phase = "before"
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._threads = [
            *(threading.Thread(target=self._search, args=[number]) for number in self._tokens),
            threading.Thread(target=self._recall),
            threading.Thread(target=self._remember),
        ]

    def __enter__(self) -> Callers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _call(self, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
        """Return status and body; 0 when there was no answer. A connection of its own each time."""
        line = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            line.request(method, BASE + path, json.dumps(body) if body else None, headers)
            answer = line.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return 0, {}
        finally:
            line.close()

    def _text(self, chance: random.Random) -> str:
        return self._corpus.question(chance.randrange(self._corpus.rows))[:200]

    def _search(self, who: int) -> None:
        chance = random.Random(f"search {who}")  # noqa: S311
        while not self._over.is_set():
            phase = self.phases[self.phase]
            path = f"/memories?limit={LIMIT}&q={quote(self._text(chance))}"
            begun = time.perf_counter()
            status, answer = self._call("GET", path, self._tokens[who])
            took = time.perf_counter() - begun
            found = answer.get("memories", [])
            is_by_words = not _near(found) and not _near(
                self._call("GET", path, self._tokens[who])[1].get("memories", [])
            )
            with self._lock:
                phase.calls += 1
                phase.seconds.append(took)
                if status != 200:
                    phase.failed += 1
                    continue
                phase.degraded += bool(answer["degraded"])
                phase.short += len(found) < LIMIT
                phase.without_meaning += not _near(found) and not is_by_words
                phase.by_words += is_by_words

    def _recall(self) -> None:
        chance = random.Random("recall")  # noqa: S311
        while not self._over.wait(0.2):
            phase = self.phases[self.phase]
            source = {"platform": "web", "key": "bench", "visibility": "private"}
            actor = {"provider": "web", "tenant": "bench", "subject": "0"}
            body = {"conversationId": "bench", "text": self._text(chance)}
            status, answer = self._call(
                "POST", "/recall", self._host, body | {"source": source, "actor": actor}
            )
            with self._lock:
                phase.recalls += 1
                phase.recalls_failed += status != 200 or bool(answer["degraded"])

    def _remember(self) -> None:
        number = 0
        while not self._over.wait(1):
            number += 1
            phase = self.phases[self.phase]
            body = {"content": f"Remembers shelf number {number} of the archive."}
            status, _ = self._call("POST", "/memories", self._tokens[0], body)
            with self._lock:
                phase.remembered += status == 201


def _near(found: list[Any]) -> list[Any]:
    """Return the hits that were found by meaning."""
    return [hit for hit in found if hit["match"]["meaning"] is not None]


@contextmanager
def endpoint(late_ms: float) -> Iterator[ModelServer]:
    """Serve the double, and name it to the processes that are started in the block."""
    reply = Reply(delay_seconds=late_ms / 1000)
    with model_server(ModelServer(dimensions=DIMENSIONS, embedding_always=reply)) as double:
        os.environ |= {"OPENAI_BASE_URL": double.url, "OPENAI_API_KEY": "none"}
        yield double


def reembed(*arguments: str) -> str:
    """Run the command as a person would; returns the last line it says."""
    ran = subprocess.run(
        [sys.executable, "manage.py", "reembed", *arguments],
        cwd=processes.ROOT,
        env=processes.environment(MEMORY_EMBEDDER="local"),
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(f"reembed {' '.join(arguments)}: {ran.stderr.strip()}")
    return ran.stdout.strip().splitlines()[-1]


def timed(callers: Callers, phase: str, work: Callable[[], str]) -> None:
    """Do something in a phase of its own and say what it said, and how long it took."""
    callers.phase = phase
    begun = time.perf_counter()
    said = work()
    print(f"  {phase}: {time.perf_counter() - begun:.1f} s, “{said}”", flush=True)


def stay(callers: Callers, phase: str, seconds: float) -> None:
    """Let people go on for a while."""
    callers.phase = phase
    time.sleep(seconds)


def show(name: str, phase: Phase) -> None:
    """Print one phase."""
    p50 = statistics.median(phase.seconds) * 1000
    p95 = statistics.quantiles(phase.seconds, n=20)[18] * 1000 if phase.calls > 1 else p50
    print(
        f"  {name:<15} {phase.calls:>6,} searches, {phase.failed} failed,"
        f" {phase.degraded} degraded,"
        f" {phase.short} short, {phase.without_meaning} without meaning"
        f" ({phase.by_words} by words alone);"
        f" p50 {p50:.0f} p95 {p95:.0f} ms;"
        f" {phase.recalls:,} recalls, {phase.recalls_failed} failed or degraded;"
        f" {phase.remembered} remembered"
    )


def missing_vectors() -> int:
    """Count memories without a vector of the model in use."""
    model = embedding_models.in_use()
    if model is None:
        raise LookupError("no model in use")
    progress = reembedding.coverage(model)
    return progress.total - progress.done


def main() -> int:
    """Search before, during and after the switch and the way back; print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=60, help="of each quiet phase")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--late-ms", type=float, default=20)
    parser.add_argument("--port", type=int, default=8181)
    options = parser.parse_args()
    corpus = Corpus(options.memories)
    with store(corpus, keep=False), endpoint(options.late_ms) as double, service(options.port):
        print(f"{options.memories:,} memories; {HOSTED}, {DIMENSIONS} dimensions")
        with Callers(corpus, options.port) as callers:
            stay(callers, "before", options.seconds)
            for each in range(1, options.rounds + 1):
                timed(callers, f"{each} there", lambda: reembed("--to", HOSTED, "--switch"))
                stay(callers, f"{each} on the other", options.seconds)
                timed(callers, f"{each} back", lambda: reembed("--rollback"))
                stay(callers, f"{each} on the first", options.seconds)
        for name, phase in callers.phases.items():
            show(name, phase)
        processes.wait_for(lambda: not missing_vectors(), seconds=90)
        model = embedding_models.in_use()
        print(f"  in use: {model}; no memory lacks its vector; {len(double.embedded):,} requests")
    return int(not all(phase.is_whole for phase in callers.phases.values()))


if __name__ == "__main__":
    sys.exit(main())
