"""Is this deployment well? One page of checks, each with what was seen and what to do about it.

Only counts, names of settings and times are ever said, never content. Nothing is changed; a model
is asked only where its own check says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from django.core.exceptions import ImproperlyConfigured
from django.db import Error
from pydantic import ValidationError

from junior_memory import clock
from junior_memory.doctor import data, environment, isolation, server, work
from junior_memory.doctor.finding import Finding, State, fail, worst

__all__ = ["Finding", "State", "examine", "worst"]

Check = Callable[[datetime], Finding]

BEFORE: Sequence[tuple[str, Check]] = (
    ("settings", environment.settings_are_sound),
    ("disk", environment.disk_has_room),
    ("database", server.database_answers),
)
"""What can be said of any deployment, in this order; without a database there is nothing more."""

OF_THE_SERVER: Sequence[tuple[str, Check]] = (
    ("server", server.server_is_new_enough),
    ("server log", server.log_keeps_content_out),
    ("connections", server.connections_are_left),
    ("write-ahead log", server.nothing_holds_the_log),
    ("clock", server.clocks_agree),
    ("migrations", server.migrations_are_applied),
)

OF_THE_TABLES: Sequence[tuple[str, Check]] = (
    ("statistics", server.planner_keeps_no_text),
    ("fingerprint key", data.key_is_the_one_of_the_data),
    ("worker", work.worker_was_seen),
    ("queue", work.queue_moves),
    ("sessions", work.sessions_come_through),
    ("budgets", work.budgets_are_left),
    ("embedder", environment.embedder_fits),
    ("vectors", data.vectors_cover_memories),
    ("ghost vectors", data.no_ghost_vectors),
    ("stale vectors", data.vectors_are_of_their_text),
    ("search terms", data.terms_cover_memories),
    ("numbers", data.kept_numbers_are_right),
    ("erasure", data.erased_is_erased),
    ("housekeeping", data.nothing_is_overdue),
)


def examine(
    *, now: datetime | None = None, quick: bool = False, ask_model: bool = False
) -> Iterator[Finding]:
    """Look at everything that can be looked at, in a fixed order.

    `quick` leaves out the self-test of isolation, which takes seconds. With `ask_model` the chat
    model and a remote embedder are asked one small, paid question each.
    """
    moment = now or clock.now()
    found: dict[str, State] = {}
    for name, check in BEFORE:
        finding = _looked_at(name, check, moment)
        found[name] = finding.state
        yield finding
    if found["database"] is not State.FAIL:
        for name, check in OF_THE_SERVER:
            finding = _looked_at(name, check, moment)
            found[name] = finding.state
            yield finding
        if found["migrations"] is not State.FAIL:
            for name, check in OF_THE_TABLES:
                yield _looked_at(name, check, moment)
            if not quick:
                yield _looked_at("isolation", isolation.people_are_kept_apart, moment)
    yield _looked_at("chat model", environment.chat_model_fits(ask=ask_model), moment)
    if ask_model:
        yield _looked_at("embedder answers", environment.embedder_answers, moment)


def _looked_at(name: str, check: Check, now: datetime) -> Finding:
    """Return what a check found; one that cannot be made has failed, and says by what."""
    try:
        return check(now)
    except Error as error:
        remedy = "See the checks above; the database refused what this check asks."
        return fail(name, f"could not be looked at ({type(error).__name__})", remedy)
    except (ImproperlyConfigured, ValidationError) as error:
        remedy = "Correct the settings first; see .env.example."
        return fail(name, f"could not be looked at ({type(error).__name__})", remedy)
