"""The system page: whether it is healthy, what waits and what failed. Staff only."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard import words
from dashboard.access import staff_required
from dashboard.account import next_page, read_after
from dashboard.audit_log import read_audit
from dashboard.forms import AdminReadForm
from dashboard.http import HtmxHttpRequest, redirect_to, render, say, viewer_of, wants_part
from dashboard.system import System
from junior_memory import moderation, reports, sessions
from junior_memory.errors import Conflict, NotFound
from junior_memory.models import CompletedSession
from junior_memory.self_test import self_test

PAGE = "dashboard/system/system.html"
QUEUE = "dashboard/system/_queue.html"
SELF_TEST = "dashboard/system/_self_test.html"
REMOVED = "dashboard/system/removed.html"
REMOVED_SHOWN = 200


@staff_required
@require_safe
def show_system(request: HtmxHttpRequest) -> HttpResponse:
    """Show what needs attention and each part of the service; htmx gets the queue as it is now."""
    if wants_part(request):
        return _queue(request)
    return _page(request)


def _page(request: HtmxHttpRequest, *, part: str = "", **made: Any) -> HttpResponse:
    """Show the page, or the part of it that was just made."""
    system = System(request.user, now=timezone.now())
    context = {"system": system, "queue": system.queue} | made
    return render(request, PAGE, {**context, "read_form": AdminReadForm()}, part=part)


def _queue(request: HtmxHttpRequest) -> HttpResponse:
    context = {"queue": reports.queue_state()}
    return render(request, PAGE, context, part=QUEUE)


@staff_required
@require_POST
def test_isolation(request: HtmxHttpRequest) -> HttpResponse:
    """Let two made-up people ask for each other's memories; the answer is kept nowhere."""
    result = self_test()
    if wants_part(request):
        return render(request, SELF_TEST, {"self_test": result}, part=SELF_TEST)
    return _page(request, self_test=result)


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
        say(request, words.refused(error), failed=True)
    else:
        say(request, "Queued again.")
    return _queue(request) if wants_part(request) else redirect_to(request, reverse("system"))


@staff_required
@require_safe
def list_removed(request: HtmxHttpRequest) -> HttpResponse:
    """Show the public memories that staff removed, until they are erased."""
    viewer = viewer_of(request)
    rows = list(moderation.removed_public(viewer).for_list()[:REMOVED_SHOWN])
    removals = moderation.removals_of(viewer, [memory.pk for memory in rows])
    removed = [(memory, removals.get(memory.pk)) for memory in rows]
    return render(request, REMOVED, {"removed": removed})


@staff_required
@require_safe
def list_audit(request: HtmxHttpRequest) -> HttpResponse:
    """Show what was done, 50 entries at a time."""
    rows = read_audit(after=read_after(request.GET.get("after", "")))
    context = {"lines": rows.rows, "more": next_page("system_audit", rows)}
    return render(request, "dashboard/system/audit.html", context)
