"""Runs side by side, with their figures."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from genkit_eval import EvalRunKey, LocalFileEvalStore
from genkit_eval.report.lines import rendered
from genkit_eval.report.run_listing import run_figures, run_listing

GENKIT = Path(__file__).parents[1] / "data" / "genkit" / "store" / "evals" / "index.json"


def key(*summaries: dict[str, Any], **values: Any) -> EvalRunKey:
    given = {"evalRunId": "run-1", "createdAt": datetime(2026, 11, 30, tzinfo=UTC), "caseCount": 4, **values}
    return EvalRunKey.model_validate({**given, "metricSummaries": list(summaries)})


def summary(name: str = "custom/check", **values: Any) -> dict[str, Any]:
    given = {"evaluator": f"/evaluator/{name}", "testCaseCount": 4, "errorCount": 0, "scoreUndefinedCount": 0}
    return {**given, "statusDistribution": {"UNKNOWN": 4}, **values}


def lines_of(*keys: EvalRunKey, width: int = 80) -> list[str]:
    return list(rendered(run_listing(keys, width=width), colour=False))


def test_a_run_has_its_pass_rates_below_it() -> None:
    regex = summary("genkitEval/regex", statusDistribution={"PASS": 3, "FAIL": 1})
    other = summary(statusDistribution={"PASS": 2, "UNKNOWN": 2})

    _, row, figures = lines_of(key(regex, other))

    assert row.split() == ["run-1", "2026-11-30", "00:00", "4", "given", "outputs", "of", "given", "data"]
    assert figures == "  genkitEval/regex 75 % of 4   custom/check 100 % of 2"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"averageScore": 5.75}, "mean 5.75 (4/4)"),
        ({"averageScore": 5.75, "scoreUndefinedCount": 1, "errorCount": 1}, "mean 5.75 (3/4), 1 FAILED"),
        ({"averageScore": None}, "n/a"),
        ({"scoreDistribution": {"short": 3, "long": 1}}, "short 3, long 1"),
        ({"statusDistribution": {}}, "n/a"),
        ({"statusDistribution": {"PASS": 1, "FAIL": 1, "undefined": 2}, "errorCount": 2}, "50 % of 2, 2 FAILED"),
    ],
)
def test_where_nothing_passes_or_fails_the_mean_or_the_values_are_shown(values: dict[str, Any], text: str) -> None:
    assert run_figures(key(summary(**values))) == [f"custom/check {text}"]


def test_targets_that_failed_are_shown() -> None:
    _, _, failed, _ = lines_of(key(summary(), targetErrors=3))

    assert failed == "  3 of 4 cases FAILED in the target"


def test_runs_of_genkit_have_figures_too() -> None:
    keys = [EvalRunKey.model_validate(row) for row in json.loads(GENKIT.read_text(encoding="utf-8")).values()]

    figures = [run_figures(key) for key in keys]

    assert figures[0] == ["custom/regex 50 % of 2"]
    assert figures[1] == []
    assert figures[4] == ["custom/multi/chars mean 141.5 (2/2)", "custom/multi/size 100 % of 2"]


def test_listed_keys_of_a_store_have_what_is_needed(tmp_path: Path) -> None:
    store = LocalFileEvalStore(tmp_path)
    store.save(key(summary(statusDistribution={"PASS": 1}), targetErrors=1), [])

    (listed,) = LocalFileEvalStore(tmp_path).list()

    assert run_figures(listed) == ["custom/check 100 % of 1"]
    assert listed.target_errors == 1


@pytest.mark.parametrize("width", [20, 40, 80])
def test_figures_are_as_many_as_fit(width: int) -> None:
    many = [summary(f"custom/metric-{n}\x1b[2J", statusDistribution={"PASS": 1}) for n in range(9)]

    lines = lines_of(key(*many), width=width)

    assert all(len(text) <= width and text.isprintable() for text in lines)
    assert "custom/metric-0" in "".join(lines)
    assert "more" in lines[-1]
