"""Settings in a browser, with scripts and without."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import expect

from junior_memory import people
from junior_memory.models import Identity, Memory, User
from tests.cast import Cast
from tests.e2e.acts import with_and_without_scripts
from tests.e2e.conftest import Visit
from tests.factories import make_memory


@with_and_without_scripts
def test_learning_is_turned_off_in_one_move(cast: Cast, visit: Visit, scripts: bool) -> None:
    page = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page.uncheck("#consent_learning")
    page.click("#consent button")
    expect(page.locator("#toasts")).to_contain_text("Saved.")
    expect(page.locator("#consent")).to_contain_text("nothing new is learned by itself")
    assert User.objects.get(pk=cast.alice.pk).learning_off_at is not None


@with_and_without_scripts
def test_a_token_is_made_read_once_and_revoked(cast: Cast, visit: Visit, scripts: bool) -> None:
    page = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page.click("#tokens summary")
    page.fill("#token_label", "Backup")
    page.click("text=Make token")
    secret = page.locator("#new-token").inner_text()
    assert re.fullmatch(r"jmp_[\w-]{40,}", secret)
    token = people.find_token(secret)
    assert token is not None
    assert token.label == "Backup"
    page.goto("/settings")
    expect(page.locator("body")).not_to_contain_text(secret)
    page.click(f'button[aria-label="Revoke {token.prefix} Backup"]')
    expect(page.locator("#toasts")).to_contain_text("Revoked")
    expect(page.locator("#tokens")).not_to_contain_text("Backup")
    assert people.find_token(secret) is None


@with_and_without_scripts
def test_a_linking_code_is_shown_with_its_end(cast: Cast, visit: Visit, scripts: bool) -> None:
    page = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page.click("text=Make a linking code")
    expect(page.locator("#linking-code")).to_have_text(
        re.compile(r"^[A-Z2-9]{3}(-[A-Z2-9]{3}){2}$")
    )
    expect(page.locator("#identities")).to_contain_text("Works once, until")


def test_what_was_just_made_has_the_focus(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice, "/settings")
    page.click("text=Make a linking code")
    expect(page.locator("#identities .callout")).to_be_focused()


@with_and_without_scripts
def test_an_account_is_unlinked(cast: Cast, visit: Visit, scripts: bool) -> None:
    page = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page.click('button[aria-label="Unlink slack UALICE"]')
    expect(page.locator("#identities")).not_to_contain_text("UALICE")
    assert Identity.objects.get(pk=cast.alice_slack.pk).user is None


@with_and_without_scripts
def test_everything_is_forgotten_only_by_the_sentence_and_comes_back(
    cast: Cast, visit: Visit, scripts: bool
) -> None:
    memory = make_memory(owner=cast.alice)
    page = visit(cast.alice, "/settings", java_script_enabled=scripts)
    page.fill("#forgeteverything_confirm", "forget it")
    page.click("#forget .form button")
    expect(page.locator("#forget .field-error")).to_contain_text("Nothing was forgotten.")
    page.fill("#forgeteverything_confirm", "forget everything")
    page.click("#forget .form button")
    expect(page.locator("#toasts")).to_contain_text("Forgot everything: 1 memory.")
    assert Memory.objects.get(pk=memory.pk).archived_at is not None
    page.click("#forget .rows button")
    expect(page.locator("#toasts")).to_contain_text("Brought back 1 memory.")
    assert Memory.objects.get(pk=memory.pk).archived_at is None


@with_and_without_scripts
def test_what_goes_out_comes_in(cast: Cast, visit: Visit, scripts: bool, tmp_path: Path) -> None:
    make_memory(owner=cast.alice, content="Prefers tea.")
    page = visit(cast.alice, "/settings")
    with page.expect_download() as download:
        page.click("text=Download everything")
    target = tmp_path / "export.ndjson"
    download.value.save_as(target)
    assert json.loads(target.read_text().splitlines()[-1])["type"] == "end"
    page = visit(cast.charlie, "/settings", java_script_enabled=scripts)
    page.click("text=Import an export")
    page.set_input_files("#import_file", target)
    page.click("#data .form button")
    expect(page.locator("#data .callout")).to_contain_text("1 imported")
    assert Memory.objects.filter(owner=cast.charlie, content="Prefers tea.").exists()


def test_a_wrong_password_keeps_the_form_open_and_says_why(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice, "/settings", java_script_enabled=False)
    page.click("#password summary")
    page.fill("#password_present", "wrong horse")
    page.fill("#password_new_password1", "battery staple 9")
    page.fill("#password_new_password2", "battery staple 9")
    page.click("#password .form button")
    expect(page.locator("#password_present_error")).to_be_visible()


def test_settings_work_by_keyboard_alone(cast: Cast, visit: Visit) -> None:
    page = visit(cast.alice, "/settings")
    page.focus("#topics_topics")
    page.keyboard.type("salary")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Topics saved.")
    assert User.objects.get(pk=cast.alice.pk).never_learn_topics == ["salary"]
