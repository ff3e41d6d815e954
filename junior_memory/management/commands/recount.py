"""`manage.py recount`: count anew what the database keeps numbers of."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from junior_memory import tallies


class Command(BaseCommand):
    """Compares the kept numbers with what is there, and counts anew where they differ."""

    help = "Count memories, vectors and model calls anew, after rows came past the triggers."

    def handle(self, *_: Any, **__: Any) -> None:
        """Print how many numbers were wrong; nobody can write while they are counted."""
        wrong = tallies.count_wrong()
        if wrong:
            tallies.recount()
        self.stdout.write(f"{wrong} numbers were wrong" + (", counted anew" if wrong else ""))
