"""GET /metrics: the numbers agree with the tables, name nobody, and want their token."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import DjangoAssertNumQueries

from junior_memory import events, forgetting, metrics
from junior_memory.access import person
from junior_memory.models import CompletedSession, MemoryEmbedding, ModelCall
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory

TOKEN = "a-token-for-scraping"
SECRET = "Keeps bees behind the boathouse."
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh(settings: Any) -> Iterator[None]:
    settings.METRICS_TOKEN = TOKEN
    metrics.forget_counts()
    yield
    metrics.forget_counts()


def scrape(token: str | None = TOKEN, method: str = "GET") -> HttpResponse:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    answer: HttpResponse = Client().generic(method, "/metrics", headers=headers)  # type: ignore[assignment]
    return answer


def samples() -> dict[str, float]:
    """Return every sample by name and labels, as `name{label=value}`."""
    metrics.forget_counts()
    answer = scrape()
    assert answer.status_code == 200
    found = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            found[sample.name.removeprefix("junior_memory_") + f"{{{labels}}}"] = sample.value
    return found


def call(operation: str, outcome: str, cost: str | None) -> ModelCall:
    return ModelCall.objects.create(
        operation=operation,
        provider="openai",
        model="gpt-5-nano",
        outcome=outcome,
        cost_usd=None if cost is None else Decimal(cost),
        input_tokens=100,
        output_tokens=10,
        created_at=timezone.now(),
    )


def recall(cast: Cast, *ids: Any, degraded: tuple[str, ...] = ()) -> None:
    payload = events.MemoriesRecalled(
        recall_id=uuid4(),
        memories=[events.RecalledMemory(id=one, rank=n) for n, one in enumerate(ids, 1)],
        degraded=list(degraded),
    )
    events.record_event(
        events.MEMORIES_RECALLED,
        payload,
        conversation_id="c-1",
        agent=cast.agent,
        owner=cast.alice,
        now=timezone.now(),
    )


def test_memories_are_counted_by_tier_and_fate(cast: Cast) -> None:
    kept = make_memory(content=SECRET, owner=cast.alice)
    forgotten = make_memory(content="Prefers tea.", owner=cast.alice)
    erased = make_memory(content="Prefers gin.", owner=cast.bob)
    make_memory(content="The office has a piano.", visibility="public")
    make_memory(
        content="Is away.", owner=cast.alice, expires_at=timezone.now() + timedelta(minutes=1)
    )
    forgetting.forget(person(cast.alice), forgotten.pk, doer=BY_TEST)
    forgetting.erase(person(cast.bob), erased.pk, doer=BY_TEST)
    found = samples()
    assert found["memories_active{visibility=private}"] == 2
    assert found["memories_active{visibility=public}"] == 1
    assert found["memories_active{visibility=org}"] == 0
    assert found["memories_created{visibility=private}"] == 4
    assert found["memories_forgotten{visibility=private}"] == 2
    assert found["memories_erased{visibility=private}"] == 1
    forgetting.forget(person(cast.alice), kept.pk, doer=BY_TEST)
    assert samples()["memories_active{visibility=private}"] == 1


def test_expired_memory_is_not_active_before_the_worker_says_so(cast: Cast, now: datetime) -> None:
    make_memory(content=SECRET, owner=cast.alice, now=now, expires_at=now + timedelta(hours=1))
    assert b'active{visibility="private"} 1.0' in metrics.exposition(now=now)
    metrics.forget_counts()
    later = metrics.exposition(now=now + timedelta(hours=2))
    assert b'active{visibility="private"} 0.0' in later


def test_calls_and_their_cost_are_counted_by_outcome(cast: Cast) -> None:
    call("extraction", "ok", "0.25")
    call("extraction", "ok", "0.50")
    call("extraction", "timeout", None)
    call("relevance", "ok", None)
    found = samples()
    ok = "{model=gpt-5-nano,operation=extraction,outcome=ok,provider=openai}"
    late = "{model=gpt-5-nano,operation=extraction,outcome=timeout,provider=openai}"
    assert found[f"model_calls_total{ok}"] == 2
    assert found[f"model_cost_usd_total{ok}"] == 0.75
    assert found[f"model_calls_of_unknown_price_total{ok}"] == 0
    assert found[f"model_calls_of_unknown_price_total{late}"] == 1
    assert (
        found[
            "model_tokens_total{direction=in,model=gpt-5-nano,operation=extraction,provider=openai}"
        ]
        == 300
    )


def test_recalls_are_counted_with_what_they_were_good_for(cast: Cast) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    recall(cast, memory.pk)
    recall(cast, memory.pk, degraded=("vector",))
    recall(cast)
    found = samples()
    assert found["recalls_total{}"] == 3
    assert found["useful_recalls_total{}"] == 2
    assert found["degraded_recalls_total{leg=vector}"] == 1


def test_queue_worker_sessions_and_budgets_are_counted(cast: Cast, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"daily_budget_usd": 0}
    seen = timezone.now() - timedelta(seconds=7)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (%s)", [seen])
        cursor.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args, status)"
            " VALUES ('memory', 'embed_memories', '{}', 'todo') RETURNING id"
        )
        cursor.execute(
            "UPDATE procrastinate_events SET at = now() - interval '90 s' WHERE job_id = %s",
            [cursor.fetchone()[0]],
        )
    CompletedSession.objects.create(
        agent=cast.agent,
        session_id="s-1",
        conversation_id="c-1",
        source_platform="web",
        body_hash="k$1",
        lock_key="x",
        state="failed",
        completed_at=seen,
        created_at=seen,
    )
    found = samples()
    assert found["jobs{status=todo}"] == 1
    assert 90 <= found["oldest_job_age_seconds{}"] < 150
    assert found["worker_seen_timestamp_seconds{}"] == pytest.approx(seen.timestamp())
    assert found["sessions{state=failed}"] == 1
    assert found["sessions{state=queued}"] == 0
    assert found["budgets_reached{period=day,scope=deployment}"] == 1
    assert found["budgets_reached{period=month,scope=agent}"] == 0


def test_coverage_is_the_share_with_a_vector(cast: Cast, settings: Any) -> None:
    assert samples()["embedding_coverage_ratio{}"] == 0
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    one = make_memory(content=SECRET, owner=cast.alice)
    make_memory(content="Prefers tea.", owner=cast.alice)
    assert samples()["embedding_coverage_ratio{}"] == 1
    MemoryEmbedding.objects.filter(memory=one).delete()
    assert samples()["embedding_coverage_ratio{}"] == 0.5


def test_nobody_is_named(cast: Cast) -> None:
    memory = make_memory(content=SECRET, owner=cast.alice)
    make_memory(content="The team meets on Tuesdays.", visibility="org", org=cast.org)
    recall(cast, memory.pk)
    call("extraction", "ok", "0.25")
    text = scrape().content.decode()
    told = [SECRET, "bees", "Tuesdays", "alice", "Alice", "acme", "Acme", "default", "c-1"]
    ids = [str(one) for one in (memory.pk, cast.alice.pk, cast.org.pk, cast.agent.pk)]
    assert not [word for word in told + ids if word in text]
    labels = set(re.findall(r'(\w+)="', text))
    assert labels == {
        "visibility", "state", "status", "scope", "period", "operation", "provider", "model",
        "outcome", "direction",
    }  # fmt: skip


def test_without_a_configured_token_there_are_none(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    for token in (None, "", TOKEN):
        answer = scrape(token)
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "not_found"  # type: ignore[attr-defined]


@pytest.mark.parametrize("token", [None, "", "other", TOKEN[:-1], f"{TOKEN}x", "ümlaut"])
def test_wrong_token_is_turned_away(token: str | None) -> None:
    answer = scrape(token)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"  # type: ignore[attr-defined]
    assert b"junior_memory_" not in answer.content


def test_token_in_the_address_is_no_token() -> None:
    assert Client().get(f"/metrics?token={TOKEN}").status_code == 401


def test_methods_and_headers() -> None:
    assert scrape(method="POST").status_code == 405
    head = scrape(method="HEAD")
    assert (head.status_code, head.content) == (200, b"")
    answer = scrape()
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert answer.headers["Cache-Control"] == "no-store"


def test_counting_is_a_handful_of_statements_and_kept(
    django_assert_max_num_queries: DjangoAssertNumQueries,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_max_num_queries(12):
        first = scrape().content
    with django_assert_num_queries(0):
        assert scrape().content == first


def test_large_tables_are_counted_less_often(now: datetime) -> None:
    times = 0

    def slow(_now: datetime) -> list[Any]:
        nonlocal times
        times += 1
        time.sleep(0.05)
        return []

    kept = metrics._Kept(slow)
    kept.get(now)
    assert kept.until - time.monotonic() == pytest.approx(metrics.KEPT_SECONDS, abs=0.5)
    began = time.monotonic()
    kept = metrics._Kept(slow)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "KEPT_SECONDS", 0)
        kept.get(now)
        kept.get(now)
    assert times == 2
    assert kept.until - began > metrics.SHARE_OF_TIME * 0.05


def test_database_that_is_gone_is_503_in_our_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(**_: object) -> bytes:
        raise OperationalError

    monkeypatch.setattr(metrics, "exposition", gone)
    answer = scrape()
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "unavailable"  # type: ignore[attr-defined]


def test_a_call_under_way_is_counted_once_it_has_ended_or_can_have_none(cast: Cast) -> None:
    name = "model_calls_total{model=gpt-5-nano,operation=relevance,outcome=%s,provider=openai}"
    opened = call("relevance", "open", None)
    assert name % "open" not in samples()
    ModelCall.objects.update(outcome="ok")
    assert samples()[name % "ok"] == 1
    ModelCall.objects.update(outcome="open", created_at=opened.created_at - metrics.UNDER_WAY)
    assert samples()[name % "open"] == 1
