"""What a judge has said is not paid for twice: not by the next run, and not by a run that is resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import BaseModel, JsonValue

from genkit_eval import ConfigError, DataPoint, EvalRun, GenkitEval, Limits, Message, Outcome, Reply, Status
from genkit_eval.engine.asking.cache import CallCache, cache_path
from genkit_eval.judge import Judge
from genkit_eval.prompts import fenced
from genkit_eval.testing import Answer, OpenAIServer, ScriptedModel, chat_answer, error_answer
from genkit_eval.types import Usage
from genkit_eval_metrics import genkit_metrics
from genkit_eval_openai import openai_models

CLEAN = '{"reason": "nothing harmful", "verdict": false}'
METRIC = "genkitEval/maliciousness"
SAMPLES = [{"testCaseId": "s1", "input": "q", "output": "a"}]


@pytest.fixture
def app(tmp_path: Path) -> Callable[..., GenkitEval]:
    """An app whose judge is on a server."""

    def build(server: OpenAIServer, *, cache: Any = "on", **settings: Any) -> GenkitEval:
        judging = {"judge": "openai/gpt-x", "judge_config": {"temperature": 0}, **settings}
        plugins = [openai_models(base_url=server.url), genkit_metrics(**judging)]
        return GenkitEval(plugins=plugins, root=tmp_path / ".genkit", cache=cache)

    return build


async def judged(ge: GenkitEval, metric: str = METRIC, samples: Sequence[Mapping[str, Any]] = SAMPLES) -> EvalRun:
    return await ge.evaluate(
        samples, target=None, evaluators=[metric], limits=Limits(max_concurrency=1, retry_seconds=0)
    )


def spent(run: EvalRun) -> tuple[int | None, int | None]:
    (usage,) = run.results[0].metrics[0].usage
    return usage.model_calls, usage.cached_calls


@pytest.mark.anyio
async def test_the_next_run_takes_the_judge_at_its_word(app: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN) as server:
        first = await judged(app(server))
        again = await judged(app(server))

    assert len(server.calls) == 1
    assert (spent(first), spent(again)) == ((1, None), (0, 1))
    assert again.results[0].metrics[0].score == first.results[0].metrics[0].score == 0
    assert again.results[0].metrics[0].rationale == first.results[0].metrics[0].rationale


@pytest.mark.anyio
async def test_embeddings_are_kept_as_they_were(app: Callable[..., GenkitEval]) -> None:
    metric, samples = "genkitEval/answer_similarity", [{"input": "q", "output": "a", "reference": "b"}]
    with OpenAIServer() as server:
        first = await judged(app(server, embedder="openai/small"), metric, samples)
        again = await judged(app(server, embedder="openai/small"), metric, samples)

    assert len(server.calls) == 1
    assert spent(again) == (0, 1)
    assert again.results[0].metrics[0].score == first.results[0].metrics[0].score


@pytest.mark.case("api-fault/cache-skips-failures")
@pytest.mark.parametrize(
    "useless",
    [
        "I would rather not say",
        chat_answer(None, refusal="I cannot judge that."),
        chat_answer(CLEAN[:20], finish_reason="length"),
        chat_answer("", finish_reason="content_filter"),
        Answer(status=200, body={"error": {"message": "no such model", "code": 404}}),
        error_answer(400, "no"),
    ],
    ids=["unparsable", "refused", "cut off", "filtered", "error inside 200", "error"],
)
@pytest.mark.anyio
async def test_a_reply_of_no_use_is_asked_for_again(app: Callable[..., GenkitEval], useless: str | Answer) -> None:
    answers = {"first": useless, "second": CLEAN}
    with OpenAIServer(lambda call: answers["first"]) as server:
        first = await judged(app(server))
        asked = len(server.calls)
        answers["first"] = CLEAN
        again = await judged(app(server))

    assert first.results[0].metrics[0].outcome is Outcome.FAILED
    assert again.results[0].metrics[0].status is Status.PASS
    assert len(server.calls) == asked + 1


@pytest.mark.case("api-fault/cache-skips-failures")
@pytest.mark.anyio
async def test_another_prompt_or_parameter_is_asked_for(app: Callable[..., GenkitEval]) -> None:
    other_output = [{**SAMPLES[0], "output": "b"}]
    with OpenAIServer(CLEAN) as server:
        await judged(app(server))
        await judged(app(server, judge_config={"temperature": 1}))
        await judged(app(server, judge="openai/gpt-y"))
        await judged(app(server), samples=other_output)

    assert len(server.calls) == 4


@pytest.mark.anyio
async def test_another_server_is_another_judge(app: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN) as one, OpenAIServer(CLEAN) as other:
        await judged(app(one))
        await judged(app(other))

    assert (len(one.calls), len(other.calls)) == (1, 1)


@pytest.mark.anyio
async def test_without_the_cache_nothing_is_taken_from_it_nor_put_into_it(app: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN) as server:
        await judged(app(server, cache="off"))
        await judged(app(server, cache="off"))

    assert len(server.calls) == 2
    assert not await anyio.Path(cache_path()).exists()


@pytest.mark.anyio
async def test_with_the_cache_alone_what_it_lacks_is_a_failure_that_names_the_model(
    app: Callable[..., GenkitEval],
) -> None:
    other = [*SAMPLES, {**SAMPLES[0], "testCaseId": "s2", "output": "b"}]
    with OpenAIServer(CLEAN) as server:
        await judged(app(server))
        run = await judged(app(server).with_cache("only"), samples=other)

    kept, missed = (result.metrics[0] for result in run.results)
    assert kept.status is Status.PASS
    assert missed.outcome is Outcome.FAILED
    assert "openai/gpt-x was not asked: the cache has no reply" in str(missed.error)
    assert len(server.calls) == 1


@pytest.mark.anyio
async def test_a_judge_without_an_address_is_another_one_in_each_run(tmp_path: Path) -> None:
    judge = ScriptedModel(CLEAN)
    for _ in range(2):
        await judged(GenkitEval(plugins=[genkit_metrics(judge=judge)], root=tmp_path / ".genkit"))

    assert len(judge.calls) == 2
    assert not await anyio.Path(cache_path()).exists()


@pytest.mark.anyio
@pytest.mark.parametrize(("cache", "asked"), [("on", 1), ("off", 3), ("only", 0)])
async def test_a_point_that_is_scored_alone_is_judged_by_the_same_rules(
    app: Callable[..., GenkitEval], cache: str, asked: int
) -> None:
    point = DataPoint(input="q", output="a")
    with OpenAIServer(CLEAN) as server:
        ge = app(server, cache=cache)
        metrics = [(await ge.score(point, METRIC))[0] for _ in range(3)]

    assert len(server.calls) == asked
    outcome = Outcome.FAILED if cache == "only" else Outcome.VERDICT
    assert [metric.outcome for metric in metrics] == [outcome] * 3


@pytest.mark.anyio
async def test_a_model_that_is_measured_is_called_anew(app: Callable[..., GenkitEval]) -> None:
    with OpenAIServer("Lyon") as server:
        for _ in range(2):
            await app(server).evaluate([{"input": "q"}], target="/model/openai/gpt-x", evaluators=[])

    assert len(server.calls) == 2


@pytest.mark.anyio
async def test_a_damaged_cache_costs_a_warning_and_no_run(
    app: Callable[..., GenkitEval], caplog: pytest.LogCaptureFixture
) -> None:
    path = anyio.Path(cache_path())
    with OpenAIServer(CLEAN) as server:
        await judged(app(server))
        await path.write_bytes(b"nonsense" * 1000)
        run = await judged(app(server))
        await judged(app(server))

    assert run.results[0].metrics[0].status is Status.PASS
    assert len(server.calls) == 2
    assert "is damaged" in caplog.text


@pytest.mark.anyio
async def test_a_kept_reply_that_cannot_be_read_any_more_is_asked_for_again(app: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN) as server:
        await judged(app(server))
        kept = CallCache(cache_path())
        for key in _keys(kept):
            kept.put(key, b'{"text":"no verdict"}', model="openai/gpt-x")
        kept.close()
        run = await judged(app(server))
        await judged(app(server))

    assert run.results[0].metrics[0].status is Status.PASS
    assert len(server.calls) == 2


def _keys(cache: CallCache) -> list[str]:
    assert cache._reader is not None
    return [row[0] for row in cache._reader.execute("SELECT key FROM calls")]


@pytest.mark.anyio
async def test_a_use_that_there_is_not_is_refused_before_anything_runs(tmp_path: Path) -> None:
    ge = GenkitEval(plugins=[genkit_metrics(judge=ScriptedModel(CLEAN))], root=tmp_path, cache="of")  # type: ignore[arg-type]

    with pytest.raises(ConfigError, match="cache is 'of': expected 'on', 'off', 'only'"):
        await judged(ge)
    assert ge.runs.list() == []


class Verdict(BaseModel):
    verdict: bool


class Halting:
    """A judge during whose n-th call the run is cancelled; a reply quotes what it was asked."""

    name = "house/halting"

    def __init__(self, halt_at: int) -> None:
        self.halt_at, self.asked = halt_at, 0
        self.scope: anyio.CancelScope | None = None

    async def generate(
        self,
        messages: Sequence[Message],
        *,
        output: type[BaseModel] | None = None,
        config: Mapping[str, JsonValue] | None = None,
    ) -> Reply:
        self.asked += 1
        if self.asked == self.halt_at and self.scope is not None:
            self.scope.cancel()
            await anyio.sleep_forever()
        return Reply(text=f'{messages[0].content} says {{"verdict": true}}', usage=Usage(input_tokens=7))


def chained(model: Halting, root: Path) -> GenkitEval:
    """An app with an evaluator that asks three times, each time about what was said before."""
    ge, judge = GenkitEval(root=root), Judge(model)

    async def chain(point: DataPoint) -> bool:
        said = str(point.output)
        for _ in range(3):
            answer = await judge.ask([Message(role="user", content=fenced(said))], Verdict)
            said += str(answer.verdict)
        return True

    async def chain_all(points: Sequence[DataPoint]) -> list[bool]:
        return [await chain(point) for point in points]

    ge.define_evaluator("t/chain", chain, version="1")
    ge.define_evaluator("t/chain_all", chain_all, version="1", batch=True)
    return ge


@pytest.mark.parametrize("evaluator", ["t/chain", "t/chain_all"])
@pytest.mark.anyio
async def test_a_resumed_run_does_not_ask_again_for_what_it_was_told(tmp_path: Path, evaluator: str) -> None:
    model = Halting(halt_at=3)
    ge = chained(model, tmp_path)
    with anyio.CancelScope() as scope:
        model.scope = scope
        await judged(ge, evaluator)
    (key,) = ge.runs.list()

    run = await ge.evaluate(SAMPLES, resume=key.eval_run_id)

    assert run.results[0].metrics[0].status is Status.PASS
    # the one that was under way is asked for once more
    assert model.asked == 3 + 1
    (usage,) = run.results[0].metrics[0].usage
    assert (usage.model_calls, usage.input_tokens) == (3, 21)


@pytest.mark.anyio
async def test_a_resumed_run_of_no_use_of_the_cache_goes_on_without(app: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN) as server:
        await judged(app(server))
        ge = app(server, cache="off")
        with anyio.CancelScope() as scope:
            await ge.evaluate(SAMPLES, target=None, evaluators=[METRIC], progress=lambda progress: scope.cancel())
        (key,) = [key for key in ge.runs.list() if key.state == "INCOMPLETE"]
        await ge.with_cache("on").evaluate(SAMPLES, resume=key.eval_run_id)

    assert len(server.calls) == 2


@pytest.mark.anyio
async def test_the_file_of_a_finished_run_holds_no_replies(tmp_path: Path) -> None:
    ge = chained(Halting(halt_at=0), tmp_path)

    run = await judged(ge, "t/chain")

    text = await anyio.Path(run.path).read_text(encoding="utf-8")
    assert json.loads(text)["results"][0]["metrics"][0]["status"] == "PASS"
    assert "says" not in text


@pytest.mark.anyio
@pytest.mark.case("api-fault/temperature-unsupported")
async def test_a_parameter_that_the_server_refused_is_said_of_kept_replies_too(app: Callable[..., GenkitEval]) -> None:
    with OpenAIServer(CLEAN, refuses={"temperature"}) as server:
        first = await judged(app(server))
        asked = len(server.calls)
        again = await judged(app(server))

    assert len(server.calls) == asked
    assert [run.results[0].metrics[0].details for run in (first, again)] == [{"notApplied": ["temperature"]}] * 2


def asking_alike(server: OpenAIServer, root: Path) -> GenkitEval:
    """An app with two evaluators that ask the same of the same judge."""
    ge = GenkitEval(plugins=[openai_models(base_url=server.url)], root=root)
    judge = Judge(ge.registry.model("openai/gpt-x"))

    async def ask(point: DataPoint) -> bool:
        return (await judge.ask([Message(role="user", content="Is it so?")], Verdict)).verdict

    for name in ("t/one", "t/other"):
        ge.define_evaluator(name, ask, version="1")
    return ge


@pytest.mark.anyio
async def test_who_asks_the_same_at_the_same_moment_is_given_the_same_reply(tmp_path: Path) -> None:
    samples = [{**SAMPLES[0], "testCaseId": f"s{number}"} for number in range(5)]
    with OpenAIServer('{"verdict": true}', latency_seconds=0.05) as server:
        run = await asking_alike(server, tmp_path).evaluate(samples, target=None, evaluators=["t/one", "t/other"])

    assert len(server.calls) == 1
    usages = [metric.usage[0] for result in run.results for metric in result.metrics]
    assert sorted((usage.model_calls, usage.cached_calls or 0) for usage in usages) == [*[(0, 1)] * 9, (1, 0)]
    assert all(metric.score is True for result in run.results for metric in result.metrics)


@pytest.mark.anyio
async def test_a_reply_of_no_use_is_given_to_nobody_else(tmp_path: Path) -> None:
    useless = chat_answer(None, refusal="No.")
    with OpenAIServer([useless, '{"verdict": true}'], latency_seconds=0.05) as server:
        run = await asking_alike(server, tmp_path).evaluate(SAMPLES, target=None, evaluators=["t/one", "t/other"])

    assert len(server.calls) == 2
    assert sorted(metric.outcome for metric in run.results[0].metrics) == [Outcome.FAILED, Outcome.VERDICT]


@pytest.mark.anyio
async def test_what_a_run_had_been_told_before_it_was_stopped_is_kept_for_others(tmp_path: Path) -> None:
    with OpenAIServer('{"verdict": true}') as server:
        ge = GenkitEval(plugins=[openai_models(base_url=server.url)], root=tmp_path)
        judge, scopes = Judge(ge.registry.model("openai/gpt-x")), [anyio.CancelScope()]

        @ge.define_evaluator("t/stopping", version="1")
        async def stopping(point: DataPoint) -> bool:
            answer = await judge.ask([Message(role="user", content="Is it so?")], Verdict)
            while scopes:
                scopes.pop().cancel()
                await anyio.sleep_forever()
            return answer.verdict

        with scopes[0]:
            await judged(ge, "t/stopping")
        # what was waiting to be written to the cache when a process was killed is not in it
        cache = CallCache(cache_path())
        cache.clear()
        cache.close()
        (key,) = ge.runs.list()
        await ge.evaluate(SAMPLES, resume=key.eval_run_id)
        await judged(ge, "t/stopping")

    assert len(server.calls) == 1
