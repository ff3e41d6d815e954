"""Whoever asks, wherever and however: what comes back is what a ten-line model says.

Worlds of people, organizations, accounts, agents and memories in every state are made up; every
read path is asked on behalf of everybody, and the marks in the answers are compared with the model.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from junior_memory import clock, events, forgetting, turnover
from junior_memory.access import person
from junior_memory.models import (
    Agent,
    Identity,
    Membership,
    Memory,
    ModelCall,
    Organization,
    User,
)
from tests.api.conftest import Caller
from tests.api.mcp_calls import tool
from tests.factories import (
    BY_TEST,
    AgentFactory,
    IdentityFactory,
    MembershipFactory,
    OrganizationFactory,
    UserFactory,
    make_agent_token,
    make_memory,
    make_personal_token,
)

pytestmark = pytest.mark.django_db

API = "/api/plugins/memory"
WORLDS = 4
ASKED_BY_ID = 8
WAYS = 5
HOSTS = 10
"""In each world; which of the lists and pages, and who the hosts are, is drawn anew."""
MARK = re.compile(r"zq\d+x")
CONVERSATIONS = ("c-1", "c-2")
OWN_CALLS = (
    *(
        f"memories?limit=50&state={state}"
        for state in ("held", "forgotten", "superseded", "expired")
    ),
    *(f"memories?limit=50&q=lighthouse&state={state}" for state in ("held", "expired")),
    *(f"conversations/{one}/{what}" for one in CONVERSATIONS for what in ("memories", "events")),
    *("held", "conflicts", "tombstones", "receipts", "activity", "dashboard", "me"),
)
OWN_PAGES = (
    *("/recall?text=lighthouse", "/settings", "/settings/paper", "/settings/never-learn-again"),
    *("/settings/activity", "/settings/receipts", "/inbox", "/conversations/c-1"),
    *(f"/memories?state={state}" for state in ("forgotten", "superseded", "expired")),
)
STAFF_PAGES = (
    *("/overview", "/overview/cost", "/overview/memories", "/overview/budget", "/overview/calls"),
    *("/overview/calls?purpose=nothing", "/overview/events", "/overview/events?kind=captures"),
    *(f"/overview/changes?part={part}" for part in turnover.PARTS),
    *(f"/overview/present?part={part}" for part in turnover.PRESENT),
)
STAFF_CALLS = ("report", "costs?days=7")
"""What the deployment does and costs: staff's alone, and nobody's words or name."""
STATES = ("active", "active", "active", "held", "forgotten", "erased", "superseded", "expired")


@dataclass(frozen=True, slots=True)
class Row:
    """One memory as the model knows it."""

    id: UUID
    mark: str
    owner: User | None
    org: Organization | None
    agent: Agent
    visibility: str
    kind: str
    conversation: str
    about: User | None
    is_active: bool


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who asks: a person, or a host for an account in a conversation."""

    user: User | None
    orgs: frozenset[UUID] = frozenset()
    agent: Agent | None = None
    token_org: Organization | None = None
    is_private: bool = True
    conversation: str = ""


def may_see(row: Row, who: Who) -> bool:
    """Return what the contract says; the product's own rule is a query."""
    if not row.is_active or row.visibility == "public":
        return row.is_active
    mine, shared = row.owner == who.user, bool(row.org and row.org.pk in who.orgs)
    if who.user is None or (who.agent and row.agent != who.agent):
        return False
    if row.visibility == "org":
        return shared and (who.agent is None or row.org == who.token_org)
    if who.agent is None or row.visibility == "private":
        admitted = {"all": True, "none": False}.get(who.user.public_use, row.kind == "preference")
        return mine and (who.agent is None or who.is_private or admitted)
    return mine and row.conversation == who.conversation


@dataclass
class World:
    """People, where they belong, and what is remembered."""

    dice: random.Random
    now: datetime
    users: list[User] = field(default_factory=list)
    orgs: list[Organization] = field(default_factory=list)
    agents: list[Agent] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def expected(self, who: Who) -> set[str]:
        return {row.mark for row in self.rows if may_see(row, who)}


