"""The domain app."""

from __future__ import annotations

from django.apps import AppConfig


class JuniorMemoryConfig(AppConfig):
    """Loads the system checks."""

    name = "junior_memory"
    verbose_name = "Junior Memory"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what says that a deployment is half configured."""
        from junior_memory import checks  # noqa: F401
