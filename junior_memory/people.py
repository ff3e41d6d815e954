"""People and what speaks for them: sign-in links, identities, codes, tokens, rate limits."""

from __future__ import annotations

import hashlib
import secrets
import string
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from junior_memory import clock, fingerprints
from junior_memory.audit import Doer, record_audit
from junior_memory.candidates import ActorRef
from junior_memory.errors import (
    Forbidden,
    IdentityLinked,
    InvalidInput,
    NotFound,
    RateLimited,
)
from junior_memory.models import (
    Agent,
    ApiToken,
    Identity,
    LinkingCode,
    Organization,
    PublicUse,
    RateWindow,
    TokenKind,
    User,
)
from junior_memory.models.people import MAX_TOPIC_LENGTH, MAX_TOPICS
from junior_memory.text import check_name, clean_text, collapse

PERSONAL_SCOPES = frozenset({"read", "write", "report"})
AGENT_SCOPES = frozenset({"recall", "sessions", "tools"})
PERSONAL_PREFIX = "jmp_"
AGENT_PREFIX = "jma_"
TOKEN_BYTES = 32
PREFIX_LENGTH = 10

CODE_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_LENGTH = 9
"""9 characters of 32 are 45 bits; DESIGN 2 asks for 40 or more."""
CODE_MINUTES = 10
WRONG_CODES = 5
"""Wrong codes that one token may give in ten minutes (DESIGN 6)."""

SIGN_IN, CHAT = "oidc", "junior-memory"
NO_HOSTS = frozenset({SIGN_IN, CHAT})
"""Providers whose accounts no host may link: the one signs its person in here, the other is made
here. With either, whoever holds an agent's token could become somebody else."""

MAX_TOKENS = 50
TOUCH_SECONDS = 60
"""A token's last use is written at most once a minute (DESIGN 3)."""


class _SignInTokens(PasswordResetTokenGenerator):
    """Good once, for `PASSWORD_RESET_TIMEOUT` seconds: signing in changes what is signed."""

    key_salt = "junior_memory.sign-in"


_sign_in_tokens = _SignInTokens()


def sign_in_token(user: User) -> tuple[str, str]:
    """Return the two path parts of a one-time sign-in link."""
    return urlsafe_base64_encode(force_bytes(user.pk)), _sign_in_tokens.make_token(user)


def user_for_sign_in(uid: str, token: str) -> User | None:
    """Return whom a link signs in, or None when it is used, old or made up."""
    try:
        user = User.objects.get(pk=UUID(urlsafe_base64_decode(uid).decode()))
    except (ValueError, UnicodeDecodeError, User.DoesNotExist):
        return None
    verified = user.is_active and user.email_verified_at is not None
    return user if verified and _sign_in_tokens.check_token(user, token) else None


def create_person(email: str, *, staff: bool = False, now: datetime | None = None) -> User:
    """Return the person with this e-mail, made and verified if absent. Raises InvalidInput."""
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError as error:
        raise InvalidInput("That is no e-mail address.", fields={"email": "invalid"}) from error
    user = User.objects.filter(email=address).first() or User.objects.create_user(address)
    user.email_verified_at = user.email_verified_at or now or clock.now()
    if staff:
        # Staff of one deployment is one circle of trust: the admin site asks for no more.
        user.is_staff = user.is_superuser = True
    user.save(update_fields=["email_verified_at", "is_staff", "is_superuser"])
    return user


# Identities.


def identity_for(actor: ActorRef, *, display_name: str = "") -> Identity:
    """Return the Identity a host names, made if absent. Naming it links it to nobody."""
    identity, _ = Identity.objects.select_related("user").get_or_create(
        provider=check_name(actor.provider, field="provider"),
        tenant=check_name(actor.tenant, field="tenant"),
        subject=check_name(actor.subject, field="subject"),
        defaults={"display_name": clean_text(display_name)[:255]},
    )
    return identity


def find_identity(actor: ActorRef) -> Identity | None:
    """Return the Identity a host names if it is known; writes nothing."""
    return (
        Identity.objects.select_related("user")
        .filter(provider=actor.provider, tenant=actor.tenant, subject=actor.subject)
        .first()
    )


def link_identity(
    identity: Identity, user: User, *, doer: Doer, now: datetime | None = None
) -> Identity:
    """Link an Identity to a person. Linked to them already: unchanged. Raises IdentityLinked."""
    moment = now or clock.now()
    with transaction.atomic():
        row = Identity.objects.select_for_update(of=("self",)).get(pk=identity.pk)
        if row.user_id == user.pk:
            return row
        if row.user_id is not None:
            raise IdentityLinked
        row.user, row.linked_at = user, moment
        row.save(update_fields=["user", "linked_at"])
        record_audit("identity_linked", doer, now=moment, person_id=user.pk, identity=str(row.pk))
    return row


