"""The JSON Schema of an answer, in the form that servers take for structured output."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, JsonValue

__all__ = ["response_schema"]

# what says nothing about the form, or is refused in strict mode
_DROPPED = ("title", "default", "discriminator")


@lru_cache(maxsize=256)
def response_schema(output: type[BaseModel]) -> dict[str, JsonValue]:
    """The `json_schema` part of a `response_format`; strict unless the model has objects with free keys."""
    schema = output.model_json_schema()
    strict = _closes(schema)
    # the name may hold letters, digits, _ and -
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in output.__name__)[:64]
    return {"name": name, "schema": schema, "strict": strict}


def _closes(node: JsonValue) -> bool:
    """Forbid other keys and require all of them, everywhere within; whether that was possible."""
    if isinstance(node, list):
        return all([_closes(item) for item in node])
    if not isinstance(node, dict):
        return True
    if "$ref" in node:
        # strict mode takes nothing beside a reference
        for key in [key for key in node if key != "$ref"]:
            del node[key]
        return True
    for key in _DROPPED:
        if not isinstance(node.get(key), dict):
            node.pop(key, None)
    closed = True
    properties = node.get("properties")
    if node.get("type") == "object":
        if isinstance(properties, dict) and node.get("additionalProperties") in (None, False):
            node["additionalProperties"] = False
            node["required"] = list(properties)
        else:
            closed = False
    return all([_closes(value) for value in node.values()]) and closed
