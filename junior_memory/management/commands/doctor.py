"""`manage.py doctor`: is this deployment well, and what to do where it is not."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from junior_memory import clock
from junior_memory.doctor import Finding, State, examine, worst

NAME_WIDTH = 18


class Command(BaseCommand):
    """Prints one line a check; ends with 1 when something has failed."""

    help = "Look at settings, server, worker and data; say what is wrong and what helps."
    # It has to work where the system checks fail: it says why they do.
    requires_system_checks: Any = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Offer JSON, and the one paid question."""
        parser.add_argument("--json", action="store_true", help="print JSON for a machine")
        parser.add_argument(
            "--quick", action="store_true", help="leave out the self-test of isolation"
        )
        parser.add_argument(
            "--ask-model",
            action="store_true",
            help="ask the chat model and a remote embedder one small question each; it is paid",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Print the page; exit code 1 when a check failed."""
        findings: list[Finding] = []
        for finding in examine(quick=options["quick"], ask_model=options["ask_model"]):
            findings.append(finding)
            if not options["json"]:
                self._print(finding)
        state = worst(findings)
        if options["json"]:
            report = {
                "state": state,
                "at": clock.now().isoformat(),
                "checks": [asdict(finding) for finding in findings],
            }
            self.stdout.write(json.dumps(report, indent=2))
        else:
            counts = {one: sum(f.state is one for f in findings) for one in State}
            self.stdout.write(
                f"\n{len(findings)} checks: {counts[State.OK]} ok, {counts[State.WARN]} warnings,"
                f" {counts[State.FAIL]} failed"
            )
        if state is State.FAIL:
            sys.exit(1)

    def _print(self, finding: Finding) -> None:
        mark = f"{finding.state if finding.state is State.OK else finding.state.upper():<4}"
        if finding.state is not State.OK:
            mark = self.style.ERROR(mark)
        self.stdout.write(f"{mark}  {finding.name:<{NAME_WIDTH}}{finding.seen}")
        if finding.remedy:
            self.stdout.write(f"      {'':<{NAME_WIDTH}}→ {finding.remedy}")
        self.stdout.flush()
