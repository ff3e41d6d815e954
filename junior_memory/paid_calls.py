"""Which model calls a stretch of time counts, when and for what: sums and lists read the same rows.

A call that an event owns counts at the event's moment, any other at its own. What it was for
follows from the event's name, or without an event from the call. `spending` adds these rows up;
`list_calls` shows the very rows that a sum is made of.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.functions import TruncDate

from junior_memory import events, model_calls
from junior_memory.models import ModelCall
from junior_memory.records import MAX_ROWS, After, Rows

EXTRACTION = "extraction"
RECALL = "recall"
REVIEW = "review"
UPKEEP = "upkeep"
NOTHING = "nothing"
PURPOSES = (EXTRACTION, RECALL, REVIEW, UPKEEP, NOTHING)
"""What money is for: three kinds of events, and calls that no event owns.

Of the latter, upkeep answered, and for no session, recall or tool call: vectors of memories and
searches, comparisons of a person's own words, trials, checks. The rest bought nothing.
"""

USED = "used"
"""Every purpose but `nothing`."""

UNUSED = "unused"
"""Why a good answer bought nothing: the session, recall or tool call it was for came to nothing."""

GOOD = "ok"

UPKEEP_OPERATIONS = (
    model_calls.EMBED,
    model_calls.CHECK,
    model_calls.ADJUDICATION,
    model_calls.RELEVANCE,
)

_BY_EVENT = {
    events.MEMORIES_CAPTURED: EXTRACTION,
    events.MEMORIES_CAPTURE_FAILED: EXTRACTION,
    events.MEMORIES_RECALLED: RECALL,
    events.MEMORY_REVIEWED: REVIEW,
}
_OWNED = Case(
    *(When(event__name=name, then=Value(purpose)) for name, purpose in _BY_EVENT.items()),
    default=Value(EXTRACTION),
    output_field=CharField(),
)
_IS_UPKEEP = Q(
    outcome=GOOD,
    operation__in=UPKEEP_OPERATIONS,
    recall_id=None,
    session=None,
    tool_call_key="",
)
_OWNERLESS = Case(
    When(_IS_UPKEEP, then=Value(UPKEEP)), default=Value(NOTHING), output_field=CharField()
)


def purpose_of(event: str, operation: str, outcome: str, *, is_loose: bool) -> str:
    """Say what calls were for by the name of their event; without one, whether they were of use.

    As `owned` and `ownerless` say it of rows. `is_loose`: for no session, recall or tool call.
    """
    if event:
        return _BY_EVENT.get(event, EXTRACTION)
    is_upkeep = is_loose and outcome == GOOD and operation in UPKEEP_OPERATIONS
    return UPKEEP if is_upkeep else NOTHING


Calls = QuerySet[Any, Any]
"""Model calls with what they count as: `at`, `day`, `purpose`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """Which calls are meant, whenever they were; what is not said narrows nothing.

    `reason` is why calls bought nothing: an outcome, or `unused`. `not_operations` and `not_models`
    leave some out: what a split draws by name beside "everything else".
    """

    purpose: str = ""
    operation: str | None = None
    model: str | None = None
    outcome: str = ""
    reason: str = ""
    not_operations: tuple[str, ...] = ()
    not_models: tuple[str, ...] = ()
    event_id: UUID | None = None
    is_unpriced: bool = False

    def between(self, since: datetime, until: datetime) -> Which:
        """Return those of a stretch of time."""
        said = {each.name: getattr(self, each.name) for each in fields(Narrowing)}
        return Which(since=since, until=until, **said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Which(Narrowing):
    """Which of a stretch's calls are meant; both ends count."""

    since: datetime
    until: datetime

    @property
    def is_of_lines(self) -> bool:
        """True when it asks for nothing but what calls of one line agree in (`admits`)."""
        return self.event_id is None and not self.is_unpriced

    def admits(self, *, purpose: str, operation: str, model: str, outcome: str) -> bool:
        """True when calls that agree in these are meant, whenever they were."""
        wanted = GOOD if self.reason == UNUSED else self.reason
        return (
            self.operation in {None, operation}
            and self.model in {None, model}
            and operation not in self.not_operations
            and model not in self.not_models
            and self.outcome in {"", outcome}
            and (not self.reason or (purpose, outcome) == (NOTHING, wanted))
            and (self.purpose in {"", purpose} or (self.purpose == USED and purpose != NOTHING))
        )

    @property
    def _narrowed(self) -> Q:
        """What does not depend on what a call counts for."""
        found = Q()
        if self.operation is not None:
            found &= Q(operation=self.operation)
        if self.model is not None:
            found &= Q(model=self.model)
        if self.not_operations:
            found &= ~Q(operation__in=self.not_operations)
        if self.not_models:
            found &= ~Q(model__in=self.not_models)
        if self.event_id is not None:
            found &= Q(event_id=self.event_id)
        if self.is_unpriced:
            found &= Q(cost_usd=None)
        if self.outcome:
            found &= Q(outcome=self.outcome)
        if self.reason:
            outcome = GOOD if self.reason == UNUSED else self.reason
            found &= Q(purpose=NOTHING, outcome=outcome)
        if self.purpose == USED:
            return found & ~Q(purpose=NOTHING)
        return found & Q(purpose=self.purpose) if self.purpose else found


def owned(which: Which) -> Calls:
    """Return the calls that events of the stretch own."""
    rows = ModelCall.objects.filter(
        event__created_at__gte=which.since, event__created_at__lte=which.until
    ).annotate(
        at=F("event__created_at"),
        day=TruncDate("event__created_at", tzinfo=UTC),
        purpose=_OWNED,
    )
    return rows.filter(which._narrowed)


def ownerless(which: Which) -> Calls:
    """Return the calls of the stretch that no event owns."""
    rows = ModelCall.objects.filter(
        event=None, created_at__gte=which.since, created_at__lte=which.until
    ).annotate(
        at=F("created_at"),
        day=TruncDate("created_at", tzinfo=UTC),
        purpose=_OWNERLESS,
    )
    return rows.filter(which._narrowed)


def made(since: datetime, until: datetime) -> Calls:
    """Return the calls that were made in a stretch, whatever came of them: what budgets count."""
    return ModelCall.objects.filter(created_at__gte=since, created_at__lte=until)


@dataclass(frozen=True, slots=True)
class Call:
    """One call as a list shows it: what it was for, how it came out, what it cost. No content."""

    id: UUID
    at: datetime
    purpose: str
    operation: str
    provider: str
    model: str
    outcome: str
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None
    duration_ms: int
    agent: str
    event_id: UUID | None

    @property
    def reason(self) -> str:
        """Why it bought nothing, or how it came out."""
        return reason_of(self.purpose, self.outcome)


def reason_of(purpose: str, outcome: str) -> str:
    """Say why a call bought nothing: its fault, or that a good answer came to nothing."""
    return UNUSED if purpose == NOTHING and outcome == GOOD else outcome


def list_calls(which: Which, *, limit: int = 50, after: After | None = None) -> Rows[Call]:
    """Return some of the calls that count, newest first: at most one query for each kind of event.

    Each kind by itself, so that its newest are found by its index and nothing is sorted.
    """
    kinds = [owned(which).filter(event__name=name) for name in _names(which)]
    if which.purpose in {"", USED, UPKEEP, NOTHING} and which.event_id is None:
        kinds.append(ownerless(which))
    return _newest(kinds, limit=limit, after=after)


def list_made(calls: Calls, *, limit: int = 50, after: After | None = None) -> Rows[Call]:
    """Return some of the calls that a budget counts, newest first by when they were made."""
    purpose = Case(
        *_OWNED.cases,
        When(event__isnull=False, then=Value(EXTRACTION)),
        *_OWNERLESS.cases,
        default=Value(NOTHING),
        output_field=CharField(),
    )
    rows = calls.annotate(at=F("created_at"), purpose=purpose)
    return _newest([rows], limit=limit, after=after)


def _names(which: Which) -> list[str]:
    """Return the kinds of events whose calls may be meant."""
    if which.reason:
        return []
    return [name for name, purpose in _BY_EVENT.items() if which.purpose in {"", USED, purpose}]


def _newest(kinds: Iterable[Calls], *, limit: int, after: After | None) -> Rows[Call]:
    size = min(max(limit, 1), MAX_ROWS)
    found: list[Call] = []
    for rows in kinds:
        if after is not None:
            rows = rows.filter(Q(at__lt=after.at) | Q(at=after.at, id__gt=after.id))
        found += [
            _call(row) for row in rows.select_related("agent").order_by("-at", "id")[: size + 1]
        ]
    found.sort(key=lambda call: call.id)
    found.sort(key=lambda call: call.at, reverse=True)
    last = found[size - 1] if len(found) > size else None
    return Rows(tuple(found[:size]), After(last.at, last.id) if last else None)


def _call(row: Any) -> Call:
    return Call(
        id=row.pk,
        at=row.at,
        purpose=row.purpose,
        operation=row.operation,
        provider=row.provider,
        model=row.model,
        outcome=row.outcome,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
        duration_ms=row.duration_ms,
        agent=row.agent.name if row.agent else "",
        event_id=row.event_id,
    )
