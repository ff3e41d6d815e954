"""A session as a whole: which entries may speak, what each says, what a later one takes back, what
is kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from junior_memory.candidates import MAX_EVIDENCE, Authority, Candidate, Entry, EntryType, Role
from junior_memory.heuristics import corrections, marks, references, refusals, support
from junior_memory.heuristics.answers import read_answer
from junior_memory.heuristics.asides import read_aside
from junior_memory.heuristics.canonical import trim_tail
from junior_memory.heuristics.clauses import REMEMBER, strip_leaders
from junior_memory.heuristics.dates import with_dates
from junior_memory.heuristics.directives import read_directive
from junior_memory.heuristics.firstperson import read_first_person
from junior_memory.heuristics.languages import read_other_language
from junior_memory.heuristics.procedures import read_procedure
from junior_memory.heuristics.scoring import message_features, score_reading
from junior_memory.heuristics.sentences import Sentence, split_sentences
from junior_memory.heuristics.shared import read_team_fact, read_tool_output
from junior_memory.heuristics.statements import Family, Reading, Statement
from junior_memory.heuristics.told import read_told

MAX_SESSION_SENTENCES = 10_000
"""Sentences read of one session: about a megabyte of prose, a few seconds of work."""

MAX_STATEMENTS = 400
"""Statements of one session that are compared with each other for corrections, the best first."""

_MESSAGE_SPAN = 10_000
_ANSWERS_WITHIN = 1
_MAX_TOOL_CHARACTERS = 20_000
_SHARED = {Family.TEAM: "knowledge", Family.PROCEDURE: "procedure"}


def read_session(entries: Sequence[Entry], *, limit: int) -> tuple[Candidate, ...]:
    """The session's best statements as candidates; see `extract_candidates`."""
    statements: list[Statement] = []
    correcting: set[int] = set()
    budget = MAX_SESSION_SENTENCES
    among = any(one.role is Role.USER and not one.is_run_actor for one in entries)
    subjects: dict[int, tuple[frozenset[str], ...]] = {}
    for place, entry in enumerate(entries):
        previous = entries[place - 1] if place else None
        if budget <= 0:
            break
        if entry.type is EntryType.TOOL_RESULT:
            if not entry.is_error:
                statements.extend(_from_tool(entry, place=place))
            continue
        if entry.role is not Role.USER:
            continue
        sentences = split_sentences(entry.text)[:budget]
        budget -= len(sentences)
        if entry.is_run_actor and entry.authority is Authority.INSTRUCTION:
            subjects[entry.index] = support.subjects_of(sentences)
        statements = _from_message(
            entry,
            sentences,
            place=place,
            previous=previous,
            statements=statements,
            correcting=correcting,
            among=among,
        )
    own = [one for one in entries if one.role is Role.USER and one.is_run_actor]
    at_work = sum(1 for one in own if refusals.is_about_work(one.text[:_WORK_SAMPLE]))
    statements = _without_lone_asides(statements, messages=len(own), at_work=at_work)
    merged = _merge_repeats(statements)
    if len(merged) > MAX_STATEMENTS:
        best = sorted(merged, key=lambda one: (-one.score, one.order))[:MAX_STATEMENTS]
        merged = sorted(best, key=lambda one: one.order)
    kept = corrections.let_later_win(merged, correcting=frozenset(correcting))
    return tuple(
        Candidate(kind=one.kind, content=one.content, evidence=_evidence(one, subjects=subjects))
        for one in _best(kept, limit=limit)
    )


def _evidence(
    statement: Statement, *, subjects: dict[int, tuple[frozenset[str], ...]]
) -> tuple[int, ...]:
    """The messages a statement was read from and, for a personal one, another that bears it out."""
    own = statement.evidence
    if statement.kind != "preference" or len(own) >= MAX_EVIDENCE:
        return own
    other = support.supporting(statement.content, own, subjects=subjects)
    return own if other is None else (*own, other)


def _may_state_shared(entry: Entry) -> bool:
    """Whether knowledge and procedures may rest on this user message."""
    if entry.authority is Authority.INSTRUCTION:
        return entry.is_run_actor or entry.actor is not None
    return True


