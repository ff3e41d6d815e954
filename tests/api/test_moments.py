"""The ends of the calendar: what is stored in one zone can be read in any other."""

from __future__ import annotations

import pytest

from junior_memory.models import Memory
from tests.api.bodies import ALICE, said, session, source
from tests.api.conftest import Caller, assert_fails, json_of
from tests.cast import Cast
from tests.factories import make_memory
from tests.made_up import sealed

ZONES = ("Pacific/Kiritimati", "Etc/GMT+12", "UTC")
TOO_EARLY, TOO_LATE = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
LATEST = "9998-12-31T23:59:59Z"


@pytest.mark.parametrize("moment", [TOO_EARLY, TOO_LATE])
def test_a_moment_that_has_no_date_somewhere_comes_in_by_no_door(
    cast: Cast, alice: Caller, host: Caller, moment: str
) -> None:
    assert_fails(alice.post("memories", {"content": "Tea.", "expiresAt": moment}), 422)
    assert_fails(host.post("sessions", session(completedAt=moment)), 422)
    told = session(transcript=[said("I prefer tea in the morning.", at=moment)])
    assert_fails(host.post("sessions", told), 422)
    asked = {"content": "I prefer tea.", "kind": "preference", "expiresAt": moment}
    call = {"toolCallId": "c", "conversationId": "C-1", "source": source(), "actor": ALICE}
    assert_fails(host.post("tools/createMemory", call | {"arguments": asked}), 422)
    line = {"type": "memory", "content": "Tea.", "state": "active", "kind": "knowledge"}
    lines = sealed(line | {"observedAt": moment}, line | {"expiresAt": moment})
    headers = alice.headers | {"Content-Type": "application/x-ndjson"}
    taken = json_of(alice.call("POST", "import", lines.encode(), headers=headers))
    assert [one["line"] for one in taken["refused"]] == [1, 2]
    assert not Memory.objects.exists()


@pytest.mark.parametrize("zone", ZONES)
def test_what_is_kept_for_longest_is_read_in_every_zone(cast: Cast, zone: str) -> None:
    caller = Caller(user=cast.alice)
    cast.alice.time_zone = zone
    cast.alice.save()
    kept = make_memory(owner=cast.alice, content="Prefers tea.")
    new = {"content": "Prefers cake.", "expiresAt": LATEST}
    csrf = {"X-CSRFToken": "a" * 32}
    caller.client.cookies["csrftoken"] = "a" * 32
    json_of(caller.call("POST", "memories", new, headers=csrf), 201)
    for path in ("/memories", "/settings/paper", f"/memories/{kept.pk}", "/settings"):
        assert caller.client.get(path).status_code == 200, path
