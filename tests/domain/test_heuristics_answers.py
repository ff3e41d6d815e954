"""Short answers read with their question, and messages that bear out what another one says."""

from __future__ import annotations

import pytest

from junior_memory.heuristics.asides import read_aside
from junior_memory.heuristics.firstperson import read_first_person
from junior_memory.heuristics.told import read_told
from tests.domain.test_heuristics_sessions import Said, learned


@pytest.mark.parametrize(
    ("asked", "answer", "fact"),
    [
        (
            "Nice! How long have you been painting?",
            "About seven years now.",
            "Has been painting for about seven years.",
        ),
        (
            "How long have you been keeping bees?",
            "Since I was twelve.",
            "Has been keeping bees since they were twelve.",
        ),
        (
            "How often do you go climbing?",
            "Twice a week, and it keeps me sane.",
            "Goes climbing twice a week.",
        ),
        (
            "What's your favourite board game?",
            "Definitely Carcassonne!",
            "Favourite board game is Carcassonne.",
        ),
        ("Where are you from?", "Porto.", "Is from Porto."),
        (
            "What kind of books do you read?",
            "Mostly crime novels.",
            "Reads crime novels.",
        ),
        (
            "Aww! What are the names of your dogs?",
            "Biscuit and Tofu!",
            "Has dogs named Biscuit and Tofu.",
        ),
        ("What's your cat's name?", "Her name is Miso.", "Has a cat named Miso."),
    ],
)
def test_short_answer_is_read_with_its_question(asked: str, answer: str, fact: str) -> None:
    assert (("preference", fact, (1,))) in learned((asked, "assistant"), answer)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("How long have you been waiting for this deploy?", "About two hours."),
        ("How long have you been seeing this error?", "For two days."),
        ("How long have you been doing that?", "Two years."),
        ("What's your favourite one of these?", "The second."),
        ("What's your favourite colour?", "Hard to say."),
        ("What's your favourite colour?", "I don't have one."),
        ("Where do you work?", "It depends."),
        ("How often do you deploy the service?", "Maybe never again."),
        ("What's the name of your table?", "Orders."),
        ("What's your boss's name?", "Ingrid."),
        ("What kind of error do you get?", "Timeout."),
        ("What would you like to do next?", "Vim."),
    ],
)
def test_answer_that_says_nothing_lasting_of_the_person_is_left_out(
    asked: str, answer: str
) -> None:
    assert learned((asked, "assistant"), answer) == []


@pytest.mark.parametrize("speaker", ["bystander", "context", "nobody", "own context"])
def test_answer_counts_only_from_the_person_asked(speaker: str) -> None:
    assert learned(("Where are you from?", "assistant"), ("Porto.", speaker)) == []


def test_question_of_another_person_is_no_frame_for_an_answer() -> None:
    assert learned(("Where are you from?", "bystander"), "Porto.") == []


def test_message_that_says_the_same_thing_in_other_words_is_evidence_too() -> None:
    found = learned(
        "I'm training for the Berlin marathon.",
        ("Wow, that takes stamina.", "assistant"),
        "Thanks! Marathon training in Berlin winters is no joke.",
    )
    assert ("preference", "Is training for the Berlin marathon.", (0, 2)) in found


@pytest.mark.parametrize(
    "other",
    [
        "The marathon was on television.",
        "Did the Berlin marathon training start already?",
        "You should try the Berlin marathon training.",
        "My brother said the Berlin marathon training is hard.",
        "If only the Berlin marathon training was free.",
    ],
)
def test_message_that_does_not_state_the_fact_is_no_evidence(other: str) -> None:
    found = learned("I'm training for the Berlin marathon.", ("Nice.", "assistant"), other)
    assert ("preference", "Is training for the Berlin marathon.", (0,)) in found


@pytest.mark.parametrize("speaker", ["assistant", "bystander", "tool", "own context"])
def test_nobody_else_bears_out_what_a_person_says_of_themselves(speaker: str) -> None:
    found = learned(
        "I'm training for the Berlin marathon.",
        ("Marathon training in Berlin winters is no joke.", speaker),
    )
    assert ("preference", "Is training for the Berlin marathon.", (0,)) in found


