"""What all judged metrics have in common: what they need, whom they ask, and what their version holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from genkit_eval import (
    ConfigError,
    DataPoint,
    EvalMetric,
    GenkitEval,
    Limits,
    Message,
    Outcome,
    Registry,
    Score,
    Status,
    run_sync,
)
from genkit_eval.prompts import Prompt
from genkit_eval.testing import HashEmbedder, ScriptedModel
from genkit_eval_metrics import MetricConfig, genkit_metrics
from genkit_eval_metrics.catalogue import JUDGED

POINT = DataPoint(input="When?", output="At nine.", reference="9 am", context=["It opens at nine."])
GENKIT = ["faithfulness", "answer_relevancy", "answer_accuracy", "maliciousness"]


def answer(messages: Sequence[Message]) -> str:
    """A judge of few words: an answer to whatever a metric asks."""
    values: dict[str, JsonValue] = {
        "reason": "so",
        "verdict": True,
        "rating": 2,
        "question": "When?",
        "answered": True,
        "noncommittal": False,
        "statements": ["It opens at nine."],
        "entities": ["nine"],
        "phrases": ["nine"],
        "questions": ["Does it open at nine?"],
        "verdicts": [{"number": 1, "reason": "so", "verdict": True}],
    }
    return json.dumps(values)


def version_of(metric: str = "faithfulness", **settings: object) -> str:
    registry = Registry()
    registry.install(genkit_metrics(**{"judge": ScriptedModel(answer), "metrics": [metric], **settings}))
    return registry.evaluator(f"genkitEval/{metric}").version


# --- what they need -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [name for name, metric in JUDGED.items() if metric.judge])
def test_a_metric_asked_for_by_name_without_a_judge_is_refused_at_once(metric: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"metric '{metric}' was asked for without judge: give genkit_metrics\(judge=…\)"
    ):
        genkit_metrics(metrics=["regex", metric], embedder=HashEmbedder())


@pytest.mark.parametrize("metric", [name for name, metric in JUDGED.items() if metric.embedder == "required"])
def test_a_metric_asked_for_by_name_without_an_embedder_is_refused_at_once(metric: str) -> None:
    with pytest.raises(ConfigError, match=f"metric '{metric}' was asked for without embedder"):
        genkit_metrics(metrics=[metric], judge=ScriptedModel(answer))


def test_all_metrics_without_a_judge_are_defined_and_say_what_they_need() -> None:
    registry = Registry()

    registry.install(genkit_metrics())

    assert registry.evaluator("genkitEval/regex").needs is None
    for name, metric in JUDGED.items():
        if metric.judge:
            needs = registry.evaluator(f"genkitEval/{name}").needs
            assert needs is not None
            assert needs.startswith("needs a judge: give genkit_metrics(judge=…)")
            assert "OPENAI_BASE_URL" in needs
            assert "GGUF" in needs


def test_a_run_with_a_metric_that_needs_a_judge_is_refused_before_it_begins() -> None:
    ge = GenkitEval(plugins=[genkit_metrics()])

    with pytest.raises(ConfigError, match="evaluator 'genkitEval/faithfulness' needs a judge"):
        run_sync(ge.score(POINT, "genkitEval/faithfulness"))


@pytest.mark.parametrize("option", ["judge", "judge_config", "embedder", "embedder_options", "prompt"])
def test_a_setting_that_a_metric_has_no_use_for_is_refused(option: str) -> None:
    with pytest.raises(ConfigError, match=f"metric 'regex' has no use for {option}: leave it out"):
        genkit_metrics(metrics=[MetricConfig(metric="regex", **{option: "x"})])


@pytest.mark.parametrize(
    "settings", [{"judge": 7}, {"judge": ""}, {"judge": "  "}, {"judge": ScriptedModel(""), "embedder": 7}]
)
def test_what_cannot_judge_or_embed_is_refused_when_it_is_installed(settings: Mapping[str, object]) -> None:
    plugin = genkit_metrics(metrics=["answer_relevancy"], **settings)

    with pytest.raises(ConfigError, match=r"cannot be an? (judge|embedder)"):
        Registry().install(plugin)


# --- whom they ask ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", GENKIT)
def test_the_config_of_the_judge_goes_along_with_every_call(metric: str) -> None:
    judge = ScriptedModel(answer)
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge, judge_config={"temperature": 0}, metrics=[metric])])

    run_sync(ge.score(POINT, f"genkitEval/{metric}"))

    assert judge.calls
    assert all(call.config == {"temperature": 0} for call in judge.calls)


def test_a_metric_may_have_a_judge_and_settings_of_its_own() -> None:
    common, own = ScriptedModel(answer), ScriptedModel(answer, name="own")
    plugin = genkit_metrics(
        judge=common,
        judge_config={"temperature": 0},
        metrics=[
            "maliciousness",
            MetricConfig(metric="answer_accuracy", judge=own),
            MetricConfig(metric="faithfulness", judge_config={"temperature": 1}),
        ],
    )
    ge = GenkitEval(plugins=[plugin])

    run_sync(ge.score(POINT, [f"genkitEval/{name}" for name in ("maliciousness", "answer_accuracy", "faithfulness")]))

    assert [call.config for call in own.calls] == [{"temperature": 0}] * 2
    assert [call.config for call in common.calls] == [{"temperature": 0}, {"temperature": 1}, {"temperature": 1}]


def test_a_judge_and_an_embedder_may_be_named_and_defined_later() -> None:
    judge, embedder = ScriptedModel(answer), HashEmbedder()
    ge = GenkitEval(plugins=[genkit_metrics(judge="acme/judge", embedder="acme/words", metrics=["answer_relevancy"])])
    ge.define_models("acme", {"judge": judge})
    ge.define_embedders("acme", {"words": embedder})

    (metric,) = run_sync(ge.score(POINT, "genkitEval/answer_relevancy"))

    assert metric.score == pytest.approx(1.0)
    assert (len(judge.calls), len(embedder.calls)) == (1, 1)


def test_a_judge_may_be_a_function() -> None:
    asked: list[str] = []

    def judge(prompt: str) -> str:
        asked.append(prompt)
        return '{"reason": "so", "verdict": false}'

    ge = GenkitEval(plugins=[genkit_metrics(judge=judge, metrics=["maliciousness"])])

    (metric,) = run_sync(ge.score(POINT, "genkitEval/maliciousness"))

    assert metric.status is Status.PASS
    assert "At nine." in asked[0]


def test_a_judge_that_throws_is_a_failure_that_names_it() -> None:
    ge = GenkitEval(plugins=[genkit_metrics(judge=ScriptedModel(RuntimeError("no line")), metrics=GENKIT[:1])])

    (metric,) = run_sync(ge.score(POINT, "genkitEval/faithfulness"))

    assert (metric.ended, metric.error) == (Outcome.FAILED, "LLM judge error: RuntimeError: no line")


class Sized:
    """An embedder that takes an option."""

    name = "sized"

    def __init__(self) -> None:
        self.configs: list[Mapping[str, JsonValue] | None] = []

    async def embed(
        self, texts: Sequence[str], *, config: Mapping[str, JsonValue] | None = None
    ) -> Sequence[Sequence[float]]:
        self.configs.append(config)
        return [(1.0, 0.0)] * len(texts)


def test_the_options_of_the_embedder_go_along_with_every_call() -> None:
    embedder = Sized()
    plugin = genkit_metrics(
        judge=ScriptedModel(answer),
        embedder=embedder,
        embedder_options={"dimensions": 2},
        metrics=["answer_relevancy"],
    )

    run_sync(GenkitEval(plugins=[plugin]).score(POINT, "genkitEval/answer_relevancy"))

    assert embedder.configs == [{"dimensions": 2}]


def test_options_for_an_embedder_that_takes_none_are_an_error() -> None:
    plugin = genkit_metrics(
        judge=ScriptedModel(answer),
        embedder=HashEmbedder(),
        embedder_options={"dimensions": 2},
        metrics=["answer_relevancy"],
    )

    with pytest.raises(ConfigError, match="embedder 'hash' takes no options, but embedder_options were given"):
        run_sync(GenkitEval(plugins=[plugin]).score(POINT, "genkitEval/answer_relevancy"))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"judge": "acme/juge"}, "unknown model 'acme/juge': did you mean 'acme/judge'"),
        ({"judge": "acme/judge", "embedder": "acme/wrds"}, "unknown embedder 'acme/wrds': did you mean 'acme/words'"),
    ],
)
def test_a_name_that_nobody_defined_is_refused_before_anything_is_paid_for(
    settings: Mapping[str, str], problem: str
) -> None:
    judge = ScriptedModel(answer)
    ge = GenkitEval(plugins=[genkit_metrics(metrics=["answer_relevancy"], **settings)])
    ge.define_models("acme", {"judge": judge})
    ge.define_embedders("acme", {"words": HashEmbedder()})

    with pytest.raises(ConfigError, match=problem):
        run_sync(ge.evaluate([POINT], target=None, evaluators=["genkitEval/answer_relevancy"]))

    assert judge.calls == []


def test_a_wrong_expression_is_refused_before_anything_is_paid_for() -> None:
    judge = ScriptedModel(answer)
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge, metrics=["maliciousness"])])

    with pytest.raises(ConfigError, match=r"option 'answer': JSONata: .*, in 'output.\('"):
        run_sync(ge.score(POINT, ge.ref("genkitEval/maliciousness", answer="output.(")))

    assert judge.calls == []


# --- status override ----------------------------------------------------------------------------------------------


def test_a_status_override_decides_what_was_scored_and_nothing_else() -> None:
    seen: list[object] = []

    def strict(score: Score) -> Status:
        seen.append(score.score)
        return Status.FAIL

    ge = GenkitEval(
        plugins=[genkit_metrics(judge=ScriptedModel(answer), metrics=["answer_accuracy"], status_override=strict)]
    )

    (scored,) = run_sync(ge.score(POINT, "genkitEval/answer_accuracy"))
    (unread,) = run_sync(ge.score(DataPoint(output="", reference="x"), "genkitEval/answer_accuracy"))

    assert (scored.score, scored.status) == (0.5, Status.FAIL)
    assert (unread.ended, unread.status) == (Outcome.INCONCLUSIVE, Status.UNKNOWN)
    assert seen == [0.5]


# --- prompts ------------------------------------------------------------------------------------------------------

MINE = '---\ninput: [question, answer]\n---\n{{role "user"}}\nIs it bad?\n{{question}}\n{{answer}}\n'


@pytest.mark.parametrize("form", ["path", "text of a path", "object"])
def test_a_prompt_of_ones_own_takes_the_place_of_the_metrics(tmp_path: Path, form: str) -> None:
    path = tmp_path / "mine.prompt"
    path.write_text(MINE, encoding="utf-8")
    prompt = {"path": path, "text of a path": str(path), "object": Prompt.parse(MINE, "mine")}[form]
    judge = ScriptedModel(answer)
    config = MetricConfig(metric="maliciousness", prompt=prompt)
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge, metrics=[config])])

    run_sync(ge.score(POINT, "genkitEval/maliciousness"))

    assert judge.calls[0].text.startswith("Is it bad?")
    assert ge.registry.evaluator("genkitEval/maliciousness").metadata["prompts"] == {"verdict": MINE}


def test_a_metric_with_several_prompts_takes_a_mapping() -> None:
    text = '{{role "user"}}\nTake it apart: {{question}} {{answer}}'
    judge = ScriptedModel(answer)
    config = MetricConfig(metric="faithfulness", prompt={"statements": Prompt.parse(text, "mine")})
    ge = GenkitEval(plugins=[genkit_metrics(judge=judge, metrics=[config])])

    run_sync(ge.score(POINT, "genkitEval/faithfulness"))

    assert judge.calls[0].text.startswith("Take it apart:")
    assert "check statements against a text" in judge.calls[1].text


@pytest.mark.parametrize(
    ("metric", "prompt", "problem"),
    [
        ("faithfulness", Prompt.parse("{{answer}}", "mine"), "has the prompts statements, verdicts"),
        ("faithfulness", {"verdict": Prompt.parse("x", "mine")}, "unknown prompt 'verdict': did you mean 'verdicts'"),
        ("maliciousness", Prompt.parse("{{answer}}", "mine"), "has places for answer; expected answer, question"),
        ("maliciousness", "/no/such/file.prompt", "cannot be read"),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused_when_it_is_installed(metric: str, prompt: object, problem: str) -> None:
    plugin = genkit_metrics(judge=ScriptedModel(""), metrics=[MetricConfig(metric=metric, prompt=prompt)])

    with pytest.raises(ConfigError, match=problem):
        Registry().install(plugin)


@pytest.mark.parametrize("judge", [None, ScriptedModel("")])
def test_the_prompts_can_be_read_with_and_without_a_judge(judge: ScriptedModel | None) -> None:
    registry = Registry()

    registry.install(genkit_metrics(judge=judge))

    for name, metric in JUDGED.items():
        prompts = registry.evaluator(f"genkitEval/{name}").metadata["prompts"]
        assert isinstance(prompts, dict)
        assert prompts.keys() == metric.prompts.keys()
        assert all("{{role" in str(text) for text in prompts.values())


# --- versions -----------------------------------------------------------------------------------------------------


def test_the_version_is_the_same_where_nothing_differs() -> None:
    assert version_of() == version_of()


def test_whatever_may_change_a_score_changes_the_version() -> None:
    relevancy = "answer_relevancy"
    versions = [
        version_of(relevancy),
        version_of(relevancy, judge=ScriptedModel(answer, name="other")),
        version_of(relevancy, judge="acme/judge"),
        version_of(relevancy, judge=answer),
        version_of(relevancy, judge_config={"temperature": 0}),
        version_of(relevancy, embedder=HashEmbedder()),
        version_of(relevancy, embedder=HashEmbedder(name="other")),
        version_of(relevancy, embedder=Sized(), embedder_options={"dimensions": 2}),
        version_of(relevancy, embedder=Sized()),
        version_of(relevancy, status_override=lambda score: Status.FAIL),
    ]

    assert len(set(versions)) == len(versions)


def test_another_prompt_is_another_version() -> None:
    config = MetricConfig(metric="maliciousness", prompt=Prompt.parse(MINE, "mine"))

    assert version_of("maliciousness") != version_of("maliciousness", metrics=[config])


def test_the_name_of_a_model_counts_however_it_is_written() -> None:
    assert version_of(judge="acme/judge") == version_of(judge="/model/acme/judge")


# --- alone and together -------------------------------------------------------------------------------------------


def outcome(metric: EvalMetric) -> tuple[object, ...]:
    return (metric.evaluator, metric.score, metric.status, metric.ended, metric.rationale)


@pytest.mark.parametrize("max_concurrency", [1, 7])
def test_a_score_is_the_same_alone_and_with_others_in_any_order(tmp_path: Path, max_concurrency: int) -> None:
    plugin = genkit_metrics(judge=ScriptedModel(answer), embedder=HashEmbedder(), metrics=list(JUDGED))
    ge = GenkitEval(plugins=[plugin], root=tmp_path)
    polite = {"definition": "The answer is polite."}
    refs = [ge.ref(f"genkitEval/{name}", **(polite if name == "aspect_critic" else {})) for name in JUDGED]
    samples = [{**POINT.to_json(), "testCaseId": f"case-{number}"} for number in range(5)]

    alone = [outcome(run_sync(ge.score(POINT, ref))[0]) for ref in refs]
    limits = Limits(max_concurrency=max_concurrency)
    run = run_sync(ge.evaluate(samples, target=None, evaluators=refs[::-1], limits=limits))

    assert [ended for *_, ended, _ in alone] == [Outcome.VERDICT] * len(JUDGED)
    for result in run.results:
        assert sorted(map(outcome, result.metrics)) == sorted(alone)


def test_a_judged_metric_says_all_that_it_reads() -> None:
    ge = GenkitEval(plugins=[genkit_metrics()])

    assert ge.registry.evaluator("genkitEval/faithfulness").reads == ("output", "context", "attachments")
    assert ge.registry.evaluator("genkitEval/regex").reads == ("output", "reference")
