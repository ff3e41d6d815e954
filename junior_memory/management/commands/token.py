"""`manage.py token create`: make a bearer token, printed once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from junior_memory import people
from junior_memory.audit import Doer
from junior_memory.errors import JuniorMemoryError
from junior_memory.models import Organization, User

BY_COMMAND = Doer(via="command")


class Command(BaseCommand):
    """Makes tokens for people and for agent hosts."""

    help = "Create a token and print its secret once, last on its line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer `create` for a person or an agent."""
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a token")
        whose = create.add_mutually_exclusive_group(required=True)
        whose.add_argument("--user", metavar="EMAIL")
        whose.add_argument("--agent", metavar="NAME")
        create.add_argument("--scopes", required=True, help="comma-separated")
        create.add_argument("--org", metavar="SLUG", help="the organization an agent writes to")
        create.add_argument("--providers", default="", metavar="P/T,…")
        create.add_argument("--trust-email", action="store_true")
        create.add_argument("--label", default="")

    def handle(self, *_: Any, **options: Any) -> None:
        """Make the token; a missing agent is made, and that is said."""
        try:
            secret = self._for_person(options) if options["user"] else self._for_agent(options)
        except JuniorMemoryError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"shown once: {secret}")

    def _for_person(self, options: dict[str, Any]) -> str:
        if options["org"] or options["providers"] or options["trust_email"]:
            raise CommandError("--org, --providers and --trust-email belong to agent tokens")
        user = User.objects.filter(email=options["user"].strip().lower()).first()
        if user is None:
            raise CommandError("no such person")
        _, secret = people.create_personal_token(
            user, scopes=_words(options["scopes"]), label=options["label"], doer=BY_COMMAND
        )
        return secret

    def _for_agent(self, options: dict[str, Any]) -> str:
        organization = None
        if options["org"]:
            organization = Organization.objects.filter(slug=options["org"]).first()
            if organization is None:
                raise CommandError("no such organization")
        agent, created = people.agent_named(options["agent"], made_by_token=True)
        if created:
            self.stdout.write(f"made the agent {agent.name}; it recalls and learns")
        _, secret = people.create_agent_token(
            agent,
            scopes=_words(options["scopes"]),
            doer=BY_COMMAND,
            organization=organization,
            providers=_words(options["providers"]),
            trust_email=options["trust_email"],
            label=options["label"],
        )
        return secret


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
