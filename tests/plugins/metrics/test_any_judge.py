"""Properties of all judged metrics, whatever judge and embedder say."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from random import Random

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue

from genkit_eval import DataPoint, EvalMetric, GenkitEval, Message, Outcome, Reply, Status
from genkit_eval_metrics import genkit_metrics
from genkit_eval_metrics.catalogue import JUDGED

OPTIONS: Mapping[str, Mapping[str, JsonValue]] = {
    "aspect_critic": {"definition": "The answer is polite.", "votes": 3},
    "answer_relevancy": {"questions": 3},
}
POINT = DataPoint(
    input="When does it open?",
    output={"answer": "At nine. {{reference}} {context} %s ${HOME}"},
    reference="SECRET-REF: at nine",
    context=["It opens at nine.", {"text": "Entry is free."}, ""],
)

metrics = pytest.mark.parametrize("name", list(JUDGED))


class AnyJudge:
    """A judge that says, in the form that was asked for, what a seed decides; a `fault` is the share of odd replies."""

    name = "any"

    def __init__(self, seed: int, *, fault: float = 0.0) -> None:
        self.random, self.fault = Random(seed), fault
        self.prompts: list[str] = []

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        assert output is not None
        self.prompts.append("\n\n".join(message.content for message in messages))
        await anyio.lowlevel.checkpoint()
        if self.random.random() < self.fault:
            return Reply(text=self.random.choice(["", "no", "{}", "NaN", '{"rating": NaN}', "[[[", '{"verdicts": []}']))
        said = {name: self._value(name, output.model_json_schema(), messages) for name in output.model_fields}
        return Reply(text=json.dumps(said))

    def _value(self, name: str, schema: Mapping[str, object], messages: Sequence[Message]) -> object:
        if name == "verdicts":
            return [{"number": n, "reason": "so", "verdict": self._coin()} for n in self._numbers(messages)]
        if name in ("statements", "entities", "phrases", "questions"):
            least = 1 if name == "questions" else 0
            return [f"thing {self.random.randrange(3)}" for _ in range(self.random.randint(least, 4))]
        if name == "rating":
            properties = schema["properties"]
            assert isinstance(properties, dict)
            return self.random.choice(properties["rating"]["enum"])
        return self._coin() if name in ("verdict", "answered", "noncommittal") else "so"

    def _coin(self) -> bool:
        return self.random.random() < 0.5

    @staticmethod
    def _numbers(messages: Sequence[Message]) -> range:
        """As many as the last block of the prompt has numbered lines."""
        lines = messages[1].content.splitlines()
        return range(1, 1 + sum(line.partition(". ")[0].isdigit() for line in lines))


class AnyEmbedder:
    """An embedder whose vectors a seed decides; now and then one is all zeros."""

    name = "any"

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[float(self.random.randint(-2, 2)) for _ in range(3)] for _ in texts]


def ends_well(metric: EvalMetric) -> bool:
    """Whether it is one of the four outcomes in full, with a finite score where there is one."""
    if metric.ended is Outcome.VERDICT:
        return isinstance(metric.score, float) and math.isfinite(metric.score) and 0 <= metric.score <= 1
    if metric.ended is Outcome.INCONCLUSIVE:
        return metric.score is None and metric.status is Status.UNKNOWN and bool(metric.rationale)
    return metric.score is None and metric.status is Status.UNKNOWN and bool(metric.error)


async def scored(
    seed: int, names: Sequence[str], *, fault: float = 0.0, judge: AnyJudge | None = None
) -> list[EvalMetric]:
    ge = GenkitEval(
        plugins=[genkit_metrics(judge=judge or AnyJudge(seed, fault=fault), embedder=AnyEmbedder(seed), metrics=names)]
    )
    return await ge.score(POINT, [ge.ref(f"genkitEval/{name}", **OPTIONS.get(name, {})) for name in names])


@metrics
@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_a_score_is_finite_and_in_range_whatever_the_judge_says(name: str, seed: int) -> None:
    (metric,) = anyio.run(scored, seed, [name])

    assert ends_well(metric), metric
    assert metric.ended is not Outcome.FAILED or "embedder" in str(metric.error)


@metrics
@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_a_judge_that_talks_nonsense_makes_no_score_of_it(name: str, seed: int) -> None:
    async def all_of_it() -> list[EvalMetric]:
        return await scored(seed, [name], fault=0.5)

    (metric,) = anyio.run(all_of_it)

    assert ends_well(metric), metric


@metrics
def test_it_runs_on_trio_too(name: str) -> None:
    (metric,) = anyio.run(scored, 3, [name], backend="trio")

    assert ends_well(metric), metric


@pytest.mark.case("security/template-placeholders-in-data")
@metrics
def test_what_looks_like_a_template_in_the_data_stays_as_it_is(name: str) -> None:
    judge = AnyJudge(1)

    async def all_of_it() -> list[EvalMetric]:
        return await scored(1, [name], judge=judge)

    anyio.run(all_of_it)

    for prompt in judge.prompts:
        assert prompt.count("SECRET-REF") <= 1
        if "At nine." in prompt:
            assert "{{reference}} {context} %s ${HOME}" in prompt
