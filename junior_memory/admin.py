"""Django's admin for people, organizations, agents and tokens. Never memory content.

No Memory, session or event is registered here: those have pages that respect visibility.
"""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from junior_memory import clock, forgetting
from junior_memory.access import TIERS
from junior_memory.audit import Doer, record_audit
from junior_memory.models import (
    Agent,
    ApiToken,
    Identity,
    Location,
    Membership,
    Organization,
    User,
)

admin.site.site_header = "Junior Memory"
admin.site.site_title = "Junior Memory"
admin.site.index_title = "People, organizations and agents"


class WithoutWords(admin.ModelAdmin):  # type: ignore[type-arg]
    """Keeps a history that names rows by id: what a row was called may be what had to go."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Note that a row was added."""
        return _note(request, [obj], ADDITION, message)[0]

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Note which fields were changed; their values are in no message."""
        return _note(request, [obj], CHANGE, message)[0]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Note which rows were deleted."""
        return _note(request, list(queryset), DELETION, "")


def _note(request: HttpRequest, rows: list[Any], flag: int, message: Any) -> list[LogEntry]:
    return [
        LogEntry.objects.create(
            user_id=str(request.user.pk),
            content_type_id=ContentType.objects.get_for_model(row, for_concrete_model=False).pk,
            object_id=str(row.pk),
            object_repr=str(row.pk)[:8],
            action_flag=flag,
            change_message=json.dumps(message) if isinstance(message, list) else str(message),
        )
        for row in rows
    ]


def _doer(request: HttpRequest) -> Doer:
    return Doer(user=request.user if isinstance(request.user, User) else None, via="admin")


class PersonCreationForm(AdminUserCreationForm):
    """Asks for an e-mail instead of a user name."""

    class Meta:
        model = User
        fields = ("email",)


class PersonChangeForm(UserChangeForm):  # type: ignore[type-arg]
    """Leaves out the never-learn topics: a person keeps those for themselves."""

    class Meta:
        model = User
        fields = "__all__"


@admin.register(User)
class PersonAdmin(WithoutWords, UserAdmin):  # type: ignore[type-arg]
    """People. Deleting one forgets and erases everything that is theirs."""

    form = PersonChangeForm
    add_form = PersonCreationForm
    ordering = ("email",)
    list_display = ("email", "display_name", "is_staff", "is_active", "created_at")
    list_filter = ("is_staff", "is_active")
    search_fields = ("email", "display_name")
    readonly_fields = ("last_login", "created_at", "learning_off_at", "recall_off_at")
    fieldsets = (
        (None, {"fields": ("email", "email_verified_at", "display_name", "password")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser")}),
        ("Choices of their own", {"fields": ("learning_off_at", "recall_off_at")}),
        ("Dates", {"fields": ("last_login", "created_at")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "usable_password", "password1", "password2")}),)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Tell a person when staff give their account another address: sign-in links go there."""
        super().save_model(request, obj, form, change)
        if change and "email" in form.changed_data:
            record_audit(
                "preferences_changed",
                _doer(request),
                now=clock.now(),
                person_id=obj.pk,
                changed=["email"],
            )

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        """Tell a person when staff set their password: whoever knows it reads as they do."""
        rows = User.objects.filter(pk=id).values_list("pk", "password")
        before = rows.first()
        answer = super().user_change_password(request, id, form_url)
        if before is not None and rows.first() != before:
            record_audit("password_changed", _doer(request), now=clock.now(), person_id=before[0])
        return answer

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Erase what is theirs with them."""
        forgetting.delete_person(obj, doer=_doer(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Erase what is theirs with them, one by one."""
        for user in queryset:
            forgetting.delete_person(user, doer=_doer(request))

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Count people alone: what hangs on them is erased by the domain, not listed by id here."""
        del request
        return [str(one) for one in objs], {"people": len(objs)}, set(), []


@admin.register(Organization)
class OrganizationAdmin(WithoutWords):
    """Organizations; their rows stay when members leave."""

    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug")


@admin.register(Membership)
class MembershipAdmin(WithoutWords):
    """Who belongs where; deleting one ends sight at once."""

    list_display = ("user", "organization", "joined_at")
    list_filter = ("organization",)
    autocomplete_fields = ("user", "organization")


@admin.register(Identity)
class IdentityAdmin(WithoutWords):
    """Provider accounts and whom they are linked to."""

    list_display = ("provider", "tenant", "subject", "user", "linked_at")
    list_filter = ("provider",)
    search_fields = ("subject", "user__email")
    autocomplete_fields = ("user",)
    readonly_fields = ("linked_at",)

    def save_model(self, request: HttpRequest, obj: Identity, form: Any, change: bool) -> None:
        """Stamp and audit a change of the link."""
        changed = "user" in form.changed_data
        if changed:
            obj.linked_at = clock.now() if obj.user_id else None
        super().save_model(request, obj, form, change)
        if changed:
            record_audit(
                "identity_linked" if obj.user_id else "identity_unlinked",
                _doer(request),
                now=clock.now(),
                person_id=obj.user_id or form.initial.get("user"),
                identity=str(obj.pk),
            )


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """Offers the tiers there are."""

    tiers = forms.MultipleChoiceField(
        choices=[(tier, tier) for tier in sorted(TIERS)],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    save_tier = forms.ChoiceField(choices=[(tier, tier) for tier in sorted(TIERS)])


@admin.register(Agent)
class AgentAdmin(WithoutWords):
    """Assistants; one made here recalls at once and learns when `extract` is turned on."""

    form = AgentForm
    list_display = ("name", "inject", "extract", "limit", "daily_budget_usd", "monthly_budget_usd")
    search_fields = ("name",)


@admin.register(Location)
class LocationAdmin(WithoutWords):
    """Places where something was said."""

    list_display = ("label", "provider", "tenant", "key")
    search_fields = ("label", "key")


@admin.register(ApiToken)
class ApiTokenAdmin(WithoutWords):
    """Tokens; made by command or on Settings, where the secret is shown once. Here: revoke."""

    list_display = ("prefix", "kind", "user", "agent", "last_used_at", "expires_at", "revoked_at")
    list_filter = ("kind",)
    actions = ("revoke",)
    readonly_fields = tuple(
        field.name for field in ApiToken._meta.fields if field.name not in {"label", "token_hash"}
    )
    exclude = ("token_hash",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing to add: a secret could not be shown."""
        del request
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """A revoked token stays on the record."""
        del request, obj
        return False

    @admin.action(description="Revoke selected tokens")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """Revoke at once."""
        queryset.filter(revoked_at__isnull=True).update(revoked_at=clock.now())
        self.message_user(request, "Revoked.")
