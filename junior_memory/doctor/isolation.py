"""Two canary people ask for each other's memories; nothing of it stays."""

from __future__ import annotations

from datetime import datetime

from junior_memory.doctor.finding import Finding, fail, ok
from junior_memory.self_test import self_test


def people_are_kept_apart(_now: datetime) -> Finding:
    """Every read path gives everybody exactly what they may see."""
    found = self_test()
    if found.is_green:
        seen = f"{len(found.checks)} read paths green in {found.duration_ms} ms"
        return ok("isolation", seen)
    paths = ", ".join(sorted({check.path for check in found.red})) or "nothing could be asked"
    return fail(
        "isolation",
        f"{len(found.red)} of {len(found.checks)} checks are red: {paths}",
        "Stop the service: people may see what is not theirs. manage.py self_test names each one; "
        "go back to the release before.",
    )
