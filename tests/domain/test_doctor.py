"""`manage.py doctor` on a healthy deployment and on broken ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from junior_memory import clock, compiled, doctor, embedder_health, forgetting
from junior_memory.access import person
from junior_memory.checks_database import QUIET_LOG
from junior_memory.database import embedded
from junior_memory.doctor import State, environment, server, work
from junior_memory.model_calls import record_attempts
from junior_memory.models import (
    CallTally,
    CompletedSession,
    EmbeddingModel,
    Memory,
    MemoryEmbedding,
    MemoryTally,
    ModelCall,
    VectorTally,
)
from junior_memory.providers import Attempt, ModelName
from junior_memory.querysets import MemoryQuerySet
from tests import processes
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory

SECRET = "Keeps bees behind the boathouse."
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _well(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was just seen, and a disk with room whatever this machine has."""
    worker_seen(seconds_ago=3)
    disk_with(50 * environment.GIB, monkeypatch)


@pytest.fixture
def fake_embedder(settings: Any) -> Iterator[None]:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    embedder_health.forget_answers()
    yield
    embedder_health.forget_answers()


def disk_with(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil._ntuple_diskusage(100 * environment.GIB, 0, free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: usage)


def worker_seen(*, seconds_ago: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")
        cursor.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (%s)",
            [timezone.now() - timedelta(seconds=seconds_ago)],
        )


def findings(**how: Any) -> dict[str, doctor.Finding]:
    return {finding.name: finding for finding in doctor.examine(quick=True, **how)}


def failed(**how: Any) -> list[str]:
    return [name for name, found in findings(**how).items() if found.state is State.FAIL]


def run(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("doctor", "--quick", *arguments, stdout=out)
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue()
    return 0, out.getvalue()


def test_a_healthy_deployment_has_nothing_to_do(cast: Cast, fake_embedder: None) -> None:
    make_memory(content=SECRET, owner=cast.alice)
    make_memory(content="The team meets on Tuesdays.", visibility="org", org=cast.org)
    make_memory(content="The office has a piano.", visibility="public")
    make_memory(
        content="Wants short answers here.",
        owner=cast.alice,
        visibility="session",
        conversation_id="c-1",
    )
    found = findings()
    assert {f.name: f.seen for f in found.values() if f.state is not State.OK} == {}
    assert found["fingerprint key"].seen == "recognises the newest 4 memories"
    assert found["vectors"].seen == "4 of 4 memories"
    assert len(found) == 24


def test_the_page_ends_well_and_as_json_too(cast: Cast) -> None:
    make_memory(content=SECRET, owner=cast.alice)
    code, page = run()
    assert code == 0
    assert "0 failed" in page
    code, report = run("--json")
    assert code == 0
    assert json.loads(report)["state"] == "ok"
    assert {check["state"] for check in json.loads(report)["checks"]} == {"ok"}


def test_a_failure_ends_with_one_and_its_remedy(cast: Cast) -> None:
    worker_seen(seconds_ago=3 * 3600)
    code, page = run()
    assert code == 1
    assert "FAIL  worker            silent for 3 h" in page
    assert "→ Start one: manage.py worker." in page
    assert json.loads(run("--json")[1])["state"] == "fail"


def test_content_is_never_printed(cast: Cast, fake_embedder: None) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    MemoryEmbedding.objects.filter(memory=memory).update(
        content_hash="x", visibility="public", batch=1
    )
    Memory.objects.filter(pk=memory.pk).update(search_vector=None, fingerprint="other$1")
    for page in (run()[1], run("--json")[1]):
        assert not [word for word in ("bees", "boathouse", "alice") if word in page.lower()]


# Broken set-ups, each by what fails, and nothing else does.


def test_wrong_fingerprint_key_is_found_under_the_same_id(cast: Cast, settings: Any) -> None:
    make_memory(content=SECRET, owner=cast.alice)
    key_id = next(iter(settings.JUNIOR_MEMORY["fingerprint_keys"]))
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"fingerprint_keys": {key_id: "z" * 40}}
    assert failed() == ["fingerprint key"]
    assert "kept with the backups" in findings()["fingerprint key"].remedy


def test_lost_fingerprint_key_is_named_by_its_id(cast: Cast, settings: Any) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    forgetting.forget(person(cast.alice), memory.pk, doer=BY_TEST)
    old = settings.JUNIOR_MEMORY["fingerprint_keys"]
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"fingerprint_keys": {"k9": "z" * 40}}
    assert failed() == ["fingerprint key"]
    assert findings()["fingerprint key"].seen == f"no key for the ids {', '.join(old)}"
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"fingerprint_keys": {"k9": "z" * 40, **old}}
    assert failed() == []


