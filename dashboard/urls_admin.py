"""Addresses of the pages for staff."""

from __future__ import annotations

from django.urls import path

from dashboard.views import overview, system

urlpatterns = [
    path("overview", overview.show_overview, name="overview"),
    path("overview/cost", overview.cost_by_day, name="overview_cost"),
    path("overview/memories", overview.memories_by_day, name="overview_memories"),
    path("system", system.show_system, name="system"),
    path("system/sessions/retry", system.retry_session, name="system_retry"),
]
