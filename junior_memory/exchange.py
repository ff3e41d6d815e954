"""Taking everything held about a person out, and putting memories in.

Newline-delimited JSON: a header, one line for each thing, a closing line with count and checksum.
The checksum detects damage and proves no origin.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime

from junior_memory import clock, people
from junior_memory.access import Viewer
from junior_memory.audit import Doer, record_audit
from junior_memory.errors import InvalidInput, JuniorMemoryError, RateLimited
from junior_memory.legs import lend_connection, may_part
from junior_memory.memories import NewMemory, Outcome, create_memory
from junior_memory.models import (
    Agent,
    ApiToken,
    AuditEntry,
    CompletedSession,
    ConversationEvent,
    ErasureReceipt,
    Identity,
    Memory,
    MemoryKind,
    Origin,
    SourcePlatform,
    SubjectType,
    Tombstone,
    User,
    Visibility,
)
from junior_memory.text import check_name

FORMAT = "junior-memory-export"
VERSION = 1
MAX_IMPORT_BYTES = 50 * 1024 * 1024
MAX_REFUSALS = 1000
CHUNK = 500
"""Rows that are read at once."""

IMPORTS_AT_ONCE = 3
AGAIN_SECONDS = 30
"""Imports of one process, and when to come again while they are under way."""

Row = TypeVar("Row", bound=Model)

_importing: set[UUID] = set()
_guard = threading.Lock()


def state_of(memory: Memory, now: datetime) -> str:
    """Name the state a memory is in, as lists and exports call it."""
    if memory.archived_at is not None:
        if memory.archive_reason == "expired":
            return "expired"
        return "superseded" if memory.superseded_at is not None else "forgotten"
    if memory.superseded_at is not None:
        return "superseded"
    if memory.expires_at is not None and memory.expires_at <= now:
        return "expired"
    return "held" if memory.held_at is not None else "active"


def export_lines(user: User, *, doer: Doer, now: datetime | None = None) -> Iterator[str]:
    """Yield everything held about a person, a line at a time; the read is audited."""
    moment = now or clock.now()
    record_audit("exported", doer, now=moment, person_id=user.pk)
    digest, count = hashlib.sha256(), 0
    for record in _records(user, moment):
        line = json.dumps(record, ensure_ascii=False, default=_plain, sort_keys=True) + "\n"
        digest.update(line.encode())
        count += 1
        yield line
    closing = {"type": "end", "lines": count, "sha256": digest.hexdigest()}
    yield json.dumps(closing, sort_keys=True) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return _instant(value)
    return str(value)


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _records(user: User, now: datetime) -> Iterator[dict[str, Any]]:
    yield {"type": "header", "format": FORMAT, "version": VERSION, "exportedAt": now}
    yield {
        "type": "person",
        "email": user.email,
        "displayName": user.display_name,
        "createdAt": user.created_at,
        "learningOffAt": user.learning_off_at,
        "recallOffAt": user.recall_off_at,
        "publicUse": user.public_use,
        "language": user.language,
        "timeZone": user.time_zone,
        "neverLearnTopics": user.never_learn_topics,
    }
    for identity in _in_pieces(Identity.objects.filter(user=user)):
        yield {
            "type": "identity",
            "provider": identity.provider,
            "tenant": identity.tenant,
            "subject": identity.subject,
            "linkedAt": identity.linked_at,
        }
    for token in _in_pieces(ApiToken.objects.filter(user=user)):
        yield {
            "type": "token",
            "prefix": token.prefix,
            "label": token.label,
            "scopes": token.scopes,
            "createdAt": token.created_at,
            "lastUsedAt": token.last_used_at,
            "revokedAt": token.revoked_at,
        }
    yield from _memory_records(user, now)
    for mark in _in_pieces(Tombstone.objects.filter(person=user)):
        yield {
            "type": "tombstone",
            "id": mark.pk,
            "of": mark.of,
            "memory": mark.memory_id,
            "createdAt": mark.created_at,
            "blocked": mark.blocked_count,
        }
    for receipt in _in_pieces(ErasureReceipt.objects.filter(person=user)):
        yield {
            "type": "receipt",
            "id": receipt.memory_id,
            "places": receipt.places,
            "erasedAt": receipt.erased_at,
        }
    sessions = CompletedSession.objects.filter(owner=user).defer("extraction_cache")
    for session in _in_pieces(sessions):
        yield {
            "type": "session",
            "sessionId": session.session_id,
            "conversationId": session.conversation_id,
            "state": session.state,
            "reason": session.reason,
            "completedAt": session.completed_at,
            "transcript": session.transcript,
        }
    for event in _in_pieces(ConversationEvent.objects.filter(owner=user)):
        yield {
            "type": "event",
            "name": event.name,
            "version": event.version,
            "conversationId": event.conversation_id,
            "payload": event.payload,
            "createdAt": event.created_at,
        }
    for entry in _in_pieces(AuditEntry.objects.filter(person=user)):
        yield {
            "type": "activity",
            "action": entry.action,
            "via": entry.via,
            "reason": entry.reason,
            "createdAt": entry.created_at,
        }


def _in_pieces(rows: QuerySet[Row, Row], *, since: str = "") -> Iterator[Row]:
    """Read rows by their key, or by a moment and key, a piece at a time.

    Whoever takes an export may take their time: meanwhile it holds no connection to the database.
    """
    order = (since, "pk") if since else ("pk",)
    rows = rows.order_by(*order)
    left = rows
    while True:
        piece = list(left[:CHUNK])
        if may_part():
            lend_connection()
        yield from piece
        if len(piece) < CHUNK:
            return
        last = piece[-1]
        following = Q(pk__gt=last.pk)
        if since:
            at = getattr(last, since)
            following = Q(**{f"{since}__gt": at}) | Q(**{since: at}) & following
        left = rows.filter(following)


def _memory_records(user: User, now: datetime) -> Iterator[dict[str, Any]]:
    """Yield every row that belongs to the person, was written by or is about them."""
    rows = Memory.objects.concerning(user).for_list()
    for memory in _in_pieces(rows, since="created_at"):
        yield {
            "type": "memory",
            "id": memory.pk,
            "content": memory.content,
            "kind": memory.kind,
            "visibility": memory.visibility,
            "state": "erased" if memory.purged_at else state_of(memory, now),
            "agent": memory.agent.name,
            "origin": memory.origin,
            "subject": memory.subject_type,
            "sourcePlatform": memory.source_platform,
            "conversationId": memory.conversation_id,
            "createdAt": memory.created_at,
            "observedAt": memory.observed_at,
            "expiresAt": memory.expires_at,
            "forgottenAt": memory.archived_at,
            "supersededBy": memory.superseded_by_id,
        }


@dataclass(frozen=True, slots=True)
class ImportRefusal:
    """One line that was left out, and the code of the reason."""

    line: int
    code: str


@dataclass(slots=True)
class Imported:
    """What an import came to."""

    imported: int = 0
    existing: int = 0
    blocked: int = 0
    refused: list[ImportRefusal] | None = None


def import_lines(
    viewer: Viewer, lines: Iterable[str], *, doer: Doer, now: datetime | None = None
) -> Imported:
    """Import the active memories of an export as private rows with new ids.

    Secrets, quota and tombstones apply, line by line; twice changes nothing. A closing line whose
    checksum does not fit refuses the whole file before anything is written. A person's imports come
    one after the other, and a process takes few at once. Raises InvalidInput, RateLimited.
    """
    moment = now or clock.now()
    if viewer.user is None:
        raise InvalidInput
    result = Imported(refused=[])
    with _turn_of(viewer.user):
        kept = [line for line in lines if line.strip()]
        _check_closing(kept)
        for number, line in enumerate(kept, start=1):
            _import_line(viewer.user, number, line, result, moment)
    record_audit(
        "imported",
        doer,
        now=moment,
        person_id=viewer.user.pk,
        imported=result.imported,
        existing=result.existing,
        blocked=result.blocked,
    )
    return result


@contextmanager
def _turn_of(user: User) -> Iterator[None]:
    """Let a person's import be their only one here: each may keep a connection for minutes."""
    with _guard:
        if user.pk in _importing or len(_importing) >= IMPORTS_AT_ONCE:
            raise RateLimited(
                retry_after_seconds=AGAIN_SECONDS,
                message="Another import is running. Send the same again when it has ended: what is"
                " there by then is left as it is.",
            )
        _importing.add(user.pk)
    try:
        yield
    finally:
        with _guard:
            _importing.remove(user.pk)


