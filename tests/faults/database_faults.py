"""The database goes away, has no room, or makes everybody wait."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import psycopg

from junior_memory.locks import LOCK, owner_lock
from tests.faults.deployment import Deployment
from tests.faults.trial import Skipped, Trial, fault

AWAY_SECONDS = 5.0
HELD_SECONDS = 14.0
"""Longer than a web process waits for a lock."""

DISK_MB = 400
HANG_UP = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> ALL(%s)"""


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


@fault(
    "connections-exhausted",
    "others hold every connection of the server, also those that the product had",
    options={"max_connections": "25"},
)
def connections_exhausted(trial: Trial) -> None:
    ours: list[psycopg.Connection[Any]] = [trial.deployment.connect()]
    try:
        ends_at = time.monotonic() + AWAY_SECONDS
        while time.monotonic() < ends_at:
            # What somebody lets go of is taken at once.
            ours[0].execute(HANG_UP, [[line.info.backend_pid for line in ours]])
            with contextlib.suppress(psycopg.OperationalError):
                while True:
                    ours.append(trial.deployment.connect())
            time.sleep(0.2)
    finally:
        for line in ours:
            line.close()


@fault(
    "pool-exhausted",
    "every connection of a web process waits for a lock that somebody holds",
    extra={"MEMORY_WEB_CONNECTIONS": "2"},
)
def pool_exhausted(trial: Trial) -> None:
    with trial.deployment.connect() as line, line.transaction():
        _hold_owners(line)
        trial.calm(2 * AWAY_SECONDS)


@fault("owner-locked", "somebody holds the lock of every person's writes")
def owner_locked(trial: Trial) -> None:
    with trial.deployment.connect() as line, line.transaction():
        _hold_owners(line)
        trial.calm(HELD_SECONDS)


@fault("rows-locked", "somebody holds every row of memory")
def rows_locked(trial: Trial) -> None:
    with trial.deployment.connect() as line, line.transaction():
        line.execute("SELECT FROM junior_memory_memory FOR UPDATE")
        trial.calm(HELD_SECONDS)


@fault("table-locked", "somebody holds the table of memory, against reading too")
def table_locked(trial: Trial) -> None:
    with trial.deployment.connect() as line, line.transaction():
        line.execute("LOCK TABLE junior_memory_memory IN ACCESS EXCLUSIVE MODE")
        trial.calm(HELD_SECONDS)


def _hold_owners(line: psycopg.Connection[Any]) -> None:
    for (user_id,) in line.execute("SELECT id FROM junior_memory_user").fetchall():
        line.execute(LOCK, [owner_lock(user_id)])


@contextlib.contextmanager
def small_disk(deployment: Deployment) -> Iterator[None]:
    """Put the server's data on a disk of its own with little room. Raises Skipped."""
    place, aside = deployment.directory, deployment.folder / "aside"
    place.rename(aside)
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=0700", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise Skipped(f"a small disk cannot be mounted here ({made.stderr.strip()})")
    try:
        shutil.copytree(aside, place, dirs_exist_ok=True)
        yield
    finally:
        subprocess.run(["umount", str(place)], check=False)


@fault(
    "disk-full",
    "the disk of the server is full for a while",
    own_server=False,
    around=small_disk,
)
def disk_full(trial: Trial) -> None:
    ballast = trial.deployment.directory / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 65_536)
    trial.calm(2 * AWAY_SECONDS)
    ballast.unlink()
