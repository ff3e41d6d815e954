"""Where Prometheus asks, at the root."""

from django.urls import path

from api.metrics import show_metrics

urlpatterns = [path("metrics", show_metrics, name="metrics")]
