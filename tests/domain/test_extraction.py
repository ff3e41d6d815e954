"""Evidence decides: what each kind of candidate may rest on."""

from __future__ import annotations

import pytest

from junior_memory.candidates import ActorRef, Authority, Candidate, Entry, EntryType, Role
from junior_memory.extraction import Run, echoes, route

ALICE = ActorRef("slack", "T1", "UALICE")
BOB = ActorRef("slack", "T1", "UBOB")
BOT = ActorRef("slack", "T1", "BOT", is_human=False)

OWN, CONTEXT, BYSTANDER, UNATTRIBUTED, ASSISTANT, TOOL, FAILED, SYSTEM, BLANK_TOOL = range(9)

ENTRIES = (
    Entry(OWN, EntryType.MESSAGE, "I like tea", Role.USER, Authority.INSTRUCTION, ALICE, True),
    Entry(CONTEXT, EntryType.MESSAGE, "deploys on Monday", Role.USER, Authority.CONTEXT),
    Entry(BYSTANDER, EntryType.MESSAGE, "I like milk", Role.USER, Authority.INSTRUCTION, BOB),
    Entry(UNATTRIBUTED, EntryType.MESSAGE, "I like ale", Role.USER, Authority.INSTRUCTION),
    Entry(ASSISTANT, EntryType.MESSAGE, "You like tea", Role.ASSISTANT),
    Entry(TOOL, EntryType.TOOL_RESULT, "region: eu", tool_name="config"),
    Entry(FAILED, EntryType.TOOL_RESULT, "denied", tool_name="config", is_error=True),
    Entry(SYSTEM, EntryType.MESSAGE, "Be kind", Role.SYSTEM),
    Entry(BLANK_TOOL, EntryType.TOOL_RESULT, " ", tool_name="config"),
)


def run(**fields: object) -> Run:
    base: dict[str, object] = {
        "has_linked_user": True,
        "actor": ALICE,
        "actors": (ALICE,),
        "entries": ENTRIES,
    }
    return Run(**(base | fields))  # type: ignore[arg-type]


def kept(kind: str, *evidence: int, **fields: object) -> bool:
    candidate = Candidate(kind, "A fact.", tuple(evidence))
    return bool(route([candidate], run(**fields)))


@pytest.mark.parametrize(
    ("evidence", "stored"),
    [
        ((OWN,), True),
        ((OWN, OWN), True),
        ((CONTEXT,), False),
        ((BYSTANDER,), False),
        ((UNATTRIBUTED,), False),
        ((ASSISTANT,), False),
        ((TOOL,), False),
        ((SYSTEM,), False),
        ((OWN, CONTEXT), False),
        ((OWN, BYSTANDER), False),
        ((OWN, ASSISTANT), False),
        ((OWN, TOOL), False),
        ((), False),
        ((99,), False),
        ((OWN, -1), False),
        ((OWN, *range(100, 111)), False),
    ],
)
def test_preference_rests_on_its_actors_own_instructions_alone(
    evidence: tuple[int, ...], stored: bool
) -> None:
    assert kept("preference", *evidence) is stored


@pytest.mark.parametrize(
    "fields",
    [
        {"has_linked_user": False},
        {"actors": (ALICE, BOB)},
        {"actors": ()},
        {"actors": (BOB,)},
        {"actor": None},
        {"actor": BOT, "actors": (BOT,)},
        {"actors": (ALICE, BOT)},
    ],
)
def test_preference_needs_exactly_one_linked_human(fields: dict[str, object]) -> None:
    assert not kept("preference", OWN, **fields)


@pytest.mark.parametrize("kind", ["knowledge", "procedure"])
@pytest.mark.parametrize(
    ("evidence", "stored"),
    [
        ((OWN,), True),
        ((CONTEXT,), True),
        ((BYSTANDER,), True),
        ((TOOL,), True),
        ((OWN, CONTEXT, BYSTANDER, TOOL), True),
        ((UNATTRIBUTED,), False),
        ((ASSISTANT,), False),
        ((FAILED,), False),
        ((BLANK_TOOL,), False),
        ((SYSTEM,), False),
        ((TOOL, FAILED), False),
        ((TOOL, ASSISTANT), False),
        ((99,), False),
        ((), False),
    ],
)
def test_shared_fact_rests_on_people_and_successful_tools(
    kind: str, evidence: tuple[int, ...], stored: bool
) -> None:
    assert kept(kind, *evidence) is stored


def test_shared_fact_survives_where_a_preference_cannot() -> None:
    fields = {"actor": BOT, "actors": (BOT,), "has_linked_user": False}
    assert kept("knowledge", TOOL, **fields)
    assert not kept("preference", OWN, **fields)


def test_dropped_preference_is_never_turned_into_knowledge() -> None:
    candidates = [Candidate("preference", "Likes milk.", (BYSTANDER,))]
    assert route(candidates, run()) == []


def test_what_recall_gave_the_host_proves_nothing() -> None:
    echo = Entry(
        0,
        EntryType.MESSAGE,
        "Background: deploys on Monday mornings.",
        Role.USER,
        Authority.CONTEXT,
    )
    echoed = echoes((echo,), ["Deploys on Monday mornings"])
    assert echoed == {0}
    fact = Candidate("knowledge", "Deploys on Monday mornings.", (0,))
    assert route([fact], run(entries=(echo,), echoed=echoed)) == []
    assert route([fact], run(entries=(echo,))) != []


def test_short_recalled_words_echo_nothing() -> None:
    assert echoes(ENTRIES, ["tea"]) == frozenset()


def test_teller_is_who_said_it() -> None:
    (routed,) = route([Candidate("knowledge", "A fact.", (BYSTANDER,))], run())
    assert routed.teller == BOB
    (routed,) = route([Candidate("knowledge", "A fact.", (TOOL,))], run())
    assert routed.teller == ALICE


def test_what_evidence_drops_leaves_its_place_to_the_next() -> None:
    dropped = [Candidate("preference", f"Likes milk {n}.", (BYSTANDER,)) for n in range(4)]
    proven = [Candidate("knowledge", f"Deploys on day {n}.", (CONTEXT,)) for n in range(6)]
    routed = route([*dropped, *proven], run())
    assert [one.candidate for one in routed] == proven[:5]
