"""Vectors never decide identity: what is the same is decided by words, or by adjudication."""

from __future__ import annotations

from typing import Any

from junior_memory.models import Memory, MemoryEmbedding
from tests.cast import Cast
from tests.factories import make_memory


def test_two_wordings_with_one_vector_are_two_memories(cast: Cast, settings: Any) -> None:
    """The fake model hashes words, so their order makes no difference to it."""
    settings.JUNIOR_MEMORY = settings.JUNIOR_MEMORY | {"embedder": "fake"}
    first = make_memory(content="Bob owes Alice ten crowns.", owner=cast.alice)
    second = make_memory(content="Alice owes Bob ten crowns.", owner=cast.alice)
    vectors = MemoryEmbedding.objects.filter(memory__in=[first, second])
    assert len({tuple(row.vector) for row in vectors}) == 1
    assert vectors.count() == 2
    assert first.pk != second.pk
    assert Memory.objects.filter(owner=cast.alice).count() == 2


def test_one_wording_is_one_memory_though_nothing_is_embedded(cast: Cast) -> None:
    first = make_memory(content="Bob owes Alice ten crowns.", owner=cast.alice)
    again = make_memory(content="bob owes  ALICE ten crowns", owner=cast.alice)
    assert first.pk == again.pk
    assert not MemoryEmbedding.objects.exists()
