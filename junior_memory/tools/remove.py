"""removeMemory: forget one memory of one's own, named by its id or the beginning of it."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db import transaction

from junior_memory import forgetting
from junior_memory.audit import Doer
from junior_memory.errors import NotFound, PublicMemoryReadOnly
from junior_memory.models import ArchiveReason, Memory
from junior_memory.tools.answers import describe_memory
from junior_memory.tools.authority import check_may_write
from junior_memory.tools.calls import Finished, claim_call, finish_call, work_of
from junior_memory.tools.context import ToolContext
from junior_memory.tools.errors import ToolInputError
from junior_memory.tools.schemas import MIN_PREFIX, REMOVE, RemoveArguments, wrong_argument

REMOVED = "removed"

_HEX = re.compile(r"[0-9a-f]+")
_DIGITS = 32
_ENDS = (0, 8, 12, 16, 20, _DIGITS)
"""Where the groups of an id's digits end; hyphens stand between them."""


def remove(
    arguments: RemoveArguments, context: ToolContext, *, tool_call_id: str, now: datetime
) -> dict[str, Any]:
    """Forget one memory; the same tool-call id again says so again, without its text.

    Raises ToolInputError for an id that fits nothing, several, or what is not the caller's.
    """
    check_may_write(context)
    first, last = read_id(arguments.id)
    key = context.call_key(REMOVE, tool_call_id)
    claim = claim_call(
        key, tool=REMOVE, agent=context.agent, is_spent=lambda found: bool(found.failed_with)
    )
    if isinstance(claim, Finished):
        return _repeat(claim, context)
    with work_of(claim), transaction.atomic():
        memory = _find(context, first, last, now)
        try:
            forgetting.forget(
                context.viewer,
                memory.pk,
                doer=Doer(user=context.viewer.user, token=context.token, via="tool"),
                reason=ArchiveReason.TOOL_REMOVED,
                now=now,
            )
        except PublicMemoryReadOnly as error:
            raise ToolInputError(error.message, code=error.code, fields={"id": "public"}) from None
        except NotFound:
            raise _not_found() from None
        finish_call(claim, REMOVED, memory=memory)
    return _answer(memory, with_content=True)


def read_id(text: str) -> tuple[UUID, UUID]:
    """Return the first and the last id that a full or short id can mean; raises ToolInputError.

    Digits and hyphens where an id has them, nothing else: no wildcard means anything.
    """
    wanted = text.strip().lower()
    digits = wanted.replace("-", "")
    if not MIN_PREFIX <= len(digits) <= _DIGITS or not _HEX.fullmatch(digits):
        raise wrong_argument(REMOVE, "id")
    if wanted not in {digits, spelled := _with_hyphens(digits), f"{spelled}-"}:
        raise wrong_argument(REMOVE, "id")
    return UUID(digits.ljust(_DIGITS, "0")), UUID(digits.ljust(_DIGITS, "f"))


def _with_hyphens(digits: str) -> str:
    groups = (digits[start:end] for start, end in pairwise(_ENDS))
    return "-".join(group for group in groups if group)


def _find(context: ToolContext, first: UUID, last: UUID, now: datetime) -> Memory:
    """Find the one memory meant among those in sight, by the primary key's order."""
    rows = Memory.objects.visible_to(context.viewer).active(now)
    found = list(rows.filter(pk__gte=first, pk__lte=last)[:100])
    if not found:
        raise _not_found()
    if len(found) > 1:
        raise ToolInputError(
            f"That id fits {len(found)} memories; give more of it.",
            code="ambiguous",
            fields={"id": f"fits {len(found)}"},
        )
    return found[0]


def _not_found() -> ToolInputError:
    return ToolInputError(
        "There is no such memory here. searchMemories and listMemories give the ids there are.",
        code="not_found",
        fields={"id": "not found"},
    )


def _repeat(finished: Finished, context: ToolContext) -> dict[str, Any]:
    """Answer a repeat; what was forgotten is not told again."""
    memory = finished.memory
    if memory is None or not Memory.objects.own(context.viewer).filter(pk=memory.pk).exists():
        raise _not_found()
    return _answer(memory, with_content=False)


def _answer(memory: Memory, *, with_content: bool) -> dict[str, Any]:
    return {
        "target": REMOVE,
        "removed": True,
        "idempotent": not with_content,
        "memory": describe_memory(memory, with_content=with_content),
    }