def unlink_identity(user: User, identity_id: UUID, *, doer: Doer) -> None:
    """End a link; memory stays with the person. Raises NotFound."""
    moment = clock.now()
    with transaction.atomic():
        rows = Identity.objects.filter(pk=identity_id, user=user)
        if not rows.update(user=None, linked_at=None):
            raise NotFound
        record_audit(
            "identity_unlinked",
            doer,
            now=moment,
            person_id=user.pk,
            identity=str(identity_id),
        )


def link_by_email(identity: Identity, email: str, *, token: ApiToken, doer: Doer) -> Identity:
    """Link by an e-mail that a trusted host has verified; never to staff, never over a link."""
    if identity.user_id is not None or not token.trust_email or identity.provider in NO_HOSTS:
        return identity
    user = User.objects.filter(
        email=email.strip().lower(),
        email_verified_at__isnull=False,
        is_active=True,
        is_staff=False,
    ).first()
    return link_identity(identity, user, doer=doer) if user else identity


def _code_hash(code: str) -> str:
    plain = code.upper().replace("-", "").replace(" ", "")
    return hashlib.sha256(fingerprints.keyed("linking-code", plain).encode()).hexdigest()


def new_linking_code(user: User, *, now: datetime | None = None) -> tuple[str, datetime]:
    """Return a one-time code, good for ten minutes; an earlier unused one stops working."""
    moment = now or clock.now()
    code = "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))
    expires_at = moment + timedelta(minutes=CODE_MINUTES)
    with transaction.atomic():
        LinkingCode.objects.filter(Q(user=user) | Q(expires_at__lt=moment)).delete()
        LinkingCode.objects.create(
            user=user,
            code_hash=_code_hash(code),
            created_at=moment,
            expires_at=expires_at,
        )
    return "-".join((code[:3], code[3:6], code[6:])), expires_at


def redeem_linking_code(
    code: str, actor: ActorRef, *, token: ApiToken, source_is_private: bool, doer: Doer
) -> Identity:
    """Link an actor by the code its person read out in a private conversation.

    Raises Forbidden outside a private Source and for what no host links, NotFound for a wrong or
    used code, RateLimited after five wrong ones in ten minutes, IdentityLinked when the actor is
    somebody else's.
    """
    if not source_is_private:
        raise Forbidden("A linking code counts only in a private conversation.")
    if actor.provider in NO_HOSTS:
        raise Forbidden("No host links accounts of that provider.")
    moment = clock.now()
    bucket = f"link:{token.pk}"
    check_rate(bucket, limit=WRONG_CODES, window_seconds=CODE_MINUTES * 60, now=moment)
    with transaction.atomic():
        row = (
            LinkingCode.objects.select_for_update(of=("self",))
            .select_related("user")
            .filter(code_hash=_code_hash(code), used_at__isnull=True, expires_at__gt=moment)
            .first()
        )
        if row is not None:
            identity = link_identity(identity_for(actor), row.user, doer=doer, now=moment)
            row.used_at = moment
            row.save(update_fields=["used_at"])
            return identity
    count_rate(bucket, window_seconds=CODE_MINUTES * 60, now=moment)
    raise NotFound("That code is wrong, used or out of date.")


# Tokens.


