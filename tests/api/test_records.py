"""GET /tombstones, DELETE /tombstones/{id}, GET /receipts, GET /activity."""

from __future__ import annotations

from junior_memory.models import Tombstone
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_memory_detail import ABSENT
from tests.cast import Cast
from tests.factories import make_memory

KEYS = {
    "id",
    "memoryId",
    "kind",
    "agent",
    "createdAt",
    "blocked",
    "lastBlockedAt",
    "content",
    "purgeAt",
}


def test_a_tombstone_shows_its_text_until_the_erasure(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    alice.delete(f"memories/{made.pk}")
    (mark,) = json_of(alice.get("tombstones"))["tombstones"]
    assert set(mark) == KEYS
    assert (mark["content"], mark["agent"], mark["blocked"]) == ("Likes tea.", "default", 0)
    assert json_of(bob.get("tombstones"))["tombstones"] == []
    alice.post(f"memories/{made.pk}/erase")
    (mark,) = json_of(alice.get("tombstones"))["tombstones"]
    assert mark["content"] is None
    assert mark["memoryId"] == str(made.pk)


def test_lifting_a_tombstone_is_its_own_persons_and_works_once(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    made = make_memory(owner=cast.alice, content="Likes tea.")
    alice.delete(f"memories/{made.pk}")
    (mark,) = json_of(alice.get("tombstones"))["tombstones"]
    assert_fails(bob.delete(f"tombstones/{mark['id']}"), 404)
    assert_fails(alice.delete(f"tombstones/{ABSENT}"), 404)
    assert_fails(alice.delete("tombstones/x"), 404)
    assert_fails(alice.get(f"tombstones/{mark['id']}"), 405)
    assert alice.delete(f"tombstones/{mark['id']}").status_code == 204
    assert_fails(alice.delete(f"tombstones/{mark['id']}"), 404)
    assert not Tombstone.objects.exists()


def test_activity_says_who_did_what_and_never_what_was_remembered(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    made = make_memory(owner=cast.alice, content="Likes zebra tea.")
    alice.patch(f"memories/{made.pk}", {"content": "Likes zebra milk.", "version": 1})
    json_of(alice.post("memories/forget-all", {"confirm": "forget everything"}))
    response = alice.get("activity")
    assert "zebra" not in response.content.decode()
    entries = json_of(response)["activity"]
    assert [entry["action"] for entry in entries][:2] == ["forgot_all", "corrected"]
    assert all(entry["by"] == "you" for entry in entries[:2])
    assert all(entry["via"] == "api" for entry in entries[:2])
    assert {e["action"] for e in json_of(bob.get("activity"))["activity"]} <= {"token_created"}


def test_records_are_paged(alice: Caller, cast: Cast) -> None:
    for number in range(3):
        made = make_memory(owner=cast.alice, content=f"Tea {number}.")
        alice.post(f"memories/{made.pk}/erase")
    for path, name in (
        ("tombstones", "tombstones"),
        ("receipts", "receipts"),
        ("activity", "activity"),
    ):
        seen: list[str] = []
        cursor = ""
        while True:
            page = json_of(alice.get(f"{path}?limit=1{cursor}"))
            seen += [row["id"] for row in page[name]]
            if page["nextCursor"] is None:
                break
            cursor = f"&cursor={page['nextCursor']}"
        assert len(seen) == len(set(seen)) >= 3
        assert_fails(alice.get(f"{path}?cursor=x"), 422)
        assert_fails(alice.get(f"{path}?limit=51"), 422)
        assert_fails(alice.get(f"{path}?q=x"), 422)
    marks = json_of(alice.get("tombstones?limit=1"))["nextCursor"]
    assert_fails(alice.get(f"receipts?cursor={marks}"), 422)
