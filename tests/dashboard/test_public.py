"""Public memory: reported by its author or subject, taken out and put back by staff."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory.models import AuditEntry, Memory, MemoryReport
from tests.cast import Cast
from tests.dashboard.conftest import SignIn, text
from tests.factories import make_memory


@pytest.fixture
def fact(cast: Cast) -> Memory:
    """Return a public memory that Alice wrote, about nobody."""
    return make_memory(
        content="The office closes at noon.",
        visibility="public",
        owner=cast.alice,
        subject_type="general",
        subject_key=None,
    )


def is_active(memory: Memory) -> bool:
    """True when it is remembered."""
    return Memory.objects.active(timezone.now()).filter(pk=memory.pk).exists()


def test_its_author_reports_it_and_it_is_out_at_once(
    cast: Cast, fact: Memory, alice_client: Client
) -> None:
    url = f"/memories/{fact.pk}"
    assert "Report this memory" in text(alice_client.get(url))
    answer = alice_client.post(f"{url}/report", {"report-reason": "It closes at four."})
    assert answer["location"] == "/memories"
    page = text(alice_client.get("/memories"))
    assert "Reported: nobody sees it" in page
    assert "at noon" not in page
    assert not is_active(fact)
    assert MemoryReport.objects.get().reason == "It closes at four."


@pytest.mark.parametrize("reason", ["", "   ", "x" * 201])
def test_a_report_needs_a_reason_of_bounded_length(
    fact: Memory, alice_client: Client, reason: str
) -> None:
    answer = alice_client.post(f"/memories/{fact.pk}/report", {"report-reason": reason})
    assert answer.status_code == 422
    assert '<details class="reason" open>' in text(answer)
    assert is_active(fact)


def test_others_are_not_offered_the_report_and_may_not(
    fact: Memory, charlie_client: Client
) -> None:
    url = f"/memories/{fact.pk}"
    assert "Report this memory" not in text(charlie_client.get(url))
    answer = charlie_client.post(f"{url}/report", {"report-reason": "I do not like it."})
    assert answer.status_code == 403
    assert is_active(fact)


def test_private_memory_is_forgotten_not_reported(cast: Cast, alice_client: Client) -> None:
    own = make_memory(owner=cast.alice)
    assert "Report this memory" not in text(alice_client.get(f"/memories/{own.pk}"))
    answer = alice_client.post(f"/memories/{own.pk}/report", {"report-reason": "Why not."})
    assert answer.status_code == 422
    assert is_active(own)


def test_staff_take_it_out_and_its_author_reads_why(
    cast: Cast, fact: Memory, sign_in: SignIn
) -> None:
    root = sign_in(cast.root)
    assert "Remove for everyone" in text(root.get(f"/memories/{fact.pk}"))
    root.post(f"/public/{fact.pk}/remove", {"remove-reason": "Out of date."})
    assert not is_active(fact)
    page = text(root.get("/memories"))
    assert "Removed for everyone." in page
    assert f'action="/public/{fact.pk}/restore"' in page
    activity = text(sign_in(cast.alice).get("/settings/activity"))
    assert "Staff removed a public memory of yours" in activity
    assert "Out of date." in activity


def test_undo_puts_it_back_and_so_does_a_reason_later(
    cast: Cast, fact: Memory, sign_in: SignIn
) -> None:
    root = sign_in(cast.root)
    root.post(f"/public/{fact.pk}/remove", {"remove-reason": "Out of date."})
    page = text(root.get("/system/public"))
    assert "at noon" in page
    assert "root@example.com: “Out of date.”" in page
    root.post(f"/public/{fact.pk}/restore")
    assert is_active(fact)
    root.post(f"/public/{fact.pk}/remove", {"remove-reason": "Out of date."})
    root.post(f"/public/{fact.pk}/restore", {"reason": "It is right after all."})
    assert is_active(fact)
    reasons = AuditEntry.objects.filter(action="restored_public").values_list("reason", flat=True)
    assert set(reasons) == {"Taken back by who did it.", "It is right after all."}
    assert "Nothing was removed." in text(root.get("/system/public"))


def test_putting_back_needs_a_reason_that_fits(cast: Cast, fact: Memory, sign_in: SignIn) -> None:
    root = sign_in(cast.root)
    root.post(f"/public/{fact.pk}/remove", {"remove-reason": "Out of date."})
    for reason in ("", "x" * 201):
        answer = root.post(f"/public/{fact.pk}/restore", {"reason": reason}, follow=True)
        assert "Give a reason" in text(answer)
        assert not is_active(fact)


def test_nobody_but_staff_moderates(fact: Memory, alice_client: Client) -> None:
    assert "Remove for everyone" not in text(alice_client.get(f"/memories/{fact.pk}"))
    for url in (f"/public/{fact.pk}/remove", f"/public/{fact.pk}/restore"):
        assert alice_client.post(url, {"remove-reason": "x", "reason": "x"}).status_code == 403
        assert alice_client.get(url).status_code in {403, 405}
        assert Client().post(url).status_code == 302
    assert alice_client.get("/system/public").status_code == 403
    assert is_active(fact)
