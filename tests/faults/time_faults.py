"""Clocks jump, and releases change while everybody goes on."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tests.faults.deployment import ROOT, Deployment
from tests.faults.trial import Skipped, Trial, fault

JUMP_SECONDS = 8.0
MIGRATIONS = "junior_memory/migrations"
MIGRATIONS_AGO = 2
"""How many migrations the earlier release does not know."""


MOVED_CLOCK = Path(__file__).with_name("moved_clock.py")
DAY_SECONDS = 86_400


@contextlib.contextmanager
def movable_clock(deployment: Deployment) -> Iterator[None]:
    """Let a file say how far the clocks of web and worker are off."""
    _jump(deployment, 0)
    deployment.launcher = (str(MOVED_CLOCK), str(deployment.folder / "clock"))
    yield


def _jump(deployment: Deployment, seconds: int) -> None:
    file = deployment.folder / "clock.new"
    file.write_text(str(seconds), encoding="ascii")
    file.rename(deployment.folder / "clock")


@fault("clock-ahead", "the clocks of web and worker jump a day ahead", around=movable_clock)
def clock_ahead(trial: Trial) -> None:
    _jump(trial.deployment, DAY_SECONDS)
    trial.calm(JUMP_SECONDS)
    _jump(trial.deployment, 0)


@fault("clock-behind", "the clocks of web and worker jump a day back", around=movable_clock)
def clock_behind(trial: Trial) -> None:
    _jump(trial.deployment, -DAY_SECONDS)
    trial.calm(JUMP_SECONDS)
    _jump(trial.deployment, 0)


@contextlib.contextmanager
def earlier_release(deployment: Deployment) -> Iterator[None]:
    """Let everything be of the release before the newest migrations, its database too.

    Taken from the history where there is one. Raises Skipped.
    """
    history = ["git", "-C", str(ROOT)]
    added = [*history, "log", "--diff-filter=A", "--format=%H", "--", MIGRATIONS]
    try:
        found = subprocess.run(added, capture_output=True, text=True, check=True).stdout.split()
        wanted = f"{found[MIGRATIONS_AGO - 1]}~1"
        packed = subprocess.run(
            [*history, "archive", "--format=tar", wanted], capture_output=True, check=True
        ).stdout
    except (OSError, IndexError, subprocess.CalledProcessError):
        raise Skipped("there is no history to take an earlier release from") from None
    earlier = deployment.folder / "earlier"
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(earlier, filter="data")
    known = len(list((earlier / MIGRATIONS).glob("[0-9]*.py")))
    deployment.start_server()
    deployment.manage("migrate", "--verbosity", "0", "junior_memory", f"{known:04d}")
    deployment.code = earlier
    yield


@fault(
    "release-changed",
    "a new release migrates and takes over while the old one serves",
    around=earlier_release,
    says_when=False,
)
def release_changed(trial: Trial) -> None:
    deployment = trial.deployment
    deployment.code = ROOT
    deployment.manage("migrate", "--verbosity", "0")
    trial.calm()
    deployment.start_web("new-web")
    deployment.start_worker("new-worker")
    deployment.await_ready("new-web")
    trial.calm()
    deployment.ports["web"], deployment.ports["new-web"] = (
        deployment.ports["new-web"],
        deployment.ports["web"],
    )
    trial.calm()
    deployment.end("web")
    deployment.end("worker")
