"""`genkitEval/jsonata`: the reference is a JSONata expression, evaluated over the output."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from genkit_eval import DataPoint, Outcome, Sample, Score, Status
from genkit_eval._json import json_form, load
from genkit_eval.errors import DataError, GenkitEvalError
from genkit_eval.text import shown
from genkit_eval.workers import POOL
from genkit_eval_metrics._reference import jsonata_fault, quoted, text_reference

__all__ = ["JsonataOptions", "check_jsonata", "jsonata"]

MAX_EXPRESSION = 100_000


class JsonataOptions(BaseModel):
    """How long an expression may take, and what it sees of a text output."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    timeout_seconds: float = Field(default=2.0, gt=0, le=60, description="How long an expression may take, in seconds.")
    parse_json: bool = Field(default=False, description="Parse an output that is text as JSON first.")


def jsonata(point: DataPoint, options: JsonataOptions) -> Score:
    """PASS if the expression in the reference is true of the output, by the rule of JSONata's own `$boolean`.

    False are: nothing (a path that matches nothing), null, false, 0, "", {}, [], a list without a true item, a
    function. What the expression gave is in the details, as `result`; there is none when it gave nothing.

    Raises:
        DataError: the reference is not text or not JSONata, or the expression failed, or ran out of time or memory.
    """
    expression = text_reference(point, "a JSONata expression")
    document = _parsed(point.output) if options.parse_json and isinstance(point.output, str) else point.output
    reply = _call("jsonata", expression, document, seconds=options.timeout_seconds)
    if "error" in reply:
        raise DataError(jsonata_fault(expression, reply["error"]))
    return _score(reply)


def check_jsonata(sample: Sample, options: JsonataOptions) -> str | None:
    """Why the sample's reference is not a JSONata expression, or None."""
    try:
        return _syntax_problem(text_reference(sample, "a JSONata expression"), options.timeout_seconds)
    except GenkitEvalError as problem:
        return str(problem)


@lru_cache(maxsize=1024)
def _syntax_problem(expression: str, seconds: float) -> str | None:
    # a timeout is raised, and so not remembered
    reply = _call("check", expression, seconds=seconds)
    return jsonata_fault(expression, reply["error"]) if "error" in reply else None


def _call(operation: str, expression: str, *document: JsonValue, seconds: float) -> dict[str, Any]:
    if len(expression) > MAX_EXPRESSION:
        raise DataError(f"reference has {len(expression)} characters: a JSONata expression may have {MAX_EXPRESSION}")
    try:
        return POOL.call(operation, expression, *document, seconds=seconds)
    except TimeoutError:
        raise DataError(
            f"timeout: the JSONata expression {quoted(expression)} took more than {seconds:g} s: "
            "simplify it, or raise timeout_seconds"
        ) from None


def _score(reply: dict[str, Any]) -> Score:
    passed = reply["verdict"]
    values: dict[str, object] = {
        "score": passed,
        "status": Status.PASS if passed else Status.FAIL,
        "outcome": Outcome.VERDICT,
    }
    details: dict[str, Any] = reply.get("details", {})
    if details:
        values["details"] = details
    if not passed:
        values["reason"] = reply.get("reason") or f"the result is {_told(details)}"
    return Score.trusted(values)


def _told(details: dict[str, Any]) -> str:
    if "resultOmitted" in details:
        return str(details["resultOmitted"])
    return shown(details["result"])


def _parsed(text: str) -> JsonValue:
    try:
        value: JsonValue = json_form(load(text))
    except (ValueError, RecursionError) as problem:
        raise DataError(f"output is text that is not JSON ({problem}): {shown(text)}") from problem
    return value