def _from_message(
    entry: Entry,
    sentences: tuple[Sentence, ...],
    *,
    place: int,
    previous: Entry | None,
    statements: list[Statement],
    correcting: set[int],
    among: bool,
) -> list[Statement]:
    own = entry.is_run_actor and entry.authority is Authority.INSTRUCTION
    answers = (
        previous is not None
        and previous.role is Role.ASSISTANT
        and previous.text.rstrip().endswith("?")
    )
    features = message_features(entry.text, sentences=sentences, answers=answers, opens=place < 2)
    found = list(statements)
    for number, sentence in enumerate(sentences):
        order = place * _MESSAGE_SPAN + number
        request = corrections.forget_request(sentence.text)
        if request and not sentence.asks:
            if own:
                found = corrections.apply_forgetting(
                    found, kind=request[0], topic=request[1], before=order
                )
            if corrections.is_off_the_record(sentence.text):
                break
            continue
        if own and corrections.is_off_the_record(sentence.text):
            break
        if corrections.corrects(sentence.text):
            correcting.add(order)
        read = _read_sentence(sentence, own=own, shared=_may_state_shared(entry), among=among)
        evidence: tuple[int, ...] = (entry.index,)
        if not read and own and not sentence.asks:
            resolved = _resolve(
                sentence.text, entry=entry, place=place, previous=previous, found=found
            )
            if resolved is not None:
                read, evidence = [(resolved[0], False)], resolved[1]
            elif answers and previous is not None and number <= _ANSWERS_WITHIN:
                answer = read_answer(previous.text, sentence.text)
                read = [(answer, False)] if answer is not None else []
        for reading, explicit in read:
            score = score_reading(reading, features)
            found.append(
                Statement(
                    kind=_SHARED.get(reading.family, "preference"),
                    family=reading.family,
                    content=with_dates(reading.content, said_at=entry.at),
                    said=reading.said,
                    evidence=evidence,
                    order=order,
                    score=score + (4.0 if explicit else 0.0),
                    explicit=explicit,
                )
            )
    return found


def _resolve(
    text: str, *, entry: Entry, place: int, previous: Entry | None, found: list[Statement]
) -> tuple[Reading, tuple[int, ...]] | None:
    """A sentence about "it", read with what the statement just before was about, and the entries
    it then rests on.

    The statement stands in the same message, or in the one before when the assistant's answer
    between names the same thing.
    """
    if not found or found[-1].kind != "preference":
        return None
    last = found[-1]
    topic = references.topic_of(last)
    if not topic:
        return None
    if last.evidence[-1] == entry.index:
        reading = _read_with(strip_leaders(text), topic)
        return (reading, (entry.index,)) if reading is not None else None
    near = place - last.order // _MESSAGE_SPAN <= 2
    if not near or previous is None or not references.mentions(previous.text, topic):
        return None
    reading = _read_with(strip_leaders(text), topic)
    return (reading, (*last.evidence, entry.index)[-MAX_EVIDENCE:]) if reading is not None else None


def _read_with(text: str, topic: str) -> Reading | None:
    reading = references.resolve(text, topic)
    if reading is not None:
        return reading
    filled = references.fill_object(text, topic)
    if not filled or refusals.is_hypothetical(filled) or refusals.is_reported(filled):
        return None
    return next(iter(read_first_person(filled)), None)


def _read_sentence(
    sentence: Sentence, *, own: bool, shared: bool, among: bool = False
) -> list[tuple[Reading, bool]]:
    """The facts of one sentence, each with whether it was said to be remembered."""
    text = sentence.text
    explicit = False
    wish = REMEMBER.match(text)
    if wish and wish.end() < len(text):
        text, explicit = text[wish.end() :], True
    if refusals.names_secret(text):
        return []
    if refusals.is_question(text, asks=sentence.asks and not explicit):
        return [(one, False) for one in _read_before_question(text)] if own else []
    if shared:
        procedure = read_procedure(text)
        if procedure is not None:
            return [(procedure, explicit)]
        fact = read_team_fact(text, among=among)
        if fact is not None:
            return [(fact, explicit)]
    if (
        not own
        or refusals.is_hypothetical(text)
        or refusals.is_reported(text)
        or refusals.speaks_of_thread(text)
    ):
        return []
    directive = read_directive(text)
    if directive is not None:
        return [(directive, explicit)]
    if re.search(r"\bplease\b", trim_tail(text), re.IGNORECASE) and not explicit:
        return []
    if among and re.match(r"^(?:we|our|we're|we've)\b", strip_leaders(text), re.IGNORECASE):
        return []
    readings = read_first_person(text, wished=explicit)
    if readings:
        return [(reading, explicit) for reading in readings]
    other = read_other_language(text) or read_aside(text) or read_told(text)
    return [(other, explicit)] if other is not None else []


_QUESTION_TAIL = re.compile(
    r"(?:,|\b(?:so|and|but)\b|[-\u2013\u2014]+),? (?:so |and |but )?"
    r"(?:want|wanna|ever|what|which|how|where|who|when|why"
    r"|can|could|would|do|does|is|are|should|any|will|have)\b.*$",
    re.IGNORECASE,
)
_LASTING = frozenset(
    {
        Family.EVENT,
        Family.ONGOING,
        Family.GOAL,
        Family.PREFERENCE,
        Family.BEING,
        Family.ATTRIBUTE,
        Family.HABIT,
        Family.POSSESSION,
    }
)


