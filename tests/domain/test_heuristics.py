"""What the heuristic extractor stores of one message, in which words and of which kind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from junior_memory.candidates import ActorRef, Authority, Candidate, Entry, EntryType, Role
from junior_memory.heuristics import extract_candidates

SAID_AT = datetime(2026, 11, 25, 9, 30, tzinfo=UTC)
PERSON = ActorRef(provider="chat", tenant="acme", subject="ana")


def learned_from(text: str) -> tuple[Candidate, ...]:
    """Return what a session of this one instruction of its own actor gives."""
    entry = Entry(
        index=0,
        type=EntryType.MESSAGE,
        text=text,
        role=Role.USER,
        authority=Authority.INSTRUCTION,
        actor=PERSON,
        is_run_actor=True,
        at=SAID_AT,
    )
    return extract_candidates([entry])


STORED = [
    ("I prefer tabs over spaces.", "preference", "Prefers tabs over spaces."),
    ("I'm allergic to peanuts.", "preference", "Is allergic to peanuts."),
    ("I don't eat meat.", "preference", "Does not eat meat."),
    ("I never work on Sundays.", "preference", "Never works on Sundays."),
    ("I always use dark mode.", "preference", "Always uses dark mode."),
    ("I live in Lisbon.", "preference", "Lives in Lisbon."),
    (
        "I work as a nurse at the county hospital.",
        "preference",
        "Works as a nurse at the county hospital.",
    ),
    ("I'm a backend developer.", "preference", "Is a backend developer."),
    ("I'm vegetarian.", "preference", "Is vegetarian."),
    ("I'm from Ghana.", "preference", "Is from Ghana."),
    ("I'm 34 years old.", "preference", "Is 34 years old."),
    ("My name is Ana.", "preference", "Name is Ana."),
    ("My favorite editor is Vim.", "preference", "Favorite editor is Vim."),
    ("My birthday is 4 May.", "preference", "Birthday is 4 May."),
    ("My sister lives in Leeds.", "preference", "Has a sister who lives in Leeds."),
    ("My wife is a nurse.", "preference", "Has a wife who is a nurse."),
    ("I have two kids.", "preference", "Has two kids."),
    ("I have a dog named Rex.", "preference", "Has a dog named Rex."),
    ("My cat is called Miso.", "preference", "Has a cat named Miso."),
    (
        "I speak Portuguese and a little German.",
        "preference",
        "Speaks Portuguese and a little German.",
    ),
    ("I play the cello.", "preference", "Plays the cello."),
    ("I go to the gym every Tuesday.", "preference", "Goes to the gym every Tuesday."),
    ("I usually read before bed.", "preference", "Usually reads before bed."),
    ("I drink my coffee black.", "preference", "Drinks their coffee black."),
    ("I hate early meetings.", "preference", "Hates early meetings."),
    ("I love hiking in the Alps.", "preference", "Loves hiking in the Alps."),
    ("I'm learning Japanese.", "preference", "Is learning Japanese."),
    ("I want to become a pilot.", "preference", "Wants to become a pilot."),
    ("I grew up in a small town near Turin.", "preference", "Grew up in a small town near Turin."),
    ("I studied physics in Graz.", "preference", "Studied physics in Graz."),
    ("I moved to Berlin in 2019.", "preference", "Moved to Berlin in 2019."),
    ("I was born in Kampala.", "preference", "Was born in Kampala."),
    ("I can't eat gluten.", "preference", "Cannot eat gluten."),
    ("I don't drive.", "preference", "Does not drive."),
    ("I don't like phone calls.", "preference", "Does not like phone calls."),
    ("I'm not a fan of open offices.", "preference", "Is not a fan of open offices."),
    ("I'm left-handed.", "preference", "Is left-handed."),
    ("I'm in the Lisbon time zone.", "preference", "Is in the Lisbon time zone."),
    ("I'm responsible for payments.", "preference", "Is responsible for payments."),
    ("I use a standing desk.", "preference", "Uses a standing desk."),
    ("I use Linux for everything at home.", "preference", "Uses Linux for everything at home."),
    ("I'd rather get short answers.", "preference", "Would rather get short answers."),
    ("I prefer to write tests first.", "preference", "Prefers to write tests first."),
    ("I'm afraid of flying.", "preference", "Is afraid of flying."),
    ("I've been vegan since 2015.", "preference", "Has been vegan since 2015."),
    ("I used to smoke.", "preference", "Used to smoke."),
    ("I collect old maps.", "preference", "Collects old maps."),
    ("I run a small bakery.", "preference", "Runs a small bakery."),
    ("I own a 1972 Vespa.", "preference", "Owns a 1972 Vespa."),
    ("I commute by train.", "preference", "Commutes by train."),
    ("When I'm stressed, I go for a run.", "preference", "Goes for a run when they are stressed."),
    ("Last year I ran my first marathon.", "preference", "Ran their first marathon in 2025."),
    ("I got married in June.", "preference", "Got married in June."),
    (
        "We adopted a puppy last week.",
        "preference",
        "Adopted a puppy in the week of 16 November 2026.",
    ),
    (
        "I'm planning to move to Porto next year.",
        "preference",
        "Is planning to move to Porto in 2027.",
    ),
    ("Call me Kit.", "preference", "Wants to be called Kit."),
    ("My pronouns are they/them.", "preference", "Uses they/them pronouns."),
    (
        "Please remember that I take my tea without sugar.",
        "preference",
        "Takes their tea without sugar.",
    ),
    ("Don't forget I'm allergic to shellfish.", "preference", "Is allergic to shellfish."),
    ("Remember: I only have a small kitchen.", "preference", "Only has a small kitchen."),
    ("Always answer in German.", "preference", "Wants the assistant to always answer in German."),
    (
        "Never use emojis in replies.",
        "preference",
        "Wants the assistant to never use emojis in replies.",
    ),
    ("From now on, use metric units.", "preference", "Wants the assistant to use metric units."),
    (
        "Keep your answers short from now on.",
        "preference",
        "Wants the assistant to keep its answers short.",
    ),
    ("We deploy from main.", "knowledge", "The team deploys from main."),
    ("We don't deploy on Fridays.", "knowledge", "The team does not deploy on Fridays."),
    (
        "Our staging database is pg-stage-2.",
        "knowledge",
        "The team's staging database is pg-stage-2.",
    ),
    ("We use Postgres 16 in production.", "knowledge", "The team uses Postgres 16 in production."),
    ("We track bugs in Linear.", "knowledge", "The team tracks bugs in Linear."),
    ("Our standup is at 9:30.", "knowledge", "The team's standup is at 9:30."),
    ("Releases go out on Thursdays.", "knowledge", "Releases go out on Thursdays."),
    (
        "The billing service owns the invoice table.",
        "knowledge",
        "The billing service owns the invoice table.",
    ),
    ("Production runs on Hetzner.", "knowledge", "Production runs on Hetzner."),
    (
        "All migrations must be reviewed by two people.",
        "knowledge",
        "All migrations must be reviewed by two people.",
    ),
    (
        "We decided to switch from Jenkins to GitHub Actions.",
        "knowledge",
        "The team decided to switch from Jenkins to GitHub Actions.",
    ),
    (
        "The source of truth for prices is the catalogue repo.",
        "knowledge",
        "The source of truth for prices is the catalogue repo.",
    ),
    (
        "Hotfixes are cut from the release branch.",
        "knowledge",
        "Hotfixes are cut from the release branch.",
    ),
    ("Secrets are stored in Vault.", "knowledge", "Secrets are stored in Vault."),
    (
        "Our team has a retro every second Friday.",
        "knowledge",
        "The team has a retro every second Friday.",
    ),
    (
        "We always squash commits before merging.",
        "knowledge",
        "The team always squashes commits before merging.",
    ),
    (
        "We write our release notes in Markdown.",
        "knowledge",
        "The team writes the release notes in Markdown.",
    ),
    ("On-call rotates every Monday.", "knowledge", "On-call rotates every Monday."),
    (
        "The API rate limit is 100 requests per minute.",
        "knowledge",
        "The API rate limit is 100 requests per minute.",
    ),
    (
        "To deploy the api, run `make deploy` from the repo root.",
        "procedure",
        "To deploy the api, run `make deploy` from the repo root.",
    ),
    (
        "For database migrations, use the blue-green runbook.",
        "procedure",
        "For database migrations, use the blue-green runbook.",
    ),
    (
        "When the build fails with a cache error, clear the cache and rerun it.",
        "procedure",
        "When the build fails with a cache error, clear the cache and rerun it.",
    ),
    (
        "Always run make check before pushing to main.",
        "procedure",
        "Always run make check before pushing to main.",
    ),
    ("Before merging, rebase onto main.", "procedure", "Before merging, rebase onto main."),
    (
        "To restore a backup, stop the worker and run restore.sh.",
        "procedure",
        "To restore a backup, stop the worker and run restore.sh.",
    ),
    ("Run `make seed` to load the fixtures.", "procedure", "Run `make seed` to load the fixtures."),
    (
        "To reset a customer's password, open the admin and click Reset.",
        "procedure",
        "To reset a customer's password, open the admin and click Reset.",
    ),
    (
        "If the worker hangs, restart it with systemctl restart worker.",
        "procedure",
        "If the worker hangs, restart it with systemctl restart worker.",
    ),
    (
        "For releases, tag main and wait for CI.",
        "procedure",
        "For releases, tag main and wait for CI.",
    ),
    (
        "To get access to the VPN, ask the IT desk.",
        "procedure",
        "To get access to the VPN, ask the IT desk.",
    ),
    ("Ich bevorzuge Tee.", "preference", "Bevorzugt Tee."),
    ("Ich esse kein Fleisch.", "preference", "Isst kein Fleisch."),
    ("Ich wohne in Hamburg.", "preference", "Wohnt in Hamburg."),
    ("Je préfère le thé.", "preference", "Préfère le thé."),
    ("Je suis végétarienne.", "preference", "Est végétarienne."),
    ("J'habite à Lyon.", "preference", "Habite à Lyon."),
    ("Prefiero el té.", "preference", "Prefiere el té."),
    ("No me gusta el cilantro.", "preference", "No le gusta el cilantro."),
    ("Vivo en Sevilla.", "preference", "Vive en Sevilla."),
    ("私はコーヒーが好きです。", "preference", "コーヒーが好き。"),
    ("卵アレルギーがあります。", "preference", "卵アレルギーがある。"),
    ("我喜欢喝茶。", "preference", "喜欢喝茶。"),
    ("我对花生过敏。", "preference", "对花生过敏。"),
    ("我住在上海。", "preference", "住在上海。"),
    ("I no longer eat fish.", "preference", "No longer eats fish."),
    (
        "I switched from Bash to Fish, so give me Fish from now on.",
        "preference",
        "Switched from Bash to Fish.",
    ),
    (
        "I'm learning Danish with a tutor, so please greet me in Danish.",
        "preference",
        "Is learning Danish with a tutor.",
    ),
    (
        "I always run imports with --dry-run on staging first.",
        "preference",
        "Always runs imports with --dry-run on staging first.",
    ),
    (
        "My cousin Rune lives in Bergen.",
        "preference",
        "Has a cousin named Rune who lives in Bergen.",
    ),
    (
        "For a hotfix tag, append .h1 to the release number.",
        "procedure",
        "For a hotfix tag, append .h1 to the release number.",
    ),
    (
        "To add a tenant, copy acme.toml and restart the router before you merge anything.",
        "procedure",
        "To add a tenant, copy acme.toml and restart the router before merging anything.",
    ),
    (
        "We don't use feature flags for migrations.",
        "knowledge",
        "The team does not use feature flags for migrations.",
    ),
    ("I can't stand voice messages.", "preference", "Cannot stand voice messages."),
    ("I take my tea with milk.", "preference", "Takes their tea with milk."),
]


@pytest.mark.parametrize(("said", "kind", "content"), STORED)
def test_statement_is_stored_in_canonical_words(said: str, kind: str, content: str) -> None:
    (candidate,) = learned_from(said)
    assert (candidate.kind, candidate.content) == (kind, content)
    assert candidate.evidence == (0,)


SPOKEN_TO_SOMEBODY = [
    (said, content)
    for said, kind, content in STORED
    if kind == "preference" and said.startswith(("I ", "I'm ", "My "))
]


@pytest.mark.parametrize(("said", "content"), SPOKEN_TO_SOMEBODY)
def test_greeting_and_emoji_change_nothing(said: str, content: str) -> None:
    (candidate,) = learned_from(f"Hey there, thanks! {said} 🙂")
    assert candidate.content == content


@pytest.mark.parametrize(("said", "kind", "content"), STORED)
def test_stored_text_speaks_of_nobody_in_the_first_or_second_person(
    said: str, kind: str, content: str
) -> None:
    (candidate,) = learned_from(said)
    words = set(candidate.content.lower().replace("'", " ").rstrip(".").split())
    assert not words & {"i", "me", "my", "mine", "we", "our", "us", "you", "your"}
    assert "?" not in candidate.content


SEVERAL = [
    ("I live in Berlin and I work as a nurse.", {"Lives in Berlin.", "Works as a nurse."}),
    (
        "I'm vegetarian. I never drink coffee, and I hate mornings!! My dog is called Bo.",
        {"Is vegetarian.", "Never drinks coffee.", "Hates mornings.", "Has a dog named Bo."},
    ),
    ("I'm allergic to nuts, what can I cook for ten people?", {"Is allergic to nuts."}),
    ("I prefer tea; my colleague prefers coffee.", {"Prefers tea."}),
    ("- I speak Danish\n- I own a canoe\n- fix the build", {"Speaks Danish.", "Owns a canoe."}),
    ("I moved to Leeds in Jan. I love it there.", {"Moved to Leeds in Jan."}),
    ("```\nI love code blocks and live in them\n```\nI live in Cork.", {"Lives in Cork."}),
    ("> I prefer spaces over tabs\nI prefer tabs over spaces.", {"Prefers tabs over spaces."}),
]


@pytest.mark.parametrize(("said", "contents"), SEVERAL)
def test_message_of_several_sentences_gives_each_fact(said: str, contents: set[str]) -> None:
    found = {candidate.content for candidate in learned_from(said)}
    assert found == contents


def test_relative_days_become_dates_of_the_day_they_were_said() -> None:
    (candidate,) = learned_from("I got married yesterday.")
    assert candidate.content == "Got married on 24 November 2026."


def test_at_most_five_facts_are_proposed_and_the_limit_can_be_lower() -> None:
    said = (
        "I'm vegan. I live in Oslo. I work as a welder. I speak Finnish. I own a boat. "
        "I hate mornings. I play the drums."
    )
    assert len(learned_from(said)) == 5
    entry = Entry(
        index=3,
        type=EntryType.MESSAGE,
        text=said,
        role=Role.USER,
        authority=Authority.INSTRUCTION,
        actor=PERSON,
        is_run_actor=True,
    )
    assert len(extract_candidates([entry], limit=2)) == 2
    assert extract_candidates([entry], limit=0) == ()


def test_explicit_wish_to_remember_comes_first() -> None:
    found = learned_from("I live in Oslo. I like trains. Please remember that I never eat fish.")
    assert found[0].content == "Never eats fish."
