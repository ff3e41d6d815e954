"""The four tools that a model sees: what they take, on whose authority, and what they answer.

REST, MCP and hosts in the same process run them through `call_tool`. A model decides words alone:
who acts, who may see and whom a fact is about comes from the ToolContext, which a model never
fills in.
"""

from junior_memory.candidates import READ_TOOLS, WRITE_TOOLS
from junior_memory.tools.calls import clear_old_calls
from junior_memory.tools.context import ToolContext, host_context, person_context
from junior_memory.tools.errors import ToolInputError
from junior_memory.tools.run import call_tool
from junior_memory.tools.schemas import (
    APPROVAL_GATED,
    SEQUENTIAL,
    TOOL_ANNOTATIONS,
    TOOL_NAMES,
    TOOL_PREFIX,
    function_schemas,
    plain_name,
)

__all__ = [
    "APPROVAL_GATED",
    "READ_TOOLS",
    "SEQUENTIAL",
    "TOOL_ANNOTATIONS",
    "TOOL_NAMES",
    "TOOL_PREFIX",
    "WRITE_TOOLS",
    "ToolContext",
    "ToolInputError",
    "call_tool",
    "clear_old_calls",
    "function_schemas",
    "host_context",
    "person_context",
    "plain_name",
]
