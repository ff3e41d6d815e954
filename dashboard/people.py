"""The page of who has an account and who is invited: names and dates, nothing remembered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from junior_memory.models import Invitation, User

SHOWN = 100
"""People and invitations on the page; a search finds the others."""


@dataclass(frozen=True, slots=True)
class Invited:
    """One invitation that nobody followed yet."""

    invitation: Invitation
    expired: bool


@dataclass(frozen=True, slots=True)
class People:
    """Everything on the page."""

    query: str
    invited: tuple[Invited, ...]
    people: tuple[User, ...]
    total: int


def read_people(*, now: datetime, query: str = "") -> People:
    """Read the newest invitations and people whose address or name holds `query`."""
    # A NUL, which PostgreSQL takes in no text, is in nobody's address or name.
    asked = " ".join(query.replace("\x00", "").split())[:200]
    invitations = Invitation.objects.filter(accepted_at=None, email__icontains=asked)
    rows = invitations.select_related("invited_by").order_by("-sent_at", "pk")[:SHOWN]
    found = User.objects.filter(Q(email__icontains=asked) | Q(display_name__icontains=asked))
    return People(
        query=asked,
        invited=tuple(Invited(row, row.expires_at <= now) for row in rows),
        people=tuple(found.order_by("-created_at", "pk")[:SHOWN]),
        total=found.count(),
    )
