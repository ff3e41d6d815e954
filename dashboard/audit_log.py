"""The audit of the whole deployment, for staff: who did what, to whom, by what means and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from dashboard.detail import MEANS
from dashboard.words import counted
from junior_memory.models import AuditEntry
from junior_memory.records import After, Rows

PAGE_SIZE = 50
NOBODY = {"command": "An operator", "worker": "The system"}

DONE = {
    "approved": "approved a held memory",
    "conflict_decided": "decided between two memories",
    "conflict_reopened": "took a decision between two memories back",
    "corrected": "corrected a memory",
    "declined": "declined a held memory",
    "invitation_accepted": "joined by invitation",
    "invitation_withdrawn": "withdrew an invitation",
    "password_changed": "changed the password",
    "password_reset": "set a new password by mail",
    "person_deleted": "deleted a person",
    "person_invited": "invited somebody",
    "token_created": "made a token",
    "token_revoked": "revoked a token",
    "erased": "erased a memory",
    "exported": "exported everything",
    "identity_linked": "linked an account",
    "identity_unlinked": "unlinked an account",
    "mark_lifted": "allowed a forgotten fact to be learned again",
    "preferences_changed": "changed settings",
    "read_as_admin": "opened a read of somebody’s memory",
    "removed_public": "removed a public memory",
    "reported": "reported a public memory",
    "restored_public": "put a public memory back",
    "undecided": "took the decision about a held memory back",
}
COUNTED = {
    "forgot": "forgot",
    "forgot_all": "forgot everything:",
    "imported": "imported",
    "restored": "brought back",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was done, in words; never what a memory said."""

    at: datetime
    who: str
    what: str
    whom: str
    means: str
    reason: str


def read_audit(*, after: After | None = None) -> Rows[Line]:
    """Return one page of the audit, newest first, in one query."""
    rows = AuditEntry.objects.select_related("actor", "person", "token")
    if after is not None:
        rows = rows.filter(Q(created_at__lt=after.at) | Q(created_at=after.at, id__gt=after.id))
    found = list(rows.order_by("-created_at", "id")[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    following = After(shown[-1].created_at, shown[-1].pk) if len(found) > PAGE_SIZE else None
    return Rows(tuple(_lines(shown)), following)


def _lines(entries: Iterable[AuditEntry]) -> Iterable[Line]:
    for entry in entries:
        # Where no person acted, who it was says by what means already.
        own = entry.actor_id is not None and entry.actor_id == entry.person_id
        token = f"with the token {entry.token.prefix}…" if entry.token else ""
        yield Line(
            at=entry.created_at,
            who=entry.actor.email if entry.actor else NOBODY.get(entry.via, "An assistant"),
            what=_what(entry),
            whom=entry.person.email if entry.person and not own else "",
            means=token or ("" if entry.actor is None else MEANS.get(entry.via, entry.via)),
            reason=entry.reason,
        )


def _what(entry: AuditEntry) -> str:
    if entry.action in COUNTED:
        count = int(entry.details.get("count", entry.details.get("imported", 1)))
        return f"{COUNTED[entry.action]} {counted(count, 'memory', 'memories')}"
    return DONE.get(entry.action, entry.action.replace("_", " "))
