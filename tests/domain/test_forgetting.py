"""Forget, undo, erase, expire, hold."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from junior_memory import access, errors, forgetting, holding, memories
from junior_memory.conf import conf
from junior_memory.models import (
    AuditEntry,
    CompletedSession,
    EmbeddingModel,
    ErasureReceipt,
    Memory,
    MemoryEmbedding,
    MemoryReport,
    Tombstone,
    User,
)
from tests.cast import Cast
from tests.factories import BY_TEST, AgentFactory, make_memory, make_personal_token


def active(user: User, now: datetime) -> set[str]:
    rows = Memory.objects.visible_to(access.person(user)).active(now)
    return set(rows.values_list("content", flat=True))


def embed(memory: Memory, now: datetime) -> None:
    model, _ = EmbeddingModel.objects.get_or_create(
        provider="test", model="m", dimensions=3, state="in_use", defaults={"created_at": now}
    )
    MemoryEmbedding.objects.create(
        memory=memory,
        embedding_model=model,
        visibility=memory.visibility,
        content_hash="x",
        vector=[1, 0, 0],
        created_at=now,
    )


def test_forget_takes_the_vector_lays_a_tombstone_and_is_audited(cast: Cast, now: datetime) -> None:
    memory = make_memory(owner=cast.alice)
    embed(memory, now)
    forgotten = forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST, now=now)
    assert forgotten.archive_reason == "user_removed"
    assert forgotten.purge_at == now + timedelta(days=30)
    assert not MemoryEmbedding.objects.exists()
    assert Tombstone.objects.get().person_id == cast.alice.pk
    entry = AuditEntry.objects.get(action="forgot")
    assert (entry.person_id, entry.memory_id) == (cast.alice.pk, memory.pk)
    assert active(cast.alice, now) == set()


def test_forget_twice_is_not_found(cast: Cast) -> None:
    memory = make_memory(owner=cast.alice)
    viewer = access.person(cast.alice)
    forgetting.forget(viewer, memory.pk, doer=BY_TEST)
    with pytest.raises(errors.NotFound):
        forgetting.forget(viewer, memory.pk, doer=BY_TEST)


def test_nobody_forgets_what_is_not_theirs(cast: Cast, now: datetime) -> None:
    private = make_memory(owner=cast.alice)
    org = make_memory(owner=cast.alice, visibility="org", org=cast.org, content="Ships Mondays.")
    public = make_memory(visibility="public", content="The office is in Lisbon.")
    for user in (cast.bob, cast.charlie, cast.root):
        viewer = access.person(user)
        with pytest.raises(errors.NotFound):
            forgetting.forget(viewer, private.pk, doer=BY_TEST)
        with pytest.raises(errors.NotFound):
            forgetting.forget(viewer, org.pk, doer=BY_TEST)
        with pytest.raises(errors.PublicMemoryReadOnly):
            forgetting.forget(viewer, public.pk, doer=BY_TEST)
    assert Memory.objects.active(now).count() == 3


def test_forget_takes_predecessors_and_restore_brings_the_head_back(
    cast: Cast, now: datetime
) -> None:
    viewer = access.person(cast.alice)
    first = make_memory(owner=cast.alice, content="Uses vim.")
    second = memories.correct_memory(viewer, first.pk, "Uses helix.", version=1, doer=BY_TEST)
    forgetting.forget(viewer, second.pk, doer=BY_TEST, now=now)
    assert Memory.objects.filter(archived_at=now).count() == 2
    assert Tombstone.objects.count() == 2
    assert list(Memory.objects.own(viewer).in_state("forgotten", now)) == [second]
    back = forgetting.restore(viewer, second.pk, doer=BY_TEST)
    assert back.pk == second.pk
    first.refresh_from_db()
    assert first.archived_at is None
    assert first.superseded_at is not None
    assert not Tombstone.objects.exists()


def test_restore_of_an_active_memory_returns_it(cast: Cast) -> None:
    memory = make_memory(owner=cast.alice)
    viewer = access.person(cast.alice)
    assert forgetting.restore(viewer, memory.pk, doer=BY_TEST).pk == memory.pk


def test_restore_beside_a_twin_joins_it(cast: Cast) -> None:
    viewer = access.person(cast.alice)
    old = make_memory(owner=cast.alice)
    forgetting.forget(viewer, old.pk, doer=BY_TEST)
    twin = make_memory(owner=cast.alice)
    for _ in range(2):
        assert forgetting.restore(viewer, old.pk, doer=BY_TEST).pk == twin.pk
    old.refresh_from_db()
    assert old.superseded_by_id == twin.pk


def test_restore_over_quota_or_past_expiry_is_refused(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewer = access.person(cast.alice)
    memory = make_memory(owner=cast.alice, expires_at=now + timedelta(days=1), now=now)
    forgetting.forget(viewer, memory.pk, doer=BY_TEST, now=now)
    make_memory(owner=cast.alice, content="Another.")
    tight = conf().model_copy(update={"active_quota": 1})
    monkeypatch.setattr(forgetting, "conf", lambda: tight)
    with pytest.raises(errors.QuotaExceeded):
        forgetting.restore(viewer, memory.pk, doer=BY_TEST, now=now)
    with pytest.raises(errors.Expired):
        forgetting.restore(viewer, memory.pk, doer=BY_TEST, now=now + timedelta(days=2))


def test_stranger_restores_and_erases_nothing(cast: Cast) -> None:
    memory = make_memory(owner=cast.alice)
    forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST)
    for act in (forgetting.restore, forgetting.erase):
        with pytest.raises(errors.NotFound):
            act(access.person(cast.bob), memory.pk, doer=BY_TEST)


def test_selection_answers_for_each_id_and_undoes_as_one(cast: Cast, now: datetime) -> None:
    mine = [make_memory(owner=cast.alice, content=f"Fact {n}.") for n in range(3)]
    theirs = make_memory(owner=cast.bob)
    public = make_memory(visibility="public")
    team = make_memory(owner=cast.bob, visibility="org", org=cast.org, content="Team fact.")
    viewer = access.person(cast.alice)
    ids = [memory.pk for memory in (*mine, theirs, public, team)]
    outcome = forgetting.forget_many(viewer, ids, doer=BY_TEST, now=now)
    assert set(outcome.forgotten) == {memory.pk for memory in mine}
    assert outcome.not_found == (theirs.pk, team.pk)
    assert [(one.id, one.code) for one in outcome.refused] == [
        (public.pk, "public_memory_read_only")
    ]
    undone = forgetting.restore_batch(viewer, outcome.batch_id, doer=BY_TEST, now=now)
    assert (undone.restored, undone.skipped) == (3, ())
    assert len(active(cast.alice, now)) == 5
    again = forgetting.restore_batch(viewer, outcome.batch_id, doer=BY_TEST, now=now)
    assert again.restored == 0


def test_empty_selection_is_an_error_and_never_all(cast: Cast, now: datetime) -> None:
    make_memory(owner=cast.alice)
    with pytest.raises(errors.InvalidInput):
        forgetting.forget_many(access.person(cast.alice), [], doer=BY_TEST)
    assert len(active(cast.alice, now)) == 1


def test_batch_of_somebody_else_does_not_exist(cast: Cast) -> None:
    memory = make_memory(owner=cast.alice)
    batch = forgetting.forget_many(access.person(cast.alice), [memory.pk], doer=BY_TEST)
    with pytest.raises(errors.NotFound):
        forgetting.restore_batch(access.person(cast.bob), batch.batch_id, doer=BY_TEST)


def test_forget_all_takes_everything_of_one_person_and_undoes(cast: Cast, now: datetime) -> None:
    other = AgentFactory.create()
    for agent in (cast.agent, other):
        make_memory(owner=cast.alice, agent=agent)
    make_memory(owner=cast.alice, visibility="session", conversation_id="c", content="Said here.")
    make_memory(owner=cast.alice, visibility="org", org=cast.org, content="Team fact.")
    make_memory(owner=cast.alice, content="Held.", held_reason="reported")
    kept = make_memory(owner=cast.bob)
    viewer = access.person(cast.alice)
    one = forgetting.forget_all(viewer, agent=other, doer=BY_TEST, now=now)
    assert len(one.forgotten) == 1
    outcome = forgetting.forget_all(viewer, doer=BY_TEST, now=now)
    assert len(outcome.forgotten) == 4
    assert not Memory.objects.own(viewer).filter(archived_at__isnull=True).exists()
    kept.refresh_from_db()
    assert kept.archived_at is None
    undone = forgetting.restore_batch(viewer, outcome.batch_id, doer=BY_TEST, now=now)
    assert undone.restored == 4
    assert Memory.objects.own(viewer).held().count() == 1, "what was held is held again"


def test_forgetting_everything_asks_as_often_for_500_rows_as_for_50(
    cast: Cast, now: datetime
) -> None:
    asked = []
    for owner, count in ((cast.alice, 50), (cast.bob, 500)):
        for n in range(count):
            row = make_memory(owner=owner, content=f"Fact number {n}.")
            if n % 10 == 0:
                embed(row, now)
        viewer = access.person(owner)
        with CaptureQueriesContext(connection) as forgetting_it:
            done = forgetting.forget_all(viewer, doer=BY_TEST)
        assert len(done.forgotten) == count
        asked.append(len(forgetting_it))
    assert asked[0] == asked[1] <= 16


def test_erase_empties_every_place_and_leaves_a_receipt(cast: Cast, now: datetime) -> None:
    viewer = access.person(cast.alice)
    first = make_memory(owner=cast.alice, content="Uses vim.")
    session = CompletedSession.objects.create(
        agent=cast.agent,
        session_id="s",
        conversation_id="c",
        source_platform="web",
        source_visibility="private",
        body_hash="x",
        lock_key="l",
        completed_at=now,
        created_at=now,
        state="failed",
        transcript=[{"text": "I use vim"}],
        extraction_cache={"candidates": []},
    )
    Memory.objects.filter(pk=first.pk).update(session=session)
    second = memories.correct_memory(viewer, first.pk, "Uses helix.", version=1, doer=BY_TEST)
    embed(second, now)
    receipt = forgetting.erase(viewer, second.pk, doer=BY_TEST, now=now)
    assert {place["name"] for place in receipt.places} >= {"memory text", "vectors", "transcripts"}
    assert {"name": "vectors", "rows": 1} in receipt.places
    for row in Memory.objects.all():
        assert (row.content, row.search_vector, row.purged_at) == ("", None, now)
    assert not MemoryEmbedding.objects.exists()
    session.refresh_from_db()
    assert session.transcript is None
    assert session.extraction_cache is None
    assert ErasureReceipt.objects.count() == 2
    assert forgetting.erase(viewer, second.pk, doer=BY_TEST).pk == receipt.pk
    with pytest.raises(errors.NotFound):
        forgetting.restore(viewer, second.pk, doer=BY_TEST)


def test_erasing_an_old_wording_keeps_its_correction(cast: Cast, now: datetime) -> None:
    viewer = access.person(cast.alice)
    first = make_memory(owner=cast.alice, content="Uses vim.")
    second = memories.correct_memory(viewer, first.pk, "Uses helix.", version=1, doer=BY_TEST)
    forgetting.erase(viewer, first.pk, doer=BY_TEST, now=now)
    assert active(cast.alice, now) == {second.content}
    first.refresh_from_db()
    assert first.content == ""


def test_purge_waits_for_the_window_and_spares_what_was_restored(cast: Cast, now: datetime) -> None:
    viewer = access.person(cast.alice)
    gone = make_memory(owner=cast.alice, content="Gone.")
    back = make_memory(owner=cast.alice, content="Back.")
    for memory in (gone, back):
        forgetting.forget(viewer, memory.pk, doer=BY_TEST, now=now)
    forgetting.restore(viewer, back.pk, doer=BY_TEST, now=now)
    assert forgetting.purge_due(now=now + timedelta(days=29)) == 0
    assert forgetting.purge_due(now=now + timedelta(days=30)) == 1
    gone.refresh_from_db()
    back.refresh_from_db()
    assert (gone.content, back.content) == ("", "Back.")
    assert Tombstone.objects.filter(memory=gone).exists(), "the keyed fingerprint stays"


def test_purged_text_is_still_not_learned_again(cast: Cast, now: datetime) -> None:
    viewer = access.person(cast.alice)
    memory = make_memory(owner=cast.alice)
    forgetting.erase(viewer, memory.pk, doer=BY_TEST, now=now)
    again = memories.NewMemory(
        content="PREFERS tea",
        kind="knowledge",
        visibility="public",
        agent=AgentFactory.create(),
        origin="automatic",
        source_platform="slack",
        owner=cast.alice,
    )
    assert memories.create_memory(again).outcome is memories.Outcome.BLOCKED


def test_expired_is_invisible_at_once_and_archived_by_the_job(cast: Cast, now: datetime) -> None:
    memory = make_memory(owner=cast.alice, expires_at=now + timedelta(minutes=1), now=now)
    later = now + timedelta(minutes=1)
    assert active(cast.alice, later) == set()
    memory.refresh_from_db()
    assert memory.archived_at is None, "reading writes nothing"
    assert list(Memory.objects.all().in_state("expired", later)) == [memory]
    assert forgetting.expire_due(now=later) == 1
    assert forgetting.expire_due(now=later) == 0
    memory.refresh_from_db()
    assert memory.archive_reason == "expired"


def test_held_is_unseen_until_approved(cast: Cast, now: datetime) -> None:
    held = make_memory(visibility="public", held_reason="unlinked_actor", owner=cast.alice)
    with pytest.raises(errors.NotFound):
        holding.approve_held(access.person(cast.alice), held.pk, doer=BY_TEST)
    staff = access.person(cast.root)
    holding.approve_held(staff, held.pk, doer=BY_TEST)
    holding.approve_held(staff, held.pk, doer=BY_TEST)
    assert "Prefers tea." in active(cast.charlie, now)


def test_held_is_declined_by_staff_or_by_time(cast: Cast, now: datetime) -> None:
    one = make_memory(visibility="public", held_reason="unlinked_actor", now=now)
    two = make_memory(visibility="public", held_reason="unlinked_actor", content="B.", now=now)
    staff = access.person(cast.root)
    holding.decline_held(staff, one.pk, doer=BY_TEST, now=now)
    holding.decline_held(staff, one.pk, doer=BY_TEST, now=now)
    assert holding.decline_stale_held(now=now + timedelta(days=29)) == 0
    assert holding.decline_stale_held(now=now + timedelta(days=30)) == 1
    two.refresh_from_db()
    assert two.archive_reason == "declined"


def test_report_holds_a_public_memory_at_once(cast: Cast, now: datetime) -> None:
    memory = make_memory(owner=cast.alice, visibility="public")
    with pytest.raises(errors.Forbidden):
        holding.report_public(access.person(cast.bob), memory.pk, reason="not mine", doer=BY_TEST)
    alice = access.person(cast.alice)
    first = holding.report_public(alice, memory.pk, reason="untrue", doer=BY_TEST)
    assert holding.report_public(alice, memory.pk, reason="untrue", doer=BY_TEST) == first
    assert active(cast.bob, now) == set()
    holding.approve_held(access.person(cast.root), memory.pk, doer=BY_TEST)
    assert "Prefers tea." in active(cast.bob, now)
    assert MemoryReport.objects.get().resolved_at is not None


def test_deleting_a_person_erases_theirs_and_keeps_what_is_shared(
    cast: Cast, now: datetime
) -> None:
    private = make_memory(owner=cast.alice)
    shared = make_memory(owner=cast.alice, visibility="org", org=cast.org, content="Team fact.")
    make_personal_token(cast.alice)
    forgetting.delete_person(cast.alice, doer=BY_TEST, now=now)
    assert not Memory.objects.filter(pk=private.pk).exists()
    shared.refresh_from_db()
    assert shared.owner_id is None
    assert active(cast.bob, now) == {"Team fact."}
    cast.alice_slack.refresh_from_db()
    assert cast.alice_slack.user_id is None


def test_batch_names_what_its_person_may_no_longer_touch(cast: Cast) -> None:
    team = make_memory(owner=cast.alice, visibility="org", org=cast.org, content="Team fact.")
    viewer = access.person(cast.alice)
    batch = forgetting.forget_many(viewer, [team.pk], doer=BY_TEST)
    cast.alice.memberships.all().delete()
    undone = forgetting.restore_batch(viewer, batch.batch_id, doer=BY_TEST)
    assert (undone.restored, [one.id for one in undone.skipped]) == (0, [team.pk])


def statements_of_undoing(cast: Cast, count: int, now: datetime) -> int:
    """Forget so many at once, undo it, and say in how many statements."""
    viewer = access.person(cast.alice)
    for number in range(count):
        make_memory(owner=cast.alice, content=f"Fact {number} of {count}.")
    batch = forgetting.forget_all(viewer, doer=BY_TEST, now=now)
    with CaptureQueriesContext(connection) as asked:
        undone = forgetting.restore_batch(viewer, batch.batch_id, doer=BY_TEST, now=now)
    assert (undone.restored, undone.skipped) == (len(batch.forgotten), ())
    return len(asked)


def test_undoing_takes_as_many_statements_for_many_as_for_few(cast: Cast, now: datetime) -> None:
    few = statements_of_undoing(cast, 3, now)
    assert statements_of_undoing(cast, 60, now) == few
    assert len(active(cast.alice, now)) == 63
    assert not Tombstone.objects.exists()


def test_undoing_leaves_out_what_cannot_come_back_and_brings_all_else(
    cast: Cast, now: datetime
) -> None:
    viewer = access.person(cast.alice)
    plain = make_memory(owner=cast.alice, content="Likes oolong.", now=now)
    older = make_memory(owner=cast.alice, content="Sings on Mondays.", now=now)
    newer = memories.correct_memory(
        viewer, older.pk, "Sings on Tuesdays.", version=1, doer=BY_TEST, now=now
    )
    brief = make_memory(
        owner=cast.alice, content="Is in Porto.", expires_at=now + timedelta(hours=1), now=now
    )
    twin = make_memory(owner=cast.alice, content="Rides a tandem.", now=now)
    batch = forgetting.forget_all(viewer, doer=BY_TEST, now=now)
    again = make_memory(owner=cast.alice, content="Rides a tandem.", now=now)
    later = now + timedelta(hours=2)
    undone = forgetting.restore_batch(viewer, batch.batch_id, doer=BY_TEST, now=later)
    assert [(one.id, one.code) for one in undone.skipped] == [(brief.pk, "expired")]
    assert undone.restored == 3
    assert active(cast.alice, later) == {plain.content, newer.content, again.content}
    older.refresh_from_db()
    twin.refresh_from_db()
    assert (older.archived_at, older.superseded_by_id) == (None, newer.pk)
    assert (twin.archived_at, twin.superseded_by_id) == (None, again.pk)


def test_undoing_stops_at_the_quota(cast: Cast, now: datetime, settings: Any) -> None:
    viewer = access.person(cast.alice)
    for number in range(4):
        make_memory(owner=cast.alice, content=f"Fact {number}.")
    batch = forgetting.forget_all(viewer, doer=BY_TEST, now=now)
    make_memory(owner=cast.alice, content="Something new.")
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"active_quota": 3}
    undone = forgetting.restore_batch(viewer, batch.batch_id, doer=BY_TEST, now=now)
    assert undone.restored == 2
    assert {one.code for one in undone.skipped} == {"quota_exceeded"}
    assert len(active(cast.alice, now)) == 3
