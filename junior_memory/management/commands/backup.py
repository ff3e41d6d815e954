"""`manage.py backup FILE`: dump everything, with what a restore is compared with."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from junior_memory import backups


class Command(BaseCommand):
    """Writes a dump in pg_dump's custom format and a manifest beside it."""

    help = "Dump the database to a file, with a manifest of counts and checksums beside it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the file; offer to leave out what can be made again."""
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--without-vectors",
            action="store_true",
            help="leave vectors out; the worker makes them again, which a hosted model is paid for",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Dump, and say how much it was."""
        dump: Path = options["file"]
        try:
            manifest = backups.take(dump, vectors=not options["without_vectors"])
        except backups.BackupFailed as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.strerror}: {error.filename}") from None
        self.stdout.write(
            f"{dump}: {len(manifest.tables)} tables, {manifest.rows} rows,"
            f" {dump.stat().st_size:,} bytes\n"
            "It holds what people wrote. Keep MEMORY_FINGERPRINT_KEY with it, but elsewhere."
        )
