"""What was done and what is held: activity, receipts, never again, conversations, paper."""

from __future__ import annotations

import json
import re
from pathlib import Path

from django.utils import timezone
from playwright.sync_api import expect

from junior_memory import admin_reads, events, forgetting
from junior_memory.access import person
from junior_memory.audit import Doer
from junior_memory.models import Memory, Tombstone
from tests.cast import Cast
from tests.e2e.acts import (
    FACTS,
    assert_whole,
    is_active,
    remember,
    row,
    with_and_without_scripts,
)
from tests.e2e.conftest import Visit
from tests.factories import BY_TEST, make_memory, make_personal_token


@with_and_without_scripts
def test_what_is_erased_leaves_a_receipt_and_an_entry_in_the_activity(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, java_script_enabled=scripts)
    page.locator(".fact a", has_text="oolong").click()
    page.get_by_role("link", name="Erase for good").click()
    page.get_by_label("Type “erase” to confirm").fill("yes")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.locator(".field-error")).to_be_visible()
    assert is_active(FACTS[1])
    page.get_by_label("Type “erase” to confirm").fill("erase")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.locator("h1")).to_have_text("Erased for good")
    assert not Memory.objects.filter(content=FACTS[1]).exists()
    address = page.url
    for path in ("/settings/receipts", "/settings/activity"):
        page.goto(path)
        expect(page.locator(".rows li").first).to_contain_text(re.compile("erased", re.IGNORECASE))
        expect(page.locator("body")).not_to_contain_text("oolong")
        page.locator(".rows a").first.click()
        expect(page).to_have_url(address)
        expect(page.get_by_role("table")).to_contain_text("memory text")


@with_and_without_scripts
def test_a_person_reads_who_read_their_memories_and_why(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    admin_reads.open_read(
        cast.root, cast.alice, reason="A ticket of theirs.", doer=Doer(user=cast.root, via="page")
    )
    page = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page.get_by_role("link", name="All activity").click()
    assert_whole(page, "Activity")
    deed = page.locator("li[data-by=staff]")
    expect(deed).to_contain_text("Reason: A ticket of theirs.")
    page.go_back()
    assert_whole(page, "Settings")


@with_and_without_scripts
def test_what_is_never_learned_again_is_counted_and_lifted(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, java_script_enabled=scripts)
    row(page, "oolong").get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    Tombstone.objects.update(blocked_count=2, last_blocked_at=timezone.now())
    page.goto("/settings")
    mark = page.locator("#marks li", has_text="oolong")
    expect(mark).to_contain_text("blocked 2 times")
    mark.get_by_role("button", name="Lift").click()
    expect(page.locator("#toasts")).to_contain_text("Lifted")
    expect(mark).to_have_count(0)
    assert not Tombstone.objects.exists()
    assert not is_active(FACTS[1])


@with_and_without_scripts
def test_a_conversation_shows_what_was_learned_and_is_still_remembered(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    now, kept, gone = timezone.now(), "Never deploys on Fridays.", "Drinks oolong before noon."
    made = [make_memory(owner=cast.alice, content=content) for content in (kept, gone)]
    events.record_event(
        events.MEMORIES_CAPTURED,
        events.MemoriesCaptured(
            memories=[
                events.CapturedMemory(
                    id=one.pk, kind="preference", visibility="private", observed_at=now
                )
                for one in made
            ]
        ),
        conversation_id="team/c:1",
        agent=cast.agent,
        owner=cast.alice,
        now=now,
        calls=[],
    )
    page = visit(cast.alice, "/conversations/team%2Fc%3A1", java_script_enabled=scripts)
    expect(page.locator("h2")).to_have_text("2 memories captured")
    page.locator(".fact a", has_text="oolong").click()
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Forgot 1 memory.")
    page.goto("/conversations/team%2Fc%3A1")
    expect(page.locator("h2")).to_have_text("1 memory captured")
    expect(page.locator("main")).to_contain_text("1 more was learned here")
    expect(page.locator("main")).not_to_contain_text("oolong")
    stranger = visit(cast.bob, "/conversations/team%2Fc%3A1", java_script_enabled=scripts)
    expect(stranger.locator("h1")).to_have_text("Nothing here")
    visit.forgive(404)


@with_and_without_scripts
def test_the_paper_holds_every_memory_and_is_printed_without_the_frame(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    remember(cast.alice)
    old = make_memory(owner=cast.alice, content="Rows on Sundays.")
    forgetting.forget(person(cast.alice), old.pk, doer=BY_TEST)
    page = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page.get_by_role("link", name="Read or print it").click()
    assert_whole(page, "What is held about you")
    for content in (*FACTS, "Rows on Sundays."):
        expect(page.locator(".paper .fact", has_text=content)).to_be_visible()
    page.emulate_media(media="print")
    for frame in (".nav", ".account", ".crumbs"):
        expect(page.locator(frame)).not_to_be_visible()
    expect(page.locator(".paper .fact").first).to_be_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_export_holds_what_the_list_and_the_api_count(
    cast: Cast, visit: Visit, tmp_path: Path
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, java_script_enabled=False)
    expect(page.locator("#summary")).to_contain_text("3 memories")
    expect(page.locator("#nav-count")).to_have_text("3")
    page.get_by_role("link", name="Settings").click()
    with page.expect_download() as download:
        page.click("text=Download everything")
    target = tmp_path / "export.ndjson"
    download.value.save_as(target)
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    contents = {line["content"] for line in lines if "content" in line}
    assert contents == set(FACTS)
    said = page.request.get("/api/plugins/memory/dashboard").json()
    assert sum(said["stats"][one] for one in ("private", "org", "public")) == 3


def test_a_token_made_on_the_page_opens_the_api_until_it_is_revoked(
    cast: Cast, visit: Visit
) -> None:
    remember(cast.alice)
    page = visit(cast.alice, "/settings")
    page.click("#tokens summary")
    page.get_by_role("button", name="Make token").click()
    secret = page.locator("#new-token").inner_text()
    script = visit(None, "/sign-in").context.request

    def status() -> int:
        headers = {"Authorization": f"Bearer {secret}"}
        return script.get("/api/plugins/memory/memories", headers=headers).status

    assert status() == 200
    page.get_by_role("button", name=re.compile("^Revoke")).click()
    expect(page.locator("#tokens")).to_contain_text("No tokens.")
    assert status() == 401


def test_a_token_of_somebody_else_is_on_no_page_of_mine(cast: Cast, visit: Visit) -> None:
    secret = make_personal_token(cast.bob)
    page = visit(cast.alice, "/settings")
    expect(page.locator("#tokens")).to_contain_text("No tokens.")
    expect(page.locator("body")).not_to_contain_text(secret[:8])
