"""A made-up store of any size: who holds which memory, and what people ask for.

Everything follows from a number: row 17 of a store of 100,000 has the same owner, text and time in
every run and every process. 20 % of the rows are public, the rest are spread by Zipf over one owner
per hundred rows. A row speaks of a topic (Zipf: few topics are spoken of often), names somebody and
holds some words from a long tail, so that a question made of some of its words has an answer.

Most words are *known* ones, of the vocabulary of the local embedder's tokenizer: a topic's are near
each other in meaning, and a tail ends in words nobody has heard of. With *invented* words alone the
embedder sees syllables, and every text is about as far from every other: among 50,000 rows the
tenth nearest to a question is at .890 of the distance of the hundredth (local intrinsic dimension
19.7). Known words have .869 (16.6); English sentences of software documentation, asked for by some
of their words, .840 (13.1), so that either store is harder for an approximate index than what
people write. Nearest to it are *facts*, known words in short sentences as learning keeps them:
among 1,300 rows 11.6, where facts kept from real conversations have 9.5 and their turns 11.8.
"""

from __future__ import annotations

import random
import re
import uuid
from bisect import bisect
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Literal

import numpy as np

NOW = datetime(2026, 11, 1, tzinfo=UTC)
PUBLIC_SHARE = 0.2
ROWS_PER_OWNER = 100
TOPICS = 400
TAIL_WORDS = 30_000
NAMES = 3_000

FIELDS = """
garden tomato compost seedling trellis pruning mulch harvest orchard greenhouse
kitchen recipe oven dough skillet spice broth marinade dessert pantry
server deployment cluster latency database backup firewall container rollback certificate
bicycle gear saddle brake wheel helmet trail pedal puncture commute
piano melody chord rehearsal orchestra violin tempo duet concert choir
budget invoice expense payroll ledger audit refund forecast quarter receipt
hospital appointment allergy prescription dentist vaccine therapy clinic diagnosis nurse
school homework teacher exam lesson library grade campus lecture scholarship
flight passport luggage hotel itinerary airport visa terminal layover boarding
puppy leash kennel veterinarian treat collar grooming beagle shelter kibble
novel chapter author poem bookshop essay translation library paperback publisher
football referee stadium striker penalty league coach tournament goalkeeper training
painting canvas brush gallery sketch easel pigment portrait exhibition sculpture
apartment lease landlord plumbing balcony mortgage furniture carpet renovation tenant
camera lens tripod exposure shutter portrait darkroom negative aperture studio
boat harbour anchor sail rudder current regatta mooring lighthouse captain
mountain summit glacier rope crevasse hut avalanche ridge compass crampon
coffee espresso grinder roast kettle barista filter crema latte decaf
meeting agenda minutes calendar reminder deadline workshop standup retrospective offsite
engine gearbox clutch radiator piston garage mechanic exhaust dashboard tyre
wedding bouquet ceremony guest invitation caterer vow banquet toast anniversary
telescope comet nebula eclipse planet observatory orbit asteroid galaxy lens
chess opening bishop endgame gambit tournament castling checkmate pawn rating
contract clause lawyer signature dispute hearing settlement notary witness licence
""".strip().splitlines()

ACTS = """
mentioned prefers remembers suggested avoids keeps ordered moved postponed fixed described owns
borrowed checks compared planned noticed recommends stores sold
""".split()

GLUES = (
    "{name} {act} the {a} and the {b} that {x} had left beside the {c} on {y} for {z} {d}",
    "about the {a} {name} {act} {b} with {x} because the {c} was too {y} for a {d} {z}",
    "{name} {act} that {x} and {y} belong to the {a} whenever a {b} or some {c} of {z} needs {d}",
    "the {a} of {name} is {x} and it {act} every {b} near {y} where {c} and {d} are {z}",
)

SHORT = (
    "{name} {act} the {a} and the {b} of {x}",
    "{name} {act} {a} with {x} because of {b}",
    "about {a} and {b} {name} {act} {x}",
    "the {a} that {name} {act} is {x} and {b}",
)

