"""Embedders: what they ask, what they make of the answers, and what they never say."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from junior_memory import embedding_models, embeddings
from junior_memory.models import EmbeddingModel, ModelCall
from junior_memory.pricing import price_of
from junior_memory.providers import (
    Embedded,
    EmbeddingFailed,
    ModelName,
    UnusableEmbedder,
    embedder_for,
)
from junior_memory.providers.base import cut_to_tokens
from junior_memory.providers.fake import FakeEmbedder
from junior_memory.providers.local import LocalEmbedder
from junior_memory.providers.openai import BATCH, OpenAIEmbedder
from tests.model_server import ModelServer, Reply, model_server

SENTINEL = "zebra-umbrella-9174"


@pytest.fixture
def double() -> Iterator[ModelServer]:
    with model_server() as served:
        yield served


def hosted(double: ModelServer, model: str = "some-model", **fields: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(model, api_key="k", base_url=double.url, **fields)


def test_local_vectors_are_normalised_and_know_meaning() -> None:
    dog, puppy, tax = LocalEmbedder().embed(["a dog", "a puppy", "income tax"]).vectors

    def near(one: Any, other: Any) -> float:
        return float(sum(a * b for a, b in zip(one, other, strict=True)))

    assert len(dog) == 256
    assert math.isclose(near(dog, dog), 1, abs_tol=1e-5)
    assert near(dog, puppy) > near(dog, tax) + 0.2


def test_local_gives_blank_text_a_vector_of_zeros_and_long_text_one_at_all() -> None:
    blank, long = LocalEmbedder().embed([" ", "word " * 20_000]).vectors
    assert set(blank) == {0.0}
    assert any(long)


def test_local_is_safe_for_many_threads() -> None:
    wanted = LocalEmbedder().embed(["night trains"]).vectors[0]
    found: list[Embedded] = []
    threads = [
        threading.Thread(target=lambda: found.append(LocalEmbedder().embed(["night trains"])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.vectors[0] for one in found] == [wanted] * 8


def test_hosted_asks_in_batches_and_keeps_the_order(double: ModelServer) -> None:
    texts = [f"text number {n}" for n in range(BATCH * 2 + 3)]
    found = hosted(double).embed(texts, timeout_seconds=10)
    assert [len(asked["input"]) for asked in double.embedded] == [BATCH, BATCH, 3]
    wanted = FakeEmbedder("fake-48").embed(texts).vectors
    for got, want in zip(found.vectors, wanted, strict=True):
        assert got == pytest.approx(want, abs=1e-6)
    assert [attempt.outcome for attempt in found.attempts] == ["ok"] * 3
    assert all(attempt.input_tokens for attempt in found.attempts)


def test_what_can_succeed_later_is_tried_again_and_each_attempt_counts(double: ModelServer) -> None:
    double.embedding_replies = [Reply(status=500), Reply(status=429)]
    found = hosted(double).embed(["one"], timeout_seconds=10, attempts=4)
    assert [one.outcome for one in found.attempts] == ["http_500", "rate_limited", "ok"]
    assert len(double.embedded) == 3


def test_what_cannot_succeed_is_tried_once(double: ModelServer) -> None:
    double.embedding_replies = [Reply(status=401), Reply()]
    with pytest.raises(EmbeddingFailed) as failed:
        hosted(double).embed(["one"], timeout_seconds=10, attempts=4)
    assert failed.value.is_permanent
    assert [one.outcome for one in failed.value.attempts] == ["http_401"]
    assert len(double.embedded) == 1


def test_time_limit_holds_for_all_attempts(double: ModelServer) -> None:
    double.embedding_always = Reply(delay_seconds=2, too_late=True)
    begun = time.monotonic()
    with pytest.raises(EmbeddingFailed) as failed:
        hosted(double).embed(["one"], timeout_seconds=0.3, attempts=9)
    assert time.monotonic() - begun < 2, "waited for the first answer"
    assert not failed.value.is_permanent
    assert {one.outcome for one in failed.value.attempts} == {"timeout"}


def test_nobody_listening_is_a_failure_that_may_pass() -> None:
    embedder = OpenAIEmbedder("m", api_key="k", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(EmbeddingFailed) as failed:
        embedder.embed(["one"], timeout_seconds=2)
    assert not failed.value.is_permanent


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"object": "embedding", "index": 0, "embedding": [float("nan"), 1.0]}],
        [{"object": "embedding", "index": 0, "embedding": []}],
        [{"object": "embedding", "index": 7, "embedding": [1.0]}],
    ],
)
def test_an_answer_that_is_no_vector_is_a_failure(double: ModelServer, data: list[Any]) -> None:
    double.embedding_answer = {"object": "list", "model": "m", "data": data}
    with pytest.raises(EmbeddingFailed):
        hosted(double).embed(["one"], timeout_seconds=5)


def test_only_models_that_can_be_shortened_are_asked_to(double: ModelServer) -> None:
    hosted(double, "text-embedding-3-small", dimensions=64).embed(["one"], timeout_seconds=5)
    hosted(double, "some-model", dimensions=48).embed(["one"], timeout_seconds=5)
    assert [asked.get("dimensions") for asked in double.embedded] == [64, None]
    assert hosted(double, "text-embedding-3-small").cutoff == 0.45
    assert hosted(double, "some-model", cutoff=0.3).cutoff == 0.3


def test_long_text_is_cut_for_the_model_alone(double: ModelServer) -> None:
    text = "memory " * 900
    hosted(double).embed([text], timeout_seconds=5)
    sent = double.embedded[0]["input"][0]
    assert text.startswith(sent)
    assert 1_000 < len(sent) < 2_000
    assert cut_to_tokens("短い", 512) == "短い"
    assert len(cut_to_tokens("記" * 4_000, 512)) < 300


@pytest.mark.django_db
def test_logs_hold_no_text_at_any_level(
    double: ModelServer, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    double.embedding_replies = [Reply(status=500), Reply()]
    embedder = hosted(double)
    embedder.embed([SENTINEL], timeout_seconds=5, attempts=2)
    double.embedding_replies = [Reply(status=400)]
    with pytest.raises(EmbeddingFailed) as failed:
        embedder.embed([SENTINEL], timeout_seconds=5)
    assert SENTINEL not in caplog.text
    assert SENTINEL not in repr(failed.value)


def test_settings_name_the_embedder(settings: Any, double: ModelServer) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        "embedder": "openai",
        "embedding_model": "some-model",
        "embedding_dimensions": 48,
        "openai_base_url": double.url,
    }
    embedder = embedder_for(ModelName.read("openai:some-model"))
    assert (embedder.model, embedder.dimensions) == ("some-model", 48)
    assert ModelName.read("local") == ("local", "wordllama-256")
    with pytest.raises(UnusableEmbedder):
        ModelName.read("oracle")
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"openai_base_url": ""}
    with pytest.raises(UnusableEmbedder, match="OPENAI_API_KEY"):
        embedder_for(ModelName.read("openai"))


def test_prices_are_published_ones_or_unknown() -> None:
    assert price_of("openai", "text-embedding-3-small", input_tokens=1000) == Decimal("0.00002")
    assert price_of("openai", "some-model", input_tokens=1000) is None
    assert price_of("openai", "text-embedding-3-small", input_tokens=None) is None


@pytest.mark.django_db
def test_every_paid_attempt_is_on_the_record(double: ModelServer, settings: Any, now: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        "embedder": "openai",
        "embedding_dimensions": 48,
        "openai_base_url": double.url,
    }
    model = EmbeddingModel(
        provider="openai", model="text-embedding-3-small", dimensions=48, state="in_use"
    )
    double.embedding_replies = [Reply(status=503), Reply(), Reply(status=401)]
    embeddings.embed_texts(model, ["four words are here"], timeout_seconds=5, attempts=2)
    with pytest.raises(EmbeddingFailed):
        embeddings.embed_texts(model, ["again"], timeout_seconds=5)
    calls = list(ModelCall.objects.order_by("created_at", "outcome"))
    assert sorted(call.outcome for call in calls) == ["http_401", "http_503", "ok"]
    paid = next(call for call in calls if call.outcome == "ok")
    assert (paid.operation, paid.input_tokens) == ("embed", 4)
    assert paid.cost_usd == Decimal("0.00000008")
    double.embedding_always = Reply(with_usage=False)
    embeddings.embed_texts(model, ["unknown"], timeout_seconds=5)
    assert ModelCall.objects.get(outcome="ok", input_tokens=0).cost_usd is None
    assert embedding_models.embedder_of(model).dimensions == 48


@pytest.mark.django_db
def test_secrets_are_masked_before_they_leave(double: ModelServer, settings: Any) -> None:
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {
        "embedder": "openai",
        "embedding_dimensions": 48,
        "openai_base_url": double.url,
    }
    model = EmbeddingModel(provider="openai", model="text-embedding-3-small", dimensions=48)
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    embeddings.embed_texts(model, [f"the key is {key} today"], timeout_seconds=5)
    assert double.embedded[0]["input"] == ["the key is [secret] today"]
