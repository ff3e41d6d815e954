"""listMemories and searchMemories: what the actor may use here, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from junior_memory import access, forgetting, people
from junior_memory.access import Source
from junior_memory.errors import NotFound
from junior_memory.models import Identity, Memory, ToolCall
from junior_memory.tools import (
    TOOL_ANNOTATIONS,
    ToolInputError,
    call_tool,
    function_schemas,
    person_context,
)
from tests.cast import Cast
from tests.domain.tool_calls import (
    ALICE,
    BOB,
    CHARLIE,
    UNLINKED,
    UNSEEN,
    Host,
    org,
    private,
    public,
)
from tests.factories import BY_TEST, make_memory

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BEFORE = NOW - timedelta(days=2)


@pytest.fixture
def host(cast: Cast) -> Host:
    return Host(cast)


@pytest.fixture
def shelf(cast: Cast) -> dict[str, Memory]:
    """One memory of every sort, all about herons."""
    scribe = people.agent_named("scribe")[0]

    def heron(what: str, **fields: Any) -> Memory:
        wanted: dict[str, Any] = {"agent": cast.agent, "now": BEFORE} | fields
        return make_memory(content=f"Herons: {what}.", **wanted)

    shelf = {
        "her preference": heron("likes them", owner=cast.alice),
        "her knowledge": heron("nest by the weir", owner=cast.alice, kind="knowledge"),
        "her note": heron("note", owner=cast.alice, visibility="session", conversation_id="c1"),
        "her other note": heron("n2", owner=cast.alice, visibility="session", conversation_id="c2"),
        "her scribe": heron("drawn", owner=cast.alice, agent=scribe),
        "her org": heron("on the logo", owner=cast.alice, visibility="org", org=cast.org),
        "her public": heron("painted by her", owner=cast.alice, visibility="public"),
        "public": heron("are birds", visibility="public", kind="knowledge"),
        "his": heron("bores him", owner=cast.bob),
        "charlies": heron("fed by him", owner=cast.charlie),
        "held": heron("held", owner=cast.alice, held_reason="unlinked_actor"),
        "expired": heron("gone", owner=cast.alice, expires_at=NOW - timedelta(hours=1)),
        "forgotten": heron("forgotten", owner=cast.alice),
    }
    forgetting.forget(access.person(cast.alice), shelf["forgotten"].pk, doer=BY_TEST, now=BEFORE)
    return shelf


def read(context: Any, tool: str = "listMemories", **arguments: Any) -> dict[str, Any]:
    if tool == "searchMemories":
        arguments = {"query": "herons", "limit": 50} | arguments
    return call_tool(tool, arguments, context=context, tool_call_id=None, now=NOW)


def names(shelf: dict[str, Memory], answer: dict[str, Any]) -> set[str]:
    by_id = {str(memory.pk): name for name, memory in shelf.items()}
    return {by_id[one["id"]] for one in answer["memories"]}


HERS_HERE = {"her preference", "her knowledge", "her note", "her org", "her public", "public"}
SHARED = {"her public", "public"}


@pytest.mark.parametrize("tool", ["listMemories", "searchMemories"])
@pytest.mark.parametrize(
    ("actor", "source", "seen"),
    [
        (ALICE, private(), HERS_HERE),
        (ALICE, public(), HERS_HERE - {"her knowledge"}),
        (ALICE, org(), HERS_HERE - {"her knowledge"}),
        (ALICE, Source(platform="web", key="w"), HERS_HERE - {"her knowledge"}),
        (BOB, private(), SHARED | {"his", "her org"}),
        (CHARLIE, private(), SHARED | {"charlies"}),
        (UNLINKED, private(), SHARED),
        (UNSEEN, private(), SHARED),
        (None, private(), SHARED),
    ],
)
def test_each_actor_sees_exactly_what_may_be_used_here(
    host: Host, shelf: dict[str, Memory], tool: str, actor: Any, source: Source, seen: set[str]
) -> None:
    before = Memory.objects.order_by("pk").values_list("pk", "version", "observed_at")
    kept = list(before)
    answer = read(host.context(actor, source), tool)
    assert names(shelf, answer) == seen
    assert list(before.all()) == kept
    assert not ToolCall.objects.exists()
    assert not Identity.objects.filter(subject="UNEVERSEEN").exists()


@pytest.mark.parametrize(
    ("choice", "seen"),
    [("all", HERS_HERE), ("none", HERS_HERE - {"her knowledge", "her preference"})],
)
def test_a_persons_choice_says_what_is_used_in_public(
    cast: Cast, host: Host, shelf: dict[str, Memory], choice: str, seen: set[str]
) -> None:
    people.change_preferences(cast.alice, doer=BY_TEST, public_use=choice)
    assert names(shelf, read(host.context(source=public()))) == seen


def test_the_organization_is_the_tokens(cast: Cast, shelf: dict[str, Memory]) -> None:
    unbound = Host(cast, in_org=False)
    assert names(shelf, read(unbound.context(BOB))) == SHARED | {"his"}
    cast.bob.memberships.all().delete()
    assert names(shelf, read(Host(cast).context(BOB))) == SHARED | {"his"}


def test_another_agent_sees_its_own_and_what_is_public(
    cast: Cast, shelf: dict[str, Memory]
) -> None:
    scribe = Host(cast, agent="scribe")
    assert names(shelf, read(scribe.context())) == SHARED | {"her scribe"}


def test_a_person_sees_all_that_is_theirs(cast: Cast, shelf: dict[str, Memory]) -> None:
    mine = read(person_context(cast.alice, conversation_id="c1"), limit=50)
    assert names(shelf, mine) == HERS_HERE | {"her other note", "her scribe"}


def test_a_memory_is_told_in_five_fields_and_labelled_beside_them(
    cast: Cast, host: Host, shelf: dict[str, Memory]
) -> None:
    answer = read(host.context(BOB))
    for memory in answer["memories"]:
        assert set(memory) == {"id", "content", "createdAt", "observedAt", "expiresAt"}
    assert set(answer["public"]) == {str(shelf[name].pk) for name in SHARED}
    assert set(answer["aboutOthers"]) == {
        str(shelf["her public"].pk),
        str(shelf["her org"].pk),
    }
    assert str(cast.alice.pk) not in str(answer)
    assert read(host.context(ALICE))["aboutOthers"] == []


def test_newest_first_and_twenty_unless_asked(cast: Cast, host: Host) -> None:
    for number in range(60):
        make_memory(
            owner=cast.alice,
            content=f"Heron number {number}.",
            agent=cast.agent,
            now=BEFORE + timedelta(minutes=number),
        )
    listed = read(host.context())["memories"]
    assert [one["content"] for one in listed] == [
        f"Heron number {number}." for number in range(59, 39, -1)
    ]
    assert len(read(host.context(), limit=50)["memories"]) == 50
    assert len(read(host.context(), limit=None)["memories"]) == 20
    assert len(read(host.context(), limit=1)["memories"]) == 1
    search = call_tool(
        "memory_searchMemories",
        {"query": "heron"},
        context=host.context(),
        tool_call_id="ignored",
        now=NOW,
    )
    assert len(search["memories"]) == 10
    assert len(read(host.context(), "searchMemories", query="heron")["memories"]) == 50


@pytest.mark.parametrize("limit", [0, -1, 51, 10**9, 1.5, "5", True, [5], float("nan")])
def test_a_limit_is_a_whole_number_from_1_to_50(host: Host, limit: Any) -> None:
    for tool in ("listMemories", "searchMemories"):
        with pytest.raises(ToolInputError) as caught:
            read(host.context(), tool, limit=limit)
        assert set(caught.value.fields) == {"limit"}
        assert "1 to 50" in caught.value.message


@pytest.mark.parametrize(
    "query", ["", "  ", "\x00", None, 7, ["tea"], "x" * 32_001, "\ud800", "x" * 1_000_000]
)
def test_a_query_is_some_words(host: Host, query: Any) -> None:
    with pytest.raises(ToolInputError) as caught:
        read(host.context(), "searchMemories", query=query)
    assert set(caught.value.fields) == {"query"}


@pytest.mark.parametrize("query", ["%", "_", "%%%", "*", ":*", "'", "\\", "(", "& | !"])
def test_wildcards_and_operators_are_inert(
    host: Host, shelf: dict[str, Memory], query: str
) -> None:
    assert read(host.context(), "searchMemories", query=query)["memories"] == []


def test_of_a_long_query_the_end_is_searched(host: Host, shelf: dict[str, Memory]) -> None:
    found = read(host.context(), "searchMemories", query="x " * 15_000 + "the weir")
    assert names(shelf, found) == {"her knowledge"}


@pytest.mark.parametrize(
    "extra", [{"scope": "all"}, {"owner": "bob"}, {"userId": "1"}, {"actor": {}}, {"agent": "x"}]
)
def test_reading_takes_no_other_arguments(host: Host, extra: dict[str, Any]) -> None:
    for tool in ("listMemories", "searchMemories"):
        with pytest.raises(ToolInputError) as caught:
            read(host.context(), tool, **extra)
        assert set(caught.value.fields) == set(extra)


def test_what_a_later_rule_calls_a_secret_is_left_out_and_counted(cast: Cast, host: Host) -> None:
    memory = make_memory(owner=cast.alice, agent=cast.agent, content="Herons.", now=BEFORE)
    Memory.objects.filter(pk=memory.pk).update(content="Herons: AKIA" + "IOSFODNN7EXAMPLQ")
    answer = read(host.context())
    assert (answer["memories"], answer["withheld"]) == ([], 1)


@pytest.mark.parametrize(
    "name", ["", "memory_", "create", "listmemories", "memory_memory_listMemories"]
)
def test_an_unknown_name_is_no_tool(host: Host, name: str) -> None:
    with pytest.raises(NotFound):
        call_tool(name, {}, context=host.context(), tool_call_id=None)


def test_the_schemas_suit_strict_providers() -> None:
    schemas = function_schemas()
    assert [one["function"]["name"] for one in schemas] == list(TOOL_ANNOTATIONS)
    for one in schemas:
        assert set(one) == {"type", "function"}
        function = one["function"]
        assert function["strict"] is True
        parameters = function["parameters"]
        assert parameters["type"] == "object"
        assert parameters["additionalProperties"] is False
        assert parameters["required"] == list(parameters["properties"])
        for each in parameters["properties"].values():
            assert set(each) <= {"type", "enum", "description"}
            assert not {"scope", "owner", "visibility", "subject"} & set(parameters["properties"])
    schemas[0]["function"]["name"] = "changed"
    assert function_schemas()[0]["function"]["name"] == "createMemory"


def test_what_the_schemas_offer_is_taken(cast: Cast, host: Host) -> None:
    for one in function_schemas():
        name = one["function"]["name"]
        arguments: dict[str, Any] = dict.fromkeys(one["function"]["parameters"]["required"])
        arguments |= {
            "createMemory": {"content": "Likes herons."},
            "removeMemory": {"id": str(Memory.objects.values_list("pk", flat=True).first())},
            "searchMemories": {"query": "herons"},
        }.get(name, {})
        assert call_tool(name, arguments, context=host.context(), tool_call_id="c")["target"] == (
            name
        )
