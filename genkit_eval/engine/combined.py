"""A combination as an evaluator of the registry: its parts looked up, asked, and answered for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import anyio
from pydantic import JsonValue

from genkit_eval._json import dump
from genkit_eval.engine.batch import beside_loop
from genkit_eval.engine.calls import called, called_async
from genkit_eval.engine.cells import Cell, asked_by, plan_cell
from genkit_eval.engine.combination import Combination, Heard, Part
from genkit_eval.errors import ConfigError
from genkit_eval.registry import EvaluatorRef, Registry
from genkit_eval.scores import ScoreRule, as_scores
from genkit_eval.types import DataPoint, Direction, EvaluatorKind, Sample, Score

__all__ = ["ask_cell", "define_combination"]

_KINDS = (EvaluatorKind.AGENTIC, EvaluatorKind.HEURISTIC, EvaluatorKind.DETERMINISTIC)


@dataclass(frozen=True, slots=True)
class _Node:
    """A combination whose parts have been found."""

    how: Combination
    parts: tuple[_Node | Cell, ...]

    @property
    def name(self) -> str:
        return f"{self.how.rule}({', '.join(_name(part) for part in self.parts)})"

    @property
    def is_async(self) -> bool:
        return any(cell.evaluator.is_async for cell in _cells(self))

    @property
    def rule(self) -> ScoreRule:
        """The range of its score, and which way it gets better."""
        if self.how.rule == "weighted":
            return ScoreRule(0.0, 1.0)
        if self.how.rule in ("negate", "gate"):
            return _rule(self.parts[-1])
        return ScoreRule()


def define_combination(
    registry: Registry, name: str, combination: Combination, *, display_name: str = "", definition: str = ""
) -> None:
    """Define an evaluator that is a combination of others, which must be defined already.

    It needs, costs and reads what its parts do; its version holds theirs.

    Raises:
        UnknownName, InvalidOptions: of a part, with the nearest name.
        ConfigError: a part judges all cases at once.
    """
    node = _found(registry, combination)
    cells = list(_cells(node))
    kinds = {cell.evaluator.kind for cell in cells}
    rule = node.rule
    registry.define_evaluator(
        name,
        _asynchronous(node) if node.is_async else _synchronous(node),
        kind=next(kind for kind in _KINDS if kind in kinds),
        version=blake2b(dump(_identity(node)), digest_size=6).hexdigest(),
        direction=rule.direction if node.how.rule in ("negate", "gate") else Direction.MAXIMIZE,
        low=rule.low,
        high=rule.high,
        is_billed=any(cell.evaluator.is_billed for cell in cells),
        display_name=display_name or name,
        definition=definition or node.name,
        needs=next((cell.evaluator.needs for cell in cells if cell.evaluator.needs is not None), None),
        metadata=_metadata(cells),
        check=_check(cells) if any(cell.evaluator.check for cell in cells) else None,
        check_options=lambda _: _option_problem(cells),
    )


def _found(registry: Registry, combination: Combination) -> _Node:
    return _Node(combination, tuple(_found_part(registry, part) for part in combination.parts))


def _found_part(registry: Registry, part: Part) -> _Node | Cell:
    if isinstance(part, Combination):
        return _found(registry, part)
    ref = EvaluatorRef(part, {}) if isinstance(part, str) else part
    evaluator = registry.evaluator(ref.name).with_options(ref.options)
    if evaluator.batch:
        raise ConfigError(f"evaluator '{evaluator.name}' judges all cases at once: it can be no part of a combination")
    return plan_cell(evaluator, ref.options)


def _cells(node: _Node | Cell) -> Iterator[Cell]:
    if isinstance(node, Cell):
        yield node
    else:
        for part in node.parts:
            yield from _cells(part)


def _name(node: _Node | Cell) -> str:
    return node.evaluator.name if isinstance(node, Cell) else node.name


def _rule(node: _Node | Cell) -> ScoreRule:
    return node.evaluator.rule if isinstance(node, Cell) else node.rule


def _identity(node: _Node | Cell) -> JsonValue:
    """What may not change without being another ruler."""
    if isinstance(node, Cell):
        return [node.key, node.version]
    return [node.how.rule, dict(node.how.settings), [_identity(part) for part in node.parts]]


def _metadata(cells: Sequence[Cell]) -> Mapping[str, JsonValue]:
    """What it reads, and which models it asks with which prompts."""
    metadata: dict[str, JsonValue] = {
        "reads": [*dict.fromkeys(name for cell in cells for name in cell.evaluator.reads)],
        "parts": [cell.evaluator.name for cell in cells],
    }
    prompts = {
        f"{cell.evaluator.name}: {step}": text for cell in cells for step, text in cell.evaluator.prompts.items()
    }
    return metadata | asked_by(cells) | ({"prompts": {**prompts}} if prompts else {})


def _check(cells: Sequence[Cell]) -> Callable[[Sample, Any], str | None]:
    def problem(sample: Sample, _: object) -> str | None:
        for cell in cells:
            found = cell.evaluator.check(sample, cell.options) if cell.evaluator.check is not None else None
            if found is not None:
                return f"{cell.evaluator.name}: {found}"
        return None

    return problem


def _option_problem(cells: Sequence[Cell]) -> str | None:
    for cell in cells:
        found = cell.evaluator.check_options(cell.options) if cell.evaluator.check_options is not None else None
        if found is not None:
            return f"{cell.evaluator.name}: {found}"
    return None


# --- asking ---


def _asynchronous(node: _Node) -> Callable[[DataPoint], Coroutine[Any, Any, Sequence[Score]]]:
    async def judge(point: DataPoint) -> Sequence[Score]:
        heard = await _ask(node, point, beside=True)
        return heard.scores

    return judge


def _synchronous(node: _Node) -> Callable[[DataPoint], Sequence[Score]]:
    """Nothing in it waits, so one step takes it to its end, and no event loop is needed."""

    def judge(point: DataPoint) -> Sequence[Score]:
        try:
            _ask(node, point, beside=False).send(None)
        except StopIteration as end:
            heard: Heard = end.value
            return heard.scores
        raise RuntimeError("a synchronous evaluator waited")

    return judge


async def _ask(node: _Node, point: DataPoint, *, beside: bool) -> Heard:
    """What a combination says; `beside` an event loop, which synchronous parts must not hold up."""
    heard: dict[int, Heard] = {}

    async def ask(number: int) -> None:
        heard[number] = await _ask_part(node.parts[number], point, beside=beside)

    numbers: Sequence[int] = range(len(node.parts))
    if node.how.goes_on is not None:
        await ask(0)
        numbers = numbers[1:] if node.how.goes_on(heard[0]) else ()
    if beside and len(numbers) > 1:
        async with anyio.create_task_group() as group:
            for number in numbers:
                group.start_soon(ask, number)
    else:
        for number in numbers:
            await ask(number)
    said = [heard[number] for number in sorted(heard)]
    return Heard(node.name, node.how.decide(said), node.rule)


async def _ask_part(part: _Node | Cell, point: DataPoint, *, beside: bool) -> Heard:
    if isinstance(part, Cell):
        return await ask_cell(part, point, beside=beside)
    return await _ask(part, point, beside=beside)


async def ask_cell(cell: Cell, point: DataPoint, *, beside: bool) -> Heard:
    """What an evaluator says, as if it stood alone; `beside` an event loop, which synchronous ones must not hold up."""
    evaluator = cell.evaluator
    why = cell.missing(point)
    if why is not None:
        return Heard(evaluator.name, [Score.inconclusive(reason=why)], evaluator.rule)
    if beside:
        result = await called_async(beside_loop(cell), point, anyio.get_cancelled_exc_class())
    else:
        result = called(cell.call, point)
    value, error, _ = result
    scores = [Score.broke(error)] if error is not None else as_scores(value, evaluator.rule)
    return Heard(evaluator.name, scores, evaluator.rule)
