"""What a model claims is held against what it was shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from junior_memory.claims import SecretClaim, UnusableClaim, is_grounded, last_moment, wording

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "  \n", "\u200b", "\ud800 tea", "tea " * 1_001, "Prefers golf."]
)
def test_empty_overlong_broken_or_made_up_words_are_unusable(text: str) -> None:
    with pytest.raises(UnusableClaim) as claim:
        wording(text, shown="I prefer tea.")
    assert "golf" not in str(claim.value)


@pytest.mark.parametrize("text", ["The tea key is [secret].", "tea AKIA" + "Q3EGRC7T2XZV4LMN"])
def test_a_secret_and_its_mask_are_unusable(text: str) -> None:
    with pytest.raises(SecretClaim):
        wording(text, shown="tea")


def test_words_are_stored_single_spaced_and_without_nul() -> None:
    assert wording(" Prefers\n tea\x00. ", shown="I prefer tea") == "Prefers tea."


@pytest.mark.parametrize(
    ("fact", "shown", "grounded"),
    [
        ("Prefers window seats.", "I like to sit at the window", True),
        ("Prefers aisle seats.", "I prefer tea", False),
        ("Lives in Porto.", "i moved to PORTO in May", True),
        ("Uses naïve matching", "naive match", True),
        ("紅茶が好き", "紅茶をください", True),
        ("珈琲が好き", "紅茶をください", False),
        ("Likes it.", "I like it", False),
        ("Uses C#", "we write C# here", True),
    ],
)
def test_a_fact_shares_a_telling_word_with_what_was_shown(
    fact: str, shown: str, grounded: bool
) -> None:
    assert is_grounded(fact, shown) is grounded


@pytest.mark.parametrize(
    "text", [None, "", " ", "never", "NULL", "None", "9999-12-31", "3000-01-01"]
)
def test_no_date_and_one_beyond_all_time_mean_never(text: str | None) -> None:
    assert last_moment(text, now=NOW) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-12-24", datetime(2026, 12, 25, tzinfo=UTC)),
        ("2026-11-20", datetime(2026, 11, 21, tzinfo=UTC)),
        ("2026-12-24T18:00:00+09:00", datetime(2026, 12, 24, 9, tzinfo=UTC)),
        ("2026-12-24T18:00:00Z", datetime(2026, 12, 24, 18, tzinfo=UTC)),
        ("2026-12-24 18:00", datetime(2026, 12, 24, 18, tzinfo=UTC)),
    ],
)
def test_a_day_ends_with_its_last_second(text: str, moment: datetime) -> None:
    assert last_moment(text, now=NOW) == moment


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-19",
        "2024-01-01",
        "0001-01-01T00:00:00+14:00",
        "1798675200000",
        "next summer",
        "2026-13-01",
        "２０２６-12-24",
        "2026-12-24\x00",
        "x" * 10_000,
    ],
)
def test_a_past_or_unreadable_end_is_unusable(text: str) -> None:
    with pytest.raises(UnusableClaim):
        last_moment(text, now=NOW)
