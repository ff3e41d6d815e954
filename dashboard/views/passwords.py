"""A forgotten password: asking for a link, and setting a new one by it."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard.forms_account import ForgottenForm, NewPasswordForm
from dashboard.http import render
from dashboard.mail import post
from junior_memory.errors import NotFound
from junior_memory.models import User
from junior_memory.passwords import reset_password, reset_token, user_for_reset
from junior_memory.people import spend_rate

ASK = "registration/forgotten.html"
SET = "registration/new_password.html"
ASKED_AN_HOUR = 5
"""Links that one address may ask for in an hour, whether it is known or not."""


@require_safe
def ask_page(request: HttpRequest) -> HttpResponse:
    """Show the form, or that a link is on its way."""
    context = {"form": ForgottenForm(), "sent": "sent" in request.GET}
    return render(request, ASK, context)


@require_POST
def ask(request: HttpRequest) -> HttpResponse:
    """Mail a link; the answer does not tell whether the address is known."""
    form = ForgottenForm(request.POST)
    if not form.is_valid():
        return render(request, ASK, {"form": form}, status=422)
    email = form.cleaned_data["email"].lower()
    digest = hashlib.sha256(email.encode()).hexdigest()[:32]
    spend_rate(f"forgotten:{digest}", limit=ASKED_AN_HOUR, window_seconds=3600)
    known = User.objects.filter(email=email, email_verified_at__isnull=False, is_active=True)
    user = known.first()
    if user is not None:
        url = request.build_absolute_uri(reverse("password_new", args=reset_token(user)))
        post(email, _("A new password"), "registration/forgotten_email.txt", url=url)
    return HttpResponseRedirect(f"{reverse('password_forgotten')}?sent")


@require_safe
def choose_page(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Show the form of a link that works; showing it does not use the link up."""
    user = user_for_reset(uid, token)
    if user is None:
        return render(request, SET, {"person": None}, status=404)
    return render(request, SET, {"person": user, "form": NewPasswordForm(user)})


@sensitive_post_parameters()
@require_POST
def choose(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Set the password; every session ends, and whoever asked signs in with it."""
    user = user_for_reset(uid, token)
    if user is None:
        return render(request, SET, {"person": None}, status=404)
    form = NewPasswordForm(user, request.POST)
    if not form.is_valid():
        return render(request, SET, {"person": user, "form": form}, status=422)
    try:
        reset_password(uid, token, form.cleaned_data["new_password1"])
    except NotFound:
        return render(request, SET, {"person": None}, status=404)
    return HttpResponseRedirect(f"{reverse('sign_in')}?changed")
