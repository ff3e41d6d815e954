"""`manage.py reembed`: change the embedding model while search goes on."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from junior_memory import clock, embedding_models, reembedding, vector_index
from junior_memory.errors import JuniorMemoryError
from junior_memory.models import EmbeddingModel
from junior_memory.providers import EmbeddingFailed, ModelName, UnusableEmbedder
from junior_memory.reembedding import Progress

SHOWN_EVERY_SECONDS = 1.0


class Command(BaseCommand):
    """Writes vectors by another model beside those in use, compares, switches, goes back."""

    help = (
        "Embed every memory by another model beside the one in use. Can be cut off and run again. "
        "Without options: which models there are and how far they have come."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer the model, the pace, the switch and the way back."""
        parser.add_argument("--to", metavar="PROVIDER[:MODEL]", help="local, openai:MODEL …")
        parser.add_argument("--dimensions", type=int, help="of a model not known by name")
        parser.add_argument("--rate", type=float, default=0, help="memories a second; 0: no limit")
        parser.add_argument("--switch", action="store_true", help="let search read it when done")
        parser.add_argument("--rollback", action="store_true", help="go back to the model before")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do what was asked; failures of the model say how to go on."""
        if options["rollback"] and (options["to"] or options["switch"]):
            raise CommandError("--rollback goes alone")
        if options["switch"] and not options["to"]:
            raise CommandError("--switch needs --to")
        if options["rate"] < 0:
            raise CommandError("--rate is not negative")
        self._shown_at = 0.0
        try:
            if options["rollback"]:
                model = reembedding.roll_back(rate=options["rate"], report=self._show)
                self.stdout.write(f"search reads {model} again")
            elif options["to"]:
                self._reembed(options)
            else:
                self._list()
        except UnusableEmbedder as error:
            raise CommandError(str(error)) from None
        except EmbeddingFailed as error:
            raise CommandError(
                f"the model failed ({error.reason}); run the same command again to go on"
            ) from None
        except JuniorMemoryError as error:
            raise CommandError(error.message) from None

    def _reembed(self, options: dict[str, Any]) -> None:
        now = clock.now()
        name = ModelName.read(options["to"])
        model = embedding_models.prepare(name, now=now, dimensions=options["dimensions"])
        written = reembedding.write_all(model, rate=options["rate"], report=self._show)
        vector_index.pack(model)
        self.stdout.write(f"{written} vectors written by {model} ({model.dimensions} dimensions)")
        used = embedding_models.in_use()
        if used is not None and used.pk != model.pk:
            alike = reembedding.agreement(used, model, now=clock.now())
            if alike.overlap is not None:
                self.stdout.write(
                    f"agreement with {used}: {alike.overlap:.0%} of the "
                    f"{reembedding.NEAREST} nearest in common, over {alike.samples} samples"
                )
        if options["switch"]:
            reembedding.switch_to(model)
            self.stdout.write(f"search reads {model} now; --rollback goes back")
            self.stdout.write(
                f"set MEMORY_EMBEDDER={name.provider} MEMORY_EMBEDDING_MODEL={name.model}"
            )
        elif model.state != EmbeddingModel.State.IN_USE:
            self.stdout.write("run it again with --switch to let search read it")

    def _show(self, progress: Progress) -> None:
        """Print progress once a second, and the end."""
        is_done = progress.done >= progress.total
        if is_done or time.monotonic() - self._shown_at > SHOWN_EVERY_SECONDS:
            self._shown_at = time.monotonic()
            self.stdout.write(f"{progress.done:,} of {progress.total:,}")
            self.stdout.flush()

    def _list(self) -> None:
        models = EmbeddingModel.objects.order_by("pk")
        if not models:
            self.stdout.write("there are no vectors yet")
        for model in models:
            progress = reembedding.coverage(model)
            self.stdout.write(
                f"{model} ({model.dimensions} dimensions): {model.get_state_display().lower()}, "
                f"{progress.done:,} of {progress.total:,} memories"
            )
