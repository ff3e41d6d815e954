"""A model that does not fit is known at start-up and on /readyz, before anybody searches."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.core import checks

from api.health import check_readiness
from junior_memory import embedder_health, embedding_models, reembedding
from junior_memory.models import ModelCall
from junior_memory.providers import ModelName
from tests.cast import Cast
from tests.factories import make_memory
from tests.model_server import ModelServer, Reply, model_server


@pytest.fixture
def double() -> Iterator[ModelServer]:
    embedder_health.forget_answers()
    with model_server() as served:
        yield served
    embedder_health.forget_answers()


def use(settings: Any, **knobs: Any) -> None:
    embedder_health.forget_answers()
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | knobs


def found() -> list[str]:
    """The ids of what the checks of start-up say about embedders."""
    said = checks.run_checks(databases=["default"])
    ids = [str(one.id) for one in said]
    return [one for one in ids if one.startswith("junior_memory.") and one[-3:-1] == "02"]


def readiness(now: datetime) -> str:
    return check_readiness(now=now)["embedder"]


@pytest.mark.django_db
def test_no_embedder_and_the_local_one_are_ready(settings: Any, now: datetime) -> None:
    for embedder in ("none", "local"):
        use(settings, embedder=embedder)
        assert (found(), readiness(now)) == ([], "ok")


@pytest.mark.django_db
def test_another_model_than_that_of_the_vectors_is_said_until_it_is_switched(
    settings: Any, now: datetime, cast: Cast, double: ModelServer
) -> None:
    use(settings, embedder="local", openai_base_url=double.url)
    make_memory(owner=cast.alice, now=now)
    use(settings, embedder="openai", embedding_model="some-model")
    assert found() == ["junior_memory.E021"]
    assert "reembed" not in readiness(now)
    assert "local:wordllama-256" in readiness(now)
    model = embedding_models.prepare(ModelName("openai", "some-model"), now=now)
    assert found() == ["junior_memory.E021"]
    reembedding.write_all(model, now=now)
    reembedding.switch_to(model, now=now)
    assert (found(), readiness(now)) == ([], "ok")
    use(settings, embedder="local", embedding_model="")
    assert found() == ["junior_memory.W023"], "switched on purpose; the settings lag behind"
    assert readiness(now) == "ok"


@pytest.mark.django_db
def test_wrong_dimensions_are_said(
    settings: Any, now: datetime, cast: Cast, double: ModelServer
) -> None:
    use(
        settings,
        embedder="openai",
        embedding_model="some-model",
        openai_base_url=double.url,
        embedding_dimensions=64,
    )
    assert found() == ["junior_memory.E020"]
    assert "answers with 48 dimensions, not 64" in readiness(now)
    use(settings, embedding_dimensions=48)
    assert found() == []
    embedding_models.adopt(now=now)
    double.dimensions = 32
    use(settings, embedding_dimensions=None)
    assert found() == ["junior_memory.E020"]
    assert "32" in readiness(now)
    double.dimensions = 3000
    use(settings, embedding_dimensions=None)
    assert "cannot be stored" in readiness(now)


@pytest.mark.django_db
def test_what_cannot_work_here_is_said(settings: Any, now: datetime, double: ModelServer) -> None:
    use(settings, embedder="openai")
    assert found() == ["junior_memory.E022"]
    assert "OPENAI_API_KEY" in readiness(now)
    use(settings, embedder="local", embedding_model="other")
    assert found() == ["junior_memory.E022"]
    double.embedding_replies = [Reply(status=401)]
    use(settings, embedder="openai", embedding_model="m", openai_base_url=double.url)
    assert found() == ["junior_memory.E022"]


@pytest.mark.django_db
def test_a_model_that_does_not_answer_just_now_is_no_fault_and_asked_seldom(
    settings: Any, now: datetime, double: ModelServer
) -> None:
    double.embedding_replies = [Reply(status=503)] * 9
    use(settings, embedder="openai", embedding_model="m", openai_base_url=double.url)
    for _ in range(5):
        assert readiness(now) == "ok"
    assert len(double.embedded) == 1
    assert ModelCall.objects.get().outcome == "http_503"
