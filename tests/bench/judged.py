"""Faithfulness over HTTP, two chained calls of 100 ms a sample, beside a hand-written loop over the same SDK."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from pydantic import BaseModel

from genkit_eval import GenkitEval, Message, Prompt, Registry
from genkit_eval.prompts import fenced
from genkit_eval.types import Sample
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.metric import PROMPTS
from genkit_eval_openai import openai_models
from genkit_eval_openai.schema import response_schema
from tests.bench.arms import WORKERS, Record, our_cost
from tests.bench.judge_server import LATENCY, STATEMENTS, SUPPORTED, judge_server
from tests.bench.measure import Arm, Cost, best, measured
from tests.bench.options import Options
from tests.bench.table import Row, Table, count, seconds

__all__ = ["CALLS", "by_client", "by_hand", "ours", "tables"]

METRIC = "genkitEval/faithfulness"
CALLS = 2
MOST_TIMES = 1.1
LEAST_OF_IDEAL = 0.85
MOST_CPU = {True: 0.0025, False: 0.0032}
"""Seconds of CPU time a call, with the extra `fast` and without it."""

DOCUMENT = "The library of tools lends what it has for seven days. Who is late pays for each day and each tool. "


def _rows(number: int) -> list[dict[str, Any]]:
    return [
        {
            "testCaseId": f"case-{index}",
            "input": f"What does it cost to be {index} days late?",
            "output": " ".join(STATEMENTS),
            "context": [f"Entry {index} and {place}. {DOCUMENT * 2}" for place in range(3)],
        }
        for index in range(number)
    ]


def _import_sdk(*, fast: bool) -> None:
    """Before the clock runs: the import takes a second, and is no part of what a call costs."""
    if not fast:
        # as if it were not installed
        sys.modules["aiohttp"] = None  # type: ignore[assignment]  # that is how an import is made to fail
    # not at the top: whether it finds aiohttp is decided here
    import genkit_eval_openai.chat
    import genkit_eval_openai.client  # noqa: F401


# --- by hand ----------------------------------------------------------------------------------------------------------


class Statements(BaseModel):
    """The first reply."""

    statements: list[str]


class Verdict(BaseModel):
    """One of the second reply."""

    number: int
    reason: str
    verdict: bool


class Verdicts(BaseModel):
    """The second reply."""

    verdicts: list[Verdict]


def by_hand(url: str, number: int, fast: bool) -> Cost:
    """The baseline: 32 workers over the SDK, with the same prompts and forms, a record a sample in memory."""
    _import_sdk(fast=fast)
    rows = _rows(number)
    with measured() as cost:
        records = asyncio.run(_over_sdk(url, rows, fast=fast))
    cost.facts["sums"] = {METRIC: sum(record["score"] or 0 for record in records)}
    return cost


async def _over_sdk(url: str, rows: list[dict[str, Any]], *, fast: bool) -> list[Record]:
    import openai

    transport = openai.DefaultAioHttpClient() if fast else None
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=transport) as client:

        async def ask(messages: Sequence[Message], form: type[BaseModel]) -> str:
            sent: Any = [{"role": message.role, "content": message.content} for message in messages]
            wanted: Any = {"type": "json_schema", "json_schema": response_schema(form)}
            completion = await client.chat.completions.create(
                model="judge", messages=sent, response_format=wanted, temperature=0
            )
            return str(completion.choices[0].message.content)

        return await _loop(rows, ask)


def by_client(url: str, number: int, fast: bool) -> Cost:
    """The same loop over the client that a run has, with nothing of a run around it."""
    _import_sdk(fast=fast)
    rows = _rows(number)
    registry = Registry()
    registry.install(openai_models("bench", base_url=url))
    model = registry.model("bench/judge")

    async def ask(messages: Sequence[Message], form: type[BaseModel]) -> str:
        return (await model.generate(messages, output=form, config={"temperature": 0})).text

    with measured() as cost:
        records = asyncio.run(_loop(rows, ask))
    cost.facts["sums"] = {METRIC: sum(record["score"] or 0 for record in records)}
    return cost


Ask = Callable[[Sequence[Message], type[BaseModel]], Awaitable[str]]


async def _loop(rows: list[dict[str, Any]], ask: Ask) -> list[Record]:
    records: list[Record] = []
    pending = iter(rows)

    async def work() -> None:
        for row in pending:
            score, error = None, None
            started = perf_counter()
            try:
                score = await _faithfulness(ask, row)
            except Exception as problem:  # noqa: BLE001 # whatever a call raises
                error = f"{type(problem).__name__}: {problem}"
            took = perf_counter() - started
            records.append({"id": row["testCaseId"], "score": score, "error": error, "seconds": took})

    async with asyncio.TaskGroup() as group:
        for _ in range(WORKERS):
            group.create_task(work())
    return records


_PROMPTS = {name: Prompt.load(PROMPTS / f"{name}.prompt") for name in ("statements", "verdicts")}


async def _faithfulness(ask: Ask, row: Mapping[str, Any]) -> float:
    values = {"question": fenced(row["input"]), "answer": fenced(row["output"])}
    first = Statements.model_validate_json(await ask(_PROMPTS["statements"].render(values), Statements))
    lines = "\n".join(f"{place}. {line}" for place, line in enumerate(first.statements, 1))
    values = {"statements": fenced(lines), "evidence": fenced("\n\n".join(row["context"]))}
    second = Verdicts.model_validate_json(await ask(_PROMPTS["verdicts"].render(values), Verdicts))
    return sum(item.verdict for item in second.verdicts) / len(first.statements)


# --- ours -------------------------------------------------------------------------------------------------------------


def ours(url: str, number: int, fast: bool, folder: str) -> Cost:
    """A run of faithfulness over outputs that are there already."""
    _import_sdk(fast=fast)
    samples = [Sample.model_validate(row) for row in _rows(number)]
    metrics = genkit_metrics(judge="bench/judge", judge_config={"temperature": 0}, metrics=["faithfulness"])
    with TemporaryDirectory(dir=folder) as root:
        ge = GenkitEval(root=root, plugins=[openai_models("bench", base_url=url), metrics])
        return our_cost(ge, samples, [METRIC], target=None)


# --- both -------------------------------------------------------------------------------------------------------------


def tables(options: Options) -> Iterator[Table]:
    """Both transports of the SDK, if both are there."""
    sizes = (200,) if options.quick else (200, 1_000)
    rounds = 2 if options.quick else 3
    table_rows: list[Row] = []
    notes = [f"two chained calls of {LATENCY * 1000:.0f} ms a sample, {WORKERS} samples at a time"]
    for number in sizes:
        ideal, whole = _ideal(number)
        notes.append(f"{count(number)}: ideal {seconds(ideal)}; whole waves allow {_percent(ideal / whole)} of it")
        for fast in (True, False):
            if fast and find_spec("aiohttp") is None:
                table_rows.append(Row(f"{count(number)}, extra fast", "n/a", "n/a"))
                continue
            table_rows += _measured(number, options.folder, fast=fast, rounds=rounds)
    if find_spec("aiohttp") is None:
        notes.append("n/a: the extra fast is not installed here")
    notes.append("the server is a process of its own, on the same cores; its CPU time is not counted")
    yield Table("Faithfulness over HTTP, beside a loop over the same SDK", table_rows, notes, baseline="by hand")


def _measured(number: int, folder: Path, *, fast: bool, rounds: int) -> Iterator[Row]:
    with judge_server() as (url, came):
        arguments = {"url": url, "number": number, "fast": fast}
        arms = {"hand": Arm(by_hand, arguments), "ours": Arm(ours, {**arguments, "folder": str(folder)})}
        costs = best(arms, rounds)
    hand, our = costs["hand"], costs["ours"]
    expected = {METRIC: number * SUPPORTED / len(STATEMENTS)}
    same = hand.facts["sums"] == our.facts["sums"] == expected
    if not same or came["calls"] != number * CALLS * rounds * len(arms) or came["peak"] > WORKERS:
        raise RuntimeError(f"wrong results: {hand.facts} by hand, {our.facts} ours, {came} came")
    return _result(number, hand, our, fast=fast)


def _result(number: int, hand: Cost, our: Cost, *, fast: bool) -> Iterator[Row]:
    """Wall time, the share of the ideal, and CPU time a call; the targets are those of the larger size."""
    aimed = number >= 1_000
    ideal, _ = _ideal(number)
    name = f"{count(number)}, {'extra fast' if fast else 'as installed'}"
    target, met = (f"≤ {MOST_TIMES} ×", our.wall <= MOST_TIMES * hand.wall) if aimed else ("", None)
    yield Row(f"{name}: wall", seconds(hand.wall), seconds(our.wall), our.wall / hand.wall, target, met)
    reached = ideal / our.wall
    target, met = (f"≥ {_percent(LEAST_OF_IDEAL)}", reached >= LEAST_OF_IDEAL) if aimed and fast else ("", None)
    yield Row("  share of the ideal", _percent(ideal / hand.wall), _percent(reached), None, target, met)
    theirs, cpu = hand.cpu / (CALLS * number), our.cpu / (CALLS * number)
    target, met = (f"≤ {seconds(MOST_CPU[fast])}", cpu <= MOST_CPU[fast]) if aimed else ("", None)
    yield Row("  CPU a call", seconds(theirs), seconds(cpu), cpu / theirs, target, met)


def _ideal(number: int) -> tuple[float, float]:
    """Seconds if no call ever waited for another one; and in whole waves of 32."""
    return number * CALLS * LATENCY / WORKERS, ceil(number / WORKERS) * CALLS * LATENCY


def _percent(share: float) -> str:
    return f"{share:.1%}"
