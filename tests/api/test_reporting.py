"""GET /dashboard, /report, /costs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from junior_memory.models import Memory, ModelCall
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_memory, make_personal_token


def test_the_dashboard_counts_what_its_caller_sees(
    alice: Caller, charlie: Caller, cast: Cast
) -> None:
    make_memory(owner=cast.alice)
    make_memory(owner=cast.bob, content="Team.", visibility="org", org=cast.org, kind="knowledge")
    make_memory(content="Roof.", visibility="public", origin="automatic")
    body = json_of(alice.get("dashboard"))
    stats = body["stats"]
    assert (stats["active"], stats["private"], stats["org"], stats["public"]) == (3, 1, 1, 1)
    assert (stats["automatic"], stats["explicit"], stats["createdThirtyDays"]) == (1, 2, 3)
    assert (stats["preference"], stats["knowledge"], stats["procedure"]) == (1, 2, 0)
    assert stats["embedded"] == 0
    assert len(body["days"]) == 90
    today = body["days"][-1]
    assert today == {
        "date": datetime.now(UTC).date().isoformat(),
        "private": 1,
        "org": 1,
        "public": 1,
    }
    assert json_of(charlie.get("dashboard"))["stats"]["active"] == 1
    assert "cost" not in alice.get("dashboard").content.decode().lower()


def test_what_others_hold_back_is_in_no_number(charlie: Caller, cast: Cast) -> None:
    before = json_of(charlie.get("dashboard"))
    now = datetime.now(UTC)
    hidden: list[dict[str, Any]] = [
        {"held_at": now, "held_reason": "public_from_unlinked"},
        {"archived_at": now, "archive_reason": "declined"},
        {"archived_at": now, "archive_reason": "admin_removed"},
        {"expires_at": now - timedelta(minutes=1)},
    ]
    for number, fields in enumerate(hidden):
        row = make_memory(content=f"Roof {number}.", visibility="public")
        Memory.objects.filter(pk=row.pk).update(**fields)
    after = json_of(charlie.get("dashboard"))
    assert (after["stats"], after["days"]) == (before["stats"], before["days"])
    make_memory(content="Open roof.", visibility="public")
    seen = json_of(charlie.get("dashboard"))
    assert (seen["stats"]["createdThirtyDays"], seen["days"][-1]["public"]) == (1, 1)


def test_costs_are_numbers_for_staff_alone(alice: Caller, root: Caller, cast: Cast) -> None:
    ModelCall.objects.create(
        operation="extraction",
        provider="openai",
        model="m",
        cost_usd=Decimal("0.0042"),
        outcome="failed",
        agent=cast.agent,
        created_at=datetime.now(UTC),
    )
    for days in (7, 30, 90):
        body = json_of(root.get(f"costs?days={days}"))
        assert len(body["days"]) == body["window"] == days
        assert body["nothingUsd"] == body["totalUsd"] == 0.0042
        assert body["boughtNothing"] == [
            {"name": "failed", "costUsd": 0.0042, "calls": 1, "unknown": 0}
        ]
        assert body["perUsefulRecallUsd"] is None
    assert json_of(root.get("costs"))["window"] == 90
    for wrong in ("days=1", "days=365", "days=x", "days=", "day=7", "days=7&days=30"):
        assert_fails(root.get(f"costs?{wrong}"), 422)
    assert_fails(alice.get("costs"), 403)


def test_budgets_stand_beside_the_costs(root: Caller, cast: Cast, settings: Any) -> None:
    assert json_of(root.get("costs"))["budgets"] == []
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"daily_budget_usd": Decimal("0.05")}
    cast.agent.monthly_budget_usd = Decimal(7)
    cast.agent.save()
    call: dict[str, Any] = {
        "provider": "openai",
        "model": "m",
        "agent": cast.agent,
        "outcome": "timeout",
    }
    for cost in (Decimal("0.06"), None):
        ModelCall.objects.create(
            operation="review", cost_usd=cost, created_at=datetime.now(UTC), **call
        )
    assert json_of(root.get("costs"))["budgets"] == [
        {
            "agent": None,
            "period": "day",
            "limitUsd": 0.05,
            "spentUsd": 0.06,
            "unknown": 1,
            "reached": True,
        },
        {
            "agent": "default",
            "period": "month",
            "limitUsd": 7,
            "spentUsd": 0.06,
            "unknown": 1,
            "reached": False,
        },
    ]
    [failing] = json_of(root.get("report"))["failingCalls"]
    assert failing.pop("lastAt")
    assert failing == {"operation": "review", "model": "m", "reason": "timeout", "calls": 2}


def test_calls_fail_lately_within_a_day(root: Caller) -> None:
    for hours, outcome in ((1, "ok"), (25, "timeout"), (23, "http_500")):
        ModelCall.objects.create(
            operation="embed",
            provider="openai",
            model="m",
            outcome=outcome,
            created_at=datetime.now(UTC) - timedelta(hours=hours),
        )
    reasons = [one["reason"] for one in json_of(root.get("report"))["failingCalls"]]
    assert reasons == ["http_500"]


def test_the_report_holds_no_content_and_no_owner(root: Caller, alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Likes zebra tea.")
    response = root.get("report")
    body = json_of(response)
    assert set(body) == {
        "metrics",
        "stats",
        "created",
        "queue",
        "skipped",
        "held",
        "failingCalls",
        "generatedAt",
    }
    assert [metric["key"] for metric in body["metrics"]][:2] == ["active", "extractionCost30d"]
    text = response.content.decode()
    assert "zebra" not in text
    assert str(cast.alice.pk) not in text
    assert "alice" not in text


def test_reporting_is_for_staff_with_the_scope(alice: Caller, host: Caller, cast: Cast) -> None:
    reader = Caller(token=make_personal_token(cast.root, "read", "write"))
    for path in ("report", "costs"):
        assert_fails(alice.get(path), 403)
        assert_fails(host.get(path), 403)
        assert_fails(reader.get(path), 403)
        json_of(Caller(user=cast.root).get(path))
        assert_fails(Caller(user=cast.alice).get(path), 403)
    former = Caller(token=make_personal_token(cast.root, "report"))
    cast.root.is_staff = False
    cast.root.save()
    assert_fails(former.get("report"), 403)
