"""`heuristic/instruction_following`: which of the instructions that can be checked by a program the answer follows."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field, JsonValue

from genkit_eval import DataPoint, Finding, Score, json_text
from genkit_eval.text import text_of
from genkit_eval_heuristics.checks import Check, met
from genkit_eval_heuristics.definition import Heuristic, Thresholded, verdict
from genkit_eval_heuristics.detection import detected

__all__ = ["EVALUATORS", "InstructionOptions", "aggregate", "instruction_findings", "instruction_following"]

MAX_TOLD = 3


class InstructionOptions(Thresholded):
    """What a case without anything to check comes to."""

    on_empty: float | None = Field(
        default=None, ge=0, le=1, description="The score without a checkable instruction; without it inconclusive."
    )


def instruction_following(point: DataPoint, options: InstructionOptions) -> Score:
    """The share of the detectable instructions that the answer follows; 0 to 1, higher is better.

    Instructions are English sentences in `instructions`. Detected are: JSON and its keys; bulleted and numbered lists,
    headings, tables; how many bullets, items, headings, words, sentences, paragraphs, lines or characters (at least, at
    most, exactly, between); phrases to include, to leave out or to use so many times; a phrase to repeat word for word;
    upper or lower case; how to start and to end; no commas, semicolons, exclamation or question marks, emojis; one of
    some labels; and the first five forms, case, start and end negated. A sentence with a condition, a permission or an
    approximate number is no check, nor is anything that only a reader can judge. Nothing detected is inconclusive.

    Each check is a finding: the sentence, the check in its category, what was found in the answer. An output that is
    not text is JSON already, and what else is asked of it is asked of the text in it.
    """
    given = point.instructions
    texts = [given] if isinstance(given, str) else given or ()
    checks = list(dict.fromkeys(check for text in texts for check in detected(text)))
    if not checks:
        return _without_checks(
            options, "no instruction was given" if not any(texts) else "no instruction can be checked"
        )
    findings = instruction_findings(checks, point.output)
    missed = [str(check) for check, finding in zip(checks, findings, strict=True) if not finding.passed]
    reason = f"{len(checks) - len(missed)} of {len(checks)} instructions followed"
    if missed:
        reason += f"; not: {', '.join(missed[:MAX_TOLD])}" + (" and more" if len(missed) > MAX_TOLD else "")
    return verdict(aggregate(findings), options, reason=reason, findings=findings)


def instruction_findings(checks: Sequence[Check], output: JsonValue) -> list[Finding]:
    """For each check whether the answer meets it, and what was found."""
    as_json, text = json_text(output), text_of(output)
    return [
        Finding.trusted({"text": check.said, "passed": held, "reason": found, "category": str(check)})
        for check in checks
        for held, found in [met(check, as_json if check.kind in ("json", "keys") else text)]
    ]


def aggregate(findings: Sequence[Finding]) -> float:
    """The share of the checks that are met; there has to be one."""
    return sum(finding.passed is True for finding in findings) / len(findings)


def _without_checks(options: InstructionOptions, reason: str) -> Score:
    if options.on_empty is None:
        return Score.inconclusive(reason=reason)
    return verdict(options.on_empty, options, reason=reason)


EVALUATORS = (
    Heuristic(
        name="heuristic/instruction_following",
        fn=instruction_following,
        options=InstructionOptions,
        display_name="Instruction following",
        definition="The answer has the form that the instructions ask for, as far as a program can check it.",
        formula="checks met / checks detected",
        source="TnsAI; Zhou et al. 2023, IFEval",
        kind="heuristic",
        requires=("output",),
        non_empty=("output",),
        reads=("instructions",),
        aliases={"tnsai/instruction_following": {"on_empty": 1.0}},
    ),
)
