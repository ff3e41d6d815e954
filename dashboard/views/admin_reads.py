"""Staff reading one person's memory: with a reason, for 15 minutes, and that person sees it."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard import words
from dashboard.access import staff_required
from dashboard.account import next_page, read_after
from dashboard.forms import AdminReadForm
from dashboard.http import HtmxHttpRequest, doer_of, redirect_to, render, say, viewer_of
from dashboard.query import ACTIVE
from dashboard.rows import read_rows
from junior_memory import admin_reads
from junior_memory.errors import NotFound
from junior_memory.records import After, Rows

FORM = "dashboard/system/reads.html"
READ = "dashboard/system/read.html"
PAGE_SIZE = 50


@staff_required
@require_safe
def show_form(request: HtmxHttpRequest) -> HttpResponse:
    """Show the form alone, and one's open reads."""
    return _form(request, AdminReadForm())


def _form(request: HtmxHttpRequest, form: AdminReadForm, *, status: int = 200) -> HttpResponse:
    reads = admin_reads.open_reads(request.user, now=timezone.now())
    return render(request, FORM, {"read_form": form, "reads": reads}, status=status)


@staff_required
@require_POST
def open_read(request: HtmxHttpRequest) -> HttpResponse:
    """Open a read; its reason is on the person's own page from this moment."""
    form = AdminReadForm(request.POST)
    if not form.is_valid():
        return _form(request, form, status=422)
    try:
        person = admin_reads.person_named(form.cleaned_data["person"])
    except NotFound as error:
        form.add_error("person", words.refused(error))
        return _form(request, form, status=422)
    reason = form.cleaned_data["reason"]
    read = admin_reads.open_read(request.user, person, reason=reason, doer=doer_of(request))
    return redirect_to(request, reverse("system_read", args=[read.pk]))


@staff_required
@require_safe
def show_read(request: HtmxHttpRequest, read_id: UUID) -> HttpResponse:
    """Show what is remembered about the person, read-only, while the read is open."""
    now = timezone.now()
    try:
        read = admin_reads.find_read(request.user, read_id, now=now)
    except NotFound as error:
        say(request, words.refused(error), failed=True)
        return redirect_to(request, reverse("system_reads"))
    found = admin_reads.rows_of(read, now=now)
    after = read_after(request.GET.get("after", ""))
    if after is not None:
        found = found.after(after.at, after.id)
    page = list(found.newest_first().for_list()[: PAGE_SIZE + 1])
    shown = page[:PAGE_SIZE]
    rows = read_rows(viewer_of(request), shown, state=ACTIVE, now=now)
    last = After(shown[-1].created_at, shown[-1].pk) if len(page) > PAGE_SIZE else None
    more = next_page("system_read", Rows(tuple(shown), last), read_id)
    return render(request, READ, {"read": read, "rows": rows, "more": more})
