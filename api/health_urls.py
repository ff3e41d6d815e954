"""Addresses of the health checks, at the root."""

from django.urls import path

from api import health

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
