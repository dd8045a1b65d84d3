"""What is wrong with what was asked for is said before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from genkit_eval import (
    ConfigError,
    DataError,
    DataFileError,
    DataPoint,
    DuplicateName,
    GenkitEval,
    InvalidOptions,
    Sample,
    UnknownName,
)
from tests.engine.cases import define_same, same, samples

pytestmark = pytest.mark.anyio


@pytest.mark.case("run/unknown-evaluator")
@pytest.mark.case("run/unknown-flow")
async def test_names_and_options_are_checked_before_anything_runs(ge: GenkitEval) -> None:
    calls: list[int] = []
    ge.define_flow("real", calls.append)

    @ge.define_evaluator("t/limit")
    def limit(point: DataPoint, options: _Limit) -> bool:
        return True

    with pytest.raises(UnknownName, match="'t/limt': did you mean 't/limit'"):
        await ge.evaluate(samples(1), target="real", evaluators=["t/limt"])
    with pytest.raises(UnknownName, match="'typo'"):
        await ge.evaluate(samples(1), target="/flow/typo", evaluators=["t/limit"])
    with pytest.raises(InvalidOptions, match="did you mean 'most'"):
        await ge.evaluate(samples(1), target="real", evaluators=[ge.ref("t/limit", mos=1)])
    with pytest.raises(ConfigError, match="given twice"):
        await ge.evaluate(samples(1), target="real", evaluators=["t/limit", "/evaluator/t/limit"])
    with pytest.raises(ConfigError, match="no evaluators"):
        await ge.evaluate(samples(1), target="real")

    assert calls == []
    assert ge.runs.list() == []


class _Limit(BaseModel):
    most: int = 3


@pytest.mark.case("run/duplicate-evaluator-names")
def test_a_second_definition_is_refused_and_both_are_named(ge: GenkitEval) -> None:
    ge.define_evaluator("style", same)

    with pytest.raises(DuplicateName, match=r"same .* and by .*lambda"):
        ge.define_evaluator("style", lambda point: True)


@pytest.mark.case("data-file/empty-dataset")
async def test_nothing_to_measure_is_an_error(ge: GenkitEval) -> None:
    with pytest.raises(DataError, match="no samples"):
        await ge.evaluate([], target=None, evaluators=[define_same(ge)])


@pytest.mark.case("data-file/duplicate-test-case-id")
async def test_two_samples_of_one_id_are_refused_before_anything_runs(ge: GenkitEval) -> None:
    twins = [{"testCaseId": "t1", "input": 1}, {"testCaseId": "t1", "input": 2}]

    with pytest.raises(DataFileError, match="'t1' is taken by sample 1"):
        await ge.evaluate(twins, target=None, evaluators=[define_same(ge)])


async def test_a_file_given_as_text_is_told_from_a_dataset(ge: GenkitEval, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"input": 1, "output": 1}\n')

    with pytest.raises(ConfigError, match="is a file, not a dataset's id: give Path"):
        await ge.evaluate(str(data), target=None, evaluators=[define_same(ge)])


async def test_without_a_target_the_samples_must_bring_outputs(ge: GenkitEval) -> None:
    with pytest.raises(ConfigError, match="no sample brings an output"):
        await ge.evaluate(samples(2), evaluators=[define_same(ge)])


async def test_an_evaluator_that_lacks_something_is_refused_before_anything_runs(ge: GenkitEval) -> None:
    ge.define_evaluator("t/judged", same, needs="needs a judge: give one")

    with pytest.raises(ConfigError, match="evaluator 't/judged' needs a judge: give one"):
        await ge.evaluate(samples(1), target=None, evaluators=["t/judged"])
    with pytest.raises(ConfigError, match="needs a judge"):
        await ge.score(Sample(output=1), "t/judged")


async def test_options_that_an_evaluator_cannot_run_with_are_refused_before_anything_runs(ge: GenkitEval) -> None:
    seen: list[object] = []

    def check(options: object) -> str | None:
        seen.append(options)
        return "its judge is nowhere"

    ge.define_evaluator("t/judged", same, check_options=check)

    with pytest.raises(ConfigError, match="evaluator 't/judged': its judge is nowhere"):
        await ge.evaluate(samples(3), target=None, evaluators=["t/judged"])

    assert seen == [None]
