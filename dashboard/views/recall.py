"""What-if: a message in, what would be recalled for it, and what stopped the rest."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import login_required
from dashboard.forms import WhatIfForm
from dashboard.http import HtmxHttpRequest, render
from dashboard.what_if import MAX_OFF, Question, ask_what_if

PAGE = "dashboard/recall/what_if.html"
ANSWER = "dashboard/recall/_answer.html"


@login_required
@require_safe
def ask(request: HtmxHttpRequest) -> HttpResponse:
    """Show the form."""
    return render(request, PAGE, {"form": WhatIfForm(request.user)})


@login_required
@require_POST
def explain(request: HtmxHttpRequest) -> HttpResponse:
    """Answer a message. Posted, so that its text stands in no address and no access log."""
    form = WhatIfForm(request.user, request.POST)
    if not form.is_valid():
        return render(request, PAGE, {"form": form}, part=ANSWER, status=422)
    off, on = _ids(request, "off"), _ids(request, "on")
    question = Question(
        text=form.cleaned_data["text"],
        agent=form.agent(),
        visibility=form.cleaned_data["where"],
        org=form.org(),
        ask_model=bool(form.cleaned_data.get("ask_model")),
        without=(_ids(request, "without") | off) - on,
        before=_ids(request, "given") if off or on else frozenset(),
    )
    answer = ask_what_if(request.user, question)
    return render(request, PAGE, {"form": form, "answer": answer}, part=ANSWER)


def _ids(request: HtmxHttpRequest, name: str) -> frozenset[UUID]:
    """Read ids that the page wrote; what is none is left out."""
    found = set()
    for value in request.POST.getlist(name)[:MAX_OFF]:
        try:
            found.add(UUID(value))
        except ValueError:
            continue
    return frozenset(found)
