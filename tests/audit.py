"""`make audit`: asks the public advisories about every pinned dependency, if they answer.

Exit code 1 for a known vulnerability; 0, saying so, when nobody could be asked.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [
    sys.executable, "-m", "pip_audit", "--requirement", str(ROOT / "requirements.txt"),
    "--require-hashes", "--disable-pip", "--progress-spinner", "off", "--timeout", "10",
]  # fmt: skip
FOUND = "known vulnerabilit"
"""What pip-audit says of a finding; every other failure is one of asking."""


def judge(code: int, said: str) -> tuple[int, str]:
    """Return the exit code and the last word on a run of pip-audit."""
    if code == 0:
        return 0, "No pinned dependency has a known vulnerability."
    if FOUND in said.lower() and "no known" not in said.lower():
        return 1, "Raise the versions named above."
    return 0, "NOT AUDITED: could not reach the advisories, or pip-audit is not installed."


def main() -> int:
    """Run pip-audit and say how it went."""
    try:
        done = subprocess.run(COMMAND, capture_output=True, text=True, check=False, timeout=300)
        code, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, said = 2, ""
    code, verdict = judge(code, said)
    sys.stdout.write(f"{said if code else ''}{verdict}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
