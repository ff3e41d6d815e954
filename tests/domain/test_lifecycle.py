"""Create, duplicates, retries, corrections."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from junior_memory import access, errors, forgetting, memories, people
from junior_memory.conf import conf
from junior_memory.models import Memory, RetryKey, Tombstone
from tests.cast import Cast
from tests.factories import BY_TEST, AgentFactory, UserFactory, make_memory


def new(cast: Cast, content: str = "Prefers tea.", **fields: object) -> memories.NewMemory:
    base = {
        "content": content,
        "kind": "preference",
        "visibility": "private",
        "agent": cast.agent,
        "origin": "explicit",
        "source_platform": "api",
        "owner": cast.alice,
        "subject_type": "user",
        "subject_key": str(cast.alice.pk),
    }
    return memories.NewMemory(**(base | fields))  # type: ignore[arg-type]


def test_content_is_single_spaced_and_trimmed(cast: Cast) -> None:
    assert make_memory(owner=cast.alice, content=" Prefers\n\t tea\x00 . ").content == (
        "Prefers tea ."
    )


@pytest.mark.parametrize(
    "content", ["", "  \n ", "\x00", "\u200b", "\u200d \ufeff", "x" * 4001, "half \ud800 pair"]
)
def test_unfit_content_is_refused_and_stores_nothing(cast: Cast, content: str) -> None:
    with pytest.raises(errors.InvalidInput):
        memories.create_memory(new(cast, content))
    assert not Memory.objects.exists()


def test_four_thousand_characters_fit(cast: Cast) -> None:
    assert memories.create_memory(new(cast, "é" * 4000)).created


def test_secret_is_refused_without_a_trace(cast: Cast) -> None:
    with pytest.raises(errors.SecretRejected):
        memories.create_memory(new(cast, "The key is ghp_" + "a1B2" * 9))
    assert not Memory.objects.exists()


def test_past_expiry_is_refused(cast: Cast, now: datetime) -> None:
    with pytest.raises(errors.InvalidInput):
        memories.create_memory(new(cast, expires_at=now), now=now)


@pytest.mark.parametrize("twin", ["prefers TEA", "Prefers  tea…", "Ｐrefers tea。", "Prefers tea!"])
def test_same_fact_in_other_typography_is_one_memory(cast: Cast, twin: str) -> None:
    first = memories.create_memory(new(cast))
    second = memories.create_memory(new(cast, twin))
    assert not second.created
    assert second.stored.pk == first.stored.pk
    assert Memory.objects.count() == 1


@pytest.mark.parametrize(("one", "other"), [("Likes C", "Likes C#"), ("Uses a-b", "Uses a b")])
def test_other_signs_are_other_facts(cast: Cast, one: str, other: str) -> None:
    memories.create_memory(new(cast, one))
    assert memories.create_memory(new(cast, other)).created


def test_kind_owner_agent_and_visibility_tell_memories_apart(cast: Cast) -> None:
    memories.create_memory(new(cast))
    assert memories.create_memory(new(cast, kind="knowledge")).created
    assert memories.create_memory(new(cast, agent=AgentFactory.create())).created
    assert memories.create_memory(new(cast, owner=cast.bob, subject_key=str(cast.bob.pk))).created
    assert memories.create_memory(new(cast, visibility="public")).created
    assert memories.create_memory(new(cast, visibility="session", conversation_id="c1")).created
    assert memories.create_memory(new(cast, visibility="session", conversation_id="c2")).created


def test_retry_returns_the_first_memory_whatever_it_says(cast: Cast) -> None:
    key = ("api", "alice", "k1")
    first = memories.create_memory(new(cast, retry_key=key))
    again = memories.create_memory(new(cast, "Prefers coffee.", retry_key=key))
    assert (again.created, again.stored.pk) == (False, first.stored.pk)
    assert Memory.objects.count() == 1


def test_retry_key_is_stored_only_as_a_digest(cast: Cast) -> None:
    memories.create_memory(new(cast, retry_key=("api", "alice", "very-telling-key")))
    stored = RetryKey.objects.get().key_hash
    assert "telling" not in stored
    assert stored == Memory.objects.get().idempotency_key


def test_key_that_met_a_duplicate_resolves_to_it_later(cast: Cast) -> None:
    first = memories.create_memory(new(cast))
    memories.create_memory(new(cast, retry_key=("api", "k2")))
    again = memories.create_memory(new(cast, "Something else.", retry_key=("api", "k2")))
    assert again.stored.pk == first.stored.pk


def test_retry_follows_a_chain_to_its_end(cast: Cast) -> None:
    viewer = access.person(cast.alice)
    first = memories.create_memory(new(cast, "Uses A.", retry_key=("api", "k"))).stored
    second = memories.correct_memory(viewer, first.pk, "Uses B.", version=1, doer=BY_TEST)
    third = memories.correct_memory(viewer, second.pk, "Uses C.", version=1, doer=BY_TEST)
    again = memories.create_memory(new(cast, "Uses A.", retry_key=("api", "k")))
    assert again.stored.pk == third.pk
    assert Memory.objects.count() == 3


def test_key_of_a_forgotten_memory_answers_forgotten(cast: Cast) -> None:
    memory = memories.create_memory(new(cast, retry_key=("api", "k"))).stored
    forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST)
    with pytest.raises(errors.Forgotten):
        memories.create_memory(new(cast, retry_key=("api", "k")))
    fresh = memories.create_memory(new(cast, retry_key=("api", "k2")))
    assert fresh.created
    assert not Tombstone.objects.exists(), "asking again lifts the tombstone for good"


def test_expired_twin_makes_room(cast: Cast, now: datetime) -> None:
    key = ("api", "k")
    soon = now + timedelta(hours=1)
    first = memories.create_memory(new(cast, expires_at=soon, retry_key=key), now=now).stored
    later = now + timedelta(hours=2)
    second = memories.create_memory(new(cast, retry_key=key), now=later)
    assert second.created
    first.refresh_from_db()
    assert first.archive_reason == "expired"
    assert memories.create_memory(new(cast, retry_key=key), now=later).stored == second.stored


def test_quota_counts_active_rows_of_one_person_and_agent(
    cast: Cast, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = conf().model_copy(update={"active_quota": 2})
    monkeypatch.setattr(memories, "conf", lambda: small)
    first = memories.create_memory(new(cast, "One.")).stored
    memories.create_memory(new(cast, "Two."))
    with pytest.raises(errors.QuotaExceeded) as caught:
        memories.create_memory(new(cast, "Three."))
    assert caught.value.fields == {"limit": "2", "use": "2"}
    assert memories.create_memory(new(cast, "Two.")).stored.content == "Two."
    forgetting.forget(access.person(cast.alice), first.pk, doer=BY_TEST)
    assert memories.create_memory(new(cast, "Three.")).created


def test_passive_fact_that_was_forgotten_is_blocked_and_counted(cast: Cast) -> None:
    memory = memories.create_memory(new(cast)).stored
    forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST)
    for kind, visibility in (("preference", "private"), ("knowledge", "public")):
        outcome = memories.create_memory(
            new(cast, "prefers tea", origin="automatic", kind=kind, visibility=visibility)
        )
        assert outcome.outcome is memories.Outcome.BLOCKED
    assert Tombstone.objects.get(of="content").blocked_count == 2
    assert Memory.objects.count() == 1


def test_forgotten_fact_in_other_words_is_blocked_while_its_row_exists(cast: Cast) -> None:
    memory = memories.create_memory(
        new(cast, "Takes two sugars in black coffee every morning.")
    ).stored
    forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST)
    reworded = new(cast, "Every morning takes black coffee with two sugars.", origin="automatic")
    assert memories.create_memory(reworded).outcome is memories.Outcome.BLOCKED
    denied = new(cast, "Never takes two sugars in black coffee.", origin="automatic")
    assert memories.create_memory(denied).created
    unlike = new(cast, "Takes the early ferry on Mondays.", origin="automatic")
    assert memories.create_memory(unlike).created


def test_somebody_elses_forgetting_blocks_nothing(cast: Cast) -> None:
    memory = memories.create_memory(new(cast)).stored
    forgetting.forget(access.person(cast.alice), memory.pk, doer=BY_TEST)
    hers = new(cast, origin="automatic", owner=cast.bob, subject_key=str(cast.bob.pk))
    assert memories.create_memory(hers).created


def test_correction_supersedes_and_keeps_what_it_was(cast: Cast, now: datetime) -> None:
    old = memories.create_memory(new(cast, kind="procedure"), now=now).stored
    viewer = access.person(cast.alice)
    fresh = memories.correct_memory(viewer, old.pk, "Prefers coffee.", version=1, doer=BY_TEST)
    old.refresh_from_db()
    assert old.superseded_by_id == fresh.pk
    assert (fresh.kind, fresh.visibility, fresh.subject_key, fresh.origin) == (
        "procedure",
        "private",
        old.subject_key,
        "explicit",
    )
    again = memories.correct_memory(viewer, old.pk, "Prefers coffee", version=1, doer=BY_TEST)
    assert again.pk == fresh.pk
    with pytest.raises(errors.VersionConflict):
        memories.correct_memory(viewer, old.pk, "Prefers milk.", version=1, doer=BY_TEST)


def test_correction_with_a_stale_version_changes_nothing(cast: Cast) -> None:
    old = memories.create_memory(new(cast)).stored
    with pytest.raises(errors.VersionConflict):
        memories.correct_memory(
            access.person(cast.alice), old.pk, "Prefers milk.", version=7, doer=BY_TEST
        )
    old.refresh_from_db()
    assert old.superseded_at is None


def test_correction_of_case_alone_is_a_correction(cast: Cast) -> None:
    old = memories.create_memory(new(cast, "likes rust.")).stored
    fresh = memories.correct_memory(
        access.person(cast.alice), old.pk, "Likes Rust.", version=1, doer=BY_TEST
    )
    assert fresh.content == "Likes Rust."
    assert fresh.pk != old.pk


def test_correction_into_another_memory_supersedes_into_it(cast: Cast) -> None:
    old = memories.create_memory(new(cast, "Lives in Porto.")).stored
    other = memories.create_memory(new(cast, "Lives in Lisbon.")).stored
    merged = memories.correct_memory(
        access.person(cast.alice), old.pk, "lives in Lisbon", version=1, doer=BY_TEST
    )
    assert merged.pk == other.pk
    assert Memory.objects.count() == 2


def test_stranger_cannot_correct(cast: Cast) -> None:
    old = memories.create_memory(new(cast)).stored
    with pytest.raises(errors.NotFound):
        memories.correct_memory(
            access.person(cast.bob), old.pk, "Prefers milk.", version=1, doer=BY_TEST
        )


def test_public_memory_is_not_for_correcting(cast: Cast) -> None:
    public = make_memory(owner=cast.alice, visibility="public")
    with pytest.raises(errors.PublicMemoryReadOnly):
        memories.correct_memory(
            access.person(cast.alice), public.pk, "Prefers milk.", version=1, doer=BY_TEST
        )


def test_old_conversation_does_not_bring_a_corrected_fact_back(cast: Cast, now: datetime) -> None:
    old = memories.create_memory(new(cast, "Lives in Porto."), now=now).stored
    fresh = memories.correct_memory(
        access.person(cast.alice),
        old.pk,
        "Lives in Lisbon.",
        version=1,
        doer=BY_TEST,
        now=now + timedelta(days=1),
    )
    said_before = new(cast, "Lives in Porto.", origin="automatic", observed_at=now)
    outcome = memories.create_memory(said_before, now=now + timedelta(days=2))
    assert (outcome.created, outcome.stored.pk) == (False, fresh.pk)
    said_after = new(
        cast, "Lives in Porto.", origin="automatic", observed_at=now + timedelta(days=3)
    )
    assert memories.create_memory(said_after, now=now + timedelta(days=3)).created


def test_supersede_marks_only_the_owners_active_rows(cast: Cast) -> None:
    mine = memories.create_memory(new(cast, "Uses vim.")).stored
    theirs = make_memory(owner=cast.bob, content="Uses vim.")
    created, replaced = memories.supersede(new(cast, "Uses helix."), replaces=(mine.pk, theirs.pk))
    assert created.created
    assert replaced == [mine.pk]
    theirs.refresh_from_db()
    assert theirs.superseded_at is None


@pytest.mark.parametrize(
    "broken",
    [
        {"visibility": "secret"},
        {"kind": "gossip"},
        {"owner": None},
        {"visibility": "session", "conversation_id": None},
        {"visibility": "org"},
        {"subject_type": "general", "subject_key": "x"},
        {"subject_type": "user", "subject_key": None},
        {"content": ""},
        {"archived_at": "now"},
    ],
)
def test_database_refuses_rows_that_cannot_be(
    cast: Cast, now: datetime, broken: dict[str, object]
) -> None:
    memory = make_memory(owner=cast.alice)
    row = {
        field.attname: getattr(memory, field.attname)
        for field in Memory._meta.concrete_fields
        if field.name not in {"id", "search_vector"}
    }
    row |= {"fingerprint": "other", "idempotency_key": None}
    values = {k: (now if v == "now" else v) for k, v in broken.items()}
    if "owner" in values:
        values = {"owner_id": None}
    with pytest.raises(IntegrityError), transaction.atomic():
        Memory.objects.create(**(row | values))


@pytest.mark.django_db(transaction=True)
def test_fifty_identical_creates_at_once_leave_one_row() -> None:
    alice = UserFactory.create()
    agent, _ = people.agent_named("default")
    results: list[memories.Created] = []
    failures: list[BaseException] = []
    gate = threading.Barrier(50)

    def create() -> None:
        try:
            gate.wait(30)
            results.append(
                memories.create_memory(
                    memories.NewMemory(
                        content="Prefers tea.",
                        kind="preference",
                        visibility="private",
                        agent=agent,
                        origin="explicit",
                        source_platform="api",
                        owner=alice,
                        subject_type="user",
                        subject_key=str(alice.pk),
                    )
                )
            )
        except BaseException as error:  # noqa: BLE001
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=create) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert Memory.objects.count() == 1
    assert sum(result.created for result in results) == 1
    assert len({result.stored.pk for result in results}) == 1


def test_asking_for_a_held_fact_makes_it_count(cast: Cast, now: datetime) -> None:
    held = make_memory(
        owner=cast.alice, origin="automatic", held_reason="unlinked_actor", content="Likes herons."
    )
    again = new(cast, "Likes herons.", origin="automatic")
    assert memories.create_memory(again).stored.pk == held.pk
    asked = memories.create_memory(new(cast, "Likes herons."))
    assert asked.created
    assert asked.stored.held_at is None


@pytest.mark.django_db(transaction=True)
def test_parallel_creates_never_exceed_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = UserFactory.create()
    agent, _ = people.agent_named("default")
    small = conf().model_copy(update={"active_quota": 3})
    monkeypatch.setattr(memories, "conf", lambda: small)
    gate = threading.Barrier(12)
    refused: list[errors.QuotaExceeded] = []

    def create(number: int) -> None:
        try:
            gate.wait(30)
            make_memory(owner=alice, agent=agent, content=f"Fact number {number}.")
        except errors.QuotaExceeded as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=create, args=[number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert Memory.objects.count() == 3
    assert len(refused) == 9
