"""The drill: a dump comes back in an empty server, table by table, and holds nothing erased."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from junior_memory import backups, forgetting
from junior_memory.access import person
from junior_memory.database import embedded
from junior_memory.doctor import Finding, State
from junior_memory.models import Memory, MemoryEmbedding
from tests import processes
from tests.cast import make_cast
from tests.factories import BY_TEST, make_memory

ERASED = "Keeps bees behind the boathouse."
FORGOTTEN = "Collects harpsichord recordings."
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def place(settings: Any, tmp_path: Path) -> Path:
    """A data directory of the test's own, for the drill's server."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def lived(settings: Any) -> None:
    """Some history: remembered, corrected, forgotten, erased, with vectors."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    cast = make_cast()
    for number in range(20):
        make_memory(content=f"Fact number {number} – “naïve” ✓ \\ \t", owner=cast.alice)
    make_memory(content="The team meets on Tuesdays.", visibility="org", org=cast.org)
    kept = make_memory(content=FORGOTTEN, owner=cast.bob)
    forgetting.forget(person(cast.bob), kept.pk, doer=BY_TEST)
    gone = make_memory(content=ERASED, owner=cast.alice)
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST)
    Memory.objects.filter(pk=gone.pk).update(purge_at=timezone.now() - timedelta(days=1))
    assert forgetting.purge_due() == 1


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def plain_text(dump: Path) -> str:
    """Return a dump as the statements that it stands for."""
    done = subprocess.run(
        [str(embedded.binary("pg_restore")), "--file=-", str(dump)],
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


def test_dump_comes_back_whole_in_an_empty_server(
    lived: None, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = place / "last-night.dump"
    out = StringIO()
    run = backups._run

    def run_meanwhile(program: str, *arguments: str, address: backups.Address) -> None:
        """The service goes on between counting and dumping: both are of one moment."""
        Memory.objects.filter(content__startswith="Fact number 3").delete()
        run(program, *arguments, address=address)

    monkeypatch.setattr(backups, "_run", run_meanwhile)
    call_command("backup", str(dump), stdout=out)
    assert re.search(r"\d+ tables, \d+ rows, [\d,]+ bytes", out.getvalue())
    assert [path.stat().st_mode & 0o777 for path in (dump, backups.manifest_path(dump))] == [
        0o600,
        0o600,
    ]
    assert Memory.objects.count() == 22
    found = by_name(backups.drill(dump))
    assert {name: finding.state for name, finding in found.items()} == dict.fromkeys(
        ["tables", "fingerprint key", "indexes", "erasure", "vectors"], State.OK
    )
    manifest = backups.read_manifest(dump)
    assert manifest is not None
    assert manifest.tables["junior_memory_memory"].rows == 23
    assert f"{manifest.rows} rows: counts and checksums agree" in found["tables"].seen
    assert found["erasure"].seen == "nothing is left of the 1 erased memories"
    assert [path.name for path in place.glob("drill-*")] == []

    text = plain_text(dump)
    assert ERASED not in text
    assert "boathouse" not in text
    # And what README says of dumps: forgotten text is in them until it is erased.
    assert FORGOTTEN in text


def test_dump_of_another_moment_or_a_changed_one_is_refused(lived: None, place: Path) -> None:
    dump, later = place / "one.dump", place / "later.dump"
    backups.take(dump)
    Memory.objects.filter(content__startswith="Fact number 3").update(content="Fact number 4?")
    backups.take(later)
    path = backups.manifest_path(dump)
    backups.manifest_path(later).replace(path)
    found = by_name(backups.drill(dump))
    assert found["tables"].state is State.FAIL
    assert found["tables"].seen.startswith("1 of ")
    assert "junior_memory_memory (23 rows → 23 rows)" in found["tables"].seen

    # A row lost on the way is seen by count, and the command ends with 1.
    manifest = json.loads(path.read_text())
    manifest["tables"]["junior_memory_tombstone"]["rows"] += 1
    path.write_text(json.dumps(manifest))
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("restore", str(dump), check=True, stdout=out)
    assert ended.value.code == 1
    assert "FAIL  tables" in out.getvalue()


def test_other_key_is_said_and_missing_vectors_are_the_workers(
    lived: None, place: Path, settings: Any
) -> None:
    dump = place / "one.dump"
    backups.take(dump, vectors=False)
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"fingerprint_keys": {"k1": "z" * 40}}
    found = by_name(backups.drill(dump))
    assert found["tables"].state is State.OK
    assert found["fingerprint key"].state is State.WARN
    assert "not the dump's" in found["fingerprint key"].seen
    assert found["vectors"].state is State.WARN
    assert found["vectors"].seen == "were left out: 21 active memories have none"
    assert MemoryEmbedding.objects.exists()


def test_dump_becomes_a_deployment_in_an_empty_data_directory(
    lived: None, place: Path, settings: Any
) -> None:
    dump = place / "one.dump"
    backups.take(dump)
    keys = settings.JUNIOR_MEMORY["fingerprint_keys"].items()
    new_home = {
        "DATABASE_URL": "",
        "MEMORY_DATA_DIR": str(place / "new"),
        "MEMORY_FINGERPRINT_KEY": ",".join(f"{key_id}:{key}" for key_id, key in keys),
    }
    done = processes.manage("restore", str(dump), **new_home)
    assert done.returncode == 0, done.stdout
    assert "counts and checksums agree" in done.stdout
    assert "Now run manage.py migrate" in done.stdout
    report = json.loads(processes.manage("doctor", "--quick", "--json", **new_home).stdout)
    wrong = [check["name"] for check in report["checks"] if check["state"] == "fail"]
    assert set(wrong) - {"disk"} == {"worker"}
    again = processes.manage("restore", str(dump), **new_home)
    assert again.returncode == 1
    assert "holds tables" in again.stderr


def test_restoring_over_data_is_refused(lived: None, place: Path) -> None:
    dump = place / "one.dump"
    backups.take(dump)
    before = backups.read_manifest(dump)
    with pytest.raises(CommandError, match="holds tables"):
        call_command("restore", str(dump), stdout=StringIO())
    assert before is not None
    assert Memory.objects.count() == before.tables["junior_memory_memory"].rows


def test_damaged_dump_fails_without_quoting_it(lived: None, place: Path) -> None:
    dump = place / "one.dump"
    backups.take(dump)
    raw = dump.read_bytes()
    dump.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(backups.BackupFailed) as failed:
        backups.drill(dump)
    assert "pg_restore failed" in str(failed.value)
    assert "Fact number" not in str(failed.value)
    assert [path.name for path in place.glob("drill-*")] == []
    with pytest.raises(CommandError, match="There is no dump"):
        call_command("restore", str(place / "none.dump"), check=True, stdout=StringIO())


def test_dump_that_cannot_be_made_leaves_the_old_one(
    lived: None, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = place / "one.dump"
    backups.take(dump)
    before = dump.read_bytes()
    monkeypatch.setattr(backups, "_run", failing)
    with pytest.raises(backups.BackupFailed):
        backups.take(dump)
    assert dump.read_bytes() == before
    assert [path.name for path in place.iterdir() if path.name.endswith(".partial")] == []


def failing(program: str, *_: str, address: backups.Address) -> None:
    raise backups.BackupFailed(f"{program} failed")
