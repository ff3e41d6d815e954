"""`manage.py worker`: learns from completed sessions and keeps house."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand
from procrastinate.contrib.django import app

from junior_memory.queue import QUEUE
from junior_memory.tasks import STALLED_SECONDS, retry_stalled

POLLING_SECONDS = 0.25
"""A job that waited for another one's lock is announced to nobody: how soon it is seen."""


class Command(BaseCommand):
    """Runs one worker until it is stopped; any number may run."""

    help = "Process completed sessions, erase and expire what is due, recover from dead workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer one pass, and the number of jobs at a time."""
        parser.add_argument("--once", action="store_true", help="stop when the queue is empty")
        parser.add_argument("--concurrency", type=int, default=2, help="jobs at a time")
        parser.add_argument(
            "--stalled-after",
            type=float,
            default=STALLED_SECONDS,
            metavar="SECONDS",
            help="at the start, take over from workers that were silent for this long",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Run the worker on connections of its own."""
        connector = app.connector.get_worker_connector()  # type: ignore[attr-defined]
        # Ctrl-C before the worker listens for it ends it just as well: it holds nothing yet.
        with suppress(KeyboardInterrupt), app.replace_connector(connector):
            asyncio.run(
                self._work(
                    once=options["once"],
                    concurrency=options["concurrency"],
                    stalled_seconds=options["stalled_after"],
                )
            )

    async def _work(self, *, once: bool, concurrency: int, stalled_seconds: float) -> None:
        async with app.open_async():
            await retry_stalled(app, silent_seconds=stalled_seconds)
            if not once:
                self.stdout.write("worker is ready")
                self.stdout.flush()
            await app.run_worker_async(
                queues=[QUEUE],
                wait=not once,
                # One at a time when the queue is to be emptied: a job behind a lock that another
                # one holds looks like an empty queue.
                concurrency=1 if once else concurrency,
                fetch_job_polling_interval=POLLING_SECONDS,
                delete_jobs="successful",
                install_signal_handlers=True,
            )
