"""Whatever an answer and its reference are, each evaluator comes to a score or says why there is none."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from genkit_eval import DataPoint, Outcome, Registry
from genkit_eval._json import dump
from genkit_eval.scores import as_scores
from genkit_eval_heuristics import heuristics

REGISTRY = Registry()
REGISTRY.install(heuristics())

# what an evaluator has nothing to do without
OPTIONS: dict[str, dict[str, JsonValue]] = {
    "rule/contains_none": {"forbidden": ["a", "é"]},
    "rule/tool_permission": {"allow": ["a"]},
    "rule/starts_with": {"prefixes": ["a"]},
    "rule/ends_with": {"suffixes": ["ı"]},
    "rule/schema_conformance": {"json_schema": {"type": "object"}},
    "heuristic/length_in_range": {"least": 2, "unit": "words"},
    "heuristic/regex_match": {"pattern": "a+"},
    "heuristic/json_correctness": {"required_fields": ["a"], "json_schema": {"properties": {"a": {"type": "integer"}}}},
}
ODD = [
    '{"a": 1}',
    "[1] [2-3]",
    "```json\n{}\n```",
    "- a\n- b",
    "١٢",
    "İI ıi",
    "1,000.5",
    '"\\ud800"',
    "cafe\u0301",
    "שלום",
]
SCALAR = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(ODD)
)
VALUE = st.recursive(
    SCALAR | st.text(max_size=15),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "label", "answer"]), inner),
    max_leaves=6,
)
ASKED = st.lists(
    st.sampled_from(["No commas.", "Use JSON.", "At most 3 words.", "Start with 'a'."]) | st.text(max_size=20)
)


# an alias does as what it stands for
@pytest.mark.parametrize("name", [name for name in REGISTRY.evaluators if name not in REGISTRY.aliases])
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(output=VALUE, reference=VALUE, context=st.lists(VALUE, max_size=2), instructions=ASKED)
def test_nothing_breaks(
    name: str, output: JsonValue, reference: JsonValue, context: list[JsonValue], instructions: list[str]
) -> None:
    evaluator = REGISTRY.evaluator(name)
    point = DataPoint.model_validate(
        {
            "output": output,
            "reference": reference,
            "context": context,
            "instructions": instructions,
            "expect": {"phrases": ["a"], "label": "a"},
        }
    )
    options = evaluator.parse_options(OPTIONS.get(name, {}))
    told_before = evaluator.check is not None and evaluator.check(point, options) is not None
    if evaluator.missing(point) or told_before:
        return

    scores = as_scores(evaluator.fn(point, options), evaluator.rule)

    for score in scores:
        assert score.outcome is not Outcome.FAILED, score.error
        assert dump(score.to_json())
