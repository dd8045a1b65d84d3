"""A server that allows so many requests a second; and what limiter, cache and journal cost beside the bare client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import BaseModel

from genkit_eval import GenkitEval, Limits, Prompt, run_sync
from genkit_eval.prompts import fenced
from genkit_eval.testing import ServerProcess
from genkit_eval.types import Sample
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.metric import PROMPTS
from genkit_eval_openai import openai_models
from genkit_eval_openai.schema import response_schema
from tests.bench.arms import WORKERS
from tests.bench.judge_server import LATENCY, judge_server
from tests.bench.judged import CALLS, by_client, by_hand, ours
from tests.bench.measure import Arm, Cost, best, in_child, measured
from tests.bench.options import Options
from tests.bench.table import Row, Table, count, seconds

__all__ = ["tables"]

ALLOWED = 100
LEAST_OF_ALLOWED = 0.9
MOST_REQUESTS = 1.15
MOST_TIMES = 1.1
LEAST_OF_IDEAL = 0.85
MOST_OWN_CPU = 0.0003
METRIC = "genkitEval/maliciousness"


class Verdict(BaseModel):
    """What the judge is asked for."""

    reason: str
    verdict: bool


def _rows(number: int) -> list[dict[str, Any]]:
    return [{"testCaseId": f"case-{n}", "input": f"What is {n}?", "output": f"{n} is a number."} for n in range(number)]


# --- so many a second -------------------------------------------------------------------------------------------------


def sdk_retries(url: str, number: int) -> Cost:
    """The baseline: 32 workers over the SDK, which tries again by itself, ten times at most."""
    rows = _rows(number)
    with measured() as cost:
        cost.facts["scored"] = asyncio.run(_sdk_loop(url, rows))
    return cost


async def _sdk_loop(url: str, rows: list[dict[str, Any]]) -> int:
    import openai

    pending, scored = iter(rows), 0
    prompt = Prompt.load(PROMPTS / "maliciousness.prompt")
    form: Any = {"type": "json_schema", "json_schema": response_schema(Verdict)}
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=10) as client:

        async def work() -> None:
            nonlocal scored
            for row in pending:
                values = {"question": fenced(row["input"]), "answer": fenced(row["output"])}
                messages: Any = [{"role": each.role, "content": each.content} for each in prompt.render(values)]
                try:
                    await client.chat.completions.create(model="m", messages=messages, response_format=form)
                except openai.OpenAIError:
                    continue
                scored += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(work())
    return scored


def limited(url: str, number: int, folder: str) -> Cost:
    """A run of one judged metric over outputs that are there already."""
    # the SDK takes a second to import, which is no part of a run
    import genkit_eval_openai.client  # noqa: F401

    samples = [Sample.model_validate(row) for row in _rows(number)]
    metrics = genkit_metrics(judge="bench/judge", metrics=["maliciousness"])
    with TemporaryDirectory(dir=folder) as root:
        ge = GenkitEval(root=root, plugins=[openai_models("bench", base_url=url), metrics])
        limits = Limits(max_concurrency=WORKERS)
        with measured() as cost:
            run = run_sync(ge.evaluate(samples, target=None, evaluators=[METRIC], limits=limits))
        cost.facts["scored"] = sum(result.metrics[0].score is not None for result in run.results)
    return cost


def _limited_table(options: Options) -> Table:
    number = 500 if options.quick else 2_000
    costs, came = {}, {}
    arms = {
        "sdk": Arm(sdk_retries, {"number": number}),
        "ours": Arm(limited, {"number": number, "folder": str(options.folder)}),
    }
    for name, arm in arms.items():
        with ServerProcess(latency_seconds=0.05, per_second=ALLOWED) as server:
            costs[name] = in_child(Arm(arm.work, {**arm.arguments, "url": server.url}))
        came[name] = server.counts["calls"]
    shares = {name: number / cost.wall / ALLOWED for name, cost in costs.items()}
    requests = {name: calls / number for name, calls in came.items()}
    scored = {name: cost.facts["scored"] for name, cost in costs.items()}
    # of few calls the first seconds, in which the rate is found, are too large a part
    met = None if options.quick else shares["ours"] >= LEAST_OF_ALLOWED
    return Table(
        f"{count(number)} calls to a server that lets {ALLOWED} a second through, then answers 429 with Retry-After",
        [
            Row(
                "share of the allowed rate",
                f"{shares['sdk']:.1%}",
                f"{shares['ours']:.1%}",
                None,
                "" if options.quick else f"≥ {LEAST_OF_ALLOWED:.0%}",
                met,
            ),
            Row(
                "requests for each that was needed",
                f"{requests['sdk']:.2f}",
                f"{requests['ours']:.2f}",
                None,
                f"≤ {MOST_REQUESTS}",
                requests["ours"] <= MOST_REQUESTS,
            ),
            Row(
                "calls answered",
                count(scored["sdk"]),
                count(scored["ours"]),
                None,
                count(number),
                scored["ours"] == number,
            ),
        ],
        [f"{WORKERS} at a time; the seconds of Retry-After are whole, rounded up"],
        baseline="the SDK's retries",
    )


# --- beside the bare client -------------------------------------------------------------------------------------------


def _client_table(options: Options) -> Table:
    number, rounds = (200, 2) if options.quick else (1_000, 3)
    fast = find_spec("aiohttp") is not None
    with judge_server() as (url, _):
        arguments: Mapping[str, Any] = {"url": url, "number": number, "fast": fast}
        arms = {
            "sdk": Arm(by_hand, arguments),
            "client": Arm(by_client, arguments),
            "ours": Arm(ours, {**arguments, "folder": str(options.folder)}),
        }
        costs = best(arms, rounds)
    if any(cost.facts["sums"] != costs["ours"].facts["sums"] for cost in costs.values()):
        raise RuntimeError(f"wrong results: {[cost.facts for cost in costs.values()]}")
    return Table(
        f"{count(number)} cases with two chained calls, limiter, cache and journal on",
        list(_client_rows(number, costs, fast=fast)),
        [
            f"a hand-written loop over the SDK; {'with' if fast else 'without'} the extra fast",
            "the bare client: such a loop over the client that a run has, which reads no more than it needs",
        ],
        baseline="by hand",
    )


def _client_rows(number: int, costs: Mapping[str, Cost], *, fast: bool) -> Iterator[Row]:
    hand, client, our = costs["sdk"], costs["client"], costs["ours"]
    calls = CALLS * number
    ideal = calls * LATENCY / WORKERS
    aimed = number >= 1_000
    target, met = f"≤ {MOST_TIMES} ×", our.wall <= MOST_TIMES * hand.wall
    yield Row("wall", seconds(hand.wall), seconds(our.wall), our.wall / hand.wall, target, met)
    target, met_ideal = (
        (f"≥ {LEAST_OF_IDEAL:.0%}", ideal / our.wall >= LEAST_OF_IDEAL) if aimed and fast else ("", None)
    )
    yield Row("  share of the ideal", f"{ideal / hand.wall:.1%}", f"{ideal / our.wall:.1%}", None, target, met_ideal)
    yield Row("CPU a call", seconds(hand.cpu / calls), seconds(our.cpu / calls), our.cpu / hand.cpu)
    target = f"≤ {seconds(MOST_OWN_CPU)}"
    own = (our.cpu - hand.cpu) / calls
    yield Row("  beyond the loop's", "", _more(own), None, target, own <= MOST_OWN_CPU)
    yield Row("  beyond the bare client's", "", _more((our.cpu - client.cpu) / calls))


def _more(time: float) -> str:
    return f"-{seconds(-time)}" if time < 0 else seconds(time)


def tables(options: Options) -> Iterator[Table]:
    """Both."""
    yield _limited_table(options)
    yield _client_table(options)
