"""Rows for tests. Memories go through the product's own create, so that they are whole."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import factory
from django.utils import timezone

from junior_memory import memories, people
from junior_memory.audit import Doer
from junior_memory.models import (
    Agent,
    ApiToken,
    Identity,
    Membership,
    Memory,
    Organization,
    User,
)

BY_TEST = Doer(via="command")


class UserFactory(factory.django.DjangoModelFactory[User]):
    """A person with a verified e-mail and the password "correct horse"."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"person{n}@example.com")
    email_verified_at = factory.LazyFunction(timezone.now)
    password = factory.django.Password("correct horse")


class OrganizationFactory(factory.django.DjangoModelFactory[Organization]):
    """An organization without members."""

    class Meta:
        model = Organization

    slug = factory.Sequence(lambda n: f"team-{n}")
    name = factory.Sequence(lambda n: f"Team {n}")


class MembershipFactory(factory.django.DjangoModelFactory[Membership]):
    """One person's place in one organization."""

    class Meta:
        model = Membership

    user = factory.SubFactory(UserFactory)
    organization = factory.SubFactory(OrganizationFactory)


class AgentFactory(factory.django.DjangoModelFactory[Agent]):
    """An agent that recalls and learns."""

    class Meta:
        model = Agent

    name = factory.Sequence(lambda n: f"agent-{n}")
    extract = True


class IdentityFactory(factory.django.DjangoModelFactory[Identity]):
    """A provider account, linked to nobody unless `user` is given."""

    class Meta:
        model = Identity

    provider = "slack"
    tenant = "T1"
    subject = factory.Sequence(lambda n: f"U{n}")


def make_memory(
    *,
    content: str = "Prefers tea.",
    owner: User | None = None,
    agent: Agent | None = None,
    visibility: str = "private",
    org: Organization | None = None,
    now: datetime | None = None,
    **fields: Any,
) -> Memory:
    """Create a memory through the domain; private rows need an owner."""
    subject = {"subject_type": "user", "subject_key": str(owner.pk)} if owner else {}
    new = memories.NewMemory(
        **{
            "content": content,
            "kind": "preference" if owner else "knowledge",
            "visibility": visibility,
            "agent": agent or people.agent_named("default")[0],
            "origin": "explicit",
            "source_platform": "api",
            "owner": owner,
            "org": org,
            **subject,
            **fields,
        }
    )
    return memories.create_memory(new, now=now).stored


def make_personal_token(user: User, *scopes: str) -> str:
    """Return the secret of a new personal token."""
    wanted = list(scopes or ("read", "write"))
    return people.create_personal_token(user, scopes=wanted, doer=BY_TEST)[1]


def make_agent_token(
    agent: Agent, *scopes: str, organization: Organization | None = None, **fields: Any
) -> tuple[ApiToken, str]:
    """Return a new agent token and its secret."""
    wanted = list(scopes or ("recall", "sessions", "tools"))
    return people.create_agent_token(
        agent, scopes=wanted, doer=BY_TEST, organization=organization, **fields
    )
