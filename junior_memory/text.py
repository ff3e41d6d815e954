"""Text as people type it, made safe to keep: whitespace, NUL, surrogates, lengths."""

from __future__ import annotations

import re
import unicodedata

from junior_memory.errors import InvalidInput

_WHITESPACE = re.compile(r"\s+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

MAX_NAME_LENGTH = 255
"""Characters of ids, keys and subjects (DESIGN 6)."""


def clean_text(text: str, *, field: str = "text") -> str:
    """Drop NUL, refuse lone surrogates (PostgreSQL can store neither)."""
    if _SURROGATE.search(text):
        raise InvalidInput(
            "The text holds half of a surrogate pair.", fields={field: "lone surrogate"}
        )
    return text.replace("\x00", "")


def collapse(text: str) -> str:
    """Turn every run of whitespace into one space and trim."""
    return _WHITESPACE.sub(" ", text).strip()


def _is_visible(character: str) -> bool:
    """True for what a reader can see: no space, no control, no zero-width mark."""
    return unicodedata.category(character) not in {"Zs", "Zl", "Zp", "Cc", "Cf"}


def normalise_content(content: str, *, limit: int, field: str = "content") -> str:
    """Return content as it is stored: cleaned and single-spaced.

    Raises InvalidInput when nothing is left or more than `limit` characters are; nothing is cut.
    """
    text = collapse(clean_text(content, field=field))
    if not any(_is_visible(character) for character in text):
        raise InvalidInput("There is nothing to remember.", fields={field: "empty"})
    if len(text) > limit:
        raise InvalidInput(
            "A memory holds at most {limit} characters; this has {length}. Shorten it.",
            fields={field: f"longer than {limit} characters"},
            values={"limit": limit, "length": len(text)},
        )
    return text


def check_name(value: str, *, field: str) -> str:
    """Return an id, key or subject unchanged; raises InvalidInput unless 1-255 plain characters."""
    if not 1 <= len(value) <= MAX_NAME_LENGTH:
        raise InvalidInput(
            f"{field} must have 1 to {MAX_NAME_LENGTH} characters.",
            fields={field: "length"},
        )
    if _CONTROL.search(value) or _SURROGATE.search(value):
        raise InvalidInput(
            f"{field} must hold no control characters.",
            fields={field: "control character"},
        )
    return value