_STARTS = "b br c ch d dr f fl g gl gr h j k kr l m n p pl pr qu r s sh sk st t tr v w z".split()
_MIDDLES = "a e i o u ai ea ou".split()
_ENDS = "l ld m n nd r rk rn s st t x v".split()


def _invented(count: int, seed: str, syllables: int) -> list[str]:
    """Make up words that sound like some language's, all different."""
    chance = random.Random(seed)  # noqa: S311 - words, not secrets
    made: dict[str, None] = {}
    while len(made) < count:
        word = "".join(
            chance.choice(_STARTS) + chance.choice(_MIDDLES) for _ in range(syllables)
        ) + chance.choice(_ENDS)
        made.setdefault(word)
    return list(made)


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[list[str], np.ndarray]:
    """Return the words that the local embedder knows as one piece, and their vectors."""
    from junior_memory.providers import local

    pieces = sorted(local._weights().tokenizer.get_vocab())
    hidden = {word.lower().strip(".,?") for each in HIDDEN for word in each.said.split()}
    words = [piece[1:] for piece in pieces if re.fullmatch("\u2581[a-z]{4,}", piece)]
    known = [word for word in words if word not in hidden]
    vectors = local.word_vectors(known)
    return known, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _near_each_other(chance: random.Random, groups: int, count: int) -> list[list[str]]:
    """Return groups of words: some known word and those nearest to it."""
    known, vectors = _vocabulary()
    seeds = vectors[[chance.randrange(len(known)) for _ in range(groups)]]
    near = np.argsort(-(seeds @ vectors.T), axis=1, kind="stable")[:, :count]
    return [[known[place] for place in places] for places in near]


@lru_cache(maxsize=16)
def _zipf(count: int) -> list[float]:
    """Return cumulated weights 1, 1/2, 1/3 …"""
    return list(accumulate(1 / place for place in range(1, count + 1)))


def _draw(chance: random.Random, count: int) -> int:
    weights = _zipf(count)
    return bisect(weights, chance.random() * weights[-1])


Words = Literal["facts", "known", "invented"]


@dataclass(frozen=True, slots=True)
class Draft:
    """One row to be, with the words of it that a question may use."""

    id: uuid.UUID
    owner: int | None
    """The owner's number; None for a public row."""
    created_at: datetime
    content: str
    name: str
    topical: tuple[str, ...]
    rare: tuple[str, ...]

    @property
    def visibility(self) -> str:
        """Who may see it."""
        return "public" if self.owner is None else "private"


@dataclass(frozen=True, slots=True)
class Hidden:
    """A memory of one person, and a question for it by words, by meaning alone and by both."""

    text: str
    words: str
    meaning: str
    both: str

    @property
    def said(self) -> str:
        """Everything that is said of it."""
        return f"{self.text} {self.words} {self.meaning} {self.both}"


HIDDEN = (
    Hidden(
        "Her twin daughters grew up in Lisbon.",
        "Lisbon",
        "girls raised in Portugal",
        "Where did the twin girls grow up, in Lisbon?",
    ),
    Hidden(
        "Jogs two kilometres before breakfast.",
        "jogs kilometres",
        "a morning run",
        "How far does she jog before breakfast?",
    ),
    Hidden(
        "The alarm of the cabin is disarmed with QX-7741-ZR.",
        "QX-7741-ZR",
        "code that turns off the security system",
        "What disarms the cabin alarm?",
    ),
)
"""Nothing of it is said anywhere else in the corpus."""


