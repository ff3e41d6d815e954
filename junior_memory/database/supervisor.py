"""The process that owns an embedded PostgreSQL server.

Run as a script, `python -I -S supervisor.py <plan as JSON>`, and written with the standard library
alone. The foreground half takes the server's lock, gives up root, creates the cluster when there
is none and reports what went wrong; then it leaves itself in the background and starts PostgreSQL.
Whoever runs it gives it a session of its own, so that no Ctrl-C of a terminal reaches the server.

It stops the server when nobody uses it any more. That moment is told by the kernel: every user
holds a shared lock on `users.lock`, and the supervisor waits for the exclusive one. A user that
exits, is interrupted or is killed outright lets go of its lock in the same way, so nothing has to
be cleaned up by a process that no longer exists.
"""

import contextlib
import ctypes
import fcntl
import json
import locale
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

SUPERUSER = "junior_memory"
STOP_TIMEOUT_SECONDS = 30.0
LOG_LIMIT_BYTES = 1_000_000

PR_SET_PDEATHSIG = 1
PR_SET_SECUREBITS = 28
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
SECBIT_NO_SETUID_FIXUP = 1 << 2
CAP_DAC_OVERRIDE = 1
CAP_VERSION_3 = 0x20080522


class Plan(NamedTuple):
    """What the user asks for; absolute paths; uid and gid are None unless root is to be left."""

    directory: str
    programs: str
    socket_directory: str
    uid: int | None
    gid: int | None
    options: Mapping[str, str]

    @property
    def cluster(self) -> Path:
        """PostgreSQL's data, complete once it exists."""
        return Path(self.directory) / "cluster"

    @property
    def durable(self) -> bool:
        """Whether the data is meant to survive the machine."""
        return self.options.get("fsync", "on") != "off"


class SupervisorError(Exception):
    """The server cannot be started; the message says why and, where we know, what to do."""


def run(plan: Plan) -> None:
    """Start the server of `plan` and stay with it in the background until nobody uses it."""
    os.umask(0o077)
    os.chdir("/")
    users = os.open(Path(plan.directory) / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
    server = os.open(Path(plan.directory) / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    _take(server)
    if plan.uid is not None and plan.gid is not None:
        os.fchown(users, plan.uid, plan.gid)
        os.fchown(server, plan.uid, plan.gid)
        _leave_root(plan, uid=plan.uid, gid=plan.gid)
    environment = {
        name: os.environ[name]
        for name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH")
        if name in os.environ
    } | {"LC_ALL": "C"}
    if not plan.cluster.exists():
        _create_cluster(plan, environment=environment, server_lock=server)
    # We hold the server's lock and every process of a server inherits it: none is left, so a pid
    # file is a dead server's and the number in it, reused by a stranger, must not stop us.
    (plan.cluster / "postmaster.pid").unlink(missing_ok=True)
    _clear(Path(plan.socket_directory))
    log = _open_log(Path(plan.directory) / "server.log")
    _go_to_background(log)
    _supervise(plan, environment=environment, users_lock=users, server_lock=server, log=log)


def _clear(socket_directory: Path) -> None:
    """Remove what a killed server leaves in its socket's folder."""
    for leftover in socket_directory.glob(".s.PGSQL.*"):
        leftover.unlink(missing_ok=True)


def _take(lock: int) -> None:
    """Take the server's lock; those who only look hold it for an instant."""
    deadline = time.monotonic() + 5.0
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise SupervisorError("a server is already running in this directory") from None
            time.sleep(0.01)
        else:
            return


def _leave_root(plan: Plan, *, uid: int, gid: int) -> None:
    """Become the account the server runs as: PostgreSQL refuses root.

    A checkout below a folder that only root may enter (`/root`) stays usable: then, and only then,
    the account keeps the one capability that lets root walk through folders. Nothing is imported
    after this: Python's own library may lie in such a folder as well.
    """
    keep = not _can_reach(plan, uid=uid, gid=gid)
    try:
        if keep:
            _call("prctl", PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
        if keep:
            _keep_only(CAP_DAC_OVERRIDE)
    except (OSError, AttributeError) as error:
        raise SupervisorError(
            f"PostgreSQL does not run as root, and becoming uid {uid}"
            f"{', which may not enter these folders by itself,' if keep else ''} failed ({error}). "
            "Run as an ordinary user, or set DATABASE_URL to a server of your own."
        ) from error


def _can_reach(plan: Plan, *, uid: int, gid: int) -> bool:
    """Whether that account, without any privilege, can enter the data and run the programs."""
    child = os.fork()
    if child == 0:
        reachable = False
        try:
            os.setgroups([])
            os.setgid(gid)
            os.setuid(uid)
            programs = Path(plan.programs)
            reachable = all(
                os.access(path, os.R_OK | os.W_OK | os.X_OK)
                for path in (plan.directory, plan.socket_directory)
            ) and all(
                os.access(path, os.R_OK | os.X_OK)
                for path in (
                    programs / "postgres",
                    programs / "initdb",
                    programs.parent / "lib",
                )
            )
        finally:
            os._exit(0 if reachable else 1)
    return os.waitpid(child, 0)[1] == 0


def _keep_only(capability: int) -> None:
    """Reduce this process, and what it executes, to one capability."""
    bits = 1 << capability
    header = (ctypes.c_uint32 * 2)(CAP_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(bits, bits, bits, 0, 0, 0)
    _call("capset", header, sets)
    _call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0)


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library; OSError when it fails."""
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _create_cluster(plan: Plan, *, environment: Mapping[str, str], server_lock: int) -> None:
    """Create the cluster beside its final place and move it there when it is complete."""
    partial = plan.cluster.with_name("cluster.partial")
    if partial.exists():
        shutil.rmtree(partial)
    command = [
        str(Path(plan.programs) / "initdb"),
        f"--pgdata={partial}",
        f"--username={SUPERUSER}",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        f"--lc-ctype={_character_type()}",
        "--data-checksums",
        "--no-instructions",
    ]
    if not plan.durable:
        command.append("--no-sync")
    # Not the caller's lock alone: a killed initdb's children hold it too, until they are gone.
    done = subprocess.run(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment,
        pass_fds=(server_lock,),
        check=False,
    )
    if done.returncode != 0:
        raise SupervisorError(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")
    # The socket's folder, entered by its owner alone, is the door; there is no other.
    (partial / "pg_hba.conf").write_text("local all all trust\n", encoding="utf-8")
    partial.rename(plan.cluster)


def _character_type() -> str:
    """C.UTF-8 where the system knows it (letters beyond ASCII are letters), else C."""
    try:
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    except locale.Error:
        return "C"
    return "C.UTF-8"


def _open_log(path: Path) -> int:
    """Open the server's log, starting it anew once it has grown past its limit."""
    try:
        full = path.stat().st_size > LOG_LIMIT_BYTES
    except FileNotFoundError:
        full = False
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if full else 0)
    return os.open(path, flags, 0o600)


def _go_to_background(log: int) -> None:
    """Let the foreground half end well; go on as nobody's child, with the log as output."""
    if os.fork() != 0:
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)


def _supervise(
    plan: Plan,
    *,
    environment: Mapping[str, str],
    users_lock: int,
    server_lock: int,
    log: int,
) -> None:
    command = [
        str(Path(plan.programs) / "postgres"),
        "-D",
        str(plan.cluster),
        *server_arguments(plan.options, socket_directory=plan.socket_directory),
    ]
    server = subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=environment,
        pass_fds=(server_lock,),
        preexec_fn=_end_with_parent(),  # no thread runs yet
    )
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: server.send_signal(signal.SIGINT))

    def stop_when_unused() -> None:
        fcntl.flock(users_lock, fcntl.LOCK_EX)
        server.send_signal(signal.SIGINT)
        time.sleep(STOP_TIMEOUT_SECONDS)
        server.send_signal(signal.SIGQUIT)

    threading.Thread(target=stop_when_unused, daemon=True).start()
    server.wait()
    _clear(Path(plan.socket_directory))
    with contextlib.suppress(OSError):
        Path(plan.socket_directory).rmdir()


