"""Log formatting that cannot carry memory content."""

from __future__ import annotations

import logging
import re

ONE_TIME_LINK = re.compile(r"(/(?:sign-in|invitations|reset-password)/)[^\s\"'?]+")
"""Addresses whose rest signs somebody in; Django's own lines name the address they are about."""


class ContentFreeFormatter(logging.Formatter):
    """Time, level, logger, message; of an exception only its class.

    A traceback's last line is the exception's text, and a database error's text holds rows
    (DESIGN promise 10). Newlines are escaped, so that a value cannot forge a line.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return one line; exception text and stack are dropped."""
        clean = logging.makeLogRecord(record.__dict__)
        clean.exc_info = clean.exc_text = clean.stack_info = None
        if isinstance(clean.args, tuple):
            clean.args = tuple(
                type(value).__name__ if isinstance(value, BaseException) else value
                for value in clean.args
            )
        line = super().format(clean)
        if record.exc_info and record.exc_info[0]:
            line += f" [{record.exc_info[0].__name__}]"
        line = ONE_TIME_LINK.sub(r"\1…", line)
        return line.replace("\r", "\\r").replace("\n", "\\n")
