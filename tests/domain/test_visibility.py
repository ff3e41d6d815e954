"""Who sees what: the whole matrix, against every read there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from junior_memory import access, exchange, forgetting, history, memories, people
from junior_memory.access import Source, Viewer
from junior_memory.errors import NotFound
from junior_memory.models import Agent, ApiToken, Identity, Memory
from junior_memory.recall import RecallRequest, explain_recall, recall
from junior_memory.search import search_memories
from tests.cast import Cast, assert_sees
from tests.factories import BY_TEST, AgentFactory, make_agent_token, make_memory

WORD = "heron"
"""A word that every text of the matrix holds, so that searching for it asks for everything."""


@dataclass(frozen=True)
class World:
    """One row of every visibility and owner, and of every state that must stay unseen."""

    cast: Cast
    other: Agent
    token: ApiToken
    rows: dict[str, Memory]
    hidden: dict[str, Memory]

    def named(self, *names: str) -> list[Memory]:
        return [self.rows[name] for name in names]


@pytest.fixture
def world(cast: Cast, now: datetime) -> World:
    other = AgentFactory.create(name="other")
    before = now - timedelta(days=2)

    def make(text: str, **fields: object) -> Memory:
        return make_memory(content=f"{text} {WORD}.", now=before, **fields)  # type: ignore[arg-type]

    rows = {
        "alice": make("Alice watches a", owner=cast.alice),
        "alice_knowledge": make("Alice keeps notes on a", owner=cast.alice, kind="knowledge"),
        "alice_other": make("Alice paints a", owner=cast.alice, agent=other),
        "alice_session": make(
            "Alice mentioned a", owner=cast.alice, visibility="session", conversation_id="c1"
        ),
        "bob": make("Bob photographs a", owner=cast.bob),
        "charlie": make("Charlie feeds a", owner=cast.charlie),
        "org": make("The team logo shows a", owner=cast.bob, visibility="org", org=cast.org),
        "public": make("The harbour is home to a", visibility="public"),
    }
    hidden = {
        "forgotten": make("Alice forgot the", owner=cast.alice),
        "expired": make("Alice rents a", owner=cast.alice, expires_at=now - timedelta(days=1)),
        "held": make("Somebody claims a", visibility="public", held_reason="unlinked_actor"),
        "superseded": make("Alice draws a", owner=cast.alice),
    }
    alice = access.person(cast.alice)
    forgetting.forget(alice, hidden["forgotten"].pk, doer=BY_TEST, now=before)
    rows["corrected"] = memories.correct_memory(
        alice,
        hidden["superseded"].pk,
        f"Alice carves a {WORD}.",
        version=1,
        doer=BY_TEST,
        now=before,
    )
    token, _ = make_agent_token(cast.agent, organization=cast.org)
    return World(cast, other, token, rows, hidden)


def viewers(world: World) -> dict[str, tuple[Viewer, set[str]]]:
    cast = world.cast
    private = Source(platform="slack", key="k", visibility="private")
    public = Source(platform="slack", key="k", visibility="public")
    unknown = Source(platform="slack", key="k", visibility="cosy")
    loose = ApiToken(agent=cast.agent)

    def host(
        identity: Identity | None, source: Source, token: ApiToken, conversation: str = ""
    ) -> Viewer:
        return access.host(
            token,
            actor=identity,
            source=source,
            conversation_id=conversation,
        )

    everything = {"alice", "alice_knowledge", "corrected"}
    return {
        "alice": (
            access.person(cast.alice),
            everything | {"alice_other", "alice_session", "org", "public"},
        ),
        "bob": (access.person(cast.bob), {"bob", "org", "public"}),
        "charlie": (access.person(cast.charlie), {"charlie", "public"}),
        "root, staff, as a person": (access.person(cast.root), {"public"}),
        "anonymous": (access.NOBODY, set()),
        "alice's host, private": (
            host(cast.alice_slack, private, world.token, "c1"),
            everything | {"alice_session", "org", "public"},
        ),
        "alice's host, her other identity": (
            host(cast.alice_web, private, world.token, "c1"),
            everything | {"alice_session", "org", "public"},
        ),
        "alice's host, another conversation": (
            host(cast.alice_slack, private, world.token, "c2"),
            everything | {"org", "public"},
        ),
        "alice's host, token without org": (
            host(cast.alice_slack, private, loose, "c2"),
            everything | {"public"},
        ),
        "alice's host, public conversation": (
            host(cast.alice_slack, public, world.token, "c2"),
            {"alice", "corrected", "org", "public"},
        ),
        "alice's host, unknown visibility": (
            host(cast.alice_slack, unknown, world.token, "c2"),
            {"alice", "corrected", "org", "public"},
        ),
        "bob's host in alice's conversation": (
            host(cast.bob_slack, private, world.token, "c1"),
            {"bob", "org", "public"},
        ),
        "charlie's host, token with an org he is not in": (
            host(cast.charlie_slack, private, world.token),
            {"charlie", "public"},
        ),
        "unlinked": (host(cast.unlinked, private, world.token, "c1"), {"public"}),
        "no actor": (host(None, private, world.token, "c1"), {"public"}),
    }


def by_list(viewer: Viewer, now: datetime, _: Cast) -> Iterable[Memory]:
    return Memory.objects.visible_to(viewer).active(now)


def by_search(viewer: Viewer, now: datetime, _: Cast) -> Iterable[Memory]:
    return [hit.memory for hit in search_memories(viewer, WORD, limit=50, now=now).hits]


def by_id(viewer: Viewer, now: datetime, _: Cast) -> Iterable[Memory]:
    found = []
    for memory_id in Memory.objects.values_list("pk", flat=True):
        try:
            found.append(history.find_memory(viewer, memory_id, now=now))
        except NotFound:
            continue
    return found


READS: dict[str, Callable[[Viewer, datetime, Cast], Iterable[Memory]]] = {
    "list": by_list,
    "search": by_search,
    "by id": by_id,
}


@pytest.mark.parametrize("read", READS)
def test_every_viewer_sees_exactly_their_own(world: World, now: datetime, read: str) -> None:
    for name, (viewer, expected) in viewers(world).items():
        seen = READS[read](viewer, now, world.cast)
        try:
            assert_sees(seen, exactly=world.named(*expected), never=world.hidden.values())
        except AssertionError as error:
            raise AssertionError(f"{read} as {name}: {error}") from error


def test_recall_brings_only_what_the_viewer_sees_about_themselves_or_nobody(
    world: World, now: datetime
) -> None:
    for name, (viewer, expected) in viewers(world).items():
        if viewer.agent is None:
            continue
        request = RecallRequest(
            deadline_ms=10_000,
            viewer=viewer,
            agent=viewer.agent,
            conversation_id=viewer.conversation_id or "c9",
            source=Source(platform="slack", key="k", visibility="private"),
            text=f"Tell me about the {WORD}",
            limit=8,
        )
        recalled = {one.id for one in recall(request, now=now).memories}
        allowed = {world.rows[one].pk for one in expected}
        # Written by Bob about himself: others find it by searching, labelled, and never recall it.
        if viewer.user != world.cast.bob:
            allowed.discard(world.rows["org"].pk)
        assert recalled <= allowed, f"leaked to {name}"
        # The explanation is for the person alone, and may name what stays out of a conversation.
        explained = explain_recall(request, now=now)
        shown = {candidate.hit.memory.pk for candidate in explained.candidates}
        sight = access.NOBODY if viewer.user is None else access.person(viewer.user)
        theirs = Memory.objects.visible_to(sight) | Memory.objects.visible_to(viewer)
        assert shown <= set(theirs.values_list("pk", flat=True)), f"leaked to {name}"


def test_export_holds_only_what_concerns_its_person(world: World, now: datetime) -> None:
    text = "".join(exchange.export_lines(world.cast.alice, doer=BY_TEST, now=now))
    assert "Alice watches" in text
    assert "Alice forgot" in text
    for stranger in ("Bob photographs", "Charlie feeds", "harbour", "team logo"):
        assert stranger not in text


def test_leaving_an_organization_ends_sight_at_once(world: World, now: datetime) -> None:
    alice = access.person(world.cast.alice)
    assert world.rows["org"] in Memory.objects.visible_to(alice)
    world.cast.alice.memberships.all().delete()
    assert world.rows["org"] not in Memory.objects.visible_to(alice)
    bob = world.cast.bob
    assert "team logo" in "".join(exchange.export_lines(bob, doer=BY_TEST, now=now))
    bob.memberships.all().delete()
    assert "team logo" not in "".join(exchange.export_lines(bob, doer=BY_TEST, now=now))


def test_a_deactivated_person_sees_nothing(world: World, now: datetime) -> None:
    world.cast.alice.is_active = False
    world.cast.alice.save()
    assert not Memory.objects.visible_to(access.person(world.cast.alice)).exists()
    world.cast.alice_slack.refresh_from_db()
    source = Source(platform="slack", key="k", visibility="private")
    viewer = access.host(world.token, actor=world.cast.alice_slack, source=source)
    assert_sees(Memory.objects.visible_to(viewer).active(now), exactly=world.named("public"))


def test_public_use_preference_decides_what_enters_a_public_conversation(
    world: World, now: datetime
) -> None:
    public = Source(platform="slack", key="k", visibility="public")
    expected = {
        "none": {"org", "public"},
        "preferences": {"alice", "corrected", "org", "public"},
        "all": {"alice", "alice_knowledge", "corrected", "org", "public"},
    }
    for choice, names in expected.items():
        people.change_preferences(world.cast.alice, doer=BY_TEST, public_use=choice)
        world.cast.alice_slack.refresh_from_db()
        viewer = access.host(world.token, actor=world.cast.alice_slack, source=public)
        rows = Memory.objects.visible_to(viewer).active(now)
        assert_sees(rows, exactly=world.named(*names), never=world.hidden.values())


def test_tiers_narrow_and_never_widen(world: World, now: datetime) -> None:
    private = Source(platform="slack", key="k", visibility="private")
    full = access.host(
        world.token, actor=world.cast.alice_slack, source=private, conversation_id="c1"
    )
    for tier, names in {
        "user": {"alice", "alice_knowledge", "corrected", "public"},
        "session": {"alice_session", "public"},
        "org": {"org", "public"},
    }.items():
        narrowed = replace(full, tiers=frozenset({tier}))
        rows = Memory.objects.visible_to(narrowed).active(now)
        assert_sees(rows, exactly=world.named(*names), never=world.hidden.values())


def test_what_may_be_changed_is_narrower_than_what_may_be_seen(world: World) -> None:
    alice = Memory.objects.forgettable_by(access.person(world.cast.alice))
    assert world.rows["org"] not in alice, "bob wrote it"
    assert world.rows["public"] not in alice
    bob = Memory.objects.forgettable_by(access.person(world.cast.bob))
    assert world.rows["org"] in bob
    host = access.host(
        world.token,
        actor=world.cast.alice_slack,
        source=Source(platform="slack", key="k", visibility="private"),
    )
    assert world.rows["alice_other"] not in Memory.objects.forgettable_by(host), "another agent's"
