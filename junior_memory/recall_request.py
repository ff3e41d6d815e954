"""What a host asks before a run, and why there may be nothing to look for at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from junior_memory import consent
from junior_memory.access import Source, Viewer
from junior_memory.conf import conf
from junior_memory.deadlines import Deadline
from junior_memory.models import Agent

OTHERS_SHARE = 0.8
"""What of the remaining time the operator's own code may use."""


class Silence(StrEnum):
    """Why a recall gave nothing before it looked; the empty one means it looked."""

    NONE = ""
    BLANK = "blank"
    MODE = "memory_mode"
    DEPLOYMENT = "recall_disabled"
    AGENT = "agent_does_not_inject"
    PERSON = "person_turned_recall_off"
    CONSENT = "no_consent"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """What a host asks before a run. Authority is in `viewer` alone; `text` is only searched for.

    `started_at` (monotonic seconds) lets the edge count its own time into the deadline.
    """

    viewer: Viewer
    agent: Agent
    conversation_id: str
    source: Source
    text: str
    limit: int = 6
    deadline_ms: int = 1500
    memory_mode: str = "on"
    started_at: float | None = None


def silence_of(request: RecallRequest, deadline: Deadline) -> tuple[Silence, str]:
    """Say why nothing may be recalled, if so, and which memory mode is honoured."""
    mode = request.memory_mode
    user = request.viewer.user
    if mode in {"off", "writeOnly"}:
        return Silence.MODE, mode
    without_reading = "off" if mode == "readOnly" else "writeOnly"
    if not conf().recall_enabled:
        return Silence.DEPLOYMENT, without_reading
    if not request.agent.inject:
        return Silence.AGENT, without_reading
    if user is not None and user.recall_off_at is not None:
        return Silence.PERSON, without_reading
    if not request.text.strip():
        return Silence.BLANK, mode
    if not consent.is_allowed(turn_of(request), timeout_seconds=seconds_for_others(deadline)):
        return Silence.CONSENT, without_reading
    return Silence.NONE, mode


def turn_of(request: RecallRequest) -> consent.Turn:
    """Return what the operator's own code is told about a recall."""
    return consent.Turn(
        agent=request.agent,
        conversation_id=request.conversation_id,
        source=request.source,
        user=request.viewer.user,
        organization=request.viewer.org,
        use="recall",
    )


def seconds_for_others(deadline: Deadline) -> float:
    """Return what code that is not ours may take of the time that is left."""
    return max(0.0, deadline.remaining_ms) / 1000 * OTHERS_SHARE
