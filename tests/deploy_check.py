"""`python -m tests.deploy_check`: production settings from the environment alone, checked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCTION = {
    "MEMORY_ENV": "production",
    "DJANGO_SECRET_KEY": "only-for-this-check-" + "x7Kq" * 12,
    "MEMORY_FINGERPRINT_KEY": "k1:only-for-this-check-" + "p3Vz" * 12,
    "MEMORY_ALLOWED_HOSTS": "memory.example.com",
    "MEMORY_BASE_URL": "https://memory.example.com",
    "DATABASE_URL": "",
}


def main() -> int:
    """Run `check --deploy` as a deployment would; returns its exit code."""
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | PRODUCTION, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
