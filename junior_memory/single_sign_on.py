"""Whom an OpenID Connect issuer's word signs in.

The operator who configures an issuer trusts it to know who owns an e-mail address, for everyone but
staff: an account that can see what others cannot is connected by its owner, signed in here already.
Once connected, the issuer's own name for the person counts, whatever becomes of the address.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from junior_memory import clock, invitations, people
from junior_memory.audit import Doer
from junior_memory.candidates import ActorRef
from junior_memory.errors import Forbidden
from junior_memory.models import Identity, Invitation, User

PROVIDER = people.SIGN_IN
"""The provider of an Identity that signs in; its tenant is the issuer."""


class Refused(Forbidden):
    """That account does not sign anybody in here."""

    code = "sign_in_refused"


@dataclass(frozen=True, slots=True)
class Claims:
    """What an issuer says about who came, its signature checked."""

    issuer: str
    subject: str
    email: str
    email_verified: bool
    name: str = ""


def person_of(
    claims: Claims, *, present: User | None, sign_up: bool, now: datetime | None = None
) -> User:
    """Return whom the claims sign in, connecting the account the first time.

    `present` is who is signed in already and connects the account to theirs. With `sign_up` an
    address that nobody has makes a person; without it an open invitation does. Raises Refused.
    """
    moment = now or clock.now()
    if not claims.email or not claims.email_verified:
        raise Refused("That account has no e-mail address that its provider verified.")
    actor = ActorRef(provider=PROVIDER, tenant=claims.issuer, subject=claims.subject)
    with transaction.atomic():
        identity = people.find_identity(actor)
        if identity is not None and identity.user is not None:
            if present is not None and present.pk != identity.user.pk:
                raise Refused("That account belongs to somebody else here.")
            return _usable(identity.user)
        email = claims.email.strip().lower()
        if present is not None and present.email != email:
            raise Refused("That account has another e-mail address than you have here.")
        user = present or User.objects.filter(email=email).first()
        if user is None:
            user = _newcomer(email, claims.name, sign_up=sign_up, now=moment)
        _usable(user)
        if user.is_staff and present is None:
            raise Refused("Staff connect that account on their Settings page first.")
        others = Identity.objects.filter(user=user, provider=PROVIDER, tenant=claims.issuer)
        if others.exists():
            raise Refused("Another account of that provider is connected to this address.")
        identity = people.identity_for(actor, display_name=claims.name)
        people.link_identity(identity, user, doer=Doer(user=user, via="page"), now=moment)
    return user


def _usable(user: User) -> User:
    if not user.is_active or user.email_verified_at is None:
        raise Refused("That account does not sign anybody in here.")
    return user


def _newcomer(email: str, name: str, *, sign_up: bool, now: datetime) -> User:
    """Make the person who was invited, or anybody where everybody may join; never staff."""
    rows = Invitation.objects.select_for_update(of=("self",)).filter(email=email, staff=False)
    invited = rows.filter(accepted_at=None, expires_at__gt=now).first()
    if invited is not None:
        return invitations.accept_for(invited, display_name=name, now=now)
    if not sign_up:
        raise Refused("Nobody here has the e-mail address of that account.")
    user = people.create_person(email, now=now)
    user.display_name = name[:120]
    user.save(update_fields=["display_name"])
    return user
