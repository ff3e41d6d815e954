"""What passes between a completed session, extraction and review. Pure data: no Django, no I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_CANDIDATES = 5
"""Candidates that one extraction window may propose (CONFORMANCE 1.6)."""

MAX_EVIDENCE = 10
"""Transcript entries that one candidate may cite (CONFORMANCE 1.6)."""


WRITE_TOOLS = frozenset({"createMemory", "removeMemory"})
READ_TOOLS = frozenset({"listMemories", "searchMemories"})
MEMORY_TOOLS = WRITE_TOOLS | READ_TOOLS
"""The product's own tools; hosts put prefixes before their names."""

_NAME_PARTS = re.compile(r"[^A-Za-z0-9]+")


def bare_tool_name(name: str) -> str:
    """Return a tool's name without what hosts put before it: `mcp__memory__createMemory`."""
    return _NAME_PARTS.split(name)[-1]


class EntryType(StrEnum):
    """The two shapes of a transcript entry."""

    MESSAGE = "message"
    TOOL_RESULT = "toolResult"


class Role(StrEnum):
    """Who speaks in a message."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class Authority(StrEnum):
    """Whether a user message instructs the assistant or only gives it context."""

    INSTRUCTION = "instruction"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class ActorRef:
    """The Identity named by a host: provider, tenant, subject, and whether it is a person."""

    provider: str
    tenant: str
    subject: str
    is_human: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """One transcript entry; `index` is its place after blank entries were removed.

    `is_run_actor` is true for a user message whose actor is the session's own actor.
    """

    index: int
    type: EntryType
    text: str
    role: Role | None = None
    authority: Authority | None = None
    actor: ActorRef | None = None
    is_run_actor: bool = False
    tool_name: str = ""
    is_error: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact proposed by extraction, not yet a Memory.

    `kind` is `preference | procedure | knowledge`; `evidence` holds 1-10 entry indices. A model may
    say that it touches a topic the person never wants learned, or that it gives the assistant
    orders; both only ever narrow what becomes of it.
    """

    kind: str
    content: str
    evidence: tuple[int, ...]
    expires_at: datetime | None = None
    touches_topic: bool = False
    orders_assistant: bool = False
