"""The four tools over MCP: for whom they act, and what a model is told when they do not."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from junior_memory import access, forgetting
from junior_memory.models import Memory, Tombstone, ToolCall
from tests.api.conftest import Caller, json_of
from tests.api.mcp_calls import ALICE, PRIVATE, acting, ask, refusal, request, tool, use
from tests.cast import Cast
from tests.factories import BY_TEST, make_agent_token, make_memory, make_personal_token

SENTINEL = "zebra-crossing"
HERS = f"Alice keeps the {SENTINEL} for herself."
SHARED = f"Everyone may know of the {SENTINEL}."
FOR_ALICE = acting(ALICE, PRIVATE, "C1")


@pytest.fixture
def told(cast: Cast) -> None:
    make_memory(owner=cast.alice, content=HERS)
    make_memory(content=SHARED, visibility="public", subject_type="general")


def contents(caller: Caller, headers: dict[str, str] | None = None) -> set[str]:
    """Return all that a caller is shown, by listing and by searching, which must agree."""
    listed = use(caller, tool("listMemories"), headers)["memories"]
    found = use(caller, tool("searchMemories", {"query": SENTINEL}), headers)["memories"]
    assert {one["id"] for one in listed} == {one["id"] for one in found}
    return {one["content"] for one in listed}


def listed_tools(caller: Caller) -> set[str]:
    return {one["name"] for one in ask(caller, request("tools/list"))["result"]["tools"]}


# Whose memory.


def test_a_personal_token_sees_its_person(alice: Caller, told: None) -> None:
    assert contents(alice) == {HERS, SHARED}


def test_a_stranger_sees_what_is_public(charlie: Caller, bob: Caller, told: None) -> None:
    assert contents(charlie) == contents(bob) == {SHARED}


def test_an_agent_sees_its_actor(host: Caller, told: None) -> None:
    assert contents(host, FOR_ALICE) == {HERS, SHARED}
    assert contents(host, acting("web/app/alice", "web/private/C2")) == {HERS, SHARED}
    assert contents(host, acting("slack/T1/UBOB", PRIVATE)) == {SHARED}
    assert contents(host, acting("slack/T1/UNOBODY", PRIVATE)) == {SHARED}
    assert contents(host, acting("slack/T1/MADE-UP", PRIVATE)) == {SHARED}


@pytest.mark.parametrize(
    "headers",
    [{}, acting(ALICE), acting(ALICE, "", "C1"), acting("", PRIVATE), acting("", "", "C")],
)
def test_an_agent_that_does_not_say_for_whom_and_where_sees_what_is_public(
    host: Caller, told: None, headers: dict[str, str]
) -> None:
    assert contents(host, headers) == {SHARED}
    for write in (
        tool("createMemory", {"content": "Likes tea."}),
        tool("removeMemory", {"id": "x"}),
    ):
        error = refusal(host, write, headers)
        assert error["code"] == "forbidden"
        assert "X-Memory-Actor" in error["message"]
    assert not ToolCall.objects.exists()


def test_in_public_an_agent_sees_of_its_actor_what_they_allow_there(
    cast: Cast, host: Caller, told: None
) -> None:
    make_memory(owner=cast.alice, content=f"Knows {SENTINEL}.", kind="knowledge")
    in_public = acting(ALICE, "slack/public/C9")
    assert contents(host, in_public) == {HERS, SHARED}
    cast.alice.public_use = "none"
    cast.alice.save()
    assert contents(host, in_public) == {SHARED}
    assert contents(host, acting(ALICE, "slack//C9")) == {SHARED}
    assert contents(host, acting(ALICE, "slack/made-up/C9")) == {SHARED}


def test_an_agent_sees_org_memory_of_its_own_organization_alone(cast: Cast) -> None:
    team = f"The team uses {SENTINEL}."
    make_memory(content=team, visibility="org", org=cast.org, subject_type="general")
    bound = Caller(token=make_agent_token(cast.agent, organization=cast.org)[1])
    unbound = Caller(token=make_agent_token(cast.agent)[1])
    assert contents(bound, FOR_ALICE) == {team}
    assert contents(unbound, FOR_ALICE) == set()
    assert contents(bound, acting("slack/T1/UCHARLIE", PRIVATE)) == set()


def test_a_token_for_some_providers_speaks_for_no_others(cast: Cast, told: None) -> None:
    caller = Caller(token=make_agent_token(cast.agent, providers=["web/app"])[1])
    assert contents(caller, acting("web/app/alice", "web/private/C1")) == {HERS, SHARED}
    response = caller.call("POST", "/mcp", tool("listMemories"), headers=FOR_ALICE)
    error = json_of(response, 403)["error"]
    assert error["data"]["code"] == "forbidden"


def test_a_personal_token_is_its_person_whatever_headers_say(
    alice: Caller, charlie: Caller, told: None
) -> None:
    assert contents(charlie, FOR_ALICE) == {SHARED}
    assert contents(alice, acting("slack/T1/UBOB", "slack/public/C1", "C1")) == {HERS, SHARED}


def test_parts_of_a_header_are_percent_encoded(cast: Cast, host: Caller, told: None) -> None:
    cast.alice_slack.subject = "U/Ä 1"
    cast.alice_slack.save()
    named = acting(f"slack/T1/{quote('U/Ä 1', safe='')}", "slack/private/C%2F1", "C%2F1")
    assert contents(host, named) == {HERS, SHARED}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Memory-Actor", "slack/T1"),
        ("X-Memory-Actor", "slack/T1/U/ALICE"),
        ("X-Memory-Actor", "slack//UALICE"),
        ("X-Memory-Actor", "slack/T1/%00"),
        ("X-Memory-Actor", "slack/T1/%FF"),
        ("X-Memory-Actor", "slack/T1/" + "U" * 256),
        ("X-Memory-Source", "slack"),
        ("X-Memory-Source", "slack/private"),
        ("X-Memory-Source", "fax/private/C1"),
        ("X-Memory-Source", "slack/private/%0A"),
        ("X-Memory-Conversation", "a%00b"),
        ("X-Memory-Conversation", "C" * 256),
    ],
)
def test_a_header_in_another_form_is_told_which_form_it_has(
    host: Caller, told: None, name: str, value: str
) -> None:
    response = host.call("POST", "/mcp", tool("listMemories"), headers=FOR_ALICE | {name: value})
    error = json_of(response, 422)["error"]
    assert error["data"]["code"] == "malformed"
    assert list(error["data"]["fields"]) == [name]
    assert name in error["message"]


# What a token may do.


def test_scopes_decide_which_tools_are_listed_and_called(cast: Cast) -> None:
    reads, writes = {"listMemories", "searchMemories"}, {"createMemory", "removeMemory"}
    reader = Caller(token=make_personal_token(cast.alice, "read"))
    writer = Caller(token=make_personal_token(cast.alice, "write"))
    agent = Caller(token=make_agent_token(cast.agent, "tools")[1])
    assert listed_tools(reader) == reads
    assert listed_tools(writer) == writes
    assert listed_tools(agent) == reads | writes
    asked = {"content": "Likes tea."}
    assert refusal(reader, tool("createMemory", asked))["code"] == "forbidden"
    assert refusal(writer, tool("listMemories"))["code"] == "forbidden"
    assert not Memory.objects.exists()
    assert use(writer, tool("createMemory", asked))["created"] is True


def test_each_tool_says_what_it_takes_and_what_it_does(alice: Caller) -> None:
    tools = {one["name"]: one for one in ask(alice, request("tools/list"))["result"]["tools"]}
    for name, described in tools.items():
        hints = described["annotations"]
        assert described["title"] == hints["title"]
        assert described["description"]
        assert described["inputSchema"]["type"] == "object"
        assert described["inputSchema"]["additionalProperties"] is False
        assert hints["readOnlyHint"] is (name in {"listMemories", "searchMemories"})
        assert hints["destructiveHint"] is (name == "removeMemory")
        assert hints["idempotentHint"] is True
        assert hints["openWorldHint"] is False
    assert set(tools["createMemory"]["inputSchema"]["properties"]) == {
        "content", "kind", "expiresAt",
    }  # fmt: skip


# Remembering and forgetting.


def test_a_person_remembers_and_forgets_from_a_private_source(cast: Cast, alice: Caller) -> None:
    made = use(alice, tool("createMemory", {"content": "Likes tea."}))
    row = Memory.objects.visible_to(access.person(cast.alice)).get()
    assert (str(row.pk), row.visibility, row.owner, row.origin, row.source_platform) == (
        made["memory"]["id"], "private", cast.alice, "explicit", "api",
    )  # fmt: skip
    gone = use(alice, tool("removeMemory", {"id": made["memory"]["id"][:8]}))
    assert gone["removed"] is True
    row.refresh_from_db()
    assert row.archive_reason == "tool_removed"
    assert use(alice, tool("listMemories"))["memories"] == []


def test_an_agent_remembers_what_its_source_makes_of_it(cast: Cast, host: Caller) -> None:
    use(host, tool("createMemory", {"content": "Likes tea."}), FOR_ALICE)
    row = Memory.objects.visible_to(access.person(cast.alice)).get()
    assert (row.visibility, row.owner, row.source_platform, row.source_key) == (
        "private", cast.alice, "slack", "C1",
    )  # fmt: skip
    assert row.conversation_id == "C1"
    unlinked = acting("slack/T1/UNOBODY", PRIVATE, "C1")
    error = refusal(host, tool("createMemory", {"content": "Likes rice."}), unlinked)
    assert error["code"] == "no_linked_user"


def test_nobody_forgets_what_is_not_theirs(
    cast: Cast, charlie: Caller, host: Caller, told: None
) -> None:
    hers = str(Memory.objects.visible_to(access.person(cast.alice)).get(content=HERS).pk)
    shared = str(Memory.objects.visible_to(access.person(cast.alice)).get(content=SHARED).pk)
    as_charlie = acting("slack/T1/UCHARLIE", PRIVATE, "C1")
    for caller, headers in ((charlie, None), (host, as_charlie)):
        assert refusal(caller, tool("removeMemory", {"id": hers}), headers)["code"] == "not_found"
        error = refusal(caller, tool("removeMemory", {"id": shared}), headers)
        assert error["code"] == "public_memory_read_only"
    assert not Memory.objects.filter(archived_at__isnull=False).exists()


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("createMemory", {}, "content"),
        ("createMemory", {"content": " "}, "content"),
        ("createMemory", {"content": "Likes tea.", "scope": "public"}, "scope"),
        (
            "createMemory",
            {"content": "Likes tea.", "expiresAt": "2020-01-01T00:00:00Z"},
            "expiresAt",
        ),
        ("removeMemory", {"id": "%"}, "id"),
        ("removeMemory", {"id": "________"}, "id"),
        ("listMemories", {"limit": 0}, "limit"),
        ("searchMemories", {"query": ""}, "query"),
        ("searchMemories", {}, "query"),
    ],
)
def test_wrong_arguments_are_told_to_the_model_by_name(
    alice: Caller, name: str, arguments: dict[str, Any], field: str
) -> None:
    error = refusal(alice, tool(name, arguments))
    assert field in error["fields"]
    assert not Memory.objects.exists()


def test_a_secret_is_refused_and_not_repeated(alice: Caller) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    error = refusal(alice, tool("createMemory", {"content": f"My token is {secret}"}))
    assert error["code"] == "secret_or_credential"
    assert secret not in str(error)


# Repeats.


def test_a_repeated_write_without_an_id_is_one_write(cast: Cast, alice: Caller) -> None:
    first = use(alice, tool("createMemory", {"content": "Likes tea."}))
    again = use(alice, tool("createMemory", {"content": "Likes tea."}))
    assert (first["created"], again["created"], again["idempotent"]) == (True, False, True)
    assert ToolCall.objects.count() == Memory.objects.count() == 1
    gone = use(alice, tool("removeMemory", {"id": first["memory"]["id"]}))
    repeat = use(alice, tool("removeMemory", {"id": first["memory"]["id"]}))
    assert (gone["removed"], repeat["removed"]) == (True, True)
    assert Tombstone.objects.count() == 1


def test_the_order_of_arguments_makes_no_other_write(alice: Caller) -> None:
    one = tool("createMemory", {"content": "Likes tea.", "kind": "preference"})
    other = tool("createMemory", {"kind": "preference", "content": "Likes tea."})
    assert use(alice, one)["created"] is True
    assert use(alice, other)["idempotent"] is True


def test_a_repeated_write_with_its_id_is_one_write_whatever_it_says(alice: Caller) -> None:
    first = use(alice, tool("createMemory", {"content": "Likes tea."}, call_id="call-1"))
    again = use(alice, tool("createMemory", {"content": "Likes rice."}, call_id="call-1"))
    assert again["memory"]["id"] == first["memory"]["id"]
    other = use(alice, tool("createMemory", {"content": "Likes rice."}, call_id="call-2"))
    assert other["created"] is True


def test_an_id_counts_for_one_token_and_one_conversation(
    cast: Cast, alice: Caller, host: Caller
) -> None:
    second = Caller(token=make_personal_token(cast.alice))
    for number, (caller, headers) in enumerate(
        (
            (alice, None),
            (second, None),
            (host, FOR_ALICE),
            (host, acting(ALICE, PRIVATE, "C2")),
            (host, acting(ALICE, "slack/private/C2", "C2")),
        )
    ):
        message = tool("createMemory", {"content": f"Likes tea {number}."}, call_id="call-1")
        assert use(caller, message, headers)["created"] is True
    assert Memory.objects.count() == 5


def test_one_id_by_rest_and_by_mcp_is_one_call(host: Caller) -> None:
    body = {
        "arguments": {"content": "Likes tea."},
        "toolCallId": "call-1",
        "conversationId": "C1",
        "source": {"platform": "slack", "visibility": "private", "key": "C1"},
        "actor": {"provider": "slack", "tenant": "T1", "subject": "UALICE"},
    }
    first = json_of(host.post("tools/createMemory", body))
    again = use(host, tool("createMemory", {"content": "Likes tea."}, call_id="call-1"), FOR_ALICE)
    assert again["memory"]["id"] == first["memory"]["id"]
    assert again["idempotent"] is True


@pytest.mark.parametrize("call_id", ["", "x" * 256, "a\nb", 7, ["x"]])
def test_an_id_that_is_none_is_told_so(alice: Caller, call_id: Any) -> None:
    error = refusal(alice, tool("createMemory", {"content": "Likes tea."}, call_id=call_id))
    assert "toolCallId" in error["message"]
    assert not Memory.objects.exists()


def test_what_was_forgotten_does_not_come_back_by_a_repeat(alice: Caller) -> None:
    message = tool("createMemory", {"content": "Likes tea."})
    made = use(alice, message)["memory"]["id"]
    use(alice, tool("removeMemory", {"id": made}))
    error = refusal(alice, message)
    assert error["code"] == "forgotten"
    assert "_meta.toolCallId" in error["message"]
    asked = tool("createMemory", {"content": "Likes tea."}, call_id="asked-again")
    assert use(alice, asked)["created"] is True


def test_what_was_restored_can_be_removed_again(cast: Cast, alice: Caller) -> None:
    made = use(alice, tool("createMemory", {"content": "Likes tea."}))["memory"]["id"]
    message = tool("removeMemory", {"id": made})
    use(alice, message)
    forgetting.restore(access.person(cast.alice), made, doer=BY_TEST)
    assert len(use(alice, tool("listMemories"))["memories"]) == 1
    assert use(alice, message)["removed"] is True
    assert use(alice, tool("listMemories"))["memories"] == []
