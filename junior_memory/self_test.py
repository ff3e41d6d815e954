"""Does this deployment keep people apart? Two canary people ask for each other's memories.

They, their team and their memories are made inside one transaction that is taken back at the end:
nobody else ever sees them, no count includes them, and nothing has to be removed afterwards. Every
read path of the domain is asked for everybody, and must give exactly what they may see: a canary of
one's own that is missing is as red as somebody else's that is there.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import transaction

from junior_memory import (
    access,
    admin_reads,
    clock,
    embedding_models,
    events,
    exchange,
    forgetting,
    history,
    people,
    widget,
)
from junior_memory.access import Source, Viewer
from junior_memory.audit import Doer
from junior_memory.candidates import ActorRef
from junior_memory.compiled import active_rows, forgettable_among
from junior_memory.conflicts import open_conflicts, propose
from junior_memory.counting import count_by_filter
from junior_memory.errors import NotFound
from junior_memory.filters import Filters
from junior_memory.memories import NewMemory, create_memory
from junior_memory.models import (
    AdminRead,
    Agent,
    ApiToken,
    Membership,
    Memory,
    ModelCall,
    Organization,
    Origin,
    PublicUse,
    SourcePlatform,
    User,
    Visibility,
)
from junior_memory.newest import read_newest
from junior_memory.providers import EmbeddingFailed, UnusableEmbedder
from junior_memory.recall import explain_recall
from junior_memory.recall_request import RecallRequest
from junior_memory.records import marks_of
from junior_memory.search import search_memories
from junior_memory.staff_reads import told_to_staff
from junior_memory.tools import ToolContext, call_tool, host_context, person_context
from junior_memory.vector import Query

logger = logging.getLogger(__name__)

BY_TEST = Doer(via="self_test")
OPERATION = "canary"
CONVERSATION, ELSEWHERE = "canary-conversation", "canary-elsewhere"
LIMIT = 50
DEADLINE_MS = 10_000


@dataclass(frozen=True, slots=True)
class Check:
    """One read path for one asker: what came back that should not have, and what did not."""

    path: str
    asker: str
    leaked: int
    missing: int

    @property
    def is_green(self) -> bool:
        """True when exactly what may be seen came back."""
        return not self.leaked and not self.missing


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What was asked, and when."""

    checks: tuple[Check, ...]
    tested_at: datetime
    duration_ms: int

    @property
    def is_green(self) -> bool:
        """True when everything that was asked is."""
        return bool(self.checks) and all(check.is_green for check in self.checks)

    @property
    def red(self) -> tuple[Check, ...]:
        """The checks that are not green."""
        return tuple(check for check in self.checks if not check.is_green)


@dataclass(frozen=True, slots=True)
class _Cage:
    """Two people, a team of the first, a stranger's account, and what each may see."""

    word: str
    agent: Agent
    first: User
    second: User
    org: Organization
    token: ApiToken
    rows: dict[str, Memory]

    def may(self, *names: str) -> frozenset[UUID]:
        return frozenset(self.rows[name].pk for name in names)

    @property
    def all(self) -> frozenset[UUID]:
        return frozenset(row.pk for row in self.rows.values())


@dataclass(frozen=True, slots=True)
class _Asker:
    """Somebody who asks, and the names of the rows that they may see."""

    name: str
    viewer: Viewer
    sees: frozenset[UUID]
    context: ToolContext | None = None
    person: User | None = None
    """Set for a person on their own pages, not for a host that acts for them."""


def self_test() -> SelfTest:
    """Run every check; nothing of it stays. Raises what the database raises when it is gone.

    A hosted embedding model is asked for one vector beforehand; no other model is asked.
    """
    begun = time.monotonic()
    word = f"canary{secrets.token_hex(5)}"
    _prepare_vector(word)
    with transaction.atomic():
        checks = tuple(_checks(_make_cage(word)))
        transaction.set_rollback(True)
    found = SelfTest(checks, clock.now(), int((time.monotonic() - begun) * 1000))
    for check in found.red:
        logger.error(
            "people are not kept apart: path=%s asker=%s leaked=%d missing=%d",
            check.path,
            check.asker,
            check.leaked,
            check.missing,
        )
    return found