def test_silent_worker_is_found(cast: Cast) -> None:
    worker_seen(seconds_ago=61)
    assert failed() == ["worker"]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_workers")
    assert findings()["worker"].seen == "never seen"


def test_ghost_vectors_are_found(cast: Cast, fake_embedder: None, now: datetime) -> None:
    ghost = make_memory(content=SECRET, owner=cast.alice)
    make_memory(content="Prefers tea.", owner=cast.bob)
    assert failed() == []
    Memory.objects.filter(pk=ghost.pk).update(superseded_at=now)
    assert failed() == ["ghost vectors"]
    assert findings()["ghost vectors"].seen.startswith("1 of memories that are not active, 0 ")


@pytest.mark.parametrize(
    ("kept", "wrong"),
    [
        (MemoryTally, {"visibility": "org"}),
        (VectorTally, {"visibility": "org"}),
        (CallTally, {"outcome": "lost"}),
    ],
    ids=["memories", "vectors", "calls"],
)
def test_wrong_numbers_are_found_and_counted_anew(
    cast: Cast, fake_embedder: None, kept: Any, wrong: dict[str, str]
) -> None:
    make_memory(content=SECRET, owner=cast.alice)
    record_attempts(ModelName("openai", "gpt"), [Attempt("ok", 5)])
    assert failed() == []
    assert kept.objects.update(**wrong) == 1
    assert failed() == ["numbers"]
    assert findings()["numbers"].seen.startswith("2 sorts of ")
    said = StringIO()
    call_command("recount", stdout=said)
    assert said.getvalue() == "2 numbers were wrong, counted anew\n"
    assert failed() == []


def test_vector_under_another_owner_is_found(cast: Cast, fake_embedder: None) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    MemoryEmbedding.objects.filter(memory=memory).update(owner_id=cast.bob.pk)
    assert failed() == ["ghost vectors"]


def test_wrong_dimension_is_found(cast: Cast, fake_embedder: None) -> None:
    make_memory(content=SECRET, owner=cast.alice)
    EmbeddingModel.objects.update(dimensions=7)
    assert failed() == ["embedder"]
    assert findings()["embedder"].seen.startswith("junior_memory.E020")
    assert "reembed" in findings()["embedder"].remedy


def test_missing_migrations_end_the_look_at_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE app = 'junior_memory' AND name LIKE '0006%'"
        )
    found = findings()
    assert found["migrations"].state is State.FAIL
    assert "junior_memory.0006_calls_by_agent" in found["migrations"].seen
    assert found["migrations"].remedy == "Run manage.py migrate."
    assert "worker" not in found
    assert "chat model" in found


def test_database_newer_than_the_release_is_a_warning() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('junior_memory', '9999_from_tomorrow', now())"
        )
    found = findings()["migrations"]
    assert found.state is State.WARN
    assert "9999_from_tomorrow" in found.seen


def test_database_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise OperationalError("host=10.1.2.3 password=hunter2")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "ensure_connection", gone)
        code, page = run()
    assert code == 1
    assert "FAIL  database          does not answer (OperationalError)" in page
    assert "hunter2" not in page
    assert "migrations" not in page


