"""/system: the report, the queue, and trying failed sessions again."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory.models import CompletedSession
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import make_memory

URL = "/system"
RETRY = "/system/sessions/retry"


@pytest.fixture
def root(cast: Cast, sign_in: SignIn) -> Client:
    """Return a staff member's browser."""
    return sign_in(cast.root)


def failed(cast: Cast, session_id: str = "s/1:2", *, gone: bool = False) -> CompletedSession:
    """Return a session that was given up."""
    now = timezone.now()
    return CompletedSession.objects.create(
        agent=cast.agent,
        session_id=session_id,
        conversation_id="c",
        owner=cast.alice,
        source_platform="slack",
        source_visibility="private",
        body_hash="h",
        lock_key="l",
        completed_at=now,
        created_at=now,
        state="failed",
        reason="attempts_exhausted",
        attempts=5,
        finished_at=now,
        transcript=None if gone else [{"type": "message", "role": "user", "text": "sentinel"}],
    )


def name(session: CompletedSession) -> dict[str, str]:
    """Return the form that names a session."""
    return {"agent": session.agent.name, "session": session.session_id}


def test_it_shows_the_report_and_what_failed_without_content(cast: Cast, root: Client) -> None:
    make_memory(owner=cast.alice, content="Keeps bees behind the boathouse.")
    failed(cast)
    page = text(root.get(URL))
    for said in ("Active memories", "Embedding coverage", "s/1:2", "attempts_exhausted", "Retry"):
        assert said in page
    for secret in ("boathouse", "sentinel", cast.alice.email):
        assert secret not in page, f"leaked: {secret}"


def test_retrying_queues_a_failed_session_once(cast: Cast, root: Client) -> None:
    session = failed(cast)
    for _ in range(2):
        assert root.post(RETRY, name(session))["location"] == URL
    session.refresh_from_db()
    assert session.state == "queued"
    assert "s/1:2" not in text(root.get(URL))


def test_retrying_answers_htmx_with_the_queue(cast: Cast, root: Client) -> None:
    part = text(root.post(RETRY, name(failed(cast)), headers=HTMX))
    assert part.lstrip().startswith('<section class="panel stack" id="queue"')
    assert "Queued again." in part


def test_a_session_whose_text_is_erased_stays_failed_and_the_page_says_why(
    cast: Cast, root: Client
) -> None:
    session = failed(cast, gone=True)
    page = text(root.post(RETRY, name(session), follow=True))
    assert "The transcript is erased" in page
    assert "transcript erased" in page
    session.refresh_from_db()
    assert session.state == "failed"


@pytest.mark.parametrize("data", [{}, {"agent": "default"}, {"agent": "\x00", "session": "\x00"}])
def test_an_unknown_session_is_nowhere(cast: Cast, root: Client, data: dict[str, str]) -> None:
    failed(cast)
    assert root.post(RETRY, data).status_code == 404


def test_people_who_are_not_staff_neither_see_nor_retry(cast: Cast, sign_in: SignIn) -> None:
    session = failed(cast)
    client = sign_in(cast.alice)
    assert client.get(URL).status_code == 403
    assert client.post(RETRY, name(session)).status_code == 403
    assert Client().post(RETRY, name(session)).status_code == 302
    session.refresh_from_db()
    assert session.state == "failed"


def test_wrong_methods_and_forms_from_elsewhere_are_refused(cast: Cast, root: Client) -> None:
    for method in ("get", "put", "patch", "delete"):
        assert getattr(root, method)(RETRY).status_code == 405
    for method in ("post", "put", "patch", "delete"):
        assert getattr(root, method)(URL).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(cast.root)
    assert strict.post(RETRY, name(failed(cast))).status_code == 403


def test_the_number_of_queries_does_not_grow(
    cast: Cast, root: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(45) as few:
        root.get(URL)
    for number in range(9):
        failed(cast, f"s{number}")
    with django_assert_max_num_queries(len(few.captured_queries)):
        root.get(URL)
