"""A judge that answers by script, and the plugin that asks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genkit_eval import EvalMetric, GenkitEval
from genkit_eval.testing import ScriptedModel, data_point
from genkit_eval_judges import judges

Judged = Callable[..., Any]


@pytest.fixture
def judged() -> Judged:
    """`await judged("judge/x", replies, options={}, output=…)`: the metric, and the model that was asked."""

    async def judge(
        name: str, replies: Any, *, options: dict[str, Any] | None = None, **fields: object
    ) -> tuple[EvalMetric, ScriptedModel]:
        model = ScriptedModel(replies)
        ge = GenkitEval(plugins=[judges(judge=model)])
        (metric,) = await ge.score(data_point(**fields), ge.ref(name, **(options or {})))
        return metric, model

    return judge
