"""What is remembered, what was forgotten, and what keeps both true."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils import timezone

from junior_memory.models.people import Agent, Organization, User
from junior_memory.querysets import MemoryQuerySet

MAX_CONTENT_LENGTH = 4000
"""Characters of one memory after whitespace is collapsed (CONFORMANCE 1.6)."""


class MemoryKind(models.TextChoices):
    """What sort of fact it is."""

    PREFERENCE = "preference", "Preference"
    PROCEDURE = "procedure", "Procedure"
    KNOWLEDGE = "knowledge", "Knowledge"


class Visibility(models.TextChoices):
    """Who may see it; set by the Source alone."""

    SESSION = "session", "This conversation"
    PRIVATE = "private", "Private"
    ORG = "org", "Team"
    PUBLIC = "public", "Public"


class Origin(models.TextChoices):
    """How it was learned."""

    EXPLICIT = "explicit", "Asked to remember"
    AUTOMATIC = "automatic", "Learned from a conversation"
    IMPORT = "import", "Imported"


class SubjectType(models.TextChoices):
    """What it is about; grants nothing."""

    USER = "user", "A person"
    CONVERSATION = "conversation", "A conversation"
    GENERAL = "general", "In general"


class SourcePlatform(models.TextChoices):
    """Where the input came from."""

    SLACK = "slack", "Slack"
    WEB = "web", "Web"
    API = "api", "API"
    LOCAL = "local", "Local"
    EMAIL = "email", "E-mail"
    OTHER = "other", "Other"


class ArchiveReason(models.TextChoices):
    """Why a memory left the active set."""

    USER_REMOVED = "user_removed", "Forgotten by its person"
    TOOL_REMOVED = "tool_removed", "Forgotten through the assistant"
    EXPIRED = "expired", "Expired"
    ADMIN_REMOVED = "admin_removed", "Removed by staff"
    DECLINED = "declined", "Declined"


class Location(models.Model):
    """Where something was learned. A record; grants nothing."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    provider = models.CharField(max_length=255)
    tenant = models.CharField(max_length=255)
    key = models.CharField(max_length=255)
    label = models.CharField(max_length=255, blank=True)
    url = models.CharField(max_length=2000, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["provider", "tenant", "key"], name="location_unique"),
        ]

    def __str__(self) -> str:
        return self.label or self.key


