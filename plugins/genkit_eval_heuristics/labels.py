"""`rule/label_match`: the answer is the expected label."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, JsonValue

from genkit_eval import DataPoint, Score, json_text
from genkit_eval.text import references
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.folding import same
from genkit_eval_heuristics.json_answer import read_json

__all__ = ["EVALUATORS", "LabelOptions", "label_match"]

MAX_SHOWN = 80


class LabelOptions(Thresholded):
    """Where the label is, and how labels are compared."""

    field: str | None = Field(
        default=None,
        description="Where the label is in an output that is an object, like 'result.intent'; else under 'label'.",
    )
    ignore_case: bool = Field(default=True, description="Whether 'Billing' is 'billing'.")


def label_match(point: DataPoint, options: LabelOptions) -> Score:
    """1 if the answered label is the expected one (`expect.label`, else the reference), else 0; higher is better.

    The label is the whole answer, or what an object has at `field`; the JSON text of an object is read as one.
    "billing, I think" is not "billing". An answer without a label is wrong, and the reason names what was expected. A
    reference that is a list of texts holds several right labels.
    """
    known = [point.expect.label] if point.expect and point.expect.label is not None else references(point.reference)
    if not known:
        return Score.inconclusive(reason="no label is expected: expect.label of the sample, or its reference")
    expected = " or ".join(map(repr, known))
    answered = _label(point.output, options.field)
    if answered is None:
        return verdict(0.0, options, reason=f"the answer has no label: expected {expected}")
    if any(same(answered, label, ignore_case=options.ignore_case) for label in known):
        return verdict(1.0, options, reason=f"the label is {answered!r:.{MAX_SHOWN}}")
    return verdict(0.0, options, reason=f"the label is {answered!r:.{MAX_SHOWN}}, expected {expected}")


def _label(output: JsonValue, field: str | None) -> str | None:
    if isinstance(output, str) and output.lstrip().startswith("{"):
        read = read_json(output, strip_fences=False)
        output = output if read.problem else read.value
    if isinstance(output, Mapping) or field is not None:
        for name in (field or "label").split("."):
            if not isinstance(output, Mapping) or name not in output:
                return None
            output = output[name]
    if output is None or isinstance(output, list | dict):
        return None
    return json_text(output).strip() or None


EVALUATORS = (
    Heuristic(
        name="rule/label_match",
        fn=label_match,
        options=LabelOptions,
        display_name="Label match",
        definition="The answer is the expected label.",
        formula="1 if label = expect.label, else 0",
        source="Akka evalkit",
        kind="deterministic",
        requires=("output",),
        reads=("expect", "reference"),
        aliases={"akka/SpecNodeMatch": {}},
    ),
)
