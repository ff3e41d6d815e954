"""`manage.py process_session`: learn from one session now, without the worker."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from junior_memory import sessions
from junior_memory.models import CompletedSession


class Command(BaseCommand):
    """Processes one session by the host's id; a finished one is only shown."""

    help = "Learn from one completed session now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Name the session as its host does."""
        parser.add_argument("session_id")
        parser.add_argument("--agent", default="default")

    def handle(self, *_: Any, **options: Any) -> None:
        """Process and print what came of it: ids, counts and words of our own."""
        session = CompletedSession.objects.filter(
            session_id=options["session_id"], agent__name=options["agent"]
        ).first()
        if session is None:
            raise CommandError("no such session for that agent")
        done = sessions.process_session(session.pk)
        reason = f" ({done.reason})" if done.reason else ""
        self.stdout.write(f"{done.session_id}: {done.state}{reason}, attempt {done.attempts}")
