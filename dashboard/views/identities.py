"""Linked accounts: a one-time code to link one, and ending a link."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard.access import login_required
from dashboard.account import Shown
from dashboard.http import HtmxHttpRequest, doer_of
from dashboard.views.settings import changed, show_section
from junior_memory import people

CODES = 20
"""Linking codes that one person may ask for in ten minutes."""


@login_required
@require_POST
def make_code(request: HtmxHttpRequest) -> HttpResponse:
    """Make a linking code and show it in this answer alone; an earlier one stops working."""
    people.spend_rate(f"code:{request.user.pk}", limit=CODES, window_seconds=600)
    value, expires_at = people.new_linking_code(request.user, now=timezone.now())
    return show_section(request, "identities", code=Shown(value, expires_at))


@login_required
@require_POST
def unlink(request: HtmxHttpRequest, identity_id: UUID) -> HttpResponse:
    """End the link to an account; what is remembered stays with the person."""
    people.unlink_identity(request.user, identity_id, doer=doer_of(request))
    return changed(request, "identities", "Unlinked. What is remembered stays with you.")
