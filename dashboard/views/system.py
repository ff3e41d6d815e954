"""The system page: whether it is healthy, what waits and what failed. Staff only."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import staff_required
from dashboard.http import HtmxHttpRequest, redirect_to, render, say, wants_part
from junior_memory import reports, sessions
from junior_memory.errors import Conflict, NotFound
from junior_memory.models import CompletedSession

PAGE = "dashboard/system/system.html"
QUEUE = "dashboard/system/_queue.html"


@staff_required
@require_safe
def show_system(request: HtmxHttpRequest) -> HttpResponse:
    """Show the operational report and the queue; htmx gets the queue as it is now."""
    if wants_part(request):
        return _queue(request)
    report = reports.operational_report(now=timezone.now())
    return render(request, PAGE, {"report": report, "queue": report.queue})


def _queue(request: HtmxHttpRequest) -> HttpResponse:
    return render(request, PAGE, {"queue": reports.queue_state()}, part=QUEUE)


@staff_required
@require_POST
def retry_session(request: HtmxHttpRequest) -> HttpResponse:
    """Queue a failed session again; when its text is erased, say so."""
    session = CompletedSession.objects.filter(
        agent__name=request.POST.get("agent", "").replace("\x00", ""),
        session_id=request.POST.get("session", "").replace("\x00", ""),
    ).first()
    if session is None:
        raise NotFound
    try:
        sessions.retry_session(session)
    except Conflict as error:
        say(request, error.message, failed=True)
    else:
        say(request, "Queued again.")
    return _queue(request) if wants_part(request) else redirect_to(request, reverse("system"))