class ForgetBatch(models.Model):
    """Memories forgotten in one move, so that they come back in one."""

    class Kind(models.TextChoices):
        """What the move was."""

        BULK = "bulk", "A selection"
        FORGET_ALL = "forget_all", "Everything"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, null=True, on_delete=models.CASCADE, related_name="+")
    forgotten = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    restored_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Serves the skip rule "completed before the last forget-all".
            models.Index(
                fields=["user", "created_at"],
                name="batch_cut_off",
                condition=models.Q(kind="forget_all", restored_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


ACTIVE = models.Q(held_at__isnull=True, archived_at__isnull=True, superseded_at__isnull=True)
"""Active but for expiry, which needs the clock and so cannot stand in an index."""


class Memory(models.Model):
    """One durable, self-contained fact; the authority for content, visibility and lifecycle."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    content = models.TextField(blank=True)
    kind = models.CharField(max_length=12, choices=MemoryKind.choices)
    visibility = models.CharField(max_length=8, choices=Visibility.choices)
    owner = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    org = models.ForeignKey(Organization, null=True, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+")
    conversation_id = models.CharField(max_length=255, null=True)  # noqa: DJ001
    subject_type = models.CharField(max_length=12, choices=SubjectType.choices)
    subject_key = models.CharField(max_length=255, null=True)  # noqa: DJ001
    origin = models.CharField(max_length=10, choices=Origin.choices)
    source_platform = models.CharField(max_length=8, choices=SourcePlatform.choices)
    source_key = models.CharField(max_length=255, blank=True)
    location = models.ForeignKey(Location, null=True, on_delete=models.SET_NULL, related_name="+")
    idempotency_key = models.CharField(max_length=80, null=True)  # noqa: DJ001
    fingerprint = models.CharField(max_length=80)
    evidence_fingerprints = ArrayField(models.CharField(max_length=80), default=list)
    search_vector = SearchVectorField(null=True)
    language = models.CharField(max_length=8, blank=True)
    session = models.ForeignKey(
        "junior_memory.CompletedSession",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    learned_from = models.ForeignKey(
        "junior_memory.Identity", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    observed_at = models.DateTimeField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    held_at = models.DateTimeField(null=True)
    held_reason = models.CharField(max_length=32, blank=True)
    superseded_at = models.DateTimeField(null=True)
    superseded_by = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    archived_at = models.DateTimeField(null=True)
    archive_reason = models.CharField(max_length=16, choices=ArchiveReason.choices, blank=True)
    forget_batch = models.ForeignKey(
        ForgetBatch, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    purge_at = models.DateTimeField(null=True)
    purged_at = models.DateTimeField(null=True)
    version = models.PositiveIntegerField(default=1)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(visibility__in=Visibility.values),
                name="memory_visibility_known",
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=MemoryKind.values), name="memory_kind_known"
            ),
            models.CheckConstraint(
                condition=models.Q(origin__in=Origin.values), name="memory_origin_known"
            ),
            models.CheckConstraint(
                condition=models.Q(source_platform__in=SourcePlatform.values),
                name="memory_platform_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(visibility__in=["private", "session"])
                | models.Q(owner__isnull=False),
                name="memory_private_has_owner",
            ),
            models.CheckConstraint(
                condition=~models.Q(visibility="session")
                | models.Q(conversation_id__isnull=False, conversation_id__gt=""),
                name="memory_session_has_conversation",
            ),
            models.CheckConstraint(
                condition=models.Q(visibility="org", org__isnull=False)
                | (~models.Q(visibility="org") & models.Q(org__isnull=True)),
                name="memory_org_has_org",
            ),
            models.CheckConstraint(
                condition=models.Q(subject_type="general", subject_key__isnull=True)
                | models.Q(
                    subject_type__in=["user", "conversation"],
                    subject_key__isnull=False,
                    subject_key__gt="",
                ),
                name="memory_subject_key_when_needed",
            ),
            models.CheckConstraint(
                condition=models.Q(content="", purged_at__isnull=False)
                | (~models.Q(content="") & models.Q(purged_at__isnull=True)),
                name="memory_empty_when_purged",
            ),
            models.CheckConstraint(
                condition=models.Q(archived_at__isnull=True, archive_reason="")
                | models.Q(archived_at__isnull=False, archive_reason__in=ArchiveReason.values),
                name="memory_archived_for_a_reason",
            ),
            models.CheckConstraint(
                condition=models.Q(superseded_by__isnull=True)
                | models.Q(superseded_at__isnull=False),
                name="memory_superseded_at_leads",
            ),
            models.CheckConstraint(
                condition=~models.Q(superseded_by=models.F("id")),
                name="memory_never_supersedes_itself",
            ),
            # Serves the duplicate look-up of every create; decides races (DESIGN promise 7).
            models.UniqueConstraint(
                fields=["fingerprint"],
                condition=ACTIVE,
                name="memory_one_active_per_fingerprint",
            ),
            # Serves the retry look-up of every create; the key's digest holds its namespace.
            models.UniqueConstraint(
                fields=["idempotency_key"],
                condition=ACTIVE & models.Q(idempotency_key__isnull=False),
                name="memory_one_active_per_key",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Serves the pages and REST list: a person's own rows, newest first.
            models.Index(
                fields=["owner", "-created_at", "id"],
                name="memory_own_newest",
                condition=ACTIVE,
            ),
            # Serves what each filter leaves of a person's own rows, the quota and host reads.
            models.Index(
                fields=["owner", "agent", "visibility", "kind", "origin"],
                include=["expires_at", "org"],
                name="memory_own_sorts",
                condition=ACTIVE,
            ),
            # Serves the list's public part, newest first.
            models.Index(
                fields=["-created_at", "id"],
                name="memory_public_newest",
                condition=ACTIVE & models.Q(visibility="public"),
            ),
            # Serves what each filter leaves of the public part, and its list when that is little.
            models.Index(
                fields=["kind", "origin", "agent"],
                include=["expires_at"],
                name="memory_public_sorts",
                condition=ACTIVE & models.Q(visibility="public"),
            ),
            # Serves everything held about one person, whoever wrote it: their paper and export.
            models.Index(
                fields=["subject_key"],
                name="memory_about",
                condition=models.Q(subject_type="user"),
            ),
            # Serves what is public about somebody, which a what-if tells apart.
            models.Index(
                fields=["subject_key"],
                name="memory_public_about",
                condition=ACTIVE & models.Q(visibility="public", subject_type="user"),
            ),
            # Serves staff's list of removed public rows.
            models.Index(
                fields=["-archived_at"],
                name="memory_public_archived",
                condition=models.Q(archived_at__isnull=False, visibility="public"),
            ),
            # Serves the list's org part, newest first.
            models.Index(
                fields=["org", "-created_at", "id"],
                name="memory_org_newest",
                condition=ACTIVE & models.Q(visibility="org"),
            ),
            # Serves what each filter leaves of a team's rows.
            models.Index(
                fields=["org", "agent", "kind", "origin"],
                include=["expires_at", "owner", "visibility"],
                name="memory_org_sorts",
                condition=ACTIVE & models.Q(visibility="org"),
            ),
            # Serve what came and went in a stretch of time, counted and listed.
            models.Index(fields=["-created_at"], name="memory_created"),
            models.Index(
                fields=["-archived_at"],
                include=["archive_reason", "superseded_at"],
                name="memory_archived",
                condition=models.Q(archived_at__isnull=False),
            ),
            models.Index(
                fields=["-superseded_at"],
                name="memory_superseded",
                condition=models.Q(superseded_at__isnull=False),
            ),
            # Serves the lexical leg over public rows.
            GinIndex(
                fields=["search_vector"],
                name="memory_public_terms",
                condition=ACTIVE & models.Q(visibility="public"),
            ),
            # Serves the lexical leg over a person's own rows: of 10,000 those that hold a word.
            GinIndex(
                fields=["owner", "search_vector"],
                name="memory_own_terms",
                condition=ACTIVE & models.Q(owner__isnull=False),
                fastupdate=False,
            ),
            # Serves the person's own replaced rows, listed and counted.
            models.Index(
                fields=["owner", "-created_at", "id"],
                name="memory_own_replaced",
                condition=models.Q(superseded_at__isnull=False, archived_at__isnull=True),
            ),
            # Serves the person's own forgotten and expired lists, and forgotten texts.
            models.Index(
                fields=["owner", "-archived_at"],
                name="memory_own_archived",
                condition=models.Q(archived_at__isnull=False),
            ),
            # Serves the periodic expiry.
            models.Index(
                fields=["expires_at"],
                name="memory_expiring",
                condition=models.Q(archived_at__isnull=True, expires_at__isnull=False),
            ),
            # Serves the purge job.
            models.Index(
                fields=["purge_at"],
                name="memory_to_purge",
                condition=models.Q(purge_at__isnull=False, purged_at__isnull=True),
            ),
            # Serves the predecessors of a chain.
            models.Index(
                fields=["superseded_by"],
                name="memory_predecessors",
                condition=models.Q(superseded_by__isnull=False),
            ),
            # Serves what one session captured.
            models.Index(
                fields=["session"],
                name="memory_by_session",
                condition=models.Q(session__isnull=False),
            ),
            # Serves the rows captured in one conversation.
            models.Index(
                fields=["conversation_id"],
                name="memory_by_conversation",
                condition=models.Q(conversation_id__isnull=False),
            ),
            # Serves held lists and their clean-up.
            models.Index(
                fields=["held_at"],
                name="memory_held",
                condition=models.Q(held_at__isnull=False, archived_at__isnull=True),
            ),
            # Serves the undo of a batch.
            models.Index(
                fields=["forget_batch"],
                name="memory_by_batch",
                condition=models.Q(forget_batch__isnull=False),
            ),
            # Serves the daily count of public facts of one Identity.
            models.Index(
                fields=["learned_from", "created_at"],
                name="memory_by_teller",
                condition=models.Q(learned_from__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class RetryKey(models.Model):
    """A create's key, keyed and namespaced, and the memory that answered it.

    Kept beside the memory because a key may be answered by a memory that another key made.
    """

    key_hash = models.CharField(max_length=80, primary_key=True)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.memory_id)


class Tombstone(models.Model):
    """The keyed fingerprint of something forgotten: passive learning stops at it."""

    class Of(models.TextChoices):
        """What the fingerprint was taken from."""

        CONTENT = "content", "The memory"
        UTTERANCE = "utterance", "The words it was learned from"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    fingerprint = models.CharField(max_length=80)
    of = models.CharField(max_length=10, choices=Of.choices)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    org = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    blocked_count = models.PositiveIntegerField(default=0)
    last_blocked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["memory", "fingerprint"], name="tombstone_unique"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            # Serves the check of every learned candidate.
            models.Index(fields=["fingerprint"], name="tombstone_lookup"),
            # Serves a person's never-learn-again list.
            models.Index(fields=["person", "-created_at"], name="tombstone_own"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class MemoryReport(models.Model):
    """Somebody's report of a public memory; staff decide."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    reporter = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    reason = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.id)


class Conflict(models.Model):
    """Two active memories that adjudication thinks disagree; their person decides."""

    class Keep(models.TextChoices):
        """What the person kept."""

        FIRST = "first", "The first"
        SECOND = "second", "The second"
        BOTH = "both", "Both"
        NONE = "none", "Neither"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    first = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)
    kept = models.CharField(max_length=8, choices=Keep.choices, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["first", "second"], name="conflict_unique"),
        ]

    def __str__(self) -> str:
        return str(self.id)
