"""What was acknowledged, held against what is there; what was paid, against the model's bill."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from tests.faults.clients import Clients
from tests.faults.deployment import Deployment
from tests.marks import MARK, fates_of_rows, fates_of_sessions

DRAIN_SECONDS = 150.0
LATE_SHARE = 0.05
"""Share of recalls, or one, that may be late: a machine that starts processes starves threads."""

UNFINISHED = """SELECT count(*) FROM junior_memory_completedsession
WHERE state IN ('queued', 'processing')"""
FAILED = """SELECT session_id FROM junior_memory_completedsession
WHERE state = 'failed' AND left(reason, 6) = 'model_' AND transcript IS NOT NULL"""
ROWS = "SELECT content, archived_at IS NULL FROM junior_memory_memory WHERE content LIKE %s"
EVENTS = """SELECT session.session_id, session.state, count(event.id)
FROM junior_memory_completedsession AS session
LEFT JOIN junior_memory_conversationevent AS event
    ON event.session_id = session.id AND event.name = 'memories_captured'
GROUP BY session.id"""
CALLS = """SELECT operation = 'embed', count(*) FROM junior_memory_modelcall GROUP BY 1"""
VECTORS = """SELECT count(*) FROM junior_memory_memory AS memory
WHERE archived_at IS NULL AND superseded_at IS NULL AND held_at IS NULL AND NOT EXISTS (
    SELECT FROM junior_memory_memoryembedding WHERE memory_id = memory.id)"""


@dataclass
class Verdict:
    """How one fault was outlived; counts of what went wrong have to be nothing."""

    lost: int = 0
    double: int = 0
    back: int = 0
    leaks: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    calls_missing: int = 0
    calls_excused: int = 0
    given_up: int = 0
    """Sessions that failed with the model's reason, and were processed when staff retried them."""
    answered: int = 0
    refused: int = 0
    late_recalls: int = 0
    extra_calls: int = 0
    """Calls on the record that the model's server did not see as such: refused connections."""

    @property
    def survived(self) -> bool:
        """True when nothing was lost, double, back, leaked, unpaid or wrongly answered."""
        counts = (self.lost, self.double, self.back, self.leaks)
        is_paid = self.calls_missing <= self.calls_excused
        return is_paid and not any(counts) and not self.wrong


def drain(deployment: Deployment, *, seconds: float = DRAIN_SECONDS) -> int:
    """Wait until every session is finished; returns how many are left when none ends any more.

    `seconds` is how long one may take: how long all of them take is the machine's affair.
    """
    left, deadline = -1, 0.0
    while True:
        waiting = int(deployment.sql(UNFINISHED)[0][0])
        if waiting != left:
            left, deadline = waiting, time.monotonic() + seconds
        if not waiting or time.monotonic() > deadline:
            return waiting
        time.sleep(0.5)


def judge(deployment: Deployment, clients: Clients) -> Verdict:
    """Compare everything, once the deployment is healthy again and the clients are done."""
    ledger = clients.ledger
    verdict = Verdict(
        wrong=Counter(ledger.wrong),
        answered=sum(ledger.answers.values()) - ledger.refused(),
        refused=ledger.refused(),
    )
    waiting = drain(deployment)
    if not waiting and clients.model_may_fail:
        verdict.given_up = _retry_failed(deployment, clients, verdict)
        waiting = drain(deployment)
    if waiting:
        verdict.wrong["sessions not finished"] += waiting
    _judge_rows(deployment, clients, verdict)
    _judge_sessions(deployment, clients, verdict)
    _judge_logs(deployment, clients, verdict)
    _judge_bill(deployment, verdict)
    verdict.late_recalls = ledger.late_recalls
    recalls = sum(n for what, n in ledger.answers.items() if what.startswith("POST /recall "))
    if ledger.late_recalls > max(1.0, recalls * LATE_SHARE):
        verdict.wrong["recall beyond its deadline"] += ledger.late_recalls
    return verdict


def _retry_failed(deployment: Deployment, clients: Clients, verdict: Verdict) -> int:
    """Retry what was given up on the model; returns how many."""
    failed = [str(name) for (name,) in deployment.sql(FAILED)]
    for name in failed:
        if not clients.retry(name):
            verdict.wrong["session cannot be retried"] += 1
    return len(failed)


def _judge_rows(deployment: Deployment, clients: Clients, verdict: Verdict) -> None:
    ledger = clients.ledger
    kept = (ledger.written.keys() | ledger.tools | ledger.sessions.keys()) - ledger.forgotten
    rows = [(text, is_active) for text, is_active in deployment.sql(ROWS, "%mark%")]
    fates = fates_of_rows(rows, kept=kept, forgotten=ledger.forgotten)
    verdict.lost += fates.lost
    verdict.double += fates.double
    verdict.back += fates.back + len(ledger.seen_again)
    verdict.leaks += len(ledger.leaks)


def _judge_sessions(deployment: Deployment, clients: Clients, verdict: Verdict) -> None:
    states, events = {}, {}
    for name, state, count in deployment.sql(EVENTS):
        states[name], events[name] = state, count
    handed_in = clients.ledger.sessions.values()
    fates = fates_of_sessions(handed_in, events)
    verdict.lost += fates.lost
    verdict.double += fates.double
    for state in (states.get(name, "absent") for name in handed_in):
        if state != "processed":
            verdict.wrong[f"session {state}"] += 1


def _judge_logs(deployment: Deployment, clients: Clients, verdict: Verdict) -> None:
    for name, line in deployment.logs():
        if MARK.search(line) or "on the shelf" in line or "told" in line.split():
            verdict.leaks += 1
            verdict.wrong[f"content in {name}"] += 1


def _judge_bill(deployment: Deployment, verdict: Verdict) -> None:
    """Every request that the model's server saw is on the record, also what nobody waited for."""
    recorded = {bool(is_embed): int(n) for is_embed, n in deployment.sql(CALLS)}
    seen = {True: len(deployment.model.embedded), False: len(deployment.model.asked)}
    for is_embed, count in seen.items():
        missing = count - recorded.get(is_embed, 0)
        verdict.calls_missing += max(0, missing)
        verdict.extra_calls += max(0, -missing)
