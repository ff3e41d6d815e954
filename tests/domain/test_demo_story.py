"""The story of the demo can be handed in: shapes, order, limits, and no secret goes unseen."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from junior_memory.demo import (
    FORGETS,
    IDENTITIES,
    ORGANIZATION,
    PEOPLE,
    RECALLS,
    DemoConversation,
    conversations,
)
from junior_memory.demo.cast import DemoLine
from junior_memory.secrets import contains_secret, mask_secrets

TODAY = datetime(2026, 11, 29, tzinfo=UTC)
WITH_SECRETS = {
    "mara-pasted-token": "w8Kq2Zr5",
    "mara-pasted-database-url": "EbbTide",
    "hana-pasted-password": "KelpFoam",
    "support-card-number": "4111 1111 1111",
    "eng-keys-by-mistake": "R7TIDEBUOY",
}
ROLES = {"user", "assistant", "system"}


def _texts(conversation: DemoConversation) -> list[str]:
    return [str(line.entry["text"]) for line in conversation.lines]


def _completed_at(conversation: DemoConversation) -> datetime:
    day = TODAY + timedelta(days=conversation.day)
    return datetime.combine(day, conversation.ends_at, tzinfo=UTC)


def test_there_are_about_sixty_conversations_over_ninety_days() -> None:
    told = conversations()
    assert 55 <= len(told) <= 75
    assert all(-90 <= conversation.day < 0 for conversation in told)
    assert told[0].day <= -85
    assert told[-1].day >= -3


def test_conversations_come_in_order_and_have_ids_of_their_own() -> None:
    told = conversations()
    moments = [(conversation.day, conversation.ends_at) for conversation in told]
    assert moments == sorted(moments)
    assert len(set(moments)) == len(moments)
    for ids in (
        [conversation.session_id for conversation in told],
        [conversation.conversation_id for conversation in told],
        [recall.conversation_id for recall in RECALLS],
        [str(conversation.source["key"]) for conversation in told],
    ):
        assert [key for key, count in Counter(ids).items() if count > 1] == []
        assert all(0 < len(key) <= 255 for key in ids)


def test_every_session_body_has_the_shape_of_the_contract() -> None:
    for conversation in conversations():
        body = conversation.as_session(_completed_at(conversation))
        assert set(body) == {
            *("sessionId", "conversationId", "source", "actor", "actors", "completedAt"),
            *("transcript", "memoryMode"),
        }
        assert set(conversation.source) == {"platform", "key", "visibility", "location"}
        assert conversation.source["platform"] in {"slack", "web", "email"}
        assert conversation.source["visibility"] in {"private", "org", "public"}
        json.dumps(body)


def test_every_entry_has_the_shape_of_the_contract() -> None:
    for conversation in conversations():
        for entry in conversation.transcript(_completed_at(conversation)):
            if entry["type"] == "toolResult":
                assert set(entry) == {"type", "toolName", "isError", "text", "at"}
                continue
            assert entry["type"] == "message"
            assert entry["role"] in ROLES
            if entry["role"] == "user":
                assert entry["authority"] in {"instruction", "context"}
                assert {"actor"} == set(entry) - {"type", "role", "text", "authority", "at"}
            else:
                assert set(entry) == {"type", "role", "text", "at"}


def test_lines_are_said_one_after_another_until_the_end() -> None:
    for conversation in conversations():
        completed_at = _completed_at(conversation)
        times = [
            datetime.fromisoformat(str(e["at"])) for e in conversation.transcript(completed_at)
        ]
        assert times[-1] == completed_at
        assert all(earlier < later for earlier, later in pairwise(times))


def test_texts_are_short_enough_and_never_blank() -> None:
    for conversation in conversations():
        assert 3 <= len(conversation.lines) <= 10
        assert all(text.strip() and len(text) <= 2_000 for text in _texts(conversation))


def test_nobody_says_the_same_thing_twice_but_what_was_forgotten() -> None:
    said = Counter(text for conversation in conversations() for text in _texts(conversation))
    assert [text for text, count in said.items() if count > 1] == []


def test_every_speaker_is_linked_but_the_guest() -> None:
    unlinked = {
        actor.subject
        for conversation in conversations()
        for actor in conversation.actors
        if actor not in IDENTITIES
    }
    assert unlinked == {"U9GUEST"}
    assert {identity.person for identity in IDENTITIES} == set(PEOPLE)
    assert set(ORGANIZATION.members) == set(PEOPLE)
    keys = [(i.provider, i.tenant, i.subject) for i in IDENTITIES]
    assert len(set(keys)) == len(keys)


def test_private_places_hold_one_person() -> None:
    for conversation in conversations():
        if conversation.place.visibility == "private":
            assert conversation.actors == (conversation.actor,)


def test_every_pasted_secret_is_found_and_nothing_else_is_taken_for_one() -> None:
    for conversation in conversations():
        hits = [text for text in _texts(conversation) if contains_secret(text)]
        if conversation.slug not in WITH_SECRETS:
            assert hits == []
            continue
        sample = WITH_SECRETS[conversation.slug]
        assert len(hits) == 1
        assert sample in hits[0]
        assert sample not in mask_secrets(hits[0])


def test_addresses_are_reserved_for_examples() -> None:
    assert all(person.email.endswith((".example", "example.com")) for person in PEOPLE)


def test_what_is_forgotten_was_said_before_by_that_person() -> None:
    for forget in FORGETS:
        said = [
            conversation.day
            for conversation in conversations()
            for line in conversation.lines
            if _is_by(line, forget.person.slug) and forget.text in str(line.entry["text"])
        ]
        assert any(day < forget.day for day in said)


def test_two_forgotten_facts_are_said_again_later() -> None:
    again = [
        forget.text
        for forget in FORGETS
        for conversation in conversations()
        if conversation.day > forget.day and any(forget.text in t for t in _texts(conversation))
    ]
    assert again == ["allergic to hazelnuts", "the accordion"]


def test_recalls_come_in_order_and_ask_in_the_shape_of_the_contract() -> None:
    assert 20 <= len(RECALLS) <= 30
    moments = [(recall.day, recall.at) for recall in RECALLS]
    assert moments == sorted(moments)
    for recall in RECALLS:
        assert set(recall.as_request()) == {"conversationId", "source", "actor", "text"}
        assert -90 <= recall.day < 0
        assert recall.actor in IDENTITIES
        assert recall.text.strip()


def _is_by(line: DemoLine, slug: str) -> bool:
    return bool(line.speaker and line.speaker.person and line.speaker.person.slug == slug)