@pytest.mark.parametrize(
    ("log", "state", "named"),
    [
        ({}, State.OK, ""),
        ({"log_error_verbosity": "default"}, State.FAIL, "log_error_verbosity = default"),
        (
            {"log_parameter_max_length_on_error": "-1"},
            State.FAIL,
            "log_parameter_max_length_on_error",
        ),
        (
            {"log_parameter_max_length": "-1", "log_statement": "all"},
            State.FAIL,
            "log_parameter_max_length = -1",
        ),
        (
            {"log_parameter_max_length": "-1", "log_min_duration_statement": "0"},
            State.FAIL,
            "log_parameter_max_length = -1",
        ),
        ({"log_parameter_max_length": "-1"}, State.WARN, "log_parameter_max_length = -1"),
        ({"log_min_error_statement": "error"}, State.WARN, "log_min_error_statement = error"),
        ({"log_statement": "all"}, State.OK, ""),
        ({"auto_explain.log_min_duration": "0"}, State.FAIL, "auto_explain"),
    ],
)
def test_server_that_would_log_content_is_named(
    log: dict[str, str], state: State, named: str
) -> None:
    quiet = {
        **QUIET_LOG,
        "log_statement": "none",
        "log_min_duration_statement": "-1",
        "log_min_duration_sample": "-1",
        "log_transaction_sample_rate": "0",
        "log_min_error_statement": "panic",
    }
    found = server.judge_log(quiet | log)
    assert found.state is state
    assert named in found.seen
    assert ("ALTER SYSTEM SET" in found.remedy) is (state is not State.OK)


def test_statistics_of_text_are_found() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE junior_memory_memory ALTER COLUMN content SET STATISTICS 100")
    assert failed() == ["statistics"]
    assert "junior_memory_memory.content" in findings()["statistics"].seen


def test_sample_that_an_earlier_analyze_left_is_found_and_the_remedy_mends_it(cast: Cast) -> None:
    for number in range(3):
        make_memory(content=f"{SECRET} {number}", owner=cast.alice)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE junior_memory_memory ALTER COLUMN content SET STATISTICS 100")
        cursor.execute("ANALYZE junior_memory_memory")
        cursor.execute("ALTER TABLE junior_memory_memory ALTER COLUMN content SET STATISTICS 0")
        assert failed() == ["statistics"]
        remedy = findings()["statistics"].remedy.partition(": ")[2]
        cursor.execute(remedy)
    assert failed() == []


def test_job_that_waits_too_long_is_found(cast: Cast) -> None:
    with connection.cursor() as cursor:
        for minutes, state in ((5, State.OK), (15, State.WARN), (180, State.FAIL)):
            cursor.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status)"
                " VALUES ('memory', 'embed_memories', '{}', 'todo') RETURNING id"
            )
            cursor.execute(
                "UPDATE procrastinate_events SET at = %s WHERE job_id = %s",
                [timezone.now() - timedelta(minutes=minutes), cursor.fetchone()[0]],
            )
            assert work.queue_moves(timezone.now()).state is state


def make_session(cast: Cast, **fields: Any) -> CompletedSession:
    moment = timezone.now() - timedelta(hours=1)
    given = {
        "session_id": "s-1",
        "conversation_id": "c-1",
        "source_platform": "web",
        "source_visibility": "private",
        "transcript": [{"type": "message", "role": "user", "text": SECRET}],
        "body_hash": "k$1",
        "lock_key": "owner:x",
        "completed_at": moment,
        "created_at": moment,
    }
    return CompletedSession.objects.create(agent=cast.agent, **given | fields)


def test_session_without_a_job_is_found(cast: Cast) -> None:
    session = make_session(cast)
    assert failed() == ["sessions"]
    assert "1 wait without a job" in findings()["sessions"].seen
    CompletedSession.objects.filter(pk=session.pk).update(reason="budget_reached")
    assert failed() == []


def test_failed_session_is_a_warning_with_its_reason(cast: Cast) -> None:
    make_session(cast, state="failed", reason="model_timeout", finished_at=timezone.now())
    found = findings()["sessions"]
    assert found.state is State.WARN
    assert found.seen == "failed in the last 7 days: 1 model_timeout"


def test_missing_vectors_are_a_warning_once_the_worker_had_time(
    cast: Cast, fake_embedder: None
) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    make_memory(content="Prefers tea.", owner=cast.alice)
    MemoryEmbedding.objects.filter(memory=memory).delete()
    assert findings()["vectors"].state is State.OK
    Memory.objects.filter(pk=memory.pk).update(created_at=timezone.now() - timedelta(hours=1))
    found = findings()["vectors"]
    assert (found.state, found.seen) == (State.WARN, "1 of 2 memories")


