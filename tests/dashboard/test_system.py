"""/system: the report, the queue, and trying failed sessions again."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from junior_memory import admin_reads, capture, forgetting, reports
from junior_memory.access import person
from junior_memory.audit import Doer, record_audit
from junior_memory.models import (
    Agent,
    AuditEntry,
    CompletedSession,
    EmbeddingModel,
    Memory,
    ModelCall,
    User,
)
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory

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
    for said in (
        "Active memories",
        "Embedding coverage",
        "s/1:2",
        "Gave up after its last attempt",
        "Retry",
    ):
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


def concerns(page: str) -> str:
    """Return the part of the page that says what needs attention."""
    return page.split('id="concerns"')[1].split("</section>")[0]


def a_worker_is_seen() -> None:
    """Put a worker on the record that is at work now."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")


def test_all_is_well_is_said_only_when_it_is(cast: Cast, root: Client) -> None:
    assert "No worker is at work" in concerns(text(root.get(URL)))
    a_worker_is_seen()
    assert "All is well" in concerns(text(root.get(URL)))
    failed(cast)
    page = concerns(text(root.get(URL)))
    assert "1 thing needs attention" in page
    assert "1 session could not be learned from." in page


def test_what_fails_lately_and_what_waits_for_staff_is_said_first(cast: Cast, root: Client) -> None:
    a_worker_is_seen()
    make_memory(content="It rains.", visibility="public", held_reason=capture.HELD_UNLINKED)
    for outcome in ("timeout", "timeout", "http_500", "ok"):
        call(outcome, usd="0.01")
    page = text(root.get(URL))
    assert "3 calls of models came to nothing in 24 hours." in concerns(page)
    assert "1 public fact waits for staff to decide." in concerns(page)
    failing = page.split('id="failing"')[1].split("</table>")[0]
    assert "Extraction" in failing
    assert '<td class="number">2</td>' in failing


def call(outcome: str, *, usd: str, agent: Agent | None = None) -> None:
    """Put one model call on the record."""
    ModelCall.objects.create(
        operation="extraction",
        provider="test",
        model="m",
        outcome=outcome,
        cost_usd=Decimal(usd),
        agent=agent,
        created_at=timezone.now(),
    )


def test_a_budget_that_is_used_up_is_said_on_both_pages_of_staff(cast: Cast, root: Client) -> None:
    Agent.objects.filter(pk=cast.agent.pk).update(daily_budget_usd=Decimal("0.05"))
    call("ok", usd="0.04", agent=cast.agent)
    page = text(root.get(URL))
    assert "is used up" not in page
    assert "$0.04 of $0.05" in page
    call("ok", usd="0.02", agent=cast.agent)
    said = "Today’s budget of “default” is used up: $0.06 of $0.05."
    assert said in concerns(text(root.get(URL)))
    assert "$0.06 of $0.05 today: it is reached." in text(root.get("/overview"))


def test_agents_are_shown_with_what_they_may_do(cast: Cast, root: Client) -> None:
    Agent.objects.filter(pk=cast.agent.pk).update(limit=3, min_score=0.4, extract=False)
    page = text(root.get(URL)).split('id="agents"')[1].split("</section>")[0]
    assert "Recalls up to 3 memories within 1,500 ms, those that fit at least 40%" in page
    assert "does not learn" in page
    Agent.objects.filter(pk=cast.agent.pk).update(inject=False)
    assert "Recalls nothing" in text(root.get(URL))


def model_of(provider: str, state: str) -> EmbeddingModel:
    """Put a model of vectors on the record."""
    return EmbeddingModel.objects.create(
        provider=provider, model="m", dimensions=8, state=state, created_at=timezone.now()
    )


def test_switching_vectors_waits_until_none_is_missing(cast: Cast, root: Client) -> None:
    used, next_one = model_of("fake", "in_use"), model_of("other", "preparing")
    memory = make_memory(owner=cast.alice)
    url = f"/system/models/{next_one.pk}/switch"
    page = text(root.get(URL))
    assert "0 of 1 memories" in page
    assert url not in page
    assert "have no vector" in text(root.post(url, follow=True))
    memory.delete()
    assert url in text(root.get(URL))
    root.post(url)
    used.refresh_from_db()
    next_one.refresh_from_db()
    assert (used.state, next_one.state) == ("previous", "in_use")
    assert "Go back to it" in text(root.get(URL))


