"""Alarms: they ring at their moment, in any order, and not when called off."""

from __future__ import annotations

import os
import threading
import time

from junior_memory.alarms import set_alarm


def test_alarms_ring_in_the_order_of_their_moments() -> None:
    rung: list[str] = []
    done = threading.Event()
    now = time.monotonic()
    set_alarm(now + 0.3, done.set)
    set_alarm(now + 0.2, lambda: rung.append("second"))
    set_alarm(now + 0.1, lambda: rung.append("first"))
    assert done.wait(10)
    assert rung == ["first", "second"]


def test_what_was_called_off_does_not_ring() -> None:
    rung: list[str] = []
    done = threading.Event()
    now = time.monotonic()
    off = set_alarm(now + 0.05, lambda: rung.append("called off"))
    set_alarm(now + 0.1, done.set)
    off.call_off()
    assert done.wait(10)
    assert rung == []


def test_the_next_alarm_rings_though_one_failed() -> None:
    done = threading.Event()

    def fail() -> None:
        raise ValueError("sentinel of an alarm")

    set_alarm(time.monotonic(), fail)
    set_alarm(time.monotonic() + 0.05, done.set)
    assert done.wait(10)


def test_a_forked_process_has_alarms_of_its_own() -> None:
    kept = threading.Event()
    set_alarm(time.monotonic() + 60, kept.set).call_off()
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        rung = threading.Event()
        set_alarm(time.monotonic() + 0.01, rung.set)
        os.write(writes, b"1" if rung.wait(10) else b"0")
        os._exit(0)
    assert os.read(reads, 1) == b"1"
    os.waitpid(child, 0)