@dataclass(frozen=True)
class Corpus:
    """A store of `rows` rows: long ones of known words or of invented alone, or short facts."""

    rows: int
    words: Words = "known"

    @property
    def owners(self) -> int:
        """How many people hold private rows."""
        return max(10, self.rows // ROWS_PER_OWNER)

    @cached_property
    def _tail(self) -> list[str]:
        invented = _invented(TAIL_WORDS, "tail", 3)
        if self.words == "invented":
            return invented
        known = list(_vocabulary()[0])
        random.Random("known tail").shuffle(known)  # noqa: S311
        return [*known, *invented][:TAIL_WORDS]

    @cached_property
    def _names(self) -> list[str]:
        return [word.capitalize() for word in _invented(NAMES, "names", 2)]

    @cached_property
    def _topics(self) -> list[list[str]]:
        """Words of each topic: some of a field's, then ones near each other, or invented ones."""
        chance = random.Random("topics")  # noqa: S311
        if self.words != "invented":
            others = _near_each_other(chance, TOPICS, 40)
        else:
            invented = _invented(TOPICS * 40, "topical", 2)
            others = [invented[at : at + 40] for at in range(0, len(invented), 40)]
        found = []
        for place, more in enumerate(others):
            field = FIELDS[place % len(FIELDS)].split()
            own = list(dict.fromkeys([*chance.sample(field, 5), *more]))
            chance.shuffle(own)
            found.append(own)
        return found

    def owner_id(self, number: int) -> uuid.UUID:
        """Return the id of an owner."""
        chance = random.Random(f"owner {number}")  # noqa: S311
        return uuid.UUID(int=chance.getrandbits(128), version=4)

    def owner_of(self, number: int) -> int | None:
        """Return whose row it is, without making it."""
        return self._begin(number)[2]

    def _begin(self, number: int) -> tuple[random.Random, uuid.UUID, int | None]:
        chance = random.Random(f"row {number}")  # noqa: S311
        row_id = uuid.UUID(int=chance.getrandbits(128), version=4)
        owner = None if chance.random() < PUBLIC_SHARE else _draw(chance, self.owners)
        return chance, row_id, owner

    def draft(self, number: int) -> Draft:
        """Return one row."""
        chance, row_id, owner = self._begin(number)
        topic = self._topics[_draw(chance, TOPICS)]
        if self.words == "facts":
            return self._fact(chance, topic, row_id, owner)
        topical = tuple(dict.fromkeys(topic[_draw(chance, len(topic))] for _ in range(12)))[:4]
        topical += tuple(chance.sample(topic, 4 - len(topical)))
        rare = tuple(self._tail[_draw(chance, TAIL_WORDS)] for _ in range(3))
        name = self._names[_draw(chance, NAMES)]
        content = chance.choice(GLUES).format(
            name=name,
            act=chance.choice(ACTS),
            **dict(zip("abcd", topical, strict=True)),
            **dict(zip("xyz", rare, strict=True)),
        )
        return Draft(
            row_id,
            owner,
            NOW - timedelta(seconds=chance.randrange(60, 2 * 365 * 86_400)),
            content[0].upper() + content[1:] + ".",
            name,
            topical,
            rare,
        )

    def _fact(
        self, chance: random.Random, topic: list[str], row_id: uuid.UUID, owner: int | None
    ) -> Draft:
        """Return a row of one short sentence: somebody, what was done, three words."""
        topical = tuple(dict.fromkeys(topic[_draw(chance, len(topic))] for _ in range(8)))[:2]
        topical += tuple(chance.sample(topic, 2 - len(topical)))
        rare = self._tail[_draw(chance, TAIL_WORDS)]
        name = self._names[_draw(chance, NAMES)]
        content = chance.choice(SHORT).format(
            name=name, act=chance.choice(ACTS), a=topical[0], b=topical[1], x=rare
        )
        at = NOW - timedelta(seconds=chance.randrange(60, 2 * 365 * 86_400))
        content = content[0].upper() + content[1:] + "."
        return Draft(row_id, owner, at, content, name, topical, (rare,))

    def question(self, number: int) -> str:
        """Return a question that row `number` answers: five of its words and one that it lacks.

        One of the five, what was done, is said in every twentieth row.
        """
        draft = self.draft(number)
        chance = random.Random(f"question {number}")  # noqa: S311
        foreign = self._topics[_draw(chance, TOPICS)]
        stranger = foreign[_draw(chance, len(foreign))]
        words = [*chance.sample(draft.topical, 2), chance.choice(draft.rare), stranger]
        chance.shuffle(words)
        first, second, third, fourth = words
        act = next(word for word in draft.content.split() if word in ACTS)
        return f"which {first} {second}, {third} or {fourth} was it that {draft.name} {act}?"
