"""How much of a prompt is left for other people's words, and transcripts cut to fit it.

Nothing is left out: an entry longer than a window is split into parts that keep its index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from junior_memory.candidates import Entry, EntryType, Role
from junior_memory.prompts import Prompt
from junior_memory.providers import ChatModel, ModelFailed, chat_model_in_use
from junior_memory.providers.base import ASCII_PER_TOKEN
from junior_memory.quoting import block, longest_fitting, readable, weight

MAX_WINDOW = 6_000
"""Tokens of a conversation that are read at once: five facts are few for more than that."""

MIN_WINDOW = 300
"""Tokens below which a model is too small to read anything with."""

OVERLAP = 3
"""Entries of the window before that are shown once more, for context."""

OVERLAP_SHARE = 0.25
"""Of a window that they may take."""

_PART_SHARE = 0.6
"""Of a window that one part of a long entry may take, so that context finds room beside it."""

_MAX_TOOL_NAME = 80

_BREAKS = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"[.!?]\s|[。！？]", r"\s")))
"""Where a long entry is split, the best place first."""

_LOOKED_BACK = 5
"""A break is looked for in the last fifth of what fits."""


def model_for(model: ChatModel | None) -> ChatModel:
    """Return the model given or the one in use; raises ModelFailed `no_model`."""
    found = model or chat_model_in_use()
    if found is None:
        raise ModelFailed("no_model", is_permanent=True)
    return found


def room_beside(prompt: Prompt, model: ChatModel) -> float:
    """Return the tokens that a model takes beside a prompt; raises ModelFailed `too_long`."""
    room = model.max_input_tokens - prompt.weight
    if room <= 0:
        raise ModelFailed("too_long", is_permanent=True)
    return room


@dataclass(frozen=True, slots=True)
class Part:
    """An entry, or a part of a long one, as a model is shown it; several parts share an index."""

    entry: Entry
    number: int
    text: str
    shown: str
    weight: float
    may_be_cited: bool


@dataclass(frozen=True, slots=True)
class Window:
    """Parts in the order of the transcript; the first `repeated` were in the window before."""

    parts: tuple[Part, ...]
    repeated: int

    @property
    def key(self) -> str:
        """Names the stretch of the transcript; the same text and size give the same key."""
        first, last = self.parts[0], self.parts[-1]
        return f"{first.entry.index}.{first.number}-{last.entry.index}.{last.number}"

    @property
    def indices(self) -> frozenset[int]:
        """The entries that may be cited from this window."""
        return frozenset(part.entry.index for part in self.parts)

    @property
    def has_news(self) -> bool:
        """True when something in it proves anything that the window before did not show."""
        return any(part.may_be_cited for part in self.parts[self.repeated :])

    @property
    def told(self) -> str:
        """What people and tools said in it, without the assistant's own words."""
        return "\n".join(part.text for part in self.parts if _is_told(part.entry))

    @property
    def text(self) -> str:
        """Everything that was said in it."""
        return "\n".join(part.text for part in self.parts)


def _is_told(entry: Entry) -> bool:
    return entry.type is EntryType.TOOL_RESULT or entry.role is Role.USER


def window_size(prompt: Prompt, model: ChatModel, *, beside: float) -> float:
    """Return the tokens of one window; `beside` are kept for what comes with it."""
    size = min(MAX_WINDOW, room_beside(prompt, model) - beside)
    if size < MIN_WINDOW:
        raise ModelFailed("too_long", is_permanent=True)
    return size


def windows_of(
    entries: Sequence[Entry], *, size: float, echoed: frozenset[int] = frozenset()
) -> Iterator[Window]:
    """Cut a transcript into windows of at most `size` tokens, each beginning with a few entries
    of the one before.
    """
    names: dict[object, int] = {}
    for entry in entries:
        if entry.actor is not None:
            names.setdefault(entry.actor, len(names) + 1)
    parts: list[Part] = []
    repeated = 0
    used = 0.0
    for part in _parts(entries, names, echoed, limit=size * _PART_SHARE):
        if parts[repeated:] and used + part.weight > size:
            yield Window(tuple(parts), repeated)
            parts = _tail(parts, room=min(size * OVERLAP_SHARE, size - part.weight))
            repeated = len(parts)
            used = sum(one.weight for one in parts)
        parts.append(part)
        used += part.weight
    if parts[repeated:]:
        yield Window(tuple(parts), repeated)


def _tail(parts: Sequence[Part], *, room: float) -> list[Part]:
    tail: list[Part] = []
    for part in reversed(parts[-OVERLAP:]):
        if part.weight > room:
            break
        room -= part.weight
        tail.insert(0, part)
    return tail


def _parts(
    entries: Sequence[Entry], names: dict[object, int], echoed: frozenset[int], *, limit: float
) -> Iterator[Part]:
    for entry in entries:
        attributes = _attributes(entry, names, may_cite=entry.index not in echoed)
        around = weight(block("entry", "", attributes | {"part": "999"})) + 1
        # Secrets are masked in the whole text first: half a key is not recognised as one.
        for number, text in enumerate(_split(readable(entry.text), limit=limit - around)):
            numbered = attributes | ({"part": str(number + 1)} if number else {})
            shown = block("entry", text, numbered)
            yield Part(entry, number, text, shown, weight(shown) + 1, attributes["cite"] == "yes")


def _split(text: str, *, limit: float) -> Iterator[str]:
    """Split a text into parts that fit once they are escaped, at the best break near the end."""
    start = 0
    while start < len(text):
        ahead = text[start : start + int(limit * ASCII_PER_TOKEN) + 2]
        end = longest_fitting(ahead, room=limit)
        if start + end < len(text):
            end = _break_before(ahead, end)
        yield ahead[:end]
        start += end


def _break_before(text: str, end: int) -> int:
    for pattern in _BREAKS:
        found = [match.end() for match in pattern.finditer(text, end - end // _LOOKED_BACK, end)]
        if found:
            return found[-1]
    return end


def _attributes(entry: Entry, names: dict[object, int], *, may_cite: bool) -> dict[str, str]:
    """Return what a model is told about an entry: numbers instead of names."""
    said: dict[str, str] = {"n": str(entry.index)}
    if entry.type is EntryType.TOOL_RESULT:
        said |= {
            "by": "tool",
            "tool": entry.tool_name[:_MAX_TOOL_NAME],
            "failed": "yes" if entry.is_error else "no",
        }
        may_cite = may_cite and not entry.is_error
    else:
        said["by"] = str(entry.role) if entry.role else "assistant"
        if entry.role is Role.USER:
            said["authority"] = str(entry.authority or "context")
            said["speaker"] = str(names[entry.actor]) if entry.actor is not None else "unknown"
            said["self"] = "yes" if entry.is_run_actor else "no"
        else:
            may_cite = False
    if entry.at is not None:
        said["on"] = entry.at.date().isoformat()
    return said | {"cite": "yes" if may_cite else "no"}
