"""Break each promise once, and see the test that guards it fail.

    python tests/mutations/run.py [--only 04]

Works on a copy of the tree in a temporary folder. Each `NN-*.patch` names its promise by number;
the table in `tests/README.md` says which test guards it. Exit code 1 when a test passes on broken
code, or fails on whole code.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
ROW = re.compile(r"^\| (\d+) \| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$")
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".data*", "*_cache", "__pycache__", "node_modules", ".hypothesis"
)


def guards() -> dict[str, str]:
    """Return the test that guards against each patch, as the table says."""
    table = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    rows = [found for line in table.splitlines() if (found := ROW.match(line))]
    return {found[3]: found[2] for found in rows}


def passes(tree: Path, test: str) -> bool:
    """Run one test in a tree; True when it passes."""
    environment = os.environ | {"MEMORY_DATA_DIR": str(tree / ".data")}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", *test.split()],
        cwd=tree,
        env=environment,
        capture_output=True,
        check=False,
    )
    if ran.returncode not in {0, 1}:
        raise SystemExit(f"{test} did not run:\n{ran.stdout.decode()[-2000:]}")
    return ran.returncode == 0


def apply(tree: Path, patch: Path, *, back: bool = False) -> None:
    """Apply a patch to a tree, or take it back."""
    direction = ["--reverse"] if back else []
    subprocess.run(["git", "apply", *direction, str(patch)], cwd=tree, check=True)


def main() -> int:
    """Break, look, mend, one by one; print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the beginning of a patch's name")
    only = parser.parse_args().only
    tests = guards()
    patches = sorted(HERE.glob(f"{only}*.patch"))
    unguarded = [patch.name for patch in patches if patch.name not in tests]
    if unguarded or not patches:
        print("not in the table:", *unguarded)
        return 1
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="broken-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        for patch in patches:
            test = tests[patch.name]
            is_whole = passes(tree, test)
            apply(tree, patch)
            is_blind = passes(tree, test)
            apply(tree, patch, back=True)
            verdict = "seen" if is_whole and not is_blind else "NOT SEEN"
            wrong += verdict != "seen"
            print(f"{verdict:8} {patch.stem:45} {test}", flush=True)
    print(f"{len(patches) - wrong} of {len(patches)} broken promises were seen")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
