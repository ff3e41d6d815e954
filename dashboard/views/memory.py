"""One memory: reading, correcting, forgetting, restoring, erasing it."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST, require_safe

from dashboard import words
from dashboard.access import login_required
from dashboard.detail import read_detail, read_receipt, read_row
from dashboard.forms import CorrectForm, EraseForm, ReasonForm
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
from dashboard.listing import outline
from dashboard.query import ListQuery
from dashboard.rows import Row
from dashboard.visits import new_since
from junior_memory import clock, forgetting
from junior_memory.errors import Conflict, InvalidInput, NotFound, PublicMemoryReadOnly
from junior_memory.memories import correct_memory
from junior_memory.models import Memory, Visibility

DETAIL = "dashboard/memories/detail.html"
ROW = "dashboard/memories/_memory.html"
GONE = "dashboard/memories/_forgotten.html"
EDIT = "dashboard/memories/_correct.html"


def _detail_url(memory_id: UUID) -> str:
    return reverse("memory_detail", args=[memory_id])


def _answer_with_row(
    request: HtmxHttpRequest, memory_id: UUID, *, url: str, part: str = ROW
) -> HttpResponse:
    """Return one row as it is now, with the counts around it; the page at `url` by redirect."""
    if not wants_part(request):
        return redirect_to(request, url)
    viewer, now = viewer_of(request), clock.now()
    since = new_since(request, now=now)
    context = {
        "row": read_row(viewer, memory_id, now=now, since=since),
        "outline": outline(viewer, ListQuery.at(url), now=now, since=since),
        "here": url,
        "focus": True,
    }
    return render(request, DETAIL, context, part=part)


@login_required
@require_safe
def show_memory(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Show one memory with everything that is known about it; htmx gets its row.

    A person's own memory that was erased shows its receipt.
    """
    viewer, now = viewer_of(request), clock.now()
    receipt = read_receipt(viewer, memory_id)
    if receipt is not None:
        return render(request, "dashboard/memories/receipt.html", {"receipt": receipt})
    if wants_part(request):
        row = read_row(viewer, memory_id, now=now, since=new_since(request, now=now))
        return render(request, DETAIL, {"row": row, "focus": True}, part=ROW)
    return show_detail(request, memory_id)


def show_detail(
    request: HtmxHttpRequest, memory_id: UUID, *, status: int = 200, **forms: ReasonForm
) -> HttpResponse:
    """Show the page of one memory, with a form that was just posted with a mistake."""
    detail = read_detail(viewer_of(request), memory_id, now=clock.now())
    made = {"report_form": ReasonForm(prefix="report"), "remove_form": ReasonForm(prefix="remove")}
    context = {"detail": detail, "row": detail.row, **made, **forms}
    return render(request, DETAIL, context, status=status)


def _changeable(request: HtmxHttpRequest, memory_id: UUID) -> Row:
    """Return one's own memory to change; raises PublicMemoryReadOnly, NotFound for others'."""
    row = read_row(viewer_of(request), memory_id, now=clock.now())
    if row.mine:
        return row
    raise PublicMemoryReadOnly if row.memory.visibility == Visibility.PUBLIC else NotFound


@login_required
@require_GET
def correct_form(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Show the memory as a text to change."""
    memory = _changeable(request, memory_id).memory
    form = CorrectForm(initial={"content": memory.content, "version": memory.version})
    return _edit(request, memory, form)


def _edit(
    request: HtmxHttpRequest, memory: Memory, form: CorrectForm, *, status: int = 200
) -> HttpResponse:
    here = next_url(request, _detail_url(memory.pk))
    context = {"memory": memory, "form": form, "here": here}
    return render(request, "dashboard/memories/correct.html", context, part=EDIT, status=status)


@login_required
@require_POST
def correct(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Put a person's words in place; what stands in the way is said in the form."""
    memory = _changeable(request, memory_id).memory
    form = CorrectForm(request.POST)
    status = 422
    if form.is_valid():
        text, version = form.cleaned_data["content"], form.cleaned_data["version"]
        try:
            successor = correct_memory(
                viewer_of(request), memory_id, text, version=version, doer=doer_of(request)
            )
        except (InvalidInput, Conflict) as error:
            form.add_error("content", words.refused(error))
            status = 409 if isinstance(error, Conflict) else 422
        else:
            say(request, "Corrected. The earlier wording stays in its history.")
            here = next_url(request, _detail_url(successor.pk))
            gone = _detail_url(memory_id)
            here = _detail_url(successor.pk) if here == gone else here
            return _answer_with_row(request, successor.pk, url=here)
    return _edit(request, memory, form, status=status)


@login_required
@require_POST
def forget(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Forget one memory; in its place stands the way back, also when it was forgotten already."""
    viewer = viewer_of(request)
    try:
        forgetting.forget(viewer, memory_id, doer=doer_of(request))
    except NotFound:
        if read_row(viewer, memory_id, now=clock.now()).state != "forgotten":
            raise
    undo = reverse("memory_restore", args=[memory_id])
    say(request, "Forgot 1 memory.", undo=undo, target=f"#memory-{memory_id}")
    url = next_url(request, reverse("memories"))
    return _answer_with_row(request, memory_id, url=url, part=GONE)


@login_required
@require_POST
def restore(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Bring a forgotten memory back; when it cannot come back, say why."""
    url = next_url(request, _detail_url(memory_id))
    try:
        back = forgetting.restore(viewer_of(request), memory_id, doer=doer_of(request))
    except Conflict as error:
        say(request, words.refused(error), failed=True)
        return _answer_with_row(request, memory_id, url=url, part=GONE)
    say(request, "Remembered again.")
    return _answer_with_row(request, back.pk, url=url)


@login_required
@require_GET
def erase_form(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Ask for the typed word before anything is erased."""
    row = _changeable(request, memory_id)
    return _ask_to_erase(request, row, EraseForm())


def _ask_to_erase(
    request: HtmxHttpRequest, row: Row, form: EraseForm, *, status: int = 200
) -> HttpResponse:
    context = {"row": row, "form": form}
    return render(request, "dashboard/memories/erase.html", context, status=status)


@login_required
@require_POST
def erase(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Erase one memory at once, with what it replaced; its receipt follows."""
    viewer = viewer_of(request)
    if read_receipt(viewer, memory_id) is None:
        row = _changeable(request, memory_id)
        form = EraseForm(request.POST)
        if not form.is_valid():
            return _ask_to_erase(request, row, form, status=422)
        forgetting.erase(viewer, memory_id, doer=doer_of(request))
    return redirect_to(request, _detail_url(memory_id))
