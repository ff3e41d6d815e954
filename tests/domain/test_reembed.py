"""A change of model under load: side by side, compared, switched, taken back; no search fails."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from junior_memory import embedding_models, embeddings, reembedding
from junior_memory.access import person
from junior_memory.errors import Conflict
from junior_memory.models import EmbeddingModel, MemoryEmbedding, ModelCall, User
from junior_memory.providers import EmbeddingFailed, ModelName
from junior_memory.search import SearchResult, search_memories
from junior_memory.vector import query_vectors
from tests.cast import Cast
from tests.factories import make_memory
from tests.model_server import ModelServer, Reply, model_server

HOSTED = "openai:some-model"


@pytest.fixture
def double() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


@pytest.fixture(autouse=True)
def _configured(settings: Any, double: ModelServer) -> Iterator[None]:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        "embedder": "local",
        "openai_base_url": double.url,
    }
    query_vectors.clear()
    yield
    query_vectors.clear()


def reembed(*arguments: str) -> str:
    out = io.StringIO()
    call_command("reembed", *arguments, stdout=out)
    return out.getvalue()


def in_use() -> str:
    return str(embedding_models.in_use())


def fill(cast: Cast, now: datetime, count: int = 30) -> None:
    for number in range(count):
        make_memory(content=f"Fact {number} about tea and trains", owner=cast.alice, now=now)


class Searching:
    """Somebody who searches all the time, in a thread, until the block ends."""

    def __init__(self, user: User, now: datetime) -> None:
        self._user, self._now = user, now
        self._over = threading.Event()
        self.found: list[SearchResult] = []
        self.failed: list[BaseException] = []
        self._thread = threading.Thread(target=self._search)

    def _search(self) -> None:
        number = 0
        try:
            while not self._over.is_set():
                number += 1
                query = f"tea number {number % 7}"
                self.found.append(search_memories(person(self._user), query, now=self._now))
        except BaseException as error:  # noqa: BLE001 - told to the test
            self.failed.append(error)
        finally:
            connections.close_all()

    def __enter__(self) -> Searching:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def assert_whole(self) -> None:
        """Assert that every search was answered, by both legs, with a full list."""
        assert not self.failed
        assert self.found
        assert {result.degraded for result in self.found} == {()}
        assert {len(result.hits) for result in self.found} == {10}
        assert all("vector" in hit.legs for hit in self.found[-1].hits)


@pytest.mark.django_db(transaction=True)
def test_switch_and_rollback_under_load_without_a_failed_search(
    cast: Cast, now: datetime, double: ModelServer
) -> None:
    fill(cast, now)
    assert in_use() == "local:wordllama-256"
    with Searching(cast.alice, now) as searching:
        said = reembed("--to", HOSTED, "--switch")
        assert in_use() == HOSTED
        make_memory(content="Learned after the switch: tea", owner=cast.alice, now=now)
        embeddings.repair(now=now)
        while len(searching.found) < 20 and not searching.failed:
            pass
        back = reembed("--rollback")
    searching.assert_whole()
    assert "30 of 30" in said
    assert "agreement with local:wordllama-256: " in said
    assert "search reads local:wordllama-256 again" in back
    assert in_use() == "local:wordllama-256"
    states = dict(EmbeddingModel.objects.values_list("model", "state"))
    assert states == {"wordllama-256": "in_use", "some-model": "previous"}
    model = embedding_models.in_use()
    assert model is not None
    assert reembedding.coverage(model, now=now) == reembedding.Progress(31, 31)
    assert {asked["model"] for asked in double.embedded} == {"some-model"}
    assert ModelCall.objects.filter(provider="openai", operation="embed").exists()


@pytest.mark.django_db
def test_vectors_stand_side_by_side_until_the_switch(cast: Cast, now: datetime) -> None:
    fill(cast, now, 5)
    said = reembed("--to", HOSTED)
    assert in_use() == "local:wordllama-256"
    assert MemoryEmbedding.objects.count() == 10
    assert "run it again with --switch" in said
    assert "5 of 5 memories" in reembed()
    reembed("--to", HOSTED, "--switch")
    assert in_use() == HOSTED
    assert embedding_models.previous() is not None


@pytest.mark.django_db
def test_what_was_cut_off_goes_on_where_it_stopped(
    cast: Cast, now: datetime, double: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "BATCH", 10)
    fill(cast, now, 30)
    double.embedding_replies = [Reply(), Reply(), Reply(status=401)]
    with pytest.raises(CommandError, match="http_401"):
        reembed("--to", HOSTED, "--switch")
    assert in_use() == "local:wordllama-256"
    model = EmbeddingModel.objects.get(model="some-model")
    assert reembedding.coverage(model, now=now) == reembedding.Progress(10, 30)
    asked = len(double.embedded)
    reembed("--to", HOSTED, "--switch")
    texts = [text for body in double.embedded[asked:] for text in body["input"] if text[0] == "F"]
    assert len(texts) == 20
    assert in_use() == HOSTED


@pytest.mark.django_db
def test_search_never_reads_a_model_that_is_not_ready(cast: Cast, now: datetime) -> None:
    fill(cast, now, 3)
    model = embedding_models.prepare(ModelName("fake", "fake-16"), now=now)
    with pytest.raises(Conflict, match="3 memories"):
        reembedding.switch_to(model, now=now)
    assert in_use() == "local:wordllama-256"


@pytest.mark.django_db
def test_rollback_first_writes_what_was_learned_meanwhile(cast: Cast, now: datetime) -> None:
    fill(cast, now, 3)
    reembed("--to", HOSTED, "--switch")
    late = make_memory(content="Learned later", owner=cast.alice, now=now)
    embeddings.repair(now=now)
    local = EmbeddingModel.objects.get(provider="local")
    assert not MemoryEmbedding.objects.filter(embedding_model=local, memory=late).exists()
    reembed("--rollback")
    assert MemoryEmbedding.objects.filter(embedding_model=local, memory=late).exists()
    with pytest.raises(CommandError, match="alone"):
        reembed("--rollback", "--switch")


@pytest.mark.django_db
def test_only_one_model_is_kept_to_go_back_to(cast: Cast, now: datetime, settings: Any) -> None:
    fill(cast, now, 2)
    for size in (16, 32):
        model = embedding_models.prepare(ModelName("fake", f"fake-{size}"), now=now)
        reembedding.write_all(model, now=now)
        outdated = embedding_models.switch(model, now=now)
    assert [str(one) for one in outdated] == ["local:wordllama-256"]
    states = dict(EmbeddingModel.objects.values_list("model", "state"))
    assert states["fake-16"] == "previous"
    assert states["fake-32"] == "in_use"


@pytest.mark.django_db
def test_rate_limits_the_pace(cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(cast, now, 6)
    monkeypatch.setattr(reembedding, "BATCH", 2)
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    model = embedding_models.prepare(ModelName("fake", "fake-16"), now=now)
    assert reembedding.write_all(model, rate=10, now=now) == 6
    assert len(slept) == 3
    assert sum(slept) == pytest.approx(0.6, abs=0.2)


@pytest.mark.django_db
def test_a_model_that_is_not_there_says_why(cast: Cast, double: ModelServer) -> None:
    with pytest.raises(CommandError, match="no embedder 'oracle'"):
        reembed("--to", "oracle")
    with pytest.raises(CommandError, match="wordllama-256 or the path of a folder, not other"):
        reembed("--to", "local:other")
    with pytest.raises(CommandError, match="no model to go back to"):
        reembed("--rollback")
    double.embedding_replies = [Reply(status=404)]
    with pytest.raises(CommandError, match="http_404"):
        reembed("--to", HOSTED)
    double.embedding_replies = [Reply(status=404)]
    with pytest.raises(EmbeddingFailed):
        embedding_models.prepare(ModelName.read(HOSTED), now=datetime.now().astimezone())
