"""Who may see and change which memories. The only module that knows.

"May she see this one?" is the same queryset filtered by id; there is no per-object version of the
rule. Indexes and rankers are speed, never authorisation: every leg starts from `visible_to`.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from junior_memory.access import Viewer
    from junior_memory.models import Membership, Memory, User
else:
    Memory = Any

NOT_LISTED = ("search_vector", "evidence_fingerprints")
"""Columns of a memory that no list shows."""

FORGOTTEN_REASONS = ("user_removed", "tool_removed", "admin_removed", "declined")


def _present_organizations(user: User) -> QuerySet[Membership, Any]:
    """Select the organizations a person belongs to now, read again with every query."""
    membership: type[Membership] = apps.get_model("junior_memory", "Membership")
    return membership.objects.filter(user=user).values("organization_id")


class MemoryQuerySet(models.QuerySet["Memory"]):
    """Every predicate over memories in the product."""

    # Who.

    def visible_to(self, viewer: Viewer) -> Self:
        """Rows that this viewer may see, whatever their state (DESIGN 2, "Who sees what")."""
        if viewer.sees_nothing:
            return self.none()
        rule = Q(visibility="public")
        if viewer.user is None:
            return self.filter(rule)
        own = Q(owner=viewer.user)
        orgs = Q(visibility="org", org__in=_present_organizations(viewer.user))
        if viewer.agent is None:
            return self.filter(
                _shared(viewer.user) | own & Q(visibility__in=["private", "session"])
            )
        here = Q(agent=viewer.agent)
        if viewer.admits("user"):
            rule |= own & here & Q(visibility="private") & _admitted_kinds(viewer)
        if viewer.admits("session") and viewer.conversation_id:
            rule |= own & here & Q(visibility="session", conversation_id=viewer.conversation_id)
        if viewer.admits("org") and viewer.org is not None:
            rule |= orgs & here & Q(org=viewer.org)
        return self.filter(rule)

    def own(self, viewer: Viewer) -> Self:
        """Rows that are this person's to manage: private, session, and org rows they wrote."""
        if viewer.user is None or viewer.sees_nothing:
            return self.none()
        return self.filter(_own(viewer.user, viewer))

    def forgettable_by(self, viewer: Viewer) -> Self:
        """Active or not, rows this viewer may forget, correct or restore; narrower than sight."""
        return self.own(viewer)

    def private_to(self, viewer: Viewer) -> Self:
        """Own private and session rows alone: the probe that public rows cannot crowd out."""
        if viewer.user is None:
            return self.none()
        return self.visible_to(viewer).filter(
            owner=viewer.user, visibility__in=["private", "session"]
        )

    def about_viewer_or_nobody(self, viewer: Viewer) -> Self:
        """Leave out facts about another person: those are recalled only for their subject."""
        return self.exclude(_about_others(viewer))

    def about_others(self, viewer: Viewer) -> Self:
        """Facts about another person: what `about_viewer_or_nobody` leaves out."""
        return self.filter(_about_others(viewer))

    def held_by(self, user: User) -> Self:
        """Everything that belongs to or was written by one person, in any state: for erasing."""
        return self.filter(owner=user)

    def concerning(self, user: User) -> Self:
        """Everything held about one person, in any state: theirs, written by or about them.

        Of organization rows those of present organizations: leaving ends sight of the others.
        """
        about = Q(subject_type="user", subject_key=str(user.pk))
        present = ~Q(visibility="org") | Q(org__in=_present_organizations(user))
        return self.filter(Q(owner=user) | about).filter(present)

    def decidable_by(self, viewer: Viewer) -> Self:
        """Held rows that wait for this viewer: their own; for staff the public ones too."""
        if viewer.user is None or viewer.sees_nothing:
            return self.none()
        mine = _own(viewer.user, viewer)
        if viewer.user.is_staff and viewer.agent is None:
            mine |= Q(visibility="public")
        return self.filter(mine, held_reason__gt="")

    # In which state.

    def active(self, now: datetime) -> Self:
        """Not held, archived, superseded or expired."""
        return self.filter(in_state("active", now))

    def held(self) -> Self:
        """Waiting for a person's word."""
        return self.filter(
            held_at__isnull=False, archived_at__isnull=True, superseded_at__isnull=True
        )

    def superseded(self) -> Self:
        """Replaced by something newer, and not forgotten with it."""
        return self.filter(_SUPERSEDED)

    def in_state(self, state: str, now: datetime) -> Self:
        """Rows in one named state."""
        return self.filter(in_state(state, now))

    def unpurged(self) -> Self:
        """Rows whose content is still there."""
        return self.filter(purged_at__isnull=True)

    def to_purge(self, now: datetime) -> Self:
        """Forgotten rows whose undo window is over."""
        return self.filter(purge_at__lte=now, purged_at__isnull=True, archived_at__isnull=False)

    def to_expire(self, now: datetime) -> Self:
        """Rows whose date has passed and that the periodic job has not archived yet."""
        return self.filter(
            expires_at__lte=now, archived_at__isnull=True, superseded_at__isnull=True
        )

    # Which.

    def in_filters(self, *, visibility: str = "", kind: str = "", origin: str = "") -> Self:
        """Narrow by what a list may be filtered by; empty means any."""
        rows = self
        if visibility:
            rows = rows.filter(visibility=visibility)
        if kind:
            rows = rows.filter(kind=kind)
        if origin:
            rows = rows.filter(origin=origin)
        return rows

    def newest_first(self) -> Self:
        """The list's order: created_at descending, then id."""
        return self.order_by("-created_at", "id")

    def after(self, created_at: datetime, memory_id: object) -> Self:
        """The rows that follow a place in the list's order."""
        later = Q(created_at__lt=created_at) | Q(created_at=created_at, id__gt=memory_id)
        # An index finds the place by the bound; by "or" alone it reads the list from its top.
        return self.filter(later, created_at__lte=created_at)

    def for_list(self) -> Self:
        """Fetch what one line of a list shows, in one query."""
        return self.select_related("agent", "org", "location").defer(*NOT_LISTED)


