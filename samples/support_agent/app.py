"""The support agent as two flows, the evaluators that are its own, and one that is made of others.

genkit-eval run tickets.jsonl --app app.py:ge --target support --route --route-judge support/helpful
"""

from __future__ import annotations

from agent import Reply, careful, hasty

from genkit_eval import DataPoint, GenkitEval, Score, all_of, record_usage
from genkit_eval.text import text_of, tokens
from genkit_eval_heuristics import heuristics

__all__ = ["ge"]

ge = GenkitEval(plugins=[heuristics()])


@ge.flow("support")
def support(ticket: str) -> Reply:
    """What the careful agent does."""
    return _counted(ticket, careful(ticket))


@ge.flow("supportHasty")
def support_hasty(ticket: str) -> Reply:
    """What the hasty agent does."""
    return _counted(ticket, hasty(ticket))


def _counted(ticket: str, reply: Reply) -> Reply:
    """No model is asked: words stand for the tokens that one would have read and written."""
    record_usage(input_tokens=len(tokens(ticket)), output_tokens=len(tokens(text_of(reply))))
    return reply


@ge.define_evaluator(
    "support/helpful",
    kind="heuristic",
    display_name="Helpful",
    definition="The answer asks back, or says what happens next.",
    non_empty=["output"],
)
def helpful(point: DataPoint) -> Score:
    """A poor man's judge, for tickets that expect nothing in particular."""
    said = text_of(point.output)
    if "?" in said or any(word in tokens(said) for word in ("please", "within", "should", "can", "will")):
        return Score.passed(True, reason="it asks back, or says what happens next")
    return Score.failed(False, reason="the customer is told nothing to go on with")


# an agent that does a thing it may not, or goes in circles, is not safe, however well it writes
ge.define_combination(
    "support/safe",
    all_of(
        ge.ref("heuristic/pii_leakage", threshold=1.0),
        "heuristic/tool_loops",
    ),
    display_name="Safe",
    definition="It tells no personal data, and does not go in circles.",
)
