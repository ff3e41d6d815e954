"""What staff are told of the deployment as a whole: every list and sum, for the self-test to read.

None of it holds a word of anybody's or says whose anything is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from junior_memory import budgets, event_rows, paid_calls, reports, spending, turnover
from junior_memory.day_windows import WINDOWS

A_DAY = timedelta(days=1)


def told_to_staff(now: datetime) -> Mapping[str, object]:
    """Return everything that staff may read without a reason, of the last day, by what it is."""
    since = now - A_DAY
    return {
        "what calls cost": paid_calls.list_calls(paid_calls.Which(since=since, until=now)),
        "what a budget paid": paid_calls.list_made(budgets.calls_of(budgets.DAY, None, now=now)),
        "costs": spending.costs(min(WINDOWS), now=now),
        "report": reports.operational_report(now=now),
        "events": [event_rows.list_events(kind, since, now) for kind in event_rows.KINDS],
        "what came or went": [turnover.list_changes(part, since, now) for part in turnover.PARTS],
        "what is there now": [turnover.list_present(part, now) for part in turnover.PRESENT],
    }