def _prepare_vector(word: str) -> None:
    """Ask for the query's vector now, so that no model is asked inside the transaction."""
    model = embedding_models.in_use()
    if model is None:
        return
    try:
        Query(model, word, timeout_seconds=5).embed()
    except (EmbeddingFailed, UnusableEmbedder) as error:
        logger.warning("the self-test goes by words alone (%s)", type(error).__name__)
    except Exception as error:  # noqa: BLE001 - a leg that fails is the search's business
        logger.warning("the self-test goes by words alone (%s)", type(error).__name__)


def _make_cage(word: str) -> _Cage:
    first, second = (
        people.create_person(f"{word}-{name}@canary.invalid") for name in ("first", "second")
    )
    User.objects.filter(pk__in=[first.pk, second.pk]).update(public_use=PublicUse.NONE)
    first.refresh_from_db()
    second.refresh_from_db()
    org, _ = people.create_organization(word, name=word)
    Membership.objects.create(organization=org, user=first)
    agent, _ = people.agent_named(word, made_by_token=True)
    token, _ = people.create_agent_token(
        agent, scopes=sorted(people.AGENT_SCOPES), organization=org, doer=BY_TEST
    )
    for name, user in (("first", first), ("second", second), ("nobody", None)):
        reference = ActorRef("canary", word, name)
        identity = people.identity_for(reference)
        if user is not None:
            people.link_identity(identity, user, doer=BY_TEST)
    rows = {
        "first": _remember(word, "one", agent, first),
        "second": _remember(word, "two", agent, second),
        "session": _remember(
            word, "three", agent, first, visibility="session", conversation_id=CONVERSATION
        ),
        "team": _remember(word, "four", agent, first, visibility="org", org=org),
        "held": _remember(word, "five", agent, first, held_reason="self_test"),
        "expired": _remember(
            word,
            "six",
            agent,
            first,
            now=clock.now() - timedelta(hours=2),
            expires_at=clock.now() - timedelta(hours=1),
        ),
        "public": _remember(word, "seven", agent, None, visibility="public"),
        "forgotten": _remember(word, "eight", agent, first),
    }
    forgetting.forget(access.person(first), rows["forgotten"].pk, doer=BY_TEST)
    propose(rows["first"], rows["session"], now=clock.now())
    return _Cage(word, agent, first, second, org, token, rows)


def _remember(
    word: str,
    number: str,
    agent: Agent,
    owner: User | None,
    *,
    now: datetime | None = None,
    **fields: object,
) -> Memory:
    subject = {"subject_type": "user", "subject_key": str(owner.pk)} if owner else {}
    values: dict[str, object] = {
        "content": f"The {word} sings song {number}.",
        "kind": "knowledge",
        "visibility": Visibility.PRIVATE,
        "agent": agent,
        "origin": Origin.EXPLICIT,
        "source_platform": SourcePlatform.API,
        "owner": owner,
        **subject,
        **fields,
    }
    return create_memory(NewMemory(**values), now=now).stored  # type: ignore[arg-type]


def _askers(cage: _Cage) -> Iterable[_Asker]:
    people_here: Sequence[tuple[str, User, tuple[str, ...]]] = (
        ("the first person", cage.first, ("first", "session", "team", "public")),
        ("the second person", cage.second, ("second", "public")),
    )
    for name, person, sees in people_here:
        context = person_context(person, conversation_id=CONVERSATION, agent=cage.agent)
        yield _Asker(name, context.viewer, cage.may(*sees), context, person)
    hosted: Sequence[tuple[str, str, str, tuple[str, ...]]] = (
        ("first", "private", CONVERSATION, ("first", "session", "team", "public")),
        ("first", "private", ELSEWHERE, ("first", "team", "public")),
        ("first", "public", ELSEWHERE, ("team", "public")),
        ("second", "private", CONVERSATION, ("second", "public")),
        ("nobody", "private", CONVERSATION, ("public",)),
    )
    for name, visibility, conversation, sees in hosted:
        context = host_context(
            cage.token,
            actor=ActorRef("canary", cage.word, name),
            source=Source(platform="slack", key="canary", visibility=visibility),
            conversation_id=conversation,
        )
        where = f"a host for {name}, {visibility}, {conversation}"
        yield _Asker(where, context.viewer, cage.may(*sees), context)
    yield _Asker("nobody at all", access.NOBODY, frozenset())


def _checks(cage: _Cage) -> Iterable[Check]:
    for asker in _askers(cage):
        for path, read in _paths(cage, asker).items():
            seen, wanted = read()
            seen &= cage.all
            yield Check(path, asker.name, len(seen - wanted), len(wanted - seen))
    yield from _staff_checks(cage)


