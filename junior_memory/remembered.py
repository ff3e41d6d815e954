"""What was found out about the latest texts, in this process alone, without keeping the texts.

A text is known by a digest under a key that dies with the process: 20 bytes that say nothing to
anybody who does not hold text and key.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Finding = TypeVar("Finding")


class Remembered(Generic[Finding]):
    """The findings of at most `most` texts; the one asked for longest ago makes room.

    Its methods may be called by any thread. `about` tells the same text's findings apart.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, Finding] = OrderedDict()

    def get(self, text: str, about: str = "") -> Finding | None:
        """Return what was found, or None."""
        digest = self._digest(text, about)
        with self._lock:
            if digest in self._kept:
                self._kept.move_to_end(digest)
            return self._kept.get(digest)

    def put(self, text: str, finding: Finding, about: str = "") -> None:
        """Remember a finding in place of an older one."""
        digest = self._digest(text, about)
        with self._lock:
            self._kept[digest] = finding
            self._kept.move_to_end(digest)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)

    def _digest(self, text: str, about: str) -> bytes:
        named = f"{about}\x1f{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(named, key=self._key, digest_size=20).digest()
