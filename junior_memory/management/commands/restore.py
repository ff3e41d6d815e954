"""`manage.py restore FILE [--check]`: bring a dump back, or prove that it can be."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from junior_memory import backups
from junior_memory.doctor import State, worst


class Command(BaseCommand):
    """Restores into the empty configured database, or with --check into a server of its own."""

    help = "Restore a dump into the configured, empty database; compare counts and checksums."
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file; offer the drill."""
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--check",
            action="store_true",
            help="restore into an empty server of its own, compare, remove it: touches nothing",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Restore and print what was found; exit code 1 when something differs."""
        bring_back = backups.drill if options["check"] else backups.restore
        try:
            findings = bring_back(options["file"])
        except backups.BackupFailed as error:
            raise CommandError(str(error)) from None
        for finding in findings:
            mark = finding.state if finding.state is State.OK else finding.state.upper()
            self.stdout.write(f"{mark:<4}  {finding.name:<18}{finding.seen}")
            if finding.remedy:
                self.stdout.write(f"{'':<24}→ {finding.remedy}")
        if worst(findings) is State.FAIL:
            sys.exit(1)
        if not options["check"]:
            self.stdout.write("Now run manage.py migrate, then manage.py doctor.")
