"""Mail to one person. Without a mail server it is printed by the web process."""

from __future__ import annotations

import logging
from typing import Any

from django.core.mail import send_mail
from django.template.loader import render_to_string

logger = logging.getLogger(__name__)


def post(address: str, subject: str, template: str, **context: Any) -> bool:
    """Send a text; False when the mail server did not take it. Nothing of it is logged."""
    try:
        send_mail(subject, render_to_string(template, context), None, [address])
    except OSError as error:
        logger.error("a mail was not taken (%s)", type(error).__name__)
        return False
    return True
