"""Decisions on held memories: taken back, in a race, beside a twin, over quota, out of time."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from junior_memory import access, forgetting, holding, memories, moderation
from junior_memory.errors import Expired, Forbidden, NotFound, QuotaExceeded
from junior_memory.models import AuditEntry, Memory, MemoryReport, Tombstone, Visibility
from tests.cast import Cast
from tests.factories import BY_TEST, UserFactory, make_memory
from tests.processes import wait_for


def is_active(memory: Memory) -> bool:
    return Memory.objects.active(timezone.now()).filter(pk=memory.pk).exists()


def actions(memory: Memory) -> list[str]:
    entries = AuditEntry.objects.filter(memory_id=memory.pk).order_by("created_at")
    return list(entries.values_list("action", flat=True))


@pytest.fixture
def waiting(cast: Cast) -> Memory:
    return make_memory(owner=cast.alice, content="Hers, held.", held_reason="unlinked")


def test_an_approval_taken_back_waits_again_and_is_found_no_more(
    cast: Cast, waiting: Memory
) -> None:
    viewer = access.person(cast.alice)
    holding.approve_held(viewer, waiting.pk, doer=BY_TEST)
    assert is_active(waiting)
    for _ in range(2):
        back = holding.undo_decision(viewer, waiting.pk, doer=BY_TEST)
        assert back.held_at is not None
    assert not is_active(waiting)
    assert Memory.objects.held().filter(pk=waiting.pk).exists()
    assert actions(waiting) == ["approved", "undecided"]


def test_a_refusal_taken_back_lifts_its_marks_and_waits_a_full_time(
    cast: Cast, waiting: Memory
) -> None:
    viewer, now = access.person(cast.alice), timezone.now()
    holding.decline_held(viewer, waiting.pk, doer=BY_TEST, now=now)
    assert Tombstone.objects.filter(memory=waiting).exists()
    later = now + timedelta(days=29)
    holding.undo_decision(viewer, waiting.pk, doer=BY_TEST, now=later)
    assert not Tombstone.objects.filter(memory=waiting).exists()
    waiting.refresh_from_db()
    assert (waiting.held_at, waiting.archived_at, waiting.purge_at) == (later, None, None)
    assert holding.decline_stale_held(now=later + timedelta(days=29)) == 0
    holding.approve_held(viewer, waiting.pk, doer=BY_TEST, now=later)
    assert is_active(waiting)


def test_a_refusal_that_is_erased_cannot_be_taken_back(cast: Cast, waiting: Memory) -> None:
    viewer, now = access.person(cast.alice), timezone.now()
    holding.decline_held(viewer, waiting.pk, doer=BY_TEST, now=now)
    assert forgetting.purge_due(now=now + timedelta(days=30)) == 1
    with pytest.raises(NotFound):
        holding.undo_decision(viewer, waiting.pk, doer=BY_TEST)


def test_there_is_nothing_to_take_back_where_nothing_was_held(cast: Cast) -> None:
    viewer = access.person(cast.alice)
    plain = make_memory(owner=cast.alice)
    gone = make_memory(owner=cast.alice, content="Gone.", held_reason="unlinked")
    holding.approve_held(viewer, gone.pk, doer=BY_TEST)
    forgetting.forget(viewer, gone.pk, doer=BY_TEST)
    for memory in (plain, gone):
        with pytest.raises(NotFound):
            holding.undo_decision(viewer, memory.pk, doer=BY_TEST)
    assert is_active(plain)


@pytest.mark.parametrize("who", ["bob", "charlie", "root"])
def test_nobody_takes_anothers_decision_back(cast: Cast, waiting: Memory, who: str) -> None:
    holding.approve_held(access.person(cast.alice), waiting.pk, doer=BY_TEST)
    with pytest.raises(NotFound):
        holding.undo_decision(access.person(getattr(cast, who)), waiting.pk, doer=BY_TEST)
    assert is_active(waiting)


@pytest.mark.parametrize(("origin", "marks"), [("explicit", 0), ("automatic", 1)])
def test_approving_what_was_asked_for_in_so_many_words_lifts_its_marks(
    cast: Cast, origin: str, marks: int
) -> None:
    viewer = access.person(cast.alice)
    held = make_memory(owner=cast.alice, content="Hers.", held_reason="unlinked", origin=origin)
    gone = make_memory(owner=cast.alice, content="Hers.")
    forgetting.forget(viewer, gone.pk, doer=BY_TEST)
    holding.approve_held(viewer, held.pk, doer=BY_TEST)
    assert is_active(held)
    assert Tombstone.objects.filter(memory=gone).count() == marks


def test_approving_what_is_remembered_already_joins_it_and_settles_the_report(cast: Cast) -> None:
    first = make_memory(owner=cast.alice, content="A piano.", visibility="public")
    holding.report_public(access.person(cast.alice), first.pk, reason="No longer.", doer=BY_TEST)
    twin = make_memory(owner=cast.alice, content="A piano.", visibility="public")
    assert twin.pk != first.pk
    for _ in range(2):
        assert holding.approve_held(access.person(cast.root), first.pk, doer=BY_TEST) == twin
    first.refresh_from_db()
    assert (first.held_at, first.superseded_by_id) == (None, twin.pk)
    assert MemoryReport.objects.get().resolved_at is not None
    assert actions(first) == ["reported", "approved"]


def test_a_twin_that_has_expired_makes_room(cast: Cast, now: datetime) -> None:
    held = make_memory(
        owner=cast.alice, content="Hers.", held_reason="unlinked", now=now - timedelta(days=3)
    )
    twin = make_memory(
        owner=cast.alice,
        content="Hers.",
        now=now - timedelta(days=2),
        expires_at=now - timedelta(days=1),
    )
    assert twin.pk != held.pk
    holding.approve_held(access.person(cast.alice), held.pk, doer=BY_TEST, now=now)
    held.refresh_from_db()
    twin.refresh_from_db()
    assert (held.held_at, twin.archive_reason) == (None, "expired")


def test_what_has_expired_or_is_over_quota_is_not_approved(cast: Cast, settings: Any) -> None:
    viewer, now = access.person(cast.alice), timezone.now()
    old = make_memory(
        owner=cast.alice,
        content="Old.",
        held_reason="unlinked",
        expires_at=now + timedelta(hours=1),
    )
    with pytest.raises(Expired):
        holding.approve_held(viewer, old.pk, doer=BY_TEST, now=now + timedelta(hours=2))
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"active_quota": 1}
    make_memory(owner=cast.alice, content="One.")
    extra = make_memory_held(cast)
    with pytest.raises(QuotaExceeded):
        holding.approve_held(viewer, extra.pk, doer=BY_TEST)
    assert not is_active(extra)


def make_memory_held(cast: Cast) -> Memory:
    """Return a held row past the quota that a create would keep."""
    row = make_memory(owner=cast.bob, content="Two.", held_reason="unlinked")
    Memory.objects.filter(pk=row.pk).update(owner=cast.alice, subject_key=str(cast.alice.pk))
    return row


def test_time_declines_on_the_record_and_settles_reports(cast: Cast) -> None:
    now = timezone.now()
    public = make_memory(owner=cast.alice, content="A piano.", visibility="public")
    holding.report_public(access.person(cast.alice), public.pk, reason="No.", doer=BY_TEST, now=now)
    assert holding.decline_stale_held(now=now + timedelta(days=30)) == 1
    assert holding.decline_stale_held(now=now + timedelta(days=30)) == 0
    assert MemoryReport.objects.get().resolved_at is not None
    last = AuditEntry.objects.filter(memory_id=public.pk).order_by("created_at").last()
    assert last is not None
    assert (last.action, last.via, last.actor, last.person) == (
        "declined",
        "worker",
        None,
        cast.alice,
    )
    holding.undo_decision(
        access.person(cast.root), public.pk, doer=BY_TEST, now=now + timedelta(days=31)
    )
    assert MemoryReport.objects.get().resolved_at is None


def test_a_host_that_acts_for_staff_is_no_moderator(cast: Cast) -> None:
    public = make_memory(owner=cast.alice, content="A piano.", visibility="public")
    removed = make_memory(content="A harp.", visibility="public")
    root = access.person(cast.root)
    holding.report_public(access.person(cast.alice), public.pk, reason="No.", doer=BY_TEST)
    moderation.remove_public(root, removed.pk, reason="Why.", doer=BY_TEST)
    acting = access.Viewer(user=cast.root, agent=cast.agent)
    for viewer in (acting, access.person(cast.alice), access.NOBODY):
        for act in (moderation.remove_public, moderation.restore_public):
            with pytest.raises(Forbidden):
                act(viewer, public.pk, reason="Why.", doer=BY_TEST)
        assert not moderation.reports_of(viewer, [public.pk])
        assert not moderation.removed_public(viewer)
    assert set(moderation.reports_of(root, [public.pk])) == {public.pk}
    assert list(moderation.removed_public(root)) == [removed]


def test_staff_find_what_they_can_bring_back_latest_first(cast: Cast) -> None:
    root, now = access.person(cast.root), timezone.now()
    rows = [make_memory(content=f"Piano {n}.", visibility="public") for n in range(3)]
    for number, memory in enumerate(rows):
        moment = now + timedelta(minutes=number)
        moderation.remove_public(root, memory.pk, reason="Why.", doer=BY_TEST, now=moment)
    moderation.restore_public(root, rows[0].pk, reason="Why.", doer=BY_TEST)
    assert list(moderation.removed_public(root)) == [rows[2], rows[1]]
    forgetting.purge_due(now=now + timedelta(days=31))
    assert not moderation.removed_public(root)


def test_removing_takes_the_older_wordings_along(cast: Cast) -> None:
    old = make_memory(owner=cast.alice, content="The piano is old.", visibility="public")
    created, replaced = memories.supersede(
        memories.NewMemory(
            content="The piano is new.",
            kind="knowledge",
            visibility=Visibility.PUBLIC,
            agent=cast.agent,
            origin="explicit",
            source_platform="api",
            owner=cast.alice,
        ),
        replaces=[old.pk],
    )
    assert replaced == [old.pk]
    root = access.person(cast.root)
    moderation.remove_public(root, created.stored.pk, reason="Why.", doer=BY_TEST)
    old.refresh_from_db()
    assert old.archive_reason == "admin_removed"
    assert list(moderation.removed_public(root)) == [created.memory]


@pytest.mark.django_db(transaction=True)
def test_who_stores_the_same_public_fact_meanwhile_wins_and_approving_joins_them() -> None:
    fact: dict[str, Any] = {
        "content": "A piano.",
        "visibility": "public",
        "kind": "knowledge",
        "subject_type": "general",
        "subject_key": None,
    }
    staff, author, other = (UserFactory.create(is_staff=n == 0) for n in range(3))
    held = make_memory(owner=author, held_reason="unlinked", **fact)
    inserted, commit = threading.Event(), threading.Event()
    outcome: list[object] = []

    def store() -> None:
        with transaction.atomic():
            make_memory(owner=other, **fact)
            inserted.set()
            commit.wait(10)
        connections.close_all()

    def approve() -> None:
        try:
            outcome.append(holding.approve_held(access.person(staff), held.pk, doer=BY_TEST))
        except Exception as error:  # noqa: BLE001 - the main thread asserts
            outcome.append(error)
        finally:
            connections.close_all()

    writer, approver = threading.Thread(target=store), threading.Thread(target=approve)
    writer.start()
    assert inserted.wait(10)
    approver.start()
    try:
        wait_for(somebody_waits_for_a_row, seconds=10)
    finally:
        commit.set()
        writer.join()
        approver.join()
    (stands,) = outcome
    assert stands == Memory.objects.active(timezone.now()).get(content="A piano.")
    assert stands != held
    held.refresh_from_db()
    assert (held.held_at, held.superseded_by) == (None, stands)


def somebody_waits_for_a_row() -> bool:
    """True while a statement waits for another transaction's end."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND wait_event_type = 'Lock' AND wait_event = 'transactionid'"
        )
        return bool(cursor.fetchone()[0])
