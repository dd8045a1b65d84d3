"""What flows and evaluators declare about themselves, and what is refused when they are defined."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel, Field

from genkit_eval import ConfigError, DataError, DataPoint, Direction, EvaluatorKind, InvalidOptions, Registry


class Options(BaseModel):
    most: int = 3
    words: list[str] = Field(default_factory=list, alias="theWords")


def short(point: DataPoint, options: Options) -> bool:
    return len(point.output) <= options.most


def test_options_come_from_the_annotation() -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)

    evaluator = registry.evaluator("t/short")

    assert evaluator.options is Options
    assert evaluator.parse_options({"most": 5, "theWords": ["a"]}) == Options(most=5, theWords=["a"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mos": 1}, "did you mean 'most'"),
        ({"most": "many"}, "most: expected a whole number, found 'many'"),
    ],
)
def test_options_that_do_not_fit_are_refused(given: dict[str, Any], words: str) -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)

    with pytest.raises(InvalidOptions, match=words):
        registry.evaluator("t/short").parse_options(given)


def test_options_for_an_evaluator_without_any_are_refused() -> None:
    registry = Registry()
    registry.define_evaluator("t/plain", lambda point: True)

    with pytest.raises(InvalidOptions, match="takes none, but was given most"):
        registry.evaluator("t/plain").parse_options({"most": 1})


@pytest.mark.parametrize(
    ("fn", "settings", "words"),
    [
        (lambda: True, {}, "takes 0 parameters"),
        (lambda a, b, c: True, {}, "takes 3 parameters"),
        (lambda point, options: True, {}, "annotate it with a pydantic model"),
        (lambda point: True, {"options": Options}, "give it a second parameter"),
        (lambda point: True, {"requires": ["refrence"]}, "did you mean 'reference'"),
        (lambda point: True, {"requires": "output"}, "list of fields"),
        (lambda point: True, {"non_empty": ["nothing"]}, "unknown field 'nothing'"),
        (lambda point: True, {"low": 1, "high": 0}, "range is empty"),
        (lambda point: True, {"low": float("nan")}, "finite"),
        (lambda point: True, {"low": 0, "high": 1, "threshold": 2}, "threshold 2 is outside"),
        (lambda point: True, {"direction": "up"}, "unknown direction 'up'"),
        (lambda point: True, {"kind": "magic"}, "unknown evaluatorkind 'magic'"),
        (lambda point: True, {"requirs": ["output"]}, "did you mean 'requires'"),
        ("judge", {}, "is a str, not a function"),
    ],
)
def test_what_cannot_work_is_refused_at_definition(fn: Any, settings: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Registry().define_evaluator("t/x", fn, **settings)


def test_declarations_are_kept() -> None:
    registry = Registry()
    registry.define_evaluator(
        "t/short",
        short,
        direction="minimize",
        low=0,
        high=10,
        kind="deterministic",
        version="7",
        is_billed=True,
        display_name="Short",
        definition="is short",
        metadata={"a": 1},
    )

    evaluator = registry.evaluator("t/short")

    assert (evaluator.direction, evaluator.kind) == (Direction.MINIMIZE, EvaluatorKind.DETERMINISTIC)
    assert (evaluator.version, evaluator.is_billed, evaluator.display_name) == ("7", True, "Short")
    assert (evaluator.definition, evaluator.metadata, evaluator.key) == ("is short", {"a": 1}, "/evaluator/t/short")


def test_the_version_is_a_digest_of_the_source_or_says_there_is_none() -> None:
    registry = Registry()
    registry.define_evaluator("t/short", short)
    registry.define_evaluator("t/partial", partial(short, options=Options()))
    registry.define_evaluator("t/built_in", eval("lambda point: True"))  # has no source

    assert registry.evaluator("t/short").version == registry.evaluator("t/partial").version
    assert registry.evaluator("t/short").version.startswith("src-")
    assert registry.evaluator("t/built_in").version == "unversioned"


def test_a_callable_object_may_be_an_evaluator() -> None:
    class Judge:
        async def __call__(self, point: DataPoint) -> bool:
            return True

    registry = Registry()
    registry.define_evaluator("t/object", Judge())

    assert registry.evaluator("t/object").is_async


def test_an_optional_second_parameter_without_a_model_is_the_functions_own() -> None:
    def judge(point: DataPoint, strict: bool = True) -> bool:
        return strict

    registry = Registry()
    registry.define_evaluator("t/judge", judge)

    assert registry.evaluator("t/judge").options is None


def test_an_annotation_that_cannot_be_looked_up_says_what_to_do() -> None:
    def judge(point: DataPoint, options: Nowhere) -> bool:  # type: ignore[name-defined]  # noqa: F821
        return True

    with pytest.raises(ConfigError, match="define the type at module level"):
        Registry().define_evaluator("t/judge", judge)


@pytest.mark.parametrize(
    ("annotation", "value", "parsed"),
    [(int, "5", 5), (list[int], [1], [1]), (Any, {"x": 1}, {"x": 1}), (Options, {"most": 1}, Options(most=1))],
)
def test_a_flow_gets_its_input_as_annotated(annotation: Any, value: Any, parsed: Any) -> None:
    def flow(x: Any) -> Any:
        return x

    flow.__annotations__["x"] = annotation
    registry = Registry()
    registry.define_flow("f", flow)

    assert registry.flow("f").parse_input(value) == parsed
    assert registry.flow("f").validates is (annotation is not Any)


def test_an_input_that_does_not_fit_says_where_and_why() -> None:
    def flow(x: Options) -> Any:
        return x

    registry = Registry()
    registry.define_flow("f", flow)

    with pytest.raises(DataError, match="flow 'f': most: expected a whole number, found 'many'"):
        registry.flow("f").parse_input({"most": "many"})
