"""The protocol by hand: what is read, what is refused, and in which shape."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.db import OperationalError
from django.test import override_settings
from mcp_types import methods

from api.mcp import answering
from junior_memory.conf import conf
from junior_memory.models import RateWindow, User
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.mcp_calls import LATEST, OLD, ask, request, stateless, tool
from tests.cast import Cast
from tests.factories import make_agent_token, make_personal_token

SENTINEL = "zebra-crossing-sentinel"
OLD_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", OLD)
INITIALIZE = request(
    "initialize",
    {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
)


def error_of(caller: Caller, message: object, status: int = 200, **headers: str) -> dict[str, Any]:
    """Send a message that is wrong; return the protocol's error."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json_of(caller.call("POST", "/mcp", message, headers=named), status)
    assert body["jsonrpc"] == "2.0"
    assert "result" not in body
    error: dict[str, Any] = body["error"]
    assert isinstance(error["code"], int)
    assert error["message"]
    return error


# Versions.


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_a_handshake_agrees_on_each_old_version(alice: Caller, version: str) -> None:
    message = request("initialize", INITIALIZE["params"] | {"protocolVersion": version})
    result = ask(alice, message)["result"]
    assert result["protocolVersion"] == version
    methods.validate_server_result("initialize", version, result)
    listed = ask(alice, request("tools/list"), {"MCP-Protocol-Version": version})["result"]
    methods.validate_server_result("tools/list", version, listed)


@pytest.mark.parametrize("version", ["2023-01-01", LATEST, "", None, 7])
def test_a_handshake_with_a_version_of_no_handshake_is_offered_the_latest_that_has_one(
    alice: Caller, version: object
) -> None:
    message = request("initialize", INITIALIZE["params"] | {"protocolVersion": version})
    assert ask(alice, message)["result"]["protocolVersion"] == OLD


def test_the_era_without_handshake_is_discovered_listed_and_called(alice: Caller) -> None:
    for method in ("server/discover", "tools/list"):
        message, headers = stateless(request(method))
        result = ask(alice, message, headers)["result"]
        methods.validate_server_result(method, LATEST, result)
        assert result["resultType"] == "complete"
        assert result["cacheScope"] == "private"
    message, headers = stateless(tool("listMemories"))
    result = ask(alice, message, headers)["result"]
    methods.validate_server_result("tools/call", LATEST, result)


def test_discovery_names_every_version_that_is_spoken(alice: Caller) -> None:
    message, headers = stateless(request("server/discover"))
    found = ask(alice, message, headers)["result"]["supportedVersions"]
    assert found == [*OLD_VERSIONS, LATEST]


@pytest.mark.parametrize("named", ["2099-01-01", "junk", ""])
def test_an_unknown_version_is_told_which_ones_there_are(alice: Caller, named: str) -> None:
    error = error_of(alice, request("tools/list"), 400, MCP_Protocol_Version=named)
    assert error["code"] == -32022
    assert error["data"]["supported"] == [*OLD_VERSIONS, LATEST]
    message, headers = stateless(request("tools/list"))
    meta = message["params"]["_meta"]
    meta["io.modelcontextprotocol/protocolVersion"] = named
    body = json_of(
        alice.call("POST", "/mcp", message, headers=headers | {"MCP-Protocol-Version": named}), 400
    )
    assert body["error"]["code"] == -32022
    assert body["id"] == 1


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("MCP-Protocol-Version", OLD),
        ("MCP-Protocol-Version", f"{LATEST},{LATEST}"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", ""),
        ("Mcp-Name", "createMemory"),
        ("Mcp-Name", "=?base64?####?="),
        ("Mcp-Name", ""),
    ],
)
def test_headers_that_say_something_else_than_the_body_are_refused(
    alice: Caller, header: str, value: str
) -> None:
    message, headers = stateless(tool("listMemories"))
    assert ask(alice, message, headers)["result"]["isError"] is False
    response = alice.call("POST", "/mcp", message, headers=headers | {header: value})
    assert json_of(response, 400)["error"]["code"] == -32020


def test_a_name_in_base64_is_read(alice: Caller) -> None:
    message, headers = stateless(tool("listMemories"))
    headers["Mcp-Name"] = "=?base64?bGlzdE1lbW9yaWVz?="
    assert ask(alice, message, headers)["result"]["isError"] is False


def test_a_request_without_handshake_must_say_what_its_client_can(alice: Caller) -> None:
    message, headers = stateless(request("tools/list"))
    del message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert json_of(alice.call("POST", "/mcp", message, headers=headers), 400)["error"]["code"] == (
        -32602
    )


