"""Held memories: in no list but their own until a person decides."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory import capture
from junior_memory.models import Memory
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import make_memory


@pytest.fixture
def held(cast: Cast) -> Memory:
    """Return a public fact that waits for staff."""
    return make_memory(
        content="The lobby has a piano.",
        visibility="public",
        held_reason=capture.HELD_UNLINKED,
        origin="automatic",
    )


def is_active(pk: UUID) -> bool:
    """True when it is remembered."""
    return Memory.objects.active(timezone.now()).filter(pk=pk).exists()


def test_held_memory_is_seen_by_those_who_decide_alone(
    cast: Cast, held: Memory, sign_in: SignIn
) -> None:
    root = sign_in(cast.root)
    assert "piano" in text(root.get("/memories?state=held"))
    assert "A public fact from somebody" in text(root.get(f"/memories/{held.pk}"))
    assert "piano" not in text(root.get("/memories"))
    for user in (cast.alice, cast.charlie):
        client = sign_in(user)
        assert "piano" not in text(client.get("/memories?state=held")), "leaked"
        assert client.get(f"/memories/{held.pk}").status_code == 404


def test_approved_is_remembered(cast: Cast, held: Memory, sign_in: SignIn) -> None:
    root = sign_in(cast.root)
    for _ in range(2):
        assert root.post(f"/memories/{held.pk}/approve").status_code == 302
    assert is_active(held.pk)
    assert "piano" in text(sign_in(cast.charlie).get("/memories"))


def test_declined_is_gone_also_with_htmx(cast: Cast, held: Memory, sign_in: SignIn) -> None:
    root = sign_in(cast.root)
    url = f"/memories/{held.pk}/decline"
    part = text(root.post(url, {"next": "/memories?state=held"}, headers=HTMX))
    assert 'id="results"' in part
    assert "piano" not in part
    assert not is_active(held.pk)
    assert "piano" not in text(root.get("/memories?state=held"))


def test_approved_with_htmx_draws_its_row(cast: Cast, held: Memory, sign_in: SignIn) -> None:
    url = f"/memories/{held.pk}/approve"
    part = text(sign_in(cast.root).post(url, {"next": "/memories?state=held"}, headers=HTMX))
    assert part.startswith(f'<li class="memory" id="memory-{held.pk}" data-state="active"')


def test_others_decide_nothing(cast: Cast, held: Memory, alice_client: Client) -> None:
    for verb in ("approve", "decline"):
        assert alice_client.post(f"/memories/{held.pk}/{verb}").status_code == 404
    held.refresh_from_db()
    assert held.held_at is not None
