"""GET /api/openapi.json and /api/docs; and that every operation says the same to its gate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from django.contrib.staticfiles import finders
from ninja.operation import Operation

from api.auth import Gate
from api.urls import api
from tests.api.conftest import Caller, assert_fails, json_of

HERE = "/api/plugins/memory"


def operations() -> Iterator[Operation]:
    for router in api._get_bound_routers():
        for view in router.path_operations.values():
            yield from view.operations


def test_the_description_names_every_promised_call(nobody: Caller) -> None:
    paths = json_of(nobody.get("/api/openapi.json"))["paths"]
    promised = {
        "/memories": {"get", "post"},
        "/memories/{memory_id}": {"get", "patch", "delete"},
        "/memories/{memory_id}/uses": {"get"},
        "/memories/{memory_id}/history": {"get"},
        "/memories/{memory_id}/restore": {"post"},
        "/memories/{memory_id}/erase": {"post"},
        "/memories/{memory_id}/report": {"post"},
        "/memories/forget": {"post"},
        "/memories/forget-all": {"post"},
        "/forget-batches/{batch_id}/restore": {"post"},
        "/held": {"get"},
        "/held/{memory_id}/approve": {"post"},
        "/held/{memory_id}/decline": {"post"},
        "/held/{memory_id}/undo": {"post"},
        "/conflicts": {"get"},
        "/conflicts/{conflict_id}": {"post"},
        "/conflicts/{conflict_id}/undo": {"post"},
        "/tombstones": {"get"},
        "/tombstones/{mark_id}": {"delete"},
        "/receipts": {"get"},
        "/activity": {"get"},
        "/export": {"get"},
        "/import": {"post"},
        "/dashboard": {"get"},
        "/conversations/{conversation_id}/memories": {"get"},
        "/conversations/{conversation_id}/events": {"get"},
        "/me": {"get", "patch"},
        "/me/linking-code": {"post"},
        "/me/identities/{identity_id}": {"delete"},
        "/tokens": {"get", "post"},
        "/tokens/{token_id}": {"delete"},
        "/recall": {"post"},
        "/sessions": {"post"},
        "/sessions/{session_id}": {"get"},
        "/sessions/{session_id}/retry": {"post"},
        "/identities/link": {"post"},
        "/report": {"get"},
        "/costs": {"get"},
        "/public/{memory_id}/remove": {"post"},
        "/public/{memory_id}/restore": {"post"},
        "/admin-reads": {"post"},
        "/admin-reads/{read_id}/memories": {"get"},
        "/tools": {"get"},
        "/tools/{name}": {"post"},
        "/api/chat/memory": {"get", "delete"},
        "/api/chat/memory/{memory_id}": {"delete"},
    }
    assert {path.removeprefix(HERE): set(methods) for path, methods in paths.items()} == promised


def test_the_description_speaks_camel_case(nobody: Caller) -> None:
    schemas = json_of(nobody.get("/api/openapi.json"))["components"]["schemas"]
    names = {name for one in schemas.values() for name in one.get("properties", {})}
    assert {"nextCursor", "idempotencyKey", "costUsd"} <= names
    assert not [name for name in names if "_" in name]


def test_every_call_says_what_a_failure_looks_like(nobody: Caller) -> None:
    described = json_of(nobody.get("/api/openapi.json"))
    assert set(described["components"]["schemas"]["ErrorOut"]["properties"]) == {"error"}
    assert "ErrorDetail" in described["components"]["schemas"]
    for methods in described["paths"].values():
        for operation in methods.values():
            schema = operation["responses"]["default"]["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ErrorOut"}
            assert operation["security"]


def test_the_documentation_loads_nothing_from_elsewhere(nobody: Caller) -> None:
    response = nobody.get("/api/docs")
    assert response.status_code == 200
    page = response.content.decode()
    assert "https://" not in page
    assert "http://" not in page
    assert not re.search(r"<script(?![^>]*(src=|application/json))", page)
    assert "<style" not in page
    for address in re.findall(r'(?:src|href)="/static/([^"]+)"', page):
        found = finders.find(address)
        assert isinstance(found, str), address
        assert Path(found).is_file()
    assert_fails(nobody.post("/api/docs", {}), 405)


def test_every_operation_stands_behind_a_gate_that_knows_its_query() -> None:
    count = 0
    for operation in operations():
        (gate,) = operation.auth_callbacks
        assert isinstance(gate, Gate), operation.path
        asked = {
            name
            for model in operation.models
            if model.__ninja_param_source__ == "query"
            for name in model.__ninja_flatten_map__
        }
        known = {
            field.alias or name
            for name, field in (gate.query.model_fields if gate.query else {}).items()
        }
        assert asked == known, operation.path
        has_body = any(model.__ninja_param_source__ == "body" for model in operation.models)
        assert has_body == (gate.intake.is_expected and not gate.intake.is_streamed) or (
            operation.path.endswith("/import")
        ), operation.path
        is_read = set(operation.methods) <= {"GET"} or operation.path.endswith("/recall")
        assert gate.is_write != is_read, operation.path
        count += 1
    assert count == 53
