"""Three memories of one person among everybody else's rows: found by every way in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from django.test import Client

from junior_memory import access, clock, memories, people
from junior_memory.audit import Doer
from junior_memory.models import Identity, Memory, User
from junior_memory.search import search_memories
from tests.benchmarks.corpus import HIDDEN

BASE = "/api/plugins/memory"
DOER = Doer(via="command")


@contextmanager
def person_with_three() -> Iterator[tuple[User, list[Memory]]]:
    """Make somebody who remembers HIDDEN and nothing else."""
    user = User.objects.create_user(
        f"hidden{time.time_ns()}@bench.example", email_verified_at=clock.now()
    )
    agent, _ = people.agent_named("default")
    made = [
        memories.create_memory(
            memories.NewMemory(
                content=each.text,
                kind="knowledge",
                visibility="private",
                agent=agent,
                origin="explicit",
                source_platform="api",
                owner=user,
                subject_type="user",
                subject_key=str(user.pk),
            )
        ).stored
        for each in HIDDEN
    ]
    try:
        yield user, made
    finally:
        Memory.objects.filter(owner=user).delete()


def check_hidden() -> bool:
    """Print how many of the nine questions each way in answers; True when all do."""
    with person_with_three() as (user, made):
        agent, _ = people.agent_named("default")
        actor = Identity.objects.create(
            provider="slack", tenant="bench", subject=str(user.pk), user=user
        )
        _, personal = people.create_personal_token(user, scopes=["read"], doer=DOER)
        _, host = people.create_agent_token(agent, scopes=["recall"], doer=DOER)

        def through_search(text: str) -> list[str]:
            hits = search_memories(access.person(user), text, limit=10).hits
            return [str(hit.memory.pk) for hit in hits]

        def through_rest(text: str) -> list[str]:
            page = _call(personal, "GET", f"memories?q={quote(text)}&limit=10")
            return [memory["id"] for memory in page["memories"]]

        def through_recall(text: str) -> list[str]:
            body = {
                "conversationId": "bench",
                "source": {"platform": "slack", "key": "bench", "visibility": "private"},
                "actor": {"provider": "slack", "tenant": "bench", "subject": actor.subject},
                "text": text,
                "deadlineMs": 10_000,
            }
            return [memory["id"] for memory in _call(host, "POST", "recall", body)["memories"]]

        ways: dict[str, Callable[[str], list[str]]] = {
            "search_memories": through_search,
            "GET /memories?q=": through_rest,
            "POST /recall": through_recall,
        }
        is_complete = True
        print(f"\nthree rows of one person among {Memory.objects.count():,}")
        for name, ask in ways.items():
            places = {
                sort: [
                    _place(ask(getattr(each, sort)), row)
                    for each, row in zip(HIDDEN, made, strict=True)
                ]
                for sort in ("words", "meaning", "both")
            }
            is_complete &= all(place for found in places.values() for place in found)
            shown = ", ".join(
                f"by {sort} at {' '.join(str(place or 'none') for place in found)}"
                for sort, found in places.items()
            )
            print(f"  {name}: {shown}")
    return is_complete


def _place(ids: list[str], row: Memory) -> int:
    return ids.index(str(row.pk)) + 1 if str(row.pk) in ids else 0


def _call(token: str, method: str, path: str, body: object = None) -> Any:
    response = Client(headers={"host": "localhost"}).generic(
        method,
        f"{BASE}/{path}",
        json.dumps(body) if body is not None else "",
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    if response.status_code != 200:
        raise SystemExit(f"{method} {path}: {response.status_code} {response.content!r}")
    return json.loads(response.content)
