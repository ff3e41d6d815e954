"""Who there is: people, their provider accounts, organizations, agents and tokens."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.contrib.auth.models import (
    AbstractBaseUser,
    BaseUserManager,
    PermissionsMixin,
)
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

MAX_TOPICS = 50
"""Never-learn topics a person may keep (DESIGN 2)."""

MAX_TOPIC_LENGTH = 100


class PublicUse(models.TextChoices):
    """What of a person's private memory may be used in public or org conversations."""

    PREFERENCES = "preferences", "Preferences only"
    ALL = "all", "Everything"
    NONE = "none", "Nothing"


class UserManager(BaseUserManager["User"]):
    """Makes people; an e-mail is stored in lower case, so that it signs in whatever its case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Make a person with a password, or one who signs in by a one-time link."""
        email = email.strip().lower()
        if not email:
            raise ValueError("a person needs an e-mail address")
        user = self.model(email=email, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Make a staff member with every permission of the admin site."""
        fields |= {"is_staff": True, "is_superuser": True}
        fields.setdefault("email_verified_at", timezone.now())
        return self.create_user(email, password, **fields)

    def get_by_natural_key(self, username: str | None) -> User:
        """Find a person by e-mail, whatever its case."""
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A person. Owns private memory and decides what is learned and recalled."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(max_length=254, unique=True)
    email_verified_at = models.DateTimeField(null=True, blank=True)
    display_name = models.CharField(max_length=120, blank=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    learning_off_at = models.DateTimeField(null=True, blank=True)
    recall_off_at = models.DateTimeField(null=True, blank=True)
    public_use = models.CharField(
        max_length=12, choices=PublicUse.choices, default=PublicUse.PREFERENCES
    )
    never_learn_topics = ArrayField(
        models.CharField(max_length=MAX_TOPIC_LENGTH),
        default=list,
        blank=True,
        size=MAX_TOPICS,
    )
    last_visit_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Empty: the browser's language, and UTC.
    language = models.CharField(max_length=10, blank=True, default="", db_default="")
    time_zone = models.CharField(max_length=64, blank=True, default="", db_default="")

    objects = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(Lower("email"), name="user_email_unique_ignoring_case"),
            models.CheckConstraint(
                condition=models.Q(public_use__in=PublicUse.values),
                name="user_public_use_known",
            ),
        ]

    def __str__(self) -> str:
        return self.email


class Identity(models.Model):
    """One provider account; linked to at most one person."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.CharField(max_length=255)
    tenant = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    user = models.ForeignKey(
        User,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="identities",
    )
    display_name = models.CharField(max_length=255, blank=True)
    linked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "identities"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Serves the actor look-up of every host call.
            models.UniqueConstraint(
                fields=["provider", "tenant", "subject"], name="identity_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider}/{self.tenant}/{self.subject}"


class LinkingCode(models.Model):
    """A one-time code by which a person links an Identity; only its keyed digest is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    code_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return str(self.id)


class Organization(models.Model):
    """A group whose members share org memory. Held by the server, never named by a request."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's present place in an organization; leaving deletes it and ends sight at once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="memberships"
    )
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Serves visible_to: the organizations of one person.
            models.UniqueConstraint(fields=["user", "organization"], name="membership_unique"),
        ]

    def __str__(self) -> str:
        return str(self.id)


def default_tiers() -> list[str]:
    """Return the tiers an agent reads unless configured (CONFORMANCE 254)."""
    return ["user"]


class Agent(models.Model):
    """An assistant's namespace and its options."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=255, unique=True)
    inject = models.BooleanField(default=True)
    extract = models.BooleanField(default=False)
    limit = models.PositiveSmallIntegerField(default=6)
    min_score = models.FloatField(default=0.0)
    retrieve_timeout_ms = models.PositiveIntegerField(default=1500)
    tiers = ArrayField(models.CharField(max_length=10), default=default_tiers, blank=True)
    save_tier = models.CharField(max_length=10, default="user")
    daily_budget_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    monthly_budget_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(limit__gte=1, limit__lte=8),
                name="agent_limit_in_range",
            ),
            models.CheckConstraint(
                condition=models.Q(retrieve_timeout_ms__gte=50, retrieve_timeout_ms__lte=10_000),
                name="agent_timeout_in_range",
            ),
            models.CheckConstraint(
                condition=(
                    models.Q(daily_budget_usd__isnull=True) | models.Q(daily_budget_usd__gte=0)
                )
                & (models.Q(monthly_budget_usd__isnull=True) | models.Q(monthly_budget_usd__gte=0)),
                name="agent_budget_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class TokenKind(models.TextChoices):
    """Who a token speaks for."""

    PERSONAL = "personal", "Personal"
    AGENT = "agent", "Agent"


class ApiToken(models.Model):
    """A bearer token; kept as a digest, shown once."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=TokenKind.choices)
    label = models.CharField(max_length=100, blank=True)
    prefix = models.CharField(max_length=16)
    token_hash = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.CASCADE, related_name="tokens"
    )
    agent = models.ForeignKey(
        Agent, null=True, blank=True, on_delete=models.CASCADE, related_name="tokens"
    )
    organization = models.ForeignKey(
        Organization, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    providers = ArrayField(models.CharField(max_length=511), default=list, blank=True)
    trust_email = models.BooleanField(default=False)
    scopes = ArrayField(models.CharField(max_length=20), default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(
                    kind=TokenKind.PERSONAL,
                    user__isnull=False,
                    agent__isnull=True,
                    organization__isnull=True,
                )
                | models.Q(kind=TokenKind.AGENT, user__isnull=True, agent__isnull=False),
                name="token_speaks_for_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…"
