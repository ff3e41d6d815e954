"""GET /tools and POST /tools/{name}."""

from __future__ import annotations

from typing import Any

from junior_memory.models import Memory
from tests.api.bodies import ALICE, source
from tests.api.conftest import Caller, json_of
from tests.cast import Cast


def call(arguments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "arguments": arguments,
        "toolCallId": "call-1",
        "source": source(),
        "actor": ALICE,
        "conversationId": "C-1",
        **fields,
    }


def test_create_answers_in_five_fields(host: Caller, cast: Cast) -> None:
    answer = json_of(host.post("tools/createMemory", call({"content": "Prefers  green tea."})))
    assert set(answer) == {"target", "created", "idempotent", "held", "superseded", "memory"}
    assert set(answer["memory"]) == {"id", "content", "createdAt", "observedAt", "expiresAt"}
    assert answer["memory"]["content"] == "Prefers green tea."
    row = Memory.objects.get()
    assert (row.owner, row.visibility, row.origin) == (cast.alice, "private", "explicit")
