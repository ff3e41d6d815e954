"""Every failure in our shape, whatever Ninja, Django or the database would have said."""

from __future__ import annotations

import json
import logging

import pytest
from django.db import OperationalError
from django.test import override_settings

from api import memories as api_memories
from api.bodies import MEGABYTE
from junior_memory.models import ApiToken, Memory, User
from tests.api.conftest import BASE, Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_agent_token, make_memory, make_personal_token

SENTINEL = "zebra-crossing-sentinel"


def test_anonymous_callers_are_told_how_to_authenticate(nobody: Caller) -> None:
    response = nobody.get("memories")
    assert_fails(response, 401, "unauthenticated")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_credential_that_is_none_of_ours_is_401(nobody: Caller) -> None:
    for header in (
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer jmp_no",
        "Bearer no",
        "jmp_x",
        "é",
    ):
        assert_fails(nobody.call("GET", "memories", headers={"Authorization": header}), 401)


def test_a_revoked_token_and_an_expired_one_are_401(cast: Cast) -> None:
    caller = Caller(token=make_personal_token(cast.alice))
    json_of(caller.get("memories"))
    ApiToken.objects.update(revoked_at="2020-01-01T00:00Z")
    assert_fails(caller.get("memories"), 401)
    ApiToken.objects.update(revoked_at=None, expires_at="2020-01-01T00:00Z")
    assert_fails(caller.get("memories"), 401)


def test_an_unverified_address_is_401_by_token_and_by_cookie(cast: Cast) -> None:
    by_token, by_cookie = Caller(token=make_personal_token(cast.alice)), Caller(user=cast.alice)
    User.objects.update(email_verified_at=None)
    assert_fails(by_token.get("memories"), 401)
    assert_fails(by_cookie.get("memories"), 401)


def test_a_person_who_is_no_longer_active_is_401(cast: Cast) -> None:
    by_token, by_cookie = Caller(token=make_personal_token(cast.alice)), Caller(user=cast.alice)
    User.objects.update(is_active=False)
    assert_fails(by_token.get("memories"), 401)
    assert_fails(by_cookie.get("memories"), 401)


def test_the_wrong_kind_of_token_is_403_both_ways(alice: Caller, host: Caller) -> None:
    assert_fails(host.get("memories"), 403, "forbidden")
    assert_fails(alice.post("sessions", {}), 403, "forbidden")
    assert_fails(alice.get("sessions/one"), 403, "forbidden")


def test_a_token_without_the_scope_is_403(cast: Cast) -> None:
    reader = Caller(token=make_personal_token(cast.alice, "read"))
    writer = Caller(token=make_personal_token(cast.alice, "write"))
    recaller = Caller(token=make_agent_token(cast.agent, "recall")[1])
    json_of(reader.get("memories"))
    assert_fails(reader.post("memories", {"content": "x"}), 403)
    assert_fails(writer.get("memories"), 403)
    assert_fails(writer.get("export"), 403)
    assert_fails(recaller.post("sessions", {}), 403)
    assert_fails(recaller.post("identities/link", {}), 403)


def test_a_cookie_needs_the_csrf_token_to_change_anything(cast: Cast) -> None:
    caller = Caller(user=cast.alice)
    json_of(caller.get("memories"))
    assert_fails(caller.post("memories", {"content": "x"}), 403, "csrf")
    assert not Memory.objects.exists()
    caller.client.get("/api/docs")
    token = caller.client.cookies["csrftoken"].value
    response = caller.call("POST", "memories", {"content": "x"}, headers={"X-CSRFToken": token})
    json_of(response, 201)


def test_a_token_needs_no_csrf_token(alice: Caller) -> None:
    json_of(alice.post("memories", {"content": "x"}), 201)


def test_a_method_that_an_address_does_not_take_is_405_and_names_those_it_does(
    alice: Caller,
) -> None:
    for method in ("PUT", "OPTIONS", "TRACE", "PATCH", "DELETE"):
        response = alice.call(method, "memories")
        assert_fails(response, 405, "method_not_allowed")
        assert response.headers["Allow"] == "GET, HEAD, POST"


