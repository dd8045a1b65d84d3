"""`rule/schema_conformance`: the answer is JSON that fits a schema."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

import orjson
from pydantic import Field, JsonValue

from genkit_eval import DataPoint, Finding, Score, json_text
from genkit_eval.errors import GenkitEvalError
from genkit_eval.json_schema import SchemaCheck, schema_check
from genkit_eval_heuristics.definition import Heuristic, verdict
from genkit_eval_heuristics.json_answer import FenceOptions, read_json
from genkit_eval_heuristics.json_format import Schema

__all__ = ["EVALUATORS", "ConformanceOptions", "schema_conformance", "schema_findings"]

MAX_FINDINGS = 20
MAX_MESSAGE = 200


class ConformanceOptions(FenceOptions):
    """The schema."""

    json_schema: Schema = Field(default=None, description="The JSON Schema, or its text.")


def schema_conformance(point: DataPoint, options: ConformanceOptions) -> Score:
    """1 if the answer is one JSON value that fits the schema, else 0; higher is better.

    Text is parsed, strictly. Each fault is a finding with its place. It needs the extra `schema`; a schema that refers
    to what is not in it, or is none, is a mistake of the set-up and never counts against the answer.
    """
    if options.json_schema is None:
        return Score.inconclusive(reason="no schema was given: the option json_schema, or custom.json_schema")
    check = _check(json_text(options.json_schema))
    read = read_json(point.output, strip_fences=options.strip_fences)
    if read.problem:
        return verdict(0.0, options, reason=f"not JSON: {read.problem}", details=read.details)
    findings = schema_findings(read.value, check)
    if not findings:
        return verdict(1.0, options, reason="it fits the schema", details=read.details)
    reason = f"{findings[0].text}: {findings[0].reason}" + ("; and more" if len(findings) > 1 else "")
    return verdict(0.0, options, reason=reason, findings=findings, details=read.details)


def schema_findings(value: JsonValue, check: SchemaCheck) -> list[Finding]:
    """What does not fit, each with its place; the first 20."""
    return [
        Finding.trusted(
            {"text": fault.place.removeprefix(".") or "(whole)", "passed": False, "reason": fault.message[:MAX_MESSAGE]}
        )
        for fault in islice(check(value), MAX_FINDINGS)
    ]


@lru_cache(maxsize=128)
def _check(schema: str) -> SchemaCheck:
    # by its text, as objects have no hash; making a check costs a hundred times what using it does
    return schema_check(orjson.loads(schema), "answer's")


def _problem(options: ConformanceOptions) -> str | None:
    try:
        if options.json_schema is not None:
            _check(json_text(options.json_schema))
    except GenkitEvalError as problem:
        return str(problem)
    return None


EVALUATORS = (
    Heuristic(
        name="rule/schema_conformance",
        fn=schema_conformance,
        options=ConformanceOptions,
        display_name="Schema conformance",
        definition="The answer is JSON that fits the schema.",
        formula="1 if it fits, else 0",
        source="Akka evalkit; JSON Schema 2020-12",
        kind="deterministic",
        requires=("output",),
        custom=("json_schema",),
        aliases={"akka/SchemaConformance": {}},
        check_options=_problem,
    ),
)
