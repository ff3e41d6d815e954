"""Models by name, `openai:text-embedding-3-small`; one object of each in a process."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from junior_memory.conf import conf
from junior_memory.providers.base import (
    Attempt,
    ChatModel,
    Embedder,
    ModelFailed,
    Question,
    WordVectors,
)

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
        return _local(name.model, knobs.embedding_cutoff)
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
def _local(model: str, cutoff: float | None) -> Embedder:
    from junior_memory.providers import folder, local

    if "/" in model:
        try:
            return folder.FolderEmbedder(model, cutoff=cutoff)
        except folder.UnusableFolder as error:
            raise UnusableEmbedder(f"the folder {model} cannot be used: {error}") from None
    if model != local.WORDLLAMA:
        raise UnusableEmbedder(
            f"the local model is {local.WORDLLAMA} or the path of a folder, not {model}"
        )
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
        api_key=key,
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

    It is served by OpenAI, or by whoever answers at OPENAI_BASE_URL. One that cannot work is a
    model all the same: it fails at every question, for good (see `chat_model_fault`).
    """
    knobs = conf()
    wanted = knobs.ai_model.strip()
    if not wanted:
        return None
    if wanted.startswith("fake:"):
        return _fake_chat(wanted.partition(":")[2])
    if chat_model_fault():
        return _Unusable(wanted)
    return _openai_chat(
        wanted.removeprefix("openai:"),
        knobs.openai_api_key.get_secret_value(),
        knobs.openai_base_url,
        knobs.model_context_tokens,
    )


def chat_model_fault() -> str:
    """Say why the chat model cannot work, by the settings alone; empty when it can."""
    knobs = conf()
    wanted = knobs.ai_model.strip()
    if not wanted or wanted.startswith("fake:"):
        return ""
    if not knobs.openai_api_key.get_secret_value() and not knobs.openai_base_url:
        return "AI_MEMORY_MODEL is set, OPENAI_API_KEY is not"
    return ""


class _Unusable:
    """A chat model that is named but cannot be asked."""

    provider = "openai"
    max_input_tokens = 1_000

    def __init__(self, model: str) -> None:
        self.model = model

    def ask(
        self,
        question: Question,  # noqa: ARG002
        *,
        timeout_seconds: float,  # noqa: ARG002
        paid: Callable[[Attempt], None],  # noqa: ARG002
    ) -> str:
        """Raise ModelFailed."""
        raise ModelFailed("unusable", is_permanent=True)


@lru_cache(maxsize=8)
def _openai_chat(model: str, key: str, base_url: str, context_tokens: int) -> ChatModel:
    from junior_memory.providers.chat import OpenAIChatModel

    return OpenAIChatModel(model, api_key=key, base_url=base_url, context_tokens=context_tokens)


@lru_cache(maxsize=8)
def _fake_chat(model: str) -> ChatModel:
    from junior_memory.providers.fake import FakeChatModel

    return FakeChatModel(model=model)
