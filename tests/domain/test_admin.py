"""Django's admin: people and tokens, never memory content."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from junior_memory import models
from junior_memory.models import Agent, AuditEntry, Memory, User
from tests.cast import Cast
from tests.factories import make_memory, make_personal_token

REGISTERED = ("user", "organization", "membership", "identity", "agent", "location", "apitoken")


@pytest.fixture
def staff(cast: Cast, client: Client) -> Client:
    User.objects.filter(pk=cast.root.pk).update(is_superuser=True)
    client.force_login(User.objects.get(pk=cast.root.pk))
    return client


def test_nothing_that_holds_or_leads_to_content_is_registered() -> None:
    for model in (
        models.Memory,
        models.MemoryEmbedding,
        models.CompletedSession,
        models.ConversationEvent,
        models.Tombstone,
        models.MemoryReport,
    ):
        assert not admin.site.is_registered(model)


@pytest.mark.parametrize("name", REGISTERED)
def test_lists_and_forms_open(staff: Client, cast: Cast, name: str) -> None:
    make_memory(owner=cast.alice, content="Keeps a heron.")
    secret = make_personal_token(cast.alice)
    page = staff.get(reverse(f"admin:junior_memory_{name}_changelist"))
    assert page.status_code == 200
    model = getattr(models, {"apitoken": "ApiToken"}.get(name, name.capitalize()))
    row = model.objects.first()
    if row is not None:
        form = staff.get(reverse(f"admin:junior_memory_{name}_change", args=[row.pk]))
        assert form.status_code == 200
        assert "heron" not in form.content.decode()
        assert secret not in form.content.decode()


def test_topics_are_the_persons_own(staff: Client, cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(never_learn_topics=["heronries"])
    page = staff.get(reverse("admin:junior_memory_user_change", args=[cast.alice.pk]))
    assert "heronries" not in page.content.decode()


def test_deleting_a_person_here_erases_what_is_theirs(staff: Client, cast: Cast) -> None:
    make_memory(owner=cast.alice, content="Keeps a heron.")
    make_memory(owner=cast.alice, visibility="org", org=cast.org, content="Team fact.")
    address = reverse("admin:junior_memory_user_delete", args=[cast.alice.pk])
    assert "heron" not in staff.get(address).content.decode()
    assert staff.post(address, {"post": "yes"}).status_code == 302
    assert not User.objects.filter(pk=cast.alice.pk).exists()
    assert list(Memory.objects.values_list("content", flat=True)) == ["Team fact."]
    assert AuditEntry.objects.get(action="person_deleted").actor == cast.root


def test_linking_here_is_audited(staff: Client, cast: Cast) -> None:
    row = cast.unlinked
    address = reverse("admin:junior_memory_identity_change", args=[row.pk])
    data = {
        "provider": row.provider,
        "tenant": row.tenant,
        "subject": row.subject,
        "display_name": "",
        "user": str(cast.bob.pk),
    }
    assert staff.post(address, data).status_code == 302
    row.refresh_from_db()
    assert row.user == cast.bob
    assert row.linked_at is not None
    assert AuditEntry.objects.get(action="identity_linked").person == cast.bob


def test_token_is_revoked_and_never_deleted_here(staff: Client, cast: Cast) -> None:
    make_personal_token(cast.alice)
    token = models.ApiToken.objects.get()
    staff.post(
        reverse("admin:junior_memory_apitoken_changelist"),
        {"action": "revoke", "_selected_action": [str(token.pk)]},
    )
    token.refresh_from_db()
    assert token.revoked_at is not None
    address = reverse("admin:junior_memory_apitoken_delete", args=[token.pk])
    assert staff.get(address).status_code == 403


def test_people_who_are_not_staff_stay_out(cast: Cast, client: Client) -> None:
    client.force_login(cast.alice)
    assert client.get(reverse("admin:index")).status_code == 302


def test_agent_takes_only_tiers_that_exist(staff: Client) -> None:
    fields = {
        "name": "support",
        "inject": "on",
        "limit": 6,
        "min_score": 0,
        "retrieve_timeout_ms": 1500,
        "save_tier": "user",
    }
    address = reverse("admin:junior_memory_agent_add")
    refused = staff.post(address, fields | {"tiers": ["everyone"]})
    assert refused.status_code == 200
    kept = staff.post(address, fields | {"tiers": ["user", "org"], "daily_budget_usd": "0.50"})
    assert kept.status_code == 302
    agent = Agent.objects.get(name="support")
    assert (agent.tiers, agent.daily_budget_usd) == (["user", "org"], Decimal("0.50"))


def test_a_person_sees_that_staff_set_their_password_or_address(staff: Client, cast: Cast) -> None:
    address = reverse("admin:auth_user_password_change", args=[cast.alice.pk])
    assert staff.get(address).status_code == 200
    assert not AuditEntry.objects.filter(person=cast.alice).exists()
    words = "a heron on the roof"
    body = {"usable_password": "true", "password1": words, "password2": words}
    assert staff.post(address, body).status_code == 302
    change = reverse("admin:junior_memory_user_change", args=[cast.alice.pk])
    form = {"email": "other@example.com", "display_name": "", "is_active": "on"}
    form |= {"email_verified_at_0": "2026-01-01", "email_verified_at_1": "00:00:00"}
    assert staff.post(change, form).status_code == 302
    told = AuditEntry.objects.filter(person=cast.alice).order_by("created_at")
    assert [(one.action, one.actor, one.via) for one in told] == [
        ("password_changed", cast.root, "admin"),
        ("preferences_changed", cast.root, "admin"),
    ]
    browser = Client()
    browser.force_login(User.objects.get(pk=cast.alice.pk))
    shown = browser.get("/settings/activity").content.decode()
    assert "changed your password" in shown
    assert "heron" not in shown
