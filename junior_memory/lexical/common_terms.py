"""Which terms are common among public rows, as this process found lately.

A common term costs the most to count and is asked for the most. What is kept is a keyed digest and
a time: no term can be read here.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections import OrderedDict

KEPT_SECONDS = 600.0
"""How long a term stays common without being counted again."""

MAX_KEPT = 20_000


class CommonTerms:
    """Terms that `threshold` public rows or more held when they were last counted."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._until: OrderedDict[bytes, float] = OrderedDict()

    def _digest(self, tsquery: str, threshold: int) -> bytes:
        text = f"{threshold} {tsquery}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._key, digest_size=16).digest()

    def holds(self, tsquery: str, threshold: int) -> bool:
        """True when the term was common lately."""
        with self._lock:
            return self._until.get(self._digest(tsquery, threshold), 0.0) > time.monotonic()

    def add(self, tsquery: str, threshold: int) -> None:
        """Keep a term that was just found to be common."""
        digest = self._digest(tsquery, threshold)
        with self._lock:
            self._until[digest] = time.monotonic() + KEPT_SECONDS
            self._until.move_to_end(digest)
            while len(self._until) > MAX_KEPT:
                self._until.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, for a database that is not the same any more."""
        with self._lock:
            self._until.clear()


common_terms = CommonTerms()

many_rows = CommonTerms()
"""The same of people who have many rows: their own are read in another way."""
