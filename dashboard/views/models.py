"""Models on the system page: asking the chat model whether it answers, switching vectors."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dashboard import words
from dashboard.access import staff_required
from dashboard.http import HtmxHttpRequest, redirect_to, render, say, wants_part
from dashboard.system import SWITCHED_HERE, System, checked_of
from junior_memory import reembedding
from junior_memory.errors import Conflict, InvalidInput, NotFound
from junior_memory.model_health import check_chat_model
from junior_memory.models import EmbeddingModel

CHAT_MODEL = "dashboard/system/_chat_model.html"


@staff_required
@require_POST
def check_model(request: HtmxHttpRequest) -> HttpResponse:
    """Ask the chat model one small question, and say how it answered. It is paid like any call."""
    check = check_chat_model()
    if check is None:
        raise NotFound
    checked = checked_of(check)
    if not wants_part(request):
        say(request, checked.text, failed=not checked.ok)
        return redirect_to(request, f"{reverse('system')}#models")
    context = {"system": System(request.user, now=timezone.now()), "checked": checked}
    return render(request, CHAT_MODEL, context, part=CHAT_MODEL)


@staff_required
@require_POST
def switch(request: HtmxHttpRequest, model_id: int) -> HttpResponse:
    """Let search read another model's vectors, when none of them is missing."""
    model = EmbeddingModel.objects.filter(pk=model_id).first()
    if model is None:
        raise NotFound
    if reembedding.coverage(model).total > SWITCHED_HERE:
        raise InvalidInput(_("With so many memories, switch by manage.py reembed."))
    try:
        reembedding.switch_to(model, now=timezone.now())
    except Conflict as error:
        say(request, words.refused(error), failed=True)
    else:
        text = _("Search reads the vectors of {model} now; set MEMORY_EMBEDDER to match.")
        say(request, text.format(model=model))
    return redirect_to(request, f"{reverse('system')}#models")
