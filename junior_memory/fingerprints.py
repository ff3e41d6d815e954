"""Keyed fingerprints: how equal texts are recognised without keeping the text.

HMAC-SHA-256 under `MEMORY_FINGERPRINT_KEY`. A fingerprint reads `<key id>$<hex>`; after a change
of keys new rows use the new one and look-ups try every key that is still configured.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from junior_memory.conf import conf
from junior_memory.text import collapse

if TYPE_CHECKING:
    from uuid import UUID

CLOSING = ".!?…。！？．｡"
"""Closing marks that do not change a fact, with their full-width forms (DESIGN 2)."""

_SEPARATOR = "\x1f"


def fold(text: str) -> str:
    """Return the form under which two texts count as the same: NFKC, case, spaces, closing marks.

    Nothing else is folded: "C#" and "C" stay two things.
    """
    folded = collapse(unicodedata.normalize("NFKC", text)).casefold()
    return collapse(unicodedata.normalize("NFKC", folded)).rstrip(CLOSING + " ")


def _digest(purpose: str, parts: Iterable[str], *, key_id: str, key: str) -> str:
    message = _SEPARATOR.join((purpose, *parts)).encode("utf-8", "surrogatepass")
    return f"{key_id}${hmac.new(key.encode(), message, hashlib.sha256).hexdigest()}"


def keyed(purpose: str, *parts: str) -> str:
    """Return the fingerprint under the present key."""
    return keyed_all(purpose, *parts)[0]


def keyed_all(purpose: str, *parts: str) -> list[str]:
    """Return the fingerprints under every configured key, the present key's first."""
    return [
        _digest(purpose, parts, key_id=key_id, key=key)
        for key_id, key in conf().fingerprint_keys.items()
    ]


def duplicate_parts(
    *,
    visibility: str,
    holder: str,
    agent_id: UUID,
    kind: str,
    subject_type: str,
    subject_key: str | None,
    content: str,
) -> tuple[str, ...]:
    """Return what makes two memories the same memory.

    `holder` is whom the row belongs to: the owner, the organization, or for session rows owner and
    conversation; public rows belong to nobody. A fact about a conversation is the same fact when it
    is said again in another one: only whom a fact is about tells two subjects apart.
    """
    return (
        visibility,
        holder,
        str(agent_id),
        kind,
        subject_type,
        (subject_key or "") if subject_type == "user" else "",
        fold(content),
    )


def person_scope(user_id: UUID) -> str:
    """Name the tombstone scope of one person."""
    return f"person:{user_id}"


def org_scope(org_id: UUID) -> str:
    """Name the tombstone scope of one organization."""
    return f"org:{org_id}"


PUBLIC_SCOPE = "public"


def tombstone(scope: str, text: str) -> str:
    """Return the fingerprint that forgetting leaves, whatever kind, agent or visibility."""
    return keyed("tombstone", scope, fold(text))


def tombstones(scopes: Sequence[str], text: str) -> list[str]:
    """Return every fingerprint under which this text may have been forgotten in these scopes."""
    folded = fold(text)
    return [digest for scope in scopes for digest in keyed_all("tombstone", scope, folded)]
