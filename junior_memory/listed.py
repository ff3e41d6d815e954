"""Memories with what a line of a list shows of them, read by a statement that is put together once.

As `for_list` reads them; but Django takes longer to say it than PostgreSQL takes to answer it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model

from junior_memory.models import Agent, Location, Memory, Organization
from junior_memory.parts import Fragment, Part, among, fetch_prepared
from junior_memory.querysets import NOT_LISTED, MemoryQuerySet


class _Columns(NamedTuple):
    """Some columns of the answer, which are one row of a table."""

    model: type[Model]
    alias: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, model: type[Model], alias: str, left_out: Sequence[str] = ()) -> _Columns:
        names = [field.attname for field in model._meta.concrete_fields]
        return cls(model, alias, tuple(name for name in names if name not in left_out))

    @property
    def sql(self) -> str:
        return ", ".join(f'{self.alias}."{name}"' for name in self.names)


_MEMORY = _Columns.of(Memory, "listed", NOT_LISTED)
_RELATED = (
    _Columns.of(Agent, "agent"),
    _Columns.of(Organization, "org"),
    _Columns.of(Location, "location"),
)


def read_listed(rows: MemoryQuerySet, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """Return those of `ids` that are among `rows`, by id; the rest of their columns wait."""
    if not ids:
        return {}
    related: dict[tuple[str, UUID], Model] = {}
    found: dict[UUID, Memory] = {}
    for row in fetch_prepared(_statement(Part.of("listed", rows).having(among(ids)))):
        end = len(_MEMORY.names)
        memory = Memory.from_db(DEFAULT_DB_ALIAS, _MEMORY.names, row[:end])
        for columns in _RELATED:
            start, end = end, end + len(columns.names)
            setattr(memory, columns.alias, _one(columns, row[start:end], related))
        found[memory.pk] = memory
    return found


def _one(
    columns: _Columns, values: tuple[Any, ...], known: dict[tuple[str, UUID], Model]
) -> Model | None:
    """Return the row of a table that these columns are; the same once, none where all are empty."""
    if values[0] is None:
        return None
    key = (columns.alias, values[0])
    if key not in known:
        known[key] = columns.model.from_db(DEFAULT_DB_ALIAS, columns.names, values)
    return known[key]


def _statement(part: Part) -> Fragment:
    shown = part.select(Fragment("id"))
    wanted = ", ".join(columns.sql for columns in (_MEMORY, *_RELATED))
    sql = f"""
        SELECT {wanted} FROM ({shown.sql}) AS shown
        JOIN junior_memory_memory AS listed ON listed.id = shown.id
        JOIN junior_memory_agent AS agent ON agent.id = listed.agent_id
        LEFT JOIN junior_memory_organization AS org ON org.id = listed.org_id
        LEFT JOIN junior_memory_location AS location ON location.id = listed.location_id
    """  # noqa: S608 - values are bound
    return Fragment(sql, shown.values)
