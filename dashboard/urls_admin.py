"""Addresses of the pages for staff."""

from __future__ import annotations

from django.urls import path

from dashboard.http import by_method
from dashboard.views import admin_reads, ledgers, models, overview, system

urlpatterns = [
    path("overview", overview.show_overview, name="overview"),
    path("overview/cost", overview.cost_by_day, name="overview_cost"),
    path("overview/memories", overview.memories_by_day, name="overview_memories"),
    path("overview/calls", ledgers.list_calls, name="overview_calls"),
    path("overview/budget", ledgers.list_budget, name="overview_budget"),
    path("overview/events", ledgers.list_events, name="overview_events"),
    path("overview/changes", ledgers.list_changes, name="overview_changes"),
    path("overview/present", ledgers.list_present, name="overview_present"),
    path("system", system.show_system, name="system"),
    path("system/sessions/retry", system.retry_session, name="system_retry"),
    path("system/models/check", models.check_model, name="system_model_check"),
    path("system/models/<int:model_id>/switch", models.switch, name="system_switch"),
    path("system/self-test", system.test_isolation, name="system_self_test"),
    path("system/audit", system.list_audit, name="system_audit"),
    path("system/public", system.list_removed, name="system_public"),
    path(
        "system/reads",
        by_method(get=admin_reads.show_form, post=admin_reads.open_read),
        name="system_reads",
    ),
    path("system/reads/<uuid:read_id>", admin_reads.show_read, name="system_read"),
]
