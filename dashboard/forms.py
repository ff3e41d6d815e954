"""What people type, checked before the domain sees it."""

from __future__ import annotations

import uuid
from datetime import datetime, time
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dashboard.what_if import has_model
from junior_memory.holding import MAX_REASON
from junior_memory.list_counts import agent_names
from junior_memory.models import Agent, MemoryKind, Organization, User
from junior_memory.models.memory import MAX_CONTENT_LENGTH

AGENTS_OFFERED = 200


class _Form(forms.Form):
    """A form whose widgets carry our classes and name their errors."""

    use_required_attribute = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            widget = field.widget
            classes = widget.attrs.get("class", "")
            widget.attrs["class"] = f"input {classes}".strip()


class SignInForm(_Form):
    """E-mail and password."""

    email = forms.EmailField(
        label=_("E-mail"),
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class SignInLinkForm(SignInForm):
    """Where to send a one-time link: the same form, whose password is not asked for."""

    password = forms.CharField(
        label=_("Password"),
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class ContentForm(_Form):
    """The text of a memory. Length is judged by the domain, after whitespace is collapsed."""

    content = forms.CharField(
        label=_("What should be remembered?"),
        max_length=4 * MAX_CONTENT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2, "class": "fact-input", "dir": "auto"}),
    )


def _agent_choices() -> list[tuple[str, str]]:
    """Return the agents there are, the oldest first: that is the default one."""
    return [(name, name) for name in agent_names(AGENTS_OFFERED)] or [("", "default")]


class AddMemoryForm(ContentForm):
    """A memory in a person's own words."""

    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[(key, _(str(title))) for key, title in MemoryKind.choices],
        initial=MemoryKind.KNOWLEDGE,
    )
    agent = forms.ChoiceField()
    expires_on = forms.DateField(
        label=_("Forget by itself after"),
        required=False,
        help_text=_("Leave empty to keep it until you forget it."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = _agent_choices()
        self.fields["agent"] = forms.ChoiceField(label=_("For which agent"), choices=choices)
        self.fields["agent"].widget.attrs["class"] = "input"

    def expires_at(self) -> datetime | None:
        """Return the end of the chosen day."""
        on = self.cleaned_data["expires_on"]
        if on is None:
            return None
        return timezone.make_aware(datetime.combine(on, time(23, 59, 59)))


class CorrectForm(ContentForm):
    """Other words for a memory, and the version that they were written over."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["content"].label = _("What should it say instead?")


class EraseForm(_Form):
    """The typed word without which nothing is erased."""

    WORD = "erase"

    confirm = forms.CharField(
        label=_("Type “erase” to confirm"),
        max_length=20,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def clean_confirm(self) -> str:
        """Accept the word alone, whatever its case."""
        word: str = self.cleaned_data["confirm"].strip().lower()
        if word != self.WORD:
            raise forms.ValidationError(_("That is not the word “erase”."))
        return word


class ReasonForm(_Form):
    """Why somebody does what another person will read the reason of."""

    reason = forms.CharField(
        label=_("Why?"),
        max_length=MAX_REASON,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )


class AdminReadForm(ReasonForm):
    """Whose memory a staff member reads, and the reason that this person sees."""

    person = forms.CharField(
        label=_("Whose memory"),
        max_length=254,
        help_text=_("Their e-mail address."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    field_order = ("person", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="read_%s", **kwargs)
        self.fields["reason"].help_text = _(
            "They see it word for word, with your name and the time."
        )


class WhatIfForm(_Form):
    """A message as an assistant might get it, and where."""

    WHERE = (
        ("private", _("In a private conversation with you")),
        ("org", _("In a team’s conversation")),
        ("public", _("Where everyone can read")),
    )

    text = forms.CharField(
        label=_("A message to the assistant"),
        max_length=32_000,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 3, "dir": "auto", "placeholder": _("Can we deploy on Friday afternoon?")}
        ),
    )
    where = forms.ChoiceField(label=_("Where it is written"), choices=WHERE)
    ask_model = forms.BooleanField(
        label=_("Ask the model that chooses; this costs what one recall costs"), required=False
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._orgs = {
            str(one.organization.pk): one.organization
            for one in user.memberships.select_related("organization")
        }
        teams = [("", _("No team")), *((key, org.name) for key, org in self._orgs.items())]
        self.fields["agent"] = forms.ChoiceField(label=_("Which agent"), choices=_agent_choices())
        only = next(iter(self._orgs)) if len(self._orgs) == 1 else ""
        self.fields["team"] = forms.ChoiceField(
            label=_("Whose team’s agent"), choices=teams, required=False, initial=only
        )
        for name in ("agent", "team"):
            self.fields[name].widget.attrs["class"] = "input"
        if not has_model():
            del self.fields["ask_model"]

    def agent(self) -> Agent:
        """Return the chosen agent."""
        return Agent.objects.get(name=self.cleaned_data["agent"])

    def org(self) -> Organization | None:
        """Return the chosen team, if any: one that the person belongs to."""
        return self._orgs.get(self.cleaned_data["team"])
