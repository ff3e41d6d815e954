"""A real deployment in a folder of its own: PostgreSQL, web processes, workers, a model double.

The server is the embedded one, either as the product starts it, or (`own_server`) held by this
process and named to the product by address, so that it can be stopped, kept away and started again.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from junior_memory.database import embedded
from junior_memory.database.supervisor import SUPERUSER
from tests.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[2]
DATABASE = "junior_memory"
PEOPLE = 4
READY_SECONDS = 120.0
OURS = ("MEMORY_", "OPENAI_", "AI_MEMORY", "DATABASE_URL", "DJANGO_", "EMAIL_", "METRICS_")
"""Settings of whoever runs this; a deployment gets none of them."""

SET_UP = """
import json, os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")
import django
django.setup()
from junior_memory import people
from junior_memory.audit import Doer
from junior_memory.candidates import ActorRef
doer = Doer(via="command")
agent, _ = people.agent_named("default")
agent.extract = True
agent.save(update_fields=["extract"])
_, host = people.create_agent_token(agent, scopes=["recall", "sessions", "tools"], doer=doer)
from django.conf import settings
from django.contrib import auth
from django.contrib.sessions.backends.db import SessionStore
tokens, cookies = [], []
for number in range(int(sys.argv[1])):
    user = people.create_person(f"person{number}@example.com")
    actor = ActorRef("web", "faults", str(number))
    people.link_identity(people.identity_for(actor), user, doer=doer)
    tokens.append(people.create_personal_token(user, scopes=["read", "write"], doer=doer)[1])
    kept = SessionStore()
    kept[auth.SESSION_KEY] = str(user.pk)
    kept[auth.BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    kept[auth.HASH_SESSION_KEY] = user.get_session_auth_hash()
    kept.create()
    cookies.append(f"{settings.SESSION_COOKIE_NAME}={kept.session_key}")
boss = people.create_person("staff@example.com", staff=True)
_, staff = people.create_personal_token(boss, scopes=["read", "report"], doer=doer)
print(json.dumps({"host": host, "staff": staff, "people": tokens, "cookies": cookies}))
"""


class NotReady(Exception):
    """A process of the deployment did not come up, or did not come back."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Who may call: the assistant's host, and each person by number."""

    host: str
    staff: str
    people: tuple[str, ...]
    cookies: tuple[str, ...]
    """What the browser of each person sends, who is signed in."""


@dataclass
class Deployment:
    """Everything of one deployment; `stop` ends what it started."""

    folder: Path
    model: ModelServer
    tokens: Tokens
    own_server: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    """Settings of the server, for one that this process starts."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Settings of the product on top of the usual ones."""
    code: Path = ROOT
    launcher: tuple[str, ...] = ()
    """A program that runs those of the product, with its arguments."""
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        """Where the server keeps its data."""
        return self.folder / "postgres"

    @property
    def port(self) -> int:
        """Where the first web process listens."""
        return self.ports["web"]

    def environment(self, **extra: str) -> dict[str, str]:
        """Return what a process of this deployment is told."""
        given = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        given |= {
            "MEMORY_DATA_DIR": str(self.folder),
            "MEMORY_EMBEDDER": "openai",
            "MEMORY_EMBEDDING_MODEL": "double-48",
            "AI_MEMORY_MODEL": "gpt-4.1-mini",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": self.model.url,
            "MEMORY_MODEL_TIMEOUT_MS": "5000",
            "MEMORY_TOKEN_WRITES_PER_MINUTE": "1000000",
            "MEMORY_TOKEN_READS_PER_MINUTE": "1000000",
            "MEMORY_LOG_LEVEL": "DEBUG",
        }
        if self.own_server:
            host = quote((self.directory / "socket").read_text(encoding="utf-8"), safe="")
            given["DATABASE_URL"] = f"postgres://{SUPERUSER}@/{DATABASE}?host={host}"
        return given | dict(self.extra) | extra

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the database beside the product; a row for each of what it answers."""
        with self.connect() as line:
            cursor = line.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """Open a connection of one's own."""
        return psycopg.connect(
            host=(self.directory / "socket").read_text(encoding="utf-8"),
            user=SUPERUSER,
            dbname=DATABASE,
            autocommit=True,
            connect_timeout=5,
        )

    # The server.

    def start_server(self) -> None:
        """Start the server, as its user."""
        embedded.use_server(self.directory, options=self.options)

    def postmaster(self) -> int:
        """Return the server's process id."""
        path = self.directory / "cluster" / "postmaster.pid"
        return int(path.read_text(encoding="ascii").split()[0])

    def stop_server(self, number: signal.Signals) -> None:
        """Signal the server and wait until all of it is gone.

        One that the product starts again by itself may be there anew before anybody looks.
        """
        master = self.postmaster()
        os.kill(master, number)

        def is_gone() -> bool:
            if not self.own_server and not is_alive(master):
                return True
            return not embedded._is_running(self.directory)

        wait_for(is_gone, seconds=60)

    def server_processes(self) -> list[int]:
        """Return the ids of the server and of all its processes."""
        master = self.postmaster()
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(master)], capture_output=True, text=True, check=False
        )
        return [master, *map(int, found.stdout.split())]

    # The product.

    def manage(self, *arguments: str, seconds: float = 120, **extra: str) -> str:
        """Run one management command to its end and return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=self.code,
            env=self.environment(**extra),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise NotReady(f"manage.py {arguments[0]}: {said[-1] if said else done.returncode}")
        return done.stdout

    def start_web(self, name: str = "web", *, code: Path | None = None, **extra: str) -> None:
        """Start a web process; under its name it keeps its port."""
        port = self.ports.setdefault(name, free_port())
        command = ["-m", "uvicorn", "junior_memory.asgi:application", "--no-access-log"]
        self._start(name, [*command, "--port", str(port)], code or self.code, extra)

    def start_worker(
        self, name: str = "worker", *arguments: str, code: Path | None = None, **extra: str
    ) -> None:
        """Start a worker."""
        self._start(name, ["manage.py", "worker", *arguments], code or self.code, extra)

    def _start(self, name: str, command: list[str], code: Path, extra: Mapping[str, str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, *self.launcher, *command],
                cwd=code,
                env=self.environment(**extra),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self, name: str) -> None:
        """End a process at once, whatever it is doing."""
        process = self.running.pop(name)
        process.kill()
        process.wait(30)

    def end(self, name: str) -> None:
        """Ask a process to end, as an operator does, and wait."""
        process = self.running.pop(name)
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise NotReady(f"{name} did not end when it was asked to") from None

    def is_ready(self, name: str = "web") -> bool:
        """True when /readyz says so."""
        return self.ask(name, "/readyz")[0] == 200

    def ask(self, name: str, path: str, *, seconds: float = 10) -> tuple[int, Any]:
        """Return status and JSON of one address; 0 when nobody answers."""
        line = http.client.HTTPConnection("127.0.0.1", self.ports[name], timeout=seconds)
        try:
            line.request("GET", path)
            answer = line.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, ValueError, http.client.HTTPException):
            return 0, None
        finally:
            line.close()

    def await_ready(self, name: str = "web", *, seconds: float = READY_SECONDS) -> float:
        """Wait until /readyz says so; returns the seconds that it took."""
        began = time.monotonic()
        try:
            wait_for(lambda: self.is_ready(name), seconds=seconds)
        except NotReady:
            _, said = self.ask(name, "/readyz")
            raise NotReady(f"{name} is not ready after {seconds:.0f} s: {said}") from None
        return time.monotonic() - began

    def logs(self) -> Iterator[tuple[str, str]]:
        """Return every line of every log: ours, and the server's own."""
        for path in [*self.folder.glob("*.log"), self.directory / "server.log"]:
            with contextlib.suppress(FileNotFoundError):
                for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                    yield path.name, line

    def stop(self) -> None:
        """End every process and the server."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
        self.running.clear()
        embedded.release_server(self.directory)
        deadline = time.monotonic() + 40
        while embedded._is_running(self.directory) and time.monotonic() < deadline:
            time.sleep(0.05)


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def is_alive(pid: int) -> bool:
    """True while there is a process of that number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def wait_for(condition: Callable[[], bool], *, seconds: float) -> None:
    """Wait until something is so; raises NotReady when it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise NotReady(f"it did not happen within {seconds:.0f} s")
        time.sleep(0.1)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards; any account may walk through it, as a server's must."""
    folder = Path(tempfile.mkdtemp(prefix="jm-faults-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_seed(folder: Path, model: ModelServer) -> Tokens:
    """Fill a folder with a migrated deployment of a few people; returns their tokens."""
    folder.mkdir(mode=0o755)
    seed = Deployment(folder, model, Tokens("", "", (), ()))
    try:
        server = embedded.use_server(seed.directory)
        embedded.create_database_if_absent(server, DATABASE)
        seed.manage("migrate", "--verbosity", "0")
        done = subprocess.run(
            [sys.executable, "-c", SET_UP, str(PEOPLE)],
            cwd=ROOT,
            env=seed.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise NotReady(f"nobody could be made: {done.stderr.strip().splitlines()[-1]}")
        said = json.loads(done.stdout)
        return Tokens(said["host"], said["staff"], tuple(said["people"]), tuple(said["cookies"]))
    finally:
        seed.stop()


def copied(seed: Path, folder: Path) -> None:
    """Copy a stopped deployment's folder."""
    shutil.copytree(seed, folder, ignore=shutil.ignore_patterns("*.log", "socket", "*.lock"))
