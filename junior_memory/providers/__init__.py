"""What makes vectors of texts, and what answers in words. Only here is a vendor's library."""

from junior_memory.providers.base import (
    Attempt,
    ChatModel,
    Embedded,
    Embedder,
    EmbeddingFailed,
    Message,
    ModelFailed,
    Question,
    Vector,
    WordVectors,
)
from junior_memory.providers.registry import (
    ModelName,
    UnusableEmbedder,
    chat_model_in_use,
    configured,
    embedder_for,
    word_vectors,
)

__all__ = [
    "Attempt",
    "ChatModel",
    "Embedded",
    "Embedder",
    "EmbeddingFailed",
    "Message",
    "ModelFailed",
    "ModelName",
    "Question",
    "UnusableEmbedder",
    "Vector",
    "WordVectors",
    "chat_model_in_use",
    "configured",
    "embedder_for",
    "word_vectors",
]
