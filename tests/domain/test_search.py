"""Explicit search: who finds what, counts, pages, filters, and what happens when a leg fails."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.utils import OperationalError
from django.test.utils import CaptureQueriesContext

from junior_memory import access, legs, search
from junior_memory.access import NOBODY, Viewer, person
from junior_memory.deadlines import statement_limit
from junior_memory.errors import InvalidInput
from junior_memory.lexical import leg as lexical_leg
from junior_memory.lexical.leg import make_plan
from junior_memory.lexical.queries import query_terms
from junior_memory.models import Memory
from junior_memory.parts import parts_of
from junior_memory.search import (
    Filters,
    SearchResult,
    Total,
    count_by_filter,
    highlight_spans,
    search_memories,
)
from tests.cast import Cast, assert_sees
from tests.domain.test_lexical_table import remember
from tests.factories import (
    AgentFactory,
    MembershipFactory,
    OrganizationFactory,
    make_agent_token,
    make_memory,
)


def found(result: SearchResult) -> list[Memory]:
    return [hit.memory for hit in result.hits]


@pytest.fixture
def rows(cast: Cast, now: datetime) -> dict[str, Memory]:
    """Return one row of each visibility and owner about the same word."""

    theirs = OrganizationFactory.create(slug="others")
    MembershipFactory.create(user=cast.charlie, organization=theirs)

    def one(name: str, **fields: Any) -> Memory:
        (memory,) = remember(cast, [f"Zanzibar note of {name}"], now, **fields)
        return memory

    return {
        "alice private": one("alice"),
        "alice session": one("alice", visibility="session", conversation_id="c1"),
        "bob private": one("bob", owner=cast.bob),
        "charlie private": one("charlie", owner=cast.charlie),
        "org": one("team", visibility="org", org=cast.org, owner=cast.bob),
        "public": one("everyone", visibility="public", owner=None),
        "other org": one("others", visibility="org", org=theirs, owner=cast.charlie),
    }


@pytest.mark.parametrize("query", ["zanzibar", "zanzi", "Zanzibar notes", "z"])
def test_everybody_finds_exactly_what_they_may_see(
    cast: Cast, now: datetime, rows: dict[str, Memory], query: str
) -> None:
    wanted = {
        cast.alice: ["alice private", "alice session", "org", "public"],
        cast.bob: ["bob private", "org", "public"],
        cast.charlie: ["charlie private", "other org", "public"],
        cast.root: ["public"],
    }
    for user, names in wanted.items():
        result = search_memories(person(user), query, limit=50, now=now)
        assert_sees(found(result), exactly=[rows[name] for name in names])
        assert (result.total, result.relation) == (len(names), "exact")
        assert count_by_filter(person(user), query=query, now=now).total.value == len(names)


def test_nobody_finds_nothing(now: datetime, rows: dict[str, Memory]) -> None:
    result = search_memories(NOBODY, "zanzibar", now=now)
    assert (result.hits, result.total) == ((), 0)
    assert count_by_filter(NOBODY, query="zanzibar", now=now).total.value == 0


def test_hosts_find_what_their_actor_source_and_org_admit(
    cast: Cast, now: datetime, rows: dict[str, Memory]
) -> None:
    def host(actor: Any, visibility: str, org: Any = None) -> Viewer:
        token, _ = make_agent_token(cast.agent, organization=org)
        return access.host(
            token,
            actor=actor,
            source=access.Source(platform="slack", key="k", visibility=visibility),
            conversation_id="c1",
        )

    cases = [
        (host(cast.alice_slack, "private"), ["alice private", "alice session", "public"]),
        (
            host(cast.alice_slack, "private", cast.org),
            ["alice private", "alice session", "org", "public"],
        ),
        (host(cast.alice_slack, "public"), ["alice session", "public"]),
        (host(cast.charlie_slack, "private", cast.org), ["charlie private", "public"]),
        (host(cast.unlinked, "private", cast.org), ["public"]),
        (host(None, "private"), ["public"]),
    ]
    for viewer, names in cases:
        result = search_memories(viewer, "zanzibar", limit=50, now=now)
        assert_sees(found(result), exactly=[rows[name] for name in names])


def test_inactive_rows_are_never_found(cast: Cast, now: datetime) -> None:
    texts = ["Zanzibar held", "Zanzibar archived", "Zanzibar superseded", "Zanzibar expired"]
    held, archived, superseded, expired = remember(cast, texts, now)
    Memory.objects.filter(pk=held.pk).update(held_at=now, held_reason="rate")
    Memory.objects.filter(pk=archived.pk).update(archived_at=now, archive_reason="user_removed")
    Memory.objects.filter(pk=superseded.pk).update(superseded_at=now)
    Memory.objects.filter(pk=expired.pk).update(expires_at=now)
    result = search_memories(person(cast.alice), "zanzibar", now=now)
    assert (result.hits, result.total) == ((), 0)
    assert search_memories(person(cast.alice), "anzib", now=now).hits == ()


@pytest.mark.parametrize("query", ["%", "_", "\\", "%%%", "a%b", "'", "''; --", "a & b | !c", ":*"])
def test_wildcards_and_operators_are_letters(cast: Cast, now: datetime, query: str) -> None:
    remember(cast, ["Plain words only", "Nothing special here"], now)
    (marked,) = remember(cast, [f"Holds {query} inside"], now)
    result = search_memories(person(cast.alice), query, now=now)
    hits = [hit.memory for hit in result.hits if hit.match.characters or hit.match.words]
    assert marked in hits
    if query in {"%", "_", "\\", "%%%", "a%b", "''; --", ":*"}:
        assert hits == [marked]


def test_rarer_words_weigh_more(cast: Cast, now: datetime) -> None:
    remember(cast, [f"Meeting about budget number {n}" for n in range(30)], now)
    (rare,) = remember(cast, ["The gazebo is rented"], now)
    result = search_memories(person(cast.alice), "gazebo meeting budget", limit=50, now=now)
    places = {hit.memory.content: place for place, hit in enumerate(result.hits)}
    both = search_memories(person(cast.alice), "gazebo meeting", now=now)
    assert both.hits[0].memory == rare
    assert places[rare.content] < 30


def test_an_old_better_match_beats_newer_weaker_ones(cast: Cast, now: datetime) -> None:
    remember(cast, [f"Backup of host number {n}" for n in range(300)], now)
    (old,) = remember(cast, ["Backup runs at midnight"], now, observed_at=now - timedelta(days=900))
    result = search_memories(person(cast.alice), "when does the backup run at midnight", now=now)
    assert result.hits[0].memory == old


def test_equal_matches_are_ordered_private_then_fresh_then_newest(
    cast: Cast, now: datetime
) -> None:
    text = "Zeppelin hangar"
    (public,) = remember(cast, [text], now, visibility="public", owner=None)
    (stale,) = remember(cast, [text], now, observed_at=now - timedelta(days=200))
    (fresh,) = remember(cast, [text], now, observed_at=now - timedelta(days=2))
    assert found(search_memories(person(cast.alice), "zeppelin", now=now)) == [
        fresh,
        stale,
        public,
    ]


def test_pages_are_cut_from_one_order_without_gaps_or_twins(cast: Cast, now: datetime) -> None:
    remember(cast, [f"Pagoda view {n}" for n in range(230)], now)
    viewer = person(cast.alice)
    pages = [
        search_memories(viewer, "pagoda", limit=25, offset=offset, now=now)
        for offset in range(0, 200, 25)
    ]
    ids = [hit.memory.pk for page in pages for hit in page.hits]
    assert len(ids) == len(set(ids)) == 200
    assert {(page.total, page.relation) for page in pages} == {(230, "exact")}


def test_limit_50_of_55_matches_gives_exactly_50(cast: Cast, now: datetime) -> None:
    remember(cast, [f"Pagoda view {n}" for n in range(55)], now)
    assert len(search_memories(person(cast.alice), "pagoda", limit=50, now=now).hits) == 50


@pytest.mark.parametrize(
    ("query", "limit", "offset"),
    [("", 10, 0), (" \t", 10, 0), ("a", 0, 0), ("a", -1, 0), ("a", 10, -1), ("a", 25, 180)],
)
def test_what_cannot_be_asked_is_refused(
    cast: Cast, now: datetime, query: str, limit: int, offset: int
) -> None:
    with pytest.raises(InvalidInput):
        search_memories(person(cast.alice), query, limit=limit, offset=offset, now=now)


def test_function_words_alone_find_by_characters_or_nothing(cast: Cast, now: datetime) -> None:
    remember(cast, ["Weather is mild"], now)
    by_characters = search_memories(person(cast.alice), "the", now=now)
    assert [(hit.match.words, hit.match.characters) for hit in by_characters.hits] == [((), True)]
    assert search_memories(person(cast.alice), "which", now=now).hits == ()


def exactly(**counts: int) -> dict[str, Total]:
    """Return exact counts by the choices of a filter."""
    return {name: Total("exact", count) for name, count in counts.items()}


def test_filters_narrow_hits_total_and_counts_alike(cast: Cast, now: datetime) -> None:
    other = AgentFactory.create(name="night-bot")
    remember(cast, ["Lantern a", "Lantern b"], now, kind="preference")
    remember(cast, ["Lantern c"], now, origin="automatic")
    remember(cast, ["Lantern d"], now, agent=other)
    remember(cast, ["Lantern e"], now, visibility="public", owner=None)
    remember(cast, ["Something else"], now)
    viewer = person(cast.alice)
    cases = {
        Filters(): 5,
        Filters(visibility="private"): 4,
        Filters(visibility="public"): 1,
        Filters(visibility="org"): 0,
        Filters(kind="preference"): 2,
        Filters(kind="preference", visibility="public"): 0,
        Filters(origin="automatic"): 1,
        Filters(agent="night-bot"): 1,
        Filters(agent="nobody"): 0,
    }
    for filters, wanted in cases.items():
        result = search_memories(viewer, "lantern", filters=filters, limit=50, now=now)
        counts = count_by_filter(viewer, query="lantern", filters=filters, now=now)
        assert (len(result.hits), result.total, counts.total.value) == (wanted,) * 3, filters
    counts = count_by_filter(viewer, query="lantern", now=now)
    assert counts.visibility == exactly(private=4, public=1)
    assert counts.kind == exactly(preference=2, knowledge=3)
    assert counts.origin == exactly(explicit=4, automatic=1)
    assert counts.agent == exactly(default=4) | {"night-bot": Total("exact", 1)}
    narrowed = count_by_filter(viewer, query="lantern", filters=Filters(kind="preference"), now=now)
    assert narrowed.kind == exactly(preference=2, knowledge=3)
    assert narrowed.visibility == exactly(private=2)


def test_counts_without_words_are_those_of_the_list(cast: Cast, now: datetime) -> None:
    kept = make_memory(content="Lantern one", owner=cast.alice, now=now)
    gone = make_memory(content="Lantern two", owner=cast.alice, now=now)
    make_memory(content="Lantern three", owner=cast.bob, now=now)
    Memory.objects.filter(pk=gone.pk).update(archived_at=now, archive_reason="user_removed")
    viewer = person(cast.alice)
    assert kept.kind == "preference"
    assert count_by_filter(viewer, now=now).kind == exactly(preference=1)
    assert count_by_filter(viewer, state="forgotten", now=now).total.value == 1
    assert count_by_filter(viewer, state="held", now=now).total.value == 0
    assert count_by_filter(person(cast.bob), state="forgotten", now=now).total.value == 0


def test_large_public_sets_count_at_least_and_search_by_rarer_words(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexical_leg, "COMMON_AT", 50)
    monkeypatch.setattr(lexical_leg, "LARGE_AT", 50)
    monkeypatch.setattr("junior_memory.counting.COUNTED", 60)
    monkeypatch.setattr("junior_memory.counting.SAMPLED", 61)
    shared = {"visibility": "public", "owner": None}
    remember(cast, [f"Common harbour entry {n}" for n in range(80)], now, **shared)
    (wanted,) = remember(
        cast,
        ["Common harbour with a lighthouse"],
        now,
        observed_at=now - timedelta(days=999),
        **shared,
    )
    remember(cast, ["Own harbour"], now)
    viewer = person(cast.charlie)
    result = search_memories(viewer, "common harbour lighthouse", limit=50, now=now)
    assert found(result) == [wanted]
    assert (result.total, result.relation) == (60, "atLeast")
    only_common = search_memories(viewer, "harbour", limit=50, now=now)
    assert len(only_common.hits) == 50
    counts = count_by_filter(viewer, query="harbour", now=now)
    assert counts.total.relation == "atLeast"
    assert counts.visibility == {"public": Total("atLeast", 60)}
    begun = search_memories(viewer, "lightho", now=now)
    assert [(hit.memory, hit.match.characters) for hit in begun.hits] == [(wanted, True)]
    own = search_memories(
        person(cast.alice), "harbour", filters=Filters(visibility="private"), now=now
    )
    assert (own.total, own.relation) == (1, "exact")


def test_hits_say_which_words_matched(cast: Cast, now: datetime) -> None:
    remember(cast, ["Bookings for the Orangery close on Fridays"], now)
    (hit,) = search_memories(person(cast.alice), "when is an orangery booking closed", now=now).hits
    assert hit.match.words == ("Bookings", "Orangery", "close")
    assert (hit.match.meaning, hit.match.characters, hit.legs) == (None, False, ("lexical",))


@pytest.mark.parametrize(
    ("content", "query", "marked"),
    [
        ("Prefers naïve plans", "naive", ["naïve"]),
        ("GitHub备份设置在每晚", "备份", ["备份"]),
        ("GitHub备份设置在每晚", "Hub备", ["Hub备"]),
        ("Uses v2.3.1-rc1, not v2", "v2.3.1-rc1", ["v2.3.1-rc1"]),
        ("Alice's tea and tea pots", ("tea",), ["tea", "tea"]),
        ("A teapot is no tea", ("tea",), ["tea"]),
        ("Kubernetes upgrades", "kube", ["Kube"]),
        ("Nothing here", "zebra", []),
        ("Cafe\u0301 noir", "café", ["Cafe\u0301"]),
    ],
)
def test_highlight_spans_cover_what_matched(content: str, query: Any, marked: list[str]) -> None:
    assert [content[start:end] for start, end in highlight_spans(content, query)] == marked


def test_a_cancelled_statement_degrades_to_an_empty_honest_answer(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cast, ["Zanzibar"], now)

    def slow(*_: object, **__: object) -> legs.LegAnswer:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")
        raise AssertionError("slept through")

    monkeypatch.setattr(search, "find_by_words", slow)
    monkeypatch.setattr(search, "LEG_LIMIT_MS", 50)
    result = search_memories(person(cast.alice), "zanzibar", now=now)
    assert (result.hits, result.total, result.degraded) == ((), 0, ("lexical",))
    assert Memory.objects.count() == 1


def test_statement_limit_ends_with_its_block(db: None) -> None:
    def limit() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return str(cursor.fetchone()[0])

    before = limit()
    with statement_limit(1234):
        assert limit() == "1234ms"
        with statement_limit(50):
            assert limit() == "50ms"
        assert limit() == "1234ms"
    assert limit() == before
    with pytest.raises(OperationalError), statement_limit(20), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(2)")
    assert limit() == before


@pytest.mark.django_db(transaction=True)
def test_several_legs_run_at_once_and_fail_alone() -> None:
    met = threading.Barrier(2, timeout=5)

    def good() -> legs.LegAnswer:
        met.wait()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return legs.LegAnswer({})

    def bad() -> legs.LegAnswer:
        met.wait()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")
        return legs.LegAnswer({})

    answer = legs.run_legs([legs.Leg("lexical", good), legs.Leg("vector", bad)], limit_ms=100)
    assert set(answer.answers) == {"lexical"}
    assert answer.degraded == answer.late == ("vector",)


@pytest.mark.parametrize("ask", [search_memories, count_by_filter])
def test_queries_are_fixed_whatever_is_held(
    cast: Cast, now: datetime, ask: Callable[..., Any]
) -> None:
    viewer = person(cast.alice)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            if ask is search_memories:
                search_memories(viewer, "orchard gate key", limit=50, now=now)
            else:
                count_by_filter(viewer, query="orchard gate key", now=now)
        return len(queries)

    remember(cast, ["Orchard gate key"], now)
    few = count()
    remember(cast, [f"Orchard gate key {n}" for n in range(200)], now)
    assert count() == few <= 12


def test_reading_changes_no_row(cast: Cast, now: datetime) -> None:
    remember(cast, ["Zanzibar"], now, expires_at=now - timedelta(days=1))
    remember(cast, ["Zanzibar two"], now)
    before = list(Memory.objects.order_by("pk").values())
    search_memories(person(cast.alice), "zanzibar", now=now)
    count_by_filter(person(cast.alice), query="zanzibar", now=now)
    assert list(Memory.objects.order_by("pk").values()) == before


def test_a_query_of_many_words_stays_bounded(cast: Cast, now: datetime) -> None:
    remember(cast, ["Word42 is here"], now)
    text = " ".join(f"word{n}" for n in range(400))
    assert len(query_terms(text).units) <= 32
    rows = Memory.objects.visible_to(person(cast.alice)).active(now)
    plan = make_plan(
        query_terms(text), list(parts_of(rows, person(cast.alice))), by_characters=True
    )
    assert len(plan.looked_for) <= lexical_leg.MAX_LOOKED_FOR
