"""GET /held, approve, decline; GET /conflicts, POST /conflicts/{id}."""

from __future__ import annotations

from django.utils import timezone

from junior_memory.models import Conflict, Memory
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_memory_detail import ABSENT
from tests.cast import Cast
from tests.factories import make_memory, make_personal_token


def held(cast: Cast, content: str, **fields: object) -> Memory:
    return make_memory(content=content, held_reason="unlinked", **fields)  # type: ignore[arg-type]


def ids(caller: Caller) -> list[str]:
    return [memory["id"] for memory in json_of(caller.get("held"))["memories"]]


def test_held_shows_own_rows_and_to_staff_public_ones_too(
    alice: Caller, bob: Caller, root: Caller, cast: Cast
) -> None:
    mine = held(cast, "Mine.", owner=cast.alice)
    public = held(cast, "Public.", visibility="public")
    make_memory(owner=cast.alice, content="Active.")
    assert ids(alice) == [str(mine.pk)]
    assert ids(bob) == []
    assert ids(root) == [str(public.pk)]


def test_held_rows_are_paged(alice: Caller, cast: Cast) -> None:
    wanted = {str(held(cast, f"Waits {n}.", owner=cast.alice).pk) for n in range(3)}
    first = json_of(alice.get("held?limit=2"))
    second = json_of(alice.get(f"held?limit=2&cursor={first['nextCursor']}"))
    assert {m["id"] for m in first["memories"] + second["memories"]} == wanted
    assert second["nextCursor"] is None
    assert_fails(alice.get("held?cursor=x"), 422)
    assert_fails(alice.get("held?state=x"), 422)


def test_approve_makes_active_and_decline_forgets_each_by_its_own_person(
    alice: Caller, bob: Caller, root: Caller, cast: Cast
) -> None:
    mine, other = (held(cast, f"Waits {n}.", owner=cast.alice) for n in range(2))
    for caller in (bob, root):
        assert_fails(caller.post(f"held/{mine.pk}/approve"), 404)
        assert_fails(caller.post(f"held/{mine.pk}/decline"), 404)
    approved = json_of(alice.post(f"held/{mine.pk}/approve"))
    assert (approved["id"], approved["state"]) == (str(mine.pk), "active")
    assert json_of(alice.post(f"held/{mine.pk}/approve"))["id"] == str(mine.pk)
    assert_fails(alice.post(f"held/{mine.pk}/decline"), 404)
    for _ in range(2):
        assert alice.post(f"held/{other.pk}/decline").status_code == 204
    assert_fails(alice.post(f"held/{other.pk}/approve"), 404)
    assert ids(alice) == []
    assert len(json_of(alice.get("tombstones"))["tombstones"]) == 1


def test_a_decision_is_taken_back_by_whose_it_is(
    alice: Caller, bob: Caller, root: Caller, cast: Cast
) -> None:
    mine, other = (held(cast, f"Waits {n}.", owner=cast.alice) for n in range(2))
    json_of(alice.post(f"held/{mine.pk}/approve"))
    assert alice.post(f"held/{other.pk}/decline").status_code == 204
    for memory in (mine, other):
        for caller in (bob, root):
            assert_fails(caller.post(f"held/{memory.pk}/undo"), 404)
        for _ in range(2):
            assert json_of(alice.post(f"held/{memory.pk}/undo"))["state"] == "held"
    assert set(ids(alice)) == {str(mine.pk), str(other.pk)}
    assert json_of(alice.get("memories"))["memories"] == []
    assert json_of(alice.get("tombstones"))["tombstones"] == []
    plain = make_memory(owner=cast.alice, content="Never held.")
    assert_fails(alice.post(f"held/{plain.pk}/undo"), 404)
    reads = Caller(token=make_personal_token(cast.alice, "read"))
    assert_fails(reads.post(f"held/{mine.pk}/undo"), 403)
    assert_fails(Caller(user=cast.alice).post(f"held/{mine.pk}/undo"), 403, "csrf")


