"""Every call of the interface with a credential that has ended, and after leaving a team."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from api.urls import api
from junior_memory.models import ApiToken, Membership, Memory, User
from tests.api.bodies import ALICE, question, source
from tests.api.conftest import BASE, Caller
from tests.api.mcp_calls import tool
from tests.cast import Cast
from tests.factories import make_agent_token, make_memory, make_personal_token

SECRET = "zebra crossing"
OF_THE_TEAM = f"The team meets at the {SECRET}."


def calls(memory_id: str) -> Iterator[tuple[str, str]]:
    """Yield every method and address of the document, and the protocol's."""
    yield "POST", "/mcp"
    for router in api._get_bound_routers():
        for path, view in router.path_operations.items():
            address = re.sub(r"\{[^}]*memory_id\}", memory_id, f"/api{router.prefix}{path}")
            address = re.sub(r"\{(?:\w+:)?\w+\}", str(uuid4()), address)
            for operation in view.operations:
                for method in operation.methods:
                    yield method, address


def revoke(token: ApiToken) -> None:
    token.revoked_at = timezone.now()
    token.save()


def expire(token: ApiToken) -> None:
    token.expires_at = timezone.now() - timedelta(seconds=1)
    token.save()


def shut_out(token: ApiToken) -> None:
    User.objects.update(is_active=False)


def unverify(token: ApiToken) -> None:
    User.objects.update(email_verified_at=None)


@pytest.mark.parametrize("end", [revoke, expire, shut_out, unverify])
def test_an_ended_credential_opens_no_call_at_all(
    cast: Cast, end: Callable[[ApiToken], None]
) -> None:
    mine = make_memory(owner=cast.root, content=f"Keeps a {SECRET}.")
    personal = Caller(token=make_personal_token(cast.root, "read", "write", "report"))
    _, secret = make_agent_token(cast.agent, organization=cast.org)
    cookie = Caller(user=cast.root)
    cookie.client.cookies["csrftoken"] = "a" * 32
    csrf = {"X-CSRFToken": "a" * 32}
    assert personal.get(f"memories/{mine.pk}").status_code == 200
    assert cookie.call("GET", f"{BASE}/memories").status_code == 200
    for token in ApiToken.objects.all():
        end(token)
    outsiders: list[tuple[Caller, dict[str, str]]] = [(personal, {})]
    if end in {shut_out, unverify}:
        outsiders.append((cookie, csrf))
    else:
        outsiders.append((Caller(token=secret), {}))
    count = 0
    for caller, headers in outsiders:
        for method, address in calls(str(mine.pk)):
            body = tool("listMemories") if address == "/mcp" else {} if method != "GET" else None
            answer = caller.call(method, address, body, headers=headers)
            assert answer.status_code == 401, (method, address, answer.status_code)
            assert SECRET not in answer.content.decode()
            count += 1
    assert count > 100
    mine.refresh_from_db()
    assert mine.archived_at is None


def test_who_left_a_team_reads_nothing_of_it_by_any_way(cast: Cast) -> None:
    """Not even what they wrote for it; it stays with the team."""
    theirs = make_memory(owner=cast.bob, content=OF_THE_TEAM, visibility="org", org=cast.org)
    own = make_memory(owner=cast.alice, content=f"Alice: {SECRET}", visibility="org", org=cast.org)
    token = make_personal_token(cast.alice)
    person, page = Caller(token=token), Client()
    host = Caller(token=make_agent_token(cast.agent, organization=cast.org)[1])
    page.force_login(cast.alice)
    place = source(visibility="org")
    tools = {"source": place, "actor": ALICE, "conversationId": "C-1", "toolCallId": "1"}
    actor = {"X-Memory-Actor": "slack/T1/UALICE", "X-Memory-Source": "slack/org/C1"}

    def read() -> dict[str, str]:
        """Return what every way of reading says."""
        texts: dict[str, str] = {}
        for path in ("memories", "memories?q=zebra", "export", "held", "conflicts", "dashboard"):
            texts[path] = _body(person.get(path))
        for row in (theirs, own):
            for way in ("", "/history", "/uses"):
                texts[f"{row.pk}{way}"] = _body(person.get(f"memories/{row.pk}{way}"))
            texts[f"page {row.pk}"] = _body(page.get(f"/memories/{row.pk}"))
        for path in ("/memories", "/memories?q=zebra", "/settings/paper", "/settings/export"):
            texts[path] = _body(page.get(path))
        form = {"text": "Where is the zebra?", "where": "private", "agent": "default"}
        for team in ("", str(cast.org.pk)):
            shown = page.post("/recall", {**form, "team": team})
            assert shown.status_code == 200 or team, "the form is whole"
            texts[f"what-if, of a team: {bool(team)}"] = _body(shown)
        texts["widget"] = _body(person.call("GET", "/api/chat/memory"))
        texts["recall"] = _body(host.post("recall", question("The zebra crossing?", source=place)))
        for name, arguments in (
            ("listMemories", {"limit": 50}),
            ("searchMemories", {"query": "zebra", "limit": 50}),
        ):
            asked = tools | {"arguments": arguments}
            texts[name] = _body(host.post(f"tools/{name}", asked))
            texts[f"MCP {name}"] = _body(person.call("POST", "/mcp", tool(name, arguments)))
            called = host.call("POST", "/mcp", tool(name, arguments), headers=actor)
            texts[f"host's MCP {name}"] = _body(called)
        return texts

    before = {way for way, said in read().items() if SECRET in said}
    assert "what-if, of a team: True" in before
    assert len(before) >= 20, "or nothing is proven"
    Membership.objects.filter(user=cast.alice).delete()
    after = {way for way, said in read().items() if SECRET in said}
    assert after == set()
    for row in (theirs, own):
        for way in ("DELETE", "PATCH"):
            body = {"content": "Mine.", "version": 1} if way == "PATCH" else None
            assert person.call(way, f"memories/{row.pk}", body).status_code == 404
        assert person.post(f"memories/{row.pk}/erase").status_code == 404
    assert (
        person.post("memories/forget-all", {"confirm": "forget everything"}).json()[  # type: ignore[attr-defined]
            "forgotten"
        ]
        == 0
    )
    assert Memory.objects.filter(archived_at__isnull=True).count() == 2


def _body(answer: object) -> str:
    streaming = getattr(answer, "streaming", False)
    parts = answer.streaming_content if streaming else [answer.content]  # type: ignore[attr-defined]
    return b"".join(parts).decode()
