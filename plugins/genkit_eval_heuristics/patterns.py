"""`heuristic/regex_match`: a pattern is found in the answer."""

from __future__ import annotations

from pydantic import Field

from genkit_eval import DataPoint, Sample, Score, json_text
from genkit_eval.errors import DataError, GenkitEvalError, shortened
from genkit_eval.patterns import check_pattern, pattern_found
from genkit_eval.text import shown
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict

__all__ = ["EVALUATORS", "PatternOptions", "regex_match"]

NAME = "pattern"


class PatternOptions(Thresholded):
    """The pattern."""

    pattern: str | None = Field(default=None, description="The regular expression; without it the reference is it.")
    timeout_seconds: float = Field(default=1.0, gt=0, le=60, description="How long one search may take, in seconds.")


def regex_match(point: DataPoint, options: PatternOptions) -> Score:
    r"""1 if the pattern is found anywhere in the answer, else 0; higher is better.

    The whole answer is asked for by `\A…\Z`, case is ignored by `(?i)`. Syntax and meaning are those of the `regex`
    library, which is Python's `re` and more. An output that is not text is searched as compact JSON.

    Raises:
        DataError: it is no pattern, or the search ran out of time.
    """
    pattern = options.pattern if options.pattern is not None else _reference(point)
    if pattern is None:
        return Score.inconclusive(reason="no pattern was given: the option pattern, custom.pattern, or the reference")
    text = json_text(point.output)
    found = pattern_found(pattern, text, seconds=options.timeout_seconds, name=NAME)
    return verdict(float(found), options, reason=f"'{shortened(pattern)}' is {'' if found else 'not '}found")


def _reference(sample: Sample) -> str | None:
    reference = sample.reference
    if reference is None or isinstance(reference, str):
        return reference
    raise DataError(f"reference must be text (a pattern), found {shown(reference)}")


def _problem(sample: Sample, options: PatternOptions) -> str | None:
    try:
        pattern = options.pattern if options.pattern is not None else _reference(sample)
        if pattern is not None:
            check_pattern(pattern, seconds=options.timeout_seconds, name=NAME)
    except GenkitEvalError as problem:
        return str(problem)
    return None


EVALUATORS = (
    Heuristic(
        name="heuristic/regex_match",
        fn=regex_match,
        options=PatternOptions,
        display_name="Regex match",
        definition="The pattern is found in the answer.",
        formula="1 if it is found, else 0",
        source="Akka evalkit",
        kind="heuristic",
        requires=("output",),
        non_empty=("output",),
        reads=("reference",),
        custom=("pattern",),
        aliases={"akka/RegexMatch": {}},
        check=_problem,
    ),
)
