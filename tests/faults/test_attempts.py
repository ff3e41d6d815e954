"""What counts against a session, and what does not: errors do; killed workers, databases do not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

import psycopg
import pytest
from django.db import OperationalError, connection
from procrastinate.jobs import Job

from junior_memory import clock, lost_sessions, people, queue, sessions, tasks
from junior_memory.database.away import is_database_away
from junior_memory.models import CompletedSession, Memory, User
from tests.domain.test_worker import ALICE, hand_in
from tests.factories import BY_TEST

pytestmark = pytest.mark.django_db


class Died(BaseException):
    """The end of a process, as far as one test can have it."""


@pytest.fixture
def alice() -> User:
    user = people.create_person("alice@example.com")
    people.link_identity(people.identity_for(ALICE), user, doer=BY_TEST)
    return user


def broken_by(error: BaseException) -> Any:
    def extractor(_: object) -> NoReturn:
        raise error

    return extractor


def attempted(session: CompletedSession, error: BaseException) -> CompletedSession:
    """Attempt once, ending in this error; returns the session as it is then."""
    with pytest.raises(type(error)):
        sessions.process_session(session.pk, extractor=broken_by(error))
    return CompletedSession.objects.get(pk=session.pk)


def away(state: str | None) -> OperationalError:
    error = OperationalError("gone")
    error.__cause__ = psycopg.errors.lookup(state)() if state else psycopg.OperationalError()
    return error


def test_killed_twenty_times_and_then_an_error_a_session_still_has_its_five_tries(
    alice: User,
) -> None:
    session = hand_in(1, "I prefer tea over coffee.")
    for _ in range(20):
        assert attempted(session, Died()).state == "processing"
    for number in range(1, sessions.MAX_ATTEMPTS):
        after = attempted(session, RuntimeError("x"))
        assert (after.state, after.attempts) == ("queued", number)
    assert sessions.process_session(session.pk).state == "processed"
    assert Memory.objects.count() == 1


def test_the_sixth_error_still_ends_a_session_that_was_also_killed(alice: User) -> None:
    session = hand_in(1, "I prefer tea over coffee.")
    for _ in range(sessions.MAX_ATTEMPTS - 1):
        attempted(session, Died())
        attempted(session, RuntimeError("x"))
    done = sessions.process_session(session.pk, extractor=broken_by(RuntimeError("x")))
    assert (done.state, done.attempts) == ("failed", sessions.MAX_ATTEMPTS)


@pytest.mark.parametrize("state", [None, "53100", "53300", "57P01", "55P03", "40P01", "08006"])
def test_a_database_that_is_away_does_not_use_up_the_tries_of_a_session(
    alice: User, state: str | None
) -> None:
    session = hand_in(1, "I prefer tea over coffee.")
    for _ in range(sessions.MAX_ATTEMPTS + 2):
        after = attempted(session, away(state))
        assert (after.state, after.attempts) == ("queued", 0)
    assert sessions.process_session(session.pk).state == "processed"


@pytest.mark.parametrize("state", ["57014", "54001", "42P01", "40002"])
def test_what_the_database_says_about_a_statement_counts(state: str) -> None:
    assert not is_database_away(away(state))


def job(times: int, name: str = queue.PROCESS_SESSION) -> Job:
    return Job(
        id=1,
        queue=queue.QUEUE,
        lock="owner:1",
        queueing_lock=None,
        task_name=name,
        task_kwargs={"session_id": "s"},
        attempts=times,
    )


def test_the_queue_never_gives_a_session_up_and_soon_lets_others_pass() -> None:
    decide = tasks.process_session.retry_strategy
    assert decide is not None
    locks = []
    for times in range(40):
        decision = decide.get_retry_decision(exception=RuntimeError(), job=job(times))
        assert decision is not None
        locks.append(decision.lock)
    assert locks[:5] == [None] * 5
    assert set(locks[5:]) == {"session:s"}
    waits = sum(queue.seconds_until_again(times) for times in range(5))
    assert waits < 600
    assert queue.lock_aside(job(9, queue.EMBED_MEMORIES)) is None


def test_a_session_whose_job_is_gone_gets_a_new_one(alice: User) -> None:
    session = hand_in(1, "I prefer tea over coffee.")
    later = clock.now() + 2 * lost_sessions.HAS_ITS_JOB
    assert lost_sessions.queue_lost(now=later) == 0
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_jobs")
    assert lost_sessions.queue_lost(now=clock.now()) == 0
    assert lost_sessions.queue_lost(now=later) == 1
    assert lost_sessions.queue_lost(now=later) == 0
    assert lost_sessions.lost_sessions(now=later) == []
    with connection.cursor() as cursor:
        cursor.execute("SELECT args->>'session_id', lock FROM procrastinate_jobs")
        assert cursor.fetchall() == [(str(session.pk), session.lock_key)]


@pytest.mark.django_db(transaction=True)
def test_housekeeping_looks_for_sessions_without_a_job(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(1, "I prefer tea over coffee.")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_jobs")
    tasks.keep_house.func(timestamp=int((clock.now() + timedelta(minutes=6)).timestamp()))
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_jobs")
        assert cursor.fetchone()[0] == 1
