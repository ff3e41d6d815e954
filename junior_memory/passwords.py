"""What ends every session of a person: a new password by a link, or a wish to be out elsewhere."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from junior_memory import clock
from junior_memory.audit import Doer, record_audit
from junior_memory.errors import InvalidInput, NotFound
from junior_memory.models import User


class _ResetTokens(PasswordResetTokenGenerator):
    """Good for `PASSWORD_RESET_TIMEOUT` seconds, until the password changes or one signs in."""

    key_salt = "junior_memory.password-reset"


_reset_tokens = _ResetTokens()


def reset_token(user: User) -> tuple[str, str]:
    """Return the two path parts of a link that sets a new password."""
    return urlsafe_base64_encode(force_bytes(user.pk)), _reset_tokens.make_token(user)


def user_for_reset(uid: str, token: str) -> User | None:
    """Return whose password a link sets, or None when it is used, old or made up."""
    try:
        key = UUID(urlsafe_base64_decode(uid).decode())
    except (ValueError, UnicodeDecodeError):
        return None
    user = User.objects.filter(pk=key, is_active=True, email_verified_at__isnull=False).first()
    return user if user is not None and _reset_tokens.check_token(user, token) else None


def reset_password(uid: str, token: str, password: str, *, now: datetime | None = None) -> User:
    """Set a new password by a link. Signs out everywhere and ends the link. Raises NotFound."""
    with transaction.atomic():
        found = user_for_reset(uid, token)
        if found is None:
            raise NotFound("This link does not work any more.")
        user = User.objects.select_for_update(of=("self",)).get(pk=found.pk)
        if not _reset_tokens.check_token(user, token):
            raise NotFound("This link does not work any more.")
        user.set_password(password)
        user.save(update_fields=["password"])
        doer = Doer(user=user, via="page")
        record_audit("password_reset", doer, now=now or clock.now(), person_id=user.pk)
    return user


def end_other_sessions(
    user: User, present: str, *, doer: Doer, now: datetime | None = None
) -> User:
    """End every session of a person by keeping their password anew, with another salt.

    Each session carries a digest of what is kept. Who has no password is asked for none: what is
    kept instead of one changes. Links that were mailed before end too; tokens go on. Raises
    InvalidInput when `present` is not the password.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
        if not locked.has_usable_password():
            locked.set_unusable_password()
        elif locked.check_password(present):
            locked.set_password(present)
        else:
            raise InvalidInput("That is not your present password.", fields={"present": "wrong"})
        locked.save(update_fields=["password"])
        record_audit("sessions_ended", doer, now=now or clock.now(), person_id=user.pk)
    return locked
