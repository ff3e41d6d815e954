"""A session as a whole: who may say what, what is taken back, what needs company to be kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from junior_memory.candidates import ActorRef, Authority, Entry, EntryType, Role
from junior_memory.heuristics import extract_candidates

PERSON = ActorRef(provider="chat", tenant="acme", subject="ana")
BYSTANDER = ActorRef(provider="chat", tenant="acme", subject="ben")
SAID_AT = datetime(2026, 11, 25, 9, 30, tzinfo=UTC)

Said = str | tuple[str, str]


def entry(index: int, text: str, speaker: str) -> Entry:
    """Return one entry of `own`, `bystander`, `nobody`, `assistant`, `failed tool` and so on."""
    if speaker in {"tool", "failed tool"}:
        return Entry(
            index=index,
            type=EntryType.TOOL_RESULT,
            text=text,
            tool_name="lookup",
            is_error=speaker == "failed tool",
        )
    if speaker in {"assistant", "system"}:
        return Entry(index=index, type=EntryType.MESSAGE, text=text, role=Role(speaker))
    context = speaker in {"context", "own context"}
    actor = {"own": PERSON, "own context": PERSON, "bystander": BYSTANDER}.get(speaker)
    return Entry(
        index=index,
        type=EntryType.MESSAGE,
        text=text,
        role=Role.USER,
        authority=Authority.CONTEXT if context else Authority.INSTRUCTION,
        actor=actor,
        is_run_actor=actor == PERSON,
        at=SAID_AT,
    )


def learned(*said: Said) -> list[tuple[str, str, tuple[int, ...]]]:
    """Return kind, content and evidence of each candidate; a bare string is the person's own."""
    entries = [
        entry(index, *((one, "own") if isinstance(one, str) else one))
        for index, one in enumerate(said)
    ]
    return [(one.kind, one.content, one.evidence) for one in extract_candidates(entries)]


def contents(*said: Said) -> set[str]:
    """Return only the texts."""
    return {content for _, content, _ in learned(*said)}


# Who may say what


@pytest.mark.parametrize(
    "speaker",
    ["own context", "bystander", "context", "nobody", "assistant", "system", "tool", "failed tool"],
)
def test_preference_comes_only_from_the_persons_own_instruction(speaker: str) -> None:
    assert learned(("I prefer tabs over spaces.", speaker)) == []


@pytest.mark.parametrize("speaker", ["own", "own context", "bystander", "context"])
def test_team_fact_may_come_from_any_attributed_or_context_message(speaker: str) -> None:
    assert learned(("We deploy from main.", speaker)) == [
        ("knowledge", "The team deploys from main.", (0,))
    ]


@pytest.mark.parametrize("speaker", ["nobody", "assistant", "system", "failed tool"])
def test_team_fact_is_not_taken_from_who_proves_nothing(speaker: str) -> None:
    assert learned(("We deploy from main.", speaker)) == []


def test_tool_output_gives_durable_sentences_and_none_of_its_values() -> None:
    output = (
        "Deployments run from the main branch.\n"
        "Status: OK\n"
        "2026-11-01 10:00:00 INFO worker started\n"
        '{"cpu": 92, "note": "I prefer tabs"}\n'
        "Error rate is 3.2%\n"
        "To restore a backup, stop the worker and run restore.sh.\n"
        "The server is down.\n"
    )
    found = learned(("Where do deploys run?", "own"), (output, "tool"))
    assert set(found) == {
        ("knowledge", "Deployments run from the main branch.", (1,)),
        ("procedure", "To restore a backup, stop the worker and run restore.sh.", (1,)),
    }


def test_bystanders_statement_is_not_turned_into_shared_knowledge() -> None:
    found = learned(
        ("I hate Mondays and I live in Leeds.", "bystander"),
        ("My sister is a nurse.", "bystander"),
        "Thanks!",
    )
    assert found == []


def test_we_and_our_speak_for_the_team_when_others_are_in_the_conversation() -> None:
    found = learned(
        "Our style guide lives in docs/style. We name colours after birds.",
        ("And who decides about new ones?", "bystander"),
        ("We vote on new names every first Monday.", "bystander"),
    )
    assert set(found) == {
        ("knowledge", "Style guide lives in docs/style.", (0,)),
        ("knowledge", "The team names colours after birds.", (0,)),
        ("knowledge", "The team votes on new names every first Monday.", (2,)),
    }


