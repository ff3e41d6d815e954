"""The database goes away, has no room, or makes everybody wait."""

from __future__ import annotations

import os
import signal

from tests.faults.trial import Trial, fault

AWAY_SECONDS = 5.0


@fault("database-stopped", "the server is stopped as an operator does, and started again")
def database_stopped(trial: Trial) -> None:
    trial.deployment.stop_server(signal.SIGINT)
    trial.calm(AWAY_SECONDS)
    trial.deployment.start_server()


@fault("database-killed", "the server is killed outright, and started again")
def database_killed(trial: Trial) -> None:
    trial.deployment.stop_server(signal.SIGKILL)
    trial.calm(AWAY_SECONDS)
    trial.deployment.start_server()


@fault("database-hangs", "no process of the server does anything for a while")
def database_hangs(trial: Trial) -> None:
    stopped = trial.deployment.server_processes()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        trial.calm(AWAY_SECONDS)
    finally:
        for pid in reversed(stopped):
            os.kill(pid, signal.SIGCONT)


@fault("embedded-killed", "the embedded server is killed; nobody starts it again", own_server=False)
def embedded_killed(trial: Trial) -> None:
    trial.deployment.stop_server(signal.SIGKILL)