def _end_with_parent() -> Callable[[], None]:
    """For the server's start: be told to stop (fast) should the supervisor itself be killed."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    library = ctypes.CDLL(None)

    def ask() -> None:
        library.prctl(PR_SET_PDEATHSIG, int(signal.SIGINT), 0, 0, 0)

    return ask


def server_arguments(options: Mapping[str, str], *, socket_directory: str) -> Sequence[str]:
    """The server's settings as arguments, which neither its files nor ALTER SYSTEM override.

    Nothing that people wrote reaches the log: errors, whose texts quote values, are not logged at
    all, statements and parameters never, and what is logged is logged without detail.
    """
    quoted = socket_directory.replace('"', '""')
    chosen = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{quoted}"',
        "unix_socket_permissions": "0700",
        "port": "5432",
        "logging_collector": "off",
        "log_destination": "stderr",
        "log_line_prefix": "%m [%p] ",
        "log_min_messages": "log",
        "log_error_verbosity": "terse",
        "log_min_error_statement": "panic",
        "log_parameter_max_length": "0",
        "log_parameter_max_length_on_error": "0",
        "log_statement": "none",
        "log_checkpoints": "off",
        "log_autovacuum_min_duration": "-1",
        "log_timezone": "UTC",
        "timezone": "UTC",
        "shared_buffers": "128MB",
        "max_connections": "100",
        "max_wal_size": "512MB",
        # Parallel plans want shared memory that small containers do not have.
        "max_parallel_workers_per_gather": "0",
        "max_parallel_maintenance_workers": "0",
        "jit": "off",
        **options,
    }
    return [part for name, value in chosen.items() for part in ("-c", f"{name}={value}")]


def main(argument: str) -> NoReturn:
    """Run the plan in `argument`; what stands against it becomes the one line of stderr."""
    try:
        run(Plan(**json.loads(argument)))
    except SupervisorError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{error.strerror}: {error.filename}")
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
