"""The shape in which facts pass between the readers, the ranking and the corrections."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """What a statement says, by its verb: decides how durable it is taken to be."""

    PREFERENCE = "preference"
    BEING = "being"
    ATTRIBUTE = "attribute"
    POSSESSION = "possession"
    HABIT = "habit"
    GOAL = "goal"
    ONGOING = "ongoing"
    EVENT = "event"
    OPINION = "opinion"
    FEELING = "feeling"
    INFLUENCE = "influence"
    TOLD = "told"
    ASIDE = "aside"
    DIRECTIVE = "directive"
    TEAM = "team"
    PROCEDURE = "procedure"


@dataclass(frozen=True, slots=True)
class Reading:
    """A fact read from one sentence: its family, canonical text, and the words it was said in."""

    family: Family
    content: str
    said: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A reading placed in the session: the entries it rests on, when in the session, how good it
    is.
    """

    kind: str
    family: Family
    content: str
    said: str
    evidence: tuple[int, ...]
    order: int
    score: float
    explicit: bool = False
