"""Other people's text inside a prompt: masked, escaped, delimited; and the numbers it is called by.

Pure. Whatever a model reads that somebody else wrote goes through `block`. Rows are offered under
short numbers and mapped back here, so that a model can name only what it was shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from pydantic.alias_generators import to_camel

from junior_memory.providers.base import ASCII_PER_TOKEN, BYTES_PER_TOKEN
from junior_memory.secrets import mask_secrets

Row = TypeVar("Row")

MAX_NUMBER_DIGITS = 9
"""Digits of what can be nothing but a number; a longer run may be a card's."""

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]+")
_INVISIBLE = re.compile(
    "[\u200b\u202a-\u202e\u2060-\u2069\ufeff"  # separators, marks that turn text around
    "\U000e0000-\U000e007f]"  # tags: letters that nobody sees
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def readable(text: str) -> str:
    """Return text as a model may read it: secrets masked, nothing invisible, nothing unsendable."""
    masked = _CONTROL.sub(" ", _INVISIBLE.sub("", mask_secrets(text)))
    return _SURROGATE.sub("\ufffd", masked).strip()


def block(tag: str, text: str, attributes: Mapping[str, str] | None = None) -> str:
    """Return readable text inside a tag that it cannot close; attributes are escaped too."""
    return wrapped(tag, readable(text), attributes)


def wrapped(tag: str, shown: str, attributes: Mapping[str, str] | None = None) -> str:
    """Return `block` of text that is `readable` already: looking for secrets takes its time."""
    said = "".join(f' {key}="{_attribute(value)}"' for key, value in (attributes or {}).items())
    return f"<{tag}{said}>{escaped(shown)}</{tag}>"


def escaped(text: str) -> str:
    """Return text that opens and closes no tag."""
    return text.translate(_ESCAPES)


def group(tag: str, blocks: Iterable[str]) -> str:
    """Return finished blocks inside one tag, each on its line."""
    return "\n".join([f"<{tag}>", *blocks, f"</{tag}>"])


def _attribute(value: str) -> str:
    if value.isascii() and value.isdigit() and len(value) <= MAX_NUMBER_DIGITS:
        return value
    return " ".join(escaped(readable(value)).replace('"', "&quot;").split())


def weight(text: str) -> float:
    """Return how many tokens a text takes at most, by the same cautious guess as `cut_to_tokens`.

    Escaping and masking come before weighing: this weighs what is sent.
    """
    plain = len(text.encode("ascii", "ignore"))
    rest = len(text.encode("utf-8", "replace")) - plain if plain < len(text) else 0
    return plain / ASCII_PER_TOKEN + rest / BYTES_PER_TOKEN


def longest_fitting(text: str, *, room: float) -> int:
    """Return how many characters of a text surely fit once they are escaped; at least one."""
    high = min(len(text), int(room * ASCII_PER_TOKEN) + 1)
    if high == len(text) and weight(escaped(text)) <= room:
        return high
    low = 1
    while low < high:
        middle = (low + high + 1) // 2
        if weight(escaped(text[:middle])) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def fitting(rows: Sequence[Row], shown: Sequence[str], *, room: float) -> tuple[list[Row], str]:
    """Return the first rows whose blocks fit the room, and those blocks as text, one a line.

    A block that is too long is left out whole and the next one tried: half a fact misleads.
    """
    kept: list[Row] = []
    lines: list[str] = []
    for row, line in zip(rows, shown, strict=True):
        cost = weight(line) + 1
        if cost <= room:
            room -= cost
            kept.append(row)
            lines.append(line)
    return kept, "\n".join(lines)


class Answer(BaseModel):
    """What a model answers. Keys nobody asked for are ignored; errors never show what it said."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", hide_input_in_errors=True, alias_generator=to_camel
    )


def _empty_is_null(value: Any) -> Any:
    blank = isinstance(value, str) and value.strip().casefold() in {"", "null", "none"}
    return None if blank else value


EmptyIsNull = BeforeValidator(_empty_is_null)
"""For what may be null: small models write an empty text, or the word."""


def _no_truth_values(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a truth value is no number")
    return value


Number = Annotated[int, BeforeValidator(_no_truth_values)]
"""A number that a row was offered under; digits in quotes count, `true` does not."""


def at_most(most: int, *, least: int = 0) -> WithJsonSchema:
    """Return how many numbers a server is to hold a model to; what comes is counted here again."""
    items = {"type": "integer"}
    return WithJsonSchema({"type": "array", "items": items, "minItems": least, "maxItems": most})


def chosen(numbers: Iterable[int], offered: Sequence[Row]) -> tuple[Row, ...]:
    """Return the offered rows that were named, in the order named, each once; others are ignored.

    Numbers begin at 1.
    """
    return tuple(
        offered[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(offered)
    )
