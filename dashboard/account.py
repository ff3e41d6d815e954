"""The settings page, ready to draw. Nothing is asked before a template asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from dashboard import forms_settings
from dashboard.activity import Deed, deed_of
from dashboard.oidc import provider_name
from junior_memory import records
from junior_memory.access import Viewer, person
from junior_memory.conf import conf
from junior_memory.errors import InvalidInput
from junior_memory.exchange import Imported
from junior_memory.models import (
    ApiToken,
    ErasureReceipt,
    ForgetBatch,
    Identity,
    LinkingCode,
    Memory,
    User,
)
from junior_memory.records import After, Mark, Rows
from junior_memory.single_sign_on import PROVIDER

SHOWN = 5
"""Rows of each list on the settings page itself; the rest is on a page of its own."""

IDENTITIES_SHOWN = 100
TOKENS_SHOWN = 50

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Shown:
    """A secret that is shown once, in the answer to the request that made it, and never kept."""

    value: str
    expires_at: datetime | None = None


class Settings:
    """One person's settings: forms, lists and what was just made."""

    def __init__(
        self,
        user: User,
        *,
        now: datetime,
        form: forms.BaseForm | None = None,
        code: Shown | None = None,
        token: Shown | None = None,
        imported: Imported | None = None,
    ) -> None:
        self.user = user
        self.now = now
        self.viewer: Viewer = person(user)
        self.code = code
        self.token = token
        self.imported = imported
        self._form = form

    def _or_posted(self, kind: type[forms.BaseForm], make: Callable[[], Any]) -> Any:
        """Return the form that was just posted with mistakes, or a fresh one."""
        return self._form if isinstance(self._form, kind) else make()

    @property
    def consent_form(self) -> Any:
        """What the person allows."""
        kind = forms_settings.ConsentForm
        return self._or_posted(kind, lambda: kind.of(self.user))

    @property
    def topics_form(self) -> Any:
        """Topics never to learn."""
        kind = forms_settings.TopicsForm
        return self._or_posted(kind, lambda: kind.of(self.user))

    @property
    def profile_form(self) -> Any:
        """The person's name."""
        kind = forms_settings.ProfileForm
        initial = {"display_name": self.user.display_name}
        return self._or_posted(kind, lambda: kind(initial=initial))

    @property
    def reading_form(self) -> Any:
        """The person's language and time zone."""
        kind = forms_settings.ReadingForm
        initial = {"language": self.user.language, "time_zone": self.user.time_zone}
        return self._or_posted(kind, lambda: kind(initial=initial))

    @property
    def elsewhere(self) -> str:
        """The name of the issuer whose account can be connected, or nothing."""
        connected = any(row.provider == PROVIDER for row in self.identities)
        return "" if connected else self.issuer_name

    @property
    def issuer_name(self) -> str:
        """What the issuer is called, which its accounts know by an address alone."""
        return provider_name()

    @property
    def password_form(self) -> Any:
        """A new password."""
        kind = forms_settings.PasswordForm
        return self._or_posted(kind, lambda: kind(self.user))

    @property
    def elsewhere_form(self) -> Any:
        """Signing out everywhere else."""
        kind = forms_settings.ElsewhereForm
        return self._or_posted(kind, lambda: kind(self.user))

    @property
    def token_form(self) -> Any:
        """A new token."""
        kind = forms_settings.TokenForm
        return self._or_posted(kind, lambda: kind(staff=self.user.is_staff))

    @property
    def import_form(self) -> Any:
        """A file to import."""
        kind = forms_settings.ImportForm
        return self._or_posted(kind, kind)

    @cached_property
    def forget_form(self) -> Any:
        """The typed confirmation."""
        kind = forms_settings.ForgetEverythingForm
        return self._or_posted(kind, kind)

    @cached_property
    def identities(self) -> list[Identity]:
        """The accounts that speak for this person."""
        rows = Identity.objects.filter(user=self.user).order_by("linked_at", "pk")
        return list(rows[:IDENTITIES_SHOWN])

    @cached_property
    def open_code(self) -> LinkingCode | None:
        """A code made earlier that still works; only its digest is kept."""
        rows = LinkingCode.objects.filter(user=self.user, used_at__isnull=True)
        return rows.filter(expires_at__gt=self.now).order_by("-created_at").first()

    @cached_property
    def tokens(self) -> list[ApiToken]:
        """Personal tokens that are not revoked, the newest first."""
        rows = ApiToken.objects.filter(user=self.user, revoked_at__isnull=True)
        return list(rows.order_by("-created_at", "pk")[:TOKENS_SHOWN])

    @cached_property
    def held_count(self) -> int:
        """How many memories "forget everything" would take."""
        rows = Memory.objects.visible_to(self.viewer).own(self.viewer)
        return rows.filter(archived_at__isnull=True, superseded_at__isnull=True).count()

    @cached_property
    def moves(self) -> tuple[ForgetBatch, ...]:
        """Moves of forgetting that can still be undone."""
        return records.moves_of(self.viewer, limit=SHOWN, now=self.now)

    @cached_property
    def marks(self) -> Rows[Mark]:
        """The start of the never-learn-again list."""
        return records.marks_of(self.viewer, limit=SHOWN)

    @cached_property
    def receipts(self) -> Rows[ErasureReceipt]:
        """The latest receipts."""
        return records.receipts_of(self.viewer, limit=SHOWN)

    @cached_property
    def deeds(self) -> list[Deed]:
        """The latest activity, in words."""
        rows = records.activity_of(self.viewer, limit=SHOWN).rows
        return [deed_of(entry, self.user) for entry in rows]

    @property
    def purge_days(self) -> int:
        """Days between forgetting and erasing."""
        return conf().purge_after_days

    @property
    def learning_is_off_here(self) -> bool:
        """True when this deployment learns from nobody."""
        return not conf().extraction_enabled

    @property
    def recall_is_off_here(self) -> bool:
        """True when this deployment recalls for nobody."""
        return not conf().recall_enabled


def read_after(text: str) -> After | None:
    """Read where a list goes on. Raises InvalidInput for anything that no page wrote."""
    if not text:
        return None
    moment, _, row = text.partition("~")
    try:
        at = parse_datetime(moment)
        if at is None or at.tzinfo is None:
            raise ValueError
        return After(at, UUID(row))
    except ValueError as error:
        raise InvalidInput("That page of the list does not exist.") from error


def next_page(name: str, rows: Rows[Row], *args: UUID) -> str:
    """Return the address of the rest of a list, or nothing at its end."""
    if rows.after is None:
        return ""
    after = f"{rows.after.at.isoformat()}~{rows.after.id}"
    return f"{reverse(name, args=args)}?{urlencode({'after': after})}"
