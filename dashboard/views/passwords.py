"""A forgotten password: asking for a link, and setting a new one by it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard.forms_account import ForgottenForm, NewPasswordForm
from dashboard.http import render
from dashboard.mail import PostedAfter, address_of
from dashboard.tries import spend_mail
from junior_memory.errors import NotFound
from junior_memory.models import User
from junior_memory.passwords import reset_password, reset_token, user_for_reset

ASK = "registration/forgotten.html"
SET = "registration/new_password.html"


@require_safe
def ask_page(request: HttpRequest) -> HttpResponse:
    """Show the form, or that a link is on its way."""
    context = {"form": ForgottenForm(), "sent": "sent" in request.GET}
    return render(request, ASK, context)


@require_POST
def ask(request: HttpRequest) -> HttpResponse:
    """Mail a link; neither the answer nor its time tells whether the address is known."""
    form = ForgottenForm(request.POST)
    if not form.is_valid():
        return render(request, ASK, {"form": form}, status=422)
    email = form.cleaned_data["email"].lower()
    spend_mail(request, email, of="forgotten")
    response = PostedAfter(f"{reverse('password_forgotten')}?sent")
    known = User.objects.filter(email=email, email_verified_at__isnull=False, is_active=True)
    user = known.first()
    if user is not None:
        url = address_of(request, reverse("password_new", args=reset_token(user)))
        text = "registration/forgotten_email.txt"
        response.post(user, _("A new password"), text, url=url)
    return response


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
