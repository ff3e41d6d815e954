"""Who may sign in: staff invite, the invited join. There is no other way to sign up."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard import words
from dashboard.access import staff_required
from dashboard.forms_account import InviteForm, JoinForm
from dashboard.http import HtmxHttpRequest, doer_of, redirect_to, render, say
from dashboard.mail import address_of, post
from dashboard.oidc import BACKEND
from dashboard.people import read_people
from junior_memory import invitations
from junior_memory.errors import InvalidInput, NotFound
from junior_memory.models import Invitation

PEOPLE = "dashboard/people/people.html"
JOIN = "registration/join.html"


@staff_required
@require_safe
def show_people(request: HtmxHttpRequest) -> HttpResponse:
    """Show who has an account and who is invited."""
    return _people(request, InviteForm(by=request.user))


def _people(
    request: HtmxHttpRequest, form: InviteForm, *, status: int = 200, link: str = ""
) -> HttpResponse:
    found = read_people(now=timezone.now(), query=request.GET.get("q", ""))
    context = {"people": found, "form": form, "link": link}
    return render(request, PEOPLE, context, status=status)


@staff_required
@require_POST
def invite(request: HtmxHttpRequest) -> HttpResponse:
    """Invite an address."""
    form = InviteForm(request.POST, by=request.user)
    if not form.is_valid():
        return _people(request, form, status=422)
    staff = bool(form.cleaned_data.get("staff"))
    try:
        email = form.cleaned_data["email"]
        made = invitations.invite(email, staff=staff, doer=doer_of(request))
    except InvalidInput as error:
        form.add_error("email", words.refused(error))
        return _people(request, form, status=422)
    return _send(request, *made)


@staff_required
@require_POST
def invite_again(request: HtmxHttpRequest, invitation_id: UUID) -> HttpResponse:
    """Send a new link; the one before ends."""
    return _send(request, *invitations.invite_again(invitation_id, doer=doer_of(request)))


@staff_required
@require_POST
def withdraw(request: HtmxHttpRequest, invitation_id: UUID) -> HttpResponse:
    """End an invitation."""
    invitations.withdraw(invitation_id, doer=doer_of(request))
    say(request, _("Invitation withdrawn."))
    return redirect_to(request, reverse("people"))


def _send(request: HtmxHttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    """Mail the link; where no mail goes out, show it once, for staff to hand over."""
    url = address_of(request, reverse("invitation", args=[token]))
    context = {"url": url, "until": invitation.expires_at, "by": request.user}
    sent = post(
        invitation.email, _("You are invited"), "registration/invitation_email.txt", **context
    )
    if sent and settings.EMAIL_HOST:
        say(request, _("The invitation is on its way."))
        return redirect_to(request, reverse("people"))
    return _people(request, InviteForm(by=request.user), link=url)


@require_safe
def join_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the form of an invitation that works; showing it does not use the link up."""
    found = invitations.find_invitation(token)
    if found is None:
        return _gone(request)
    return render(request, JOIN, {"invitation": found, "form": JoinForm()})


@sensitive_post_parameters()
@require_POST
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Make the person's account and sign them in; the link ends with that."""
    found = invitations.find_invitation(token)
    form = JoinForm(request.POST)
    if found is None:
        return _gone(request)
    if not form.is_valid():
        return render(request, JOIN, {"invitation": found, "form": form}, status=422)
    try:
        user = invitations.accept(token, **form.cleaned_data)
    except NotFound:
        return _gone(request)
    except InvalidInput as error:
        form.add_error(None, words.refused(error))
        return render(request, JOIN, {"invitation": found, "form": form}, status=422)
    login(request, user, backend=BACKEND)
    return HttpResponseRedirect(reverse("memories"))


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, JOIN, {"invitation": None}, status=404)
