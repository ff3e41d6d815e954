"""`manage.py org create SLUG`: make an organization and its memberships."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from junior_memory import people
from junior_memory.errors import JuniorMemoryError
from junior_memory.models import Membership, User


class Command(BaseCommand):
    """Makes organizations; members must exist already."""

    help = "Create an organization (or find one) and add members."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer `create`."""
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make an organization")
        create.add_argument("slug")
        create.add_argument("--name", default="")
        create.add_argument("--member", action="append", default=[], metavar="EMAIL")

    def handle(self, *_: Any, **options: Any) -> None:
        """Add every member or none."""
        emails = [email.strip().lower() for email in options["member"]]
        users = list(User.objects.filter(email__in=emails))
        missing = sorted(set(emails) - {user.email for user in users})
        if missing:
            raise CommandError(f"no such person: {', '.join(missing)}")
        try:
            with transaction.atomic():
                organization, created = people.create_organization(
                    options["slug"], name=options["name"]
                )
                for user in users:
                    Membership.objects.get_or_create(organization=organization, user=user)
        except JuniorMemoryError as error:
            raise CommandError(error.message) from error
        word = "created" if created else "exists"
        self.stdout.write(f"{organization.slug} {word}, {organization.memberships.count()} members")
