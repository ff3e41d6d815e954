"""Public memory: its author or subject reports it; staff take it out and put it back."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard import words
from dashboard.access import login_required, staff_required
from dashboard.forms import ReasonForm
from dashboard.http import HtmxHttpRequest, doer_of, next_url, redirect_to, say, viewer_of
from dashboard.views.memory import show_detail
from junior_memory import holding, moderation
from junior_memory.errors import InvalidInput

TAKEN_BACK = "Taken back by who did it."


@login_required
@require_POST
def report(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Report a public memory: it is held at once, and staff decide."""
    form = ReasonForm(request.POST, prefix="report")
    if not form.is_valid():
        return show_detail(request, memory_id, status=422, report_form=form)
    reason = form.cleaned_data["reason"]
    holding.report_public(viewer_of(request), memory_id, reason=reason, doer=doer_of(request))
    say(request, _("Reported: nobody sees it and no assistant uses it until staff have decided."))
    return redirect_to(request, next_url(request, reverse("memories")))


@staff_required
@require_POST
def remove(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Take a public memory out; its author sees when and why."""
    form = ReasonForm(request.POST, prefix="remove")
    if not form.is_valid():
        return show_detail(request, memory_id, status=422, remove_form=form)
    reason = form.cleaned_data["reason"]
    moderation.remove_public(viewer_of(request), memory_id, reason=reason, doer=doer_of(request))
    undo = reverse("public_restore", args=[memory_id])
    say(request, _("Removed for everyone."), undo=undo)
    return redirect_to(request, next_url(request, reverse("memories")))


@staff_required
@require_POST
def put_back(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Put a removed public memory back, with a reason; an undo at once brings its own."""
    reason = request.POST.get("reason", TAKEN_BACK)
    try:
        moderation.restore_public(
            viewer_of(request), memory_id, reason=reason, doer=doer_of(request)
        )
    except InvalidInput as error:
        say(request, words.refused(error), failed=True)
    else:
        say(request, _("Back: everyone sees it again."))
    return redirect_to(request, next_url(request, reverse("system_public")))
