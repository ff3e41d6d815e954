"""Conversations handed to a scripted model, for the tests of learning."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from junior_memory import memories, sessions
from junior_memory.access import Source
from junior_memory.candidates import ActorRef
from junior_memory.memories import NewMemory
from junior_memory.models import (
    CompletedSession,
    Memory,
)
from junior_memory.providers import ModelFailed, Question
from junior_memory.providers.fake import FakeChatModel
from tests.cast import Cast

ALICE = ActorRef("slack", "T1", "UALICE")
BOB = ActorRef("slack", "T1", "UBOB")
DONE = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
LATER = DONE + timedelta(hours=1)
PRIVATE = Source(platform="slack", key="slack:T1:D1", visibility="private")
PUBLIC = Source(platform="slack", key="slack:T1:C1", visibility="public")

Reply = dict[str, Any] | ModelFailed | Callable[[Question], dict[str, Any]]


def said(text: str, actor: ActorRef = ALICE) -> dict[str, Any]:
    return {
        "type": "message",
        "role": "user",
        "authority": "instruction",
        "text": text,
        "actor": {"provider": actor.provider, "tenant": actor.tenant, "subject": actor.subject},
    }


def fact(text: str, *evidence: int, kind: str = "preference", **fields: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "canonicalFact": text,
        "expiresAt": None,
        "evidence": list(evidence) or [0],
        "touchesTopic": None,
        "ordersAssistant": False,
        **fields,
    }


def answer(
    model: FakeChatModel, *found: dict[str, Any], verdict: str = "distinct", numbers: Any = ()
) -> None:
    """Let the model find these facts, and give this verdict on each of them."""
    replies(
        model,
        lambda _: {"memories": list(found)},
        lambda _: {"verdict": verdict, "numbers": list(numbers)},
    )


def replies(model: FakeChatModel, extraction: Reply, comparison: Reply) -> None:
    """Answer the two questions of learning; a failure comes for every question from there on."""

    def reply(question: Question) -> str:
        chosen = comparison if question.schema_name == "Comparison" else extraction
        assert not isinstance(chosen, ModelFailed)
        return json.dumps(chosen(question) if callable(chosen) else chosen)

    failures = [one for one in (extraction, comparison) if isinstance(one, ModelFailed)]
    model.script = [reply, *failures] if failures and failures[0] is comparison else [reply]
    if isinstance(extraction, ModelFailed):
        model.script = [extraction]


def take_in(cast: Cast, *transcript: dict[str, Any], **fields: Any) -> CompletedSession:
    base: dict[str, Any] = {
        "session_id": "s1",
        "conversation_id": "c1",
        "source": PRIVATE,
        "actor": ALICE,
        "actors": (ALICE,),
        "completed_at": DONE,
        "transcript": transcript or (said("I like green tea best."),),
    }
    agent = fields.pop("agent", cast.agent)
    session, _ = sessions.take_in(
        sessions.SessionInput(**(base | fields)), agent=agent, organization=cast.org
    )
    return session


def process(cast: Cast, *transcript: dict[str, Any], **fields: Any) -> CompletedSession:
    return sessions.process_session(take_in(cast, *transcript, **fields).pk)


def active(now: datetime = LATER) -> list[str]:
    return sorted(Memory.objects.active(now).values_list("content", flat=True))


def remember(cast: Cast, content: str, **fields: Any) -> Memory:
    """Let Alice hold something that was learned before."""
    base = NewMemory(
        content=content,
        kind="preference",
        visibility="private",
        agent=cast.agent,
        origin="automatic",
        source_platform="slack",
        owner=cast.alice,
        conversation_id="c0",
        subject_type="user",
        subject_key=str(cast.alice.pk),
        observed_at=DONE - timedelta(days=3),
    )
    return memories.create_memory(replace(base, **fields), now=DONE - timedelta(days=3)).stored


def asked(model: FakeChatModel, name: str) -> list[Question]:
    return [question for question in model.asked if question.schema_name.startswith(name)]


def fresh(cast: Cast, content: str) -> NewMemory:
    return NewMemory(
        content=content,
        kind="preference",
        visibility="private",
        agent=cast.agent,
        origin="automatic",
        source_platform="slack",
        owner=cast.alice,
        subject_type="user",
        subject_key=str(cast.alice.pk),
    )
