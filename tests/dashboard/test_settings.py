"""/settings: consent, topics, name, password; the page itself."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from junior_memory import people
from junior_memory.audit import Doer, record_audit
from junior_memory.models import AuditEntry, User
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn, text
from tests.factories import BY_TEST, make_memory

URL = "/settings"
POSTS = (
    "/settings/consent",
    "/settings/topics",
    "/settings/profile",
    "/settings/password",
    "/settings/linking-code",
    "/settings/tokens",
    "/settings/import",
    "/settings/forget-everything",
)
LISTS = ("/settings/never-learn-again", "/settings/activity", "/settings/receipts")


def fresh(user: User) -> User:
    """Return a person as the database has them now."""
    return User.objects.get(pk=user.pk)


@pytest.mark.parametrize("url", POSTS)
def test_what_changes_something_takes_posts_alone(alice_client: Client, url: str) -> None:
    for method in ("get", "put", "patch", "delete"):
        assert getattr(alice_client, method)(url).status_code == 405


@pytest.mark.parametrize("url", [URL, *LISTS, "/settings/export"])
def test_pages_take_reads_alone(alice_client: Client, url: str) -> None:
    for method in ("post", "put", "patch", "delete"):
        assert getattr(alice_client, method)(url).status_code == 405


@pytest.mark.parametrize("url", [*POSTS, URL, *LISTS, "/settings/export"])
def test_whoever_is_not_signed_in_is_sent_to_sign_in(cast: Cast, url: str) -> None:
    client = Client()
    response = client.post(url) if url in POSTS else client.get(url)
    assert response.status_code == 302
    assert response["location"].startswith("/sign-in")
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("url", POSTS)
def test_a_form_from_another_site_is_refused(cast: Cast, url: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.alice)
    assert client.post(url, {"confirm": "forget everything", "learning": ""}).status_code == 403
    assert not AuditEntry.objects.exists()


def test_the_page_has_every_section(alice_client: Client) -> None:
    page = text(alice_client.get(URL))
    for section in (
        "consent topics identities tokens profile password data marks forget activity receipts"
    ).split():
        assert f'id="{section}"' in page


def test_the_page_shows_nothing_of_anybody_else(cast: Cast, charlie_client: Client) -> None:
    make_memory(owner=cast.alice, content="Keeps bees behind the boathouse.")
    people.create_personal_token(cast.alice, scopes=["read"], label="Bee script", doer=BY_TEST)
    page = text(charlie_client.get(URL))
    for secret in ("bees", "Bee script", "UALICE", cast.alice.email):
        assert secret not in page, f"leaked: {secret}"


def test_the_number_of_queries_does_not_grow(
    cast: Cast, alice_client: Client, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(20) as few:
        alice_client.get(URL)
    for number in range(12):
        people.create_personal_token(cast.alice, scopes=["read"], label=str(number), doer=BY_TEST)
    with django_assert_max_num_queries(len(few.captured_queries)):
        alice_client.get(URL)


# Consent.


def test_turning_learning_off_is_kept_and_recorded(cast: Cast, alice_client: Client) -> None:
    response = alice_client.post("/settings/consent", {"recall": "on", "public_use": "none"})
    assert response.status_code == 302
    assert response["location"] == "/settings#consent"
    user = fresh(cast.alice)
    assert user.learning_off_at is not None
    assert user.recall_off_at is None
    assert user.public_use == "none"
    page = text(alice_client.get(URL))
    assert "nothing new is learned by itself" in page
    assert "You turned learning off and changed what may be used in public, on this site" in page


def test_a_new_address_that_staff_gave_stands_in_the_activity_in_words(
    cast: Cast, alice_client: Client
) -> None:
    record_audit(
        "preferences_changed",
        Doer(user=cast.root, via="admin"),
        now=timezone.now(),
        person_id=cast.alice.pk,
        changed=["email"],
    )
    page = text(alice_client.get("/settings/activity"))
    assert "changed your e-mail address" in page


def test_saving_consent_twice_changes_and_records_it_once(cast: Cast, alice_client: Client) -> None:
    for _ in range(2):
        alice_client.post("/settings/consent", {"learning": "on", "public_use": "preferences"})
    assert fresh(cast.alice).recall_off_at is not None
    assert AuditEntry.objects.filter(action="preferences_changed").count() == 1


def test_consent_answers_htmx_with_its_section(alice_client: Client) -> None:
    data = {"learning": "on", "recall": "on", "public_use": "all"}
    part = text(alice_client.post("/settings/consent", data, headers=HTMX))
    assert part.lstrip().startswith('<section class="setting" id="consent"')
    assert '<div hx-swap-oob="innerHTML:#toasts">' in part
    assert "Saved." in part
    assert re.findall(r'<input type="radio"[^>]* value="(\w+)"[^>]* checked', part) == ["all"]


def test_an_unknown_choice_comes_back_with_its_mistake(cast: Cast, alice_client: Client) -> None:
    response = alice_client.post("/settings/consent", {"learning": "", "public_use": "everyone"})
    assert response.status_code == 422
    assert fresh(cast.alice).learning_off_at is None


# Topics.


def test_topics_are_kept_one_for_each_line(cast: Cast, alice_client: Client) -> None:
    alice_client.post("/settings/topics", {"topics": "health\r\n\r\n  my   salary \r\nhealth"})
    assert fresh(cast.alice).never_learn_topics == ["health", "my salary"]
    assert "health\nmy salary</textarea>" in text(alice_client.get(URL))
    alice_client.post("/settings/topics", {"topics": ""})
    assert fresh(cast.alice).never_learn_topics == []


def test_too_many_topics_come_back_as_typed(cast: Cast, alice_client: Client) -> None:
    typed = "\n".join(f"topic {number}" for number in range(51))
    response = alice_client.post("/settings/topics", {"topics": typed})
    assert response.status_code == 422
    assert "At most 50 topics." in text(response)
    assert "topic 50" in text(response)
    assert fresh(cast.alice).never_learn_topics == []


def test_topics_are_in_no_message_and_no_record(cast: Cast, alice_client: Client) -> None:
    alice_client.post("/settings/topics", {"topics": "a rare illness"})
    assert "rare illness" not in str(list(AuditEntry.objects.values()))
    assert "rare illness" not in str(dict(alice_client.session))


# Name and password.


def test_a_name_is_kept(cast: Cast, alice_client: Client) -> None:
    alice_client.post("/settings/profile", {"display_name": "  Alice   S. "})
    assert fresh(cast.alice).display_name == "Alice S."


def test_a_nul_in_a_name_is_refused(cast: Cast, alice_client: Client) -> None:
    assert alice_client.post("/settings/profile", {"display_name": "A\x00"}).status_code == 422
    assert fresh(cast.alice).display_name == "Alice"


PASSWORDS = {
    "present": "correct horse",
    "new_password1": "battery staple 9",
    "new_password2": "battery staple 9",
}


@pytest.mark.parametrize("name", ["topics", "profile"])
def test_a_form_that_came_without_its_field_empties_nothing(
    alice_client: Client, cast: Cast, name: str
) -> None:
    cast.alice.display_name, cast.alice.never_learn_topics = "Alice S.", ["wine"]
    cast.alice.save()
    assert alice_client.post(f"/settings/{name}", {}).status_code == 422
    cast.alice.refresh_from_db()
    assert (cast.alice.display_name, cast.alice.never_learn_topics) == ("Alice S.", ["wine"])


def test_a_new_password_signs_in_and_ends_other_sessions(cast: Cast, sign_in: SignIn) -> None:
    here, elsewhere = sign_in(cast.alice), sign_in(cast.alice)
    assert here.post("/settings/password", PASSWORDS).status_code == 302
    assert fresh(cast.alice).check_password("battery staple 9")
    assert here.get(URL).status_code == 200
    assert elsewhere.get(URL).status_code == 302
    assert AuditEntry.objects.filter(action="password_changed", person=cast.alice).count() == 1


def test_a_wrong_present_password_changes_nothing(cast: Cast, alice_client: Client) -> None:
    response = alice_client.post("/settings/password", PASSWORDS | {"present": "wrong horse"})
    assert response.status_code == 422
    assert "That is not your present password." in text(response)
    assert "battery staple" not in text(response)
    assert fresh(cast.alice).check_password("correct horse")


def test_a_weak_or_mistyped_password_changes_nothing(cast: Cast, alice_client: Client) -> None:
    for new, again in (("short", "short"), ("12345678", "12345678"), ("battery staple 9", "x")):
        data = PASSWORDS | {"new_password1": new, "new_password2": again}
        assert alice_client.post("/settings/password", data).status_code == 422
    assert fresh(cast.alice).check_password("correct horse")


def test_somebody_without_a_password_sets_one_without_a_present_one(
    cast: Cast, sign_in: SignIn
) -> None:
    cast.alice.set_unusable_password()
    cast.alice.save()
    client = sign_in(cast.alice)
    page = text(client.get(URL))
    assert "Set a password" in page
    assert "Present password" not in page
    assert client.post("/settings/password", PASSWORDS).status_code == 302
    assert fresh(cast.alice).check_password("battery staple 9")


def test_guessing_the_present_password_is_slowed_down(cast: Cast, alice_client: Client) -> None:
    data = PASSWORDS | {"present": "wrong horse"}
    answers = [alice_client.post("/settings/password", data).status_code for _ in range(11)]
    assert answers == [422] * 10 + [429]
    assert alice_client.post("/settings/password", PASSWORDS).status_code == 429
    assert fresh(cast.alice).check_password("correct horse")
