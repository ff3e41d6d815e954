"""Requests that are built to be read in two ways, or to grow while they are read."""

from __future__ import annotations

import gzip

import pytest

from tests.api.conftest import BASE, Caller, assert_fails
from tests.api.mcp_calls import tool
from tests.cast import Cast


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "GZIP"])
def test_nothing_compressed_is_taken_or_unpacked(alice: Caller, host: Caller, coding: str) -> None:
    """A few kilobytes that would become a gigabyte: refused unread, by every way in."""
    packed = gzip.compress(b" " * 20_000_000)
    said = {"Content-Encoding": coding}
    lines = {"Content-Type": "application/x-ndjson"}
    assert_fails(alice.call("POST", "memories", packed, headers=said), 415)
    assert_fails(alice.call("POST", "import", packed, headers=said | lines), 415)
    assert_fails(host.call("POST", "sessions", packed, headers=said), 415)
    assert_fails(alice.call("POST", "/mcp", packed, headers=said), 415)
    # Unannounced it is what it looks like: no text.
    assert_fails(alice.call("POST", "import", packed, headers=lines), 422)
    assert_fails(alice.call("POST", "memories", packed), 422)
    as_is = {"Content-Encoding": "identity"}
    body = {"content": "Prefers tea."}
    assert alice.call("POST", "memories", body, headers=as_is).status_code == 201


def test_headers_given_twice_are_never_read_as_one_of_the_two(
    cast: Cast, alice: Caller, host: Caller
) -> None:
    """A server joins them with commas: a proxy may look at one and we at the other."""
    mine, other = (caller.headers["Authorization"] for caller in (alice, host))
    both = {"Authorization": f"{mine},{other}"}
    assert alice.call("GET", "memories", headers=both).status_code == 401
    twice = {"X-Memory-Actor": "slack/T1/UALICE,slack/T1/UBOB", "X-Memory-Source": "web/private/k"}
    called = host.call("POST", "/mcp", tool("listMemories"), headers=twice)
    assert called.status_code == 422
    assert (
        alice.call("GET", "memories", headers={"Host": "testserver,evil.example"}).status_code
        == 400
    )
    for length in ("5,6", "-1", "1e3", "9" * 400, "+5"):
        answer = alice.client.generic(
            "POST",
            f"{BASE}/memories",
            b'{"content": "Tea."}',
            content_type="application/json",
            headers=alice.headers,
            CONTENT_LENGTH=length,
        )
        assert answer.status_code in {201, 200, 413, 422, 400}, length
