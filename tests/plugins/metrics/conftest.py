"""One metric on one output, as a run would have it: `judge` for the exact ones, `judged` for those that ask a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence

import pytest

from genkit_eval import DataPoint, Embedder, EvalMetric, GenkitEval, Message, Registry, Score, run_sync
from genkit_eval.judge import Judgeable
from genkit_eval.scores import as_scores
from genkit_eval.testing import ScriptedModel
from genkit_eval_metrics import MetricConfig, genkit_metrics

Judge = Callable[..., Score]
Judged = Callable[..., EvalMetric]


@pytest.fixture(scope="session")
def judge() -> Judge:
    """The score of `judge(metric, output, reference, **options)`; what the evaluator raises comes through."""
    registry = Registry()
    registry.install(genkit_metrics())

    def judged(metric: str, output: object, reference: object, **options: object) -> Score:
        evaluator = registry.evaluator(f"genkitEval/{metric}")
        point = DataPoint(output=output, reference=reference)
        assert evaluator.missing(point) is None
        scores: Sequence[Score] = as_scores(evaluator.fn(point, evaluator.parse_options(options)), evaluator.rule)
        (score,) = scores
        return score

    return judged


@pytest.fixture(scope="session")
def judged() -> Judged:
    """`judged(metric, judge, output=…, context=…)`: its one score of a data point with these fields.

    `embedder` and `options` as in a run; `config` holds further settings of the metric.
    """

    def score(
        metric: str,
        judge: Judgeable | None,
        *,
        embedder: Embedder | str | None = None,
        options: Mapping[str, object] | None = None,
        config: Mapping[str, object] | None = None,
        **fields: object,
    ) -> EvalMetric:
        settings = MetricConfig(metric=metric, judge=judge, embedder=embedder, **(config or {}))
        ge = GenkitEval(plugins=[genkit_metrics(metrics=[settings])])
        (found,) = run_sync(ge.score(DataPoint(**fields), ge.ref(f"genkitEval/{metric}", **(options or {}))))
        return found

    return score


class ScriptedJudge(ScriptedModel):
    """A judge by rule: it takes a text apart at its full stops, and a statement holds if the evidence contains it.

    Statements, evidence and texts are found in the prompt by the marks around them, as the last ones of the message.
    """

    def __init__(self) -> None:
        super().__init__(self._answer, name="rule")

    def _answer(self, messages: Sequence[Message]) -> str:
        blocks = re.findall(r"<(data-\w+)>\n(.*?)\n</\1>", messages[-1].content, re.DOTALL)
        texts = [text for _, text in blocks]
        if '{"statements"' in messages[0].content:
            parts = [part.strip() for part in texts[-1].split(".")]
            return json.dumps({"statements": [part for part in parts if part]})
        evidence, statements = texts[0], texts[-1].splitlines()
        verdicts = [
            {"number": number, "reason": "so", "verdict": line.partition(". ")[2] in evidence}
            for number, line in enumerate(statements, 1)
        ]
        return json.dumps({"verdicts": verdicts})


@pytest.fixture
def rule() -> ScriptedModel:
    """A judge that takes texts apart at full stops and finds true what the evidence contains, word by word."""
    return ScriptedJudge()
