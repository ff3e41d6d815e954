"""POST /memories/forget, /memories/forget-all, /forget-batches/{id}/restore."""

from __future__ import annotations

from junior_memory import people
from junior_memory.models import Memory
from tests.api.conftest import Caller, assert_fails, json_of
from tests.api.test_memory_detail import ABSENT
from tests.cast import Cast
from tests.factories import make_memory


def test_a_selection_is_forgotten_id_by_id_and_undone_as_one(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    mine = [make_memory(owner=cast.alice, content=f"Mine {n}.") for n in range(3)]
    theirs = make_memory(owner=cast.bob, content="Bob's.")
    public = make_memory(owner=cast.alice, content="Roof.", visibility="public")
    team = make_memory(owner=cast.bob, content="Team.", visibility="org", org=cast.org)
    ids = [*(str(m.pk) for m in mine[:2]), str(theirs.pk), str(public.pk), str(team.pk), ABSENT]
    ids += ["nonsense", str(mine[0].pk), str(mine[1].pk).upper()]
    result = json_of(alice.post("memories/forget", {"ids": ids}))
    assert set(result) == {"batchId", "forgotten", "notFound", "refused"}
    assert set(result["forgotten"]) == {str(m.pk) for m in mine[:2]}
    assert set(result["notFound"]) == {str(theirs.pk), str(team.pk), ABSENT, "nonsense"}
    assert {(one["id"], one["code"]) for one in result["refused"]} == {
        (str(public.pk), "public_memory_read_only"),
    }
    assert_fails(bob.post(f"forget-batches/{result['batchId']}/restore"), 404)
    undone = json_of(alice.post(f"forget-batches/{result['batchId']}/restore"))
    assert undone == {"restored": 2, "skipped": []}
    again = json_of(alice.post(f"forget-batches/{result['batchId']}/restore"))
    assert again == {"restored": 0, "skipped": []}
    assert Memory.objects.filter(archived_at__isnull=True).count() == 6


def test_an_empty_selection_never_means_all(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice)
    bodies: list[dict[str, object]] = [
        {"ids": []},
        {},
        {"ids": None},
        {"ids": ""},
        {"ids": [None]},
        {"ids": [""]},
        {"ids": [ABSENT] * 201},
        {"ids": "all"},
        {"ids": [ABSENT], "all": True},
    ]
    for body in bodies:
        assert_fails(alice.post("memories/forget", body), 422)
    assert not Memory.objects.filter(archived_at__isnull=False).exists()


def test_a_selection_of_nothing_known_forgets_nothing(alice: Caller, cast: Cast) -> None:
    make_memory(owner=cast.alice)
    result = json_of(alice.post("memories/forget", {"ids": ["x", ABSENT]}))
    assert result["forgotten"] == []
    assert result["notFound"] == ["x", ABSENT]
    assert not Memory.objects.filter(archived_at__isnull=False).exists()


def test_forget_all_takes_what_is_owned_and_comes_back(
    alice: Caller, bob: Caller, cast: Cast
) -> None:
    make_memory(owner=cast.alice, content="Mine.")
    make_memory(owner=cast.alice, content="Team.", visibility="org", org=cast.org)
    make_memory(owner=cast.alice, content="Roof.", visibility="public")
    make_memory(owner=cast.bob, content="Bob's.")
    for confirm in ("", "yes", "Forget everything", None):
        assert_fails(alice.post("memories/forget-all", {"confirm": confirm}), 422)
    assert_fails(alice.post("memories/forget-all", {}), 422)
    result = json_of(alice.post("memories/forget-all", {"confirm": "forget everything"}))
    assert result["forgotten"] == 2
    left = {m["content"] for m in json_of(alice.get("memories"))["memories"]}
    assert left == {"Roof."}
    assert {m["content"] for m in json_of(bob.get("memories"))["memories"]} == {"Bob's.", "Roof."}
    undone = json_of(alice.post(f"forget-batches/{result['batchId']}/restore"))
    assert undone == {"restored": 2, "skipped": []}


def test_forget_all_of_one_agent_leaves_the_others(alice: Caller, cast: Cast) -> None:
    scribe = people.agent_named("scribe", made_by_token=True)[0]
    make_memory(owner=cast.alice, content="Mine.")
    make_memory(owner=cast.alice, content="Scribe's.", agent=scribe)
    body = {"confirm": "forget everything", "agent": "scribe"}
    assert json_of(alice.post("memories/forget-all", body))["forgotten"] == 1
    assert [m["content"] for m in json_of(alice.get("memories"))["memories"]] == ["Mine."]
    assert_fails(alice.post("memories/forget-all", {**body, "agent": "nobody"}), 422)


def test_an_unknown_batch_is_404(alice: Caller) -> None:
    assert_fails(alice.post(f"forget-batches/{ABSENT}/restore"), 404)
    assert_fails(alice.post("forget-batches/x/restore"), 404)
    assert_fails(alice.get(f"forget-batches/{ABSENT}/restore"), 405)
