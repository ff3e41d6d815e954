"""`manage.py mcp`: the four tools for an assistant on this machine, over stdin and stdout."""

from __future__ import annotations

import signal
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError

from api.failures import Refused
from api.mcp.asking import Claims, admit, context_of
from api.mcp.protocol import ProtocolError
from api.mcp.stdio import Conversation
from api.mcp.streams import claimed_streams


class Stopped(Exception):
    """Somebody asked this process to end."""


class Command(BaseCommand):
    """Serves one client until it hangs up or the process is told to end."""

    help = "Serve the memory tools by the Model Context Protocol over stdin and stdout."

    def handle(self, *_: Any, **__: Any) -> None:
        """Check the token and what it is used for, then answer line by line."""
        secret = settings.MEMORY_TOKEN
        if not secret:
            raise CommandError("MEMORY_TOKEN is not set: a personal token, or an agent's.")
        claims = Claims(
            actor=settings.MEMORY_ACTOR,
            source=settings.MEMORY_SOURCE,
            conversation=settings.MEMORY_CONVERSATION,
            names=("MEMORY_ACTOR", "MEMORY_SOURCE", "MEMORY_CONVERSATION"),
        )
        with claimed_streams() as (heard, said), suppress(Stopped):
            for one in (signal.SIGINT, signal.SIGTERM):
                signal.signal(one, _stop)
            _check(secret, claims)
            Conversation(secret, claims, said).listen(heard)


def _check(secret: str, claims: Claims) -> None:
    """Say at once, and not at the first call, what makes every call fail."""
    try:
        context_of(admit(secret, claims))
    except (Refused, ProtocolError) as error:
        raise CommandError(error.message) from error
    except (DatabaseError, InterfaceError) as error:
        raise CommandError(f"The database does not answer ({type(error).__name__}).") from None


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise Stopped
