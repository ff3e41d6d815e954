"""What was done about a person, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from dashboard.detail import MEANS
from junior_memory.models import AuditEntry, User

CHANGES = {"publicUse": "what may be used in public", "topics": "topics never to learn"}


@dataclass(frozen=True, slots=True)
class Deed:
    """One line of the activity list."""

    at: datetime
    text: str
    reason: str
    memory_id: UUID | None
    by_staff: bool


BY_NOBODY = {"command": "An operator", "worker": "The system"}
"""Who acted where no person did: the means says it already."""


def deed_of(entry: AuditEntry, person: User) -> Deed:
    """Put one audit entry about a person into a sentence."""
    by_staff = entry.actor_id not in {None, person.pk}
    means = MEANS.get(entry.via, entry.via)
    if entry.token is not None:
        means = f"with the token {entry.token.prefix}…"
    elif entry.actor_id is None and entry.via in BY_NOBODY:
        means = ""
    return Deed(
        at=entry.created_at,
        text=f"{_who(entry, person)} {_what(entry)}" + (f", {means}" if means else ""),
        reason=entry.reason,
        memory_id=entry.memory_id,
        by_staff=by_staff,
    )


def _who(entry: AuditEntry, person: User) -> str:
    if entry.actor_id == person.pk:
        return "You"
    if entry.actor_id is not None:
        return "Staff"
    return BY_NOBODY.get(entry.via, "Your assistant")


def _what(entry: AuditEntry) -> str:
    details: dict[str, Any] = entry.details
    count = details.get("count", 1)
    memories = "a memory" if count == 1 else f"{count:,} memories"
    match entry.action:
        case "forgot":
            return f"forgot {memories}"
        case "forgot_all":
            agent = details.get("agent")
            of = f" that “{agent}” remembered" if agent else ""
            return f"forgot everything{of}: {memories}"
        case "restored":
            return f"brought {memories} back"
        case "preferences_changed":
            return _preferences(details)
        case "imported":
            imported = int(details.get("imported", 0))
            return "imported a memory" if imported == 1 else f"imported {imported:,} memories"
        case "token_created":
            return f"made the token {details.get('token_prefix', '')}…"
    return WHAT.get(entry.action, entry.action.replace("_", " "))


WHAT = {
    "erased": "erased a memory for good",
    "corrected": "corrected a memory",
    "approved": "approved a held memory",
    "declined": "declined a held memory",
    "reported": "reported a public memory",
    "undecided": "took the decision about a held memory back",
    "removed_public": "removed a public memory of yours",
    "restored_public": "put a public memory of yours back",
    "conflict_decided": "decided between two memories that disagree",
    "conflict_reopened": "took the decision between two memories back",
    "exported": "exported everything held about you",
    "identity_linked": "linked an account to you",
    "identity_unlinked": "unlinked an account from you",
    "token_revoked": "revoked a token",
    "mark_lifted": "allowed a forgotten fact to be learned again",
    "password_changed": "changed your password",
    "password_reset": "set a new password by mail",
    "invitation_accepted": "joined by invitation",
    "read_as_admin": "read your memories",
    "admin_read": "read your memories",
}


def _preferences(details: dict[str, Any]) -> str:
    """Say what was switched, and the name of what else changed; never the topics themselves."""
    changed = details.get("changed", [])
    said = [
        f"turned {name} {'on' if details.get(name) else 'off'}"
        for name in ("learning", "recall")
        if name in changed
    ]
    rest = [CHANGES.get(name, name) for name in changed if name not in {"learning", "recall"}]
    if rest:
        said.append(f"changed {' and '.join(rest)}")
    return " and ".join(said) or "changed settings"
