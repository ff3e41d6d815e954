"""What a tool refuses, in words that a model can act on."""

from __future__ import annotations

from junior_memory.errors import Conflict, InvalidInput


class ToolInputError(InvalidInput):
    """The tool cannot do that as it was asked; the message says what would do."""

    code = "invalid"


class StillRunning(Conflict):
    """The same call is still under way; repeat it with the same toolCallId in a moment."""

    code = "in_progress"