def _token_hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def create_personal_token(
    user: User,
    *,
    scopes: list[str],
    label: str = "",
    doer: Doer,
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Return a new token and its secret, which is shown this once. Raises InvalidInput."""
    wanted = _checked_scopes(scopes, PERSONAL_SCOPES)
    if "report" in wanted and not user.is_staff:
        raise InvalidInput("Only staff may read reports.", fields={"scopes": "report"})
    if ApiToken.objects.filter(user=user, revoked_at__isnull=True).count() >= MAX_TOKENS:
        raise InvalidInput(
            "At most {limit} tokens; revoke one first.", values={"limit": MAX_TOKENS}
        )
    return _create_token(
        PERSONAL_PREFIX,
        doer,
        person=user,
        kind=TokenKind.PERSONAL,
        user=user,
        scopes=wanted,
        label=collapse(clean_text(label))[:100],
        expires_at=expires_at,
    )


def create_agent_token(
    agent: Agent,
    *,
    scopes: list[str],
    doer: Doer,
    organization: Organization | None = None,
    providers: list[str] | None = None,
    trust_email: bool = False,
    label: str = "",
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    """Return a new token for an agent host and its secret, shown this once."""
    pairs = providers or []
    if any(pair.count("/") != 1 or not all(pair.split("/")) for pair in pairs):
        raise InvalidInput("Providers read provider/tenant.", fields={"providers": "invalid"})
    return _create_token(
        AGENT_PREFIX,
        doer,
        person=None,
        kind=TokenKind.AGENT,
        agent=agent,
        organization=organization,
        providers=pairs,
        trust_email=trust_email,
        scopes=_checked_scopes(scopes, AGENT_SCOPES),
        label=label,
        expires_at=expires_at,
    )


def _checked_scopes(scopes: list[str], known: frozenset[str]) -> list[str]:
    if not scopes or not set(scopes) <= known:
        raise InvalidInput(
            f"Scopes are one or more of {', '.join(sorted(known))}.",
            fields={"scopes": "unknown"},
        )
    return sorted(set(scopes))


def _create_token(
    prefix: str, doer: Doer, *, person: User | None, **fields: object
) -> tuple[ApiToken, str]:
    secret = prefix + secrets.token_urlsafe(TOKEN_BYTES)
    token = ApiToken(prefix=secret[:PREFIX_LENGTH], token_hash=_token_hash(secret))
    for name, value in fields.items():
        setattr(token, name, value)
    moment = clock.now()
    with transaction.atomic():
        token.created_at = moment
        token.save(force_insert=True)
        record_audit(
            "token_created",
            doer,
            now=moment,
            person_id=person.pk if person else None,
            token_prefix=token.prefix,
        )
    return token, secret


def find_token(secret: str, *, now: datetime | None = None) -> ApiToken | None:
    """Return the live token with this secret. Looked up by digest, so time tells nothing of it."""
    moment = now or clock.now()
    if not secret.startswith((PERSONAL_PREFIX, AGENT_PREFIX)) or len(secret) > 200:
        return None
    token = (
        ApiToken.objects.select_related("user", "agent", "organization")
        .filter(token_hash=_token_hash(secret), revoked_at__isnull=True)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=moment))
        .first()
    )
    if token is None or (token.user is not None and not token.user.is_active):
        return None
    _touch(token, moment)
    return token


def _touch(token: ApiToken, now: datetime) -> None:
    last = token.last_used_at
    if last is None or (now - last).total_seconds() >= TOUCH_SECONDS:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)


def revoke_token(user: User, token_id: UUID, *, doer: Doer) -> None:
    """Revoke one of a person's own tokens; repeating it changes nothing. Raises NotFound."""
    moment = clock.now()
    with transaction.atomic():
        rows = ApiToken.objects.filter(pk=token_id, user=user)
        if not rows.exists():
            raise NotFound
        if rows.filter(revoked_at__isnull=True).update(revoked_at=moment):
            record_audit(
                "token_revoked",
                doer,
                now=moment,
                person_id=user.pk,
                token=str(token_id),
            )


def token_admits(token: ApiToken, actor: ActorRef) -> bool:
    """True when the token may speak for actors of this provider and tenant."""
    return not token.providers or f"{actor.provider}/{actor.tenant}" in token.providers


# Rate limits. State lives in PostgreSQL, so that any number of web processes share it.

# Serves every counted call: one row per bucket and window, by rate_unique.
COUNT = """
INSERT INTO junior_memory_ratewindow (bucket, window_started_at, count) VALUES (%s, %s, 1)
ON CONFLICT (bucket, window_started_at) DO UPDATE SET count = junior_memory_ratewindow.count + 1
RETURNING count
"""

# A count of the last moments may be lost in a crash of the database; no call waits for its disk.
COUNT_IN_PASSING = f"{COUNT.rstrip()}, set_config('synchronous_commit', 'off', true)"


def _window(now: datetime, seconds: int) -> datetime:
    stamp = int(now.timestamp())
    return datetime.fromtimestamp(stamp - stamp % seconds, tz=now.tzinfo)


def count_rate(bucket: str, *, window_seconds: int, now: datetime, in_passing: bool = False) -> int:
    """Count one call in its window; returns how many there have been.

    `in_passing`: the count need not outlive a crash, nor anything else that the transaction around
    it writes.
    """
    with connection.cursor() as cursor:
        statement = COUNT_IN_PASSING if in_passing else COUNT
        cursor.execute(statement, [bucket, _window(now, window_seconds)])
        row = cursor.fetchone()
    return int(row[0])


def check_rate(bucket: str, *, limit: int, window_seconds: int, now: datetime) -> None:
    """Raise RateLimited when the window is used up; counts nothing."""
    started = _window(now, window_seconds)
    row = RateWindow.objects.filter(bucket=bucket, window_started_at=started).first()
    if row is not None and row.count >= limit:
        raise RateLimited(retry_after_seconds=_left(started, window_seconds, now))


def spend_rate(
    bucket: str,
    *,
    limit: int,
    window_seconds: int = 60,
    now: datetime | None = None,
    in_passing: bool = False,
) -> None:
    """Count one call; raises RateLimited, with the seconds to wait, past the limit.

    `in_passing` as in `count_rate`: for limits on load, not on guesses.
    """
    moment = now or clock.now()
    counted = count_rate(bucket, window_seconds=window_seconds, now=moment, in_passing=in_passing)
    if counted > limit:
        started = _window(moment, window_seconds)
        raise RateLimited(retry_after_seconds=_left(started, window_seconds, moment))


def _left(started: datetime, seconds: int, now: datetime) -> int:
    return max(1, seconds - int((now - started).total_seconds()))


def clear_rates(*, now: datetime) -> int:
    """Delete windows older than an hour; returns how many."""
    edge = now - timedelta(hours=1)
    return RateWindow.objects.filter(window_started_at__lt=edge).delete()[0]


# Preferences.


def change_preferences(
    user: User,
    *,
    doer: Doer,
    learning: bool | None = None,
    recall: bool | None = None,
    public_use: str | None = None,
    topics: list[str] | None = None,
    display_name: str | None = None,
    language: str | None = None,
    time_zone: str | None = None,
    now: datetime | None = None,
) -> User:
    """Change what a person allows; None leaves a choice as it is. Audited, without the topics."""
    moment = now or clock.now()
    changed: list[str] = []
    with transaction.atomic():
        user = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
        if learning is not None and learning != (user.learning_off_at is None):
            user.learning_off_at = None if learning else moment
            changed.append("learning")
        if recall is not None and recall != (user.recall_off_at is None):
            user.recall_off_at = None if recall else moment
            changed.append("recall")
        if public_use is not None and public_use != user.public_use:
            if public_use not in PublicUse.values:
                raise InvalidInput(fields={"publicUse": "unknown"})
            user.public_use = public_use
            changed.append("publicUse")
        if topics is not None and (kept := checked_topics(topics)) != user.never_learn_topics:
            user.never_learn_topics = kept
            changed.append("topics")
        if display_name is not None:
            user.display_name = collapse(clean_text(display_name))[:120]
        if language is not None:
            user.language = language
        if time_zone is not None:
            user.time_zone = time_zone
        user.save()
        if changed:
            record_audit(
                "preferences_changed",
                doer,
                now=moment,
                person_id=user.pk,
                changed=changed,
                learning=user.learning_off_at is None,
                recall=user.recall_off_at is None,
            )
    return user


def checked_topics(topics: list[str]) -> list[str]:
    """Return never-learn topics cleaned, without repeats. Raises InvalidInput past the limits."""
    kept = list(dict.fromkeys(word for topic in topics if (word := collapse(clean_text(topic)))))
    if len(kept) > MAX_TOPICS:
        raise InvalidInput(
            "At most {limit} topics.", fields={"topics": "too many"}, values={"limit": MAX_TOPICS}
        )
    if any(len(topic) > MAX_TOPIC_LENGTH for topic in kept):
        raise InvalidInput(
            "A topic has at most {limit} characters.",
            fields={"topics": "too long"},
            values={"limit": MAX_TOPIC_LENGTH},
        )
    return kept


# Agents and organizations.


def agent_named(name: str, *, made_by_token: bool = False) -> tuple[Agent, bool]:
    """Return the agent of this name, made if absent; learning is on for one made with a token."""
    agent, created = Agent.objects.get_or_create(
        name=check_name(name, field="agent"),
        defaults={"extract": made_by_token or name == DEFAULT_AGENT},
    )
    return agent, created


DEFAULT_AGENT = "default"


def create_organization(slug: str, *, name: str = "") -> tuple[Organization, bool]:
    """Return the organization with this slug, made if absent. Raises InvalidInput."""
    letters = set(string.ascii_lowercase + string.digits + "-_")
    if not slug or len(slug) > 100 or not set(slug) <= letters:
        raise InvalidInput("A slug holds a-z, 0-9, - and _.", fields={"slug": "invalid"})
    try:
        with transaction.atomic():
            return Organization.objects.get_or_create(
                slug=slug, defaults={"name": name or slug.replace("-", " ").title()}
            )
    except IntegrityError as error:
        raise InvalidInput(fields={"slug": "taken"}) from error
