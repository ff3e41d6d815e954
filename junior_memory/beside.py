"""Work beside the one that is waited for: in a thread, on a connection of its own.

Half of a web process's connections may be second ones (`to_spare`). Where there is none, work takes
turns, instead of waiting for connections that hold each other up.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.db import connections

logger = logging.getLogger(__name__)

HEAD_START_SECONDS = 0.004
"""For a request to a model to leave before other work begins: beside that, in the same interpreter,
it left 5 to 10 ms later, and its answer is what is waited for."""

_SIZE = int(settings.WEB_CONNECTION_POOL["max_size"])
to_spare = threading.BoundedSemaphore(max(1, _SIZE // 2))
for_records = threading.BoundedSemaphore(max(1, _SIZE // 5))
"""For records that nobody waits for: they take no place from a search."""


def in_thread(
    work: Callable[[], object], *, name: str, afterwards: Callable[[], object] | None = None
) -> threading.Thread:
    """Begin work in a thread with this one's context; its connections are closed at its end.

    `afterwards` is called once they are. What breaks is logged by class alone: a thread's last
    words would hold content. Raises RuntimeError where the system gives no thread.
    """

    def run() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - see above
            logger.error("%s broke (%s)", name, type(error).__name__)
        finally:
            connections.close_all()
            if afterwards is not None:
                afterwards()

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        if afterwards is not None:
            afterwards()
        raise
    return thread


def beside(work: Callable[[], object]) -> Callable[[], None]:
    """Begin a small write on a connection of its own; returns what waits for its end.

    At once, in this thread, when there is no connection to spare, or no thread. `work` raises
    nothing.
    """
    if to_spare.acquire(blocking=False):
        with suppress(RuntimeError):
            return in_thread(work, name="beside", afterwards=to_spare.release).join
    work()
    return lambda: None
