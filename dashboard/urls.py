"""Addresses of the pages. One view per verb: `by_method` names them where there are several."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from dashboard import urls_account, urls_admin, urls_settings
from dashboard.http import by_method
from dashboard.views import conversations, inbox, memories, memory, public, recall, sign_in

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="memories"), name="home"),
    # Signing in
    path("sign-in", by_method(get=sign_in.sign_in_page, post=sign_in.sign_in), name="sign_in"),
    path("sign-in/link", sign_in.send_link, name="sign_in_link"),
    path(
        "sign-in/<str:uid>/<str:token>/",
        by_method(get=sign_in.confirm_link, post=sign_in.use_link),
        name="sign_in_confirm",
    ),
    path("sign-out", sign_in.sign_out, name="sign_out"),
    path("theme", sign_in.choose_theme, name="theme"),
    # Memories
    path("memories", memories.list_memories, name="memories"),
    path(
        "memories/new",
        by_method(get=memories.new_memory, post=memories.add_memory),
        name="memory_new",
    ),
    path("memories/forget", memories.forget_selected, name="memories_forget"),
    path("forget-batches/<uuid:batch_id>/restore", memories.restore_batch, name="batch_restore"),
    path("memories/<uuid:memory_id>", memory.show_memory, name="memory_detail"),
    path(
        "memories/<uuid:memory_id>/correct",
        by_method(get=memory.correct_form, post=memory.correct),
        name="memory_correct",
    ),
    path("memories/<uuid:memory_id>/forget", memory.forget, name="memory_forget"),
    path("memories/<uuid:memory_id>/restore", memory.restore, name="memory_restore"),
    path(
        "memories/<uuid:memory_id>/erase",
        by_method(get=memory.erase_form, post=memory.erase),
        name="memory_erase",
    ),
    # What waits for a person's word
    path("inbox", inbox.show_inbox, name="inbox"),
    path("memories/<uuid:memory_id>/approve", inbox.approve, name="memory_approve"),
    path("memories/<uuid:memory_id>/decline", inbox.decline, name="memory_decline"),
    path("memories/<uuid:memory_id>/hold", inbox.hold, name="memory_hold"),
    path("conflicts/<uuid:conflict_id>", inbox.decide, name="conflict_decide"),
    path("conflicts/<uuid:conflict_id>/reopen", inbox.reopen, name="conflict_reopen"),
    # Public memory
    path("memories/<uuid:memory_id>/report", public.report, name="memory_report"),
    path("public/<uuid:memory_id>/remove", public.remove, name="public_remove"),
    path("public/<uuid:memory_id>/restore", public.put_back, name="public_restore"),
    # How it is used
    path("recall", by_method(get=recall.ask, post=recall.explain), name="recall"),
    path(
        "conversations/<path:conversation_id>",
        conversations.show_conversation,
        name="conversation",
    ),
    *urls_account.urlpatterns,
    *urls_settings.urlpatterns,
    *urls_admin.urlpatterns,
]