def test_staff_decide_on_public_rows_and_others_do_not(
    alice: Caller, root: Caller, cast: Cast
) -> None:
    public = held(cast, "Public.", visibility="public")
    assert_fails(alice.post(f"held/{public.pk}/approve"), 404)
    json_of(root.post(f"held/{public.pk}/approve"))
    json_of(alice.get(f"memories/{public.pk}"))


def test_absent_held_ids_are_404(alice: Caller) -> None:
    for word in ("approve", "decline", "undo"):
        assert_fails(alice.post(f"held/{ABSENT}/{word}"), 404)
        assert_fails(alice.post(f"held/x/{word}"), 404)
        assert_fails(alice.get(f"held/{ABSENT}/{word}"), 405)


def conflict(cast: Cast) -> tuple[Conflict, Memory, Memory]:
    first = make_memory(owner=cast.alice, content="Likes tea.")
    second = make_memory(owner=cast.alice, content="Hates tea.")
    row = Conflict.objects.create(first=first, second=second, created_at=timezone.now())
    return row, first, second


def test_conflicts_are_their_own_persons(alice: Caller, bob: Caller, cast: Cast) -> None:
    assert json_of(alice.get("conflicts")) == {"conflicts": []}
    row, first, second = conflict(cast)
    (one,) = json_of(alice.get("conflicts"))["conflicts"]
    assert one["id"] == str(row.pk)
    assert one["first"]["content"] == first.content
    assert one["second"]["content"] == second.content
    assert json_of(bob.get("conflicts")) == {"conflicts": []}
    assert_fails(bob.post(f"conflicts/{row.pk}", {"keep": "first"}), 404)
    assert_fails(alice.post(f"conflicts/{row.pk}", {"keep": "last"}), 422)
    assert_fails(alice.post(f"conflicts/{ABSENT}", {"keep": "first"}), 404)


def test_what_is_not_kept_is_forgotten_and_can_come_back(alice: Caller, cast: Cast) -> None:
    row, first, second = conflict(cast)
    for _ in range(2):
        decided = json_of(alice.post(f"conflicts/{row.pk}", {"keep": "first"}))
        assert decided == {"id": str(row.pk), "kept": "first", "forgotten": [str(second.pk)]}
    assert_fails(alice.post(f"conflicts/{row.pk}", {"keep": "both"}), 409, "already_decided")
    json_of(alice.get(f"memories/{first.pk}"))
    assert_fails(alice.get(f"memories/{second.pk}"), 404)
    json_of(alice.post(f"memories/{second.pk}/restore"))
    assert json_of(alice.get("conflicts")) == {"conflicts": []}


def test_keeping_both_or_none(alice: Caller, cast: Cast) -> None:
    row, first, second = conflict(cast)
    assert json_of(alice.post(f"conflicts/{row.pk}", {"keep": "both"}))["forgotten"] == []
    json_of(alice.get(f"memories/{second.pk}"))
    Conflict.objects.update(resolved_at=None, kept="")
    gone = json_of(alice.post(f"conflicts/{row.pk}", {"keep": "none"}))["forgotten"]
    assert gone == [str(first.pk), str(second.pk)]
    assert json_of(alice.get("memories"))["memories"] == []


def test_a_decided_conflict_waits_again_when_it_is_taken_back(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    row, first, second = conflict(cast)
    json_of(alice.post(f"conflicts/{row.pk}", {"keep": "first"}))
    assert_fails(bob.post(f"conflicts/{row.pk}/undo"), 404)
    for _ in range(2):
        again = json_of(alice.post(f"conflicts/{row.pk}/undo"))
        assert (again["id"], again["second"]["id"]) == (str(row.pk), str(second.pk))
    assert len(json_of(alice.get("conflicts"))["conflicts"]) == 1
    json_of(alice.get(f"memories/{second.pk}"))
    for wrong in (ABSENT, "x"):
        assert_fails(alice.post(f"conflicts/{wrong}/undo"), 404)
    assert_fails(alice.get(f"conflicts/{row.pk}/undo"), 405)
    json_of(alice.post(f"conflicts/{row.pk}", {"keep": "none"}))
    assert_fails(alice.get(f"memories/{first.pk}"), 404)
