"""Processes of the product are killed, frozen, or asked to end while they work."""

from __future__ import annotations

import signal
from collections.abc import Callable

from tests.faults.trial import Trial, fault
from tests.model_server import Reply

TIMES = 3
JUST_LEFT = 1
"""Calls that may be missing: those that left in the milliseconds before a kill (`open_call`)."""

SLOW_SECONDS = 1.0
FROZEN_SECONDS = 40.0
"""Longer than a worker may be silent before another one takes its jobs."""


def _slow(trial: Trial) -> None:
    """Let the model take its time, so that it is waited for whenever something happens."""
    trial.model.always = Reply(text=trial.model.always.text, delay_seconds=SLOW_SECONDS)


@fault(
    "web-killed",
    "the web process is killed mid-call, three times",
    may_hang_up=True,
    unrecorded=JUST_LEFT,
)
def web_killed(trial: Trial) -> None:
    _slow(trial)
    for _ in range(TIMES):
        trial.deployment.kill("web")
        trial.calm(1)
        trial.deployment.start_web()
        trial.deployment.await_ready()
        trial.calm(2)


@fault("web-restarted", "the web process is asked to end and started again", may_hang_up=True)
def web_restarted(trial: Trial) -> None:
    _slow(trial)
    trial.deployment.end("web")
    trial.deployment.start_web()


@fault("worker-killed", "the worker is killed mid-session, three times")
def worker_killed(trial: Trial) -> None:
    _end_worker_again_and_again(trial, trial.deployment.kill)


@fault("worker-stopped", "the worker is asked to end mid-session and started again, three times")
def worker_stopped(trial: Trial) -> None:
    _end_worker_again_and_again(trial, trial.deployment.end)


def _end_worker_again_and_again(trial: Trial, end: Callable[[str], None]) -> None:
    _slow(trial)
    for _ in range(TIMES):
        end("worker")
        trial.deployment.start_worker()
        trial.calm(3)


@fault("worker-frozen", "a worker is frozen, another one takes its jobs, the first one wakes up")
def worker_frozen(trial: Trial) -> None:
    _slow(trial)
    trial.calm(2)
    frozen = trial.deployment.running["worker"]
    frozen.send_signal(signal.SIGSTOP)
    try:
        trial.deployment.start_worker("second-worker")
        trial.calm(FROZEN_SECONDS)
    finally:
        frozen.send_signal(signal.SIGCONT)


@fault(
    "everything-killed",
    "database, web and worker are killed at once",
    may_hang_up=True,
    unrecorded=JUST_LEFT,
)
def everything_killed(trial: Trial) -> None:
    _slow(trial)
    trial.deployment.kill("web")
    trial.deployment.kill("worker")
    trial.deployment.stop_server(signal.SIGKILL)
    trial.calm(1)
    trial.deployment.start_server()
    trial.deployment.start_web()
    trial.deployment.start_worker()
