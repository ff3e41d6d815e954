"""A vulnerable dependency fails the build; a network without advisories does not."""

from __future__ import annotations

import pytest

from tests.audit import judge


@pytest.mark.parametrize(
    ("code", "said", "exit_code", "word"),
    [
        (0, "No known vulnerabilities found", 0, "No pinned"),
        (1, "Found 2 known vulnerabilities in 1 package\ndjango 1.0 PYSEC-1", 1, "Raise"),
        (1, "Found 1 known vulnerability in 1 package", 1, "Raise"),
        (1, "ERROR: Could not connect to the vulnerability service", 0, "NOT AUDITED"),
        (1, "No module named pip_audit", 0, "NOT AUDITED"),
        (2, "", 0, "NOT AUDITED"),
    ],
)
def test_only_a_finding_fails(code: int, said: str, exit_code: int, word: str) -> None:
    found, verdict = judge(code, said)
    assert found == exit_code
    assert word in verdict
