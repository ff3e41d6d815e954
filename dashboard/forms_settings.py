"""The forms of the settings page."""

from __future__ import annotations

from datetime import datetime, time
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.conf import settings
from django.contrib.auth.forms import SetPasswordForm
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dashboard.languages import zones
from junior_memory.exchange import MAX_IMPORT_BYTES
from junior_memory.models import Agent, PublicUse, User
from junior_memory.models.people import MAX_TOPIC_LENGTH, MAX_TOPICS

if TYPE_CHECKING:
    _SetPasswordForm = SetPasswordForm[User]
else:
    _SetPasswordForm = SetPasswordForm

AGENTS_OFFERED = 200
TYPED = (forms.TextInput, forms.PasswordInput, forms.Textarea, forms.DateInput, forms.Select)

PUBLIC_USES = (
    (PublicUse.PREFERENCES, _("Preferences only: how I like things, never what I know or do")),
    (PublicUse.ALL, _("Everything")),
    (PublicUse.NONE, _("Nothing")),
)
SCOPES = (
    ("read", _("Read and export")),
    ("write", _("Add, correct, forget and change settings")),
    ("report", _("Read the overview’s numbers (staff)")),
)


def _dress(form: forms.BaseForm) -> None:
    """Give what is typed or chosen from a list the look of the page."""
    for field in form.fields.values():
        if isinstance(field.widget, TYPED) and not isinstance(
            field.widget, forms.RadioSelect | forms.CheckboxSelectMultiple
        ):
            field.widget.attrs["class"] = "input"


class _Form(forms.Form):
    """A form with a prefix of its own, so that many stand on one page with distinct ids."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", f"{type(self).__name__.removesuffix('Form').lower()}_%s")
        super().__init__(*args, **kwargs)
        _dress(self)


class _Whole(_Form):
    """A form that is refused when a field did not come at all: an empty one empties a setting."""

    def clean(self) -> dict[str, Any] | None:
        """Look for what was left out."""
        for name in self.fields:
            if self.add_prefix(name) not in self.data:
                self.add_error(name, forms.Field.default_error_messages["required"])
        return super().clean()


class ConsentForm(_Form):
    """What a person allows."""

    learning = forms.BooleanField(label=_("Learn from my conversations"), required=False)
    recall = forms.BooleanField(label=_("Use what is remembered about me"), required=False)
    public_use = forms.ChoiceField(
        label=_("In public and team conversations, my assistant may use"),
        choices=PUBLIC_USES,
        widget=forms.RadioSelect,
    )

    @classmethod
    def of(cls, user: User) -> ConsentForm:
        """Return the form as the person left it."""
        return cls(
            initial={
                "learning": user.learning_off_at is None,
                "recall": user.recall_off_at is None,
                "public_use": user.public_use,
            }
        )


class TopicsForm(_Whole):
    """Topics that are never learned, one on each line."""

    topics = forms.CharField(
        label=_("One topic on each line"),
        required=False,
        max_length=MAX_TOPICS * (MAX_TOPIC_LENGTH + 2) * 2,
        help_text=_("Up to 50 topics of 100 characters."),
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "autocomplete": "off"}),
    )

    @classmethod
    def of(cls, user: User) -> TopicsForm:
        """Return the form with the person's topics."""
        return cls(initial={"topics": "\n".join(user.never_learn_topics)})

    def lines(self) -> list[str]:
        """Return the topics as typed; the domain cleans and counts them."""
        text: str = self.cleaned_data["topics"]
        return text.splitlines()


class ProfileForm(_Whole):
    """How a person is called."""

    display_name = forms.CharField(
        label=_("Your name"),
        required=False,
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )


