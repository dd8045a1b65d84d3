"""What all evaluators of the plugin have in common."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from genkit_eval import (
    DataPoint,
    Finding,
    GenkitEval,
    InvalidOptions,
    Outcome,
    Registry,
    Sample,
    Score,
    Status,
    run_sync,
)
from genkit_eval_heuristics import Heuristic, Thresholded, heuristics, verdict


class LengthOptions(Thresholded):
    most: int = 10


def _length(point: DataPoint, options: LengthOptions) -> Score:
    return verdict(min(1, options.most / len(point.output)), options, reason=f"{len(point.output)} characters")


LENGTH = Heuristic(
    name="custom/length",
    fn=_length,
    options=LengthOptions,
    display_name="Length",
    definition="The answer is short.",
    formula="min(1, most / characters)",
    source="here",
    kind="heuristic",
    requires=("output",),
    non_empty=("output",),
    custom=("most",),
)


def _score(root: Path, point: DataPoint, **options: object) -> Score:
    ge = GenkitEval(plugins=[heuristics(more=[LENGTH])], root=root)
    [score] = run_sync(ge.score(point, ge.ref("custom/length", **options)))
    return score


@pytest.mark.parametrize(
    ("output", "score", "status"), [("a" * 10, 1, Status.PASS), ("a" * 20, 0.5, Status.PASS), ("a" * 40, 0.25, "FAIL")]
)
def test_a_case_passes_at_the_threshold(tmp_path: Path, output: str, score: float, status: str) -> None:
    found = _score(tmp_path, DataPoint(output=output))

    assert (found.score, found.status) == (score, status)


def test_a_sum_that_is_the_threshold_but_for_rounding_passes() -> None:
    options = Thresholded(threshold=0.8)

    score = verdict(0.1 + 0.7, options, reason="")

    assert 0.1 + 0.7 < 0.8
    assert score.status is Status.PASS


def test_of_very_many_findings_those_that_are_wrong_are_kept() -> None:
    findings = [Finding(text=str(number), passed=number % 2 == 0) for number in range(2_000)]

    score = verdict(0.5, Thresholded(), reason="", findings=findings, details={"a": 1})

    assert len(score.findings) == 500
    assert [finding.text for finding in score.findings[:2]] == ["1", "3"]
    assert score.details == {"a": 1, "findings": 2_000}


def test_a_reason_is_cut_where_nobody_reads_on() -> None:
    score = verdict(0.5, Thresholded(), reason="a" * 5_000)

    assert score.reason == "a" * 1_000 + "…"


def test_true_is_no_number() -> None:
    with pytest.raises(ValidationError, match="most"):
        LengthOptions.model_validate({"most": True})


def test_what_is_not_there_is_inconclusive(tmp_path: Path) -> None:
    assert _score(tmp_path, DataPoint(output="")).outcome is Outcome.INCONCLUSIVE


def test_a_samples_own_option_goes_before_the_runs(tmp_path: Path) -> None:
    point = DataPoint(output="a" * 40, custom={"most": 40, "threshold": 0.1})

    score = _score(tmp_path, point, most=20, threshold=1.0)

    assert (score.score, score.status) == (1.0, Status.PASS)


def test_a_samples_own_option_of_the_wrong_kind_is_named(tmp_path: Path) -> None:
    score = _score(tmp_path, DataPoint(output="a", custom={"most": "many"}))

    assert score.outcome is Outcome.FAILED
    assert "custom.most" in str(score.error)
    assert "'many'" in str(score.error)


def test_a_samples_own_option_of_the_wrong_kind_is_told_before_anything_runs() -> None:
    registry = Registry()
    registry.install(heuristics(more=[LENGTH]))
    length, latency, regex = map(registry.evaluator, ("custom/length", "budget/latency", "heuristic/regex_match"))
    schema = registry.evaluator("rule/schema_conformance")

    assert length.check(Sample(custom={"most": "many"}), LengthOptions()).startswith("custom.most of the sample:")
    assert length.check(Sample(custom={"most": 5}), LengthOptions()) is None
    assert "above 0" not in str(latency.check(Sample(custom={"budget_seconds": 1}), latency.parse_options({})))
    assert "greater than 0" in latency.check(Sample(custom={"budget_seconds": 0}), latency.parse_options({}))
    assert "custom.pattern" in regex.check(Sample(custom={"pattern": 7}), regex.parse_options({}))
    assert "pattern" in regex.check(Sample(custom={"pattern": "("}), regex.parse_options({"pattern": "a"}))
    assert "nope" in schema.check(Sample(custom={"json_schema": {"type": "nope"}}), schema.parse_options({}))


def test_a_problem_with_options_is_told_in_our_words_alone(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptions) as none:
        run_sync(GenkitEval(plugins=[heuristics()], root=tmp_path).score(DataPoint(tools=[]), "rule/tool_permission"))
    own = _score(tmp_path, DataPoint(output="a", custom={"most": True}))

    assert str(none.value) == (
        "options of evaluator 'rule/tool_permission': "
        "both lists are empty, which allows everything: give allow, deny or both, for the samples that carry none of "
        "their own in custom"
    )
    assert own.error == "custom.most of the sample: true and false are no value for it"


def test_own_options_of_a_sample_that_do_not_go_together_are_told_as_of_all(tmp_path: Path) -> None:
    ge = GenkitEval(plugins=[heuristics()], root=tmp_path)

    (metric,) = run_sync(ge.score(DataPoint(output="a", custom={"least": 5, "most": 2}), "heuristic/length_in_range"))

    assert metric.error == "custom of the sample: least is 5, which is more than most (2)"


def test_what_the_extra_lacks_is_said_by_name(tmp_path: Path) -> None:
    lacking = Heuristic(
        name="custom/lacking",
        fn=_length,
        options=LengthOptions,
        display_name="",
        definition="",
        formula="",
        source="",
        kind="heuristic",
        package="no_such_package",
    )

    ge = GenkitEval(plugins=[heuristics(more=[lacking])], root=tmp_path)

    assert ge.registry.evaluator("custom/lacking").needs == (
        "needs the package no_such_package: pip install 'genkit-eval[text]'"
    )


def test_none_of_them_judges_where_nobody_asked_for_it() -> None:
    registry = Registry()
    registry.install(heuristics(more=[LENGTH]))

    assert registry.ready_evaluators == []
