"""What a model answered, as the object that was meant: fences, thoughts and prose around it go."""

from __future__ import annotations

import json
from typing import Any


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a text, or None when there is none that is whole."""
    start = text.find("{")
    while start >= 0:
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return found if isinstance(found, dict) else None
    return None
