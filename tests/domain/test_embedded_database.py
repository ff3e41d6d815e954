"""The embedded server's life, with real servers and real processes in folders of their own."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from junior_memory.database import embedded

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

ROOT = Path(__file__).resolve().parents[2]
FAST = {"fsync": "off"}
AS_ROOT = os.geteuid() == 0

USER_PROGRAM = """
import sys
from pathlib import Path
from junior_memory.database import embedded
server = embedded.use_server(Path(sys.argv[1]), options={"fsync": "off"})
print(server.host, flush=True)
sys.stdin.read()
"""

# Starts the server, forks, and ends the parent at once: the child goes on using it.
FORKING_PROGRAM = """
import os, sys
from pathlib import Path
from junior_memory.database import embedded
server = embedded.use_server(Path(sys.argv[1]), options={"fsync": "off"})
if os.fork():
    sys.exit(0)
print(os.getpid(), flush=True)
sys.stdin.read()
embedded.release_server(Path(sys.argv[1]))
print("released", flush=True)
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder anyone may enter, removed with every server in it stopped."""
    folder = Path(tempfile.mkdtemp(prefix="jm-test-"))
    folder.chmod(0o755)
    yield folder
    for lock in folder.rglob("server.lock"):
        embedded.release_server(lock.parent)
        until_stopped(lock.parent)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def created() -> Iterator[Path]:
    """A directory whose cluster is there, for the tests that are not about its creation."""
    folder = Path(tempfile.mkdtemp(prefix="jm-test-"))
    folder.chmod(0o755)
    embedded.use_server(folder / "p", options=FAST)
    embedded.release_server(folder / "p")
    yield folder / "p"
    shutil.rmtree(folder)


@pytest.fixture
def directory(created: Path) -> Iterator[Path]:
    """A directory whose server has run before, and does not run before or after the test."""
    assert not is_running(created)
    yield created
    embedded.release_server(created)
    until_stopped(created)


@pytest.fixture
def start_user() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Start processes that use a server until they are told, or killed, to stop."""
    started: list[subprocess.Popen[str]] = []

    def start(
        directory: Path,
        program: str = USER_PROGRAM,
        *,
        python: str = sys.executable,
        **how: Any,
    ) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [python, "-c", program, str(directory)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **how,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def is_running(directory: Path) -> bool:
    """Whether any process still holds the server's lock."""
    return embedded._is_running(directory)


def until(happens: Callable[[], bool], *, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def until_stopped(directory: Path) -> None:
    until(lambda: not is_running(directory))


def ask(directory: Path, statement: str = "SELECT 1") -> Any:
    """Ask the running server of a directory without becoming a user of it."""
    host = (directory / "socket").read_text(encoding="utf-8")
    with psycopg.connect(
        host=host, port=5432, user="junior_memory", dbname="postgres", autocommit=True
    ) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row and row[0]


def keep_something(directory: Path) -> int:
    """Commit a new number to the server's data."""
    number = time.monotonic_ns()
    ask(directory, "DROP TABLE IF EXISTS kept")
    ask(directory, f"CREATE TABLE kept AS SELECT {number}::bigint AS n")
    return number


def postmaster(directory: Path) -> int:
    return int((directory / "cluster" / "postmaster.pid").read_text().split("\n")[0])


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if parent(int(entry.name)) == pid:
                found.append(int(entry.name))
    return found


def becoming(account: pwd.struct_passwd) -> dict[str, Any]:
    """How to start a Python of our version, with our packages, as an ordinary account."""
    packages = Path(psycopg.__file__).parents[1]
    how: dict[str, Any] = {
        "user": account.pw_uid,
        "group": account.pw_gid,
        "extra_groups": [],
        "env": {"PYTHONPATH": f"{ROOT}:{packages}", "PYTHONDONTWRITEBYTECODE": "1"},
    }
    for python in (sys.executable, "/usr/bin/python3.11"):
        with contextlib.suppress(OSError):
            tried = subprocess.run(
                [python, "-c", "import junior_memory, psycopg"], cwd=ROOT, check=False, **how
            )
            if tried.returncode == 0:
                return {**how, "python": python}
    pytest.skip("this account cannot run a Python of this version")


@pytest.mark.parametrize(
    "name",
    ["a folder with spaces", "quo'te\"s, comma & ünï", "/".join(["long-" + "x" * 60] * 8)],
    ids=["spaces", "punctuation", "very-long"],
)
def test_server_starts_wherever_its_folder_is(place: Path, name: str) -> None:
    directory = place / name / "postgres"
    server = embedded.use_server(directory, options=FAST)
    assert ask(directory, "SHOW server_encoding") == "UTF8"
    assert ask(directory, "SHOW data_checksums") == "on"
    assert ask(directory, "SELECT lower('ÄÉ') = 'äé'")
    assert len(os.fsencode(f"{server.host}/.s.PGSQL.5432")) <= 107
    embedded.release_server(directory)
    assert not is_running(directory)
    assert not Path(server.host).exists()


def test_server_listens_in_a_closed_folder_and_nowhere_else(directory: Path) -> None:
    server = embedded.use_server(directory, options=FAST)
    assert Path(server.host).stat().st_mode & 0o777 == 0o700
    assert (directory).stat().st_mode & 0o777 == 0o700
    assert ask(directory, "SHOW listen_addresses") == ""


def test_server_outlives_the_first_of_two_users_and_stops_with_the_last(
    directory: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    first, second = start_user(directory), start_user(directory)
    assert first.stdout
    assert second.stdout
    assert first.stdout.readline() == second.stdout.readline()
    server = postmaster(directory)
    first.communicate("")
    assert ask(directory) == 1
    assert postmaster(directory) == server
    second.communicate("")
    assert not is_running(directory), "the last user returned before the server had stopped"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_server_stops_by_itself_when_its_only_user_is_killed(
    directory: Path, start_user: Callable[..., "subprocess.Popen[str]"], number: signal.Signals
) -> None:
    user = start_user(directory, stderr=subprocess.DEVNULL)
    assert user.stdout
    user.stdout.readline()
    written = keep_something(directory)
    user.send_signal(number)
    until_stopped(directory)
    embedded.use_server(directory, options=FAST)
    assert ask(directory, "SELECT n FROM kept") == written


def test_interrupt_of_a_terminal_does_not_reach_the_server(
    directory: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    starter = start_user(directory, start_new_session=True, stderr=subprocess.DEVNULL)
    assert starter.stdout
    starter.stdout.readline()
    other = start_user(directory)
    assert other.stdout
    other.stdout.readline()
    server = postmaster(directory)
    os.killpg(starter.pid, signal.SIGINT)
    starter.wait()
    assert ask(directory) == 1
    assert postmaster(directory) == server


def test_forked_child_keeps_the_server_after_its_parent_ended(
    directory: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    process = start_user(directory, FORKING_PROGRAM)
    assert process.stdout
    assert process.stdin
    process.stdout.readline()
    process.wait()
    time.sleep(0.1)
    assert ask(directory) == 1
    process.stdin.close()
    assert process.stdout.readline() == "released\n"
    assert not is_running(directory)


def test_server_starts_after_everything_was_killed(
    directory: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    user = start_user(directory)
    assert user.stdout
    user.stdout.readline()
    written = keep_something(directory)
    server = postmaster(directory)
    for pid in (user.pid, parent(server), server):
        os.kill(pid, signal.SIGKILL)
    until_stopped(directory)
    pid_file = directory / "cluster" / "postmaster.pid"
    owner = pid_file.stat().st_uid
    # The number in a stale pid file may be a stranger's by now: one of the same account, alive.
    stranger = subprocess.Popen(["sleep", "60"], user=owner if AS_ROOT else None)
    pid_file.write_text(pid_file.read_text().replace(str(server), str(stranger.pid), 1))
    try:
        embedded.use_server(directory, options=FAST)
    finally:
        stranger.kill()
        stranger.wait()
    assert ask(directory, "SELECT n FROM kept") == written


def test_crashed_server_comes_back_at_the_same_address_while_it_is_in_use(directory: Path) -> None:
    before = embedded.use_server(directory, options=FAST)
    os.kill(postmaster(directory), signal.SIGKILL)
    until(lambda: not embedded._is_ready(directory))
    assert embedded.use_server(directory, options=FAST) == before
    assert ask(directory) == 1


def test_server_stops_when_its_supervisor_is_killed(directory: Path) -> None:
    embedded.use_server(directory, options=FAST)
    server = postmaster(directory)
    supervisor = parent(server)
    os.kill(server, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGKILL)
    until(lambda: parent(server) != supervisor)
    assert is_running(directory), "a server that is still there is taken for gone"
    os.kill(server, signal.SIGCONT)
    until_stopped(directory)
    embedded.use_server(directory, options=FAST)
    assert ask(directory) == 1


def test_interrupted_creation_is_done_again(
    place: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    directory = place / "p"
    user = start_user(directory)
    until((directory / "cluster.partial" / "PG_VERSION").exists)
    (supervisor,) = children(user.pid)
    user.kill()
    os.killpg(supervisor, signal.SIGKILL)
    assert not (directory / "cluster").exists()
    embedded.use_server(directory, options=FAST)
    assert ask(directory) == 1
    assert not (directory / "cluster.partial").exists()


def test_concurrent_first_starts_share_one_server(
    place: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    users = [start_user(place / "p") for _ in range(4)]
    hosts = {user.stdout.readline() for user in users if user.stdout}
    assert len(hosts) == 1
    assert hosts != {""}
    for user in users:
        user.communicate("")
    assert [user.returncode for user in users] == [0, 0, 0, 0]
    assert not is_running(place / "p")


@pytest.mark.skipif(not AS_ROOT, reason="only root can become someone else")
def test_ordinary_user_runs_a_server(
    place: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(place, nobody.pw_uid, nobody.pw_gid)
    user = start_user(place / "p", **becoming(nobody))
    assert user.stdout
    user.stdout.readline()
    assert ask(place / "p") == 1
    assert Path(f"/proc/{postmaster(place / 'p')}").stat().st_uid == nobody.pw_uid


@pytest.mark.skipif(not AS_ROOT, reason="only root can become someone else")
def test_root_shares_a_server_with_the_owner_of_the_folder(
    place: Path, start_user: Callable[..., "subprocess.Popen[str]"]
) -> None:
    owner = pwd.getpwnam("daemon")
    os.chown(place, owner.pw_uid, owner.pw_gid)
    embedded.use_server(place / "data" / "p", options=FAST)
    assert Path(f"/proc/{postmaster(place / 'data' / 'p')}").stat().st_uid == owner.pw_uid
    embedded.release_server(place / "data" / "p")
    user = start_user(place / "data" / "p", **becoming(owner))
    assert user.stdout
    assert user.stdout.readline()
    assert ask(place / "data" / "p") == 1


@pytest.mark.skipif(not AS_ROOT, reason="only root can close a folder to the server's account")
def test_root_runs_a_server_below_a_folder_closed_to_everyone_else(place: Path) -> None:
    place.chmod(0o700)
    embedded.use_server(place / "p", options=FAST)
    status = Path(f"/proc/{postmaster(place / 'p')}/status").read_text()
    assert ask(place / "p") == 1
    assert "Uid:\t0" not in status
    assert f"CapEff:\t{1 << 1:016x}" in status, "it holds more than the right to enter folders"


@pytest.mark.skipif(not AS_ROOT, reason="only root drops privileges")
def test_root_leaves_the_server_no_privilege_that_it_does_not_need(directory: Path) -> None:
    embedded.use_server(directory, options=FAST)
    status = Path(f"/proc/{postmaster(directory)}/status").read_text()
    assert "Uid:\t0" not in status
    assert f"CapEff:\t{0:016x}" in status


def test_data_of_another_major_version_is_refused_with_a_remedy(place: Path) -> None:
    (place / "p" / "cluster").mkdir(parents=True)
    (place / "p" / "cluster" / "PG_VERSION").write_text("16\n")
    with pytest.raises(embedded.EmbeddedServerError, match=r"PostgreSQL 16; .*restore the dump"):
        embedded.use_server(place / "p")


def test_broken_data_is_reported_with_the_servers_last_words(directory: Path) -> None:
    control = directory / "cluster" / "global" / "pg_control"
    control.rename(control.with_name("taken away"))
    try:
        with pytest.raises(embedded.EmbeddedServerError, match="pg_control"):
            embedded.use_server(directory, options=FAST)
    finally:
        control.with_name("taken away").rename(control)


def test_socket_folder_that_others_may_enter_is_not_used_again(directory: Path) -> None:
    first = embedded.use_server(directory, options=FAST)
    embedded.release_server(directory)
    Path(first.host).mkdir()
    Path(first.host).chmod(0o777)
    owner = (directory / "cluster").stat()
    os.chown(first.host, owner.st_uid, owner.st_gid)
    try:
        assert embedded.use_server(directory, options=FAST).host != first.host
    finally:
        Path(first.host).rmdir()


def test_programs_of_the_servers_own_version_reach_it(directory: Path) -> None:
    server = embedded.use_server(directory, options=FAST)
    embedded.create_database_if_absent(server, "my notes")
    dump = subprocess.run(
        [embedded.binary("pg_dump"), "--dbname", server.url("my notes")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "PostgreSQL database dump complete" in dump.stdout
    with pytest.raises(embedded.EmbeddedServerError, match="no program"):
        embedded.binary("pg_nonesuch")


def test_settings_start_nothing(tmp_path: Path) -> None:
    program = "import django; django.setup(); from django.db import connection; print(connection)"
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"DJANGO_SETTINGS_MODULE": "junior_memory.settings", "MEMORY_DATA_DIR": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    assert not (tmp_path / "postgres").exists()
