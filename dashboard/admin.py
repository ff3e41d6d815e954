"""Takes allauth's tables out of the admin: nothing here reads them, and secrets belong in none."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin

for model in (EmailAddress, SocialAccount, SocialApp, SocialToken):
    if admin.site.is_registered(model):
        admin.site.unregister(model)