def _check_closing(lines: list[str]) -> None:
    if not lines:
        raise InvalidInput("The file is empty.")
    try:
        closing = json.loads(lines[-1])
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The last line is not JSON; the file is damaged.") from error
    if not isinstance(closing, dict) or closing.get("type") != "end":
        raise InvalidInput("The closing line is missing; the file is cut off.")
    digest = hashlib.sha256()
    for line in lines[:-1]:
        digest.update((line.rstrip("\r\n") + "\n").encode("utf-8", "surrogatepass"))
    if closing.get("sha256") != digest.hexdigest():
        raise InvalidInput("The checksum does not fit; the file is damaged.")


def _import_line(user: User, number: int, line: str, result: Imported, now: datetime) -> None:
    refused = result.refused if result.refused is not None else []
    try:
        record = json.loads(line)
        if not isinstance(record, dict):
            raise TypeError
        if record.get("type") != "memory":
            return
        if record.get("state") != "active":
            return
        created = create_memory(_imported(user, record), now=now)
    except JuniorMemoryError as error:
        if len(refused) < MAX_REFUSALS:
            refused.append(ImportRefusal(number, error.code))
        return
    except (ValueError, TypeError, KeyError, RecursionError):
        if len(refused) < MAX_REFUSALS:
            refused.append(ImportRefusal(number, "invalid"))
        return
    match created.outcome:
        case Outcome.CREATED:
            result.imported += 1
        case Outcome.EXISTING:
            result.existing += 1
        case Outcome.BLOCKED:
            result.blocked += 1