def _staff_checks(cage: _Cage) -> Iterable[Check]:
    """Staff are told what there is and what it cost, and nobody's words or name."""
    _spend(cage)
    whose = {str(one) for user in (cage.first, cage.second) for one in (user.pk, user.email)}
    secret = whose | {row.content for row in cage.rows.values() if row.content}
    ids = {name: str(row.pk) for name, row in cage.rows.items()}
    shown = {
        "what calls cost": [OPERATION],
        "what a budget paid": [OPERATION],
        "events": [cage.word],
        "what came or went": [ids["forgotten"]],
        "what is there now": [ids["first"], ids["held"]],
    }
    for path, told in told_to_staff(clock.now()).items():
        text = repr(told)
        leaked = sum(one in text for one in secret)
        missing = sum(one not in text for one in shown.get(path, []))
        yield Check(path, "staff", leaked, missing)


def _spend(cage: _Cage) -> None:
    """Let a recall of the first person's memory have cost something."""
    now = clock.now()
    call = ModelCall.objects.create(
        operation=OPERATION, provider="canary", model=cage.word, outcome="ok", created_at=now
    )
    recalled = events.MemoriesRecalled(
        recall_id=uuid4(),
        memories=[events.RecalledMemory(id=cage.rows["first"].pk, rank=1)],
        candidates=1,
    )
    events.record_event(
        events.MEMORIES_RECALLED,
        recalled,
        conversation_id=CONVERSATION,
        agent=cage.agent,
        owner=cage.first,
        now=now,
        calls=[call],
    )


Read = Callable[[], tuple[frozenset[UUID], frozenset[UUID]]]


def _paths(cage: _Cage, asker: _Asker) -> dict[str, Read]:
    """Return every read path open to an asker: what it gave, and what it should have given."""
    viewer, now = asker.viewer, clock.now()
    listed = Memory.objects.visible_to(viewer).active(now)

    def one_by_one() -> frozenset[UUID]:
        return frozenset(row.pk for row in cage.rows.values() if listed.filter(pk=row.pk).exists())

    def first_page() -> frozenset[UUID]:
        # As pages read it: by the statement that was compiled once for everybody.
        rows = active_rows(viewer, now)
        page = read_newest(rows, viewer, limit=LIMIT, filters=Filters(agent=cage.agent.name))
        return frozenset(row.pk for row in page)

    def searched() -> frozenset[UUID]:
        found = search_memories(viewer, cage.word, limit=LIMIT, now=now)
        return frozenset(hit.memory.pk for hit in found.hits)

    def counted() -> frozenset[UUID]:
        # A count names nobody: one too many is a leak, one too few is a row that is missing.
        counts = count_by_filter(viewer, filters=Filters(agent=cage.agent.name), now=now)
        surplus = counts.total.value - len(asker.sees)
        return asker.sees if not surplus else cage.all if surplus > 0 else frozenset()

    paths: dict[str, Read] = {
        "list": lambda: (frozenset(listed.values_list("pk", flat=True)) & cage.all, asker.sees),
        "one by one": lambda: (one_by_one(), asker.sees),
        "first page of the list": lambda: (first_page(), asker.sees),
        "where it was used": lambda: (_given_by(cage, viewer, history.uses_of), asker.sees),
    }
    if asker.context is None:
        return paths
    context = asker.context
    paths |= {
        "search": lambda: (searched(), asker.sees),
        "counts": lambda: (counted(), asker.sees),
        "recall": lambda: _recalled(cage, asker, context),
        "tool listMemories": lambda: (
            _by_tool(cage, context, "listMemories", {"limit": LIMIT}),
            asker.sees,
        ),
        "tool searchMemories": lambda: (
            _by_tool(cage, context, "searchMemories", {"query": cage.word, "limit": LIMIT}),
            asker.sees,
        ),
    }
    if asker.person is not None:
        paths |= _own_paths(cage, asker, asker.person)
    return paths