def test_evidence_is_the_entrys_own_index() -> None:
    entries = [
        entry(4, "Hello!", "own"),
        entry(7, "What do you like?", "assistant"),
        entry(9, "I love hiking in the Alps.", "own"),
    ]
    (candidate,) = extract_candidates(entries)
    assert candidate.evidence == (9,)


# Saying it again, correcting it, taking it back


def test_repetition_adds_evidence_instead_of_a_second_fact() -> None:
    assert learned("I prefer tabs.", ("Noted.", "assistant"), "I prefer tabs!") == [
        ("preference", "Prefers tabs.", (0, 2))
    ]


CORRECTIONS = [
    (("I live in Rome.", "Actually I live in Milan now."), {"Lives in Milan."}),
    (("My name is Ana.", "Sorry, my name is Anna."), {"Name is Anna."}),
    (("I use emacs for coding.", "Actually, I moved to vim."), {"Moved to vim."}),
    (
        ("I use emacs for coding.", "I live in Rome.", "Actually, I moved to vim."),
        {"Lives in Rome.", "Moved to vim."},
    ),
    (("I like dark mode.", "I don't like dark mode any more."), {"Does not like dark mode."}),
    (
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        {"Prefers spaces over tabs."},
    ),
    (
        ("We deploy from main.", "Correction: we deploy from the release branch."),
        {"The team deploys from the release branch."},
    ),
    (
        ("I live in Rome.", "I work as a nurse."),
        {"Lives in Rome.", "Works as a nurse."},
    ),
]


@pytest.mark.parametrize(("said", "expected"), CORRECTIONS)
def test_later_words_of_the_same_session_win(said: tuple[str, ...], expected: set[str]) -> None:
    assert contents(*said) == expected


FORGETTING: list[tuple[tuple[str, ...], set[str]]] = [
    (("I prefer tabs.", "Forget that."), set()),
    (("I prefer tabs. Scratch that.",), set()),
    (("I live in Rome.", "I prefer tabs.", "Please forget that."), {"Lives in Rome."}),
    (
        ("I prefer tabs.", "I live in Rome.", "Forget what I said about tabs."),
        {"Lives in Rome."},
    ),
    (("I prefer tabs.", "Don't remember anything from this chat."), set()),
    (("Please don't remember this: I am allergic to nuts.", "I love tea."), {"Loves tea."}),
    (("Off the record: I hate my job.", "I love tea."), {"Loves tea."}),
    (("Don't forget that I love tea.",), {"Loves tea."}),
]


@pytest.mark.parametrize(("said", "expected"), FORGETTING)
def test_what_somebody_asks_to_forget_is_not_proposed(
    said: tuple[str, ...], expected: set[str]
) -> None:
    assert contents(*said) == expected


def test_somebody_else_cannot_make_the_session_forget() -> None:
    assert contents("I prefer tabs.", ("Forget that.", "bystander")) == {"Prefers tabs."}


# Company: what passes by itself is chatter, beside more about the person it is who they are


def test_passing_event_and_feeling_need_other_statements_beside_them() -> None:
    event = "I met some lovely people at the pottery fair last weekend."
    feeling = "I was so proud of showing my own bowls to so many families for the first time."
    assert contents(event) == set()
    assert contents(feeling) == set()
    talk = contents("I've been making bowls and cups for five years.", event, feeling)
    assert len(talk) == 3


def test_turn_in_a_life_needs_no_company() -> None:
    assert contents("I adopted a puppy in May.") == {"Adopted a puppy in May."}


def test_passing_events_stay_out_of_talk_about_work() -> None:
    said = (
        "I bought a new keyboard for the office on Monday.",
        "I left the room and the deploy of the staging server failed.",
        "I found a ticket about the login bug in the backlog.",
        "Can you look at the error log of the pipeline?",
    )
    assert contents(*said) == set()


def test_pronoun_is_read_with_what_the_sentence_before_was_about() -> None:
    found = contents(
        "I love tea.",
        "I started a weekend pottery class with a neighbour. It really helps me relax.",
    )
    assert "Finds that the weekend pottery class really helps them relax." in found


def test_pronoun_without_a_clear_antecedent_stores_nothing() -> None:
    assert contents("I love tea.", "It really helps me relax.") == {"Loves tea."}


def test_same_session_gives_the_same_candidates_every_time() -> None:
    said = ("I live in Oslo. I own a boat.", "We deploy from main.", "I hate mornings.")
    assert learned(*said) == learned(*said)


def test_empty_session_gives_nothing() -> None:
    assert learned() == []
    assert learned("", "   ", ("", "tool")) == []
