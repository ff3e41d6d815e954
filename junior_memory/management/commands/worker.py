"""`manage.py worker`: learns from completed sessions and keeps house."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from argparse import ArgumentParser
from contextlib import suppress
from types import FrameType
from typing import Any

import psycopg
from django.core.management.base import BaseCommand
from django.db import DatabaseError
from procrastinate.contrib.django import app
from procrastinate.exceptions import ConnectorException

from junior_memory import vector_index
from junior_memory.queue import QUEUE
from junior_memory.tasks import STALLED_SECONDS, retry_stalled

logger = logging.getLogger("junior_memory.worker")

POLLING_SECONDS = 0.25
"""A job that waited for another one's lock is announced to nobody: how soon it is seen."""

RETRY_SECONDS = 2.0
"""How long a worker waits before it looks for a lost database again."""

LOST = (ConnectorException, DatabaseError, psycopg.Error)


class Command(BaseCommand):
    """Runs one worker until it is stopped; any number may run. Outlives a lost database."""

    help = "Process completed sessions, erase and expire what is due, recover from dead workers."

    _stopping = False
    _running: asyncio.Task[None] | None = None
    _loop: asyncio.AbstractEventLoop | None = None

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
        """Run until stopped; begin again when the database was lost."""
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self._stop)
        if not options["once"]:
            vector_index.keep_loaded()
        while not self._stopping:
            try:
                self._run_once(options)
            except LOST as error:
                if options["once"]:
                    raise
                logger.warning("the worker lost its database (%s)", type(error).__name__)
            if options["once"]:
                return
            deadline = time.monotonic() + RETRY_SECONDS
            while not self._stopping and time.monotonic() < deadline:
                time.sleep(0.1)

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Let the jobs at hand end, then leave."""
        self._stopping = True
        if self._loop is not None and self._running is not None:
            self._loop.call_soon_threadsafe(self._running.cancel)

    def _run_once(self, options: dict[str, Any]) -> None:
        """Run the worker on connections of its own until it stops or loses them."""
        connector = app.connector.get_worker_connector()  # type: ignore[attr-defined]
        with suppress(asyncio.CancelledError), app.replace_connector(connector):
            asyncio.run(self._work(options))

    async def _work(self, options: dict[str, Any]) -> None:
        self._loop, self._running = asyncio.get_running_loop(), asyncio.current_task()
        once = options["once"]
        try:
            async with app.open_async():
                await retry_stalled(app, silent_seconds=options["stalled_after"])
                if not once:
                    self.stdout.write("worker is ready")
                    self.stdout.flush()
                await app.run_worker_async(
                    queues=[QUEUE],
                    wait=not once,
                    # One at a time when the queue is to be emptied: a job behind a lock that
                    # another one holds looks like an empty queue.
                    concurrency=1 if once else options["concurrency"],
                    fetch_job_polling_interval=POLLING_SECONDS,
                    delete_jobs="successful",
                    install_signal_handlers=False,
                )
        finally:
            self._loop = self._running = None
