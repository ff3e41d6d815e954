"""What a tool answers: a memory in five fields, never whose it is or where it came from."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from junior_memory.access import Viewer
from junior_memory.models import Memory, SubjectType, Visibility
from junior_memory.secrets import contains_secret


def describe_memory(memory: Memory, *, with_content: bool = True) -> dict[str, Any]:
    """Return a memory as a model sees it; times are ISO 8601 in UTC."""
    return {
        "id": str(memory.pk),
        "content": memory.content if with_content else None,
        "createdAt": _instant(memory.created_at),
        "observedAt": _instant(memory.observed_at),
        "expiresAt": _instant(memory.expires_at) if memory.expires_at else None,
    }


def describe_memories(target: str, found: Iterable[Memory], viewer: Viewer) -> dict[str, Any]:
    """Return memories in their order, with what a reader must know of some of them.

    `public` names those that anyone may have written, `aboutOthers` those about another person than
    the one who asks. What holds a secret by the present rules is left out and counted.
    """
    rows = list(found)
    safe = [memory for memory in rows if not contains_secret(memory.content)]
    return {
        "target": target,
        "memories": [describe_memory(memory) for memory in safe],
        "public": [str(memory.pk) for memory in safe if memory.visibility == Visibility.PUBLIC],
        "aboutOthers": [str(memory.pk) for memory in safe if _is_about_another(memory, viewer)],
        "withheld": len(rows) - len(safe),
    }


def _is_about_another(memory: Memory, viewer: Viewer) -> bool:
    if memory.subject_type != SubjectType.USER:
        return False
    return viewer.user is None or memory.subject_key != str(viewer.user.pk)


def _instant(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
