"""How many made-up inputs a run has tried, and how they were answered; `pytest -s` says so."""

from __future__ import annotations

from collections import Counter

ANSWERS: Counter[tuple[str, int]] = Counter()
"""By what was tried, and by the status of the answer."""


def count(what: str, status: int) -> None:
    """Count one input."""
    ANSWERS[what, status] += 1


def summary() -> list[str]:
    """Say how many inputs there were of each kind, with the statuses of their answers."""
    lines = []
    for what in sorted({kind for kind, _ in ANSWERS}):
        answered = {status: n for (kind, status), n in sorted(ANSWERS.items()) if kind == what}
        lines.append(f"{sum(answered.values())} inputs: {what}; answers {answered}")
    total = sum(ANSWERS.values())
    return [*lines, f"{total} inputs in all"] if total else []
