"""The list of memories: searching, paging, adding, forgetting several and undoing that."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST, require_safe

from dashboard import words
from dashboard.access import login_required
from dashboard.forms import AddMemoryForm
from dashboard.http import (
    COUNTED_BY,
    WAITING_BY,
    HtmxHttpRequest,
    doer_of,
    next_url,
    redirect_to,
    render,
    say,
    viewer_of,
    wants_part,
)
from dashboard.listing import MORE_SIZE, PAGE_SIZE, read_listing
from dashboard.query import ListQuery
from dashboard.visits import new_since
from junior_memory import clock, forgetting
from junior_memory.errors import InvalidInput, JuniorMemoryError
from junior_memory.memories import NewMemory, create_memory
from junior_memory.models import Agent, Memory, Origin, SourcePlatform, SubjectType, Visibility

LIST = "dashboard/memories/list.html"
RESULTS = "dashboard/memories/_results.html"
PAGE = "dashboard/memories/_page.html"
ADD = "dashboard/memories/_add.html"


def answer_with_list(request: HtmxHttpRequest, url: str) -> HttpResponse:
    """Return to a list after a change: the page by redirect, or its results as they are now."""
    if not wants_part(request):
        return redirect_to(request, url)
    query, now = ListQuery.at(url), clock.now()
    since = new_since(request, now=now)
    listing = read_listing(viewer_of(request), query, now=now, since=since)
    context = {"listing": listing, "here": url, "focus": True, "add": AddMemoryForm()}
    return render(request, RESULTS, context, part=RESULTS)


@login_required
@require_safe
def list_memories(request: HtmxHttpRequest) -> HttpResponse:
    """Show one page of a list; htmx gets the results, or the next page of them."""
    if request.GET.get("state") == "held":
        return redirect_to(request, reverse("inbox"))
    query, now = ListQuery.read(request.GET), clock.now()
    since = new_since(request, now=now)
    size = MORE_SIZE if query.place and wants_part(request) else PAGE_SIZE
    listing = read_listing(viewer_of(request), query, now=now, since=since, size=size)
    setattr(request, COUNTED_BY, lambda: listing.seen)
    setattr(request, WAITING_BY, lambda: listing.waiting)
    context = {"listing": listing, "here": listing.url, "add": AddMemoryForm()}
    response = render(request, LIST, context, part=RESULTS if query.place is None else PAGE)
    if request.htmx and query.place is None:
        # Letters typed one after the other are one step of the browser's history.
        typing = request.htmx.trigger == "search"
        response["HX-Replace-Url" if typing else "HX-Push-Url"] = listing.url
    return response


@login_required
@require_GET
def new_memory(request: HtmxHttpRequest) -> HttpResponse:
    """Show the form alone, for an address of its own."""
    return render(request, "dashboard/memories/new.html", {"add": AddMemoryForm()}, part=ADD)


@login_required
@require_POST
def add_memory(request: HtmxHttpRequest) -> HttpResponse:
    """Remember what a person typed, as they typed it: private, explicit, about them."""
    form = AddMemoryForm(request.POST)
    if form.is_valid():
        try:
            made = create_memory(_own_words(request, form))
        except JuniorMemoryError as error:
            form.add_error("content", words.refused(error))
        else:
            say(request, _("Remembered.") if made.created else _("That is remembered already."))
            return _answer_with_added(request, made.stored)
    page = "dashboard/memories/new.html"
    return render(request, page, {"add": form}, part=ADD, status=422)


def _answer_with_added(request: HtmxHttpRequest, memory: Memory) -> HttpResponse:
    """Show the list from its top, where what was added stands; a repeat may stand further down."""
    url = reverse("memories")
    if not wants_part(request):
        return redirect_to(request, f"{url}#memory-{memory.pk}")
    response = answer_with_list(request, url)
    response["HX-Retarget"] = "#results"
    response["HX-Push-Url"] = url
    return response


def _own_words(request: HtmxHttpRequest, form: AddMemoryForm) -> NewMemory:
    agent = Agent.objects.filter(name=form.cleaned_data["agent"]).first()
    if agent is None:
        raise InvalidInput("There is no agent to remember this for.")
    person = request.user
    return NewMemory(
        content=form.cleaned_data["content"],
        kind=form.cleaned_data["kind"],
        visibility=Visibility.PRIVATE,
        agent=agent,
        origin=Origin.EXPLICIT,
        source_platform=SourcePlatform.WEB,
        owner=person,
        subject_type=SubjectType.USER,
        subject_key=str(person.pk),
        retry_key=("page", str(person.pk), str(form.cleaned_data["key"])),
        expires_at=form.expires_at(),
    )


@login_required
@require_POST
def forget_selected(request: HtmxHttpRequest) -> HttpResponse:
    """Forget what is ticked, as one move that is undone as one."""
    url = next_url(request, reverse("memories"))
    try:
        ids = [UUID(value) for value in request.POST.getlist("ids")]
    except ValueError as error:
        raise InvalidInput("One of these is no memory.") from error
    if not ids:
        say(request, "Nothing was ticked, so nothing was forgotten.", failed=True)
        return answer_with_list(request, url)
    done = forgetting.forget_many(viewer_of(request), ids, doer=doer_of(request))
    count, left = len(done.forgotten), len(ids) - len(done.forgotten)
    text = _("Forgot {memories}.").format(memories=words.memories(count))
    if left:
        text += " " + _("{n} could not be forgotten.").format(n=left)
    undo = reverse("batch_restore", args=[done.batch_id]) if count else ""
    say(request, text, undo=undo, target="#results", failed=not count)
    return answer_with_list(request, url)


@login_required
@require_POST
def restore_batch(request: HtmxHttpRequest, batch_id: UUID) -> HttpResponse:
    """Undo one move as far as it goes."""
    back = forgetting.restore_batch(viewer_of(request), batch_id, doer=doer_of(request))
    text = _("Brought back {memories}.").format(memories=words.memories(back.restored))
    if back.skipped:
        text += " " + _("{n} could not come back.").format(n=len(back.skipped))
    say(request, text)
    return answer_with_list(request, next_url(request, reverse("memories")))
