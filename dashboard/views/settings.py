"""Settings: what a person allows, topics, name and password."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard import words
from dashboard.access import login_required
from dashboard.account import Settings
from dashboard.forms_settings import (
    ConsentForm,
    ElsewhereForm,
    PasswordForm,
    ProfileForm,
    ReadingForm,
    TopicsForm,
)
from dashboard.http import HtmxHttpRequest, doer_of, redirect_to, render, say, wants_part
from dashboard.languages import read_as
from junior_memory import people
from junior_memory.audit import record_audit
from junior_memory.errors import InvalidInput
from junior_memory.passwords import end_other_sessions

PAGE = "dashboard/settings/settings.html"
PASSWORD_TRIES = 10
"""Tries at one's own present password in ten minutes."""


def show_section(
    request: HtmxHttpRequest, section: str, *, status: int = 200, **made: Any
) -> HttpResponse:
    """Render one section, or the whole page around it, with what was just posted or made."""
    settings = Settings(request.user, now=timezone.now(), **made)
    part = f"dashboard/settings/_{section}.html"
    context = {"settings": settings, "changed": section}
    return render(request, PAGE, context, part=part, status=status)


def changed(request: HtmxHttpRequest, section: str, text: str) -> HttpResponse:
    """Say what was done, and return to its section."""
    say(request, text)
    if not wants_part(request):
        return redirect_to(request, f"{reverse('settings')}#{section}")
    request.user.refresh_from_db()
    return show_section(request, section)


def refused(
    request: HtmxHttpRequest, section: str, form: forms.BaseForm, *, status: int = 422
) -> HttpResponse:
    """Return a form with its mistakes."""
    return show_section(request, section, form=form, status=status)


@login_required
@require_safe
def show_settings(request: HtmxHttpRequest) -> HttpResponse:
    """Show everything a person decides and everything that was done about them."""
    return render(request, PAGE, {"settings": Settings(request.user, now=timezone.now())})


@login_required
@require_POST
def change_consent(request: HtmxHttpRequest) -> HttpResponse:
    """Turn learning and recall on or off, and say what may be used in public."""
    form = ConsentForm(request.POST)
    if not form.is_valid():
        return refused(request, "consent", form)
    people.change_preferences(request.user, doer=doer_of(request), **form.cleaned_data)
    return changed(request, "consent", "Saved.")


@login_required
@require_POST
def change_topics(request: HtmxHttpRequest) -> HttpResponse:
    """Keep the topics that are never to be learned."""
    form = TopicsForm(request.POST)
    if form.is_valid():
        try:
            people.change_preferences(request.user, doer=doer_of(request), topics=form.lines())
        except InvalidInput as error:
            form.add_error("topics", words.refused(error))
        else:
            return changed(request, "topics", "Topics saved.")
    return refused(request, "topics", form)


@login_required
@require_POST
def change_profile(request: HtmxHttpRequest) -> HttpResponse:
    """Keep a person's name."""
    form = ProfileForm(request.POST)
    if not form.is_valid():
        return refused(request, "profile", form)
    name = form.cleaned_data["display_name"]
    people.change_preferences(request.user, doer=doer_of(request), display_name=name)
    return changed(request, "profile", "Name saved.")


@login_required
@require_POST
def change_reading(request: HtmxHttpRequest) -> HttpResponse:
    """Keep the language and time zone; the whole page is read again in them."""
    form = ReadingForm(request.POST)
    if not form.is_valid():
        return refused(request, "reading", form)
    people.change_preferences(request.user, doer=doer_of(request), **form.cleaned_data)
    request.user.refresh_from_db()
    read_as(request.user)
    say(request, _("Language and time saved."))
    return redirect_to(request, f"{reverse('settings')}#reading")


@sensitive_post_parameters()
@login_required
@require_POST
def change_password(request: HtmxHttpRequest) -> HttpResponse:
    """Set a new password; every other session of this person ends."""
    people.spend_rate(f"password:{request.user.pk}", limit=PASSWORD_TRIES, window_seconds=600)
    form = PasswordForm(request.user, request.POST)
    if not form.is_valid():
        return refused(request, "password", form)
    user = form.save()
    update_session_auth_hash(request, user)
    record_audit("password_changed", doer_of(request), now=timezone.now(), person_id=user.pk)
    return changed(request, "password", "Password changed. Other sessions are signed out.")


@sensitive_post_parameters()
@login_required
@require_POST
def sign_out_elsewhere(request: HtmxHttpRequest) -> HttpResponse:
    """End every other session of this person."""
    people.spend_rate(f"password:{request.user.pk}", limit=PASSWORD_TRIES, window_seconds=600)
    form = ElsewhereForm(request.user, request.POST)
    if not form.is_valid():
        return refused(request, "password", form)
    try:
        present = form.cleaned_data.get("present", "")
        user = end_other_sessions(request.user, present, doer=doer_of(request))
    except InvalidInput as error:
        form.add_error("present", words.refused(error))
        return refused(request, "password", form)
    update_session_auth_hash(request, user)
    return changed(request, "password", "Other sessions are signed out.")
