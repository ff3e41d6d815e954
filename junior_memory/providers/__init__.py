"""Where text becomes vectors. The only package that imports a vendor's library."""

from junior_memory.providers.base import (
    Attempt,
    Embedded,
    Embedder,
    EmbeddingFailed,
    Vector,
    WordVectors,
)
from junior_memory.providers.registry import (
    ModelName,
    UnusableEmbedder,
    configured,
    embedder_for,
    word_vectors,
)

__all__ = [
    "Attempt",
    "Embedded",
    "Embedder",
    "EmbeddingFailed",
    "ModelName",
    "UnusableEmbedder",
    "Vector",
    "WordVectors",
    "configured",
    "embedder_for",
    "word_vectors",
]
