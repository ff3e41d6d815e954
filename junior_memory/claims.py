"""What a model claims, held against what it was shown: its words, its dates, its numbers. Pure.

A model may be wrong, small, or led astray by what it read. What it makes up is dropped here, before
anything is decided about it.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from junior_memory.errors import InvalidInput
from junior_memory.secrets import MASK, contains_secret
from junior_memory.stems import content_stems
from junior_memory.text import normalise_content

MAX_CONTENT = 4_000
"""Characters of a memory (DESIGN 2)."""

_ANYWHERE = content_stems(
    "prefers likes loves hates enjoys wants thinks uses works lives always never team project"
)
"""Stems that facts of every sort begin with: sharing one of them proves nothing."""

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{2}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NO_DATE = frozenset(["", "never", "null", "none", "n/a", "unknown", "permanent"])
_FOREVER_YEARS = 100


class UnusableClaim(ValueError):
    """What a model said cannot be kept; the message holds none of it."""


class SecretClaim(UnusableClaim):
    """It holds a secret, or the mask that stood for one."""


def wording(text: str, *, shown: str) -> str:
    """Return a fact's words as they are stored; raises UnusableClaim.

    Unusable are: nothing, too much, half a character, a secret or the mask of one, and words of
    which none occurs in what the model was shown.
    """
    try:
        content = normalise_content(text, limit=MAX_CONTENT)
    except InvalidInput:
        raise UnusableClaim("wording") from None
    if MASK in content or contains_secret(content):
        raise SecretClaim("secret")
    if not is_grounded(content, shown):
        raise UnusableClaim("made up")
    return content


def is_grounded(content: str, shown: str) -> bool:
    """True when a fact shares a telling word with what was shown, after folding and stemming.

    In scripts without spaces two characters in a row count as a word.
    """
    words = content_stems(content)
    if words & content_stems(shown) - _ANYWHERE:
        return True
    runs = (content[m.start() : m.start() + 2] for m in _pairs(content))
    return any(run in shown for run in runs)


def _pairs(text: str) -> list[re.Match[str]]:
    return [m for place in range(len(text)) if (m := _UNSPACED.match(text, place))]


def last_moment(text: str | None, *, now: datetime) -> datetime | None:
    """Return when a fact ends: a day ends with its last second, in UTC; None for never.

    Raises UnusableClaim for what is over already and for what is no date: a fact whose end nobody
    can tell must not stay for ever.
    """
    said = (text or "").strip()
    if said.casefold() in _NO_DATE:
        return None
    try:
        moment = _moment(said)
    except (ValueError, OverflowError):
        raise UnusableClaim("date") from None
    if moment.year > now.year + _FOREVER_YEARS:
        return None
    if moment <= now:
        raise UnusableClaim("past")
    return moment


def _moment(said: str) -> datetime:
    if _DAY.fullmatch(said):
        day = datetime.combine(date.fromisoformat(said), time.min, UTC)
        return day if day.year >= 9999 else day + timedelta(days=1)
    moment = datetime.fromisoformat(said)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
