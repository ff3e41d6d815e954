"""Calls of the tools as a host makes them, and a reviewing model that answers by a script."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from junior_memory import people
from junior_memory.access import Source
from junior_memory.candidates import ActorRef
from junior_memory.models import ApiToken
from junior_memory.providers import Question
from junior_memory.tools import ToolContext, host_context
from tests.cast import Cast
from tests.factories import make_agent_token

ALICE = ActorRef("slack", "T1", "UALICE")
BOB = ActorRef("slack", "T1", "UBOB")
CHARLIE = ActorRef("slack", "T1", "UCHARLIE")
UNLINKED = ActorRef("slack", "T1", "UNOBODY")
UNSEEN = ActorRef("slack", "T1", "UNEVERSEEN")
BOT = ActorRef("slack", "T1", "UALICE", is_human=False)


def private(key: str = "thread-1", **fields: Any) -> Source:
    return Source(platform="slack", key=key, visibility="private", **fields)


def public(key: str = "channel-1", **fields: Any) -> Source:
    return Source(platform="slack", key=key, visibility="public", **fields)


def org(key: str = "channel-2", **fields: Any) -> Source:
    return Source(platform="slack", key=key, visibility="org", **fields)


class Host:
    """An agent's host with one token, bound to the organization of the cast unless told not."""

    def __init__(self, cast: Cast, *, agent: str = "default", in_org: bool = True) -> None:
        self.token: ApiToken = make_agent_token(
            people.agent_named(agent)[0], organization=cast.org if in_org else None
        )[0]

    def context(
        self,
        actor: ActorRef | None = ALICE,
        source: Source | None = None,
        conversation: str = "c1",
        **fields: Any,
    ) -> ToolContext:
        return host_context(
            self.token,
            actor=actor,
            source=source or private(),
            conversation_id=conversation,
            **fields,
        )


def judges(decision: str = "store", **fields: Any) -> str:
    """Return what a reviewing model says."""
    said = {
        "decision": decision,
        "kind": "knowledge" if decision == "store" else None,
        "canonicalFact": None,
        "expiresAt": None,
        "reason": None,
    }
    return json.dumps(said | fields)


def by_schema(**answers: str) -> Callable[[Question], str]:
    """Answer by what is asked: `Judgement` is the review, `Comparison` the adjudication."""
    return lambda question: answers[question.schema_name]
