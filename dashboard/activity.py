"""What was done about a person, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from dashboard import words
from dashboard.detail import MEANS
from junior_memory.admin_reads import reader_name
from junior_memory.models import AuditEntry, User

CHANGES = {
    "publicUse": gettext_noop("what may be used in public"),
    "topics": gettext_noop("topics never to learn"),
    "email": gettext_noop("your e-mail address"),
}

SWITCHED = {
    ("learning", True): gettext_noop("turned learning on"),
    ("learning", False): gettext_noop("turned learning off"),
    ("recall", True): gettext_noop("turned recall on"),
    ("recall", False): gettext_noop("turned recall off"),
}


@dataclass(frozen=True, slots=True)
class Deed:
    """One line of the activity list."""

    at: datetime
    text: str
    reason: str
    memory_id: UUID | None
    by_staff: bool


BY_NOBODY = {"command": gettext_noop("An operator"), "worker": gettext_noop("The system")}
"""Who acted where no person did: the means says it already."""


def deed_of(entry: AuditEntry, person: User) -> Deed:
    """Put one audit entry about a person into a sentence."""
    by_staff = entry.actor_id not in {None, person.pk}
    means = _(MEANS.get(entry.via, entry.via))
    if entry.token is not None:
        means = _("with the token {prefix}…").format(prefix=entry.token.prefix)
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
        return _("You")
    if (name := reader_name(entry)) is not None:
        return f"{_('Staff')} ({name})"
    if entry.actor_id is not None:
        return _("Staff")
    return _(BY_NOBODY[entry.via]) if entry.via in BY_NOBODY else _("Your assistant")


def _what(entry: AuditEntry) -> str:
    details: dict[str, Any] = entry.details
    count = details.get("count", 1)
    memories = _("a memory") if count == 1 else words.memories(count)
    match entry.action:
        case "forgot":
            return _("forgot {memories}").format(memories=memories)
        case "forgot_all":
            agent = details.get("agent")
            if agent:
                said = _("forgot everything that “{agent}” remembered: {memories}")
                return said.format(agent=agent, memories=memories)
            return _("forgot everything: {memories}").format(memories=memories)
        case "restored":
            return _("brought {memories} back").format(memories=memories)
        case "preferences_changed":
            return _preferences(details)
        case "imported":
            imported = int(details.get("imported", 0))
            memories = _("a memory") if imported == 1 else words.memories(imported)
            return _("imported {memories}").format(memories=memories)
        case "token_created":
            return _("made the token {prefix}…").format(prefix=details.get("token_prefix", ""))
    return _(WHAT.get(entry.action, entry.action.replace("_", " ")))


WHAT = {
    "erased": gettext_noop("erased a memory for good"),
    "corrected": gettext_noop("corrected a memory"),
    "approved": gettext_noop("approved a held memory"),
    "declined": gettext_noop("declined a held memory"),
    "reported": gettext_noop("reported a public memory"),
    "undecided": gettext_noop("took the decision about a held memory back"),
    "removed_public": gettext_noop("removed a public memory of yours"),
    "restored_public": gettext_noop("put a public memory of yours back"),
    "conflict_decided": gettext_noop("decided between two memories that disagree"),
    "conflict_reopened": gettext_noop("took the decision between two memories back"),
    "exported": gettext_noop("exported everything held about you"),
    "identity_linked": gettext_noop("linked an account to you"),
    "identity_unlinked": gettext_noop("unlinked an account from you"),
    "token_revoked": gettext_noop("revoked a token"),
    "mark_lifted": gettext_noop("allowed a forgotten fact to be learned again"),
    "password_changed": gettext_noop("changed your password"),
    "password_reset": gettext_noop("set a new password by mail"),
    "sessions_ended": gettext_noop("signed out everywhere else"),
    "invitation_accepted": gettext_noop("joined by invitation"),
    "read_as_admin": gettext_noop("read your memories"),
    "admin_read": gettext_noop("read your memories"),
}


def _preferences(details: dict[str, Any]) -> str:
    """Say what was switched, and the name of what else changed; never the topics themselves."""
    changed = details.get("changed", [])
    said = [
        _(SWITCHED[name, bool(details.get(name))])
        for name in ("learning", "recall")
        if name in changed
    ]
    rest = [_(CHANGES.get(name, name)) for name in changed if name not in {"learning", "recall"}]
    if rest:
        said.append(_("changed {what}").format(what=_(" and ").join(rest)))
    return _(" and ").join(said) or _("changed settings")
