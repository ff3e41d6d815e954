"""Standard streams that carry the protocol and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def claimed_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Take stdin and stdout for the protocol alone; give them back at the end.

    Whatever else is printed meanwhile, by us or by a library, goes to stderr, and programs that
    this process starts hear nothing and say nothing on the wire.
    """
    wires = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        with (
            os.fdopen(wires[0], "rb", closefd=False) as heard,
            os.fdopen(wires[1], "wb", closefd=False) as said,
        ):
            yield heard, said
    finally:
        for wire, standard in zip(wires, (0, 1), strict=True):
            os.dup2(wire, standard)
            os.close(wire)
