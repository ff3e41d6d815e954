"""`manage.py person create EMAIL`: make a person and a one-time sign-in link."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from junior_memory import people
from junior_memory.conf import conf
from junior_memory.errors import JuniorMemoryError


class Command(BaseCommand):
    """Makes people; the address counts as verified by whoever runs this."""

    help = "Create a person (or find one) and print a one-time sign-in link."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer `create`."""
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a person with a verified address")
        create.add_argument("email")
        create.add_argument("--staff", action="store_true", help="may see overview and system")

    def handle(self, *_: Any, **options: Any) -> None:
        """Print the link last on its line, so that a script can cut it off."""
        try:
            user = people.create_person(options["email"], staff=options["staff"])
        except JuniorMemoryError as error:
            raise CommandError(error.message) from error
        uid, token = people.sign_in_token(user)
        path = reverse("sign_in_confirm", args=[uid, token])
        self.stdout.write(
            f"{user.email} signs in once, within 24 hours, at {conf().base_url}{path}"
        )