class TallyQuerySet(models.QuerySet[Any]):
    """Numbers of memories, of which those that others share are everybody's or a team's."""

    def shared_with(self, viewer: Viewer) -> Self:
        """What a person sees besides their private and session rows; nothing for others."""
        if viewer.user is None or viewer.sees_nothing or viewer.agent is not None:
            return self.none()
        return self.filter(_shared(viewer.user, team="org_id"))


def _shared(user: User, *, team: str = "org") -> Q:
    """Rows that a person sees with others: public ones, and those of present organizations."""
    present = {f"{team}__in": _present_organizations(user)}
    return Q(visibility="public") | Q(visibility="org", **present)


def _own(user: User, viewer: Viewer) -> Q:
    """Rows that are a person's to manage, in the viewer's namespace where it has one."""
    rule = Q(owner=user) & (
        Q(visibility__in=["private", "session"])
        | Q(visibility="org", org__in=_present_organizations(user))
    )
    return rule if viewer.agent is None else rule & Q(agent=viewer.agent)


def _about_others(viewer: Viewer) -> Q:
    others = Q(subject_type="user")
    return others if viewer.user is None else others & ~Q(subject_key=str(viewer.user.pk))


_SUPERSEDED = Q(superseded_at__isnull=False, archived_at__isnull=True)


def in_state(state: str, now: datetime) -> Q:
    """Return what rows in one named state are; no row is in two. Raises ValueError."""
    lasting = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
    match state:
        case "active":
            return lasting & Q(
                held_at__isnull=True, archived_at__isnull=True, superseded_at__isnull=True
            )
        case "held":
            return lasting & Q(
                held_at__isnull=False, archived_at__isnull=True, superseded_at__isnull=True
            )
        case "forgotten":
            # Not erased yet; the heads of chains alone.
            return Q(
                archive_reason__in=FORGOTTEN_REASONS,
                archived_at__isnull=False,
                superseded_at__isnull=True,
                purged_at__isnull=True,
            )
        case "superseded":
            return _SUPERSEDED
        case "expired":
            # Whether the periodic job has archived them or not.
            # That it is archived says its reason already, but not to the index.
            done = Q(archive_reason="expired", archived_at__isnull=False)
            late = Q(archived_at__isnull=True, superseded_at__isnull=True, expires_at__lte=now)
            return (done | late) & Q(purged_at__isnull=True)
    raise ValueError(f"unknown state {state!r}")


def _admitted_kinds(viewer: Viewer) -> Q:
    """Which own private rows may be used in this conversation, by the person's preference."""
    match viewer.private_use:
        case "all":
            return Q()
        case "preferences":
            return Q(kind="preference")
    return Q(pk__in=[])
