"""Which judges the plugin defines, and what it refuses."""

from __future__ import annotations

import pytest

from genkit_eval import ConfigError, GenkitEval, UnknownName
from genkit_eval.judged import MetricConfig
from genkit_eval.testing import ScriptedModel
from genkit_eval_judges import judges


def test_what_was_asked_for_by_name_has_what_it_needs() -> None:
    with pytest.raises(
        ConfigError, match=r"metric 'judge/correctness' was asked for without judge: give judges\(judge=…\), or"
    ):
        judges(evaluators=["judge/correctness"])
    with pytest.raises(ConfigError, match="metric 'judge/answer_relevancy' was asked for without judge"):
        judges(evaluators=["judge/answer_relevancy"])


def test_what_was_not_asked_for_by_name_may_lack_something() -> None:
    registry = GenkitEval(plugins=[judges()]).registry

    assert "needs a judge" in (registry.evaluator("judge/correctness").needs or "")


def test_a_judge_of_another_name_is_unknown() -> None:
    with pytest.raises(UnknownName, match="did you mean 'judge/correctness'"):
        judges(judge=ScriptedModel(""), evaluators=["judge/corectness"])


def test_a_setting_that_a_judge_has_no_use_for_is_refused() -> None:
    with pytest.raises(ConfigError, match="metric 'judge/correctness' has no use for embedder: leave it out"):
        judges(
            judge=ScriptedModel(""), evaluators=[MetricConfig(metric="judge/correctness", embedder="provider/embedder")]
        )


def test_an_embedder_for_all_is_no_fault_of_those_that_have_no_use_for_it() -> None:
    judges(judge=ScriptedModel(""), embedder="provider/embedder", evaluators=["judge/correctness"])
