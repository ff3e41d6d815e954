"""What staff do on their pages, with scripts and without, and what their person sees of it."""

from __future__ import annotations

from datetime import timedelta
from threading import Event

from django.utils import timezone
from playwright.sync_api import expect

from junior_memory import capture, holding
from junior_memory.access import person
from junior_memory.models import AdminRead, CompletedSession, ModelCall
from junior_memory.providers import ModelFailed, Question
from junior_memory.providers.fake import FakeChatModel
from tests.cast import Cast
from tests.e2e.acts import assert_whole, is_active, remember, row, with_and_without_scripts
from tests.e2e.conftest import Visit
from tests.factories import BY_TEST, make_memory


def fail_session(cast: Cast, session_id: str) -> CompletedSession:
    """Let a session fail, its transcript still there."""
    now = timezone.now()
    return CompletedSession.objects.create(
        agent=cast.agent, session_id=session_id, conversation_id="c", owner=cast.alice,
        source_platform="slack", source_visibility="private", body_hash=session_id,
        lock_key=session_id, completed_at=now, created_at=now, state="failed",
        reason="attempts_exhausted", attempts=5, finished_at=now,
        transcript=[{"type": "message", "role": "user", "text": "Prefers tea, by the way."}],
    )  # fmt: skip


@with_and_without_scripts
def test_a_failed_session_is_named_with_its_reason_and_retried(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    session = fail_session(cast, "slack:1")
    page = visit(cast.root, "/system", java_script_enabled=scripts)
    failed = page.locator("#failures li", has_text="slack:1")
    expect(failed).to_contain_text("5 attempts")
    page.get_by_role("button", name="Retry slack:1").click()
    expect(page.locator("#failures")).to_have_count(0)
    expect(page.locator("#queue")).to_contain_text("Waiting")
    session.refresh_from_db()
    assert session.state == "queued"


@with_and_without_scripts
def test_people_are_kept_apart_is_tested_by_a_click(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    page = visit(cast.root, "/system", java_script_enabled=scripts)
    page.get_by_role("button", name="Test it now").click()
    expect(page.locator("#self-test .callout")).to_contain_text(
        "Yes: everybody was given exactly what is theirs."
    )
    expect(page.locator("#self-test tbody tr").first).to_be_attached()
    expect(page.locator("#self-test .bad")).to_have_count(0)


@with_and_without_scripts
def test_the_chat_model_is_asked_by_a_click_and_its_answer_is_said(
    cast: Cast, visit: Visit, chat_model: FakeChatModel, scripts: bool
) -> None:
    page = visit(cast.root, "/system", java_script_enabled=scripts)
    said = page.locator("#chat-model .callout" if scripts else ".toast")
    assert not chat_model.asked
    chat_model.script = ['{"answer": "yes"}']
    page.get_by_role("button", name="Test the connection").click()
    expect(said).to_contain_text("It answers: fake:scripted,")
    if scripts:
        expect(page.get_by_role("button", name="Test the connection")).to_be_focused()
    chat_model.script = [ModelFailed("refused", is_permanent=True)]
    page.get_by_role("button", name="Test the connection").click()
    expect(said).to_contain_text("No usable answer: declined to answer (fake:scripted,")
    expect(said).not_to_contain_text("It answers")
    assert_whole(page, "System")
    calls = ModelCall.objects.order_by("created_at").values_list("operation", "outcome")
    assert list(calls) == [("check", "ok"), ("check", "refused")]


def test_the_chat_model_is_asked_once_while_it_thinks(
    cast: Cast, visit: Visit, chat_model: FakeChatModel
) -> None:
    thought = Event()

    def think(question: Question) -> str:
        assert thought.wait(timeout=20)
        return '{"answer": "yes"}'

    chat_model.script = [think]
    page = visit(cast.root, "/system")
    button = page.get_by_role("button", name="Test the connection")
    button.click()
    expect(button).to_be_disabled()
    button.dispatch_event("click")
    thought.set()
    expect(page.locator("#chat-model .callout")).to_contain_text("It answers")
    expect(button).to_be_enabled()
    assert len(chat_model.asked) == 1


def test_the_queue_is_read_again_in_place_and_back_leaves_the_page(
    cast: Cast, visit: Visit
) -> None:
    page = visit(cast.root, "/people")
    page.get_by_role("link", name="System").click()
    assert_whole(page, "System")
    fail_session(cast, "slack:2")
    page.get_by_role("link", name="Refresh").click()
    expect(page.locator("#failures")).to_contain_text("slack:2")
    page.go_back()
    assert_whole(page, "People")
    page.go_forward()
    assert_whole(page, "System")


@with_and_without_scripts
def test_held_memories_are_approved_declined_and_taken_back(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    for content in ("The lobby has a piano.", "The roof has a garden."):
        make_memory(content=content, visibility="public", held_reason=capture.HELD_UNLINKED)
    page = visit(cast.root, "/inbox", java_script_enabled=scripts)
    row(page, "piano").get_by_role("button", name="Approve").click()
    expect(row(page, "piano")).to_have_count(0)
    assert is_active("The lobby has a piano.")
    row(page, "garden").get_by_role("button", name="Decline").click()
    expect(row(page, "garden")).to_have_count(0)
    assert not is_active("The roof has a garden.")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(row(page, "garden")).to_be_visible()
    page.reload()
    expect(row(page, "garden")).to_be_visible()
    assert not is_active("The roof has a garden.")


@with_and_without_scripts
def test_a_removed_public_memory_is_put_back_with_a_reason_that_its_author_reads(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    fact = make_memory(content="It closes at noon.", visibility="public", owner=cast.alice)
    page = visit(cast.root, f"/memories/{fact.pk}", java_script_enabled=scripts)
    page.get_by_text("Remove for everyone").click()
    page.get_by_label("Why?").last.fill("Out of date.")
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Removed for everyone.")
    assert not is_active("It closes at noon.")
    page.goto("/system/public")
    page.get_by_label("Why it comes back").fill("It does close at noon.")
    page.get_by_role("button", name="Put back").click()
    expect(page.locator(".toast")).to_contain_text("Back: everyone sees it again.")
    assert is_active("It closes at noon.")
    page = visit(cast.alice, "/settings/activity", java_script_enabled=scripts)
    expect(page.locator("main")).to_contain_text("Reason: Out of date.")
    expect(page.locator("main")).to_contain_text("Reason: It does close at noon.")


def test_an_admin_read_shows_active_memories_alone_and_ends(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    page = visit(cast.root, "/system")
    page.get_by_label("Whose memory").fill(cast.alice.email)
    page.get_by_label("Why?").fill("A ticket of theirs.")
    page.get_by_role("button", name="Read for 15 minutes").click()
    expect(page.locator("h1")).to_contain_text(cast.alice.email)
    expect(page.locator(".memory")).to_have_count(3)
    expect(page.locator(".memory button, .memory a")).to_have_count(0)
    AdminRead.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    page.reload()
    expect(page.locator("body")).not_to_contain_text("oolong")
    visit.forgive(403, 404)


def test_a_report_takes_a_public_memory_out_until_staff_decide(cast: Cast, visit: Visit) -> None:
    fact = make_memory(content="It closes at noon.", visibility="public", owner=cast.alice)
    holding.report_public(person(cast.alice), fact.pk, reason="At four.", doer=BY_TEST)
    page = visit(cast.bob)
    expect(row(page, "noon")).to_have_count(0)
    page = visit(cast.root, "/inbox")
    expect(row(page, "noon")).to_contain_text("At four.")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.locator("[data-state='decided'] button")).to_be_focused()
    page = visit(cast.bob)
    expect(row(page, "noon")).to_contain_text("View only")
