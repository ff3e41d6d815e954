"""Who is acting, from where. Authority comes only from here: from a credential, never from a body.

Identity → User, Source → visibility. A missing or unknown visibility is private for what is stored
and public for what may be shown (DESIGN promise 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from junior_memory.models import (
    Agent,
    ApiToken,
    Identity,
    Membership,
    Organization,
    PublicUse,
    SourcePlatform,
    User,
)

TIERS = frozenset({"session", "user", "org"})
"""The widget's words for session, private and org rows. Public memory is no tier."""

STORED_VISIBILITIES = frozenset({"private", "org", "public"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationRef:
    """Where something was said, as a host names it."""

    provider: str
    tenant: str
    key: str
    label: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The input that caused work. Sets visibility; nothing else does."""

    platform: str
    key: str = ""
    visibility: str = ""
    session_only: bool = False
    location: LocationRef | None = None

    @property
    def stored_visibility(self) -> str:
        """What is learned here is kept as: unknown means private."""
        return self.visibility if self.visibility in STORED_VISIBILITIES else "private"

    @property
    def is_private(self) -> bool:
        """True when only the actor reads the answer: unknown means it is not."""
        return self.visibility == "private"

    @property
    def may_be_learned_from(self) -> bool:
        """`local` runs are never learned from."""
        return self.platform != SourcePlatform.LOCAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """On whose behalf memories are read or changed.

    `agent` is set for hosts: all but public rows are then limited to its namespace, `org` to the
    token's, session rows to `conversation_id`, private rows to what `private_use` admits.
    """

    user: User | None = None
    agent: Agent | None = None
    org: Organization | None = None
    conversation_id: str = ""
    private_use: str = PublicUse.ALL
    tiers: frozenset[str] = field(default=TIERS)
    token: ApiToken | None = None
    sees_nothing: bool = False

    def admits(self, tier: str) -> bool:
        """True when rows of this tier were not narrowed away."""
        return tier in self.tiers


NOBODY = Viewer(sees_nothing=True)
"""An anonymous caller: sees nothing, not even public memory."""


def person(user: User, *, token: ApiToken | None = None) -> Viewer:
    """Return the viewer for a signed-in person or a personal token."""
    if not user.is_active:
        return NOBODY
    return Viewer(user=user, token=token)


def host(
    token: ApiToken,
    *,
    actor: Identity | None,
    source: Source,
    conversation_id: str = "",
    tiers: frozenset[str] = TIERS,
) -> Viewer:
    """Return the viewer for an agent host that acts for `actor` in `source`.

    An actor who is not linked, or whose person is no longer active, sees public memory alone.
    """
    user = actor.user if actor is not None else None
    if user is None or not user.is_active:
        return Viewer(agent=token.agent, token=token, conversation_id=conversation_id)
    return Viewer(
        user=user,
        agent=token.agent,
        org=token.organization,
        conversation_id=conversation_id,
        private_use=PublicUse.ALL if source.is_private else PublicUse(user.public_use),
        tiers=tiers & TIERS,
        token=token,
    )


def is_member(user: User | None, organization: Organization | None) -> bool:
    """True when the person belongs to the organization now."""
    if user is None or organization is None:
        return False
    return Membership.objects.filter(user=user, organization=organization).exists()
