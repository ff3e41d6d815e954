"""Personal tokens: made, shown once, revoked."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from dashboard import words
from dashboard.access import login_required
from dashboard.account import Shown
from dashboard.forms_settings import TokenForm
from dashboard.http import HtmxHttpRequest, doer_of
from dashboard.views.settings import changed, refused, show_section
from junior_memory import people
from junior_memory.errors import InvalidInput


@login_required
@require_POST
def create_token(request: HtmxHttpRequest) -> HttpResponse:
    """Make a token and show its secret in this answer alone."""
    form = TokenForm(request.POST, staff=request.user.is_staff)
    if not form.is_valid():
        return refused(request, "tokens", form)
    try:
        _, secret = people.create_personal_token(
            request.user,
            scopes=form.cleaned_data["scopes"],
            label=form.cleaned_data["label"],
            expires_at=form.cleaned_data["expires_on"],
            doer=doer_of(request),
        )
    except InvalidInput as error:
        form.add_error(None, words.refused(error))
        return refused(request, "tokens", form)
    return show_section(request, "tokens", token=Shown(secret))


@login_required
@require_POST
def revoke_token(request: HtmxHttpRequest, token_id: UUID) -> HttpResponse:
    """Revoke a token; it stops working at once."""
    people.revoke_token(request.user, token_id, doer=doer_of(request))
    return changed(request, "tokens", "Revoked: the token no longer works.")
