"""Bodies that a host sends; change what a test is about."""

from __future__ import annotations

from typing import Any

ALICE = {"provider": "slack", "tenant": "T1", "subject": "UALICE"}
BOB = {"provider": "slack", "tenant": "T1", "subject": "UBOB"}
UNKNOWN = {"provider": "slack", "tenant": "T1", "subject": "UNEVERSEEN"}


def source(**fields: Any) -> dict[str, Any]:
    return {"platform": "slack", "key": "thread-1", "visibility": "private", **fields}


def said(text: str, **fields: Any) -> dict[str, Any]:
    """Return a user message of Alice's that instructs."""
    return {
        "type": "message",
        "role": "user",
        "text": text,
        "authority": "instruction",
        "actor": ALICE,
        **fields,
    }


def session(**fields: Any) -> dict[str, Any]:
    return {
        "sessionId": "session-1",
        "conversationId": "C-1",
        "source": source(),
        "actor": ALICE,
        "actors": [ALICE],
        "completedAt": "2026-06-01T10:00:00Z",
        "transcript": [said("I prefer short answers in the morning.")],
        **fields,
    }


def question(text: str, **fields: Any) -> dict[str, Any]:
    return {
        "conversationId": "C-9",
        "source": source(),
        "actor": ALICE,
        "text": text,
        **fields,
    }
