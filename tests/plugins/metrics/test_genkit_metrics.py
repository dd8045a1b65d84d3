"""The plugin: which metrics it defines, and with what settings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from genkit_eval import DataPoint, Registry, Score, Status
from genkit_eval.errors import ConfigError, DuplicateName, UnknownName
from genkit_eval.scores import as_scores
from genkit_eval_metrics import MetricConfig, genkit_metrics

PASSING = {
    "regex": DataPoint(output="abc", reference="b"),
    "deep_equal": DataPoint(output=[1], reference=[1]),
    "jsonata": DataPoint(output=[1], reference="$ = [1]"),
}


def installed(**settings: object) -> Registry:
    registry = Registry()
    registry.install(genkit_metrics(**settings))
    return registry


def test_it_defines_all_metrics() -> None:
    names = {name.removeprefix("genkitEval/") for name in installed().evaluators}

    assert names >= {"deep_equal", "jsonata", "regex"}
    assert names >= {"faithfulness", "answer_relevancy", "answer_accuracy", "maliciousness"}


def test_it_defines_those_that_are_named() -> None:
    registry = installed(metrics=["regex", "genkitEval/jsonata"])

    assert sorted(registry.evaluators) == ["genkitEval/jsonata", "genkitEval/regex"]


def test_a_metric_that_does_not_exist_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="unknown metric 'deepequal': did you mean 'deep_equal'"):
        genkit_metrics(metrics=["regex", "deepequal"])


@pytest.mark.parametrize(("metrics", "problem"), [([], "no metric is named"), (["regex", "genkitEval/regex"], "twice")])
def test_a_list_that_makes_no_sense_is_refused(metrics: list[str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        genkit_metrics(metrics=metrics)


def test_installing_it_twice_is_refused() -> None:
    registry = installed()

    with pytest.raises(DuplicateName):
        registry.install(genkit_metrics())


@pytest.mark.parametrize("name", ["regex", "deep_equal", "jsonata"])
def test_each_metric_says_what_it_is(name: str) -> None:
    evaluator = installed().evaluator(f"genkitEval/{name}")

    assert evaluator.kind == "deterministic"
    assert evaluator.requires == ("output", "reference")
    assert evaluator.version == "1"
    assert evaluator.definition
    assert evaluator.display_name != evaluator.name
    assert not evaluator.is_billed


@pytest.mark.parametrize("field", ["output", "reference"])
def test_a_missing_field_leaves_nothing_to_judge_and_null_does_not(field: str) -> None:
    evaluator = installed().evaluator("genkitEval/deep_equal")
    other = {"output", "reference"} - {field}

    assert evaluator.missing(DataPoint(**dict.fromkeys(other, 1))) == f"no {field} was given"
    assert evaluator.missing(DataPoint(output=None, reference=None)) is None


@pytest.mark.parametrize("name", ["regex", "deep_equal", "jsonata"])
def test_a_status_override_decides_the_status_of_every_metric(name: str) -> None:
    seen: list[object] = []

    def invert(score: Score) -> Status:
        seen.append(score.score)
        return Status.FAIL if score.score else Status.PASS

    evaluator = installed(status_override=invert).evaluator(f"genkitEval/{name}")

    (score,) = as_scores(evaluator.fn(PASSING[name], evaluator.parse_options({})), evaluator.rule)

    assert (score.score, score.status, seen) == (True, Status.FAIL, [True])
    assert evaluator.version.startswith("1+status-")


def test_a_metric_may_have_a_status_override_of_its_own() -> None:
    registry = installed(
        metrics=["deep_equal", MetricConfig(metric="regex", status_override=lambda score: Status.UNKNOWN)],
        status_override=lambda score: Status.FAIL,
    )

    statuses = {}
    for name in ("regex", "deep_equal"):
        evaluator = registry.evaluator(f"genkitEval/{name}")
        (score,) = as_scores(evaluator.fn(PASSING[name], evaluator.parse_options({})), evaluator.rule)
        statuses[name] = score.status

    assert statuses == {"regex": Status.UNKNOWN, "deep_equal": Status.FAIL}


def test_importing_the_plugin_loads_none_of_the_libraries_it_works_with() -> None:
    code = (
        "import sys, genkit_eval_metrics; print(sorted({'regex', 'jsonata', 'deepdiff', 'asyncio'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