def _own_paths(cage: _Cage, asker: _Asker, user: User) -> dict[str, Read]:
    """Return the read paths of a signed-in person."""
    viewer, now = asker.viewer, clock.now()
    mine = frozenset(row.pk for row in cage.rows.values() if row.owner_id == user.pk)

    def exported() -> frozenset[UUID]:
        text = "".join(exchange.export_lines(user, doer=BY_TEST, now=now))
        return frozenset(row.pk for row in cage.rows.values() if str(row.pk) in text)

    def told() -> frozenset[UUID]:
        found = history.conversation_memories(viewer, CONVERSATION, now=now)
        return frozenset(memory.pk for memory in found)

    def widget_list() -> frozenset[UUID]:
        rows = widget.user_tier(viewer, cage.agent, now=now)
        return frozenset(rows.values_list("pk", flat=True))

    def waiting() -> frozenset[UUID]:
        rows = Memory.objects.decidable_by(viewer).in_state("held", now)
        return frozenset(rows.values_list("pk", flat=True))

    def undecided() -> frozenset[UUID]:
        pairs = open_conflicts(viewer, now=now)
        return frozenset(row.pk for pair in pairs for row in (pair.first, pair.second))

    def marked() -> frozenset[UUID]:
        told = str(marks_of(viewer))
        return frozenset(row.pk for row in cage.rows.values() if row.content in told)

    def in_state(state: str) -> frozenset[UUID]:
        rows = Memory.objects.visible_to(viewer).own(viewer).in_state(state, now)
        return frozenset(rows.values_list("pk", flat=True))

    def searched_in_state(state: str) -> frozenset[UUID]:
        found = search_memories(viewer, cage.word, limit=LIMIT, state=state, now=now)
        return frozenset(hit.memory.pk for hit in found.hits)

    def on_paper() -> frozenset[UUID]:
        rows = Memory.objects.visible_to(viewer).concerning(user).unpurged()
        return frozenset(rows.values_list("pk", flat=True))

    def read_by_staff() -> frozenset[UUID]:
        # Staff who were let in for this person see nothing of another, and nothing inactive.
        read = AdminRead(person=user, expires_at=now + timedelta(minutes=1))
        return frozenset(admin_reads.rows_of(read, now=now).values_list("pk", flat=True))

    is_first = user.pk == cage.first.pk

    def if_first(*names: str) -> frozenset[UUID]:
        return cage.may(*names) if is_first else frozenset()

    return {
        **{
            f"{way} {state}": lambda read=read, state=state: (read(state), if_first(state))  # type: ignore[misc]
            for state in ("held", "expired", "forgotten")
            for way, read in (("list of", in_state), ("search in", searched_in_state))
            if (way, state) != ("search in", "forgotten")
        },
        "history": lambda: (_given_by(cage, viewer, history.history_of), asker.sees | mine),
        "on one page": lambda: (on_paper(), mine),
        "read with a reason": lambda: (
            read_by_staff(),
            cage.may("first", "session", "team") if is_first else cage.may("second"),
        ),
        "may be forgotten": lambda: (
            frozenset(forgettable_among(viewer, cage.all, now)),
            cage.may("first", "session", "team") if is_first else cage.may("second"),
        ),
        "conflicts": lambda: (undecided(), if_first("first", "session")),
        "never again": lambda: (marked(), if_first("forgotten")),
        "export": lambda: (exported(), mine),
        "conversation": lambda: (told(), if_first("session")),
        "chat widget": lambda: (widget_list(), cage.may("first" if is_first else "second")),
        "held": lambda: (waiting(), if_first("held")),
    }


def _given_by(
    cage: _Cage, viewer: Viewer, read: Callable[[Viewer, UUID], object]
) -> frozenset[UUID]:
    """Ask for every row by its id; return those that were not refused."""
    given = set()
    for row in cage.rows.values():
        try:
            read(viewer, row.pk)
        except NotFound:
            continue
        given.add(row.pk)
    return frozenset(given)


def _recalled(
    cage: _Cage, asker: _Asker, context: ToolContext
) -> tuple[frozenset[UUID], frozenset[UUID]]:
    """Give what a recall would; which of it fits is its gate's to say, so nothing is missing."""
    request = RecallRequest(
        viewer=asker.viewer,
        agent=cage.agent,
        conversation_id=context.conversation_id,
        source=context.source,
        text=cage.word,
        limit=20,
        deadline_ms=DEADLINE_MS,
    )
    given = frozenset(one.hit.memory.pk for one in explain_recall(request).recalled)
    return given, given & asker.sees


def _by_tool(
    cage: _Cage, context: ToolContext, name: str, arguments: dict[str, object]
) -> frozenset[UUID]:
    answer = str(call_tool(name, arguments, context=context, tool_call_id=None))
    return frozenset(row.pk for row in cage.rows.values() if str(row.pk) in answer)
