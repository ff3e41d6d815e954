"""One conversation: what was captured in it, as far as the viewer may read that now."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.access import login_required
from dashboard.http import HtmxHttpRequest, render, viewer_of
from junior_memory import clock
from junior_memory.history import conversation_memories, conversation_rows
from junior_memory.text import MAX_NAME_LENGTH


@login_required
@require_safe
def show_conversation(request: HtmxHttpRequest, conversation_id: str) -> HttpResponse:
    """Show the transcript rows of one conversation, with texts looked up through visibility."""
    if len(conversation_id) > MAX_NAME_LENGTH or "\x00" in conversation_id:
        raise Http404
    viewer, now = viewer_of(request), clock.now()
    rows = conversation_rows(viewer, conversation_id, now=now)
    captured = {memory.pk for row in rows for memory in row.memories}
    found = conversation_memories(viewer, conversation_id, now=now)
    asked = [memory for memory in found if memory.pk not in captured]
    if not rows and not asked:
        raise Http404
    context = {"conversation_id": conversation_id, "rows": rows, "asked": asked}
    return render(request, "dashboard/conversations/detail.html", context)
