"""One fault, from a healthy deployment to a judged one; the list of all faults."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.clients import Clients
from tests.faults.deployment import Deployment, Tokens, copied
from tests.faults.verdict import Verdict, judge
from tests.model_server import ModelServer, Reply, model_server, prompt, schema_name

CALM_SECONDS = 4.0
"""How long everybody goes on before a fault, and after it is mended."""

TOLD = re.compile(r"told (mark\d+n\d+) told")
ASKED_FOR = re.compile(r"Keeps (mark\d+n\d+) in the cellar")


class Skipped(Exception):
    """A fault that cannot be made here; says why."""


@dataclass
class Trial:
    """A healthy deployment with clients at work, for one fault to break."""

    deployment: Deployment
    clients: Clients
    recovery_seconds: float = 0.0

    @property
    def model(self) -> ModelServer:
        """The model's double."""
        return self.deployment.model

    def calm(self, seconds: float = CALM_SECONDS) -> None:
        """Let everybody go on."""
        time.sleep(seconds)

    def recovered(self, *, seconds: float = 60.0) -> None:
        """Note how long it takes until the service says again that it is ready."""
        self.recovery_seconds = self.deployment.await_ready(seconds=seconds)


def nullcontext_of(_: Deployment) -> AbstractContextManager[None]:
    """Nothing is around."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to break it. `act` breaks and mends; what it needs is said beside it."""

    name: str
    says: str
    act: Callable[[Trial], None]
    own_server: bool = True
    options: dict[str, str] | None = None
    extra: dict[str, str] | None = None
    may_hang_up: bool = False
    model_may_fail: bool = False
    says_when: bool = True
    unrecorded: int = 0
    """Calls that may be missing on the record: a recall's and a search's records are written beside
    their requests, so a web process that is killed takes along what has only just left."""
    around: Callable[[Deployment], AbstractContextManager[None]] = nullcontext_of
    """Entered before anything is started, left when everything has ended."""


FAULTS: dict[str, Fault] = {}


def fault(name: str, says: str, **needs: Any) -> Callable[[Callable[[Trial], None]], None]:
    """Put a function on the list."""

    def add(act: Callable[[Trial], None]) -> None:
        FAULTS[name] = Fault(name, says, act, **needs)

    return add


def answer(body: dict[str, Any]) -> str:
    """Answer as a model that understands these clients: one fact of each conversation."""
    shown = prompt(body)
    match schema_name(body):
        case "Found":
            found = [_fact(mark) for mark in dict.fromkeys(TOLD.findall(shown))]
            return json.dumps({"memories": found[-1:]})
        case "Comparison":
            return '{"verdict": "distinct", "numbers": []}'
        case "Selection":
            return '{"relevant": [1, 2, 3]}'
        case "Judgement":
            mark = ASKED_FOR.findall(shown)[-1]
            text = f"Keeps {mark} in the cellar."
            return json.dumps({"decision": "store", "kind": "knowledge", "canonicalFact": text})
    return '{"answer": "ready"}'


def _fact(mark: str) -> dict[str, Any]:
    return {
        "kind": "preference",
        "canonicalFact": f"Likes {mark} as tea in the morning best.",
        "expiresAt": None,
        "evidence": [0],
        "touchesTopic": None,
        "ordersAssistant": False,
    }


def understanding() -> ModelServer:
    """Return a double that answers so, at once."""
    return ModelServer(always=Reply(text=answer))


def attempt(one: Fault, seed: Path, tokens: Tokens, folder: Path) -> tuple[Verdict, Trial]:
    """Start a copy of the seed, break it, mend it, and judge. Raises NotReady, Skipped."""
    copied(seed, folder)
    with model_server(understanding()) as model:
        deployment = Deployment(
            folder,
            model,
            tokens,
            own_server=one.own_server,
            options=one.options or {},
            extra=one.extra or {},
        )
        clients = Clients(
            tokens,
            lambda: deployment.port,
            may_hang_up=one.may_hang_up,
            model_may_fail=one.model_may_fail,
            says_when=one.says_when,
        )
        trial = Trial(deployment, clients)
        with one.around(deployment):
            try:
                return _tried(one, trial), trial
            finally:
                deployment.stop()


def _tried(one: Fault, trial: Trial) -> Verdict:
    deployment, clients = trial.deployment, trial.clients
    if one.own_server:
        deployment.start_server()
    deployment.start_web()
    deployment.start_worker()
    deployment.await_ready()
    clients.start()
    try:
        trial.calm()
        one.act(trial)
        trial.recovered()
        trial.calm()
    finally:
        clients.stop()
    verdict = judge(deployment, clients)
    verdict.calls_excused = one.unrecorded
    return verdict
