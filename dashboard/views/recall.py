"""What-if: a message in, what would be recalled for it, and what stopped the rest."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import login_required
from dashboard.forms import WhatIfForm
from dashboard.http import HtmxHttpRequest, render
from dashboard.what_if import ask_what_if

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
    answer = ask_what_if(
        request.user,
        text=form.cleaned_data["text"],
        agent=form.agent(),
        visibility=form.cleaned_data["where"],
        org=form.org(),
        ask_model=bool(form.cleaned_data.get("ask_model")),
    )
    return render(request, PAGE, {"form": form, "answer": answer}, part=ANSWER)
