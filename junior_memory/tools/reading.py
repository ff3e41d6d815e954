"""listMemories and searchMemories: what the actor may use in this conversation, nothing else."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from junior_memory.errors import InvalidInput
from junior_memory.model_calls import OnBehalf
from junior_memory.models import Memory
from junior_memory.newest import read_newest
from junior_memory.search import search_memories
from junior_memory.text import clean_text, collapse
from junior_memory.tools.answers import describe_memories
from junior_memory.tools.context import ToolContext
from junior_memory.tools.schemas import (
    LIST,
    SEARCH,
    ListArguments,
    SearchArguments,
    wrong_argument,
)

LISTED = 20
SEARCHED = 10
SEARCHED_CHARACTERS = 1_500
"""The last characters of a query that are searched for (DESIGN 4)."""


def list_newest(arguments: ListArguments, context: ToolContext, *, now: datetime) -> dict[str, Any]:
    """Return the newest memories in sight."""
    rows = Memory.objects.visible_to(context.viewer).active(now)
    newest = read_newest(rows, context.viewer, limit=arguments.limit or LISTED)
    return describe_memories(LIST, newest, context.viewer)


def search(arguments: SearchArguments, context: ToolContext, *, now: datetime) -> dict[str, Any]:
    """Return what fits a query, best first; `degraded` names a way of finding that failed.

    Raises ToolInputError for an empty query, Unavailable without a database.
    """
    try:
        query = collapse(clean_text(arguments.query, field="query"))[-SEARCHED_CHARACTERS:]
    except InvalidInput:
        raise wrong_argument(SEARCH, "query") from None
    if not query:
        raise wrong_argument(SEARCH, "query")
    found = search_memories(
        context.viewer,
        query,
        limit=arguments.limit or SEARCHED,
        now=now,
        on_behalf=OnBehalf(context.agent),
    )
    answer = describe_memories(SEARCH, [hit.memory for hit in found.hits], context.viewer)
    return answer | {"degraded": list(found.degraded)}
