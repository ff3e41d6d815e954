"""Signing up, which is by invitation alone: staff name an address, its owner follows the link.

A link works once and for `MEMORY_INVITATION_DAYS`; sending it again ends the one before. Following
it proves the address. Only a digest of it is kept.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from junior_memory import clock, people
from junior_memory.audit import Doer, record_audit
from junior_memory.conf import conf
from junior_memory.errors import Forbidden, InvalidInput, NotFound
from junior_memory.models import Invitation, User
from junior_memory.text import clean_text, collapse

TOKEN_BYTES = 32
SENT_AN_HOUR = 50
"""Invitations that one member of staff may send in an hour."""
SENT_TO_ONE = 5
"""Invitations that one address may get in an hour, whoever sends them."""
TRIES = 20
"""Tries to accept one invitation in ten minutes."""


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def invite(
    email: str, *, doer: Doer, staff: bool = False, now: datetime | None = None
) -> tuple[Invitation, str]:
    """Invite an address; returns the invitation and the secret part of its link.

    An address that is invited already gets a new link. Raises InvalidInput for no address and for
    one that has an account, Forbidden for who may not make staff, RateLimited.
    """
    moment = now or clock.now()
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError as error:
        raise InvalidInput("That is no e-mail address.", fields={"email": "invalid"}) from error
    _check_may_offer(staff, doer)
    if User.objects.filter(email=address, email_verified_at__isnull=False).exists():
        raise InvalidInput("This person has an account already.", fields={"email": "taken"})
    with transaction.atomic():
        _spend(address, doer, now=moment)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        row = Invitation.objects.select_for_update().filter(email=address, accepted_at=None).first()
        row = row or Invitation(email=address, created_at=moment)
        row.staff, row.invited_by = staff, doer.user
        _renew(row, token, now=moment)
        record_audit("person_invited", doer, now=moment, invitation=str(row.pk), staff=staff)
    return row, token


def invite_again(
    invitation_id: UUID, *, doer: Doer, now: datetime | None = None
) -> tuple[Invitation, str]:
    """Make a new link for an invitation; the one before ends.

    Raises NotFound, RateLimited, and Forbidden for who may not make staff.
    """
    moment = now or clock.now()
    with transaction.atomic():
        row = _open(invitation_id)
        _check_may_offer(row.staff, doer)
        _spend(row.email, doer, now=moment)
        token = secrets.token_urlsafe(TOKEN_BYTES)
        _renew(row, token, now=moment)
        record_audit("person_invited", doer, now=moment, invitation=str(row.pk), staff=row.staff)
    return row, token


def withdraw(invitation_id: UUID, *, doer: Doer, now: datetime | None = None) -> None:
    """End an invitation and drop its address. Raises NotFound."""
    with transaction.atomic():
        row = _open(invitation_id)
        record_audit("invitation_withdrawn", doer, now=now or clock.now(), invitation=str(row.pk))
        row.delete()


def find_invitation(token: str, *, now: datetime | None = None) -> Invitation | None:
    """Return the invitation that a link belongs to, or None when it is used, old or made up."""
    rows = Invitation.objects.filter(token_hash=_digest(token), accepted_at=None)
    return rows.filter(expires_at__gt=now or clock.now()).first()


def accept(
    token: str, *, display_name: str = "", password: str = "", now: datetime | None = None
) -> User:
    """Make the person that was invited; without a password they sign in by links.

    Raises NotFound for a link that does not work, InvalidInput when the address has an account by
    now: a link to join opens nobody's account. RateLimited.
    """
    moment = now or clock.now()
    found = find_invitation(token, now=moment)
    if found is None:
        raise NotFound("This invitation does not work any more.")
    people.spend_rate(f"invitation:{found.pk}", limit=TRIES, window_seconds=600, now=moment)
    with transaction.atomic():
        row = Invitation.objects.select_for_update().filter(pk=found.pk).first()
        if row is None or row.accepted_at or row.token_hash != _digest(token):
            raise NotFound("This invitation does not work any more.")
        return accept_for(row, display_name=display_name, password=password, now=moment)


def accept_for(
    invitation: Invitation, *, display_name: str = "", password: str = "", now: datetime
) -> User:
    """Make the person of an invitation whose address is proven; inside the caller's transaction."""
    existing = User.objects.select_for_update(of=("self",)).filter(email=invitation.email).first()
    if existing is not None and (existing.email_verified_at or not existing.is_active):
        raise InvalidInput("There is an account with this address already. Sign in instead.")
    user = people.create_person(invitation.email, staff=invitation.staff, now=now)
    user.display_name = collapse(clean_text(display_name))[:120]
    if password:
        user.set_password(password)
    user.save(update_fields=["display_name", "password"])
    invitation.accepted_at, invitation.person = now, user
    invitation.save(update_fields=["accepted_at", "person"])
    doer = Doer(user=user, via="page")
    record_audit("invitation_accepted", doer, now=now, person_id=user.pk)
    return user


def _check_may_offer(staff: bool, doer: Doer) -> None:
    """Raise Forbidden where an account of staff is not this one's to offer."""
    if staff and not (doer.user and doer.user.is_superuser):
        raise Forbidden("Only an administrator may invite staff.")


def _open(invitation_id: UUID) -> Invitation:
    rows = Invitation.objects.select_for_update(of=("self",))
    row = rows.filter(pk=invitation_id, accepted_at=None).first()
    if row is None:
        raise NotFound("That invitation is gone, or was accepted.")
    return row


def _renew(row: Invitation, token: str, *, now: datetime) -> None:
    row.token_hash = _digest(token)
    row.sent_at = now
    row.expires_at = now + timedelta(days=conf().invitation_days)
    row.save()


def _spend(address: str, doer: Doer, *, now: datetime) -> None:
    """Count a mail for who sends it and for who gets it; the address itself is not kept."""
    if doer.user is not None:
        sender = f"invite:{doer.user.pk}"
        people.spend_rate(sender, limit=SENT_AN_HOUR, window_seconds=3600, now=now)
    bucket = f"invited:{_digest(address)[:32]}"
    people.spend_rate(bucket, limit=SENT_TO_ONE, window_seconds=3600, now=now)