def test_the_chat_model_is_asked_whether_it_answers(root: Client, chat_model: Any) -> None:
    chat_model.script = ['{"answer": "ready"}']
    assert "Test the connection" in text(root.get(URL))
    part = text(root.post("/system/models/check", headers=HTMX))
    assert part.lstrip().startswith('<div class="chat-model" id="chat-model"')
    assert "It answers: " in part
    assert ModelCall.objects.filter(operation="check").count() == 1


def test_without_a_chat_model_there_is_nothing_to_test(root: Client) -> None:
    assert "Test the connection" not in text(root.get(URL))
    assert root.post("/system/models/check").status_code == 404


@pytest.mark.parametrize("url", ["/system/models/check", "/system/models/1/switch"])
def test_models_are_for_staff_alone(cast: Cast, sign_in: SignIn, url: str) -> None:
    assert sign_in(cast.alice).post(url).status_code == 403
    assert sign_in(cast.root).get(url).status_code == 405


def test_the_audit_says_who_did_what_and_why_without_content(cast: Cast, root: Client) -> None:
    memory = make_memory(owner=cast.alice, content="Keeps bees behind the boathouse.")
    doer = Doer(user=cast.alice, via="page")
    forgetting.forget(person(cast.alice), memory.pk, doer=doer)
    admin_reads.open_read(cast.root, cast.alice, reason="A ticket of theirs.", doer=BY_TEST)
    page = text(root.get("/system/audit"))
    assert "<b>alice@example.com</b> forgot 1 memory<" in page
    assert "opened a read of somebody’s memory, of <b>alice@example.com</b>" in page
    assert "A ticket of theirs." in page
    assert "boathouse" not in page, "leaked"


def test_the_audit_is_paged_and_for_staff_alone(
    cast: Cast, root: Client, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    for number in range(52):
        record_audit("exported", BY_TEST, now=timezone.now(), person_id=cast.alice.pk, n=number)
    with django_assert_max_num_queries(8):
        page = text(root.get("/system/audit"))
    assert page.count("exported everything") == 50
    older = page.split('class="list-foot"><a class="button" href="')[1].split('"')[0]
    assert text(root.get(older.replace("&amp;", "&"))).count("exported everything") == 2
    assert sign_in(cast.alice).get("/system/audit").status_code == 403
    assert Client().get("/system/audit").status_code == 302


def test_the_isolation_of_people_is_tested_at_a_click_and_nothing_of_it_stays(
    cast: Cast, root: Client
) -> None:
    before = Memory.objects.count(), User.objects.count(), AuditEntry.objects.count()
    part = text(root.post("/system/self-test", headers=HTMX))
    assert part.lstrip().startswith('<section class="panel stack" id="self-test"')
    assert "Yes: everybody was given exactly what is theirs." in part
    assert "too many" not in part
    page = text(root.post("/system/self-test"))
    assert "<h1>System</h1>" in page
    assert "Yes: everybody was given exactly what is theirs." in page
    assert "Yes: everybody" not in text(root.get(URL))
    assert before == (Memory.objects.count(), User.objects.count(), AuditEntry.objects.count())


def test_only_staff_test_the_isolation(cast: Cast, sign_in: SignIn) -> None:
    assert sign_in(cast.alice).post("/system/self-test").status_code == 403
    assert sign_in(cast.root).get("/system/self-test").status_code == 405


def test_coverage_is_full_only_when_nothing_lacks_a_vector() -> None:
    stats = {"createdThirtyDays": 0, "private": 0, "org": 0, "public": 0}
    for embedded, said, tone in (
        (565, "99%", "warning"),
        (566, "100%", "good"),
        (0, "0%", "neutral"),
    ):
        *_, coverage = reports._metrics(stats | {"active": 566, "embedded": embedded}, Decimal(0))
        assert (coverage.value, coverage.tone) == (said, tone)
