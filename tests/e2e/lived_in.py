"""A deployment in which something of everything happened, and the address of every page."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.db import connection
from django.urls import reverse
from django.utils import timezone

from junior_memory import admin_reads, capture, events, forgetting, holding, invitations, people
from junior_memory.access import person
from junior_memory.memories import correct_memory
from junior_memory.models import CompletedSession, Conflict, MemoryUse, ModelCall, Tombstone
from junior_memory.passwords import reset_token
from tests.cast import Cast
from tests.factories import BY_TEST, make_memory

LONG = "Prefers " + "very " * 60 + "long walks along the Wattenmeer to 北海の海岸 and السواحل."


def live(cast: Cast) -> dict[str, str]:
    """Let things happen to *root*, who is staff; return the address of every page by its name."""
    root, now = cast.root, timezone.now()
    for number in range(27):
        make_memory(owner=root, content=f"Fact number {number}.", now=now - timedelta(days=number))
    wide = make_memory(owner=root, content=LONG)
    used = make_memory(owner=root, content="Never deploys the billing service on Fridays.")
    _use(cast, used.pk)
    old = make_memory(owner=root, content="Drinks green tea.")
    new = correct_memory(person(root), old.pk, "Drinks coffee.", version=old.version, doer=BY_TEST)
    gone = make_memory(owner=root, content="Rows on Sundays.")
    forgetting.forget(person(root), gone.pk, doer=BY_TEST)
    Tombstone.objects.update(blocked_count=3, last_blocked_at=now)
    erased = make_memory(owner=root, content="Owes Bob a dinner.")
    forgetting.erase(person(root), erased.pk, doer=BY_TEST)
    public = make_memory(owner=root, content="The office has a garden.", visibility="public")
    reported = make_memory(owner=cast.alice, content="It closes at noon.", visibility="public")
    holding.report_public(person(cast.alice), reported.pk, reason="At four.", doer=BY_TEST)
    held = make_memory(
        content="The lobby has a piano.", visibility="public", held_reason=capture.HELD_UNLINKED
    )
    first = make_memory(owner=root, content="Lives in Husum.")
    second = make_memory(owner=root, content="Lives in Kiel.")
    Conflict.objects.create(first=first, second=second, created_at=now)
    people.create_personal_token(root, scopes=["read"], label="Backup", doer=BY_TEST)
    invitations.invite("dora@example.com", doer=BY_TEST)
    read = admin_reads.open_read(root, cast.alice, reason="A ticket of theirs.", doer=BY_TEST)
    make_memory(owner=cast.alice, content="Keeps bees.")
    _fail(cast)
    return {
        "list": "/memories",
        "search": "/memories?q=deploys",
        "nothing found": "/memories?q=zeppelin",
        "replaced": "/memories?state=superseded",
        "expired": "/memories?state=expired",
        "forgotten": "/memories?state=forgotten",
        "add": "/memories/new",
        "long": f"/memories/{wide.pk}",
        "used": f"/memories/{used.pk}",
        "corrected": f"/memories/{new.pk}",
        "public": f"/memories/{public.pk}",
        "held": f"/memories/{held.pk}",
        "forgotten one": f"/memories/{gone.pk}",
        "receipt": f"/memories/{erased.pk}",
        "correct": f"/memories/{used.pk}/correct",
        "erase": f"/memories/{used.pk}/erase",
        "inbox": "/inbox",
        "what-if": "/recall",
        "conversation": "/conversations/c-1",
        "settings": "/settings",
        "paper": "/settings/paper",
        "activity": "/settings/activity",
        "receipts": "/settings/receipts",
        "never again": "/settings/never-learn-again",
        "overview": "/overview",
        "overview by model": "/overview?split=model&days=7",
        "calls": "/overview/calls",
        "budget": "/overview/budget",
        "events": "/overview/events",
        "changes": "/overview/changes",
        "present": "/overview/present",
        "system": "/system",
        "removed": "/system/public",
        "reads": "/system/reads",
        "audit": "/system/audit",
        "read": f"/system/reads/{read.pk}",
        "people": "/people",
        "people, none found": "/people?q=zeppelin",
        "missing": "/nowhere",
    }


def outside(cast: Cast) -> dict[str, str]:
    """Return the address of every page that is seen without being signed in."""
    _, token = invitations.invite("dora@example.com", doer=BY_TEST)
    return {
        "sign-in": "/sign-in",
        "sign-in, mailed": "/sign-in?sent",
        "sign-in, changed": "/sign-in?changed",
        "sign-in by link": reverse("sign_in_confirm", args=people.sign_in_token(cast.alice)),
        "sign-in by a dead link": "/sign-in/x/y/",
        "forgotten": "/reset-password",
        "forgotten, mailed": "/reset-password?sent",
        "new password": reverse("password_new", args=reset_token(cast.bob)),
        "new password by a dead link": "/reset-password/x/y/",
        "join": reverse("invitation", args=[token]),
        "join by a dead link": "/invitations/x/",
        "missing": "/nowhere",
    }


def _use(cast: Cast, memory_id: UUID) -> None:
    """Put a memory into a prompt, in a conversation that it was learned in, too."""
    now = timezone.now()
    call = ModelCall.objects.create(
        operation="extraction", provider="test", model="m", cost_usd=Decimal("0.10"),
        outcome="ok", created_at=now,
    )  # fmt: skip
    one = events.CapturedMemory(
        id=memory_id, kind="preference", visibility="private", observed_at=now
    )
    event = events.record_event(
        events.MEMORIES_CAPTURED, events.MemoriesCaptured(memories=[one]),
        conversation_id="c-1", agent=cast.agent, owner=cast.root, now=now, calls=[call],
    )  # fmt: skip
    MemoryUse.objects.create(
        memory_id=memory_id, event=event, viewer=cast.root, conversation_id="c-1", rank=1,
        leg="lexical", used_at=now,
    )  # fmt: skip


def _fail(cast: Cast) -> None:
    """Let a session and a model call fail, and a budget run out."""
    now = timezone.now()
    CompletedSession.objects.create(
        agent=cast.agent, session_id="slack:1", conversation_id="c", owner=cast.alice,
        source_platform="slack", source_visibility="private", body_hash="h", lock_key="l",
        completed_at=now, created_at=now, state="failed", reason="attempts_exhausted", attempts=5,
        finished_at=now, transcript=[],
    )  # fmt: skip
    ModelCall.objects.create(
        operation="extraction", provider="test", model="m", outcome="timeout", agent=cast.agent,
        cost_usd=Decimal("0.02"), created_at=now,
    )  # fmt: skip
    cast.agent.daily_budget_usd = Decimal("0.01")
    cast.agent.save()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")
