"""The vector leg: what is near, for whom, and that it never comes out short."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection

from junior_memory import (
    access,
    embedding_models,
    fingerprints,
    forgetting,
    legs,
    lexical,
    search,
    vector,
    vector_index,
)
from junior_memory.access import Source, person
from junior_memory.embeddings import content_hash
from junior_memory.filters import Filters
from junior_memory.lexical.census import Scored
from junior_memory.lexical.leg import best
from junior_memory.models import Memory, MemoryEmbedding, ModelCall, User
from junior_memory.models.embeddings import IN_NO_BATCH, NEVER_IN_BATCH
from junior_memory.providers import ModelName, embedder_for
from junior_memory.providers.fake import FakeEmbedder
from junior_memory.recall import Recall, RecallRequest, recall
from junior_memory.search import search_memories
from tests.cast import Cast
from tests.factories import BY_TEST, OrganizationFactory, make_agent_token, make_memory

in_the_open = pytest.mark.django_db(transaction=True)
"""Committed rows, so that legs run apart, each on its own connection."""


@pytest.fixture(autouse=True)
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEmbedder]:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    embedder = embedder_for(ModelName.read("fake"))
    assert isinstance(embedder, FakeEmbedder)
    for name in ("failing", "is_local", "delay_seconds", "answers_with"):
        monkeypatch.setattr(embedder, name, getattr(embedder, name))
    monkeypatch.setattr(vector_index, "_loaded", {})
    vector.query_vectors.clear()
    yield embedder
    vector.query_vectors.clear()


def bulk(count: int, *, owner: User | None, agent: Any, now: datetime, kind: str = "knowledge",
         word: str = "filler", visibility: str = "") -> None:  # fmt: skip
    """Insert many rows with their vectors, past the write path, which would take minutes."""
    dice = random.Random(count)  # noqa: S311 - the same rows in every run
    model = embedding_models.adopt(now=now)
    assert model is not None
    texts = [f"{word} {dice.randrange(10**9)} {dice.randrange(10**9)}" for _ in range(count)]
    visibility = visibility or ("private" if owner else "public")
    rows = Memory.objects.bulk_create(
        (
            Memory(
                id=uuid.UUID(int=dice.getrandbits(128)),
                content=text,
                kind=kind,
                visibility=visibility,
                owner=owner,
                agent=agent,
                subject_type="general",
                origin="explicit",
                source_platform="api",
                fingerprint=fingerprints.keyed("test", text),
                search_vector=lexical.vector_of(text),
                observed_at=now,
                created_at=now,
            )
            for text in texts
        ),
        batch_size=500,
    )
    vectors = FakeEmbedder().embed(texts).vectors
    MemoryEmbedding.objects.bulk_create(
        (
            MemoryEmbedding(
                memory=row,
                embedding_model=model,
                owner_id=owner.pk if owner else None,
                visibility=visibility,
                content_hash=content_hash(row.content),
                vector=list(near),
                batch=IN_NO_BATCH if visibility == "public" else NEVER_IN_BATCH,
                created_at=now,
            )
            for row, near in zip(rows, vectors, strict=True)
        ),
        batch_size=500,
    )


def load_codes() -> int:
    """Put public vectors into batches and load these; returns how many rows they are."""
    model = embedding_models.in_use()
    assert model is not None
    assert vector_index.pack(model, worth_it_at=1_000)
    vector_index.refresh(model)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE junior_memory_memoryembedding")
    return len(vector_index.loaded(model).codes or ())


def near(viewer: access.Viewer, text: str, now: datetime, *, size: int = 40,
         filters: Filters | None = None) -> Sequence[Any]:  # fmt: skip
    """Ask the leg alone, as search does."""
    model = embedding_models.in_use()
    assert model is not None
    rows = Memory.objects.visible_to(viewer).active(now)
    query = vector.Query(model, text, timeout_seconds=5)
    leg = vector.vector_leg(query, viewer, lambda: rows, size=size, filters=filters or Filters())
    answer = legs.run_legs([leg], limit_ms=10_000)
    assert answer.degraded == ()
    return answer.answers["vector"].lists["vector"]


def exact(viewer: access.Viewer, text: str, now: datetime, size: int) -> list[uuid.UUID]:
    """Compare everything that may be seen, in Python."""
    query = FakeEmbedder().embed([text]).vectors[0]
    seen = Memory.objects.visible_to(viewer).active(now)
    held = MemoryEmbedding.objects.filter(memory__in=seen.values("pk"))
    distances = {
        row.memory_id: 1 - sum(a * b for a, b in zip(row.vector, query, strict=True))
        for row in held
    }
    return sorted(distances, key=lambda one: distances[one])[:size]


def test_what_is_near_in_meaning_is_found_without_a_shared_word(
    cast: Cast, now: datetime, settings: Any
) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}
    pet = make_memory(content="Rex the beagle barks at night.", owner=cast.alice, now=now)
    make_memory(content="Invoices are due on Fridays.", owner=cast.alice, now=now)
    found = search_memories(person(cast.alice), "dog", now=now)
    assert found.hits[0].memory == pet
    assert found.hits[0].match.words == ()
    assert found.hits[0].match.meaning is not None
    assert found.hits[0].legs == ("vector",)
    assert (found.total, found.degraded) == (0, ())


def test_total_counts_words_and_characters_alone(cast: Cast, now: datetime) -> None:
    for text in ("tea in the morning", "coffee at noon", "water"):
        make_memory(content=text, owner=cast.alice, now=now)
    found = search_memories(person(cast.alice), "tea", now=now)
    assert [hit.match.words for hit in found.hits] == [("tea",), (), ()]
    assert found.hits[0].match.meaning == pytest.approx(0.5, abs=0.3)
    assert (found.total, found.relation) == (1, "exact")


def test_search_has_no_cutoff_and_recall_has_the_models(cast: Cast, now: datetime) -> None:
    make_memory(content="alpha beta gamma delta", owner=cast.alice, now=now)
    assert len(search_memories(person(cast.alice), "unrelated words here", now=now).hits) == 1
    assert ask(cast, "unrelated words here", now).memories == ()


def test_everybody_finds_what_they_may_see_and_nothing_else(cast: Cast, now: datetime) -> None:
    other = OrganizationFactory.create(slug="other")
    text = "the vault code is kept in the safe"
    rows = {
        "alice": make_memory(content=text, owner=cast.alice, now=now),
        "bob": make_memory(content=text, owner=cast.bob, now=now),
        "org": make_memory(content=text, owner=cast.bob, visibility="org", org=cast.org, now=now),
        "other": make_memory(content=text, owner=cast.bob, visibility="org", org=other, now=now),
        "public": make_memory(content=text, visibility="public", now=now),
    }
    agent = make_agent_token(cast.agent)[0]
    private = Source(platform="web", key="k", visibility="private")
    viewers = {
        person(cast.alice): {"alice", "org", "public"},
        person(cast.bob): {"bob", "org", "public"},
        person(cast.charlie): {"public"},
        access.NOBODY: set(),
        access.host(agent, actor=cast.alice_slack, source=private): {"alice", "public"},
        access.host(agent, actor=cast.unlinked, source=private): {"public"},
    }
    for viewer, wanted in viewers.items():
        found = {row.id for row in near(viewer, text, now)}
        assert found == {rows[name].pk for name in wanted}


def test_copies_beside_a_vector_grant_nothing(cast: Cast, now: datetime) -> None:
    memory = make_memory(content="the vault code", owner=cast.bob, now=now)
    MemoryEmbedding.objects.update(owner_id=cast.alice.pk)
    assert near(person(cast.alice), "the vault code", now) == []
    MemoryEmbedding.objects.update(owner_id=None, visibility="public", batch=IN_NO_BATCH)
    assert near(person(cast.charlie), "the vault code", now) == []
    assert Memory.objects.get() == memory


@pytest.mark.parametrize("is_loaded", [False, True])
@in_the_open
def test_three_rows_among_thousands_of_others_are_found(
    cast: Cast, now: datetime, is_loaded: bool
) -> None:
    bulk(3_000, owner=None, agent=cast.agent, now=now, word="needle")
    bulk(1_500, owner=cast.bob, agent=cast.agent, now=now, word="needle")
    mine = [
        make_memory(content=f"needle needle thimble {n}", owner=cast.alice, now=now)
        for n in range(3)
    ]
    if is_loaded:
        assert load_codes() == 3_000 // vector_index.BATCH * vector_index.BATCH
    viewer = person(cast.alice)
    rows = near(viewer, "needle", now, size=40)
    assert len(rows) == 40
    assert {memory.pk for memory in mine} <= {row.id for row in rows}
    hits = search_memories(viewer, "needle thimble", limit=40, now=now).hits
    assert len(hits) == 40
    assert {memory.pk for memory in mine} <= {hit.memory.pk for hit in hits}
    wanted = exact(viewer, "needle 12 99", now, 40)
    got = [row.id for row in near(viewer, "needle 12 99", now, size=40)]
    # Vectors of three words have few dimensions that are not 0, so that signs tell less of them.
    assert len(set(wanted) & set(got)) >= (36 if is_loaded else 39)


@in_the_open
def test_narrow_filters_over_a_large_shared_set_come_out_full(cast: Cast, now: datetime) -> None:
    bulk(2_000, owner=None, agent=cast.agent, now=now, word="alpha")
    bulk(45, owner=None, agent=cast.agent, now=now, word="omega", kind="procedure")
    assert load_codes() > 1_900
    found = near(person(cast.charlie), "alpha", now, size=40, filters=Filters(kind="procedure"))
    assert len(found) == 40


def test_inactive_rows_are_never_near(cast: Cast, now: datetime) -> None:
    gone = make_memory(content="needle one", owner=cast.alice, now=now)
    make_memory(
        content="needle two", owner=cast.alice, now=now, expires_at=now + timedelta(hours=1)
    )
    kept = make_memory(content="needle three", owner=cast.alice, now=now)
    forgetting.forget(person(cast.alice), gone.pk, doer=BY_TEST, now=now)
    found = near(person(cast.alice), "needle", now + timedelta(hours=2))
    assert [row.id for row in found] == [kept.pk]


def test_pages_are_cut_from_one_order_when_the_legs_disagree(cast: Cast, now: datetime) -> None:
    bulk(150, owner=cast.alice, agent=cast.agent, now=now, word="needle thimble")
    bulk(90, owner=cast.alice, agent=cast.agent, now=now, word="needle")
    viewer = person(cast.alice)
    pages = [
        search_memories(viewer, "needle thimble 77", limit=10, offset=offset, now=now).hits
        for offset in range(0, 200, 10)
    ]
    ids = [hit.memory.pk for page in pages for hit in page]
    assert len(ids) == len(set(ids)) == 200


def test_on_equal_scores_a_cut_list_keeps_private_rows(now: datetime) -> None:
    def row(number: int, visibility: str) -> Scored:
        return Scored(uuid.UUID(int=number), 0.5, visibility, now, visibility)

    rows = [row(1, "public"), row(2, "private"), row(3, "org"), row(4, "session")]
    assert {each.visibility for each in best(rows, 2)} == {"private", "session"}


@in_the_open
def test_a_failing_embedder_leaves_the_words(cast: Cast, now: datetime, fake: FakeEmbedder) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    make_memory(content="coffee", owner=cast.alice, now=now)
    fake.failing = True
    found = search_memories(person(cast.alice), "tea", now=now)
    assert [hit.memory.content for hit in found.hits] == ["tea"]
    assert (found.degraded, found.total) == (("vector",), 1)


@in_the_open
def test_vectors_of_another_length_are_a_failed_leg_and_no_error(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    fake.answers_with = 32
    found = search_memories(person(cast.alice), "tea", now=now)
    assert (len(found.hits), found.degraded) == (1, ("vector",))


def fail_words(*args: Any, **kwargs: Any) -> Any:
    raise OperationalError("cancelled")


@in_the_open
def test_a_cancelled_lexical_leg_leaves_the_meaning(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    monkeypatch.setattr(search, "find_by_words", fail_words)
    found = search_memories(person(cast.alice), "tea", now=now)
    assert [hit.legs for hit in found.hits] == [("vector",)]
    assert (found.degraded, found.total) == (("lexical",), 0)


@in_the_open
def test_without_any_leg_the_answer_is_empty_and_honest(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch, fake: FakeEmbedder
) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    monkeypatch.setattr(search, "find_by_words", fail_words)
    fake.failing = True
    found = search_memories(person(cast.alice), "tea", now=now)
    assert (found.hits, found.total, found.degraded) == ((), 0, ("lexical", "vector"))


@in_the_open
def test_words_are_looked_for_while_the_query_is_embedded(
    cast: Cast, now: datetime, fake: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    words, embed = search.find_by_words, fake.embed
    # Each waits for the other: one after the other, neither would get past it.
    together = threading.Barrier(2)

    def meeting_words(*args: Any, **kwargs: Any) -> Any:
        together.wait(2)
        return words(*args, **kwargs)

    def meeting_embed(*args: Any, **kwargs: Any) -> Any:
        together.wait(2)
        return embed(*args, **kwargs)

    monkeypatch.setattr(search, "find_by_words", meeting_words)
    monkeypatch.setattr(fake, "embed", meeting_embed)
    found = search_memories(person(cast.alice), "tea one", now=now)
    assert (len(found.hits), found.degraded) == (1, ())


@in_the_open
def test_a_query_is_embedded_once(cast: Cast, now: datetime, fake: FakeEmbedder) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    search_memories(person(cast.alice), "tea one", now=now)
    before = fake.calls
    search_memories(person(cast.alice), "tea one", now=now)
    assert fake.calls == before


@in_the_open
def test_a_late_embedder_is_left_behind(
    cast: Cast, now: datetime, fake: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    monkeypatch.setattr(search, "LEG_LIMIT_MS", 100)
    fake.delay_seconds = 1
    begun = time.monotonic()
    found = search_memories(person(cast.alice), "tea", now=now)
    assert time.monotonic() - begun < fake.delay_seconds, "waited for it"
    assert (len(found.hits), found.degraded) == (1, ("vector",))
    time.sleep(1)


def test_hosted_texts_of_queries_are_on_the_record_once(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    make_memory(content="tea", owner=cast.alice, now=now)
    fake.is_local = False
    for _ in range(3):
        search_memories(person(cast.alice), "tea", now=now)
    assert ModelCall.objects.filter(operation="embed").count() == 1


# Recall.


def ask(cast: Cast, text: str, now: datetime, *, deadline_ms: int = 1500) -> Recall:
    """Recall for Alice in a private conversation."""
    source = Source(platform="web", key="k", visibility="private")
    token = make_agent_token(cast.agent)[0]
    viewer = access.host(token, actor=cast.alice_slack, source=source, conversation_id="c")
    request = RecallRequest(
        viewer=viewer,
        agent=cast.agent,
        conversation_id="c",
        source=source,
        text=text,
        deadline_ms=deadline_ms,
    )
    return recall(request, now=now)


def test_recall_finds_by_meaning(cast: Cast, now: datetime, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "local"}
    make_memory(content="I prefer window seats on night trains.", owner=cast.alice, now=now)
    make_memory(content="Invoices are due on Fridays.", owner=cast.alice, now=now)
    answer = ask(cast, "Reserve a place by the pane in the sleeper railway", now)
    assert [memory.content for memory in answer.memories] in (
        [],
        ["I prefer window seats on night trains."],
    )
    answer = ask(cast, "trains at night: which seat?", now)
    assert [m.content for m in answer.memories] == ["I prefer window seats on night trains."]


@in_the_open
def test_recall_goes_on_by_words_and_names_the_failing_leg(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    make_memory(content="tea with milk", owner=cast.alice, now=now)
    fake.failing = True
    answer = ask(cast, "tea with milk", now)
    assert (len(answer.memories), answer.degraded, answer.timed_out) == (1, ("vector",), False)


@in_the_open
def test_recall_keeps_its_deadline_when_the_embedder_does_not(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    make_memory(content="tea with milk", owner=cast.alice, now=now)
    ask(cast, "milk in the tea", now)
    fake.delay_seconds = 4
    begun = time.monotonic()
    answer = ask(cast, "tea with milk", now, deadline_ms=1_500)
    assert time.monotonic() - begun < fake.delay_seconds, "waited for it"
    assert (len(answer.memories), answer.degraded, answer.timed_out) == (1, ("vector",), False)
    time.sleep(max(0.0, begun + fake.delay_seconds + 0.2 - time.monotonic()))


@in_the_open
def test_recalls_event_owns_what_its_query_cost(
    cast: Cast, now: datetime, fake: FakeEmbedder
) -> None:
    make_memory(content="tea with milk", owner=cast.alice, now=now)
    assert ask(cast, "warm up", now).cost_usd == 0
    fake.is_local = False
    answer = ask(cast, "tea with milk", now)
    call = ModelCall.objects.get()
    assert call.event is not None
    assert (call.recall_id, call.agent_id) == (answer.recall_id, cast.agent.pk)
    assert call.event.cost_usd is None, "nobody publishes what the fake costs"
    assert answer.cost_usd is None


def test_public_rows_cannot_crowd_private_ones_out_of_recall(cast: Cast, now: datetime) -> None:
    mine = make_memory(content="needle in my own haystack", owner=cast.alice, now=now)
    for number in range(60):
        make_memory(content=f"needle haystack {number}", visibility="public", now=now)
    answer = ask(cast, "needle in a haystack", now)
    assert mine.pk in {memory.id for memory in answer.memories}
