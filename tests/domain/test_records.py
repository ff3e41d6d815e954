"""What a person may read of what was done about them, whoever asks."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from junior_memory import forgetting, records, tombstones
from junior_memory.access import NOBODY, Viewer, person
from junior_memory.errors import NotFound
from junior_memory.memories import NewMemory, create_memory
from junior_memory.models import AuditEntry, Tombstone, User
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory


def forgotten(user: User, now: datetime, content: str = "Lives in Utrecht.") -> Tombstone:
    """Return the mark of a memory that its person forgot."""
    memory = make_memory(owner=user, content=content, now=now)
    forgetting.forget(person(user), memory.pk, doer=BY_TEST, now=now)
    return Tombstone.objects.get(memory=memory, of="content")


def learn(user: User, cast: Cast, now: datetime) -> str:
    """Learn a fact by itself; say what came of it."""
    new = NewMemory(
        content="Lives in Utrecht.",
        kind="knowledge",
        visibility="private",
        agent=cast.agent,
        origin="automatic",
        source_platform="slack",
        owner=user,
        subject_type="user",
        subject_key=str(user.pk),
    )
    return str(create_memory(new, now=now).outcome.value)


def test_a_lifted_mark_stops_nothing_any_more(cast: Cast, now: datetime) -> None:
    mark = forgotten(cast.alice, now)
    assert learn(cast.alice, cast, now) == "blocked"
    records.lift_mark(person(cast.alice), mark.pk, doer=BY_TEST, now=now)
    assert learn(cast.alice, cast, now) == "created"
    assert AuditEntry.objects.filter(action="mark_lifted", person=cast.alice).count() == 1


def test_nobody_lifts_what_is_not_theirs(cast: Cast, now: datetime) -> None:
    mark = forgotten(cast.alice, now)
    for viewer in (person(cast.bob), person(cast.root), NOBODY, Viewer(agent=cast.agent)):
        with pytest.raises(NotFound):
            records.lift_mark(viewer, mark.pk, doer=BY_TEST, now=now)
    assert tombstones.blocked_by(
        tombstones.Scopes(person_ids=(cast.alice.pk,)), "Lives in Utrecht."
    )


def test_nobody_reads_nothing(cast: Cast, now: datetime) -> None:
    forgotten(cast.alice, now)
    for viewer in (NOBODY, Viewer(agent=cast.agent)):
        assert records.marks_of(viewer).rows == ()
        assert records.receipts_of(viewer).rows == ()
        assert records.activity_of(viewer).rows == ()
        assert records.moves_of(viewer) == ()


def test_a_list_goes_on_after_the_last_row(cast: Cast, now: datetime) -> None:
    marks = [
        forgotten(cast.alice, now - timedelta(hours=number // 2), f"Likes island {number}.")
        for number in range(7)
    ]
    viewer, seen, after = person(cast.alice), [], None
    for _ in range(4):
        rows = records.marks_of(viewer, limit=2, after=after)
        seen += [mark.id for mark in rows.rows]
        after = rows.after
    assert after is None
    assert sorted(seen) == sorted(mark.pk for mark in marks)


def test_a_list_is_bounded_whatever_is_asked(cast: Cast, now: datetime) -> None:
    forgotten(cast.alice, now)
    forgotten(cast.alice, now, "Keeps bees.")
    assert len(records.marks_of(person(cast.alice), limit=0).rows) == 1
    assert len(records.marks_of(person(cast.alice), limit=10**9).rows) == 2


def test_a_move_is_offered_until_it_is_undone_or_erased(cast: Cast, now: datetime) -> None:
    make_memory(owner=cast.alice, now=now)
    viewer = person(cast.alice)
    done = forgetting.forget_all(viewer, doer=BY_TEST, now=now)
    assert [move.pk for move in records.moves_of(viewer, now=now)] == [done.batch_id]
    assert records.moves_of(person(cast.bob), now=now) == ()
    assert records.moves_of(viewer, now=now + timedelta(days=31)) == ()
    forgetting.restore_batch(viewer, done.batch_id, doer=BY_TEST, now=now)
    assert records.moves_of(viewer, now=now) == ()


def test_a_move_that_took_nothing_is_not_offered(cast: Cast, now: datetime) -> None:
    forgetting.forget_all(person(cast.alice), doer=BY_TEST, now=now)
    assert records.moves_of(person(cast.alice), now=now) == ()


def test_what_was_said_in_the_memorys_own_words_is_on_the_never_again_list(cast: Cast) -> None:
    """A tool's memory cites the very words that it holds."""
    said = "Prefers window seats."
    memory = make_memory(content=said, owner=cast.alice, utterances=(said,))
    forgetting.forget(person(cast.alice), memory.pk, doer=BY_TEST)
    listed = records.marks_of(person(cast.alice)).rows
    assert [mark.text for mark in listed] == [said]
