"""What stands in every column of the database that can hold text.

The list behind the inventory of erasure: a column that is in none of these is one that nobody has
thought about, and a test says so. What somebody said is emptied by the purge; everything else is
a name, a word of ours, or a digest under a key, and is never derived from what was said.
"""

from __future__ import annotations

from enum import StrEnum

from django.db import connection


class Holds(StrEnum):
    """What a column may hold."""

    SAID = "what somebody said; emptied when its memory is purged, in no planner's statistics"
    CHOSEN = "words that somebody keeps or gives on purpose, apart from any memory"
    NAME = "a name, an address or an id that a host, a person or staff gave"
    WORD = "a word of ours, or numbers and ids"
    KEYED = "a digest under the fingerprint key"
    RANDOM = "a digest or cipher of a secret that was random, or a password's hash"


_SAID = ("memory.content", "memory.search_vector", "memoryembedding.vector")
_SAID_BEFORE = ("completedsession.transcript", "completedsession.extraction_cache")
_ABOUT = ("memoryreport.reason",)
_CHOSEN = ("user.never_learn_topics", "auditentry.reason", "adminread.reason")
_NAMES = (
    "agent.name",
    "apitoken.label",
    "apitoken.providers",
    "completedsession.actors",
    "completedsession.conversation_id",
    "completedsession.lock_key",
    "completedsession.session_id",
    "completedsession.source_key",
    "conversationevent.conversation_id",
    "identity.display_name",
    "identity.provider",
    "identity.subject",
    "identity.tenant",
    "invitation.email",
    "location.key",
    "location.label",
    "location.provider",
    "location.tenant",
    "location.url",
    "memory.conversation_id",
    "memory.source_key",
    "memory.subject_key",
    "memoryuse.conversation_id",
    "organization.name",
    "organization.slug",
    "user.display_name",
    "user.email",
)
_WORDS = (
    "agent.save_tier",
    "agent.tiers",
    "apitoken.kind",
    "apitoken.prefix",
    "apitoken.scopes",
    "auditentry.action",
    "auditentry.details",
    "auditentry.via",
    "completedsession.memory_mode",
    "completedsession.reason",
    "completedsession.source_platform",
    "completedsession.source_visibility",
    "completedsession.state",
    "conflict.kept",
    "conversationevent.name",
    "conversationevent.namespace",
    "conversationevent.once_key",
    "conversationevent.payload",
    "embeddingmodel.metric",
    "embeddingmodel.model",
    "embeddingmodel.provider",
    "embeddingmodel.state",
    "erasurereceipt.places",
    "forgetbatch.kind",
    "memory.archive_reason",
    "memory.held_reason",
    "memory.kind",
    "memory.language",
    "memory.origin",
    "memory.source_platform",
    "memory.subject_type",
    "memory.visibility",
    "memoryembedding.visibility",
    "calltally.event",
    "calltally.model",
    "calltally.operation",
    "calltally.outcome",
    "memorytally.kind",
    "memorytally.origin",
    "memorytally.visibility",
    "memoryuse.leg",
    "modelcall.model",
    "modelcall.operation",
    "modelcall.outcome",
    "modelcall.provider",
    "tombstone.of",
    "toolcall.outcome",
    "toolcall.tool",
    "user.language",
    "user.public_use",
    "user.time_zone",
    "vectortally.visibility",
)
_KEYED = (
    "completedsession.body_hash",
    "memory.evidence_fingerprints",
    "memory.fingerprint",
    "memory.idempotency_key",
    "memoryembedding.content_hash",
    "modelcall.tool_call_key",
    "ratewindow.bucket",
    "retrykey.key_hash",
    "tombstone.fingerprint",
    "toolcall.key_hash",
)
_SECRETS = (
    "apitoken.token_hash",
    "invitation.token_hash",
    "linkingcode.code_hash",
    "user.password",
)

OURS = "junior_memory_"

TABLES_OF_OTHERS = {
    # Names of rows by id, and of the fields that were changed; see `admin.WithoutWords`.
    "django_admin_log": {"object_id", "object_repr", "change_message"},
    # What was done is told in the session until it is read; `dashboard.http.say` takes no content.
    "django_session": {"session_key", "session_data"},
    # Jobs name rows by id.
    "procrastinate_jobs": {"args", "lock", "queue_name", "queueing_lock", "task_name"},
    "procrastinate_periodic_defers": {"periodic_id", "task_name"},
    # Code's own names.
    "auth_group": {"name"},
    "auth_permission": {"codename", "name"},
    "django_content_type": {"app_label", "model"},
    "django_migrations": {"app", "name"},
    # Never written: who is who is decided without them (`dashboard.oidc`).
    "account_emailaddress": {"email"},
    "account_emailconfirmation": {"key"},
    "socialaccount_socialaccount": {"extra_data", "provider", "uid"},
    "socialaccount_socialapp": {
        "client_id", "key", "name", "provider", "provider_id", "secret", "settings",
    },
    "socialaccount_socialtoken": {"token", "token_secret"},
}  # fmt: skip
NEVER_WRITTEN = ("account_emailaddress", "account_emailconfirmation", "socialaccount_")

COLUMNS: dict[tuple[str, str], Holds] = {
    **{
        (OURS + name.partition(".")[0], name.partition(".")[2]): holds
        for holds, names in (
            (Holds.SAID, _SAID + _SAID_BEFORE + _ABOUT),
            (Holds.CHOSEN, _CHOSEN),
            (Holds.NAME, _NAMES),
            (Holds.WORD, _WORDS),
            (Holds.KEYED, _KEYED),
            (Holds.RANDOM, _SECRETS),
        )
        for name in names
    },
    **{
        (table, column): Holds.WORD
        for table, columns in TABLES_OF_OTHERS.items()
        for column in columns
    },
}

# Read by tests and by whoever asks what this database holds; any type that is not a number, a
# moment, a truth value or an id can hold text.
FIND = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND data_type NOT IN (
    'bigint', 'integer', 'smallint', 'numeric', 'double precision', 'real', 'boolean', 'uuid',
    'date', 'timestamp with time zone', 'timestamp without time zone', 'interval'
) AND udt_name NOT LIKE 'procrastinate\\_%'
"""


def columns_that_can_hold_text() -> set[tuple[str, str]]:
    """Return (table, column) of everything in the database that may hold text."""
    with connection.cursor() as cursor:
        cursor.execute(FIND)
        return {(str(table), str(column)) for table, column in cursor.fetchall()}