def test_vector_of_another_text_is_a_warning(cast: Cast, fake_embedder: None) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    MemoryEmbedding.objects.filter(memory=memory).update(content_hash="k$other")
    assert findings()["stale vectors"].state is State.WARN


def test_memory_without_terms_is_found(cast: Cast) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    Memory.objects.filter(pk=memory.pk).update(search_vector=None)
    assert failed() == ["search terms"]


def test_rest_of_an_erased_memory_is_found(cast: Cast) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    forgetting.erase(person(cast.alice), memory.pk, doer=BY_TEST)
    assert failed() == []
    with connection.cursor() as cursor:
        cursor.execute("UPDATE junior_memory_memory SET search_vector = 'bee'")
    assert failed() == ["erasure"]


def test_overdue_purge_is_found(cast: Cast) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    forgetting.forget(person(cast.alice), memory.pk, doer=BY_TEST)
    Memory.objects.filter(pk=memory.pk).update(purge_at=timezone.now() - timedelta(hours=1))
    assert failed() == ["housekeeping"]
    assert findings()["housekeeping"].seen == "overdue: 1 to erase"
    call_command("purge", stdout=StringIO())
    assert failed() == []


def test_full_disk_and_late_clock_are_found(monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    gib = environment.GIB
    for free, state in ((10 * gib, State.OK), (gib, State.WARN), (gib // 10, State.FAIL)):
        disk_with(free, monkeypatch)
        assert environment.disk_has_room(now).state is state
    assert server.clocks_agree(now).state is State.OK
    monkeypatch.setattr(clock, "now", lambda: timezone.now() - timedelta(minutes=5))
    assert server.clocks_agree(now).state is State.FAIL


def test_reached_budget_is_a_warning(cast: Cast, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"daily_budget_usd": 0}
    found = findings()["budgets"]
    assert (found.state, found.seen) == (State.WARN, "used up: day of the deployment")


def test_models_are_asked_only_when_told_to(cast: Cast, chat_model: Any) -> None:
    chat_model.script = ['{"answer": "yes"}']
    assert findings()["chat model"].seen.endswith("(--ask-model asks it)")
    assert not ModelCall.objects.exists()
    assert "answered in" in findings(ask_model=True)["chat model"].seen
    assert ModelCall.objects.count() == 1
    chat_model.script = ["no"]
    assert failed(ask_model=True) == ["chat model"]


def test_people_who_are_not_kept_apart_are_the_last_word(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {finding.name: finding for finding in doctor.examine()}
    assert whole["isolation"].state is State.OK
    assert "read paths green" in whole["isolation"].seen
    monkeypatch.setattr(MemoryQuerySet, "visible_to", lambda rows, _viewer: rows)
    monkeypatch.setattr(compiled, "_known", {})
    open_doors = {finding.name: finding for finding in doctor.examine()}
    assert open_doors["isolation"].state is State.FAIL
    assert "manage.py self_test" in open_doors["isolation"].remedy
    assert "isolation" not in findings()
    assert not Memory.objects.exists()


def test_broken_settings_are_said_by_the_command_itself() -> None:
    done = processes.manage(
        "doctor", MEMORY_ENV="production", DJANGO_SECRET_KEY="", MEMORY_FINGERPRINT_KEY="k1:short"
    )
    assert done.returncode == 1
    assert "FAIL  settings" in done.stdout
    for said in ("junior_memory.E001", "junior_memory.E002", "MEMORY_FINGERPRINT_KEY=k1:"):
        assert said in done.stdout
    assert "Traceback" not in done.stderr


def test_a_server_that_logs_content_is_found_in_life(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    place = tmp_path / "loud"
    options = {"fsync": "off", "log_statement": "all", "log_parameter_max_length": "-1"}
    loud = embedded.use_server(place, options=options)
    embedded.create_database_if_absent(loud, "junior_memory")
    try:
        done = processes.manage(
            "doctor",
            DATABASE_URL=f"postgres://{loud.user}@localhost/junior_memory?host={loud.host}",
        )
    finally:
        embedded.release_server(place)
    assert done.returncode == 1
    assert "may print what people wrote: log_parameter_max_length = -1" in done.stdout
    assert "ALTER SYSTEM SET log_parameter_max_length = '0'" in done.stdout
    assert "FAIL  migrations" in done.stdout
