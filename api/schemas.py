"""What goes over the wire: camelCase keys, times in UTC with Z, costs as numbers.

Bodies are strict and refuse unknown keys; answers always hold every key, null where there is none.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from django.utils.dateparse import parse_datetime
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel

from junior_memory import clock
from junior_memory.errors import JuniorMemoryError
from junior_memory.text import check_name, clean_text

VisibilityName = Literal["session", "private", "org", "public"]
KindName = Literal["preference", "procedure", "knowledge"]
OriginName = Literal["explicit", "automatic", "import"]
StateName = Literal["active", "held", "forgotten", "superseded", "expired"]


class In(BaseModel):
    """A body: exact types, no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)


class Params(BaseModel):
    """Query parameters, read as what they stand for. The gate refuses unknown ones."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel)


class Out(BaseModel):
    """An answer."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


def format_instant(moment: datetime) -> str:
    """Return an instant as ISO 8601 in UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _read_instant(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 time")
    try:
        moment = parse_datetime(value)
    except ValueError:
        moment = None
    if moment is None:
        raise ValueError("must be an ISO 8601 time")
    if moment.tzinfo is None:
        raise ValueError("must name its offset from UTC, for example Z")
    if not clock.representable(moment):
        raise ValueError("is out of range")
    return moment.astimezone(UTC)


def _clean(value: str) -> str:
    try:
        return clean_text(value)
    except JuniorMemoryError as error:
        raise ValueError(error.message) from error


def _plain_name(value: str) -> str:
    try:
        return check_name(value, field="name")
    except JuniorMemoryError as error:
        raise ValueError("must have 1 to 255 characters and no control characters") from error


def _without_nul(value: str) -> str:
    if "\x00" in value or _clean(value) != value:
        raise ValueError("must hold no NUL")
    return value


def _whole(value: object) -> object:
    if isinstance(value, str):
        if not (value.isascii() and value.lstrip("-").isdecimal()) or len(value) > 12:
            raise ValueError("must be a whole number")
        return int(value)
    return value


def _as_number(amount: Decimal) -> float:
    return float(amount)


Instant = Annotated[
    datetime,
    BeforeValidator(_read_instant),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time in a body: any offset, but one has to be named."""

Moment = Annotated[
    datetime,
    PlainSerializer(format_instant, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time in an answer: UTC with Z."""

Usd = Annotated[Decimal, PlainSerializer(_as_number, return_type=float)]
"""US dollars in an answer, as a number."""

Text = Annotated[str, AfterValidator(_clean)]
"""Text in a body: NUL is dropped, lone surrogates are refused."""

Name = Annotated[str, AfterValidator(_plain_name)]
"""An id, key or subject in a body: 1-255 characters, no control characters."""

Word = Annotated[str, AfterValidator(_without_nul)]
"""Text in a query: NUL and lone surrogates are refused."""

Whole = Annotated[int, BeforeValidator(_whole)]
"""A number in a query, in plain digits."""


class SubjectOut(Out):
    """What a memory is about, and whether that is the caller."""

    type: Literal["user", "conversation", "general"]
    mine: bool


class LocationOut(Out):
    """Where it was learned."""

    label: str
    url: str | None


class MatchOut(Out):
    """Why a search found it: its words, its distance in meaning, its characters."""

    words: list[str]
    meaning: float | None
    characters: bool


class MemoryOut(Out):
    """One memory as its viewer may know it."""

    id: UUID
    content: str
    kind: KindName
    visibility: VisibilityName
    agent: str
    origin: OriginName
    state: StateName
    subject: SubjectOut
    source_platform: str
    location: LocationOut | None
    conversation_id: str | None
    created_at: Moment
    observed_at: Moment
    expires_at: Moment | None
    forgotten_at: Moment | None
    purge_at: Moment | None
    superseded_by: UUID | None
    version: int
    forgettable: bool


class FoundMemoryOut(MemoryOut):
    """One memory of a search, with the reason it was found."""

    match: MatchOut


class TotalOut(Out):
    """How many there are: exactly, or at least."""

    relation: Literal["exact", "atLeast"]
    value: int


class MemoryPageOut(Out):
    """One page of a list or a search."""

    memories: list[FoundMemoryOut | MemoryOut]
    next_cursor: str | None
    total: TotalOut
    degraded: list[str]


class RefusalOut(Out):
    """One id that was left alone, and why."""

    id: UUID
    code: str


class ErrorDetail(BaseModel):
    """What went wrong: a stable code, a sentence for people, and the parts of the request meant."""

    code: str
    message: str
    fields: dict[str, str] | None = None


class ErrorOut(BaseModel):
    """Every error of this interface."""

    error: ErrorDetail


def field_errors(errors: list[dict[str, Any]]) -> dict[str, str]:
    """Return pydantic's findings by the part of the request they mean; never what was sent."""
    found: dict[str, str] = {}
    for problem in errors:
        # The first steps say "in the body, in its parameter", which a caller does not know.
        source, *steps = [str(step) for step in problem["loc"]]
        steps = (steps[1:] if source == "body" else steps) or [source]
        message = str(problem["msg"]).removeprefix("Value error, ")
        if (problem.get("ctx") or {}).get("field_type") == "Value":
            # What is counted of a text that was read before it was measured.
            message = message.replace(" item", " character")
        found.setdefault(".".join(steps)[:200], message[:200])
    return found


Limit = Annotated[Whole, Field(ge=1, le=50)]
"""How many rows a page may have."""