def make_world(seed: int) -> World:
    world = World(random.Random(seed), clock.now())  # noqa: S311 - dice, not secrets
    dice = world.dice
    for _ in range(3):
        use = dice.choice(["preferences", "all", "none"])
        world.users.append(UserFactory.create(public_use=use))
    world.orgs = [OrganizationFactory.create() for _ in range(2)]
    world.agents = [AgentFactory.create() for _ in range(2)]
    world.identities = [IdentityFactory.create(user=user) for user in world.users]
    world.identities += [IdentityFactory.create(user=world.users[0]), IdentityFactory.create()]
    for user in world.users:
        for org in dice.sample(world.orgs, dice.randint(0, 2)):
            MembershipFactory.create(user=user, organization=org)
    for number in range(20):
        _remember(world, number)
    _spend(world)
    # Somebody leaves, somebody joins: sight follows at once.
    for leaving in Membership.objects.order_by("?")[: dice.randint(0, 1)]:
        leaving.delete()
    return world


def _remember(world: World, number: int) -> None:
    dice, mark = world.dice, f"zq{number}x"
    visibility = dice.choice(["private", "private", "session", "org", "public"])
    state = dice.choice(STATES)
    owner = dice.choice(world.users)
    org = dice.choice(world.orgs) if visibility == "org" else None
    anonymous = visibility in {"org", "public"} and dice.random() < 0.3
    about = dice.choice([owner, *world.users]) if dice.random() < 0.5 else None
    subject: dict[str, Any] = (
        {"subject_type": "user", "subject_key": str(about.pk)}
        if about
        else {"subject_type": "general", "subject_key": None}
    )
    conversation = dice.choice(CONVERSATIONS)
    memory = make_memory(
        content=f"Lighthouse fact {mark}.",
        owner=None if anonymous else owner,
        agent=dice.choice(world.agents),
        visibility=visibility,
        org=org,
        kind=dice.choice(["preference", "knowledge", "procedure"]),
        conversation_id=conversation,
        held_reason="unlinked_actor" if state == "held" else "",
        expires_at=world.now + timedelta(hours=1) if state == "expired" else None,
        now=world.now - timedelta(days=dice.randint(1, 300)),
        **subject,
    )
    is_active = state == "active"
    if state == "expired":
        Memory.objects.filter(pk=memory.pk).update(expires_at=world.now - timedelta(minutes=5))
    elif state in {"forgotten", "erased", "superseded"}:
        is_active = not _put_away(world, memory, state)
    world.rows.append(
        Row(
            id=memory.pk,
            mark=mark,
            owner=memory.owner,
            org=org,
            agent=memory.agent,
            visibility=visibility,
            kind=memory.kind,
            conversation=conversation,
            about=about,
            is_active=is_active,
        )
    )


def _spend(world: World) -> None:
    """Let a few recalls and captures name memories and cost something, and one call be in vain."""
    for row in world.dice.sample(world.rows, 6):
        call = _call(world, row.agent, "ok")
        recalled = events.MemoriesRecalled(
            recall_id=uuid4(), memories=[events.RecalledMemory(id=row.id, rank=1)], candidates=1
        )
        one = {"id": row.id, "kind": row.kind, "visibility": row.visibility}
        captured = events.MemoriesCaptured.model_validate(
            {"memories": [one | {"observed_at": world.now}]}
        )
        is_recall = world.dice.random() < 0.5
        events.record_event(
            events.MEMORIES_RECALLED if is_recall else events.MEMORIES_CAPTURED,
            recalled if is_recall else captured,
            conversation_id=row.conversation,
            agent=row.agent,
            owner=row.owner,
            now=world.now,
            calls=[call],
        )
    _call(world, world.agents[0], "timeout")


def _call(world: World, agent: Agent, outcome: str) -> ModelCall:
    return ModelCall.objects.create(
        operation="relevance",
        provider="openai",
        model="gpt-5-nano",
        outcome=outcome,
        cost_usd=Decimal("0.01"),
        agent=agent,
        created_at=world.now,
    )


def _put_away(world: World, memory: Memory, state: str) -> bool:
    """Forget, erase or supersede through the domain where its owner may; True when it is gone."""
    mine = memory.owner and Memory.objects.forgettable_by(person(memory.owner))
    if not mine or not mine.filter(pk=memory.pk).exists():
        return False
    assert memory.owner is not None
    if state == "superseded":
        Memory.objects.filter(pk=memory.pk).update(superseded_at=world.now)
    elif state == "forgotten":
        forgetting.forget(person(memory.owner), memory.pk, doer=BY_TEST)
    else:
        forgetting.erase(person(memory.owner), memory.pk, doer=BY_TEST)
    return True


def marks(answer: Any) -> set[str]:
    """Return the marks in an answer's body."""
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return set(MARK.findall(body.decode()))


def people_of(world: World) -> Iterator[tuple[User, Who]]:
    for user in world.users:
        found = Membership.objects.filter(user=user).values_list("organization_id", flat=True)
        yield user, Who(user, frozenset(found))


