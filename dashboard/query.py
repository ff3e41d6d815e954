"""What a list of memories is asked for, read from an address and written back into one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core import signing
from django.http import QueryDict
from django.urls import reverse

from junior_memory.errors import InvalidInput
from junior_memory.filters import Filters
from junior_memory.models import MemoryKind, Origin, Visibility
from junior_memory.text import MAX_NAME_LENGTH, collapse

MAX_QUERY = 200
"""Characters of a search (CONFORMANCE 1.6)."""

STATES = ("active", "forgotten", "superseded", "expired")
"""What the list shows; held memories wait in the inbox."""

ACTIVE = "active"
FORGOTTEN = "forgotten"
CURSOR_SALT = "dashboard.memories.cursor"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the next page begins: after a row of the newest-first list, or at a rank."""

    created_at: datetime | None = None
    id: UUID | None = None
    offset: int = 0

    @property
    def after(self) -> tuple[datetime, UUID] | None:
        """The row it comes after, or None for a place in a ranked list."""
        return (self.created_at, self.id) if self.created_at and self.id else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """One list: words, state and filters. An unknown value narrows nothing (CONFORMANCE 210)."""

    q: str = ""
    state: str = ACTIVE
    visibility: str = ""
    kind: str = ""
    origin: str = ""
    agent: str = ""
    place: Place | None = None

    @classmethod
    def read(cls, values: QueryDict) -> ListQuery:
        """Read the query part of an address. Raises InvalidInput for a cursor of another list."""

        def known(name: str, among: list[str]) -> str:
            value = values.get(name, "")
            return value if value in among else ""

        state = known("state", list(STATES)) or ACTIVE
        text = collapse(values.get("q", "").replace("\x00", ""))[:MAX_QUERY]
        agent = values.get("agent", "").replace("\x00", "")[:MAX_NAME_LENGTH]
        query = cls(
            q="" if state == FORGOTTEN else text,
            state=state,
            visibility=known("visibility", Visibility.values),
            kind=known("kind", MemoryKind.values),
            origin=known("origin", Origin.values),
            agent=agent,
        )
        cursor = values.get("cursor", "")
        return replace(query, place=query._open(cursor)) if cursor else query

    @classmethod
    def at(cls, url: str) -> ListQuery:
        """Read a local address that a form came from; its cursor is left out."""
        values = QueryDict(url.partition("?")[2], mutable=True)
        values.pop("cursor", None)
        return cls.read(values)

    @property
    def filters(self) -> Filters:
        """The filters as the search takes them."""
        return Filters(
            visibility=self.visibility, kind=self.kind, origin=self.origin, agent=self.agent
        )

    @property
    def is_narrowed(self) -> bool:
        """True when a filter leaves something out."""
        return bool(self.visibility or self.kind or self.origin or self.agent)

    @property
    def kept(self) -> dict[str, str]:
        """What a new search keeps of this list, by parameter."""
        return {name: value for name, value in self._pairs.items() if name != "q"}

    @property
    def can_search(self) -> bool:
        """True for lists whose words may be asked for: forgotten ones are out of every search."""
        return self.state != FORGOTTEN

    @property
    def _pairs(self) -> dict[str, str]:
        """What an address says of this list, by parameter."""
        names = ("q", "state", "visibility", "kind", "origin", "agent")
        found = {name: getattr(self, name) for name in names}
        return {
            name: value
            for name, value in found.items()
            if value and (name, value) != ("state", ACTIVE)
        }

    def url(self, **changes: Any) -> str:
        """Return the address of this list, changed; always its first page."""
        pairs = replace(self, place=None, **changes)._pairs
        return reverse("memories") + (f"?{urlencode(pairs)}" if pairs else "")

    def page_url(self, place: Place) -> str:
        """Return the address of the page that begins at a place."""
        url = self.url()
        return f"{url}{'&' if '?' in url else '?'}{urlencode({'cursor': self.seal(place)})}"

    def _digest(self) -> str:
        """Stand for this list in a cursor without holding its words."""
        return hashlib.sha256(self.url().encode()).hexdigest()[:16]

    def seal(self, place: Place) -> str:
        """Write a place as a signed cursor that fits this list alone and holds no text."""
        at = place.created_at.isoformat() if place.created_at else ""
        value = [self._digest(), at, str(place.id or ""), place.offset]
        return signing.dumps(value, salt=CURSOR_SALT)

    def _open(self, cursor: str) -> Place:
        """Read a cursor back; raises InvalidInput unless it was sealed for this list."""
        try:
            digest, at, memory_id, offset = signing.loads(cursor, salt=CURSOR_SALT)
        except (signing.BadSignature, ValueError) as error:
            raise InvalidInput(
                "That page of the list does not exist; start again from the top."
            ) from error
        if digest != self._digest():
            raise InvalidInput("That page belongs to another list; start again from the top.")
        return Place(
            created_at=datetime.fromisoformat(at) if at else None,
            id=UUID(memory_id) if memory_id else None,
            offset=int(offset),
        )