def test_message_far_away_is_no_evidence() -> None:
    filler: list[Said] = [("I see.", "assistant"), "Ok."] * 3
    found = learned(
        "I'm training for the Berlin marathon.",
        *filler,
        "Marathon training in Berlin winters is no joke.",
    )
    assert ("preference", "Is training for the Berlin marathon.", (0,)) in found


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Cello is mostly my thing.", "Is into cello."),
        (
            "My garden, jazz and old maps are all that bring me joy in life.",
            "Finds that their garden, jazz and old maps bring them joy in life.",
        ),
        (
            "Learning Finnish has been tough but worth it.",
            "Found learning Finnish tough but worthwhile.",
        ),
        (
            "Busy with my thesis but sleeping enough.",
            "Is busy with their thesis but sleeping enough.",
        ),
        (
            "Adding Lisbon to my travel list, sounds like fun!",
            "Is adding Lisbon to their travel list.",
        ),
        (
            "Friendship is the most important thing to me.",
            "Sees friendship as the most important thing in life.",
        ),
        ("It feels unreal now that I'm a nurse.", "Is a nurse."),
        ("My new bike squeaks like a mouse.", "Has a new bike."),
        ("Here is a bowl that I've made on the wheel.", "Made a bowl on the wheel."),
    ],
)
def test_personal_talk_in_passing_reads_well(said: str, fact: str) -> None:
    sentence = said.rstrip(".!")
    readings = [*read_first_person(sentence), read_aside(sentence), read_told(sentence)]
    assert fact in [one.content for one in readings if one is not None]


@pytest.mark.parametrize(
    "said",
    [
        "I believe in us.",
        "I love making him happy.",
        "I enjoy the taste of these.",
        "I've never had a problem with it once.",
        "I made a piece.",
        "I love how they do it.",
        "We freeze all partner files two days before that.",
        "Our night shift has the whole week behind it.",
    ],
)
def test_statement_that_points_at_something_said_elsewhere_is_left_out(said: str) -> None:
    assert learned("I live in Utrecht.", ("Ah.", "assistant"), said) == [
        ("preference", "Lives in Utrecht.", (0,))
    ]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            "We've all been learning sign language together",
            "Has been learning sign language together.",
        ),
        ("I like my desk by the window, strange as that is", "Likes their desk by the window."),
        ("I own all the maps of the old harbour", "Owns all the maps of the old harbour."),
    ],
)
def test_wording_keeps_who_said_it_and_drops_the_ornament(said: str, fact: str) -> None:
    assert [one.content for one in read_first_person(said)] == [fact]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Cooking is therapy for me", "Sees cooking as therapy."),
        (
            "Cuddling up with a book is my chill time",
            "Sees cuddling up with a book as their chill time.",
        ),
        ("Chess is a good way to clear my head", "Sees chess as a good way to clear their head."),
        (
            "Two of my favorites are Dune and Solaris",
            "Counts Dune and Solaris among their favorites.",
        ),
        ("It's a pity that I don't have pets", "Does not have pets."),
        ("These lanterns I bought in June look great at night", "Bought some lanterns in June."),
        (
            "Organizing the chess fair in my street was an awesome experience",
            "Found organizing the chess fair in their street an awesome experience.",
        ),
    ],
)
def test_what_something_is_to_somebody_reads_well(said: str, fact: str) -> None:
    readings = [*read_first_person(said), read_aside(said), read_told(said)]
    assert fact in [one.content for one in readings if one is not None]


def test_one_event_told_in_a_talk_of_several_messages_is_kept() -> None:
    talk: list[Said] = ["Hey, long time no talk!", ("Hi! What's new?", "assistant")]
    news = (
        "I got a puppy two weeks ago and we went to the lake with my sister's family last weekend. "
        "We swam, we grilled, and I slept in a tent for the first time in years."
    )
    more: list[Said] = [("Aww!", "assistant"), "Thanks a lot!", ("Bye!", "assistant"), "See ya!"]
    assert "Got a puppy around 11 November 2026." in [
        content for _, content, _ in learned(*talk, news, *more)
    ]
    assert learned(*talk, "I missed the bus.", *more) == []
