"""Evaluators that run side by side each get a data point of their own, tool calls and turns included."""

from __future__ import annotations

from genkit_eval import DataPoint, GenkitEval, run_sync

TOOLS = [{"name": "search", "arguments": {"q": "late"}}]
TURNS = [{"role": "user", "content": {"text": "hello"}}]


async def _names(point: DataPoint) -> str:
    assert point.tools is not None
    assert point.turns is not None
    return f"{point.tools[0].name} {point.turns[0].role}"


async def _spoil(point: DataPoint) -> bool:
    assert point.tools is not None
    point.tools[0].arguments.clear()
    return True


async def _arguments(point: DataPoint) -> str:
    assert point.tools is not None
    return str(point.tools[0].arguments)


def test_one_data_point_with_tool_calls_and_turns_is_scored(ge: GenkitEval) -> None:
    ge.define_evaluator("t/names", _names)

    [score] = run_sync(ge.score(DataPoint(output={"a": 1}, tools=TOOLS, turns=TURNS), "t/names"))

    assert (score.score, score.error) == ("search user", None)


def test_a_run_gives_tool_calls_and_turns_to_evaluators_side_by_side(ge: GenkitEval) -> None:
    ge.define_evaluator("t/names", _names)
    ge.define_evaluator("t/again", _names)

    run = run_sync(
        ge.evaluate(
            [{"output": {"a": 1}, "tools": TOOLS, "turns": TURNS}], target=None, evaluators=["t/names", "t/again"]
        )
    )

    assert [metric.score for metric in run.results[0].metrics] == ["search user"] * 2


def test_what_one_evaluator_does_to_a_tool_call_no_other_sees(ge: GenkitEval) -> None:
    ge.define_evaluator("t/spoil", _spoil)
    ge.define_evaluator("t/arguments", _arguments)

    scores = run_sync(ge.score(DataPoint(output=1, tools=TOOLS), ["t/spoil", "t/arguments"]))

    assert scores[1].score == "{'q': 'late'}"