def test_an_unknown_address_is_a_json_404_for_everybody(alice: Caller, nobody: Caller) -> None:
    for path in (
        "/api/nothing",
        "/api/",
        "/api/plugins",
        "/api/plugins/memory/",
        f"{BASE}/memories/",
        f"{BASE}/x%0A",
    ):
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
            assert_fails(alice.call(method, path), 404, "not_found")
            assert_fails(nobody.call(method, path), 404, "not_found")


def test_an_id_that_is_none_is_404(alice: Caller) -> None:
    for memory_id in [
        "x",
        "1",
        "%00",
        "%0A",
        "%ED%A0%80",
        "..",
        "00000000-0000-0000-0000-00000000000G",
        "é" * 300,
    ]:
        for method in ("GET", "HEAD", "PATCH", "DELETE"):
            assert alice.call(method, f"memories/{memory_id}").status_code == 404
        assert alice.post(f"memories/{memory_id}/erase").status_code == 404


def test_a_body_that_is_no_json_object_is_422(alice: Caller) -> None:
    broken = [b"{", b"", b"null", b"[]", b'"x"', b'{"content": NaN}', b"\xff\xfe", b"nope"]
    for body in (*broken, b"[" * 100_000):
        assert_fails(alice.call("POST", "memories", body), 422)
    assert not Memory.objects.exists()


def test_bytes_that_spell_half_a_surrogate_pair_are_422(alice: Caller) -> None:
    assert_fails(alice.call("POST", "memories", b'{"content": "\xed\xa0\x80"}'), 422)
    assert_fails(alice.call("POST", "memories", b'{"content": "\\ud800 tea"}'), 422)
    assert_fails(alice.call("POST", "memories", b'{"content": "x", "agent": "\\udfff"}'), 422)
    assert_fails(alice.call("POST", "memories", b'{"content": "x", "\\ud800": 1}'), 422)


def test_nul_is_stripped_from_text_and_refused_in_names_and_queries(alice: Caller) -> None:
    body = {"content": "Prefers\x00 tea."}
    assert json_of(alice.post("memories", body), 201)["content"] == "Prefers tea."
    assert_fails(alice.post("memories", {"content": "x", "agent": "a\x00"}), 422)
    assert_fails(alice.post("memories", {"content": "x", "idempotencyKey": "\x00"}), 422)
    for key in ("q", "agent", "cursor", "visibility", "limit", "state", "%00"):
        error = assert_fails(alice.get(f"memories?{key}=%00"), 422)
        assert list(error["fields"]) == [key if key != "%00" else "\x00"]


def test_values_that_do_not_fit_are_422_and_store_nothing(alice: Caller) -> None:
    bodies: list[object] = [
        {"content": 1},
        {"content": None},
        {"content": ["x"]},
        {},
        {"content": "x", "kind": "gossip"},
        {"content": "x", "kind": 1},
        {"content": "x", "expiresAt": "tomorrow"},
        {"content": "x", "expiresAt": "2030-01-01T00:00:00"},
        {"content": "x", "expiresAt": "2030-13-01T00:00:00Z"},
        {"content": "x", "expiresAt": "2020-01-01T00:00:00Z"},
        {"content": "x", "expiresAt": 4_000_000_000},
        {"content": "x", "expiresAt": "0001-01-01T00:00:00+14:00"},
        {"content": "x", "idempotencyKey": ""},
        {"content": "x", "idempotencyKey": "k" * 256},
        {"content": "x", "agent": "nobody-knows-it"},
        {"content": "   "},
        {"content": "x" * 4001},
        {"content": "x", "visibility": "public"},
        {"content": "x", "user_id": "bob"},
        {"content": "x", "idempotency_key": "k"},
    ]
    for body in bodies:
        assert_fails(alice.post("memories", body), 422)
    assert not Memory.objects.exists()


def test_only_json_is_taken(alice: Caller) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/xml", ""):
        response = alice.client.generic(
            "POST",
            f"{BASE}/memories",
            b'{"content": "x"}',
            content_type=kind,
            headers=alice.headers,
        )
        assert_fails(response, 415, "unsupported_media_type")  # type: ignore[arg-type]
    response = alice.client.generic(
        "POST",
        f"{BASE}/memories",
        b'{"content": "x"}',
        content_type="application/json; charset=utf-8",
        headers=alice.headers,
    )
    json_of(response, 201)  # type: ignore[arg-type]