def hosts_of(world: World) -> Iterator[tuple[str, dict[str, Any], Who]]:
    """Return tokens, the body of a call, and who that is, for many places of one conversation."""
    for agent in world.agents:
        for org in [None, *world.orgs]:
            secret = make_agent_token(agent, organization=org)[1]
            for identity in [None, *world.identities]:
                visibility = world.dice.choice(["private", "org", "public", "unheard-of"])
                conversation = world.dice.choice(CONVERSATIONS)
                user = identity.user if identity else None
                found = Membership.objects.filter(user=user) if user else Membership.objects.none()
                body: dict[str, Any] = {
                    "conversationId": conversation,
                    "source": {"platform": "slack", "key": "k", "visibility": visibility},
                }
                if identity:
                    named = ("provider", "tenant", "subject")
                    body["actor"] = {name: getattr(identity, name) for name in named}
                who = Who(
                    user,
                    frozenset(found.values_list("organization_id", flat=True)),
                    agent,
                    org,
                    visibility == "private",
                    conversation,
                )
                yield secret, body, who


def check_person(world: World, user: User, who: Who) -> None:
    caller = Caller(token=make_personal_token(user))
    expected = world.expected(who)
    listed: set[str] = set()
    cursor = ""
    while True:
        page = caller.call("GET", f"{API}/memories?limit=7{cursor}")
        listed |= marks(page)
        following = json.loads(page.content)["nextCursor"]
        if not following:
            break
        cursor = f"&cursor={following}"
    assert listed == expected, "list"
    total = json.loads(caller.call("GET", f"{API}/memories?limit=1").content)["total"]
    assert total["value"] == len(expected), "total"
    found = caller.call("GET", f"{API}/memories?limit=50&q=lighthouse")
    assert marks(found) == expected, "search"
    for row in world.dice.sample(world.rows, ASKED_BY_ID):
        one = caller.call("GET", f"{API}/memories/{row.id}")
        assert (one.status_code == 200) == may_see(row, who), "by id"
        assert one.status_code == 200 or not marks(one), "leaked in a refusal"
        history = caller.call("GET", f"{API}/memories/{row.id}/history")
        assert marks(history) <= {row.mark}, "leaked in a history"
        own = row.owner == user and (row.visibility != "org" or row.org.pk in who.orgs)  # type: ignore[union-attr]
        assert not marks(history) or may_see(row, who) or own, "history"
    for agent in world.agents:
        widget = marks(caller.call("GET", f"/api/chat/memory?agent={agent.name}"))
        assert widget == {
            row.mark
            for row in world.rows
            if may_see(row, who)
            and (row.owner, row.visibility, row.agent) == (user, "private", agent)
        }, "widget"
    exported = marks(caller.call("GET", f"{API}/export"))
    foreign = {
        row.mark
        for row in world.rows
        if user not in {row.owner, row.about}
        or (row.visibility == "org" and row.org.pk not in who.orgs)  # type: ignore[union-attr]
    }
    assert not exported & foreign, "export"
    for name, arguments in (("listMemories", {}), ("searchMemories", {"query": "lighthouse"})):
        told = caller.call("POST", "/mcp", tool(name, {"limit": 50, **arguments}))
        assert marks(told) == expected, f"MCP {name}"
    # What a person's own lists and pages show is theirs or shared with them, in any state.
    known = expected | {row.mark for row in world.rows} - foreign
    for path in world.dice.sample(OWN_CALLS, WAYS):
        answer = caller.call("GET", f"{API}/{path}")
        assert answer.status_code == 200, path
        assert marks(answer) <= known, path
    for path in STAFF_CALLS:
        assert caller.call("GET", f"{API}/{path}").status_code == 403, path
    check_pages(world, user, expected, known)


def check_staff(world: World, boss: User) -> None:
    """The overview, every list behind it and its REST tell staff no word and no name."""
    browser, caller = Client(), Caller(token=make_personal_token(boss, "report"))
    browser.force_login(boss)
    pages = ["/overview", *world.dice.sample(STAFF_PAGES, 2 * WAYS)]
    answers: dict[str, Any] = {path: browser.get(path, follow=True) for path in pages}
    answers |= {path: caller.call("GET", f"{API}/{path}") for path in STAFF_CALLS}
    named = {str(one) for user in world.users for one in (user.pk, user.email)}
    for path, answer in answers.items():
        assert answer.status_code == 200, path
        assert not marks(answer), path
        told = answer.content.decode()
        assert not [one for one in named if one in told], path
    listed = browser.get("/overview/present?part=all").content.decode()
    active = [row for row in world.rows if row.is_active]
    assert all(str(row.id)[:8] in listed for row in active), "or nothing is proven"


