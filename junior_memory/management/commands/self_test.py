"""`manage.py self_test`: two canary people ask for each other's memories."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from junior_memory.self_test import self_test


class Command(BaseCommand):
    """Asks every read path for everybody; nothing of it stays."""

    help = "Check that people are kept apart; ends with 1 when they are not."

    def handle(self, *_: Any, **__: Any) -> None:
        """Print one line for each check that is red, and a summary."""
        found = self_test()
        for check in found.red:
            self.stdout.write(
                f"RED  {check.path}, {check.asker}:"
                f" {check.leaked} too many, {check.missing} missing"
            )
        green = len(found.checks) - len(found.red)
        self.stdout.write(f"{green} of {len(found.checks)} green in {found.duration_ms} ms")
        if not found.is_green:
            raise CommandError("people are not kept apart")
