"""Break a real deployment in one way at a time, mend it, and judge what became of everything.

    python tests/faults/run.py [--list] [--only NAME …] [--keep FOLDER]

Each fault gets a deployment of its own in a temporary folder: PostgreSQL, a web process, a worker,
a model's double, and people and their assistant who go on writing, reading, forgetting and handing
in conversations. Survived means: nothing that was acknowledged is lost, nothing is there twice,
nothing forgotten came back, nobody saw another's, no log holds content, every request to the model
is on the record, what was refused said 503 and when to come again, and the service was ready again
by itself. Exit code 1 when a fault was not survived.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "junior_memory.settings")

from tests.faults import (  # noqa: F401
    database_faults,
    model_faults,
    process_faults,
    time_faults,
)
from tests.faults.deployment import NotReady, make_seed, temporary_folder
from tests.faults.trial import FAULTS, Fault, Skipped, Trial, attempt, understanding
from tests.faults.verdict import Verdict
from tests.model_server import model_server


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def told(verdict: Verdict, trial: Trial, seconds: float) -> str:
    """Say in one line what became of it."""
    late = f" {verdict.late_recalls} recalls late;" if verdict.late_recalls else ""
    given_up = f" {verdict.given_up} given up and retried;" if verdict.given_up else ""
    return (
        f"lost {verdict.lost}, double {verdict.double}, back {verdict.back},"
        f" leaked {verdict.leaks}, calls not on record {verdict.calls_missing};{given_up}{late}"
        f" {verdict.answered} answered, {verdict.refused} refused;"
        f" ready after {trial.recovery_seconds:.1f} s ({seconds:.0f} s)"
    )


def main() -> int:
    """Try the faults one after the other; returns 1 when one of them was not survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the faults and end")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="try these alone")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave logs and data here")
    options = parser.parse_args()
    if options.list:
        for one in FAULTS.values():
            say(f"{one.name:<24} {one.says}")
        return 0
    if unknown := set(options.only or ()) - FAULTS.keys():
        parser.error(f"there is no fault {', '.join(sorted(unknown))}; --list names them")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # What was started is ended.
    chosen = [FAULTS[name] for name in options.only or FAULTS]
    with temporary_folder() as folder:
        with model_server(understanding()) as model:
            tokens = make_seed(folder / "seed", model)
        survived, tried, sums = 0, 0, Verdict()
        for one in chosen:
            place = folder / one.name
            began = time.monotonic()
            try:
                verdict, trial = attempt(one, folder / "seed", tokens, place)
            except Skipped as reason:
                say(f"skipped   {one.name:<22} {reason}")
                continue
            except NotReady as error:
                tried += 1
                say(f"NOT       {one.name:<22} {error}")
                continue
            finally:
                _put_away(place, options.keep, one)
            tried += 1
            survived += verdict.survived
            sums.lost += verdict.lost
            sums.double += verdict.double
            sums.back += verdict.back
            sums.leaks += verdict.leaks
            sums.calls_missing += verdict.calls_missing
            word = "survived" if verdict.survived else "NOT"
            line = told(verdict, trial, time.monotonic() - began)
            say(f"{word:<9} {one.name:<22} {line}")
            for what, count in verdict.wrong.most_common():
                say(f"          {count} × {what}")
    say(
        f"{survived} of {tried} survived; lost {sums.lost}, double {sums.double}, back {sums.back},"
        f" leaked {sums.leaks}, calls not on record {sums.calls_missing}"
    )
    return int(survived < tried)


def _put_away(place: Path, keep: Path | None, one: Fault) -> None:
    if keep is not None and place.exists():
        shutil.rmtree(keep / one.name, ignore_errors=True)
        shutil.copytree(place, keep / one.name, ignore=shutil.ignore_patterns("socket", "*.lock"))
    shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
