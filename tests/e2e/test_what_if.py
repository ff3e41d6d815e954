"""What would be recalled: asked, switched off and on, by mouse and by keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from junior_memory.models import ConversationEvent, MemoryUse, ModelCall
from tests.cast import Cast
from tests.e2e.acts import FACTS, disagree, remember, tab_to
from tests.e2e.conftest import Visit
from tests.factories import make_memory

MESSAGE = "May I deploy on Fridays?"


def test_a_memory_is_switched_off_and_on_and_the_difference_is_said(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, "/recall")
    page.get_by_label("A message to the assistant").fill(MESSAGE)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#given")).to_have_text("1 memory would be given")
    expect(page.locator("#given")).to_be_focused()
    given = page.locator(".judged", has_text=FACTS[0])
    expect(given).to_contain_text("fits")
    expect(given).to_contain_text("found by “deploys”, “Fridays”")
    page.get_by_text("The words that the assistant would see").click()
    expect(page.locator(".prompt")).to_contain_text(FACTS[0])
    given.get_by_role("button", name="Switch off").click()
    expect(page.locator("#off")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Nothing would be given.")
    expect(page.locator(".change")).to_be_visible()
    page.get_by_role("button", name="Switch on").click()
    expect(page.locator("#given")).to_have_text("1 memory would be given")
    expect(page.locator("#off")).to_have_count(0)


@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_private_is_kept_out_of_a_public_conversation_and_the_gate_is_named(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    private = "The deploy on Fridays broke billing."
    make_memory(owner=cast.alice, content=private, kind="knowledge")
    page = visit(cast.alice, "/recall", java_script_enabled=scripts)
    page.get_by_label("A message to the assistant").fill(MESSAGE)
    where = page.locator("select[name=where]")
    where.select_option("public")
    page.get_by_role("button", name="Ask").click()
    stopped = page.locator("section[aria-labelledby=stopped] .judged", has_text=private)
    expect(stopped).to_contain_text("Is private, and you keep that out of conversations like this")
    expect(page.locator("#given")).to_have_count(0)
    where.select_option("private")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("section[aria-labelledby=given]")).to_contain_text(private)


def test_asking_writes_nothing_and_costs_nothing(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    page = visit(cast.alice, "/recall")
    page.get_by_label("A message to the assistant").fill(MESSAGE)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#given")).to_be_visible()
    assert not MemoryUse.objects.exists()
    assert not ConversationEvent.objects.exists()
    assert not ModelCall.objects.exists()
    assert "Fridays" not in page.url


def test_what_if_and_the_inbox_and_tokens_work_by_keyboard_alone(cast: Cast, visit: Visit) -> None:
    remember(cast.alice)
    disagree(cast.alice)
    page = visit(cast.alice, "/recall")
    tab_to(page, "A message to the assistant")
    page.keyboard.type(MESSAGE)
    tab_to(page, "Ask")
    page.keyboard.press("Enter")
    expect(page.locator("#given")).to_be_focused()
    tab_to(page, "Switch off")
    page.keyboard.press("Enter")
    expect(page.locator("#off")).to_be_visible()
    tab_to(page, "Switch on")
    page.keyboard.press("Enter")
    expect(page.locator("#off")).to_have_count(0)
    tab_to(page, "Settings")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Settings")
    tab_to(page, "New token")
    page.keyboard.press("Enter")
    tab_to(page, "Make token")
    page.keyboard.press("Enter")
    expect(page.locator("#tokens .callout")).to_be_focused()
    tab_to(page, "Revoke")
    page.keyboard.press("Enter")
    expect(page.locator("#tokens")).to_contain_text("No tokens.")
    tab_to(page, "Download everything")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".ndjson")
