"""Running a tool by its name: the one way in, for every edge."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from junior_memory import clock, consent
from junior_memory.errors import InvalidInput, NotFound
from junior_memory.text import check_name
from junior_memory.tools.context import ToolContext
from junior_memory.tools.create import create
from junior_memory.tools.errors import ToolInputError
from junior_memory.tools.reading import list_newest, search
from junior_memory.tools.remove import remove
from junior_memory.tools.schemas import (
    CREATE,
    LIST,
    SEARCH,
    CreateArguments,
    ListArguments,
    RemoveArguments,
    SearchArguments,
    plain_name,
    read_arguments,
)


def call_tool(
    name: str,
    arguments: Mapping[str, Any],
    *,
    context: ToolContext,
    tool_call_id: str | None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Run one tool and return its answer, ready for JSON. Never inside a transaction.

    Reads need no `tool_call_id`; writes do, and the same one again changes nothing. Raises NotFound
    for a name that is no tool, ToolInputError for what a model can put right, Forgotten for an id
    whose memory was forgotten since, StillRunning, Unavailable.
    """
    moment = now or clock.now()
    tool = plain_name(name)
    if tool is None:
        raise NotFound("There is no tool of that name.")
    if tool == LIST:
        listing = read_arguments(tool, ListArguments, arguments)
        _check_consent(context)
        return list_newest(listing, context, now=moment)
    if tool == SEARCH:
        query = read_arguments(tool, SearchArguments, arguments)
        _check_consent(context)
        return search(query, context, now=moment)
    call_id = _checked_id(tool_call_id)
    if tool == CREATE:
        asked = read_arguments(tool, CreateArguments, arguments)
        _check_consent(context)
        return create(asked, context, tool_call_id=call_id, now=moment)
    doomed = read_arguments(tool, RemoveArguments, arguments)
    return remove(doomed, context, tool_call_id=call_id, now=moment)


def _check_consent(context: ToolContext) -> None:
    """Ask the operator's gate; forgetting never asks it. Raises ToolInputError."""
    turn = consent.Turn(
        agent=context.agent,
        conversation_id=context.conversation_id,
        source=context.source,
        user=context.viewer.user,
        organization=context.viewer.org,
        use="tools",
    )
    if not consent.is_allowed(turn):
        raise ToolInputError("Memory is switched off in this conversation.", code="no_consent")


def _checked_id(tool_call_id: str | None) -> str:
    if tool_call_id is None:
        raise ToolInputError(
            "A call that changes memory needs its tool-call id, so that a repeat changes nothing.",
            fields={"toolCallId": "missing"},
        )
    try:
        return check_name(tool_call_id, field="toolCallId")
    except InvalidInput as error:
        raise ToolInputError(error.message, fields=error.fields) from None