def check_pages(world: World, user: User, expected: set[str], known: set[str]) -> None:
    browser = Client()
    browser.force_login(user)
    page_marks = marks(browser.get("/memories", {"q": "lighthouse"}))
    assert page_marks <= expected, "page"
    for path in world.dice.sample(STAFF_PAGES, WAYS):
        assert browser.get(path).status_code == 403, path
    for path in world.dice.sample(OWN_PAGES, WAYS):
        answer = browser.get(path)
        assert answer.status_code in {200, 404}, path
        assert marks(answer) <= known, path
    agent = world.dice.choice(world.agents).name
    form = {"text": "lighthouse", "where": "private", "agent": agent, "team": ""}
    asked = browser.post("/recall", form)
    assert asked.status_code == 200
    assert marks(asked) <= expected, "what-if"
    for row in world.dice.sample(world.rows, ASKED_BY_ID // 2):
        answer = browser.get(f"/memories/{row.id}")
        assert marks(answer) <= known, "page of a memory"
        assert row.mark in known or answer.status_code == 404, "page of a memory"


def acting(body: dict[str, Any]) -> dict[str, str]:
    """Return the headers that say over MCP what a body says by REST."""
    source = body["source"]
    said = {
        "X-Memory-Source": f"{source['platform']}/{source['visibility']}/{source['key']}",
        "X-Memory-Conversation": body["conversationId"],
    }
    if "actor" in body:
        said["X-Memory-Actor"] = "/".join(body["actor"].values())
    return said


def check_host(world: World, secret: str, body: dict[str, Any], who: Who) -> None:
    caller = Caller(token=secret)
    expected = world.expected(who)
    listed = caller.call("POST", f"{API}/tools/listMemories", {**body, "arguments": {"limit": 50}})
    assert listed.status_code == 200
    assert marks(listed) == expected, "listMemories"
    told = [one["id"] for one in json.loads(listed.content)["memories"]]
    assert len(told) == len(set(told)), "told twice"
    arguments = {"query": "lighthouse", "limit": 50}
    found = caller.call("POST", f"{API}/tools/searchMemories", {**body, "arguments": arguments})
    assert marks(found) == expected, "searchMemories"
    tools: dict[str, dict[str, Any]] = {"listMemories": {"limit": 50}, "searchMemories": arguments}
    name = world.dice.choice(sorted(tools))
    by_mcp = caller.call("POST", "/mcp", tool(name, tools[name]), headers=acting(body))
    assert marks(by_mcp) == expected, f"MCP {name}"
    recalled = caller.call(
        "POST", f"{API}/recall", {**body, "text": "lighthouse", "limit": 20, "deadlineMs": 10_000}
    )
    assert recalled.status_code == 200
    assert not json.loads(recalled.content)["timedOut"]
    mine = {row.mark for row in world.rows if row.about in {None, who.user}}
    assert marks(recalled) <= expected & mine, "recall"
    for path in STAFF_CALLS:
        assert caller.call("GET", f"{API}/{path}").status_code == 403, path


@settings(
    max_examples=WORLDS,
    deadline=None,
    phases=(Phase.reuse, Phase.generate),  # A smaller seed makes no smaller world.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 2**32))
def test_every_read_path_agrees_with_the_model(db: None, seed: int) -> None:
    with transaction.atomic():
        world = make_world(seed)
        for user, who in people_of(world):
            check_person(world, user, who)
        for secret, body, who in world.dice.sample(list(hosts_of(world)), HOSTS):
            check_host(world, secret, body, who)
        assert not marks(Client().get(f"{API}/memories"))
        check_staff(world, UserFactory.create(is_staff=True))
        transaction.set_rollback(True)


def test_the_worlds_hold_what_can_leak(db: None) -> None:
    """Every visibility is seen by somebody and hidden from somebody, or nothing was proven."""
    verdicts: set[tuple[str, bool]] = set()
    for seed in range(4):
        world = make_world(seed)
        askers = [who for _, who in people_of(world)] + [who for *_, who in hosts_of(world)]
        verdicts |= {(row.visibility, may_see(row, who)) for row in world.rows for who in askers}
    visibilities = ("private", "session", "org", "public")
    assert verdicts == {(one, seen) for one in visibilities for seen in (True, False)}