def test_a_post_without_a_body_needs_no_type_and_takes_none(alice: Caller, cast: Cast) -> None:
    memory = make_memory(owner=cast.alice)
    json_of(alice.post(f"memories/{memory.pk}/restore"))
    json_of(alice.post(f"memories/{memory.pk}/restore", {}))
    assert_fails(alice.post(f"memories/{memory.pk}/restore", {"why": "x"}), 422)
    response = alice.client.post(
        f"{BASE}/memories/{memory.pk}/restore",
        "hello",
        content_type="text/plain",
        headers=alice.headers,
    )
    assert_fails(response, 415)  # type: ignore[arg-type]


def test_a_body_over_its_limit_is_413(alice: Caller, host: Caller) -> None:
    assert_fails(alice.post("memories", {"content": "x" * MEGABYTE}), 413, "too_large")
    entry = {"type": "message", "role": "user", "text": "x" * 2 * MEGABYTE}
    assert_fails(host.post("sessions", {"transcript": [entry]}), 413, "too_large")


def test_unknown_and_repeated_query_keys_are_422(alice: Caller) -> None:
    error = assert_fails(alice.get("memories?limit=1&page=2"), 422, "malformed")
    assert error["fields"] == {"page": "unknown"}
    assert_fails(alice.get("memories?limit=1&limit=2"), 422)
    assert_fails(alice.get("me?x"), 422)
    assert_fails(alice.post("memories?dry=1", {"content": "x"}), 422)
    assert not Memory.objects.exists()


def test_head_answers_like_get_without_a_body(alice: Caller, cast: Cast) -> None:
    memory = make_memory(owner=cast.alice)
    for path in ("memories", f"memories/{memory.pk}", "me", "dashboard", "memories/x", "nothing"):
        got, head = alice.get(path), alice.call("HEAD", path)
        assert head.status_code == got.status_code
        assert head.content == b""
        assert {**head.headers, "Content-Length": ""} == {**got.headers, "Content-Length": ""}
        assert head.headers["Content-Length"] == str(len(got.content))
    assert alice.call("HEAD", "memories/forget").status_code == 405


def test_a_cookie_caller_is_limited_as_a_person(cast: Cast) -> None:
    caller = Caller(user=cast.alice)
    with _limits(reads=2):
        json_of(caller.get("me"))
        json_of(caller.get("me"))
        assert_fails(caller.get("me"), 429, "rate_limited")


def test_past_the_limit_a_token_is_told_how_long_to_wait(alice: Caller, bob: Caller) -> None:
    with _limits(writes=2):
        json_of(alice.post("memories", {"content": "one"}), 201)
        json_of(alice.post("memories", {"content": "two"}), 201)
        response = alice.post("memories", {"content": "three"})
        assert_fails(response, 429, "rate_limited")
        assert 1 <= int(response.headers["Retry-After"]) <= 60
        json_of(alice.get("memories"))
        json_of(bob.post("memories", {"content": "one"}), 201)


def _limits(*, reads: int = 6000, writes: int = 600) -> override_settings:
    from django.conf import settings

    return override_settings(
        JUNIOR_MEMORY={
            **settings.JUNIOR_MEMORY,
            "token_reads_per_minute": reads,
            "token_writes_per_minute": writes,
        }
    )


def test_a_database_that_is_gone_is_503(alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OperationalError(SENTINEL)

    monkeypatch.setattr(api_memories, "list_memories", gone)
    response = alice.get("memories")
    assert_fails(response, 503, "unavailable")
    assert SENTINEL not in response.content.decode()


def test_a_fault_of_ours_is_500_without_a_word_of_content(
    alice: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(SENTINEL)

    monkeypatch.setattr(api_memories, "list_memories", broken)
    alice.client.raise_request_exception = False
    with caplog.at_level(logging.DEBUG):
        response = alice.get("memories")
    assert_fails(response, 500, "internal")
    assert SENTINEL not in response.content.decode()
    assert SENTINEL not in caplog.text
    assert "RuntimeError" in caplog.text


def test_no_failure_repeats_what_was_sent(alice: Caller) -> None:
    for body in (
        {"content": SENTINEL, "kind": SENTINEL},
        {"content": [SENTINEL]},
        {"content": "x", "expiresAt": SENTINEL},
    ):
        assert SENTINEL not in json.dumps(assert_fails(alice.post("memories", body), 422))
