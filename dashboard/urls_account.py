"""Addresses of signing up, signing in elsewhere, and a forgotten password."""

from __future__ import annotations

from django.urls import path

from dashboard.http import by_method
from dashboard.views import accounts, passwords, sign_in_elsewhere

urlpatterns = [
    path(
        "reset-password",
        by_method(get=passwords.ask_page, post=passwords.ask),
        name="password_forgotten",
    ),
    path(
        "reset-password/<str:uid>/<str:token>/",
        by_method(get=passwords.choose_page, post=passwords.choose),
        name="password_new",
    ),
    path(
        "invitations/<str:token>/",
        by_method(get=accounts.join_page, post=accounts.join),
        name="invitation",
    ),
    path("sign-in/oidc", sign_in_elsewhere.leave, name="oidc"),
    path("sign-in/oidc/callback", sign_in_elsewhere.come_back, name="oidc_callback"),
    path("people", accounts.show_people, name="people"),
    path("people/invite", accounts.invite, name="people_invite"),
    path("people/invitations/<uuid:invitation_id>/send", accounts.invite_again, name="people_send"),
    path(
        "people/invitations/<uuid:invitation_id>/withdraw",
        accounts.withdraw,
        name="people_withdraw",
    ),
]
