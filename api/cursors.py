"""Places in a list: signed, holding no text, good for the filters they were made for."""

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core import signing

from api.failures import Refused, malformed
from junior_memory import fingerprints

SALT = "junior_memory.cursor"
LONGEST = 400
VERSION = 1


@dataclass(frozen=True, slots=True)
class Place:
    """After which row a page begins: by time and id, or by rank."""

    created_at: datetime | None = None
    id: UUID | None = None
    offset: int = 0

    @property
    def key(self) -> tuple[datetime, UUID]:
        """The row's time and id. Raises Refused for a place in a ranked list."""
        if self.created_at is None or self.id is None:
            raise _not_ours()
        return self.created_at, self.id


def _not_ours() -> Refused:
    return malformed("That cursor is not one of this list.", fields={"cursor": "invalid"})


def binding(*parts: object) -> str:
    """Return the keyed hash of whom and what a list is for; it tells nothing of a query's words."""
    text = json.dumps([str(part) for part in parts])
    return fingerprints.keyed("cursor", text).rpartition("$")[2][:24]


def write_cursor(place: Place, *, bound_to: str) -> str:
    """Return a cursor for the page after `place`."""
    where: list[object] = (
        [place.created_at.isoformat(), str(place.id)] if place.created_at else [place.offset]
    )
    return signing.dumps([VERSION, bound_to, *where], salt=SALT)


def read_cursor(cursor: str, *, bound_to: str) -> Place:
    """Return the place a cursor names. Raises Refused unless it is one of ours for this list."""
    try:
        if len(cursor) > LONGEST:
            raise ValueError
        version, bound, *where = signing.loads(cursor, salt=SALT)
        if version != VERSION or bound != bound_to:
            raise ValueError
        if len(where) == 1:
            return Place(offset=int(where[0]))
        created_at, memory_id = where
        return Place(created_at=datetime.fromisoformat(created_at), id=UUID(memory_id))
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise _not_ours() from error
