"""`manage.py translations`: bring the catalogs up to date with the templates and the code."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from dashboard.catalog import collect, read_catalog, write_catalog


class Command(BaseCommand):
    """Adds what is new, drops what is gone, compiles; people write the words themselves."""

    help = "Update and compile dashboard/locale; names what is not translated yet."

    def handle(self, *_: Any, **__: Any) -> None:
        """Print each text that has no translation."""
        texts = collect()
        for language, _name in settings.LANGUAGES:
            if language == settings.LANGUAGE_CODE:
                continue
            known = read_catalog(language)
            catalog = {text: known.get(text, ()) for text in texts}
            write_catalog(language, catalog)
            missing = [text.one for text, said in sorted(catalog.items()) if not all(said or ("",))]
            for one in missing:
                self.stdout.write(f"{language}: {one}")
            self.stdout.write(f"{language}: {len(catalog)} texts, {len(missing)} not translated")
