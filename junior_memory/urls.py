"""Composition root: every address in one place, by name, so that nothing imports upward."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("api/", include("api.urls")),
    path("admin/", admin.site.urls),
    path("", include("api.health_urls")),
    path("", include("api.metrics_urls")),
    path("", include("api.mcp.urls")),
    path("", include("dashboard.urls")),
]

handler400 = "dashboard.views.errors.bad_request"
handler403 = "dashboard.views.errors.forbidden"
handler404 = "dashboard.views.errors.not_found"
handler500 = "dashboard.views.errors.server_error"
