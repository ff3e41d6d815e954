"""The operational report in the reader's language."""

from __future__ import annotations

import pytest
from django.utils import timezone, translation

from dashboard.report_words import (
    FIGURES,
    REASONS,
    TESTED,
    figure_name,
    figure_value,
    why_not_learned,
)
from junior_memory import reports
from junior_memory.audit import Doer, record_audit
from junior_memory.reports import Metric
from junior_memory.self_test import self_test
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text


def test_every_figure_of_the_report_has_a_name_in_german(db: None) -> None:
    for metric in reports.operational_report().metrics:
        assert metric.key in FIGURES
        with translation.override("de"):
            assert figure_name(metric) != metric.label or metric.label == "Team"


def test_figures_stand_as_the_reader_writes_them() -> None:
    with translation.override("de"):
        assert figure_value(Metric("active", "", "18204", "good")) == "18.204"
        assert figure_value(Metric("extractionCost30d", "", "$0.0042", "neutral")) == "0,0042\xa0$"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("model_timeout", "the model did not answer in time"),
        ("memory_tool_used", "the assistant remembered by itself"),
        ("model_http_401", "Key not accepted"),
        ("ValueError", "ValueError"),
    ],
)
def test_why_nothing_was_learned_is_said_in_words(code: str, said: str) -> None:
    assert why_not_learned(code) == said


def test_no_reason_is_left_in_english() -> None:
    with translation.override("de"):
        assert not [code for code in REASONS if why_not_learned(code) == REASONS[code]]


def test_what_the_self_test_asks_by_is_named(cast: Cast) -> None:
    ways = {check.path for check in self_test().checks}
    assert ways - set(TESTED) == {"tool listMemories", "tool searchMemories"}


def test_the_audit_says_in_german_by_what_means(cast: Cast, sign_in: SignIn) -> None:
    record_audit("exported", Doer(user=cast.alice, via="page"), now=timezone.now())
    page = text(sign_in(cast.root).get("/system/audit", headers={"Accept-Language": "de"}))
    assert "auf dieser Website" in page
    assert "on this site" not in page
