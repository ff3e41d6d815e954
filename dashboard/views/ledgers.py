"""The lists behind the overview's numbers. Staff only, without content or owner."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard import ledger
from dashboard.access import staff_required
from dashboard.account import read_after
from dashboard.behind import BudgetAsked, CallsAsked, ChangesAsked, EventsAsked, PresentAsked
from dashboard.http import HtmxHttpRequest, render
from dashboard.ledger import Ledger
from dashboard.overview import Window
from junior_memory.records import After

PAGE = "dashboard/overview/ledger.html"


@staff_required
@require_safe
def list_calls(request: HtmxHttpRequest) -> HttpResponse:
    """Show the calls of models that a cost is made of."""
    now = timezone.now()
    asked = CallsAsked.read(request.GET, now=now)
    return _page(request, ledger.read_calls(asked, now=now, after=_after(request)))


@staff_required
@require_safe
def list_budget(request: HtmxHttpRequest) -> HttpResponse:
    """Show the calls that a budget counts."""
    now = timezone.now()
    asked = BudgetAsked.read(request.GET, now=now)
    return _page(request, ledger.read_budget(asked, now=now, after=_after(request)))


@staff_required
@require_safe
def list_events(request: HtmxHttpRequest) -> HttpResponse:
    """Show the recalls or captures that a count is made of."""
    now = timezone.now()
    asked = EventsAsked.read(request.GET, now=now)
    return _page(request, ledger.read_events(asked, now=now, after=_after(request)))


@staff_required
@require_safe
def list_changes(request: HtmxHttpRequest) -> HttpResponse:
    """Show the memories that came or went."""
    now = timezone.now()
    asked = ChangesAsked.read(request.GET, now=now)
    return _page(request, ledger.read_changes(asked, now=now, after=_after(request)))


@staff_required
@require_safe
def list_present(request: HtmxHttpRequest) -> HttpResponse:
    """Show the memories that there are now."""
    now = timezone.now()
    asked = PresentAsked.read(request.GET)
    return _page(request, ledger.read_present(asked, now=now, after=_after(request)))


def _after(request: HtmxHttpRequest) -> After | None:
    return read_after(request.GET.get("after", ""))


def _page(request: HtmxHttpRequest, found: Ledger) -> HttpResponse:
    back = Window(days=found.days).url() if found.days else Window().url()
    return render(request, PAGE, {"ledger": found, "back": back})
