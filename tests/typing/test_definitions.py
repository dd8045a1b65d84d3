"""Definitions keep the types of what they define. The type checker reads this file, pytest runs it.

A `type: ignore` here is a test: the checker refuses one that it does not need.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, assert_type

import pytest
from pydantic import BaseModel

from genkit_eval import (
    Combination,
    ConfigError,
    DataPoint,
    EvaluatorRef,
    GenkitEval,
    Plugin,
    Registry,
    Sample,
    Score,
    Status,
    all_of,
    any_of,
    gate,
    negate,
    route,
    weighted,
)


class Threshold(BaseModel):
    threshold: float = 0.5


def test_an_evaluator_stays_the_function_it_was() -> None:
    registry = Registry()

    @registry.define_evaluator("test/threshold", kind="heuristic", direction="maximize")
    def threshold(point: DataPoint, options: Threshold) -> Score:
        return Score.scored(options.threshold, reason=str(point.output))

    assert_type(threshold(DataPoint(output=1), Threshold()), Score)
    assert threshold(DataPoint(output=1), Threshold()).score == 0.5


def test_an_async_evaluator_stays_awaitable() -> None:
    registry = Registry()

    @registry.define_evaluator("test/later")
    async def later(point: DataPoint) -> bool:
        return point.has("output")

    kept: Callable[[DataPoint], Awaitable[bool]] = later
    assert kept is registry.evaluator("test/later").fn


def test_a_function_given_as_fn_comes_back_as_it_is() -> None:
    def length(point: DataPoint) -> int:
        return len(str(point.output))

    same = Registry().define_evaluator("test/length", fn=length)

    assert_type(same(DataPoint(output="abc")), int)
    assert same is length


def test_a_flow_stays_the_function_it_was() -> None:
    ge = GenkitEval()

    @ge.flow("shout")
    def shout(text: str) -> str:
        return text.upper()

    assert_type(shout("a"), str)
    assert shout("a") == "A"


def test_declarations_are_checked() -> None:
    def check_only(registry: Registry) -> None:
        def judge(point: DataPoint) -> bool:
            return point.has("output")

        registry.define_evaluator("test/a", judge, direction="sideways")  # type: ignore[call-overload]
        registry.define_evaluator("test/b", judge, hreshold=0.5)  # type: ignore[call-overload]
        registry.define_evaluator("test/c", judge, options=dict)  # type: ignore[arg-type]
        registry.define_flow(7)  # type: ignore[call-overload]

    assert callable(check_only)


def test_a_plugin_is_a_name_and_a_setup() -> None:
    def setup(registry: Registry) -> None:
        registry.define_flow("echo", echo)

    def echo(value: str) -> str:
        return value

    plugin = Plugin("test", setup)

    assert_type(plugin.setup, Callable[[Registry], None])
    assert GenkitEval(plugins=[plugin]).registry.flow("/flow/echo").name == "echo"


def test_data_is_typed() -> None:
    sample = Sample(test_case_id="a", input={"any": ["json"]})
    score = Score.passed(0.9, reason="fine")

    assert_type(sample.test_case_id, str | None)
    assert_type(sample.input, Any)
    assert_type(score, Score)
    assert_type(score.status, Status)
    assert_type(score.score, bool | int | float | str | None)


def test_data_is_frozen_and_has_no_other_fields() -> None:
    def check_only(sample: Sample) -> None:
        sample.tags = ("new",)  # type: ignore[misc]
        Sample(test_case="a")  # type: ignore[call-arg]
        Sample(test_case_id=1)  # type: ignore[arg-type]

    assert callable(check_only)


def test_combinations_take_names_references_and_combinations() -> None:
    ge = GenkitEval()
    ge.define_evaluator("test/yes", fn=lambda point: True)

    made = all_of("test/yes", negate(EvaluatorRef("test/yes", {})), weighted(("test/yes", 1), (any_of("test/yes"), 2)))

    assert_type(made, Combination)
    assert_type(gate("test/yes", made, otherwise="INCONCLUSIVE"), Combination)
    assert_type(route(judge="test/yes"), EvaluatorRef)
    # a part is no function
    with pytest.raises(ConfigError):
        all_of(len)  # type: ignore[arg-type]
