"""Addresses of the settings page and of what it changes."""

from __future__ import annotations

from django.urls import path

from dashboard.views import identities, own_data, records, settings, tokens

urlpatterns = [
    path("settings", settings.show_settings, name="settings"),
    path("settings/consent", settings.change_consent, name="settings_consent"),
    path("settings/topics", settings.change_topics, name="settings_topics"),
    path("settings/profile", settings.change_profile, name="settings_profile"),
    path("settings/reading", settings.change_reading, name="settings_reading"),
    path("settings/password", settings.change_password, name="settings_password"),
    path("settings/sign-out-elsewhere", settings.sign_out_elsewhere, name="settings_elsewhere"),
    path("settings/linking-code", identities.make_code, name="settings_code"),
    path(
        "settings/identities/<uuid:identity_id>/unlink", identities.unlink, name="settings_unlink"
    ),
    path("settings/tokens", tokens.create_token, name="settings_tokens"),
    path("settings/tokens/<uuid:token_id>/revoke", tokens.revoke_token, name="settings_revoke"),
    path("settings/paper", own_data.show_paper, name="settings_paper"),
    path("settings/export", own_data.export, name="settings_export"),
    path("settings/import", own_data.import_file, name="settings_import"),
    path("settings/forget-everything", own_data.forget_everything, name="settings_forget"),
    path("settings/never-learn-again", records.list_marks, name="settings_marks"),
    path("settings/never-learn-again/<uuid:mark_id>/lift", records.lift_mark, name="settings_lift"),
    path("settings/activity", records.list_activity, name="settings_activity"),
    path("settings/receipts", records.list_receipts, name="settings_receipts"),
]
