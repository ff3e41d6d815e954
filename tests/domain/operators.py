"""An operator's own code, as a deployment would name it in its settings."""

from __future__ import annotations

import time
from collections.abc import Sequence

from junior_memory.consent import PromptMemory, Turn

ASKED: list[Turn] = []
"""Every turn that the recording gates were asked about; tests empty it."""

GIVEN: list[tuple[PromptMemory, ...]] = []
"""What the recording format was given; tests empty it."""

NOT_CALLABLE = "yes"


def allow(turn: Turn) -> bool:
    ASKED.append(turn)
    return True


async def allow_later(turn: Turn) -> bool:
    ASKED.append(turn)
    return True


def refuse(turn: Turn) -> bool:
    ASKED.append(turn)
    return False


def refuse_the_unlinked(turn: Turn) -> bool:
    return turn.user is not None


def say_yes_in_words(turn: Turn) -> str:
    return f"yes, in {turn.conversation_id}"


def throw(*_: object) -> bool:
    raise RuntimeError("zebra: the words of a memory")


def hang(*_: object) -> bool:
    time.sleep(2)
    return True


def as_list(memories: Sequence[PromptMemory], turn: Turn) -> str:
    GIVEN.append(tuple(memories))
    lines = [f"* {one.text} ({one.kind})" for one in memories]
    return "\n".join([f"Known to {turn.agent.name}:", *lines])


def nothing(*_: object) -> str:
    return " "


def too_much(*_: object) -> str:
    return "x" * 4001


def unprintable(*_: object) -> str:
    return "half \ud800"


def a_number(*_: object) -> int:
    return 7