# Messages.


@pytest.mark.parametrize(
    "body", [b"{", b"\xff", b"", b"nul", b'{"jsonrpc": NaN}', b"[" * 5000], ids=repr
)
def test_what_is_no_json_is_a_parse_error(alice: Caller, body: bytes) -> None:
    assert error_of(alice, body, 400)["code"] == -32700


@pytest.mark.parametrize(
    "message",
    [
        [],
        [request("ping")],
        7,
        None,
        {},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": [1], "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
    ids=json.dumps,
)
def test_what_is_no_single_message_is_an_invalid_request(alice: Caller, message: object) -> None:
    body = json.dumps(message).encode()
    assert error_of(alice, body, 400)["code"] == -32600


def test_an_error_names_the_message_that_it_answers(alice: Caller) -> None:
    body = json_of(alice.call("POST", "/mcp", request("nothing/here", id="a-7")))
    assert (body["id"], body["error"]["code"]) == ("a-7", -32601)


def test_an_unknown_method_is_told_so_in_both_eras(alice: Caller) -> None:
    for method in ("resources/list", "prompts/list", "server/discover", "logging/setLevel", "x"):
        assert error_of(alice, request(method))["code"] == -32601
    for method in ("initialize", "ping", "subscriptions/listen", "x"):
        message, headers = stateless(request(method))
        body = json_of(alice.call("POST", "/mcp", message, headers=headers), 404)
        assert body["error"]["code"] == -32601


def test_a_ping_is_answered_and_a_notification_is_not(alice: Caller) -> None:
    assert ask(alice, request("ping"))["result"] == {}
    for method in ("notifications/initialized", "notifications/cancelled", "notifications/x"):
        response = alice.call("POST", "/mcp", {"jsonrpc": "2.0", "method": method})
        assert (response.status_code, response.content) == (202, b"")


@pytest.mark.parametrize("name", ["archiveMemory", "", None, 7, ["listMemories"], SENTINEL])
def test_an_unknown_tool_is_an_error_of_the_protocol_that_names_the_known_ones(
    alice: Caller, name: object
) -> None:
    error = error_of(alice, request("tools/call", {"name": name}))
    assert error["code"] == -32602
    assert "searchMemories" in error["message"]
    assert SENTINEL not in error["message"]


@pytest.mark.parametrize("arguments", ["x", [1], 7])
def test_arguments_that_are_no_object_are_refused(alice: Caller, arguments: object) -> None:
    message = request("tools/call", {"name": "listMemories", "arguments": arguments})
    assert error_of(alice, message)["code"] == -32602


def test_a_cursor_is_refused_as_there_is_one_page(alice: Caller) -> None:
    assert error_of(alice, request("tools/list", {"cursor": "x"}))["code"] == -32602


# HTTP.


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_there_is_nothing_to_stream_and_no_session_to_end(alice: Caller, method: str) -> None:
    response = alice.call(method, "/mcp")
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"
    if method != "HEAD":
        assert_fails(response, 405, "method_not_allowed")


def test_the_address_with_a_slash_is_the_same(alice: Caller) -> None:
    assert json_of(alice.call("POST", "/mcp/", request("ping")))["result"] == {}


def test_no_session_is_made_or_asked_for(alice: Caller) -> None:
    response = alice.call("POST", "/mcp", INITIALIZE)
    assert not {name.lower() for name in response.headers} & {"mcp-session-id", "set-cookie"}
    assert ask(alice, request("ping"), {"Mcp-Session-Id": "made-up"})["result"] == {}


def test_a_token_is_needed_and_a_cookie_is_none(cast: Cast, nobody: Caller) -> None:
    for caller in (nobody, Caller(user=cast.alice), Caller(token="jmp_made-up")):
        response = caller.call("POST", "/mcp", INITIALIZE)
        assert_fails(response, 401, "unauthenticated")
        assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_person_who_is_not_verified_or_not_active_is_nobody(cast: Cast) -> None:
    caller = Caller(token=make_personal_token(cast.alice))
    for field, value in (("email_verified_at", None), ("is_active", False)):
        before = getattr(cast.alice, field)
        User.objects.update(**{field: value})
        assert_fails(caller.call("POST", "/mcp", INITIALIZE), 401, "unauthenticated")
        User.objects.update(**{field: before})
    assert ask(caller, INITIALIZE)["result"]["protocolVersion"] == OLD


def test_a_token_in_the_address_is_not_read(cast: Cast, nobody: Caller) -> None:
    token = make_personal_token(cast.alice)
    assert_fails(nobody.call("POST", f"/mcp?access_token={token}", INITIALIZE), 401)


def test_a_token_without_a_fitting_scope_is_forbidden(cast: Cast) -> None:
    for token in (
        make_agent_token(cast.agent, "recall", "sessions")[1],
        make_personal_token(cast.root, "report"),
    ):
        assert_fails(Caller(token=token).call("POST", "/mcp", INITIALIZE), 403, "forbidden")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://testserver.evil.example", "http://[", "x"]
)
def test_a_page_of_another_site_is_refused_before_its_token_is_read(
    alice: Caller, nobody: Caller, origin: str
) -> None:
    for caller in (alice, nobody):
        response = caller.call("POST", "/mcp", INITIALIZE, headers={"Origin": origin})
        assert_fails(response, 403, "origin")


