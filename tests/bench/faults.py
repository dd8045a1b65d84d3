"""A judge that fails: mixed faults, calls that stall, and 100,000 calls in one run, over HTTP in another process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel

from genkit_eval import EvalRun, GenkitEval, Limits, Prompt, run_sync
from genkit_eval.prompts import fenced
from genkit_eval.testing import ServerProcess
from genkit_eval.types import Sample
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.metric import PROMPTS
from genkit_eval_openai import openai_models
from genkit_eval_openai.schema import response_schema
from tests.bench.arms import WORKERS
from tests.bench.measure import Arm, Cost, best, in_child, measured
from tests.bench.options import Options
from tests.bench.table import Row, Table, count, megabytes, seconds

__all__ = ["tables"]

METRIC = "genkitEval/maliciousness"
RATE = 0.2
AT_ONCE = (1, 8, 64)
STALLED = 0.02
STALL_SECONDS = 30.0
DEADLINE = 2.0
MOST_MEMORY = 150e6
MOST_GROWTH = 1.15


def _samples(number: int) -> Iterator[dict[str, Any]]:
    return ({"testCaseId": f"case-{n}", "input": f"What is {n}?", "output": f"{n} is a number."} for n in range(number))


class Verdict(BaseModel):
    """What the judge is asked for."""

    reason: str
    verdict: bool


def plain_loop(url: str, number: int) -> Cost:
    """The baseline: 32 workers over the SDK that try each call once; what raises is no score."""
    with measured() as cost:
        cost.facts["scored"] = asyncio.run(_loop(url, number))
    return cost


async def _loop(url: str, number: int) -> int:
    import openai

    pending, scored = iter(_samples(number)), 0
    prompt = Prompt.load(PROMPTS / "maliciousness.prompt")
    form: Any = {"type": "json_schema", "json_schema": response_schema(Verdict)}
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def work() -> None:
            nonlocal scored
            for row in pending:
                values = {"question": fenced(row["input"]), "answer": fenced(row["output"])}
                messages: Any = [{"role": each.role, "content": each.content} for each in prompt.render(values)]
                try:
                    said = await client.chat.completions.create(model="m", messages=messages, response_format=form)
                    Verdict.model_validate_json(said.choices[0].message.content or "")
                    scored += 1
                except (openai.OpenAIError, ValueError):
                    continue

        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(work())
    return scored


def ours(url: str, number: int, limits: Mapping[str, Any], folder: str) -> Cost:
    """A run of one judged metric over outputs that are there already."""
    with TemporaryDirectory(dir=folder) as root:
        metrics = genkit_metrics(judge="bench/judge", metrics=["maliciousness"])
        ge = GenkitEval(root=root, plugins=[openai_models("bench", base_url=url), metrics])
        samples = [Sample.model_validate(row) for row in _samples(number)]
        # the SDK takes a second to import, which is no part of a run
        import genkit_eval_openai.client  # noqa: F401

        with measured() as cost:
            run = run_sync(ge.evaluate(samples, target=None, evaluators=[METRIC], limits=Limits(**limits)))
        cost.facts |= _facts(run)
    return cost


def _facts(run: EvalRun) -> dict[str, Any]:
    outcomes: Counter[str] = Counter()
    scores = 0.0
    for result in run.results:
        (metric,) = result.metrics
        outcomes[str(metric.outcome)] += 1
        scores += float(metric.score or 0)
    return {"outcomes": dict(outcomes), "scores": scores}


def tables(options: Options) -> Iterator[Table]:
    """Mixed faults, stalls, and size."""
    yield _mixed(options)
    yield _stalled(options)
    if not options.quick:
        yield _large(options)


def _mixed(options: Options) -> Table:
    number = 200 if options.quick else 1_000
    folder = str(options.folder)
    with ServerProcess(faults={"mixed": RATE}) as server:
        hand = in_child(Arm(plain_loop, {"url": server.url, "number": number}))
    costs = {}
    for most in AT_ONCE:
        with ServerProcess(faults={"mixed": RATE}) as server:
            arguments = {"url": server.url, "number": number, "limits": {"max_concurrency": most}, "folder": folder}
            costs[most] = in_child(Arm(ours, arguments))
    facts = [cost.facts for cost in costs.values()]
    told = sum(facts[0]["outcomes"].values())
    scored = facts[0]["outcomes"].get("VERDICT", 0)
    rows = [
        Row("cases with a score", count(hand.facts["scored"]), count(scored)),
        Row(
            "cases with a score or a named failure",
            count(hand.facts["scored"]),
            count(told),
            None,
            count(number),
            told == number,
        ),
        Row(
            "the same at 1, 8 and 64 samples at a time", "", "yes" if _same(facts) else "NO", None, "yes", _same(facts)
        ),
        *(Row(f"wall, {most} at a time", "", seconds(cost.wall)) for most, cost in costs.items()),
    ]
    return Table(
        f"{count(number)} cases, {RATE:.0%} of them meet one of nine faults",
        rows,
        ["the loop tries each call once; refused and cut off answers stay so, however often they are asked for"],
        baseline="plain loop",
    )


def _same(facts: list[dict[str, Any]]) -> bool:
    told = [(each["outcomes"], each["scores"]) for each in facts]
    return all(each == told[0] for each in told)


def _stalled(options: Options) -> Table:
    number = 200 if options.quick else 1_000
    rows = []
    for share in (0.0, STALLED):
        with ServerProcess(latency_seconds=0.02, faults={"stall": share}) as server:
            limits = {"call_seconds": DEADLINE}
            arguments = {"url": server.url, "number": number, "limits": limits, "folder": str(options.folder)}
            rows.append(in_child(Arm(ours, arguments)))
    quiet, stalled = rows
    whole = stalled.facts["outcomes"] == {"VERDICT": number}
    met = whole and stalled.wall < STALL_SECONDS / 2
    return Table(
        f"{count(number)} cases, {STALLED:.0%} of the calls stall for {STALL_SECONDS:.0f} s, deadline {DEADLINE:.0f} s",
        [
            Row("wall", seconds(quiet.wall), seconds(stalled.wall), None, f"< {STALL_SECONDS / 2:.0f} s", met),
            Row("cases scored", _scored(quiet), _scored(stalled), None, count(number), whole),
        ],
        baseline="no stall",
    )


def _scored(cost: Cost) -> str:
    return count(cost.facts["outcomes"].get("VERDICT", 0))


def _large(options: Options) -> Table:
    sizes = (10_000, 100_000)
    costs = []
    for number in sizes:
        with ServerProcess(latency_seconds=0.005) as server:
            arguments = {"url": server.url, "number": number, "limits": {}, "folder": str(options.folder)}
            costs.append(best({"ours": Arm(ours, arguments)}, 1)["ours"])
    small, large = costs
    growth = (large.wall / sizes[1]) / (small.wall / sizes[0])
    return Table(
        "One judge call a case, a server that answers in 5 ms",
        [
            Row("wall", seconds(small.wall), seconds(large.wall)),
            Row(
                "wall a case",
                seconds(small.wall / sizes[0]),
                seconds(large.wall / sizes[1]),
                growth,
                f"≤ {MOST_GROWTH} ×",
                growth <= MOST_GROWTH,
            ),
            Row(
                "memory added",
                megabytes(small.added),
                megabytes(large.added),
                None,
                f"≤ {megabytes(MOST_MEMORY)}",
                large.added <= MOST_MEMORY,
            ),
        ],
        baseline=count(sizes[0]),
    )
