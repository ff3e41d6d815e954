"""Everything held about a person: out, in, and gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import UploadedFile
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from dashboard import words
from dashboard.access import login_required
from dashboard.forms_settings import ForgetEverythingForm, ImportForm
from dashboard.http import HtmxHttpRequest, doer_of, redirect_to, render, say, viewer_of, wants_part
from dashboard.own_paper import read_paper
from dashboard.views.settings import refused, show_section
from dashboard.words import memories
from junior_memory import forgetting
from junior_memory.errors import InvalidInput
from junior_memory.exchange import export_lines, import_lines
from junior_memory.models import Agent


@login_required
@require_safe
def show_paper(request: HtmxHttpRequest) -> HttpResponse:
    """Show everything held about the person on one page, to be printed."""
    paper = read_paper(request.user, viewer_of(request), now=timezone.now())
    return render(request, "dashboard/settings/paper.html", {"paper": paper})


@login_required
@require_GET
def export(request: HtmxHttpRequest) -> StreamingHttpResponse:
    """Stream everything held about the person; the read is audited."""
    now = timezone.now()
    lines = export_lines(request.user, doer=doer_of(request), now=now)
    response = StreamingHttpResponse(
        _stream(request, lines), content_type="application/x-ndjson; charset=utf-8"
    )
    name = f"junior-memory-{now:%Y-%m-%d}.ndjson"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    add_never_cache_headers(response)
    return response


def _stream(request: HttpRequest, lines: Iterator[str]) -> Any:
    """Return the lines as the server wants them, so that none has to hold them all."""
    return _asynchronous(lines) if isinstance(request, ASGIRequest) else lines


async def _asynchronous(lines: Iterator[str]) -> AsyncIterator[str]:
    following = sync_to_async(lambda: next(lines, None))
    while (line := await following()) is not None:
        yield line


@login_required
@require_POST
def import_file(request: HtmxHttpRequest) -> HttpResponse:
    """Import the active memories of an export as private ones; twice changes nothing."""
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return refused(request, "data", form)
    try:
        lines = _decoded(form.cleaned_data["file"])
        done = import_lines(viewer_of(request), lines, doer=doer_of(request))
    except InvalidInput as error:
        form.add_error("file", words.refused(error))
        return refused(request, "data", form)
    return show_section(request, "data", imported=done)


def _decoded(upload: UploadedFile) -> Iterator[str]:
    for line in upload:
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise InvalidInput("The file is not UTF-8 text; it is damaged.") from error


@login_required
@require_POST
def forget_everything(request: HtmxHttpRequest) -> HttpResponse:
    """Forget all that is the person's, after the typed sentence, as one move that can be undone."""
    form = ForgetEverythingForm(request.POST)
    if not form.is_valid():
        return refused(request, "forget", form)
    agent = Agent.objects.filter(name=form.cleaned_data["agent"]).first()
    if form.cleaned_data["agent"] and agent is None:
        raise InvalidInput("There is no agent of that name. Nothing was forgotten.")
    done = forgetting.forget_all(viewer_of(request), doer=doer_of(request), agent=agent)
    count = len(done.forgotten)
    undo = reverse("batch_restore", args=[done.batch_id]) if count else ""
    say(
        request,
        _("Forgot everything: {memories}.").format(memories=memories(count)),
        undo=undo,
    )
    # A redirect to another place of the same page would not load it again.
    if wants_part(request):
        return HttpResponseClientRefresh()
    return redirect_to(request, f"{reverse('settings')}#forget")