def test_our_own_origin_and_trusted_ones_are_taken(alice: Caller) -> None:
    trusted = ["https://desk.example", "https://*.apps.example"]
    with override_settings(CSRF_TRUSTED_ORIGINS=trusted):
        for origin in ("http://testserver", "https://desk.example", "https://a.apps.example"):
            assert ask(alice, request("ping"), {"Origin": origin})["result"] == {}
        for origin in ("http://desk.example", "https://apps.example.evil", "https://xapps.example"):
            response = alice.call("POST", "/mcp", request("ping"), headers={"Origin": origin})
            assert_fails(response, 403, "origin")


def test_a_host_that_is_not_ours_is_refused(alice: Caller) -> None:
    response = alice.call("POST", "/mcp", request("ping"), headers={"Host": "evil.example"})
    assert_fails(response, 400, "bad_request")


def test_a_body_of_more_than_two_megabytes_is_refused(alice: Caller) -> None:
    fits = request("ping", {"x": "a" * (2 * 1024 * 1024 - 200)})
    assert ask(alice, fits)["result"] == {}
    large = request("ping", {"x": "a" * (2 * 1024 * 1024)})
    assert_fails(alice.call("POST", "/mcp", large), 413, "too_large")


def test_another_type_than_json_is_refused(alice: Caller) -> None:
    response = alice.client.post(
        "/mcp", json.dumps(INITIALIZE), content_type="text/plain", headers=alice.headers
    )
    assert_fails(response, 415)  # type: ignore[arg-type]


def test_reads_and_writes_are_limited_apart(alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    knobs = conf().model_copy(update={"token_writes_per_minute": 1, "token_reads_per_minute": 9})
    monkeypatch.setattr("api.mcp.asking.conf", lambda: knobs)
    write = tool("removeMemory", {"id": "00000000"})
    ask(alice, write)
    response = alice.call("POST", "/mcp", write)
    assert_fails(response, 429, "rate_limited")
    assert 1 <= int(response.headers["Retry-After"]) <= 60
    ask(alice, tool("listMemories"))
    RateWindow.objects.filter(bucket__startswith="read:").update(count=9)
    assert_fails(alice.call("POST", "/mcp", request("ping")), 429, "rate_limited")


# Failures.


def test_a_lost_database_is_503_in_our_shape(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OperationalError(SENTINEL)

    monkeypatch.setattr(answering, "call_tool", gone)
    assert_fails(alice.call("POST", "/mcp", tool("listMemories")), 503, "unavailable")
    monkeypatch.setattr("api.mcp.asking.find_live_token", gone)
    response = alice.call("POST", "/mcp", request("ping"))
    assert_fails(response, 503, "unavailable")
    assert SENTINEL.encode() not in response.content


def test_a_fault_of_ours_says_nothing_of_its_cause(
    alice: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError(SENTINEL)

    monkeypatch.setattr(answering, "call_tool", broken)
    caplog.set_level(logging.DEBUG)
    message = tool("listMemories")
    assert error_of(alice, message)["code"] == -32603
    modern, headers = stateless(message)
    response = alice.call("POST", "/mcp", modern, headers=headers)
    assert json_of(response, 500)["error"]["code"] == -32603
    assert SENTINEL.encode() not in response.content
    assert "ValueError" in caplog.text
    assert SENTINEL not in caplog.text


def test_nothing_that_was_sent_is_logged(alice: Caller, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for message in (
        tool("searchMemories", {"query": SENTINEL}),
        tool("searchMemories", {SENTINEL: 1}),
        tool(SENTINEL),
        request(SENTINEL),
        [SENTINEL],
    ):
        alice.call("POST", "/mcp", message, headers={"X-Memory-Conversation": SENTINEL})
    assert SENTINEL not in caplog.text
