"""What was done about a person: the never-learn-again list, activity and receipts, in full."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import login_required
from dashboard.account import next_page, read_after
from dashboard.activity import deed_of
from dashboard.http import (
    HtmxHttpRequest,
    doer_of,
    next_url,
    redirect_to,
    render,
    say,
    viewer_of,
    wants_part,
)
from dashboard.views.settings import changed
from junior_memory import records


@login_required
@require_safe
def list_marks(request: HtmxHttpRequest) -> HttpResponse:
    """Show what is never learned again, 25 at a time."""
    rows = records.marks_of(viewer_of(request), after=read_after(request.GET.get("after", "")))
    context = {"marks": rows.rows, "more": next_page("settings_marks", rows), "now": timezone.now()}
    return render(request, "dashboard/settings/marks.html", context)


@login_required
@require_POST
def lift_mark(request: HtmxHttpRequest, mark_id: UUID) -> HttpResponse:
    """Let a forgotten fact be learned again."""
    records.lift_mark(viewer_of(request), mark_id, doer=doer_of(request))
    text = gettext_noop("Lifted: this may be learned again. It stays forgotten until it is.")
    if wants_part(request):
        return changed(request, "marks", text)
    say(request, text)
    return redirect_to(request, next_url(request, "/settings#marks"))


@login_required
@require_safe
def list_activity(request: HtmxHttpRequest) -> HttpResponse:
    """Show what was done about the person, 25 entries at a time."""
    rows = records.activity_of(viewer_of(request), after=read_after(request.GET.get("after", "")))
    deeds = [deed_of(entry, request.user) for entry in rows.rows]
    context = {"deeds": deeds, "more": next_page("settings_activity", rows)}
    return render(request, "dashboard/settings/activity.html", context)


@login_required
@require_safe
def list_receipts(request: HtmxHttpRequest) -> HttpResponse:
    """Show the proofs of what was erased, 25 at a time."""
    rows = records.receipts_of(viewer_of(request), after=read_after(request.GET.get("after", "")))
    context = {"receipts": rows.rows, "more": next_page("settings_receipts", rows)}
    return render(request, "dashboard/settings/receipts.html", context)
