"""Every address that takes an id, in every method, as everybody whose it is not: nothing leaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from api.urls import api
from junior_memory import access, admin_reads, compiled, forgetting, people, querysets
from junior_memory.models import (
    ApiToken,
    AuditEntry,
    CompletedSession,
    Conflict,
    ErasureReceipt,
    Memory,
    SessionState,
    Tombstone,
)
from tests.api.bodies import said, session
from tests.api.conftest import Caller
from tests.cast import Cast
from tests.factories import BY_TEST, make_agent_token, make_memory, make_personal_token

SECRET = "zebra-crossing"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def body_for(method: str, address: str) -> Any:
    """Return a body that fits, so that nothing but the right decides."""
    if method == "PATCH":
        return {"content": "Mine now.", "version": 1}
    if method == "POST" and (address.endswith("/report") or "/public/" in address):
        return {"reason": "mine now"}
    if method == "POST" and "/conflicts/" in address and not address.endswith("/undo"):
        return {"keep": "none"}
    return None


@dataclass(frozen=True)
class Held:
    """One of everything that Alice has, by the name of the address parameter."""

    ids: dict[str, list[str]]


@pytest.fixture
def hers(cast: Cast) -> Held:
    viewer = access.person(cast.alice)

    def hidden(number: int, **fields: Any) -> Memory:
        content = f"Alice hides {SECRET} number {number}."
        return make_memory(owner=cast.alice, content=content, **fields)

    active, other, gone, erased = (hidden(number) for number in range(4))
    waiting = hidden(5, held_reason="unlinked")
    expired = hidden(6)
    Memory.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    forgetting.forget(viewer, gone.pk, doer=BY_TEST)
    forgetting.erase(viewer, erased.pk, doer=BY_TEST)
    batch = forgetting.forget_many(viewer, [other.pk], doer=BY_TEST)
    conflict = Conflict.objects.create(first=active, second=other, created_at=timezone.now())
    people.create_personal_token(cast.alice, scopes=["read"], doer=BY_TEST)
    second = people.create_person("second@example.com", staff=True)
    read = admin_reads.open_read(second, cast.alice, reason="Ticket 4711.", doer=BY_TEST)
    memories = [str(m.pk) for m in (active, other, gone, waiting, erased, expired)]
    return Held(
        {
            "memory_id": memories,
            "batch_id": [str(batch.batch_id)],
            "conflict_id": [str(conflict.pk)],
            "mark_id": [str(t.pk) for t in Tombstone.objects.filter(person=cast.alice)],
            "identity_id": [str(cast.alice_slack.pk)],
            "token_id": [str(ApiToken.objects.filter(user=cast.alice)[0].pk)],
            "conversation_id": ["C-1"],
            "session_id": ["session-1"],
            "read_id": [str(read.pk)],
        }
    )


def addresses(hers: Held) -> Iterator[str]:
    """Yield every address with an id in it, filled with ids that are Alice's."""
    for router in api._get_bound_routers():
        for path in router.path_operations:
            found = re.findall(r"\{(?:\w+:)?(\w+)\}", path)
            if not found:
                continue
            (name,) = found
            for value in hers.ids.get(name, []):
                yield f"/api{router.prefix}" + re.sub(r"\{[^}]+\}", value, path)


def state() -> tuple[Any, ...]:
    """Return everything that a call could have changed."""
    return (
        list(Memory.objects.order_by("pk").values_list("pk", "archived_at", "held_at", "version")),
        list(Tombstone.objects.order_by("pk").values_list("pk", flat=True)),
        list(ErasureReceipt.objects.order_by("pk").values_list("pk", flat=True)),
        list(Conflict.objects.values_list("pk", "kept")),
        list(CompletedSession.objects.values_list("pk", "state")),
        AuditEntry.objects.count(),
    )


def walk(caller: Caller, hers: Held, *, allowed: frozenset[int]) -> int:
    """Call everything and check that nothing of Alice's comes back and nothing changes."""
    before = state()
    calls = 0
    for address in addresses(hers):
        for method in METHODS:
            response = caller.call(method, address, body_for(method, address))
            calls += 1
            said_back = response.content.decode()
            assert response.status_code in allowed, (method, address, response.status_code)
            assert SECRET not in said_back, f"leaked by {method} {address}"
            if response.status_code == 200:
                assert "conversations" in address, (method, address)
                assert said_back in {"", '{"memories": []}', '{"events": []}'}, address
    assert state() == before
    return calls


def test_nothing_of_hers_leaks_by_any_id_to_anybody(cast: Cast, hers: Held) -> None:
    outsiders = {
        "stranger": Caller(token=make_personal_token(cast.charlie)),
        "teammate": Caller(token=make_personal_token(cast.bob)),
        "signed in": Caller(user=cast.charlie),
    }
    for caller in outsiders.values():
        # A conversation is nobody's property: a stranger's view of one is empty.
        calls = walk(caller, hers, allowed=frozenset({200, 403, 404, 405}))
        assert calls > 200
    staff = Caller(token=make_personal_token(cast.root, "read", "write", "report"))
    walk(staff, hers, allowed=frozenset({200, 403, 404, 405}))


def test_anonymous_callers_get_401_by_any_id(cast: Cast, hers: Held) -> None:
    walk(Caller(), hers, allowed=frozenset({401, 405}))


def test_a_host_reads_nothing_by_a_persons_ids(cast: Cast, hers: Held) -> None:
    caller = Caller(token=make_agent_token(cast.agent, organization=cast.org)[1])
    walk(caller, hers, allowed=frozenset({403, 404, 405}))


def test_another_agent_learns_nothing_of_a_session(cast: Cast) -> None:
    host = Caller(token=make_agent_token(cast.agent)[1])
    host.post("sessions", session(transcript=[said(f"I prefer the {SECRET}.")]))
    other = Caller(token=make_agent_token(people.agent_named("scribe")[0])[1])
    hers = Held({"session_id": ["session-1"]})
    walk(other, hers, allowed=frozenset({403, 404, 405}))
    assert CompletedSession.objects.get().state == SessionState.QUEUED


def test_no_list_shows_a_stranger_anything(cast: Cast, hers: Held) -> None:
    stranger = Caller(token=make_personal_token(cast.charlie))
    for path in (
        "memories",
        "memories?state=forgotten",
        "memories?state=held",
        "memories?state=superseded",
        "memories?state=expired",
        f"memories?q={SECRET}",
        "held",
        "conflicts",
        "tombstones",
        "receipts",
        "activity",
        "dashboard",
        "me",
    ):
        response = stranger.get(path)
        assert response.status_code == 200
        assert SECRET not in response.content.decode(), path
        assert str(cast.alice.pk) not in response.content.decode(), path
    for one in ("memories", "held", "tombstones", "receipts", "conflicts"):
        assert stranger.get(one).json() in (  # type: ignore[attr-defined]
            {
                "memories": [],
                "nextCursor": None,
                "total": {"relation": "exact", "value": 0},
                "degraded": [],
            },
            {one if one != "held" else "memories": [], "nextCursor": None},
            {"conflicts": []},
        )


def test_the_walk_sees_a_rule_that_is_broken(
    cast: Cast, hers: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything(self: querysets.MemoryQuerySet, _viewer: object) -> querysets.MemoryQuerySet:
        return self.all()

    monkeypatch.setattr(querysets.MemoryQuerySet, "visible_to", everything)
    monkeypatch.setattr(compiled, "_known", {})
    stranger = Caller(token=make_personal_token(cast.charlie))
    with pytest.raises(AssertionError):
        walk(stranger, hers, allowed=frozenset({200, 403, 404, 405}))
