"""Evaluators of one's own as JSON values: what their files hold, and the schema of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue, ValidationError

from genkit_eval.errors import ConfigError, UnknownName
from genkit_eval.misfits import explained, shown
from genkit_eval_judges.criterion import Criterion, GEval
from genkit_eval_judges.schema_rules import RULES

__all__ = ["document_of", "document_schema", "own_of"]

KINDS: Mapping[str, type[Criterion | GEval]] = {"criterion": Criterion, "geval": GEval}
ORDER = (
    "kind",
    "name",
    "title",
    "intent",
    "criterion",
    "steps",
    "variables",
    "scale",
    "anchors",
    "demonstrations",
    "weighting",
    "model",
    "parameters",
    "threshold",
    "direction",
)


def own_of(document: JsonValue) -> Criterion | GEval:
    """The evaluator that a document describes; without a `kind` it is a criterion.

    Raises:
        ConfigError: it describes none; says where and why.
    """
    if not isinstance(document, Mapping):
        found = "nothing" if document is None else shown(document)
        raise ConfigError(f"expected an object with name, intent and criterion, found {found}")
    kind = document.get("kind", "criterion")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(str(UnknownName("kind", str(kind), KINDS)))
    try:
        return KINDS[kind].model_validate(document)
    except ValidationError as problem:
        raise ConfigError(explained(problem, {**document})) from problem


def document_of(own: Criterion | GEval) -> dict[str, JsonValue]:
    """What a file of the evaluator holds: what differs from the defaults, in the order in which people read."""
    said = {"kind": own.kind, "name": own.name, **own.model_dump(mode="json", exclude_defaults=True)}
    return {key: said[key] for key in ORDER if key in said}


def document_schema() -> dict[str, JsonValue]:
    """The JSON Schema of such a document, by which editors complete and check it."""
    definitions: dict[str, JsonValue] = {}
    for kind, model in KINDS.items():
        schema = _for_files(model.model_json_schema(ref_template="#/$defs/{model}"), kind)
        inner = schema.pop("$defs", {})
        definitions |= {**inner, model.__name__: schema}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An evaluator of one's own for genkit-eval",
        "oneOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in KINDS.values()],
        "$defs": definitions,
    }


def _for_files(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    """With keys in their order, with the kind where it cannot be left out, and with the rules of that kind."""
    schema["properties"] = {key: schema["properties"][key] for key in ORDER if key in schema["properties"]}
    if kind != "criterion":
        schema["required"] = ["kind", *schema["required"]]
    schema["allOf"] = [*RULES[kind]]
    return schema
