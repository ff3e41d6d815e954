"""The overview: what learning and recall cost and came to. Staff only, without content or owner."""

from __future__ import annotations

from functools import partial

from csp.decorators import csp_update
from django.http import HttpResponse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from dashboard.access import staff_required
from dashboard.charts import PLOTLY_STYLES, DailyChart, to_csv
from dashboard.http import HtmxHttpRequest, redirect_to, render
from dashboard.mail import address_of
from dashboard.overview import Window, cost_chart, memory_chart, read_overview
from junior_memory import spending, turnover

PAGE = "dashboard/overview/overview.html"
PART = "dashboard/overview/_overview.html"


@csp_update({"style-src": PLOTLY_STYLES})  # type: ignore[arg-type]  # a narrower request
@staff_required
@require_safe
def show_overview(request: HtmxHttpRequest) -> HttpResponse:
    """Show one window of days; htmx gets it without the frame."""
    overview = read_overview(Window.read(request.GET), now=timezone.now())
    return render(request, PAGE, {"overview": overview}, part=PART)


@staff_required
@require_safe
def cost_by_day(request: HtmxHttpRequest) -> HttpResponse:
    """Hand out the cost chart as a file; without `format=csv` go to its place on the page."""
    window = Window.read(request.GET)
    if request.GET.get("format") != "csv":
        return redirect_to(request, f"{window.url()}#cost")
    chart = cost_chart(spending.costs(window.days, now=timezone.now()), window.split)
    return _file(request, chart, window)


@staff_required
@require_safe
def memories_by_day(request: HtmxHttpRequest) -> HttpResponse:
    """Hand out the memory chart as a file; without `format=csv` go to its place on the page."""
    window = Window.read(request.GET)
    if request.GET.get("format") != "csv":
        return redirect_to(request, f"{window.url()}#memories")
    now = timezone.now()
    chart = memory_chart(turnover.deployment_by_day(window.days, now=now), now=now)
    return _file(request, chart, window)


def _file(request: HtmxHttpRequest, chart: DailyChart, window: Window) -> HttpResponse:
    rows = chart.rows(partial(address_of, request))
    response = HttpResponse(to_csv(rows), content_type="text/csv; charset=utf-8")
    name = f"{chart.key}-{window.days}-days-until-{chart.days[-1].isoformat()}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    add_never_cache_headers(response)
    return response
