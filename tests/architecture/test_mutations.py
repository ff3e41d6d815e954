"""The patches that break the promises fit today's code: one that does not apply proves nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.mutations.run import HERE, ROOT, guards

PATCHES = sorted(HERE.glob("*.patch"))


def test_every_promise_has_its_patch_and_every_patch_its_test() -> None:
    assert [patch.name for patch in PATCHES] == sorted(guards())
    assert len(PATCHES) == 12


@pytest.mark.skipif(shutil.which("git") is None, reason="patches are applied by git")
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_applies(patch: Path) -> None:
    check = ["git", "apply", "--check", str(patch)]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
