"""Texts that nobody writes: every plane, halves of characters, NUL, both directions, a megabyte."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("JUNIOR_FUZZ_EXAMPLES", "4"))

some = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=EXAMPLES <= 10,
)

AWKWARD = (
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "\udfff\ud800",
    "\u202edrowssap\u202c",
    "\u2066\u2067\u2069",
    "\ufeff",
    "\u200d\u200b",
    "e\u0301" * 300,
    "\u0f73" * 50,
    "\U0010ffff",
    "\U0001f9d7\u200d\u2640\ufe0f" * 40,
    "ﷺ" * 500,
    "ſ" * 100,
    "İ" * 100,
    "%",
    "_%\\",
    "' OR 1=1 --",
    "a:* & !b | <-> (",
    '"unclosed',
    "-" * 500,
    "{{ 7 * 7 }}{% debug %}",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "\r\nSet-Cookie: a=b",
    "٣٤٥",
    "1e999",
    "-0",
    "NaN",
    "9" * 400,
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-12:00",
    "9999-12-31T23:59:59.999999+14:00",
    "x" * 70_000,
    "語" * 1_000_000,
)

texts = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(codec=None), max_size=60),
    st.text(st.characters(min_codepoint=0x10000), max_size=30),
    st.text(st.sampled_from("\u202a\u202e\u2066\u2069אبa \n\t\x00\x1f\x7f\x85"), max_size=30),
)
"""Any text, also one that no encoding takes."""

sayable = texts.map(lambda text: text.encode("utf-8", "replace").decode())
"""Any text that can be sent in UTF-8."""

short = sayable.map(lambda text: text[:2_000])

values: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=8), inner, max_size=4),
    ),
    max_leaves=8,
)
"""Any JSON, also such as the standard forbids."""


def sealed(*records: Any) -> str:
    """Return a file of these records with a closing line that fits, so that each is looked at."""
    lines = "".join(json.dumps(record) + "\n" for record in records)
    checksum = hashlib.sha256(lines.encode()).hexdigest()
    return lines + json.dumps({"type": "end", "sha256": checksum})
