"""The inbox: deciding on held memories and on facts that disagree, and taking that back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import login_required
from dashboard.account import next_page, read_after
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
from dashboard.inbox import read_inbox, read_pair, read_waiting
from junior_memory import clock, conflicts, holding

PAGE = "dashboard/inbox/inbox.html"
HELD = "dashboard/inbox/_held.html"
PAIR = "dashboard/inbox/_pair.html"
DECIDED = "dashboard/inbox/_decided.html"

KEPT = {
    "first": gettext_lazy("Kept one, forgot the other."),
    "second": gettext_lazy("Kept one, forgot the other."),
    "both": gettext_lazy("Kept both."),
    "none": gettext_lazy("Forgot both."),
}


@login_required
@require_safe
def show_inbox(request: HtmxHttpRequest) -> HttpResponse:
    """Show what waits for the person's word; for staff also what waits in public."""
    after = read_after(request.GET.get("after", ""))
    inbox = read_inbox(viewer_of(request), now=clock.now(), after=after)
    return render(request, PAGE, {"inbox": inbox, "more": next_page("inbox", inbox.rows)})


def _answer(request: HtmxHttpRequest, part: str, context: dict[str, Any]) -> HttpResponse:
    """Return what stands in the place of what was decided, or the page by redirect."""
    inbox = reverse("inbox")
    if not wants_part(request):
        return redirect_to(request, next_url(request, inbox))
    return render(request, PAGE, {**context, "here": inbox, "focus": True}, part=part)


def _decided(
    request: HtmxHttpRequest, name: str, text: str, *, undo: str, tag: str = "li"
) -> HttpResponse:
    say(request, text, undo=undo, target=f"#{name}")
    return _answer(request, DECIDED, {"name": name, "text": text, "undo": undo, "tag": tag})


@login_required
@require_POST
def approve(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Let a held memory be remembered."""
    holding.approve_held(viewer_of(request), memory_id, doer=doer_of(request))
    undo = reverse("memory_hold", args=[memory_id])
    return _decided(request, f"held-{memory_id}", _("Approved: remembered from now on."), undo=undo)


@login_required
@require_POST
def decline(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Decline a held memory: it is forgotten and not learned again."""
    holding.decline_held(viewer_of(request), memory_id, doer=doer_of(request))
    undo = reverse("memory_hold", args=[memory_id])
    text = _("Declined: forgotten, and not learned again.")
    return _decided(request, f"held-{memory_id}", text, undo=undo)


@login_required
@require_POST
def hold(request: HtmxHttpRequest, memory_id: UUID) -> HttpResponse:
    """Take the decision about a held memory back: it waits again."""
    viewer = viewer_of(request)
    holding.undo_decision(viewer, memory_id, doer=doer_of(request))
    say(request, _("Taken back: it waits for your word again."))
    if not wants_part(request):
        return redirect_to(request, next_url(request, reverse("inbox")))
    return _answer(request, HELD, {"waiting": read_waiting(viewer, memory_id, now=clock.now())})


@login_required
@require_POST
def decide(request: HtmxHttpRequest, conflict_id: UUID) -> HttpResponse:
    """Keep the first, the second, both or none of two facts that disagree."""
    keep = request.POST.get("keep", "")
    conflicts.resolve_conflict(viewer_of(request), conflict_id, keep=keep, doer=doer_of(request))
    undo = reverse("conflict_reopen", args=[conflict_id])
    return _decided(request, f"pair-{conflict_id}", str(KEPT[keep]), undo=undo, tag="article")


@login_required
@require_POST
def reopen(request: HtmxHttpRequest, conflict_id: UUID) -> HttpResponse:
    """Take the decision about two facts back: what it forgot is remembered, and both wait again."""
    viewer = viewer_of(request)
    conflicts.reopen_conflict(viewer, conflict_id, doer=doer_of(request))
    say(request, _("Taken back: these two wait for your word again."))
    if not wants_part(request):
        return redirect_to(request, next_url(request, reverse("inbox")))
    return _answer(request, PAIR, {"pair": read_pair(viewer, conflict_id, now=clock.now())})
