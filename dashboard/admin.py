"""What the admin leaves out: allauth's tables, which nothing here reads, and a door of its own."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from dashboard.views import sign_in

for model in (EmailAddress, SocialAccount, SocialApp, SocialToken):
    if admin.site.is_registered(model):
        admin.site.unregister(model)


def _sign_in(request: HttpRequest, extra_context: object = None) -> HttpResponse:
    """Sign staff in where everybody does: tries are counted there, and links and issuers work."""
    del extra_context
    return sign_in.send_staff(request)


admin.site.login = _sign_in  # type: ignore[method-assign]