class ReadingForm(_Form):
    """In which language and time zone a person reads."""

    language = forms.ChoiceField(label=_("Language"), required=False)
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        languages = cast(forms.ChoiceField, self.fields["language"])
        languages.choices = [("", _("As the browser asks for")), *settings.LANGUAGES]
        places = cast(forms.ChoiceField, self.fields["time_zone"])
        names = sorted(zones() - {"UTC"})
        places.choices = [("", "UTC"), *((name, name.replace("_", " ")) for name in names)]


class PasswordForm(_SetPasswordForm):
    """A new password; the present one first, when there is one."""

    present = forms.CharField(
        label=_("Present password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    field_order = ("present", "new_password1", "new_password2")

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", "password_%s")
        super().__init__(user, *args, **kwargs)
        if not user.has_usable_password():
            del self.fields["present"]
        self.fields["new_password1"].help_text = _(
            "At least 8 characters, and none of the usual ones."
        )
        self.fields["new_password2"].label = _("New password again")
        self.fields["new_password2"].help_text = ""
        _dress(self)

    def clean_present(self) -> str:
        """Refuse a wrong present password."""
        typed: str = self.cleaned_data["present"]
        if not self.user.check_password(typed):
            raise forms.ValidationError(_("That is not your present password."))
        return typed


class ElsewhereForm(_Form):
    """Signing out everywhere else: the present password, when there is one."""

    present = forms.CharField(
        label=_("Present password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not user.has_usable_password():
            del self.fields["present"]
        _dress(self)


class TokenForm(_Form):
    """A new personal token."""

    label = forms.CharField(
        label=_("What it is for"),
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": _("Backup script")}),
    )
    scopes = forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=SCOPES,
        initial=["read"],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose what the token may do.")},
    )
    expires_on = forms.DateField(
        label=_("Stops working after"),
        required=False,
        help_text=_("Leave empty for a token that works until you revoke it."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )

    def __init__(self, *args: Any, staff: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast(forms.MultipleChoiceField, self.fields["scopes"])
        field.choices = [pair for pair in SCOPES if staff or pair[0] != "report"]

    def clean_expires_on(self) -> datetime | None:
        """Return the end of the chosen day, which must not be over."""
        on = self.cleaned_data["expires_on"]
        if on is None:
            return None
        end = timezone.make_aware(datetime.combine(on, time(23, 59, 59)))
        if end <= timezone.now():
            raise forms.ValidationError(_("That day is over."))
        return end


class ImportForm(_Form):
    """A file that an export made."""

    file = forms.FileField(
        label=_("An export file"),
        widget=forms.FileInput(attrs={"accept": ".ndjson,application/x-ndjson"}),
    )

    def clean_file(self) -> Any:
        """Refuse what is too large to be read."""
        upload = self.cleaned_data["file"]
        if upload.size > MAX_IMPORT_BYTES:
            raise forms.ValidationError(
                _("At most {n} MB.").format(n=MAX_IMPORT_BYTES // 1024 // 1024)
            )
        return upload


class ForgetEverythingForm(_Form):
    """The typed sentence without which nothing is forgotten, and for which agent."""

    SENTENCE = "forget everything"

    agent = forms.ChoiceField(label=_("Of what"), required=False)
    confirm = forms.CharField(
        label=_("Type “forget everything” to confirm"),
        max_length=40,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
        error_messages={"required": _("Type “forget everything”. Nothing was forgotten.")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = Agent.objects.order_by("created_at", "name").values_list("name", flat=True)
        field = cast(forms.ChoiceField, self.fields["agent"])
        field.choices = [
            ("", _("Everything, whatever the assistant")),
            *(
                (name, _("Only what “{name}” remembers").format(name=name))
                for name in names[:AGENTS_OFFERED]
            ),
        ]

    def clean_confirm(self) -> str:
        """Accept the sentence alone, whatever its case and spacing."""
        typed = " ".join(self.cleaned_data["confirm"].lower().split())
        if typed != self.SENTENCE:
            raise forms.ValidationError(
                _("That is not “forget everything”. Nothing was forgotten.")
            )
        return typed
