"""GET /tools and POST /tools/{name}."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import OperationalError

from junior_memory import forgetting, people, search
from junior_memory.models import AuditEntry, Identity, Memory, RateWindow, ToolCall
from junior_memory.providers import ModelFailed
from junior_memory.providers.fake import FakeChatModel
from junior_memory.tools import TOOL_NAMES
from tests.api.bodies import ALICE, BOB, UNKNOWN, source
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.domain.tool_calls import judges
from tests.factories import make_agent_token, make_memory, make_personal_token

SENTINEL = "zebra-crossing-sentinel"


def call(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "arguments": {} if arguments is None else arguments,
        "toolCallId": "call-1",
        "source": source(),
        "actor": ALICE,
        "conversationId": "C-1",
        **fields,
    }


def without(body: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


TEA = {"content": "Prefers  green tea.", "kind": "preference"}


def test_the_tools_are_offered_as_function_schemas(host: Caller) -> None:
    answer = json_of(host.get("tools"))
    assert [one["function"]["name"] for one in answer["tools"]] == list(TOOL_NAMES)
    assert {one["type"] for one in answer["tools"]} == {"function"}
    traits = answer["annotations"]
    assert traits["createMemory"] == {
        "title": "Remember a fact",
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
        "needsApproval": True,
        "sequential": True,
    }
    assert traits["removeMemory"]["destructiveHint"] is True
    assert traits["removeMemory"]["sequential"] is True
    assert traits["searchMemories"]["readOnlyHint"] is True
    assert traits["listMemories"]["readOnlyHint"] is True


def test_a_memory_is_created_found_listed_and_removed(host: Caller, cast: Cast) -> None:
    made = json_of(host.post("tools/createMemory", call(TEA)))
    assert set(made) == {"target", "created", "idempotent", "held", "superseded", "memory"}
    assert set(made["memory"]) == {"id", "content", "createdAt", "observedAt", "expiresAt"}
    assert (made["created"], made["memory"]["content"]) == (True, "Prefers green tea.")
    assert Memory.objects.get().owner == cast.alice
    again = json_of(host.post("tools/memory_createMemory", call(TEA)))
    assert (again["created"], again["memory"]) == (False, made["memory"])
    found = json_of(host.post("tools/searchMemories", call({"query": "tea"})))
    listed = json_of(host.post("tools/listMemories", without(call(), "toolCallId")))
    assert found["memories"] == listed["memories"] == [made["memory"]]
    gone = json_of(host.post("tools/removeMemory", call({"id": made["memory"]["id"][:12]})))
    assert gone["memory"] == made["memory"]
    assert AuditEntry.objects.get(action="forgot").via == "tool"
    assert json_of(host.post("tools/listMemories", call()))["memories"] == []


def test_an_unknown_tool_is_not_there_whatever_is_sent(host: Caller) -> None:
    for name in ("forgetEverything", "CREATEMEMORY", "memory_", "%00", "a%2Fb", "createMemory%20"):
        for body in (call(), {}, b"no json"):
            response = host.post(f"tools/{name}", body)
            assert response.status_code in {404, 422}, name
        assert_fails(host.post(f"tools/{name}", call()), 404, "not_found")
    assert_fails(host.post("tools/createMemory/", call()), 404)


@pytest.mark.parametrize("name", ["createMemory", "listMemories", "nothing"])
def test_the_tools_are_for_hosts_with_the_scope(
    cast: Cast, nobody: Caller, alice: Caller, name: str
) -> None:
    path = f"tools/{name}"
    assert_fails(nobody.post(path, call()), 401, "unauthenticated")
    assert_fails(Caller(token="jma_made-up").post(path, call()), 401)
    assert_fails(alice.post(path, call()), 403)
    assert_fails(Caller(user=cast.alice).post(path, call()), 403)
    other = Caller(token=make_agent_token(cast.agent, "recall", "sessions")[1])
    assert_fails(other.post(path, call()), 403)
    assert_fails(nobody.get("tools"), 401)
    assert_fails(alice.get("tools"), 403)
    assert_fails(other.get("tools"), 403)


def test_a_host_speaks_for_its_own_providers_alone(cast: Cast) -> None:
    token = make_agent_token(cast.agent, providers=["web/app"])[1]
    for name, arguments in (("createMemory", TEA), ("listMemories", {})):
        assert_fails(Caller(token=token).post(f"tools/{name}", call(arguments)), 403)
    web = {"provider": "web", "tenant": "app", "subject": "alice"}
    assert json_of(Caller(token=token).post("tools/createMemory", call(TEA, actor=web)))["created"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_tool_is_called_by_post_alone(host: Caller, method: str) -> None:
    response = host.call(method, "tools/createMemory", call(TEA) if method != "HEAD" else None)
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"
    assert host.call("POST", "tools", {}).status_code == 405


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"arguments": None}, "arguments"),
        ({"arguments": []}, "arguments"),
        ({"arguments": '{"content": "tea"}'}, "arguments"),
        ({"toolCallId": ""}, "toolCallId"),
        ({"toolCallId": 7}, "toolCallId"),
        ({"toolCallId": "x" * 256}, "toolCallId"),
        ({"toolCallId": None}, "toolCallId"),
        ({"conversationId": ""}, "conversationId"),
        ({"conversationId": "a\nb"}, "conversationId"),
        ({"source": None}, "source"),
        ({"source": source(platform="fax")}, "source.platform"),
        ({"source": source(owner="bob")}, "source.owner"),
        ({"actor": ALICE | {"kind": "robot"}}, "actor.kind"),
        ({"actor": {"provider": "slack"}}, "actor.tenant"),
        ({"userText": "x" * 32_001}, "userText"),
        ({"scope": "public"}, "scope"),
        ({"visibility": "public"}, "visibility"),
        ({"agent": "scribe"}, "agent"),
    ],
)
def test_a_call_that_does_not_fit_is_refused(
    host: Caller, fields: dict[str, Any], field: str
) -> None:
    error = assert_fails(host.post("tools/createMemory", call(TEA) | fields), 422)
    assert field in error["fields"]
    assert not Memory.objects.exists()


@pytest.mark.parametrize("key", ["arguments", "source", "conversationId", "toolCallId"])
def test_a_call_without_what_it_needs_is_refused(host: Caller, key: str) -> None:
    error = assert_fails(host.post("tools/createMemory", without(call(TEA), key)), 422)
    assert key in error["fields"]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("createMemory", {"content": "tea", "scope": "public"}, "invalid"),
        ("createMemory", {"content": "\ud800"}, "invalid"),
        ("createMemory", {"content": "\x00"}, "invalid"),
        ("createMemory", {"content": "x" * 900_000}, "invalid"),
        ("createMemory", {"content": "Key AKIA" + "IOSFODNN7EXAMPLQ"}, "secret_or_credential"),
        ("createMemory", {"content": "tea", "expiresAt": "2020-01-01T00:00:00Z"}, "invalid"),
        ("createMemory", {"\ud800": 1, "content": "tea"}, "invalid"),
        ("removeMemory", {"id": "%"}, "invalid"),
        ("removeMemory", {"id": "12345678"}, "not_found"),
        ("searchMemories", {"query": " "}, "invalid"),
        ("listMemories", {"limit": 51}, "invalid"),
    ],
)
def test_what_a_model_can_put_right_is_422_and_says_how(
    host: Caller, name: str, arguments: dict[str, Any], code: str
) -> None:
    error = assert_fails(host.post(f"tools/{name}", call(arguments)), 422, code)
    assert error["fields"]
    assert len(error["message"]) > 20


def test_nested_and_broken_bodies_are_refused(host: Caller) -> None:
    deep: Any = {}
    for _ in range(500):
        deep = {"content": deep}
    assert_fails(host.post("tools/createMemory", call(deep)), 422)
    bottomless = b'{"arguments": ' + b"[" * 100_000
    assert_fails(host.post("tools/createMemory", bottomless), 422)
    assert_fails(host.post("tools/createMemory", b'{"arguments": NaN}'), 422)
    assert_fails(host.post("tools/createMemory", b" " * 1_100_000), 413)
    assert host.client.post(
        "/api/plugins/memory/tools/createMemory", "x", content_type="text/plain",
        headers=host.headers,
    ).status_code == 415  # fmt: skip
    assert_fails(host.post("tools/createMemory?scope=all", call(TEA)), 422)


def test_an_id_whose_memory_was_forgotten_is_a_conflict(host: Caller, cast: Cast) -> None:
    made = json_of(host.post("tools/createMemory", call(TEA)))
    json_of(host.post("tools/removeMemory", call({"id": made["memory"]["id"]})))
    assert_fails(host.post("tools/createMemory", call(TEA)), 409, "forgotten")
    again = json_of(host.post("tools/createMemory", call(TEA, toolCallId="call-2")))
    assert again["created"]


def test_public_memory_is_refused_by_name(host: Caller, cast: Cast) -> None:
    memory = make_memory(owner=cast.alice, visibility="public", agent=cast.agent)
    response = host.post("tools/removeMemory", call({"id": str(memory.pk)}))
    assert_fails(response, 422, "public_memory_read_only")


def test_reading_makes_no_identity_and_writing_does(host: Caller) -> None:
    json_of(host.post("tools/listMemories", call(actor=UNKNOWN)))
    assert not Identity.objects.filter(subject="UNEVERSEEN").exists()
    public = source(visibility="public")
    fact = {"content": "The office is in Graz."}
    made = json_of(host.post("tools/createMemory", call(fact, actor=UNKNOWN, source=public)))
    assert made["held"] is True
    assert Identity.objects.get(subject="UNEVERSEEN").user is None


def test_a_trusted_host_links_by_a_verified_address(cast: Cast) -> None:
    person = people.create_person("dora@example.com")
    token = make_agent_token(cast.agent, trust_email=True)[1]
    actor = UNKNOWN | {"email": "dora@example.com", "emailVerified": True}
    json_of(Caller(token=token).post("tools/createMemory", call(TEA, actor=actor)))
    assert Memory.objects.get().owner == person


def test_one_actors_call_tells_another_nothing(host: Caller, cast: Cast) -> None:
    made = json_of(host.post("tools/createMemory", call(TEA)))
    for name, arguments in (
        ("listMemories", {}),
        ("searchMemories", {"query": "green tea"}),
    ):
        answer = host.post(f"tools/{name}", call(arguments, actor=BOB))
        assert "tea" not in str(json_of(answer)["memories"])
    response = host.post("tools/removeMemory", call({"id": made["memory"]["id"]}, actor=BOB))
    assert_fails(response, 422, "not_found")
    same_id = json_of(host.post("tools/createMemory", call({"content": "Likes jazz."}, actor=BOB)))
    assert same_id["memory"]["content"] == "Likes jazz."


def test_reading_is_no_write(host: Caller, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"token_writes_per_minute": 1}
    RateWindow.objects.all().delete()
    for _ in range(3):
        json_of(host.post("tools/memory_listMemories", call()))
        json_of(host.post("tools/searchMemories", call({"query": "tea"})))
    json_of(host.post("tools/createMemory", call(TEA)))
    late = host.post("tools/memory_removeMemory", call({"id": "12345678"}))
    assert_fails(late, 429, "rate_limited")
    assert int(late.headers["Retry-After"]) >= 1
    json_of(host.post("tools/listMemories", call()))


def test_a_rejected_request_names_the_reason(host: Caller, chat_model: FakeChatModel) -> None:
    chat_model.script = [judges("reject", reason="third_party_personal")]
    error = assert_fails(host.post("tools/createMemory", call(TEA)), 422, "third_party_personal")
    assert "third_party_personal" in error["message"]


def test_a_failed_review_is_told_without_its_cause(
    host: Caller, chat_model: FakeChatModel, caplog: pytest.LogCaptureFixture
) -> None:
    chat_model.script = [ModelFailed("http_500"), f"{SENTINEL} is no JSON"]
    with caplog.at_level(logging.DEBUG):
        response = host.post("tools/createMemory", call({"content": f"Likes {SENTINEL}."}))
    error = assert_fails(response, 422, "review_failed")
    assert SENTINEL not in str(error)
    assert SENTINEL not in caplog.text
    assert not Memory.objects.exists()


def test_the_database_gone_is_503(host: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_args: Any, **_fields: Any) -> None:
        raise OperationalError(SENTINEL)

    monkeypatch.setattr(forgetting, "forget", gone)
    made = json_of(host.post("tools/createMemory", call(TEA)))
    response = host.post("tools/removeMemory", call({"id": made["memory"]["id"]}))
    assert SENTINEL not in str(assert_fails(response, 503, "unavailable"))
    assert ToolCall.objects.filter(outcome="failed:unavailable").count() == 1


def test_nothing_of_a_call_reaches_a_log_line(
    host: Caller, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_args: Any, **_fields: Any) -> None:
        raise RuntimeError(SENTINEL)

    host.client.raise_request_exception = False
    text = {"content": f"Likes {SENTINEL}.", SENTINEL: SENTINEL}
    with caplog.at_level(logging.DEBUG):
        host.post("tools/createMemory", call({"content": f"Likes {SENTINEL}."}))
        host.post("tools/createMemory", call(text, userText=SENTINEL))
        host.post("tools/searchMemories", call({"query": SENTINEL}))
        host.post("tools/removeMemory", call({"id": SENTINEL}))
        monkeypatch.setattr(search, "gather", breaks)
        failed = host.post("tools/searchMemories", call({"query": SENTINEL}))
    assert_fails(failed, 500, "internal")
    assert SENTINEL not in caplog.text


def test_a_personal_token_is_told_that_this_is_for_hosts(cast: Cast) -> None:
    error = assert_fails(
        Caller(token=make_personal_token(cast.alice)).post("tools/listMemories", call()), 403
    )
    assert "agent hosts" in error["message"]
