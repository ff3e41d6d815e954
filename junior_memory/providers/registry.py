"""Embedders by name, `openai:text-embedding-3-small`; one object of each in a process."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from junior_memory.conf import conf
from junior_memory.providers.base import ChatModel, Embedder, WordVectors

DEFAULT_MODELS = {
    "local": "wordllama-256",
    "openai": "text-embedding-3-small",
    "fake": "fake-64",
}
"""The model of a provider that is named alone; the keys are all providers there are."""


class UnusableEmbedder(Exception):
    """An embedder that cannot work here: unknown, not installed, without its key. Says why."""


class ModelName(NamedTuple):
    """A model as people name it, `provider:model`."""

    provider: str
    model: str

    @classmethod
    def read(cls, text: str) -> ModelName:
        """Read `PROVIDER[:MODEL]`; raises UnusableEmbedder for a provider that does not exist."""
        provider, _, model = text.partition(":")
        if provider not in DEFAULT_MODELS:
            known = ", ".join(sorted(DEFAULT_MODELS))
            raise UnusableEmbedder(f"there is no embedder {provider!r}; there are {known}")
        return cls(provider, model or DEFAULT_MODELS[provider])

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


def configured() -> ModelName | None:
    """Return the model that the settings ask for, None without an embedder."""
    knobs = conf()
    if knobs.embedder == "none":
        return None
    return ModelName(knobs.embedder, knobs.embedding_model or DEFAULT_MODELS[knobs.embedder])


def embedder_for(name: ModelName, *, dimensions: int | None = None) -> Embedder:
    """Return the embedder of a model; raises UnusableEmbedder with the reason.

    `dimensions` are those of vectors that exist already; without them the settings' count.
    """
    knobs = conf()
    if name.provider == "openai":
        asked = dimensions or (knobs.embedding_dimensions if name == configured() else None)
        return _openai(
            name.model,
            knobs.openai_api_key.get_secret_value(),
            knobs.openai_base_url,
            asked,
            knobs.embedding_cutoff,
        )
    if name.provider == "local":
        return _local(name.model)
    if name.provider == "fake":
        return _fake(name.model)
    raise UnusableEmbedder(f"there is no embedder {name.provider!r}")


def word_vectors() -> WordVectors | None:
    """Return what makes static vectors of words, None where the library is not installed.

    They rank the fused top once more, whichever model makes the vectors of memories.
    """
    from junior_memory.providers import local

    return local.word_vectors if local.is_installed() else None


@lru_cache(maxsize=4)
def _local(model: str) -> Embedder:
    from junior_memory.providers import local

    if model != local.WORDLLAMA:
        raise UnusableEmbedder(f"the local model is {local.WORDLLAMA}, not {model}")
    if not local.is_installed():
        raise UnusableEmbedder("the local embedder is not installed (wordllama)")
    return local.LocalEmbedder()


@lru_cache(maxsize=8)
def _openai(
    model: str, key: str, base_url: str, dimensions: int | None, cutoff: float | None
) -> Embedder:
    if not key and not base_url:
        raise UnusableEmbedder("OPENAI_API_KEY is not set")
    from junior_memory.providers.openai import OpenAIEmbedder

    return OpenAIEmbedder(
        model,
        # An endpoint of one's own may ask for none; the library wants a word all the same.
        api_key=key or "none",
        base_url=base_url,
        dimensions=dimensions,
        cutoff=cutoff,
    )


@lru_cache(maxsize=8)
def _fake(model: str) -> Embedder:
    from junior_memory.providers.fake import FakeEmbedder

    try:
        return FakeEmbedder(model)
    except ValueError:
        raise UnusableEmbedder("a fake model's name ends in its dimensions: fake-64") from None


def chat_model_in_use() -> ChatModel | None:
    """Return the model that answers in words, None when the settings name none.

    `gpt-x` is served by OpenAI or by whoever answers at OPENAI_BASE_URL. Raises UnusableEmbedder.
    """
    knobs = conf()
    wanted = getattr(knobs, "ai_model", "").strip()
    if not wanted:
        return None
    if wanted.startswith("fake:"):
        return _fake_chat(wanted.partition(":")[2])
    raise UnusableEmbedder("there is no chat model yet")


@lru_cache(maxsize=8)
def _fake_chat(model: str) -> ChatModel:
    from junior_memory.providers.fake import FakeChatModel

    return FakeChatModel(model=model)
