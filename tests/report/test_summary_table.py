"""The table of a run says of how many cases each figure is."""

from __future__ import annotations

import pytest

from genkit_eval import Direction, EvaluatorKind, MetricSummary
from genkit_eval.report.lines import rendered
from genkit_eval.report.summary_table import summary_table
from genkit_eval.stats import summarize
from genkit_eval.stored import EvaluatorRecord
from tests.report.rows import broke, failed, inconclusive, metric, passed, result

WIDTHS = [30, 40, 80, 120]


def shown(*summaries: MetricSummary, width: int = 80) -> list[str]:
    return list(rendered(summary_table(summaries, width=width), colour=False))


def words(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


@pytest.mark.case("comparison/pass-rate-denominator")
def test_the_pass_rate_is_of_those_with_a_verdict_and_says_so() -> None:
    rows = [passed()] * 6 + [failed()] * 2 + [inconclusive(), broke()]

    lines = shown(*summarize(result(i, row) for i, row in enumerate(rows)))

    assert "custom/check 8/10 6 2 75 % of 8 higher" in words(lines)
    assert "not judged: 1 inconclusive, 1 FAILED" in words(lines)


@pytest.mark.case("comparison/all-inconclusive")
def test_no_verdict_is_no_pass_rate() -> None:
    lines = shown(*summarize(result(i, inconclusive()) for i in range(4)))

    assert "custom/check 0/4 n/a higher" in words(lines)
    assert "not judged: 4 inconclusive" in words(lines)


@pytest.mark.case("comparison/mean-shows-n")
def test_the_mean_says_over_how_many_it_is() -> None:
    rows = [metric(score=1.0), broke(), broke(), broke()]

    lines = shown(*summarize(result(i, row) for i, row in enumerate(rows)))

    assert "1 (1/4)" in words(lines)


@pytest.mark.case("comparison/rounding-to-100")
def test_one_of_two_hundred_is_seen() -> None:
    summary = MetricSummary(evaluator="/evaluator/a", total=200, verdict=200, passed=199, failed_status=1)

    assert "99.5 % of 200" in words(shown(summary))


def test_the_direction_is_named() -> None:
    record = EvaluatorRecord(
        evaluator="/evaluator/custom/check", direction=Direction.MINIMIZE, kind=EvaluatorKind.HEURISTIC
    )

    lines = shown(*summarize([result(1, metric(score=3))], [record]))

    assert words(lines).endswith("3 (1/1) lower")


def test_scores_of_one_evaluator_are_kept_apart_by_their_id() -> None:
    rows = [result(1, metric(score=2, scoreId="size"), metric(score="odd", scoreId="kind"))]

    text = words(shown(*summarize(rows)))

    assert "custom/check/kind 1/1" in text
    assert "custom/check/size 1/1" in text
    assert "values: odd 1" in text


@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_the_terminal(width: int) -> None:
    name = "a-namespace/with-a-rather-long-name/of-an-evaluator"
    rows = [result(i, metric(name, score=i / 3, status="PASS"), metric(score=i), broke()) for i in range(12)]

    lines = shown(*summarize(rows), width=width)

    assert max(map(len, lines)) <= width
    assert "12/12" in words(lines)


def test_a_score_id_cannot_act_on_the_terminal() -> None:
    lines = shown(*summarize([result(1, passed(scoreId="a\x1b[2J\nb"))]))

    assert "\x1b" not in "".join(lines)
    assert len(lines) == 2
