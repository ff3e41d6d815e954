"""Create, duplicates, retries, forget, restore, erase, correct."""

from __future__ import annotations

from junior_memory import access, forgetting
from junior_memory.models import Memory
from tests.cast import Cast, assert_sees
from tests.factories import BY_TEST, make_memory


def test_forget_removes_memory_from_every_read(cast: Cast) -> None:
    kept = make_memory(owner=cast.alice, content="Prefers tea.")
    gone = make_memory(owner=cast.alice, content="Drinks coffee in the morning.")
    viewer = access.person(cast.alice)
    forgetting.forget(viewer, gone.pk, doer=BY_TEST)
    from django.utils import timezone

    assert_sees(Memory.objects.visible_to(viewer).active(timezone.now()), exactly=[kept])
    back = forgetting.restore(viewer, gone.pk, doer=BY_TEST)
    assert back.pk == gone.pk
