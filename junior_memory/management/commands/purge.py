"""`manage.py purge`: erase what is due now, as the worker does every minute."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from junior_memory import forgetting, sessions


class Command(BaseCommand):
    """Erases forgotten memories past their undo window, and old transcripts."""

    help = "Erase forgotten memories whose undo window is over, and old transcripts."

    def handle(self, *_: Any, **__: Any) -> None:
        """Work until nothing is due and print the counts."""
        purged = expired = 0
        while batch := forgetting.expire_due():
            expired += batch
        while batch := forgetting.purge_due():
            purged += batch
        transcripts = sessions.erase_old_transcripts()
        self.stdout.write(
            f"{purged} memories erased, {expired} expired, {transcripts} transcripts erased"
        )
