"""What `evaluate` is given wrongly is said in words, before anything runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from genkit_eval import ConfigError, DataFileError, DataPoint, GenkitEval, Limits, Sample, UnknownName, run_sync
from genkit_eval.engine import make_plan, recorded_plan

ROW = {
    "datasetId": "genkits",
    "size": 2,
    "version": 1,
    "datasetType": "UNKNOWN",
    "createTime": "2026-11-30T08:49:15.000Z",
    "updateTime": "2026-11-30T08:49:15.000Z",
}


def stored_by_genkit(folder: Path, samples: list[dict[str, Any]]) -> None:
    (folder / "datasets").mkdir(parents=True)
    (folder / "datasets" / "index.json").write_text(json.dumps({"genkits": ROW}), encoding="utf-8")
    (folder / "datasets" / "genkits.json").write_text(json.dumps(samples), encoding="utf-8")


@pytest.fixture
def called(ge: GenkitEval) -> list[int]:
    calls: list[int] = []

    def flow(x: int) -> int:
        calls.append(x)
        return x

    ge.define_flow("f", flow)
    ge.define_evaluator("t/yes", lambda point: True)
    return calls


@pytest.mark.case("data-file/duplicate-test-case-id")
def test_an_id_that_a_stored_dataset_has_twice_is_refused_with_both_places(ge: GenkitEval, called: list[int]) -> None:
    twice = [{"testCaseId": "t1", "input": 1}, {"testCaseId": "t1", "input": 2}]
    stored_by_genkit(ge.root, twice)

    with pytest.raises(DataFileError, match="'genkits': sample 2: testCaseId 't1' is taken by sample 1"):
        run_sync(ge.evaluate("genkits", target="f", evaluators=["t/yes"]))

    assert called == []


@pytest.mark.case("data-file/missing-ids")
def test_an_empty_id_in_a_stored_dataset_is_filled_in_the_same_at_every_run(ge: GenkitEval, called: list[int]) -> None:
    stored_by_genkit(ge.root, [{"testCaseId": "", "input": 1}, {"testCaseId": "t2", "input": 2}])

    runs = [run_sync(ge.evaluate("genkits", target="f", evaluators=["t/yes"])) for _ in range(2)]

    first, second = [[result.test_case_id for result in run.results] for run in runs]
    assert first == second
    assert str(first[0]).startswith("case-")
    assert len(called) == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"input": 1}, "the data is of type dict"),
        (Sample(input=1), "the data is of type Sample"),
        (5, "the data is of type int"),
    ],
)
def test_data_that_is_no_list_of_samples(ge: GenkitEval, called: list[int], data: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=f"{words}: expected a dataset's id, a Path, or a list of samples"):
        run_sync(ge.evaluate(data, target="f", evaluators=["t/yes"]))


@pytest.mark.parametrize(
    ("target", "evaluators", "words"),
    [
        (print, ["t/yes"], "the target is of type builtin_function_or_method: give a flow's name"),
        ("f", "t/yes", "evaluators is the text 't/yes': give a list of names"),
        ("f", [print], "an evaluator is of type builtin_function_or_method: give its name"),
    ],
)
def test_functions_in_the_place_of_names(
    ge: GenkitEval, called: list[int], target: Any, evaluators: Any, words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        make_plan(ge.registry, target, evaluators)


@pytest.mark.parametrize(
    "given",
    [
        {"max_concurrency": "4"},
        {"max_concurrency": 2.5},
        {"max_concurrency": True},
        {"max_concurrency": None},
        {"target_seconds": "5"},
        {"target_seconds": True},
        {"evaluator_seconds": float("nan")},
        {"sample_seconds": 0},
        {"max_failures": 0},
        {"max_failures": True},
        {"max_failures": "3"},
        {"max_failures": 1.5},
        {"max_failures": 0.0},
    ],
)
def test_limits_that_are_no_numbers(given: dict[str, Any]) -> None:
    (name,) = given

    with pytest.raises(ConfigError, match=f"{name} is .*: expected"):
        Limits(**given)


@pytest.mark.parametrize("define", ["define_flow", "define_evaluator"])
def test_a_callable_without_a_signature_is_refused_by_name(ge: GenkitEval, define: str) -> None:
    definer: Callable[..., Any] = getattr(ge, define)

    with pytest.raises(ConfigError, match=r"'t/none'.*wrap it in a function of your own"):
        definer("t/none", dict)


class Aliased(BaseModel):
    threshold: float = Field(alias="minScore")


@pytest.mark.case("run/config-leaks-between-runs")
def test_options_with_an_alias_are_recorded_as_they_are_given(ge: GenkitEval) -> None:
    def judge(point: DataPoint, options: Aliased) -> float:
        return options.threshold

    ge.define_evaluator("t/judge", judge)

    run = run_sync(ge.evaluate([{"input": 1, "output": 1}], target=None, evaluators=[ge.ref("t/judge", minScore=0.3)]))

    assert run.key.evaluators[0].options == {"minScore": 0.3}
    assert recorded_plan(ge.registry, run.key).cells[0].options == Aliased(minScore=0.3)


def test_a_dataset_type_that_does_not_exist_is_named_with_those_that_do(ge: GenkitEval) -> None:
    with pytest.raises(ConfigError, match="unknown dataset type 'FLOWS': did you mean 'FLOW'"):
        ge.datasets.create("capitals", [{"input": 1}], dataset_type="FLOWS")


@pytest.mark.case("security/dataset-does-not-run-code")
def test_a_target_in_a_dataset_that_names_code_is_a_flow_that_nobody_defined(
    ge: GenkitEval, called: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "antigravity", raising=False)
    samples = [{"testCaseId": "t1", "input": "a", "reference": "python:os.system"}]
    ge.datasets.create("capitals", samples, target="antigravity:fly", metric_refs=["t/yes"])

    with pytest.raises(UnknownName, match="unknown flow 'antigravity:fly'"):
        run_sync(ge.evaluate("capitals"))

    assert "antigravity" not in sys.modules
    assert called == []
