"""The operator's commands: explicit selectors, content hidden, everything audited."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from junior_memory import people
from junior_memory.models import AdminRead, Agent, ApiToken, AuditEntry, Organization, User
from tests.cast import Cast
from tests.factories import make_memory


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_person_create_prints_a_link_that_signs_in_once() -> None:
    line = run("person", "create", "New.Person@Example.com", "--staff").strip()
    user = User.objects.get(email="new.person@example.com")
    assert user.is_staff
    assert user.email_verified_at is not None
    link = line.split()[-1]
    uid, token = link.rstrip("/").split("/")[-2:]
    assert link.endswith(reverse("sign_in_confirm", args=[uid, token]))
    assert people.user_for_sign_in(uid, token) == user
    assert run("person", "create", "new.person@example.com")
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_person_create_refuses_what_is_no_address() -> None:
    with pytest.raises(CommandError):
        run("person", "create", "nobody")


def test_org_create_adds_members_or_none(cast: Cast) -> None:
    assert "2 members" in run(
        "org", "create", "new-team", "--member", "alice@example.com", "--member", "bob@example.com"
    )
    with pytest.raises(CommandError, match=r"nobody@example\.com"):
        run("org", "create", "other", "--member", "nobody@example.com")
    assert not Organization.objects.filter(slug="other").exists()


def test_token_create_for_an_agent_makes_it_and_says_so(cast: Cast) -> None:
    out = run(
        "token", "create", "--agent", "helper", "--scopes", "recall,sessions", "--org", "acme"
    )
    assert "made the agent helper" in out
    secret = out.strip().split()[-1]
    token = people.find_token(secret)
    assert token is not None
    assert token.organization == cast.org
    assert Agent.objects.get(name="helper").extract
    assert secret not in str(list(ApiToken.objects.values()))


def test_token_create_for_a_person(cast: Cast) -> None:
    secret = run("token", "create", "--user", "ALICE@example.com", "--scopes", "read").split()[-1]
    token = people.find_token(secret)
    assert token is not None
    assert token.user == cast.alice
    for wrong in (
        ("--user", "alice@example.com", "--scopes", "report"),
        ("--user", "alice@example.com", "--scopes", "sessions"),
        ("--user", "nobody@example.com", "--scopes", "read"),
        ("--user", "alice@example.com", "--scopes", "read", "--org", "acme"),
        ("--agent", "helper", "--scopes", "read"),
    ):
        with pytest.raises(CommandError):
            run("token", "create", *wrong)


def test_memory_search_needs_selectors_and_hides_content(cast: Cast) -> None:
    memory = make_memory(owner=cast.alice, content="Keeps a heron.")
    make_memory(owner=cast.bob, content="Keeps a heron too.")
    for missing in (("--visibility", "private"), ("--owner", "alice@example.com"), ()):
        with pytest.raises(CommandError):
            run("memory", "search", *missing)
    select = ("--visibility", "private", "--owner", "alice@example.com")
    out = run("memory", "search", *select)
    assert f"id={memory.pk}" in out
    assert out.count("id=") == 1
    assert "heron" not in out
    assert "heron" not in run("memory", "search", *select, "heron")
    assert run("memory", "search", *select, "zebra").strip() == "nothing matched"
    with pytest.raises(CommandError):
        run("memory", "search", *select, "--limit", "many")


def test_memory_content_is_shown_for_a_reason_that_the_owner_sees(cast: Cast) -> None:
    memory = make_memory(owner=cast.alice, content="Keeps a heron.")
    for half in (
        ("--show-content",),
        ("--show-content", "--reason", "ticket 7"),
        ("--show-content", "--reason", "ticket 7", "--as", "bob@example.com"),
        ("--show-content", "--as", "root@example.com"),
    ):
        with pytest.raises(CommandError):
            run("memory", "show", str(memory.pk), *half)
    assert not AdminRead.objects.exists()
    why = ("--show-content", "--reason", "ticket 7", "--as", "root@example.com")
    assert "Keeps a heron." in run("memory", "show", str(memory.pk), *why)
    entry = AuditEntry.objects.get(action="read_as_admin")
    assert (entry.person, entry.actor, entry.reason) == (cast.alice, cast.root, "ticket 7")
    assert "heron" not in run("memory", "show", str(memory.pk))
    for unknown in ("not-an-id", "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(CommandError):
            run("memory", "show", unknown)


@pytest.mark.django_db
def test_purge_says_what_it_did() -> None:
    assert run("purge").strip() == "0 memories erased, 0 expired, 0 transcripts erased"
