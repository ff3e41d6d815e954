"""The forms by which people are invited, join and set a new password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from dashboard.forms import _Form
from junior_memory.models import User

if TYPE_CHECKING:
    _SetPasswordForm = SetPasswordForm[User]
else:
    _SetPasswordForm = SetPasswordForm


class InviteForm(_Form):
    """Whom to invite; staff only by whoever may make staff."""

    email = forms.EmailField(
        label=_("E-mail"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    staff = forms.BooleanField(
        label=_("As staff: sees costs, decides about public memory, invites others"),
        required=False,
    )

    def __init__(self, *args: Any, by: User, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="invite_%s", **kwargs)
        self.fields["staff"].widget.attrs.pop("class")
        if not by.is_superuser:
            del self.fields["staff"]


class JoinForm(_Form):
    """A name and, for who wants one, a password."""

    display_name = forms.CharField(
        label=_("Your name"),
        required=False,
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        label=_("A password, if you want one"),
        required=False,
        max_length=4096,
        strip=False,
        help_text=_("At least 8 characters. Without one you sign in by links sent to your e-mail."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_password(self) -> str:
        """Refuse a weak one; none is fine."""
        typed: str = self.cleaned_data["password"]
        if typed:
            validate_password(typed)
        return typed


class ForgottenForm(_Form):
    """Where to send a link that sets a new password."""

    email = forms.EmailField(
        label=_("E-mail"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )


class NewPasswordForm(_SetPasswordForm):
    """A new password, twice."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        first, second = self.fields["new_password1"], self.fields["new_password2"]
        first.label, second.label = _("New password"), _("New password again")
        first.help_text = _("At least 8 characters, and none of the usual ones.")
        second.help_text = ""
        for field in (first, second):
            field.widget.attrs["class"] = "input"
