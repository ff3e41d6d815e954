"""JSON Schemas as strict servers want them, made from a pydantic model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

KEPT = ("type", "enum", "const", "minItems", "maxItems")
"""What strict servers take; what a model is told in prose, and lengths, are no part of it."""


@cache
def strict_schema(answer: type[BaseModel]) -> Mapping[str, Any]:
    """Return the schema of a model: every key required, no other key allowed, no reference."""
    schema = answer.model_json_schema()
    return _strict(schema, schema.get("$defs", {}))


def _strict(node: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in node:
        return _strict(named[node["$ref"].rpartition("/")[2]], named)
    found = {key: node[key] for key in KEPT if key in node}
    if "anyOf" in node:
        found["anyOf"] = [_strict(one, named) for one in node["anyOf"]]
    if "items" in node:
        found["items"] = _strict(node["items"], named)
    if "properties" in node:
        found["properties"] = {
            key: _strict(value, named) for key, value in node["properties"].items()
        }
        found["required"] = list(node["properties"])
        found["additionalProperties"] = False
    return found
