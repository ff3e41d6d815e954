"""Every address that takes an id, asked for by a stranger in every method: nothing there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver
from django.utils import timezone

from dashboard import urls
from junior_memory import admin_reads, forgetting, people
from junior_memory.access import person
from junior_memory.models import AuditEntry, Conflict, ForgetBatch, Memory, Tombstone
from tests.cast import Cast
from tests.dashboard.conftest import HTMX, SignIn
from tests.factories import BY_TEST, make_memory

SENTINEL = "boathouse"
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")

OF_STAFF = ("system/", "public/", "people/")
"""Addresses of staff's own: 403 for everybody else, whatever the id."""

OF_A_LETTER = ("sign-in/", "reset-password/", "invitations/")
"""Addresses that a mail brings, for whoever holds them; no id of a memory stands in one."""

FORM = {"keep": "none", "confirm": "erase", "content": "Mine now.", "version": "1"}
"""What would be done if the address were theirs."""

PARAMETER = re.compile(r"<\w+:(\w+)>")


def addresses(patterns: Iterable[Any] = urls.urlpatterns, before: str = "") -> Iterator[str]:
    """Yield every address of the pages that takes something."""
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from addresses(one.url_patterns, before + str(one.pattern))
        elif isinstance(one, URLPattern) and "<" in str(one.pattern):
            yield before + str(one.pattern)


@pytest.fixture
def ids(cast: Cast) -> dict[str, Any]:
    """Let Alice have one of everything; return its id by the name of the parameter."""
    memory = make_memory(owner=cast.alice, content=f"Keeps bees behind the {SENTINEL}.")
    other = make_memory(owner=cast.alice, content=f"Keeps no bees behind the {SENTINEL}.")
    gone = make_memory(owner=cast.alice, content=f"Rows from the {SENTINEL}.")
    batch = forgetting.forget_many(person(cast.alice), [gone.pk], doer=BY_TEST).batch_id
    now = timezone.now()
    conflict = Conflict.objects.create(first=memory, second=other, created_at=now)
    token, _ = people.create_personal_token(cast.alice, scopes=["read"], doer=BY_TEST)
    read = admin_reads.open_read(cast.root, cast.alice, reason="A ticket.", doer=BY_TEST)
    return {
        "memory_id": memory.pk,
        "conflict_id": conflict.pk,
        "batch_id": batch,
        "identity_id": cast.alice_slack.pk,
        "token_id": token.pk,
        "mark_id": Tombstone.objects.filter(person=cast.alice).values_list("pk", flat=True)[0],
        "read_id": read.pk,
        "model_id": 1,
        "invitation_id": uuid4(),
        "conversation_id": "c-of-alice",
    }


def state() -> list[Any]:
    """Return what a stranger could have changed."""
    return [
        list(Memory.objects.order_by("pk").values_list("pk", "version", "archived_at", "held_at")),
        list(Conflict.objects.values_list("kept", flat=True)),
        list(ForgetBatch.objects.values_list("restored_at", flat=True)),
        Tombstone.objects.count(),
        AuditEntry.objects.count(),
    ]


@pytest.mark.parametrize("htmx", [False, True])
def test_a_stranger_finds_nothing_at_any_address_that_takes_an_id(
    cast: Cast, ids: dict[str, UUID], sign_in: SignIn, htmx: bool
) -> None:
    client = sign_in(cast.charlie)
    before, wrong = state(), []
    for pattern in addresses():
        if pattern.startswith(OF_A_LETTER):
            continue
        url = "/" + PARAMETER.sub(lambda found: str(ids[found[1]]), pattern)
        for method in METHODS:
            body = {"data": FORM} if method == "post" else {}
            answer = getattr(client, method)(url, headers=HTMX if htmx else {}, **body)
            allowed = {403, 404, 405} if pattern.startswith(OF_STAFF) else {404, 405}
            if answer.status_code not in allowed:
                wrong.append(f"{method} {pattern}: {answer.status_code}")
            assert SENTINEL.encode() not in answer.content, f"leaked: {method} {pattern}"
    assert wrong == []
    assert state() == before


def test_nobody_signed_in_is_sent_to_sign_in_from_every_one_of_them(
    cast: Cast, ids: dict[str, UUID]
) -> None:
    before = state()
    for pattern in addresses():
        if pattern.startswith(OF_A_LETTER):
            continue
        url = "/" + PARAMETER.sub(lambda found: str(ids[found[1]]), pattern)
        for method in METHODS:
            answer = getattr(Client(), method)(url)
            assert answer.status_code in {302, 405}, f"{method} {pattern}"
            assert SENTINEL.encode() not in answer.content, f"leaked: {method} {pattern}"
    assert state() == before