def _imported(user: User, record: dict[str, Any]) -> NewMemory:
    kind, content = str(record["kind"]), record["content"]
    if kind not in MemoryKind.values or not isinstance(content, str):
        raise ValueError
    # A file names namespaces but makes none: an unknown one falls to the default.
    agent = Agent.objects.filter(name=str(record.get("agent"))).first()
    conversation = record.get("conversationId")
    subject: dict[str, str | None] = {
        "subject_type": SubjectType.USER,
        "subject_key": str(user.pk),
    }
    if record.get("subject") == SubjectType.CONVERSATION and conversation:
        name = check_name(str(conversation), field="conversationId")
        subject = {
            "subject_type": SubjectType.CONVERSATION,
            "subject_key": name,
            "conversation_id": name,
        }
    elif record.get("subject") == SubjectType.GENERAL:
        subject = {"subject_type": SubjectType.GENERAL, "subject_key": None}
    return NewMemory(
        content=content,
        kind=kind,
        visibility=Visibility.PRIVATE,
        agent=agent or people.agent_named(people.DEFAULT_AGENT)[0],
        origin=Origin.IMPORT,
        source_platform=SourcePlatform.API,
        owner=user,
        **subject,  # type: ignore[arg-type]
        observed_at=_moment(record.get("observedAt")),
        expires_at=_moment(record.get("expiresAt")),
    )


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    moment = parse_datetime(str(value))
    if moment is None or moment.tzinfo is None:
        raise ValueError
    return moment
