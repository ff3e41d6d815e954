"""Signing in by password or one-time link, signing out, and the theme. Verified e-mails only."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth import authenticate, login, logout
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST, require_safe

from dashboard.context import THEME_COOKIE, THEMES
from dashboard.forms import SignInForm, SignInLinkForm
from dashboard.http import next_url, render
from dashboard.mail import PostedAfter, address_of
from dashboard.oidc import BACKEND, provider_name
from dashboard.tries import spend_mail, spend_try
from junior_memory.models import User
from junior_memory.people import sign_in_token, user_for_sign_in

THEME_SECONDS = 365 * 24 * 3600


def page(
    request: HttpRequest,
    form: SignInForm | None = None,
    *,
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the page; `refusal` says why somebody was sent back here."""
    context = {
        "form": form or SignInForm(),
        "next": next_url(request, ""),
        "sent": "sent" in request.GET,
        "changed": "changed" in request.GET,
        "refusal": refusal,
        "elsewhere": provider_name(),
    }
    return render(request, "registration/sign_in.html", context, status=status)


@require_GET
def sign_in_page(request: HttpRequest) -> HttpResponse:
    """Show the form; whoever is signed in already goes on."""
    if request.user.is_authenticated:
        return HttpResponseRedirect(next_url(request, reverse("memories")))
    return page(request)


@require_safe
def send_staff(request: HttpRequest) -> HttpResponse:
    """Send whoever asks for the admin to the one door; 403 for who came in and is not staff."""
    if request.user.is_authenticated and not request.user.is_staff:
        raise PermissionDenied
    wanted = urlencode({"next": next_url(request, reverse("admin:index"))})
    return HttpResponseRedirect(f"{reverse('sign_in')}?{wanted}")


@sensitive_post_parameters("password")
@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in by e-mail and password; one answer for every way to fail."""
    form = SignInForm(request.POST)
    if not form.is_valid():
        return page(request, form, status=422)
    spend_try(request, form.cleaned_data["email"])
    user = authenticate(
        request, username=form.cleaned_data["email"], password=form.cleaned_data["password"]
    )
    if not isinstance(user, User) or user.email_verified_at is None:
        form.add_error(None, _("That e-mail and password do not go together."))
        return page(request, form, status=422)
    login(request, user)
    return HttpResponseRedirect(next_url(request, reverse("memories")))


@sensitive_post_parameters("password")
@require_POST
def send_link(request: HttpRequest) -> HttpResponse:
    """Mail a one-time link; neither the answer nor its time tells whether the address is known.

    The button stands in the form of the password, which is not looked at here.
    """
    form = SignInLinkForm(request.POST)
    if not form.is_valid():
        return page(request, form, status=422)
    email = form.cleaned_data["email"].lower()
    spend_mail(request, email, of="sign-in-link")
    response = PostedAfter(f"{reverse('sign_in')}?sent")
    user = User.objects.filter(email=email, email_verified_at__isnull=False, is_active=True).first()
    if user is not None:
        _mail_link(request, user, response)
    return response


def _mail_link(request: HttpRequest, user: User, response: PostedAfter) -> None:
    uid, token = sign_in_token(user)
    path = reverse("sign_in_confirm", args=[uid, token])
    wanted = next_url(request, "")
    if wanted:
        path += f"?{urlencode({'next': wanted})}"
    url = address_of(request, path)
    subject = gettext_lazy("Your sign-in link")
    response.post(user, subject, "registration/sign_in_email.txt", url=url)


@require_GET
def confirm_link(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Ask before signing in, so that a program that follows links does not use one up."""
    person = user_for_sign_in(uid, token)
    status = 200 if person else 404
    return render(request, "registration/sign_in_link.html", {"person": person}, status=status)


@require_POST
def use_link(request: HttpRequest, uid: str, token: str) -> HttpResponse:
    """Sign in by a one-time link; signing in ends its validity."""
    person = user_for_sign_in(uid, token)
    if person is None:
        return render(request, "registration/sign_in_link.html", {"person": None}, status=404)
    login(request, person, backend=BACKEND)
    return HttpResponseRedirect(next_url(request, reverse("memories")))


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out; the browser forgets the pages it holds, also those behind the back button."""
    logout(request)
    response = HttpResponseRedirect(reverse("sign_in"))
    response["Clear-Site-Data"] = '"cache", "storage"'
    return response


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Keep the chosen theme in a cookie; without one the system's holds."""
    response = HttpResponseRedirect(next_url(request, reverse("memories")))
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie(
            THEME_COOKIE, theme, max_age=THEME_SECONDS, samesite="Lax", secure=request.is_secure()
        )
    else:
        response.delete_cookie(THEME_COOKIE)
    return response