def _read_before_question(text: str) -> list[Reading]:
    """ "I'm allergic to nuts, what can I cook?": what lasts in the statement that a question is
    hung on.
    """
    head = _QUESTION_TAIL.sub("", text, count=1)
    if head == text or not re.match(r"^(?:i|i'm|my)\b", head, re.IGNORECASE):
        return []
    if refusals.is_hypothetical(head) or refusals.is_reported(head) or refusals.speaks_of_now(head):
        return []
    return [one for one in read_first_person(head) if one.family in _LASTING]


def _from_tool(entry: Entry, *, place: int) -> list[Statement]:
    found: list[Statement] = []
    for number, sentence in enumerate(split_sentences(entry.text[:_MAX_TOOL_CHARACTERS])):
        if sentence.asks or refusals.names_secret(sentence.text):
            continue
        reading = read_tool_output(sentence.text)
        if reading is not None:
            found.append(
                Statement(
                    kind=_SHARED[reading.family],
                    family=reading.family,
                    content=reading.content,
                    said=reading.said,
                    evidence=(entry.index,),
                    order=place * _MESSAGE_SPAN + number,
                    score=1.0,
                )
            )
    return found


_WEAK = frozenset({Family.OPINION, Family.FEELING, Family.INFLUENCE, Family.TOLD, Family.ASIDE})
_COMPANY = 1
_AT_LENGTH = 4
_LEAST_LONE_SCORE = 0.0
_LEAST_WEAK_SCORE = -0.6
_WORK_SHARE = 3
_WORK_SAMPLE = 2_000


def _is_weak(statement: Statement) -> bool:
    """Whether a statement needs company: an opinion, a feeling, a passing event that is no turn in
    a life.
    """
    if statement.explicit:
        return False
    if statement.family in _WEAK:
        return True
    passing = statement.family in {Family.EVENT, Family.ONGOING}
    return passing and not marks.TURN_IN_LIFE.search(statement.content)


def _without_lone_asides(
    statements: list[Statement], *, messages: int, at_work: int
) -> list[Statement]:
    """Weak statements only beside another of the same person in another message or in a talk of
    several messages, and never in talk about work.

    Somebody who speaks of themselves at length says who they are by what they feel and did; in
    passing it is chatter.
    """
    personal = [one for one in statements if one.kind == "preference"]
    working = at_work * _WORK_SHARE > messages or len(statements) - len(personal) > len(personal)
    spoke_in = {one.evidence[-1] for one in personal}
    return [
        one
        for one in statements
        if not _is_weak(one)
        or (
            not working
            and (
                len(spoke_in - set(one.evidence)) >= _COMPANY
                or (messages >= _AT_LENGTH and one.score >= _LEAST_LONE_SCORE)
            )
            and (one.family not in _WEAK or one.score >= _LEAST_WEAK_SCORE)
        )
    ]


def _merge_repeats(statements: list[Statement]) -> list[Statement]:
    """One statement per kind and text; a repetition adds its evidence to the first."""
    merged: dict[tuple[str, str], Statement] = {}
    for one in statements:
        key = (one.kind, one.content.casefold().rstrip(".!"))
        first = merged.get(key)
        if first is None:
            merged[key] = one
            continue
        evidence = tuple(dict.fromkeys((*first.evidence, *one.evidence)))[:MAX_EVIDENCE]
        merged[key] = Statement(
            kind=first.kind,
            family=first.family,
            content=first.content,
            said=first.said,
            evidence=evidence,
            order=one.order,
            score=max(first.score, one.score),
            explicit=first.explicit or one.explicit,
        )
    return sorted(merged.values(), key=lambda one: one.order)


_DURABLE = frozenset(
    {
        Family.BEING,
        Family.POSSESSION,
        Family.DIRECTIVE,
        Family.TEAM,
        Family.PROCEDURE,
        Family.ATTRIBUTE,
        Family.PREFERENCE,
        Family.HABIT,
    }
)
_SECOND_DURABLE = 1.0
_SECOND = 4.0


def _best(statements: list[Statement], *, limit: int) -> list[Statement]:
    """The `limit` best; a message's second fact gives way to another message's first, unless it
    lasts longer.
    """
    ranked = sorted(statements, key=lambda one: (-one.score, one.order))
    taken: dict[int, int] = {}
    scored: list[tuple[float, int, Statement]] = []
    for one in ranked:
        repeat = taken.get(one.evidence[0], 0)
        taken[one.evidence[0]] = repeat + 1
        loss = _SECOND_DURABLE if one.family in _DURABLE else _SECOND
        scored.append((one.score - loss * repeat, one.order, one))
    scored.sort(key=lambda row: (-row[0], row[1]))
    return [one for _, _, one in scored[: max(0, limit)]]
