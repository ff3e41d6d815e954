"""The audit of the whole deployment, for staff: who did what, to whom, by what means and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from dashboard.amounts import number
from dashboard.detail import MEANS
from junior_memory.models import AuditEntry
from junior_memory.records import After, Rows

PAGE_SIZE = 50
NOBODY = {"command": gettext_lazy("An operator"), "worker": gettext_lazy("The system")}

DONE = {
    "approved": gettext_lazy("approved a held memory"),
    "conflict_decided": gettext_lazy("decided between two memories"),
    "conflict_reopened": gettext_lazy("took a decision between two memories back"),
    "corrected": gettext_lazy("corrected a memory"),
    "declined": gettext_lazy("declined a held memory"),
    "invitation_accepted": gettext_lazy("joined by invitation"),
    "invitation_withdrawn": gettext_lazy("withdrew an invitation"),
    "password_changed": gettext_lazy("changed the password"),
    "password_reset": gettext_lazy("set a new password by mail"),
    "sessions_ended": gettext_lazy("signed out everywhere else"),
    "person_deleted": gettext_lazy("deleted a person"),
    "person_invited": gettext_lazy("invited somebody"),
    "token_created": gettext_lazy("made a token"),
    "token_revoked": gettext_lazy("revoked a token"),
    "erased": gettext_lazy("erased a memory"),
    "exported": gettext_lazy("exported everything"),
    "identity_linked": gettext_lazy("linked an account"),
    "identity_unlinked": gettext_lazy("unlinked an account"),
    "mark_lifted": gettext_lazy("allowed a forgotten fact to be learned again"),
    "preferences_changed": gettext_lazy("changed settings"),
    "read_as_admin": gettext_lazy("opened a read of somebody’s memory"),
    "removed_public": gettext_lazy("removed a public memory"),
    "reported": gettext_lazy("reported a public memory"),
    "restored_public": gettext_lazy("put a public memory back"),
    "undecided": gettext_lazy("took the decision about a held memory back"),
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
            who=entry.actor.email if entry.actor else str(NOBODY.get(entry.via, _("An assistant"))),
            what=_what(entry),
            whom=entry.person.email if entry.person and not own else "",
            means=token or ("" if entry.actor is None else _(MEANS.get(entry.via, entry.via))),
            reason=entry.reason,
        )


def _what(entry: AuditEntry) -> str:
    count = int(entry.details.get("count", entry.details.get("imported", 1)))
    match entry.action:
        case "forgot":
            said = ngettext("forgot {n} memory", "forgot {n} memories", count)
        case "forgot_all":
            said = ngettext(
                "forgot everything: {n} memory", "forgot everything: {n} memories", count
            )
        case "imported":
            said = ngettext("imported {n} memory", "imported {n} memories", count)
        case "restored":
            said = ngettext("brought back {n} memory", "brought back {n} memories", count)
        case other:
            return str(DONE.get(other, other.replace("_", " ")))
    return said.format(n=number(count))
