"""What a model answered, as the object that was meant: fences, thoughts and prose around it go."""

from __future__ import annotations

import json
import re
from typing import Any

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"\s*(?:```\w*)?\s*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

MAX_STARTS = 50
"""Braces in prose that are looked at until one opens an object."""


def read_object(text: str) -> dict[str, Any] | None:
    """Return the first whole JSON object or list in a text, a list under the key "".

    None when there is none; one that breaks off is none, and nothing inside it is taken for it.
    """
    text = _THOUGHTS.sub(" ", text).lstrip("\ufeff")
    decoder = json.JSONDecoder()
    start = -1
    for _ in range(MAX_STARTS):
        start = _next_opening(text, start + 1)
        if start < 0:
            return None
        try:
            found, _ = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if _breaks_off(text, error):
                return None
            continue
        except (ValueError, RecursionError):
            return None
        if isinstance(found, dict):
            return {str(_clean(key)): _clean(one) for key, one in found.items()}
        if not _OPENING.fullmatch(text[:start]) and not all(isinstance(x, dict) for x in found):
            continue
        return {"": _clean(found)}
    return None


def _next_opening(text: str, start: int) -> int:
    places = [place for place in (text.find("{", start), text.find("[", start)) if place >= 0]
    return min(places, default=-1)


def _breaks_off(text: str, error: json.JSONDecodeError) -> bool:
    """True when the text ended where the object went on."""
    if error.msg.startswith("Unterminated string"):
        return True
    return error.pos >= len(text.rstrip().removesuffix("```").rstrip())


def _clean(value: Any) -> Any:
    """Drop what no column can hold from every string: NUL and halves of characters."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value).replace("\x00", "")
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(one) for key, one in value.items()}
    return value
