"""The people of the tests, and what each of them may see.

*alice* owns private memories and has two identities; *bob* shares her organization; *charlie*
belongs nowhere; *unlinked* is an identity with no user; *root* is staff.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from junior_memory import people
from junior_memory.models import Agent, Identity, Memory, Organization, User
from tests import factories


@dataclass(frozen=True, slots=True)
class Cast:
    """Everyone."""

    alice: User
    bob: User
    charlie: User
    root: User
    org: Organization
    agent: Agent
    alice_slack: Identity
    alice_web: Identity
    bob_slack: Identity
    charlie_slack: Identity
    unlinked: Identity


def make_cast() -> Cast:
    """Create the cast."""
    alice = factories.UserFactory.create(email="alice@example.com", display_name="Alice")
    bob = factories.UserFactory.create(email="bob@example.com", display_name="Bob")
    charlie = factories.UserFactory.create(email="charlie@example.com", display_name="Charlie")
    root = factories.UserFactory.create(
        email="root@example.com", display_name="Root", is_staff=True
    )
    org = factories.OrganizationFactory.create(slug="acme", name="Acme team")
    for user in (alice, bob):
        factories.MembershipFactory.create(user=user, organization=org)
    agent, _ = people.agent_named("default")
    return Cast(
        alice=alice,
        bob=bob,
        charlie=charlie,
        root=root,
        org=org,
        agent=agent,
        alice_slack=factories.IdentityFactory.create(subject="UALICE", user=alice),
        alice_web=factories.IdentityFactory.create(
            provider="web", tenant="app", subject="alice", user=alice
        ),
        bob_slack=factories.IdentityFactory.create(subject="UBOB", user=bob),
        charlie_slack=factories.IdentityFactory.create(subject="UCHARLIE", user=charlie),
        unlinked=factories.IdentityFactory.create(subject="UNOBODY"),
    )


def assert_sees(
    seen: Iterable[Memory], *, exactly: Iterable[Memory], never: Iterable[Memory] = ()
) -> None:
    """Assert the exact visible set; a row too many is called what it is."""
    got = {memory.pk for memory in seen}
    wanted = {memory.pk for memory in exactly}
    leaked = got - wanted | got & {memory.pk for memory in never}
    assert not leaked, f"leaked: {sorted(map(str, leaked))}"
    assert got == wanted, f"missing: {sorted(map(str, wanted - got))}"
